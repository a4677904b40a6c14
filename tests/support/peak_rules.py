"""Peaks, DRAM bandwidths and L2 sizes of GPUs, computed without the hardware files: units x operations per cycle of the
architecture x clock. Prints a line per figure that differs, per class without a rate and per tensor class that is missing.

usage: peak_rules.py HWDB            checks HWDB/nvidia-*.xml, amd.xml and intel.xml
       peak_rules.py HWDB --typos    multiplies each figure by 1.1 and by 0.9 in turn and prints those that go unnoticed"""
import copy
import glob
import sys
import xml.etree.ElementTree as xml

TOLERANCE = 0.02  # vendors round: 34 TFLOP/s of f64 for 33.5 (H200)
SCALE = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "GOP/s": 1e9, "TOP/s": 1e12, "POP/s": 1e15,
         "MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3, "KiB": 1 / 1024, "MiB": 1, "MB": 1, "MHz": 1, "GHz": 1000}

# Dense operations per cycle and unit (SM, CU, Xe-core); a multiply-add is two. V: vector, M: matrix, S: special functions;
# "f16>f16": f16 products into f16. Sources: white papers and tuning guides of the architectures.
AMPERE = {"V f32": 256, "V f16": 256, "V bf16": 256, "V i32": 128, "S f32": 16,
          "M tf32>f32": 512, "M f16>f32": 1024, "M bf16>f32": 1024, "M i8>i32": 2048, "M i4>i32": 4096}
GEFORCE = {"M tf32>f32": 256, "M f16>f32": 512, "M bf16>f32": 512, "M f16>f16": 1024}  # half rate into f32
HOPPER = {"V f64": 128, "V f32": 256, "V f16": 512, "V bf16": 512, "V i32": 128, "S f32": 16, "M f64": 256,
          "M tf32>f32": 2048, "M f16>f32": 4096, "M bf16>f32": 4096, "M f8>f32": 8192, "M i8>i32": 8192}
BLACKWELL_100 = {"V f64": 128, "V f32": 256, "M f64": 128, "M tf32>f32": 4096, "M f16>f32": 8192, "M bf16>f32": 8192,
                 "M f8>f32": 16384, "M i8>i32": 16384, "M f4>f32": 32768}
CDNA3 = {"V f64": 128, "V f32": 256, "M f64": 256, "M f32": 256, "M tf32>f32": 1024, "M f16>f32": 2048,
         "M bf16>f32": 2048, "M f8>f32": 4096, "M i8>i32": 4096}
RDNA3 = {"V f32": 256, "V f16": 256, "M f16>f32": 512, "M bf16>f32": 512, "M i8>i32": 512, "M i4>i32": 1024}
XE = {"V f32": 256, "V f16": 512, "M f16>f32": 2048, "M bf16>f32": 2048, "M i8>i32": 4096}
RATES = {
    "maxwell": {"V f32": 256, "V f16": 512},
    "gp100": {"V f64": 64, "V f32": 128, "V f16": 256},
    "gp102": {"V f32": 256, "V i8>i32": 1024},
    "volta": {"V f64": 64, "V f32": 128, "V f16": 256, "V i32": 128, "S f32": 16, "M f16>f32": 1024},
    "xavier": {"V f32": 128, "V f16": 256, "M f16>f32": 1024, "M i8>i32": 2048},
    "turing": {"V f32": 128, "V f16": 256, "V i32": 128, "S f32": 16, "M f16>f32": 1024, "M i8>i32": 2048, "M i4>i32": 4096},
    "turing-geforce": {"V f32": 128, "V f16": 256, "V i32": 128, "S f32": 16, "M f16>f32": 512, "M f16>f16": 1024,
                       "M i8>i32": 2048, "M i4>i32": 4096},
    "ga100": {"V f64": 64, "V f32": 128, "V f16": 512, "V bf16": 256, "V i32": 128, "S f32": 16, "M f64": 128,
              "M tf32>f32": 1024, "M f16>f32": 2048, "M bf16>f32": 2048, "M i8>i32": 4096, "M i4>i32": 8192,
              "M b1>i32": 32768},
    "orin": {"V f32": 256, "V f16": 512, "M tf32>f32": 1024, "M f16>f32": 2048, "M bf16>f32": 2048, "M i8>i32": 4096},
    "ampere": AMPERE,
    "ampere-geforce": AMPERE | GEFORCE,
    "ada": AMPERE | {"M f8>f32": 2048},
    "ada-geforce": AMPERE | GEFORCE | {"M f8>f32": 1024, "M f8>f16": 2048},
    # The data sheet of L40 has half of the rates of L40S, which has the same chip.
    "ada-l40": AMPERE | {"M tf32>f32": 256, "M f16>f32": 512, "M bf16>f32": 512, "M f8>f32": 1024, "M i8>i32": 1024,
                         "M i4>i32": 2048},
    "hopper": HOPPER,
    "blackwell-100": BLACKWELL_100,
    "blackwell-ultra": BLACKWELL_100 | {"V f64": None, "M f64": None, "M f4>f32": 49152, "M i8>i32": None},  # None: as published
    "thor": {"V f32": 256, "V f16": 512, "M tf32>f32": 4096, "M f16>f32": 8192, "M bf16>f32": 8192, "M f8>f32": 16384,
             "M i8>i32": 16384, "M f4>f32": 32768},
    "blackwell-geforce": AMPERE | GEFORCE | {"M f8>f32": 1024, "M f8>f16": 2048, "M f4>f32": 4096, "M i4>i32": None},
    "blackwell-pro": AMPERE | {"M f8>f32": 2048, "M f4>f32": 4096, "M i4>i32": None},
    "gb10": {"V f32": 256, "M f4>f32": 4096},  # other rates of the chip are not published
    "cdna1": {"V f64": 64, "V f32": 128, "M f32": 256, "M f16>f32": 1024, "M bf16>f32": 512, "M i8>i32": 1024},
    "cdna2": {"V f64": 128, "V f32": 256, "M f64": 256, "M f32": 256, "M f16>f32": 1024, "M bf16>f32": 1024,
              "M i8>i32": 1024},
    "cdna3": CDNA3,
    "cdna4": {"V f64": 128, "V f32": 256, "M f64": 128, "M f16>f32": 4096, "M bf16>f32": 4096, "M f8>f32": 8192,
              "M i8>i32": 8192, "M f4>f32": 16384},
    "rdna2": {"V f32": 128, "V f16": 256},
    "rdna3": RDNA3,
    "rdna4": RDNA3 | {"M f16>f32": 1024, "M bf16>f32": 1024, "M f8>f32": 2048, "M i8>i32": 2048, "M i4>i32": 4096},
    "xe-hpc": {"V f64": 256, "V f32": 256, "V f16": 512, "M tf32>f32": 2048, "M f16>f32": 4096, "M bf16>f32": 4096,
               "M i8>i32": 8192},
    "xe": XE,
}
REQUIRED = {"M tf32>f32", "M f16>f32", "M bf16>f32", "M f8>f32", "M i8>i32"}  # f32 products run in tf32 unless forbidden

