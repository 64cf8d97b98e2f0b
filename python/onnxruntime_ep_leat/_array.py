# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of Leat's devices, handed over by DLPack."""
from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Tuple

from ._backend import BackendApi, Error, LeatError, check_status, load_backend
from ._tensor import KIND_CPU, KIND_VULKAN, Tensor, describe, dtype_of

_POINTER = ctypes.c_void_p
_OUT = ctypes.POINTER(ctypes.c_void_p)
_ADDRESS = ctypes.c_uint64
_OUT_ADDRESS = ctypes.POINTER(ctypes.c_uint64)
_TENSOR = ctypes.POINTER(Tensor)
_ERROR = ctypes.POINTER(Error)
_DELETER = ctypes.CFUNCTYPE(None, _POINTER)


def _call(*arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, *arguments, _ERROR)


class _View(ctypes.Structure):
    """leat_view."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("tensor", Tensor),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]


class MemoryStats(ctypes.Structure):
    """leat_memory_stats: figures of a device's memory, in bytes unless the name says otherwise."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in (
            "allocated_bytes", "allocated_peak", "reserved_bytes", "reserved_peak", "allocation_count", "free_count",
            "driver_call_count", "live_block_count", "cached_bytes", "staging_bytes", "limit_bytes", "reclaim_count",
            "host_allocated_bytes", "host_reserved_bytes")]


class _MemoryApi(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("alloc", _call(_POINTER, ctypes.c_uint64, _POINTER, _OUT_ADDRESS)),
                ("free", _call(_POINTER, _ADDRESS)), ("record_stream", _POINTER),
                ("copy", _call(_POINTER, _TENSOR, _TENSOR)),
                ("find", _call(_POINTER, _ADDRESS, _OUT_ADDRESS, _OUT_ADDRESS)),
                ("stats", _call(_POINTER, ctypes.POINTER(MemoryStats))),
                ("classes", _POINTER), ("reset_peaks", _POINTER), ("trim", _POINTER),
                ("export_dlpack", _call(_POINTER, _TENSOR, _POINTER, _OUT)),
                ("import_dlpack", _call(_POINTER, _POINTER, _POINTER, ctypes.POINTER(_View))),
                ("export_dlpack_unversioned", _call(_POINTER, _TENSOR, _POINTER, _OUT)),
                ("import_dlpack_unversioned", _call(_POINTER, _POINTER, _POINTER, ctypes.POINTER(_View))),
                ("alloc_host", _POINTER), ("free_host", _POINTER)]


class _StreamApi(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("create", _call(_POINTER, ctypes.c_uint64, _OUT)), ("destroy", _POINTER), ("flush", _POINTER),
                ("synchronize", _call(_POINTER))]


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("manager", _POINTER), ("deleter", _POINTER)]


class _ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", _POINTER), ("deleter", _POINTER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


# Of DLPack before 1.0, and from then on: the name of a capsule, that of one that somebody has taken over, its struct.
_Names = Tuple[bytes, bytes, Any]
_UNVERSIONED: _Names = (b"dltensor", b"used_dltensor", _Managed)
_VERSIONED: _Names = (b"dltensor_versioned", b"used_dltensor_versioned", _ManagedVersioned)


# ---- Devices that are open -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Open:
    """An open device with a stream for copies. It stays open for as long as the process lives."""

    backend: BackendApi
    memory: _MemoryApi
    stream_api: _StreamApi
    device: int
    stream: int
    index: int

    def copy(self, source: Tensor, target: Tensor) -> None:
        _do(self.memory.copy, self.stream, ctypes.byref(source), ctypes.byref(target))

    def synchronize(self) -> None:
        _do(self.stream_api.synchronize, self.stream)

    def stats(self) -> MemoryStats:
        found = MemoryStats(struct_size=ctypes.sizeof(MemoryStats))
        _do(self.memory.stats, self.device, ctypes.byref(found))
        return found


_lock = threading.Lock()  # guards _devices and _handed_out
_devices: dict[int, _Open] = {}


def _do(function: Callable[..., int], *arguments: Any) -> None:
    error = Error(struct_size=ctypes.sizeof(Error))
    check_status(function(*arguments, ctypes.byref(error)), error)


