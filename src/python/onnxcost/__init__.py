"""Cost, memory and measured time of ONNX models.

    import onnxcost as oc
    r = oc.analyze("model.onnx", dims={"batch": 8})
    print(r.macs, r.params, r.peak_bytes)
    r.nodes.largest("macs", 5).to_pandas()

Models are paths, bytes or onnx.ModelProto objects. Every result has the JSON document of the program in `data`, its
members as attributes, and `write(format)`. Options are the members of the library's structs (library.md).
"""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._lib import Error, decode, encode, lib, write
from ._lib import Handle as _Handle
from ._objects import (Analysis, Calibration, Check, Counting, Device, Diff, Document, Estimate, Llm, Memory, Model,
                       Path, Profile, Ranking, Sizes, MismatchWarning, Text, as_devices, as_model, estimate_for)
from ._bounds import Ranges, TimeBound, of_llm, of_model
from ._rows import Row, Rows

__version__: str = decode(lib.oc_version()) or ""
__all__ = [
    "Analysis", "Calibration", "Check", "Device", "Diff", "Document", "Error", "Estimate", "Llm", "Memory", "Model",
    "MismatchWarning", "Profile", "Ranking", "Row", "Rows", "TimeBound", "analyze", "baseline", "check", "devices", "diff",
    "estimate", "llm", "load", "memory", "profile", "time_bound",
]
_SIZES = ("dims", "shapes", "values", "trips", "op_rules")


def load(model: Any, limits: Optional[Mapping[str, Any]] = None, external_anywhere: bool = False) -> Model:
    """Reads a model once, for several analyses. limits: {"nodes": "8M"} (`onnxcost help limits`)."""
    return Model(model, limits, external_anywhere)


def analyze(model: Any, *, dims: Optional[Sizes] = None, shapes: Optional[Mapping[str, Sequence[int]]] = None,
            values: Optional[Mapping[str, Any]] = None, trips: Optional[Sizes] = None, op_rules: Optional[Path] = None,
            profile: Union[Profile, Path, None] = None, optimized: Any = None, hw: Union[Device, Path, None] = None,
            hw_set: Optional[Mapping[str, Any]] = None, cache: bool = True, limits: Optional[Mapping[str, Any]] = None,
            force: bool = False, **options: Any) -> Analysis:
    """Counts the operations, bytes and parameters of every node.

    dims: {"batch": 8}; shapes: {"x": (1, 3, 224, 224)}; values of inputs that determine shapes: {"k": 5}.
    profile: joins it; optimized: the model that the runtime saved. hw: a device, for rooflines; "auto": the one that
    the profile names. options: members of struct oc_analyze_opts, such as naive_bytes=True, convention="fvcore".
    """
    return Analysis(model, dims=dims, shapes=shapes, values=values, trips=trips, op_rules=op_rules, profile=profile,
                    optimized=optimized, hw=hw, hw_set=hw_set, cache=cache, limits=limits, force=force, **options)


def profile(path: Path, *, limits: Optional[Mapping[str, Any]] = None, **options: Any) -> Profile:
    """Reads a profile. options: members of struct oc_profile_opts, such as warmup=2, stat="min", format="nsys"."""
    return Profile(path, limits, **options)


