# SPDX-License-Identifier: BSD-3-Clause
"""The provider's library, and registering it with ONNX Runtime."""
from __future__ import annotations

import os
import threading
import warnings
from typing import Any, Mapping

from ._backend import LeatError, library_path, why_no_device
from ._build import BUILD_ID, VERSION

EP_NAME = "LeatExecutionProvider"
_OLDEST = (1, 24)

# Two threads that register at once: the second one finds it done.
_lock = threading.Lock()


def get_library_path() -> str:
    """Absolute path of the provider's library, for register_execution_provider_library() of ONNX Runtime in any
    language."""
    return library_path("libleat_onnxruntime.so")


def get_ep_names() -> list[str]:
    """Names of the execution providers in the library: one."""
    return [EP_NAME]


def get_ep_name() -> str:
    """Name of the execution provider in the library."""
    return EP_NAME


def onnxruntime() -> Any:
    """The module onnxruntime, if it is one that has what Leat needs.

    Raises LeatError: it is not there, or too old.
    """
    try:
        import onnxruntime as ort
    except ImportError as cause:
        raise LeatError("ONNX Runtime cannot be imported, and this package does not bring it: "
                        f"pip install 'onnxruntime>={_OLDEST[0]}.{_OLDEST[1]}' ({cause})") from cause
    # A folder that is left of an uninstalled package is imported too, and is empty.
    release = getattr(ort, "__version__", "of unknown version")
    numbers = release.split(".")[:2]
    if not all(part.isdigit() for part in numbers) or tuple(map(int, numbers)) < _OLDEST:
        raise LeatError(f"Leat needs ONNX Runtime {_OLDEST[0]}.{_OLDEST[1]} or newer, and this is {release} "
                        f"({getattr(ort, '__file__', None)}): pip install --upgrade onnxruntime")
    return ort


def _is_ours(device: Any) -> bool:
    """Whether a device is of this package's library: by the path that newer releases tell, else by the build."""
    facts: dict[str, str] = dict(device.ep_metadata)
    path = facts.get("library_path")
    if path:
        return os.path.realpath(path) == os.path.realpath(get_library_path())
    return facts.get("version") == f"{VERSION}+{BUILD_ID}"


def _present(ort: Any) -> list[Any]:
    """The devices of Leat that ONNX Runtime has.

    Raises LeatError: they are of another library.
    """
    found = [device for device in ort.get_ep_devices() if device.ep_name == EP_NAME]
    for device in found:
        if not _is_ours(device):
            other = device.ep_metadata.get("library_path") or "version " + device.ep_metadata.get("version", "unknown")
            raise LeatError(f"another {EP_NAME} is registered already ({other}), and not {get_library_path()}; "
                            "register one of them only")
    return found


def register(name: str = EP_NAME) -> list[Any]:
    """Registers the provider with ONNX Runtime, unless that is done, and gives its devices.

    name: what ONNX Runtime shall know the library by, for unregister_execution_provider_library(). If the library is
    registered already, by whomever and under whatever name, nothing is done.

    Returns the devices (OrtEpDevice), best first, for SessionOptions.add_provider_for_devices(); a session takes one.
    An empty list, if there is no usable device: why_no_device() says why, and add_provider_for_devices() takes no such
    list, but add_provider() goes on with the CPU.

    Raises LeatError: ONNX Runtime is not there or older than 1.24, another library is registered under the name, or
    the library cannot be loaded.
    """
    ort = onnxruntime()
    with _lock:
        found = _present(ort)
        if found or name in _registered:
            return found
        try:
            ort.register_execution_provider_library(name, get_library_path())
        except Exception as cause:  # ONNX Runtime's own kinds of error have no common base.
            if "already registered" in str(cause):
                raise LeatError(f"another library is registered with ONNX Runtime as '{name}'; "
                                f"give another name: register('leat') ({cause})") from cause
            raise LeatError(f"ONNX Runtime cannot register {get_library_path()}: {cause}") from cause
        _registered.add(name)
        return _present(ort)


def add_provider(options: Any, settings: Mapping[str, str] | None = None) -> Any:
    """Adds the provider to a session's options, on the best device; registers it first unless that is done.

    options: SessionOptions of a session that is yet to be made.
    settings: the provider's options, such as {"memory_guard": "1"}.

    Returns the device (OrtEpDevice). Or None, if there is no usable one: then the options are as they were, so that the
    session runs on ONNX Runtime's CPU provider, and a RuntimeWarning says why there is none.

    Raises LeatError: as register().
    """
    found = register()
    if not found:
        warnings.warn(f"Leat has no usable device, so the session runs on the CPU: {why_no_device()}", RuntimeWarning,
                      stacklevel=2)
        return None
    options.add_provider_for_devices(found[:1], dict(settings or {}))
    return found[0]


# Names under which the library was registered here, which alone tell it where there is no device.
_registered: set[str] = set()
