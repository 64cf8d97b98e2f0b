# SPDX-License-Identifier: BSD-3-Clause
"""Registering with ONNX Runtime."""
import shutil
from concurrent.futures import ThreadPoolExecutor

import onnxruntime_ep_leat as leat

SCENE = """
import sys
import onnxruntime as ort
import onnxruntime_ep_leat as leat
ort.set_default_logger_severity(4)
def count():
    return sum(device.ep_name == leat.EP_NAME for device in ort.get_ep_devices())
"""


def test_again_gives_the_same_devices(ort, devices):
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda _: leat.register(), range(16)))
    names = [device.ep_metadata["leat_device_uuid"] for device in devices]
    assert all([device.ep_metadata["leat_device_uuid"] for device in found] == names for found in told)
    assert [device.ep_name for device in ort.get_ep_devices()].count(leat.EP_NAME) == len(devices)


def test_threads_register_once(run, ort):
    done = run("-c", SCENE + "from concurrent.futures import ThreadPoolExecutor\n"
               "with ThreadPoolExecutor(8) as pool:\n"
               "    told = list(pool.map(lambda _: len(leat.register()), range(8)))\n"
               "assert told == [count()] * 8, told")
    assert done.returncode == 0, done.stderr


def test_what_the_application_registered_itself_is_taken(run, devices):
    done = run("-c", SCENE + "ort.register_execution_provider_library('mine', leat.get_library_path())\n"
               "assert len(leat.register()) == count()\n"
               "ort.unregister_execution_provider_library('mine')\n"
               "assert len(leat.register('other')) == count()")
    assert done.returncode == 0, done.stderr


def test_another_library_of_the_provider_is_told(run, devices, tmp_path):
    for name in "libleat_onnxruntime.so", "libleat_vulkan.so":
        shutil.copy(leat.get_library_path().replace("libleat_onnxruntime.so", name), tmp_path)
    # Releases that do not tell a library's path tell two libraries of one build apart by nothing.
    done = run("-c", SCENE + f"ort.register_execution_provider_library('mine', r'{tmp_path}/libleat_onnxruntime.so')\n"
               "if 'library_path' in ort.get_ep_devices()[-1].ep_metadata:\n"
               "    try:\n        leat.register()\n"
               "    except leat.LeatError as error:\n        print(error)\n"
               "else:\n    print('another LeatExecutionProvider is registered already')\n")
    assert "another LeatExecutionProvider is registered already" in done.stdout, done


def test_a_name_that_is_taken_is_told(run, ort, tmp_path):
    # With no device nothing but the name tells that there is another library.
    for name in "libleat_onnxruntime.so", "libleat_vulkan.so":
        shutil.copy(leat.get_library_path().replace("libleat_onnxruntime.so", name), tmp_path)
    done = run("-c", SCENE + f"ort.register_execution_provider_library('mine', r'{tmp_path}/libleat_onnxruntime.so')\n"
               "try:\n    leat.register('mine')\nexcept leat.LeatError as error:\n    print(error)",
               VK_DRIVER_FILES="/nowhere.json", VK_ICD_FILENAMES="/nowhere.json")
    assert "another library is registered with ONNX Runtime as 'mine'" in done.stdout, done


def test_without_a_device_nothing_fails(run, ort):
    done = run("-c", SCENE + "assert leat.register() == [] == leat.register()",
               VK_DRIVER_FILES="/nowhere.json", VK_ICD_FILENAMES="/nowhere.json")
    assert done.returncode == 0, done.stderr


def test_a_session_is_on_the_best_device(run, devices, model):
    done = run("-c", SCENE + "options = ort.SessionOptions()\n"
               "device = leat.add_provider(options, {'lanes': '1'})\n"
               "assert device.ep_metadata == leat.register()[0].ep_metadata\n"
               f"print(*ort.InferenceSession(r'{model}', options).get_providers())")
    assert done.returncode == 0 and done.stdout.startswith(leat.EP_NAME), done
    assert "Warning" not in done.stderr


def test_without_a_device_a_session_is_on_the_cpu(run, ort, model):
    done = run("-c", SCENE + "options = ort.SessionOptions()\n"
               "assert leat.add_provider(options, {'lanes': '1'}) is None\n"
               f"print(*ort.InferenceSession(r'{model}', options).get_providers())",
               VK_DRIVER_FILES="/nowhere.json", VK_ICD_FILENAMES="/nowhere.json")
    assert done.returncode == 0 and done.stdout == "CPUExecutionProvider\n", done
    assert "RuntimeWarning: Leat has no usable device, so the session runs on the CPU: " in done.stderr
    assert "VK_DRIVER_FILES=/nowhere.json" in done.stderr


def test_package_and_libraries_are_of_one_build(devices):
    assert {device.ep_metadata["version"] for device in devices} == {f"{leat.__version__}+{leat.build_id}"}
