# SPDX-License-Identifier: BSD-3-Clause
"""The backend, asked through its C ABI (abi/leat/backend.h, version 1.0): no ONNX Runtime is needed for this."""
from __future__ import annotations

import ctypes
import os
import uuid
from dataclasses import dataclass
from typing import Any, Mapping

_ABI_1_0 = 1 << 16
_NAME = "libleat_vulkan.so"
_SOFTWARE = 1 << 0


class LeatError(RuntimeError):
    """What was asked for cannot be done. The message says why, and what would help."""


@dataclass(frozen=True)
class Device:
    """A device, usable or not.

    index: its number for Leat, best device first; None: it is unusable.
    name, driver: as the driver gives them, the driver with its version.
    memory_size: bytes of device memory.
    software: whether it runs on the CPU.
    usable: whether Leat can use it.
    reason: why it is not usable; empty where it is.
    uuid: stable across processes and reboots; a value for the variable LEAT_VULKAN_DEVICE.
    pci_bus_id: "dddd:bb:dd.f", or empty.
    properties: all that the backend tells of it, by names with dots such as "memory.heap.0", for people.
    """

    index: int | None
    name: str
    driver: str
    memory_size: int
    software: bool
    usable: bool
    reason: str
    uuid: str
    pci_bus_id: str
    properties: Mapping[str, str]


# ---- The structs of the ABI that are needed here ---------------------------------------------------------------------


class Error(ctypes.Structure):
    """leat_error, in which every function says what went wrong."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("code", ctypes.c_int32), ("native_code", ctypes.c_int32),
                ("reserved", ctypes.c_uint32), ("message", ctypes.c_char * 1008)]


class _HostInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_min", ctypes.c_uint32), ("abi_max", ctypes.c_uint32),
                ("header_version", ctypes.c_uint32), ("name", ctypes.c_char_p), ("reserved", ctypes.c_uint64 * 4)]


class _DeviceInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("index", ctypes.c_uint32), ("vendor_id", ctypes.c_uint32),
                ("device_id", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("memory_size", ctypes.c_uint64),
                ("max_allocation_size", ctypes.c_uint64), ("uuid", ctypes.c_uint8 * 16),
                ("driver_uuid", ctypes.c_uint8 * 16), ("name", ctypes.c_char * 256), ("driver", ctypes.c_char * 256),
                ("pci_bus_id", ctypes.c_char * 32)]


class _Property(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("device", ctypes.c_int32), ("name", ctypes.c_char * 64),
                ("value", ctypes.c_char * 256)]


_ERROR = ctypes.POINTER(Error)
_COUNT = ctypes.POINTER(ctypes.c_uint32)
_SHUTDOWN = ctypes.CFUNCTYPE(ctypes.c_int32, _ERROR)


class _DeviceApi(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("count", ctypes.CFUNCTYPE(ctypes.c_int32, _COUNT, _ERROR)),
                ("info", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint32, ctypes.POINTER(_DeviceInfo), _ERROR)),
                ("report", ctypes.CFUNCTYPE(ctypes.c_int32, _COUNT, ctypes.POINTER(_Property), _ERROR)),
                ("open", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p), _ERROR)),
                ("close", ctypes.c_void_p), ("synchronize", ctypes.c_void_p)]


class BackendApi(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("header_version", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32), ("name", ctypes.c_char_p), ("version", ctypes.c_char_p),
                ("build_id", ctypes.c_char_p), ("capabilities", ctypes.c_uint64),
                ("device", ctypes.POINTER(_DeviceApi)), ("memory", ctypes.c_void_p), ("stream", ctypes.c_void_p),
                ("event", ctypes.c_void_p), ("op", ctypes.c_void_p), ("pool", ctypes.c_void_p),
                ("graph", ctypes.c_void_p), ("profiler", ctypes.c_void_p), ("external", ctypes.c_void_p),
                ("shutdown", _SHUTDOWN), ("configure", ctypes.c_void_p)]


# ---- Asking ----------------------------------------------------------------------------------------------------------


def library_path(name: str) -> str:
    """Where a library of this package is."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def _backend_path() -> str:
    """As the provider finds it."""
    given = os.environ.get("LEAT_PLUGIN_PATH")
    if not given:
        return library_path(_NAME)
    return os.path.join(given, _NAME) if os.path.isdir(given) else given