def _open(index: int) -> _Open:
    with _lock:
        if index not in _devices:
            backend = load_backend()
            memory = ctypes.cast(backend.memory, ctypes.POINTER(_MemoryApi)).contents
            streams = ctypes.cast(backend.stream, ctypes.POINTER(_StreamApi)).contents
            device, stream = _POINTER(), _POINTER()
            _do(backend.device.contents.open, index, ctypes.byref(device))
            _do(streams.create, device, 0, ctypes.byref(stream))
            _devices[index] = _Open(backend, memory, streams, device.value or 0, stream.value or 0, index)
        return _devices[index]


def memory_stats(index: int) -> MemoryStats:
    """Figures of the memory of a device by its number, of all in this process that use it."""
    return _open(index).stats()


def _free(opened: _Open, address: int) -> None:
    # Nobody is there to be told: in a child of fork() the call is refused.
    opened.memory.free(opened.device, address, None)


# ---- Capsules --------------------------------------------------------------------------------------------------------

_python = ctypes.pythonapi
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer_of = ctypes.PYFUNCTYPE(_POINTER, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _python))
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, _POINTER, ctypes.c_char_p, _POINTER)(("PyCapsule_New", _python))

# Capsules that were handed out. One that nobody takes over has to be released, and a destructor in Python cannot do
# that: consumers drop such a capsule with an exception pending, in which Python's functions fail. So it is done when
# the next array or capsule is made. `_lock` guards it.
_handed_out: list[tuple[Any, _Names]] = []


def _sweep() -> None:
    """Forgets the capsules that were taken over, and releases those that nobody has any more. `_lock` is held."""
    kept = []
    for entry in _handed_out:
        name, _, struct = entry[1]
        if not _is_valid(entry[0], name):
            continue
        # The list's own reference, and the one of the call.
        if sys.getrefcount(entry[0]) > 2:
            kept.append(entry)
            continue
        managed = _pointer_of(entry[0], name)
        _DELETER(struct.from_address(managed).deleter)(managed)
    _handed_out[:] = kept


def _hand_out(managed: Any, names: _Names) -> Any:
    capsule = _new_capsule(managed, names[0], None)
    with _lock:
        _sweep()
        _handed_out.append((capsule, names))
    return capsule


# ---- Arrays ----------------------------------------------------------------------------------------------------------


