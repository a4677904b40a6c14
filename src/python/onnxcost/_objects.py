"""Models, analyses and the results of the commands."""
from __future__ import annotations

import contextlib
import ctypes
import html
import json
import os
import shutil
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _api as api
from ._lib import Error, Handle, call, caps, decode, encode, integer, integers, lib, struct, texts, write
from ._lib import _libc
from ._rows import Row, Rows, text, wrap

Path = Union[str, "os.PathLike[str]"]
Sizes = Mapping[str, int]
Text = Union[str, Sequence[str], None]


class MismatchWarning(UserWarning):
    """The profile, the model and the device do not belong together."""


# ---- inputs


class Model:
    """A model: a path, the bytes of a file, or an onnx.ModelProto."""

    def __init__(self, source: Any, limits: Optional[Mapping[str, Any]] = None, external_anywhere: bool = False):
        limit = caps(dict(limits or {}), external_anywhere)
        if hasattr(source, "SerializeToString"):
            source = source.SerializeToString()
        self.path: Optional[str] = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            self.handle = Handle("oc_model_load_mem", "oc_model_free", (data, len(data), ctypes.byref(limit)), (data,))
        else:
            self.path = os.fsdecode(source)
            self.handle = Handle("oc_model_load", "oc_model_free", (encode(source), ctypes.byref(limit)))

    def __repr__(self) -> str:
        return f"<onnxcost.Model {self.path or 'in memory'}>"


def as_model(source: Any, limits: Optional[Mapping[str, Any]] = None) -> Model:
    return source if isinstance(source, Model) else Model(source, limits)


class Device:
    """A device of the hardware files. name: an id, an alias, FILE, or FILE#ID; changes: {"dram.bandwidth": "400 GB/s"}."""

    def __init__(self, name: Path, changes: Optional[Mapping[str, Any]] = None, database: Optional[Handle] = None):
        self.database = database or Handle("oc_hwdb_open", "oc_hwdb_free", (None,))
        device = ctypes.c_void_p()
        call("oc_hwdb_get", self.database, encode(name), ctypes.byref(device))
        if changes:
            keys = texts([f"{k}={'none' if v is None else v}" for k, v in changes.items()])
            call("oc_device_override", self.database, device, keys, len(changes), ctypes.byref(device))
        self.pointer = device

    @property
    def id(self) -> str:
        return decode(lib.oc_device_info(self.pointer).contents.id) or ""

    def __repr__(self) -> str:
        return f"<onnxcost.Device {self.id}>"


def as_devices(hw: Any, changes: Optional[Mapping[str, Any]]) -> List[Device]:
    """Names or Devices; a name may be a filter ("vendor=NVIDIA", "all")."""
    out: List[Device] = []
    database = Handle("oc_hwdb_open", "oc_hwdb_free", (None,))
    for one in [hw] if isinstance(hw, (str, os.PathLike, Device)) else list(hw or ()):
        if isinstance(one, Device):
            out.append(one)
        elif lib.oc_hwdb_is_filter(encode(one)):
            found, n = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_size_t()
            call("oc_hwdb_select", database, encode(one), ctypes.byref(found), ctypes.byref(n))
            ids = [decode(lib.oc_device_info(found[i]).contents.id) or "" for i in range(n.value)]
            out += [Device(i, changes, database) for i in ids if i not in [d.id for d in out]]
        else:
            out.append(Device(one, changes, database))
    return out


class Calibration:
    """A calibration file, as `onnxcost calibrate` writes it."""

    def __init__(self, path: Path):
        self.handle = Handle("oc_calibration_load", "oc_calibration_free", (encode(path),))


def as_calibration(source: Any) -> Optional[Calibration]:
    return source if source is None or isinstance(source, Calibration) else Calibration(source)


def pairs(kind: Any, values: Optional[Mapping[str, Any]]) -> Any:
    """An array of structs whose members are a name and a value."""
    values = values or {}
    member, c_type = kind._fields_[1]
    numbers = c_type is ctypes.c_int64
    return (kind * max(len(values), 1))(*[
        kind(encode(k), integer(c_type, v, f"{member} of {k!r}") if numbers else v) for k, v in values.items()]), len(values)


