"""Lower bounds of times as closed forms of sizes, for searches."""
from __future__ import annotations

import ctypes
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _api as api
from ._lib import Handle, encode, integer, integers, lib, struct
from ._objects import Counting, Device, Llm, Model

Ranges = Mapping[str, Tuple[int, int]]


class TimeBound:
    """Lower bounds in nanoseconds over open sizes; None or NaN: unknown. `names`: the sizes in their order.

    bound(batch=8) or bound(8) is one size, bound.all([[1], [2], [4]]) many: a list, or an array of numpy for an array.
    """

    def __init__(self, handle: Handle, names: Sequence[str]):
        self.handle = handle
        self.names: Tuple[str, ...] = tuple(names)

    def _size(self, args: Sequence[int], named: Mapping[str, int]) -> Any:
        if args and named or len(args or named) != len(self.names) or any(name not in self.names for name in named):
            raise TypeError(f"the sizes are {', '.join(self.names)}: give each once, by place or by name")
        return integers(ctypes.c_int64, args or [named[name] for name in self.names], "a size")

    def __call__(self, *args: int, **named: int) -> Optional[float]:
        ns = lib.oc_time_bound_at(self.handle, self._size(args, named))
        return ns if ns == ns else None

    def is_closed(self, *args: int, **named: int) -> bool:
        """Whether a closed form covers the size, so that nothing is analysed."""
        return bool(lib.oc_time_bound_is_closed(self.handle, self._size(args, named)))

    def all(self, sizes: Any) -> Any:
        """Of many sizes, each a sequence in the order of `names`. Calls release the global interpreter lock."""
        return self._of_array(sizes) if hasattr(sizes, "__array_interface__") else self._of_list(sizes)

    def _of_list(self, sizes: Sequence[Sequence[int]]) -> List[float]:
        if any(len(size) != len(self.names) for size in sizes):
            raise ValueError(f"each size needs {len(self.names)} numbers: {', '.join(self.names)}")
        out = (ctypes.c_double * max(len(sizes), 1))()
        lib.oc_time_bound_all(self.handle, integers(ctypes.c_int64, [v for size in sizes for v in size], "a size"), len(sizes), out)
        return list(out[:len(sizes)])

    def _of_array(self, sizes: Any) -> Any:
        import numpy  # the caller has it

        given = numpy.ascontiguousarray(sizes, dtype=numpy.int64)
        if given.ndim != 2 or given.shape[1] != len(self.names):
            raise ValueError(f"the array has the shape {given.shape}: (points, {len(self.names)}) is expected")
        out = numpy.empty(len(given), dtype=numpy.float64)
        lib.oc_time_bound_all(self.handle, given.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), len(given),
                              out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        return out

    def __repr__(self) -> str:
        return f"<onnxcost.TimeBound of {', '.join(self.names)}>"


def of_model(model: Model, device: Device, ranges: Ranges, counting: Counting, options: Mapping[str, Any]) -> TimeBound:
    opts = struct(api.oc_time_bound_opts, {"cache": True, **options})
    opts.analyze = ctypes.pointer(counting.opts)
    opts.range = (api.oc_range_bind * max(len(ranges), 1))(
        *[(encode(name), *[integer(ctypes.c_int64, v, f"an end of {name!r}") for v in ends]) for name, ends in ranges.items()])
    opts.n_range = len(ranges)
    handle = Handle("oc_time_bound_make", "oc_time_bound_free", (model.handle, device.pointer, ctypes.byref(opts)),
                    (model, device, counting, opts))
    return TimeBound(handle, list(ranges))


def of_llm(llm: Llm, phase: str, options: Mapping[str, Any]) -> TimeBound:
    parts = {"prefill": (api.OC_LLM_PART_PREFILL, "prompt"), "decode": (api.OC_LLM_PART_FIRST, "past")}
    if phase not in parts:
        raise ValueError(f"phase={phase!r}: 'prefill' or 'decode' is expected")
    opts = struct(api.oc_llm_time_bound_opts, dict(options))
    opts.part = parts[phase][0]
    handle = Handle("oc_llm_time_bound", "oc_time_bound_free", (llm.handle, ctypes.byref(opts)), (llm, opts))
    return TimeBound(handle, ("batch", parts[phase][1]))
