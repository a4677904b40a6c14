"""Runs two models with the same random inputs on ONNX Runtime by its C interface, and prints the largest difference of their
outputs, relative to the largest number. usage: same_outputs.py LIBRARY MODEL MODEL INPUT=1x3x8x8 OUTPUT"""
import ctypes as c
import random
import sys

library, first, second, (name, shape), output = *sys.argv[1:4], sys.argv[4].split("="), sys.argv[5]
p, out = c.c_void_p, c.byref
runtime = c.CDLL(library)


class Base(c.Structure):
    _fields_ = [("get_api", c.CFUNCTYPE(p, c.c_uint32)), ("get_version", p)]


runtime.OrtGetApiBase.restype = c.POINTER(Base)
api = c.cast(runtime.OrtGetApiBase().contents.get_api(10), c.POINTER(p * 100)).contents
message = c.CFUNCTYPE(c.c_char_p, p)(api[2])


def call(index, *arguments):
    """A function of the table by its place, as in src/run/ort_lib.h."""
    status = c.CFUNCTYPE(p, *[type(a) for a in arguments])(api[index])(*arguments)
    if status:
        sys.exit(message(status).decode())


def made(index, *arguments):
    """The same for functions that return an object by their last argument."""
    value = p()
    call(index, *arguments, c.cast(out(value), p))
    return value


dims = [int(d) for d in shape.split("x")]
count = 1
for d in dims:
    count *= d
random.seed(17)
data = (c.c_float * count)(*[random.uniform(-4, 4) for _ in range(count)])
env = made(3, c.c_int(3), c.c_char_p(b"test"))
options = made(10)
memory = made(69, c.c_int(1), c.c_int(0))
tensor = made(49, memory, c.cast(data, p), c.c_size_t(4 * count), c.cast((c.c_int64 * len(dims))(*dims), p), c.c_size_t(len(dims)), c.c_int(1))


def run(path):
    session = made(7, env, c.c_char_p(path.encode()), options)
    result = p()
    names, outputs = (c.c_char_p * 1)(name.encode()), (c.c_char_p * 1)(output.encode())
    call(9, session, p(), c.cast(names, p), c.cast((p * 1)(tensor), p), c.c_size_t(1), c.cast(outputs, p), c.c_size_t(1),
         c.cast(out(result), p))
    info = made(65, result)
    elements = c.c_size_t()
    call(64, info, c.cast(out(elements), p))
    return list(c.cast(made(51, result), c.POINTER(c.c_float * elements.value)).contents)


a, b = run(first), run(second)
if len(a) != len(b):
    sys.exit(f"{len(a)} and {len(b)} elements")
print(max(abs(x - y) for x, y in zip(a, b)) / max(abs(x) for x in a))