def shape_bind(name: str, dims: Sequence[int]) -> Any:
    out = api.oc_shape_bind(input=encode(name), rank=len(dims))
    out.dim = integers(ctypes.c_int64, dims, f"a dimension of {name!r}")
    return out


def value_text(value: Any) -> bytes:
    """5, [1, 3, 8], "@file.pb"."""
    if isinstance(value, (str, os.PathLike)):
        return encode(value)
    return encode(",".join(map(str, value)) if isinstance(value, Iterable) else str(value))


class Counting:
    """Options of an analysis, and what they point to."""

    def __init__(self, dims: Optional[Sizes], shapes: Optional[Mapping[str, Sequence[int]]],
                 values: Optional[Mapping[str, Any]], trips: Optional[Sizes], op_rules: Optional[Path],
                 options: Dict[str, Any]):
        taken = [name for name in ("bind", "shape", "value", "trip", "control", "rules") if name in options]
        if taken:
            raise TypeError(f"unknown option {taken[0]!r}: sizes are dims, shapes, values and trips; rules are op_rules")
        self.opts = struct(api.oc_analyze_opts, options)
        self.opts.bind, self.opts.n_bind = pairs(api.oc_bind, dims)
        self.opts.trip, self.opts.n_trip = pairs(api.oc_bind, trips)
        self.opts.value, self.opts.n_value = pairs(
            api.oc_value_bind, {k: value_text(v) for k, v in (values or {}).items()})
        self.rules = Handle("oc_op_rules_load", "oc_op_rules_free", (encode(op_rules),)) if op_rules else None
        self.opts.rules = self.rules and self.rules._as_parameter_
        self.shapes = [shape_bind(k, v) for k, v in (shapes or {}).items()]
        self._set_shapes(self.shapes)
        self._free: List[Any] = []

    def _set_shapes(self, shapes: List[Any]) -> None:
        self.opts.shape, self.opts.n_shape = (api.oc_shape_bind * max(len(shapes), 1))(*shapes), len(shapes)

    def take_profile(self, model: Model, profile: Handle) -> None:
        """Shapes of inputs and control flow that the profile has; given shapes take precedence."""
        found = ctypes.POINTER(api.oc_shape_bind)()
        n = lib.oc_profile_input_shapes(model.handle, profile, ctypes.byref(found))
        self._free.append((lib.oc_profile_input_shapes_free, (found, n)))
        given = {s.input for s in self.shapes}
        self._set_shapes(self.shapes + [found[i] for i in range(n) if found[i].input not in given])
        control = ctypes.POINTER(api.oc_control_bind)()
        self.opts.n_control = lib.oc_profile_control(model.handle, profile, ctypes.byref(control))
        self.opts.control = control
        self._free.append((_libc.free, (ctypes.cast(control, ctypes.c_void_p),)))

    def __del__(self) -> None:
        for function, args in getattr(self, "_free", ()):
            function(*args)


# ---- results


@contextlib.contextmanager
def locked(handles: Sequence[Handle]) -> Iterator[None]:
    """Writers make some texts of an analysis on demand: one thread at a time."""
    with contextlib.ExitStack() as stack:
        for handle in sorted(set(handles), key=id):
            stack.enter_context(handle.lock)
        yield


class Document:
    """A result. Its JSON document is that of the program: members are attributes, lists of objects are Rows."""

    handle: Handle

    def __init__(self, *inputs: "Document") -> None:
        self._data: Optional[Row] = None
        self._inputs = inputs

    def _write(self, form: str) -> bytes:
        raise NotImplementedError

    def _handles(self) -> List[Handle]:
        return [self.handle] + [h for i in self._inputs for h in i._handles()]

    def _width(self) -> int:
        return shutil.get_terminal_size((120, 24)).columns

    def write(self, format: str = "json") -> str:
        """The result in a format of the program: "table", "csv", "json" ..."""
        with locked(self._handles()):
            return self._write(format).decode("utf-8", "replace")

    @property
    def data(self) -> Row:
        """The JSON document, read once."""
        if self._data is None:
            with locked(self._handles()):
                data = self._write("json")
            self._data = json.loads(data, object_hook=Row)
        return self._data

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.data:
            raise AttributeError(f"no member {name!r}; members: {', '.join(self.data)}")
        return wrap(self.data[name])

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | set(self.data))

    def __str__(self) -> str:
        return self.write("table")

    _has_page = True  # the program has an HTML page of it

    def _repr_html_(self) -> str:
        """For notebooks: `--format fragment` of the program; no scripts, nothing from the network."""
        return self.write("fragment") if self._has_page else f"<pre>{html.escape(str(self))}</pre>"