# device, architecture, units, boost clock in MHz, clock of the tensor rates (0: the same), L2 in MiB, DRAM in GB/s (0: not
# compared). Units, clocks and memories: RightNow GPU Database (a list of 2,800 GPUs) where it has the device and agrees
# with the vendor, otherwise the vendor's table; tensor clocks: published rate / units / rate.
DEVICES = """
v100-sxm2-16gb volta 80 1530 0 6 898
v100-sxm2-32gb volta 80 1530 0 6 898
v100-pcie-16gb volta 80 1380 0 6 897
v100-pcie-32gb volta 80 1380 0 6 897
t4 turing 40 1590 0 4 320
a100-sxm4-40gb ga100 108 1410 0 40 1555
a100-sxm4-80gb ga100 108 1410 0 40 2039
a100-pcie-40gb ga100 108 1410 0 40 1555
a100-pcie-80gb ga100 108 1410 0 40 1935
a30 ga100 56 1440 0 24 933
h100-sxm5-80gb hopper 132 1980 1830 50 3360
h100-pcie-80gb hopper 114 1755 1620 50 2039
h100-nvl-94gb hopper 132 1785 1545 50 3940
h200-sxm-141gb hopper 132 1980 1830 50 4800
a10 ampere 72 1695 0 6 600
a40 ampere 84 1740 0 6 696
a2 ampere 10 1770 0 2 200
rtx-a6000 ampere 84 1800 0 6 768
rtx-3060-12gb ampere-geforce 28 1777 0 3 360
rtx-3080 ampere-geforce 68 1710 0 5 760
rtx-3090 ampere-geforce 82 1695 0 6 936
l4 ada 58 2040 0 48 300
l40s ada 142 2520 0 96 864
l40 ada-l40 142 2490 0 96 864
l20 ada-l40 92 2520 0 96 864
rtx-6000-ada ada 142 2505 0 96 960
rtx-4070-ti ada-geforce 60 2610 0 48 504
rtx-4080 ada-geforce 76 2505 0 64 717
rtx-4090 ada-geforce 128 2520 0 72 1008
rtx-5070 blackwell-geforce 48 2512 0 48 672
rtx-5080 blackwell-geforce 84 2617 0 64 960
rtx-5090 blackwell-geforce 170 2407 0 96 1792
rtx-pro-6000-blackwell blackwell-pro 188 2617 0 128 1792
rtx-pro-6000-blackwell-max-q blackwell-pro 188 2280 0 128 1792
b200-sxm-180gb blackwell-100 148 1965 1856 126 8000
gb200-186gb blackwell-100 148 2112 2062 126 8000
b300-sxm-288gb blackwell-ultra 148 1980 1856 0 8000
gb300-288gb blackwell-ultra 148 2200 2062 0 8000
gtx-1080-ti gp102 28 1582 0 2.75 484
p100-sxm2-16gb gp100 56 1480 0 4 732
rtx-2080-ti turing-geforce 68 1545 0 5.5 616
jetson-nano-4gb maxwell 1 921.6 0 0.25 25.6
jetson-tx2-8gb maxwell 2 1300 0 0.5 59.7
jetson-agx-xavier-32gb xavier 8 1377 0 0.5 136.5
jetson-xavier-nx-8gb xavier 6 1100 0 0.5 59.7
jetson-agx-orin-64gb orin 16 1300 0 4 204.8
jetson-agx-orin-32gb orin 14 939 0 4 204.8
jetson-orin-nx-16gb orin 8 918 0 4 102.4
jetson-orin-nx-8gb orin 8 765 0 4 102.4
jetson-orin-nano-8gb orin 8 625 0 4 68.2
jetson-orin-nano-4gb orin 4 625 0 4 34.1
jetson-orin-nano-super-8gb orin 8 1020 0 4 102.4
jetson-t5000 thor 20 1570 0 32 273
gb10 gb10 48 2525 0 0 273
mi100 cdna1 120 1502 0 8 1229
mi210 cdna2 104 1700 0 8 1638
mi250x cdna2 220 1700 0 16 3277
mi250x-gcd cdna2 110 1700 0 8 1638
mi300a cdna3 228 2100 0 24 5300
mi300x cdna3 304 2100 0 32 5300
mi350x cdna4 256 2200 0 32 8000
mi355x cdna4 256 2400 0 32 8000
rx-6900-xt rdna2 80 2250 0 4 512
rx-7800-xt rdna3 60 2430 0 4 624
rx-7900-xtx rdna3 96 2500 0 6 960
radeon-pro-w7900 rdna3 96 2495 0 6 864
ryzen-ai-max-395-gpu rdna3 40 2900 0 2 256
rx-9070-xt rdna4 64 2970 0 8 640
max-1550 xe-hpc 128 1600 0 408 3277
arc-a770-16gb xe 32 2400 0 16 560
arc-b580 xe 20 2850 0 18 456
arc-pro-b60 xe 20 2400 0 0 456
"""
NOT_COMPUTED = {
    "h20-96gb": "its rates are limited below units x clock", "h800-sxm5-80gb": "f64 is limited, the rest is H200",
    "mi325x": "the figures of mi300x", "gaudi2": "no units", "gaudi3": "no units",
}