def _split(kwargs: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The keyword arguments with these names, and the others."""
    return ({k: v for k, v in kwargs.items() if k in names}, {k: v for k, v in kwargs.items() if k not in names})


_ANALYSIS = _SIZES + ("profile", "optimized", "hw", "hw_set", "limits", "force")


def _analysis(model: Any, kwargs: Mapping[str, Any], analyze: Optional[Mapping[str, Any]] = None) -> Analysis:
    if not isinstance(model, Analysis):
        return Analysis(model, **kwargs, **(analyze or {}))
    if kwargs or analyze:
        raise TypeError(f"{', '.join([*kwargs, *(analyze or {})])}: the analysis is made already; give its model instead")
    return model


def _is_several(hw: Any) -> bool:
    return isinstance(hw, (list, tuple)) or isinstance(hw, str) and (hw == "all" or "=" in hw or "," in hw)


def estimate(model: Any, *, batches: Sequence[int] = (), calibration: Any = None,
             analyze: Optional[Mapping[str, Any]] = None, **options: Any) -> Union[Estimate, Ranking]:
    """Estimates the time of a run on hw, a device. model: or an analysis with a device.

    With several devices (hw=["a100", "t4"] or hw="vendor=NVIDIA") or batches=[1, 8] the result is a Ranking of them.
    options: dims, shapes, hw ... as of analyze(), and members of struct oc_estimate_opts (of a ranking: oc_rank_opts),
    such as as_="fp16". analyze: further options of the analysis, here and below.
    """
    if batches or _is_several(options.get("hw")):
        sizes, own = _split(options, _SIZES)
        counting = Counting(**{name: sizes.get(name) for name in _SIZES}, options=dict(analyze or {}))
        devices = as_devices(own.pop("hw", None), own.pop("hw_set", None))
        return Ranking(as_model(model), counting, devices, list(batches), calibration, own)
    of_analysis, own = _split(options, _ANALYSIS)
    return Estimate(_analysis(model, of_analysis, analyze), calibration, **own)


def memory(model: Any, *, analyze: Optional[Mapping[str, Any]] = None, **options: Any) -> Memory:
    """Peak memory; with hw whether it fits. options: as of analyze(), and as_onnxruntime=True."""
    of_analysis, own = _split(options, _ANALYSIS)
    return Memory(_analysis(model, of_analysis, analyze), **own)


def llm(model: Any, *, hw: Any = None, hw_set: Optional[Mapping[str, Any]] = None, draft: Any = None,
        calibration: Any = None, analyze: Optional[Mapping[str, Any]] = None, **options: Any) -> Llm:
    """Prefill, decode steps and serving. options: batch, prompt, generate ...: members of struct oc_llm_opts."""
    sizes, own = _split(options, _SIZES)
    counting = Counting(**{name: sizes.get(name) for name in _SIZES}, options=dict(analyze or {}))
    return Llm(as_model(model), counting, as_devices(hw, hw_set), draft, calibration, own)


def time_bound(model: Any, hw: Union[Device, Path, None] = None, ranges: Optional[Ranges] = None, *,
               hw_set: Optional[Mapping[str, Any]] = None, phase: Optional[str] = None,
               analyze: Optional[Mapping[str, Any]] = None, **options: Any) -> TimeBound:
    """Lower bounds of a run's time as closed forms, less than a microsecond a size after a set-up.

    time_bound(model, "a100", {"batch": (1, 512)}): of a model whose dimensions are open in these ranges. time_bound(m,
    phase="decode"): of an Llm with devices, over batch and tokens ("prefill": of the prompt; "decode": in the cache).
    options: dims, shapes ... as of analyze(), and module="/model/layers.3", as_="fp16", cache (of an Llm: device, its
    index, most_batch, most_tokens, module).
    """
    if isinstance(model, Llm):
        if hw is not None or ranges or phase is None:
            raise TypeError("of an Llm give the phase: 'prefill' or 'decode'; its devices are those of llm()")
        return of_llm(model, phase, options)
    if hw is None or not ranges or phase is not None:
        raise TypeError("of a model give a device and ranges: time_bound(model, 'a100', {'batch': (1, 512)})")
    sizes, own = _split(options, _SIZES)
    counting = Counting(**{name: sizes.get(name) for name in _SIZES}, options=dict(analyze or {}))
    return of_model(as_model(model), hw if isinstance(hw, Device) else Device(hw, hw_set), ranges, counting, own)


def diff(a: Any, b: Any, *, cache: bool = True, **options: Any) -> Diff:
    """Compares two analyses, or two models that are analysed with the same options, or two Profiles without a model. A
    list on a side: analyses of several recordings of one Model, or several Profiles."""
    sides = [[one if isinstance(one, Profile) else _analysis(one, options)
              for one in (side if isinstance(side, (list, tuple)) else [side])] for side in (a, b)]
    return Diff(*sides, cache)


def check(model: Any, *, forbid: Text = None, budget: Text = None, baseline: Optional[Path] = None,
          tolerance: Text = None, calibration: Any = None, analyze: Optional[Mapping[str, Any]] = None,
          **options: Any) -> Check:
    """Compares figures with limits; true if all are kept: assert oc.check("m.onnx", macs="4.1G", params=26_000_000).

    options: as of analyze(), and limits: macs, flops, ops, params, weight_bytes, bytes, peak_memory, memory, nodes,
    unknown, opset, latency, efficiency. forbid: operator types. budget, baseline: files (`onnxcost help budget`).
    """
    of_analysis, figures = _split(options, _ANALYSIS)
    return Check(_analysis(model, of_analysis, analyze), figures, forbid, budget, baseline, tolerance, calibration)


def baseline(model: Any, path: Path, **options: Any) -> None:
    """Writes the figures of an analysis or model as a baseline for check(). An older file keeps its tolerances."""
    a = _analysis(model, options)
    e = estimate_for(a)
    data = write("oc_baseline_write", ctypes.byref(a.source), e and e.handle, encode(path), None)
    temporary = f"{os.fspath(path)}.{os.getpid()}"
    with open(temporary, "wb") as f:
        f.write(data)
    os.replace(temporary, path)


def devices() -> Rows:
    """Every device of the hardware files."""
    data = json.loads(write("oc_hwdb_write_list", _Handle("oc_hwdb_open", "oc_hwdb_free", (None,)), b"json", 0),
                      object_hook=Row)
    return Rows(data["rows"])