class Profile(Document):
    """Measured times of a runtime: a file in any of the formats."""

    def __init__(self, path: Path, limits: Optional[Mapping[str, Any]] = None, **options: Any):
        super().__init__()
        self.path = os.fsdecode(path)
        self._limits, self._options = dict(limits or {}), options
        self.handle = self._open()
        self.source = api.oc_report_in(profile=self.handle._as_parameter_)
        self._of_nodes: Optional[Handle] = None
        self._nodes_of: Optional[Model] = None

    def _open(self, model: Optional[Model] = None) -> Handle:
        opts = struct(api.oc_profile_opts, {"stat": api.OC_STAT_TYPICAL, **self._options})
        limit = caps(self._limits)
        opts.by_node, opts.limits = model is not None, ctypes.pointer(limit)
        names = lib.oc_operator_names_make(model.handle) if model else None
        opts.operators = names
        try:
            return Handle("oc_profile_open", "oc_profile_close", (encode(self.path), ctypes.byref(opts)))
        finally:
            lib.oc_operator_names_free(names)

    def of_nodes(self, model: Model) -> Handle:
        """The same with one record for each node of the model, for a join."""
        if self._of_nodes is None or self._nodes_of is not model:
            self._of_nodes, self._nodes_of = self._open(model), model
        return self._of_nodes

    @property
    def device_name(self) -> Optional[str]:
        return decode(lib.oc_profile_device(self.handle))

    @property
    def time_ns(self) -> Optional[float]:
        """Of a run; None: unknown."""
        return self.data.totals.time_ns

    @property
    def format(self) -> str:
        return decode(lib.oc_profile_importer(self.handle)) or ""

    @property
    def records(self) -> Rows:
        """The rows of the table: operators that the runtime executed, and the time outside of them."""
        return Rows(self.data.rows)

    def _write(self, form: str) -> bytes:
        return _report(self.source, {"format": form, "cache": True}, self._width())

    def summary(self, **options: Any) -> Row:
        """Tables over time (`onnxcost summary`), as the JSON document."""
        handle = Handle("oc_profile_open", "oc_profile_close", (encode(self.path), ctypes.byref(struct(
            api.oc_profile_opts, {"stat": api.OC_STAT_TYPICAL, **self._options, "keep_events": True}))))
        opts = struct(api.oc_summary_opts, {**options, "format": "json"})
        one = (ctypes.c_void_p * 1)(handle._as_parameter_)
        return json.loads(write("oc_summary_write", one, 1, ctypes.byref(opts)), object_hook=Row)

    def __repr__(self) -> str:
        return f"<onnxcost.Profile {self.path}: {self.format}, {len(self.records)} records>"


def _report(source: Any, options: Dict[str, Any], width: int) -> bytes:
    opts = struct(api.oc_report_opts, options)
    opts.width_chars = width
    steps = [decode(opts.what_if[i]) or "" for i in range(opts.n_what_if)]
    devices = [Device(step[3:]) if step.startswith("hw=") else None for step in steps]
    if devices:
        opts.what_if_device = (ctypes.c_void_p * len(devices))(*[d and d.pointer for d in devices])
    return write("oc_report_write", ctypes.byref(source), ctypes.byref(opts))


