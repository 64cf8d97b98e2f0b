# SPDX-License-Identifier: BSD-3-Clause
"""Sessions, and what explain() and check() say of them."""
import pytest

import onnxruntime_ep_leat as leat
from onnxruntime_ep_leat._explain import lacking

RECORD = "session.record_ep_graph_assignment_info"


def test_check_is_right(devices):
    verdict = leat.check()
    assert verdict.right, verdict.text
    assert verdict.nodes_on_device == verdict.nodes > 0 and verdict.runs > 1
    assert verdict.text.startswith("right: ") and verdict.device in verdict.text
    with pytest.raises(leat.LeatError, match="there is no device 99"):
        leat.check(99)


def test_check_from_the_command_line(run, devices):
    told = run("-m", "onnxruntime_ep_leat", "--check")
    assert told.returncode == 0 and told.stdout.startswith("right: "), told
    none = run("-m", "onnxruntime_ep_leat", "--check", VK_DRIVER_FILES="/nowhere.json",
               VK_ICD_FILENAMES="/nowhere.json")
    assert none.returncode == 1 and "there is no usable device" in none.stdout, none


def test_devices_before_a_session_do_not_fix_settings(run, devices, model):
    done = run("-c", "import onnxruntime as ort, onnxruntime_ep_leat as leat\n"
               "assert leat.devices()\n"
               "options = ort.SessionOptions()\n"
               "options.add_provider_for_devices(leat.register()[:1], {'lanes': '2'})\n"
               f"session = ort.InferenceSession(r'{model}', options, enable_fallback=0)\n"
               "assert leat.devices()\n"
               "assert session.get_providers()[0] == leat.EP_NAME")
    assert done.returncode == 0, done.stderr


def test_a_session_is_explained(ort, devices, model):
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices[:1], {})
    with pytest.raises(leat.LeatError, match=RECORD):
        leat.explain(ort.InferenceSession(model, options))
    options.add_session_config_entry(RECORD, "1")
    nodes = leat.explain(ort.InferenceSession(model, options))
    assert {node.provider for node in nodes} == {leat.EP_NAME}
    assert {"Conv", "Gemm"} <= {node.op_type for node in nodes}


def test_a_model_is_explained(devices, model, run):
    nodes = leat.explain(model)
    assert nodes and all(node.provider == leat.EP_NAME and not node.reason for node in nodes)
    told = run("-m", "onnxruntime_ep_leat", "--explain", model)
    assert told.stdout.splitlines()[-1] == f"{len(nodes)} of {len(nodes)} nodes run on Leat"


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a protocol buffer: text, or bytes of a message, or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(name, op_type, inputs, output):
    return field(1, b"".join([*(field(1, put) for put in inputs), field(2, output), field(3, name),
                              field(4, op_type)]))


def value_info(name, element_type):
    """A tensor of rank 1 and any size."""
    shape = field(1, field(2, "n"))
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, shape)))


def save(path, version, nodes, values):
    """A model of a version of ONNX's operators; values are ends of the graph: field, name and element type."""
    graph = nodes + field(2, "graph") + b"".join(field(number, value_info(name, kind)) for number, name, kind in values)
    path.write_bytes(field(1, 9) + field(7, graph) + field(8, field(1, "") + field(2, version)))


def test_what_is_left_to_others_has_a_reason(devices, tmp_path):
    """float32 "x" -> Relu -> "y" and -> Shape, Mul -> int64 "z"; text "a" -> StringConcat, for no device, -> "b"."""
    nodes = (node("device", "Relu", ["x"], "y") + node("shape", "Shape", ["x"], "s")
             + node("arithmetic", "Mul", ["s", "s"], "z") + node("text", "StringConcat", ["a", "a"], "b"))
    path = tmp_path / "left.onnx"
    save(path, 20, nodes, [(11, "x", 1), (11, "a", 8), (12, "y", 1), (12, "z", 7), (12, "b", 8)])
    told = {node.name: node for node in leat.explain(path)}
    assert told["device"].provider == leat.EP_NAME and not told["device"].reason
    assert told["text"].provider == told["arithmetic"].provider == "CPUExecutionProvider"
    assert told["text"].reason == "its operator is not in the backend's list"
    assert told["arithmetic"].reason == "it computes shapes from shapes, which costs less on the host"


def test_what_would_bring_more_nodes_is_told(devices, tmp_path, run):
    nodes = (node("a", "GlobalLpPool", ["x"], "a") + node("b", "Neg", ["a"], "b")
             + node("c", "GlobalLpPool", ["b"], "c") + node("d", "MeanVarianceNormalization", ["c"], "y")
             + node("e", "Exp", ["x"], "z"))
    path = tmp_path / "mixed.onnx"
    save(path, 10, nodes, [(11, "x", 1), (12, "y", 1), (12, "z", 1)])
    told = run("-m", "onnxruntime_ep_leat", "--explain", str(path))
    assert told.stdout.splitlines()[-2:] == [
        "1 of 5 nodes run on Leat",
        "up to 3 more would with GlobalLpPool (2), MeanVarianceNormalization (1), and 1 between such nodes"], told


def test_what_lacks_is_told_by_version():
    reason = "its operator is of version 6; the backend's list has it in 11 to 13"
    clips = [leat.Node(name, "Clip", "", "CPUExecutionProvider", reason) for name in "ab"]
    assert lacking(clips) == "up to 2 more would with Clip of version 6 (2)"


@pytest.mark.parametrize("content", [None, b"", b"no model"])
def test_a_broken_model_is_told(devices, tmp_path, run, content):
    path = tmp_path / "broken.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(leat.LeatError, match="broken.onnx cannot be explained: "):
        leat.explain(path)
    told = run("-m", "onnxruntime_ep_leat", "--explain", str(path))
    assert told.returncode == 2 and "Traceback" not in told.stderr