class Array:
    """An array in the memory of a device of Leat's: from_dlpack() makes it, numpy() copies it to the host.

    It is a DLPack producer: ``__dlpack_device__()`` is (7, n), Vulkan and the number of Leat's device, and a consumer
    that asks for the host (``dl_device=(1, 0)``, such as ``numpy.from_dlpack(array, device="cpu")``) gets a copy there.
    The memory is given back when the last that shares it is gone. Any thread may use it; nothing changes its contents.
    """

    def __init__(self, opened: _Open, tensor: Tensor, alive: Any) -> None:
        """Not to be called: see from_dlpack()."""
        self._opened, self._tensor, self._alive = opened, tensor, alive
        self.shape: tuple[int, ...] = tuple(tensor.shape[:tensor.ndim])
        self.dtype: Any = dtype_of(tensor)

    @property
    def device(self) -> int:
        """Number of the device, as Device.index has it."""
        return self._opened.index

    def numpy(self) -> Any:
        """A copy on the host."""
        import numpy as np
        array = np.empty(self.shape, self.dtype)
        host = Tensor()
        alive = describe(array, host)
        self._opened.copy(self._tensor, host)
        self._opened.synchronize()
        del alive
        return array

    def __dlpack_device__(self) -> tuple[int, int]:
        return KIND_VULKAN, self._opened.index

    def __dlpack__(self, *, stream: None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule. On the device it shares the memory, unless `copy` is true, and all work on it is done.

        Raises BufferError: for another device than this one and the host, and for the host without a copy.
        """
        if stream is not None:
            raise BufferError("a device of Vulkan has no streams that two libraries know: leave `stream` out")
        if dl_device is not None and tuple(dl_device) == (KIND_CPU, 0):
            if copy is False:
                raise BufferError("the host cannot read the device's memory: allow a copy")
            return self.numpy().__dlpack__()
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on device {self.__dlpack_device__()}, and can be copied to the host, "
                              f"({KIND_CPU}, 0); {tuple(dl_device)} is neither")
        if copy:
            return self._copied().__dlpack__(max_version=max_version)
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        memory = self._opened.memory
        managed = _POINTER()
        _do(memory.export_dlpack if versioned else memory.export_dlpack_unversioned, self._opened.stream,
            ctypes.byref(self._tensor), None, ctypes.byref(managed))
        return _hand_out(managed, _VERSIONED if versioned else _UNVERSIONED)

    def _copied(self) -> Array:
        array = _new(self._opened, self._tensor)
        self._opened.copy(self._tensor, array._tensor)
        return array

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, dtype={self.dtype}, device={self.device})"


def _held(opened: _Open, tensor: Tensor, address: int, alive: Any) -> Array:
    """An array that holds a block."""
    array = Array(opened, tensor, alive)
    weakref.finalize(array, _free, opened, address)
    return array


def _new(opened: _Open, like: Tensor) -> Array:
    """An array of the shape and type of a compact tensor, with anything in it."""
    shape = (ctypes.c_int64 * max(1, like.ndim))(*like.shape[:like.ndim])
    size = (like.bits * like.lanes + 7) // 8
    for extent in like.shape[:like.ndim]:
        size *= extent
    with _lock:
        _sweep()
    address = _ADDRESS()
    _do(opened.memory.alloc, opened.device, size, None, ctypes.byref(address))
    tensor = Tensor(data=address.value, device_type=KIND_VULKAN, device_id=opened.index, ndim=like.ndim, code=like.code,
                    bits=like.bits, lanes=like.lanes, shape=ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)))
    return _held(opened, tensor, address.value, shape)


def _shared(source: Any, index: int) -> Array:
    """The array of a producer on one of Leat's devices, in the same memory."""
    try:
        capsule = source.__dlpack__(max_version=(1, 0))
    except TypeError:  # A producer of before DLPack 1.0 does not know the word.
        capsule = source.__dlpack__()
    opened = _open(index)
    versioned = bool(_is_valid(capsule, _VERSIONED[0]))
    name, used, _ = _VERSIONED if versioned else _UNVERSIONED
    if not _is_valid(capsule, name):
        raise LeatError(f"{capsule} is no tensor of DLPack's, or somebody has taken it over already")
    managed = _pointer_of(capsule, name)
    view = _View(struct_size=ctypes.sizeof(_View))
    _do(opened.memory.import_dlpack if versioned else opened.memory.import_dlpack_unversioned, opened.stream, managed,
        None, ctypes.byref(view))
    _set_name(capsule, used)
    base, size = _ADDRESS(), _ADDRESS()
    try:
        _do(opened.memory.find, opened.device, (view.tensor.data or 0) + view.tensor.byte_offset, ctypes.byref(base),
            ctypes.byref(size))
    except LeatError:
        # An empty tensor at the end of a block lies in none.
        base.value = view.tensor.data or 0
    compact = 1
    for extent, stride in zip(reversed(view.shape[:view.tensor.ndim]), reversed(view.strides[:view.tensor.ndim])):
        if extent > 1 and stride != compact:
            _free(opened, base.value)
            raise LeatError("an array with gaps, or whose dimensions are in another order, is not taken: copy it first")
        compact *= extent
    view.tensor.strides = None
    return _held(opened, view.tensor, base.value, view)


def from_dlpack(source: Any, *, device: int = 0) -> Array:
    """An array on a device of Leat's.

    source: any DLPack producer. One on a device of Leat's keeps its memory, which is shared; one on the host, such as
    an array of numpy's or a tensor of PyTorch's, is copied to the device.
    device: where to, Device.index; 0 is the best one. It counts for what is on the host.

    Raises LeatError: there is no such device, memory is short, or numpy has no such type of elements.
    """
    import numpy as np
    kind, index = source.__dlpack_device__()
    if kind == KIND_VULKAN:
        return _shared(source, index)
    array = source if isinstance(source, np.ndarray) else np.from_dlpack(source)
    array = np.asarray(array, order="C")
    host = Tensor()
    alive = describe(array, host)
    made = _new(_open(device), host)
    made._opened.copy(host, made._tensor)
    del alive
    return made