class Analysis(Document):
    """Costs of a model, joined with a profile and a device if they are given.

    Counts are integers. `quality` says whether they are exact; with nodes whose cost is unknown (totals.unknown_nodes)
    they are lower bounds, and check() calls a limit above them inconclusive. Unknown figures of a row are None.
    """

    def __init__(self, model: Any, *, dims: Optional[Sizes] = None, shapes: Optional[Mapping[str, Sequence[int]]] = None,
                 values: Optional[Mapping[str, Any]] = None, trips: Optional[Sizes] = None,
                 op_rules: Optional[Path] = None, profile: Union[Profile, Path, None] = None, optimized: Any = None,
                 hw: Union[Device, Path, None] = None, hw_set: Optional[Mapping[str, Any]] = None, cache: bool = True,
                 limits: Optional[Mapping[str, Any]] = None, force: bool = False, **options: Any):
        super().__init__()
        self.model_ = as_model(model, limits)
        self._cache = cache
        self.counting = Counting(dims, shapes, values, trips, op_rules, {**options, "force_shapes": force})
        self.profile_: Optional[Profile] = None
        records: Optional[Handle] = None
        if profile is not None:
            self.profile_ = profile if isinstance(profile, Profile) else Profile(profile, limits)
            records = self.profile_.of_nodes(self.model_)
            self.counting.take_profile(self.model_, records)
        if optimized is not None and profile is None:
            raise TypeError("optimized is about a profile: give the profile too")
        self._optimized = None if optimized is None else as_model(optimized, limits)
        self.device = self._find_device(hw, hw_set)
        opts = ctypes.byref(self.counting.opts)
        self.handle = Handle("oc_analyze", "oc_analysis_free", (self.model_.handle, opts),
                             (self.model_, self.counting.rules))
        self.source = api.oc_report_in(model=self.model_.handle._as_parameter_, analysis=self.handle._as_parameter_)
        self.join_: Optional[Handle] = None
        if records is not None:
            with_optimized = self._optimized.handle if self._optimized else None
            self.join_ = Handle("oc_join_make", "oc_join_free", (self.model_.handle, self.handle, records, with_optimized),
                                (self.handle, records, self._optimized))
            call("oc_join_sizes", self.handle, opts, with_optimized, self.join_)
            self.source.profile, self.source.join = records._as_parameter_, self.join_._as_parameter_
        if self.device:
            self.source.device = self.device.pointer
        self._check_pair(force)

    def _find_device(self, hw: Any, changes: Optional[Mapping[str, Any]]) -> Optional[Device]:
        if hw is None or isinstance(hw, Device):
            return hw
        if hw == "auto":
            name = self.profile_.device_name if self.profile_ else None
            if not name:
                raise ValueError("hw='auto' is the device that a profile names: give a profile that does, or a name")
            hw = name
        return Device(hw, changes)

    def _check_pair(self, force: bool) -> None:
        found = (api.oc_diag * 4)()
        for d in found[:lib.oc_headlines(ctypes.byref(self.source), found, 4)]:
            if d.code == b"E-wrong-model" and not force:
                raise Error("argument", f"{decode(d.text)} force=True reports it all the same")
            warnings.warn(f"{decode(d.text)} [{decode(d.code)}]", MismatchWarning, stacklevel=4)

    def _write(self, form: str) -> bytes:
        return _report(self.source, {"format": form, "cache": self._cache},
                       self._width() if form == "table" else 0)

    def report(self, format: str = "json", **options: Any) -> Any:
        """The report with options such as group_by="type", order_by="macs", top=5, why=["/conv1/Conv"], advise=True.

        As "json" the document, else text: "table", "csv", "markdown", "html", "fragment" (of a page), "trace", "netron",
        "model-explorer".
        """
        with locked(self._handles()):
            data = _report(self.source, {"cache": self._cache, **options, "format": format},
                           self._width() if format == "table" else 0)
        return json.loads(data, object_hook=Row) if format == "json" else data.decode("utf-8", "replace")

    # ---- figures: members of "totals" of the JSON document

    @property
    def macs(self) -> int:
        return self.data.totals.macs

    @property
    def flops(self) -> int:
        return self.data.totals.flops

    @property
    def ops(self) -> int:
        """Operations on integers and truth values."""
        return self.data.totals.ops

    @property
    def params(self) -> int:
        return self.data.totals.params

    @property
    def const_bytes(self) -> int:
        """Size of the weights."""
        return self.data.totals.const_bytes

    @property
    def bytes(self) -> int:
        """Read and written by all nodes."""
        totals = self.data.totals
        return totals.bytes_read_act + totals.bytes_read_weight + totals.bytes_written

    @property
    def peak_bytes(self) -> int:
        """Peak activation memory."""
        return self.data.totals.peak_activation_bytes

    @property
    def time_ns(self) -> Optional[float]:
        """Measured time of a run; None without a profile."""
        return self.data.totals.time_ns

    @property
    def quality(self) -> str:
        """Of the counts: "exact", "upper", "lower", "est" or "unknown"."""
        return self.data.totals.quality

    @property
    def nodes(self) -> Rows:
        return Rows(self.data.nodes)

    @property
    def records(self) -> Rows:
        """The rows of the table with the nodes of each: they add up to the time of the run; empty without a profile."""
        return Rows(self.data.rows or [])

    @property
    def warnings(self) -> Rows:
        return Rows([d for d in self.data.diagnostics if d.severity != "info"])

    def __repr__(self) -> str:
        return f"<onnxcost.Analysis {self.model_.path or 'of a model in memory'}: {_BOUND[self.quality]}{text(self.macs)} MACs>"