def value(element):
    return float(element.get("value")) * SCALE[element.get("unit")]


def figures(device):
    """(name, element) of every dense peak without a core count, of the clocks, of L2 size and DRAM bandwidth."""
    for unit in device.findall("unit"):
        for peak in unit.findall("peak"):
            if peak.get("dense") == "yes":
                into = ">" + peak.get("accumulate") if peak.get("accumulate") else ""
                yield f'{unit.get("kind")[0].upper()} {peak.get("class")}{into}', peak
    for clock in device.findall("clock"):
        yield "clock " + clock.get("kind"), clock
    for memory in device.findall("memory"):
        if memory.get("name") == "L2" and memory.find("size") is not None:
            yield "L2", memory.find("size")
        if memory.get("name") == "DRAM" and memory.find("bandwidth") is not None:
            yield "DRAM", memory.find("bandwidth")


def problems(device, row):
    architecture, units, clock, matrix, l2, dram = row[0], *map(float, row[1:])
    rates, seen = RATES[architecture], set()
    expected = {"clock boost": clock, "clock matrix-boost": matrix, "L2": l2, "DRAM": dram}
    for name, element in figures(device):
        seen.add(name)
        want = expected.get(name)
        if name[1] == " ":
            rate = rates.get(name)
            if name not in rates:
                yield f"{name}: the table has no rate of {architecture}"
            narrow = name[0] == "M" and name != "M f64"
            want = rate and rate * units * 1e6 * (matrix if matrix and narrow else clock)
        if want and abs(value(element) - want) > TOLERANCE * want:
            yield f"{name}: {value(element):.6g}, computed {want:.6g}"
    for name in sorted(REQUIRED & {k for k, v in rates.items() if v} - seen):
        yield f"{name} is missing"


def unnoticed(device, row):
    """Figures that can be wrong by a tenth without a problem."""
    for i, (name, _) in enumerate(figures(device)):
        if name[1] == " " and RATES[row[0]].get(name) is None or name == "L2" and row[4] == "0":
            continue
        for factor in (0.9, 1.1):
            changed = copy.deepcopy(device)
            element = list(figures(changed))[i][1]
            element.set("value", str(float(element.get("value")) * factor))
            if not list(problems(changed, row)):
                yield f"{name} times {factor}"


def devices(pattern):
    return [device for path in sorted(glob.glob(pattern)) for device in xml.parse(path).getroot().findall("device")]


def main():
    rows = {line.split()[0]: line.split()[1:] for line in DEVICES.split("\n") if line}
    check = unnoticed if sys.argv[2:] == ["--typos"] else problems
    for name in ("nvidia-*", "amd", "intel"):
        for device in devices(f"{sys.argv[1]}/{name}.xml"):
            found, row = device.get("id"), rows.pop(device.get("id"), None)
            if row:
                for text in check(device, row):
                    print(f"{found}: {text}")
            elif device.get("kind") != "cpu" and found not in NOT_COMPUTED:
                print(f"{found}: the table does not have it")
    for found in rows:
        print(f"{found}: not in the hardware files")


main()
