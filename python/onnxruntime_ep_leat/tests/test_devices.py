# SPDX-License-Identifier: BSD-3-Clause
"""Devices and versions, for which no ONNX Runtime is needed."""
import os
import uuid

import pytest

import onnxruntime_ep_leat as leat

NONE = {"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"}


def test_library_is_in_the_package():
    path = leat.get_library_path()
    assert os.path.isabs(path)
    assert sorted(name for name in os.listdir(os.path.dirname(path)) if name.endswith(".so")) == [
        "libleat_batch.so", "libleat_onnxruntime.so", "libleat_vulkan.so"]
    assert leat.get_ep_names() == [leat.get_ep_name()] == ["LeatExecutionProvider"]


def test_every_device_says_what_it_is():
    found = leat.devices()
    usable = [device for device in found if device.usable]
    assert [device.index for device in usable] == list(range(len(usable)))
    assert found[:len(usable)] == usable
    assert bool(usable) != bool(leat.why_no_device())
    for device in usable:
        assert device.name and device.driver and device.memory_size > 0 and not device.reason
        assert str(uuid.UUID(device.uuid)) == device.uuid
        assert device.properties["name"].startswith(device.name[:200])
    for device in found[len(usable):]:
        assert device.index is None and device.reason


def test_without_a_driver_the_reason_is_told(run):
    told = run("-m", "onnxruntime_ep_leat", "--devices", **NONE)
    assert told.returncode == 1
    assert told.stdout.startswith("there is no usable device: ") and "Vulkan" in told.stdout, told.stdout
    assert "Traceback" not in told.stderr


def test_a_wrong_setting_is_told(run):
    told = run("-m", "onnxruntime_ep_leat", "--devices", LEAT_LANES="many")
    assert told.returncode == 2
    assert "LEAT_LANES" in told.stderr and "many" in told.stderr and "Traceback" not in told.stderr


def test_a_backend_that_is_none_is_told(run, tmp_path):
    told = run("-m", "onnxruntime_ep_leat", "--devices", LEAT_PLUGIN_PATH=str(tmp_path / "nothing.so"))
    assert told.returncode == 2
    assert "nothing.so cannot be loaded" in told.stderr


def test_devices_can_be_asked_again_from_many_threads(run):
    code = ("import concurrent.futures as futures, onnxruntime_ep_leat as leat\n"
            "with futures.ThreadPoolExecutor(8) as pool:\n"
            "    told = list(pool.map(lambda _: leat.devices(), range(16)))\n"
            "assert all(found == told[0] for found in told)")
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


def test_version_and_help(run):
    told = run("-m", "onnxruntime_ep_leat", "--version")
    assert told.stdout == f"onnxruntime-ep-leat {leat.__version__}, build {leat.build_id}\n"
    assert run("-m", "onnxruntime_ep_leat", "--help").returncode == 0
    assert run("-m", "onnxruntime_ep_leat").returncode == 2


@pytest.mark.parametrize("release, said", [(None, "cannot be imported"),
                                           ("1.23.2", "1.24 or newer, and this is 1.23.2"),
                                           ("", "1.24 or newer, and this is of unknown version")])
def test_onnxruntime_is_missing_or_too_old(run, tmp_path, release, said):
    body = "raise ImportError('not here')" if release is None else f"__version__ = '{release}'" if release else ""
    (tmp_path / "onnxruntime.py").write_text(body)
    code = (f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport onnxruntime_ep_leat as leat\n"
            "for function in leat.register, leat.check, lambda: leat.explain('model.onnx'):\n"
            "    try:\n        function()\n    except leat.LeatError as error:\n        print(error)")
    told = run("-c", code)
    assert told.stdout.count(said) == 3 and not told.stderr, told
