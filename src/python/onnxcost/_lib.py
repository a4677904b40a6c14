"""The shared library: calls, errors, handles, and texts that the library writes."""
from __future__ import annotations

import ctypes
import operator
import os
import threading
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from . import _api as api


def _load() -> ctypes.CDLL:
    """The library of $ONNXCOST_LIBRARY, else the one in this folder (of a wheel), else that of the system."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), api.LIBRARY)
    given = os.environ.get("ONNXCOST_LIBRARY")
    if given and os.sep in given:
        given = os.path.abspath(given)  # it finds its data by its own path
    library = ctypes.CDLL(given or (here if os.path.exists(here) else api.LIBRARY))
    for name, (result, parameters) in api.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


lib = _load()  # CDLL: calls release the global interpreter lock
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = ctypes.c_void_p
_libc.open_memstream.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)]
_libc.fclose.argtypes = _libc.ferror.argtypes = _libc.free.argtypes = [ctypes.c_void_p]


def decode(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "surrogateescape")


def encode(text: Union[str, bytes, os.PathLike]) -> bytes:
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError("a text with a zero byte")
    return data


class Error(Exception):
    """A failed call, with the members of the library's struct oc_err."""

    code: str  #: "io", "format", "limit", "unsupported", "argument", "not found" ...
    message: str  #: what failed, where, what to do
    file: Optional[str]  #: the file that was read
    line: Optional[int]  #: of the file, from 1
    offset: Optional[int]  #: of the file, in bytes

    def __init__(self, code: str, message: str, file: Optional[str] = None, line: Optional[int] = None,
                 offset: Optional[int] = None):
        super().__init__(code, message, file, line, offset)
        self.code, self.message, self.file, self.line, self.offset = code, message, file, line, offset

    def __str__(self) -> str:
        return self.message

    @property
    def place(self) -> Optional[str]:
        """"FILE", "FILE, line 3" or "FILE, offset 17"; None: the error is not about a file."""
        if not self.file:
            return None
        if self.line:
            return f"{self.file}, line {self.line}"
        return f"{self.file}, offset {self.offset}" if self.offset else self.file


def call(name: str, *args: Any) -> None:
    """Calls a function whose last parameter is the error, and raises it."""
    err = api.oc_err()
    if getattr(lib, name)(*args, ctypes.byref(err)):
        raise Error(decode(lib.oc_code_text(err.code)) or "unknown", decode(err.msg) or "", decode(err.file) or None,
                    err.line or None, err.offset_bytes or None)


class Handle:
    """Owns an object of the library. `keep`: what must outlive it."""

    def __init__(self, name: str, free: str, args: Sequence[Any], keep: Tuple[Any, ...] = ()):
        self._as_parameter_: Any = None
        self._free: Callable[[Any], None] = getattr(lib, free)
        self.keep = keep
        self.lock = threading.RLock()
        out = ctypes.c_void_p()
        call(name, *args, ctypes.byref(out))
        self._as_parameter_ = out

    def __del__(self) -> None:
        if getattr(self, "_as_parameter_", None) is not None:
            self._free(self._as_parameter_)
            self._as_parameter_ = None


def write(name: str, *args: Any) -> bytes:
    """What a function writes to a FILE, its second last parameter."""
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    stream = _libc.open_memstream(ctypes.byref(data), ctypes.byref(size))
    if not stream:
        raise MemoryError
    try:
        try:
            call(name, *args, stream)
        finally:
            failed = _libc.ferror(stream)
            failed |= _libc.fclose(stream)
        if failed:
            raise MemoryError
        return ctypes.string_at(data, size.value)
    finally:
        _libc.free(data)


def texts(values: Sequence[Any]) -> Any:
    """An array of C strings."""
    return (ctypes.c_char_p * max(len(values), 1))(*[encode(v) for v in values])


def integer(kind: Any, value: Any, what: str) -> int:
    """The value as an integer that the C type holds: ctypes would drop its upper bits in silence."""
    number = operator.index(value)
    bits = 8 * ctypes.sizeof(kind)
    signed = kind(-1).value < 0
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if not lowest <= number <= highest:
        raise OverflowError(f"{what} is {number}: from {lowest} to {highest} are possible")
    return number


def integers(kind: Any, values: Sequence[Any], what: str) -> Any:
    """An array of them."""
    return (kind * max(len(values), 1))(*[integer(kind, v, what) for v in values])


def _is_integer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData) and kind._type_ in "bBhHiIlLqQ"


def _is_pointer(kind: Any) -> bool:
    """To anything but texts: members that are not options of the caller."""
    return kind is ctypes.c_void_p or (issubclass(kind, ctypes._Pointer) and kind._type_ is not ctypes.c_char_p)


def struct(kind: Any, values: dict) -> Any:
    """A struct of options with its size. A name may end in '_' (`as_`); lists set the member with their length too."""
    known = dict(kind._fields_)
    options = [name for name in known if name != "size" and not name.startswith(("n_", "has_")) and not _is_pointer(known[name])]
    out = kind()
    out.size = ctypes.sizeof(kind)
    for name, value in values.items():
        member = name[:-1] if name.endswith("_") else name
        if member not in options:
            near = lib.oc_nearest_name(encode(name), texts(options), len(options))
            raise TypeError(f"unknown option {name!r}" + (f"; did you mean {decode(near)!r}?" if near else ""))
        if value is None:
            continue
        if "n_" + member in known:
            value = [value] if isinstance(value, str) else list(value)
            setattr(out, "n_" + member, len(value))
            value = texts(value)
        elif known[member] is ctypes.c_char_p:
            value = encode(value if isinstance(value, (bytes, os.PathLike)) else str(value))
        elif isinstance(value, str) or member in _ENUMS:
            value = _enum(member, value)
        elif known[member] is ctypes.c_bool:
            value = _truth(member, value)
        elif _is_integer(known[member]):
            value = _runs(value) if (member, known[member]) == ("warmup", ctypes.c_int32) else integer(known[member], value, member)
        if "has_" + member in known:
            setattr(out, "has_" + member, True)
        setattr(out, member, value)
    return out


_ENUMS = {"kv_share": ("oc_kv_share", "OC_KV_"), "if_mode": ("oc_if_mode", "OC_IF_"), "stat": ("oc_stat", "OC_STAT_")}


def _enum(member: str, value: Any) -> int:
    """The number of "auto", "then", "median", or that number."""
    if member not in _ENUMS:
        raise TypeError(f"{member}={value!r}: a number or a truth value is expected")
    enum, prefix = _ENUMS[member]
    names = {name[len(prefix):].lower(): number for name, number in api.ENUMS[enum].items()}
    number = names.get(value) if isinstance(value, str) else operator.index(value)
    if number not in names.values():
        raise ValueError(f"{member}={value!r}: one of {', '.join(names)} is expected")
    return number


def _truth(member: str, value: Any) -> bool:
    if value not in (False, True):
        raise TypeError(f"{member}={value!r}: True or False is expected")
    return bool(value)


def _runs(value: Any) -> int:
    """Runs to drop, as the library has them: 0 is its default there, -1 none."""
    number = integer(ctypes.c_int32, value, "warmup")
    if number < 0:
        raise ValueError(f"warmup={number}: a number of runs is expected")
    return number or -1


def caps(limits: Optional[dict], external_anywhere: bool = False) -> Any:
    """Resource limits: {"nodes": "8M"}."""
    out = api.oc_input_limits()
    out.size = ctypes.sizeof(out)
    out.external_anywhere = external_anywhere
    for name, value in (limits or {}).items():
        call("oc_input_limits_set", ctypes.byref(out), encode(f"{name}={value}"))
    return out