def check_status(code: int, error: Error) -> None:
    """Raises LeatError, with the backend's message, unless a call has succeeded."""
    if code:
        raise LeatError(error.message.decode(errors="replace") or f"the backend failed with code {code}")


def load_backend() -> BackendApi:
    """The backend's table. Loading it again gives the same."""
    path = _backend_path()
    error = Error(struct_size=ctypes.sizeof(Error))
    host = _HostInfo(struct_size=ctypes.sizeof(_HostInfo), abi_min=_ABI_1_0, abi_max=_ABI_1_0, header_version=_ABI_1_0,
                     name=b"onnxruntime_ep_leat")
    api = ctypes.POINTER(BackendApi)()
    try:
        query = ctypes.CDLL(path).leat_backend_query
    except (OSError, AttributeError) as cause:
        raise LeatError(f"{path} cannot be loaded as Leat's backend: {cause}") from cause
    check_status(query(ctypes.byref(host), ctypes.byref(api), ctypes.byref(error)), error)
    return api.contents


def _report(api: _DeviceApi) -> dict[int, dict[str, str]]:
    """What the backend reports, by the ABI's number of a device (-1: the system, -2 and below: unusable devices)."""
    error = Error(struct_size=ctypes.sizeof(Error))
    capacity = 256
    while True:
        lines = (_Property * capacity)()
        for line in lines:
            line.struct_size = ctypes.sizeof(_Property)
        count = ctypes.c_uint32(capacity)
        check_status(api.report(ctypes.byref(count), lines, ctypes.byref(error)), error)
        if count.value <= capacity:
            break
        capacity = count.value
    found: dict[int, dict[str, str]] = {}
    for line in lines[:count.value]:
        name, value = line.name.decode(errors="replace"), line.value.decode(errors="replace")
        found.setdefault(line.device, {})[name] = value
    return found


def _device(number: int, lines: Mapping[str, str], info: Any) -> Device:
    def line(name: str) -> str:
        return lines.get(name, "")

    identity = str(uuid.UUID(bytes=bytes(info.uuid))) if info else line("uuid")
    size = info.memory_size if info else line("memory.size")
    return Device(index=number if info else None, name=line("name"), driver=line("driver"),
                  memory_size=int(size) if str(size).isdigit() else 0,
                  software=bool(info.flags & _SOFTWARE) if info else line("software") == "yes", usable=bool(info),
                  reason=line("reason"), uuid=identity, pci_bus_id=line("pci"), properties=dict(lines))


def _inventory() -> tuple[list[Device], str]:
    """All devices, and why none of them is usable (empty where one is)."""
    backend = load_backend()
    api = backend.device.contents
    error = Error(struct_size=ctypes.sizeof(Error))
    count = ctypes.c_uint32()
    check_status(api.count(ctypes.byref(count), ctypes.byref(error)), error)
    why = "" if count.value else error.message.decode(errors="replace")
    report = _report(api)
    found = []
    for number in range(count.value):
        info = _DeviceInfo(struct_size=ctypes.sizeof(_DeviceInfo))
        check_status(api.info(number, ctypes.byref(info), ctypes.byref(error)), error)
        found.append(_device(number, report.get(number, {}), info))
    found += [_device(number, report[number], None) for number in sorted(report, reverse=True) if number < -1]
    # Lets the drivers go. While a session has a device open, it does nothing.
    backend.shutdown(None)
    return found, why


def devices() -> list[Device]:
    """The devices that Leat can use, best first, and then those that it cannot, each with the reason.

    Asks the drivers, which takes some milliseconds to a second. A child of fork() cannot use Leat once its parent has
    called this; start workers by spawn, or call it in a child.

    Raises LeatError: a setting (variable LEAT_...) cannot be understood, or the backend cannot be loaded.
    """
    return _inventory()[0]


def why_no_device() -> str:
    """Why no device is usable, with what would help; empty where one is.

    Raises LeatError: as devices().
    """
    return _inventory()[1]