_BOUND = {"exact": "", "upper": "at most ", "lower": "at least ", "est": "about ", "unknown": "at least "}


class Estimate(Document):
    """Time of a run on a device, with intervals: total.time_s, total.low80_s, total.high80_s; kernels."""

    def __init__(self, analysis: Analysis, calibration: Any = None, **options: Any):
        super().__init__(analysis)
        if analysis.device is None:
            raise TypeError("an estimate needs a device: hw='a100'")
        fitted = as_calibration(calibration)
        opts = struct(api.oc_estimate_opts, options)
        opts.width_chars = self._width()
        opts.calibration = fitted and fitted.handle._as_parameter_
        opts.join = analysis.join_ and analysis.join_._as_parameter_
        self.handle = Handle("oc_estimate_make", "oc_estimate_free",
                             (analysis.handle, analysis.device.pointer, ctypes.byref(opts)), (analysis, fitted))

    def _write(self, form: str) -> bytes:
        return write("oc_estimate_write", self.handle, encode(form), 20)

    @property
    def time_s(self) -> Optional[float]:
        """None: only the interval is known."""
        return self.data.total.time_s

    @property
    def bound_s(self) -> Optional[float]:
        """No runtime is faster."""
        return self.data.total.bound_s


class Memory(Document):
    """Live bytes, peak and buffers of a run; with a device also whether it fits."""

    def __init__(self, analysis: Analysis, fit: bool = True, **options: Any):
        super().__init__(analysis)
        opts = struct(api.oc_memory_opts, {"top": 10, **options})
        opts.width_chars = self._width()
        if analysis.device and fit:
            opts.device = analysis.device.pointer
        opts.profile = analysis.source.profile
        opts.analyze = ctypes.pointer(analysis.counting.opts)
        self.handle = Handle("oc_memory_make", "oc_memory_free", (analysis.handle, ctypes.byref(opts)), (analysis,))

    def _write(self, form: str) -> bytes:
        return write("oc_memory_write", self.handle, encode(form))

    @property
    def peak_bytes(self) -> Optional[int]:
        return self.data.activations.peak_bytes

    @property
    def footprint_bytes(self) -> Optional[int]:
        """Weights and activations, without the workspace of kernels."""
        return self.data.footprint.bytes


class Llm(Document):
    """A language model with a KV cache: prefill, decode steps, limits of devices."""

    def __init__(self, model: Model, counting: Counting, devices: Sequence[Device], draft: Any, calibration: Any,
                 options: Dict[str, Any]):
        super().__init__()
        fitted, smaller = as_calibration(calibration), None if draft is None else as_model(draft)
        opts = struct(api.oc_llm_opts, {"cache": True, **options})
        opts.width_chars = self._width()
        opts.analyze = ctypes.pointer(counting.opts)
        opts.device, opts.n_device = _pointers(devices), len(devices)
        opts.draft = smaller and smaller.handle._as_parameter_
        opts.calibration = fitted and fitted.handle._as_parameter_
        self.handle = Handle("oc_llm_make", "oc_llm_free", (model.handle, ctypes.byref(opts)),
                             (model, counting, list(devices), smaller, fitted, opts))

    def _write(self, form: str) -> bytes:
        return write("oc_llm_write", self.handle, encode(form))


