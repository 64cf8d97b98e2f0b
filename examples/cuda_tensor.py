# SPDX-License-Identifier: BSD-3-Clause
"""A tensor of PyTorch on an NVIDIA GPU that Leat works on, in another process, where it is.

Usage: python3 examples/cuda_tensor.py build/leat-example-imported        (needs PyTorch with CUDA)

CUDA's virtual memory management gives memory a descriptor, which Vulkan's driver understands; memory that PyTorch's
own allocator took has none. CUDA has no timeline semaphores to give away, so each side waits on the host for the other.
"""
import ctypes
import os
import subprocess
import sys

import torch

COUNT = 1_000_003
PINNED, DEVICE, POSIX_FD, READ_WRITE, MINIMUM = 1, 1, 1, 3, 0


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", Location),
                ("win32", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class Memory:
    """Device memory that has a descriptor, as something that torch.as_tensor() takes."""

    def __init__(self, count):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        here = Location(DEVICE, 0)
        wanted = Properties(type=PINNED, handle_types=POSIX_FD, location=here)
        step, self.handle, self.address = ctypes.c_size_t(), ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(step), ctypes.byref(wanted), MINIMUM)
        self.size = ctypes.c_size_t((4 * count + step.value - 1) // step.value * step.value)
        nothing = ctypes.c_uint64(0)
        self.call("cuMemCreate", ctypes.byref(self.handle), self.size, ctypes.byref(wanted), nothing)
        self.call("cuMemAddressReserve", ctypes.byref(self.address), self.size, ctypes.c_size_t(0), nothing, nothing)
        self.call("cuMemMap", self.address, self.size, ctypes.c_size_t(0), self.handle, nothing)
        self.call("cuMemSetAccess", self.address, self.size, ctypes.byref(Access(here, READ_WRITE)), ctypes.c_size_t(1))
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "<f4", "data": (self.address.value, False),
                                         "version": 3}

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(result, ctypes.byref(text))
            sys.exit(f"{name}: {(text.value or b'unknown error').decode()}")

    def descriptor(self):
        fd = ctypes.c_int()
        self.call("cuMemExportToShareableHandle", ctypes.byref(fd), self.handle, POSIX_FD, ctypes.c_uint64(0))
        return fd.value


torch.cuda.init()
torch.zeros(1, device="cuda")  # CUDA's context of the device
memory = Memory(COUNT)
tensor = torch.as_tensor(memory, device="cuda")
tensor.copy_(torch.arange(COUNT, dtype=torch.float32))
torch.cuda.synchronize()
uuid = str(torch.cuda.get_device_properties(0).uuid).replace("-", "").removeprefix("GPU")
for time in 1, 2:
    fd = memory.descriptor()
    subprocess.run([sys.argv[1], str(fd), str(memory.size.value), str(COUNT), uuid], pass_fds=[fd], check=True)
    os.close(fd)
    torch.testing.assert_close(tensor.cpu(), torch.arange(COUNT, dtype=torch.float32) / 2 ** time, rtol=0, atol=0)
print(f"{COUNT} floats of PyTorch were halved twice by Leat, where they are")
