# SPDX-License-Identifier: BSD-3-Clause
"""DLPack's tensor, as C functions take and give it, and arrays of numpy's that share its memory."""
from __future__ import annotations

import ctypes
from typing import Any

from ._backend import LeatError

# numpy's kind of a type: DLPack's code.
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_KINDS = {code: kind for kind, code in _CODES.items()}
# DLPack's numbers of devices.
KIND_CPU, KIND_VULKAN = 1, 7


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


def describe(array: Any, tensor: Tensor) -> Any:
    """Lets a tensor of DLPack's stand for a compact array. Returns what must live as long as the tensor."""
    if array.dtype.kind not in _CODES or not array.dtype.isnative:
        raise LeatError(f"a tensor of type {array.dtype} is not taken; there are integers, floats and bool")
    shape = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
    tensor.data, tensor.device_type, tensor.device_id = array.ctypes.data, KIND_CPU, 0
    tensor.ndim = array.ndim
    tensor.code, tensor.bits, tensor.lanes = _CODES[array.dtype.kind], 8 * array.itemsize, 1
    tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    tensor.strides, tensor.byte_offset = None, 0
    return array, shape


def dtype_of(tensor: Tensor) -> Any:
    """numpy's type of a tensor's elements.

    Raises LeatError: numpy has no such type.
    """
    import numpy as np
    if tensor.code not in _KINDS or tensor.bits % 8 or tensor.lanes != 1:
        raise LeatError(f"numpy has no type for DLPack's code {tensor.code} of {tensor.bits} bits")
    return np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")


def array_of(tensor: Tensor) -> Any:
    """A view of a compact tensor's memory, which lives no longer than the tensor."""
    import numpy as np
    shape, dtype = tensor.shape[:tensor.ndim], dtype_of(tensor)
    size = int(np.prod(shape)) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_uint8 * size).from_address(tensor.data + tensor.byte_offset)
    return np.frombuffer(memory, dtype).reshape(shape)