class Ranking(Document):
    """Estimates of several devices and batches, ranked: devices has a row for each, verdict the answer."""

    def __init__(self, model: Model, counting: Counting, devices: Sequence[Device], batches: Sequence[int],
                 calibration: Any, options: Dict[str, Any]):
        super().__init__()
        fitted = as_calibration(calibration)
        opts = struct(api.oc_rank_opts, options)
        opts.analyze = ctypes.pointer(counting.opts)
        opts.device, opts.n_device = _pointers(devices), len(devices)
        opts.batch, opts.n_batch = integers(ctypes.c_int64, batches, "a batch"), len(batches)
        opts.calibration = fitted and fitted.handle._as_parameter_
        self.handle = Handle("oc_rank_make", "oc_rank_free", (model.handle, ctypes.byref(opts)),
                             (model, counting, list(devices), fitted, opts))

    def _write(self, form: str) -> bytes:
        opts = struct(api.oc_rank_write_opts, {"format": form})
        opts.width_chars = self._width()
        return write("oc_rank_write", self.handle, ctypes.byref(opts))

    @property
    def devices(self) -> Rows:
        """A row per device and batch, in order."""
        return Rows(self.data.devices)


def _pointers(devices: Sequence[Device]) -> Any:
    return (ctypes.c_void_p * max(len(devices), 1))(*[d.pointer for d in devices])


class Diff(Document):
    """Differences of two sides, each the analysis of one recording or several, or recordings without a model:
    totals.macs.delta, decomposition, types, rows; `bool(diff)`: they differ."""

    def __init__(self, a: Sequence[Union[Analysis, Profile]], b: Sequence[Union[Analysis, Profile]], cache: bool = True):
        super().__init__(a[0], b[0])
        more = [(api.oc_report_in * len(side[1:]))(*[one.source for one in side[1:]]) for side in (a, b)]
        opts = struct(api.oc_diff_opts, {"cache": cache})
        opts.more_a, opts.more_b = more
        opts.n_more_a, opts.n_more_b = map(len, more)
        self.handle = Handle("oc_diff_make", "oc_diff_free",
                             (ctypes.byref(a[0].source), ctypes.byref(b[0].source), ctypes.byref(opts)), (*a, *b))

    def _write(self, form: str) -> bytes:
        opts = struct(api.oc_diff_write_opts, {"format": form})
        opts.width_chars = self._width()
        return write("oc_diff_write", self.handle, ctypes.byref(opts))

    def __bool__(self) -> bool:
        return bool(self.data.different)


class Check(Document):
    """Limits compared with figures; `assert oc.check(...)` prints the reasons of those that do not pass."""

    _has_page = False

    def __init__(self, analysis: Analysis, limits: Mapping[str, Any], forbid: Text, budget: Text,
                 baseline: Optional[Path], tolerance: Text, calibration: Any):
        super().__init__(analysis)
        self._budget = Handle("oc_budget_make", "oc_budget_free", ())
        for metric, limit in limits.items():
            if limit is not None:
                call("oc_budget_limit", self._budget, encode(metric.replace("_", "-")), encode(str(limit)), None, None)
        for op_type in _list(forbid):
            call("oc_budget_limit", self._budget, b"forbid", b"0", encode(op_type), None)
        for path in _list(budget):
            call("oc_budget_read", self._budget, encode(path))
        if baseline is not None:
            tolerances = _list(tolerance)
            call("oc_baseline_read", self._budget, encode(baseline), texts(tolerances), len(tolerances))
        if not lib.oc_budget_limits(self._budget):
            raise TypeError("there is no limit to check: give macs=..., params=..., baseline=..., budget=...")
        estimate = estimate_for(analysis, calibration) if lib.oc_budget_has(self._budget, b"latency") else None
        self.handle = Handle("oc_check_make", "oc_check_free",
                             (ctypes.byref(analysis.source), estimate and estimate.handle, self._budget),
                             (analysis, estimate, self._budget))

    def _write(self, form: str) -> bytes:
        return write("oc_check_write", self.handle, encode(form), self._width())

    def __bool__(self) -> bool:
        return bool(self.data.passed)

    @property
    def reasons(self) -> List[str]:
        """One line for each limit that is not kept or cannot be decided."""
        return [c.reason for c in self.data.checks if c.result != "passed"]

    def __repr__(self) -> str:
        return "<onnxcost.Check passed>" if self else "<onnxcost.Check: " + "; ".join(self.reasons) + ">"


def _list(value: Any) -> List[Any]:
    return [] if value is None else [value] if isinstance(value, (str, os.PathLike)) else list(value)


def estimate_for(analysis: Analysis, calibration: Any = None) -> Optional[Estimate]:
    """The latency of a model that was not measured."""
    return Estimate(analysis, calibration) if analysis.device and not analysis.profile_ else None
