# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on devices and DLPack, for which no ONNX Runtime is needed."""
import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

import onnxruntime_ep_leat as leat
from onnxruntime_ep_leat import _array
from onnxruntime_ep_leat._tensor import Tensor

np = pytest.importorskip("numpy")
VULKAN, CPU = 7, 1


@pytest.fixture(scope="module", autouse=True)
def device():
    why = leat.why_no_device()
    if why:
        pytest.skip("no usable device: " + why)


def live_blocks():
    """Blocks that arrays and capsules hold on device 0."""
    gc.collect()
    with _array._lock:
        _array._sweep()
    return _array.memory_stats(0).live_block_count


@pytest.mark.parametrize("array", [
    np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array([True, False]), np.arange(-5, 5, dtype=np.int8),
    np.array([2**63 + 1], np.uint64), np.array(1.5, np.float16), np.zeros((3, 0, 2), np.int64),
    np.arange(20).reshape(4, 5)[::2, ::-1], np.random.default_rng(0).random((300, 400))])
def test_there_and_back(array):
    on_device = leat.from_dlpack(array)
    assert (on_device.shape, on_device.dtype, on_device.device) == (array.shape, array.dtype, 0)
    assert on_device.__dlpack_device__() == (VULKAN, 0)
    back = on_device.numpy()
    assert back.dtype == array.dtype and np.array_equal(back, array)
    assert np.array_equal(leat.from_dlpack(on_device).numpy(), array)


def test_what_is_shared_lives_as_long_as_anyone_has_it():
    before = live_blocks()
    first = leat.from_dlpack(np.arange(10))
    second = leat.from_dlpack(first)
    assert live_blocks() == before + 1
    del first
    assert live_blocks() == before + 1
    assert np.array_equal(second.numpy(), np.arange(10))
    del second
    assert live_blocks() == before


def test_a_copy_is_another_block():
    before = live_blocks()
    first = leat.from_dlpack(np.arange(10))

    class Copying:
        def __dlpack_device__(self):
            return first.__dlpack_device__()

        def __dlpack__(self, **asked):
            return first.__dlpack__(copy=True, **asked)
    second = leat.from_dlpack(Copying())
    assert live_blocks() == before + 2
    assert np.array_equal(second.numpy(), np.arange(10))


@pytest.mark.parametrize("version, name", [(None, "dltensor"), ((1, 0), "dltensor_versioned"),
                                           ((2, 3), "dltensor_versioned"), ((0, 8), "dltensor")])
def test_capsules_that_nobody_takes_are_released(version, name, monkeypatch):
    released = []
    deleter = _array._DELETER
    monkeypatch.setattr(_array, "_DELETER", lambda function: lambda managed: (released.append(managed),
                                                                              deleter(function)(managed)))
    array = leat.from_dlpack(np.arange(10))
    released.clear()  # of earlier tests
    capsule = array.__dlpack__(max_version=version)
    assert f'"{name}"' in repr(capsule)
    del array
    other = leat.from_dlpack(np.arange(3))
    assert not released  # somebody may take it yet
    del capsule
    again = leat.from_dlpack(other)
    assert len(released) == 1
    assert np.array_equal(again.numpy(), np.arange(3))


def test_a_capsule_keeps_the_memory():
    array = leat.from_dlpack(np.arange(10))
    capsule = array.__dlpack__()
    del array
    others = [leat.from_dlpack(np.zeros(10)) for _ in range(20)]  # which may not lie there

    class Holder:
        def __dlpack_device__(self):
            return VULKAN, 0

        def __dlpack__(self, **_):
            return capsule
    assert np.array_equal(leat.from_dlpack(Holder()).numpy(), np.arange(10))
    assert "used_dltensor" in repr(capsule)
    with pytest.raises(leat.LeatError, match="taken it over"):
        leat.from_dlpack(Holder())
    assert len(others) == 20


def test_a_producer_of_before_version_1():
    array = leat.from_dlpack(np.arange(10))

    class Old:
        def __dlpack_device__(self):
            return array.__dlpack_device__()

        def __dlpack__(self, stream=None):
            return array.__dlpack__()
    assert np.array_equal(leat.from_dlpack(Old()).numpy(), np.arange(10))


def test_the_host_gets_a_copy_when_it_asks():
    array = leat.from_dlpack(np.arange(10))
    assert "dltensor" in repr(array.__dlpack__(dl_device=(CPU, 0)))
    with pytest.raises(BufferError, match="allow a copy"):
        array.__dlpack__(dl_device=(CPU, 0), copy=False)
    with pytest.raises(BufferError, match="neither"):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        array.__dlpack__(stream=1)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="it has no word for a device")
def test_numpy_takes_it():
    before = live_blocks()
    array = leat.from_dlpack(np.arange(10))
    assert np.array_equal(np.from_dlpack(array, device="cpu"), np.arange(10))
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(array)  # it cannot read the device
    del array
    assert live_blocks() == before


def test_what_is_refused():
    with pytest.raises(leat.LeatError, match="complex64 is not taken"):
        leat.from_dlpack(np.zeros(3, np.complex64))
    with pytest.raises(leat.LeatError, match="99"):
        leat.from_dlpack(np.zeros(3), device=99)


def test_an_array_with_its_dimensions_in_another_order_is_refused():
    before = live_blocks()
    array = leat.from_dlpack(np.arange(12).reshape(3, 4))
    shape, strides = (ctypes.c_int64 * 2)(4, 3), (ctypes.c_int64 * 2)(1, 4)
    transposed = Tensor(data=array._tensor.data, device_type=VULKAN, ndim=2, code=0, bits=64, lanes=1,
                        shape=ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), strides=ctypes.addressof(strides))
    with pytest.raises(leat.LeatError, match="copy it first"):
        leat.from_dlpack(_array.Array(array._opened, transposed, strides))
    del array
    assert live_blocks() == before


def test_threads():
    def work(number):
        array = np.full(1000, number)
        return all(np.array_equal(leat.from_dlpack(leat.from_dlpack(array)).numpy(), array) for _ in range(20))
    before = live_blocks()
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert live_blocks() == before


def test_a_process_ends_with_arrays_in_hand(run):
    told = run("-c", "import numpy, onnxruntime_ep_leat as leat; a = leat.from_dlpack(numpy.arange(3)); "
               "c = a.__dlpack__(); print(a)")
    assert (told.returncode, told.stdout, told.stderr) == (0, "Array(shape=(3,), dtype=int64, device=0)\n", "")


def test_a_child_of_fork_is_told(run):
    told = run("-W", "ignore", "-c", "import numpy, os, onnxruntime_ep_leat as leat\n"
               "a = leat.from_dlpack(numpy.arange(3))\n"
               "child = os.fork()\n"
               "if child == 0:\n"
               "    try:\n"
               "        a.numpy()\n"
               "    except leat.LeatError as error:\n"
               "        os._exit(7 if 'fork' in str(error) else 8)\n"
               "    os._exit(9)\n"
               "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), a.numpy())")
    assert (told.returncode, told.stdout, told.stderr) == (0, "7 [0 1 2]\n", "")
