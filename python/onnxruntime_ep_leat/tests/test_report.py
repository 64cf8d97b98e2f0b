# SPDX-License-Identifier: BSD-3-Clause
"""The page that report() writes."""
import collections
import json
import os

import pytest

import onnxruntime_ep_leat as leat
from onnxruntime_ep_leat import _page, _report


def data_of(text):
    """What a page is drawn from: the text of its first script, which nothing in it may have ended."""
    found = text.split('<script id="data" type="application/json">')[1].split("</script>")[0]
    assert "<" not in found and "@DATA@" not in text
    return json.loads(found)


def test_a_report_has_what_was_measured(devices, model, tmp_path):
    told = []
    leat.report(model, tmp_path / "page.html", threads=(1, 3), seconds=0.1, dims={"batch": 2}, progress=told.append)
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert [line["name"] for line in data["lines"]] == ["Leat", "CPU provider"]
    for line in data["lines"]:
        assert [point["threads"] for point in line["points"]] == [1, 3]
        assert all(min(point.values()) > 0 and point["p50_seconds"] <= point["p99_seconds"] for point in line["points"])
    assert [(part["count"], len(part["elsewhere"])) for part in data["nodes"]] == [(data["nodes"][0]["on_leat"], 0)]
    # Device time is that of nodes of this model, and memory that of a process that holds its weights.
    assert any("Conv" in operator and us > 0 for operator, _, us in data["device_time"]["steps"])
    assert data["memory"]["rows"][0][:1] == ["taken from the driver"] and data["memory"]["rows"][0][1] > 0
    assert any("3 threads" in text for text in told)


def test_a_report_from_the_command_line(run, devices, model, tmp_path):
    file = tmp_path / "page.html"
    done = run("-m", "onnxruntime_ep_leat", "--report", model, "-o", str(file), "--seconds", "0.05", "--dim", "batch=3")
    assert done.returncode == 0, done
    assert ["dimension batch", "3"] in data_of(file.read_text(encoding="utf-8"))["facts"]
    for wrong in (["--dim", "batch"], ["--dim", "batch=x"], ["--dim", "batch=\u00b2"], ["--dim", "batch=" + "9" * 5000],
                  ["--seconds", "nan"], ["--seconds", "-1"], ["-o", str(tmp_path / "no" / "page.html")], ["-o", ""],
                  ["-o", str(tmp_path / "folder") + os.sep]):
        done = run("-m", "onnxruntime_ep_leat", "--report", model, "-o", str(file), *wrong)
        assert done.returncode == 2 and done.stderr.startswith("onnxruntime_ep_leat: ") and \
            "Traceback" not in done.stderr, done
    done = run("-m", "onnxruntime_ep_leat", "--report", model, "-o", str(file), "--dim", "bacth=4")
    assert done.returncode == 2 and "no input has a dimension 'bacth'; those with a name: batch" in done.stderr, done
    done = run("-m", "onnxruntime_ep_leat", "--report", "", "-o", str(file))
    assert done.returncode == 2 and "loading the model (Leat)" in done.stderr, done


def test_inputs_of_a_report():
    put = collections.namedtuple("put", "name type shape")
    session = type("", (), {"get_inputs": lambda _: [put("x", "tensor(float)", [0, "n", None, 3]),
                                                     put("y", "tensor(int64)", ["m", 2, "n"])]})()
    made = _report._inputs(session, {"n": 4})
    assert {name: (array.shape, str(array.dtype)) for name, array in made.items()} == \
        {"x": ((0, 4, 1, 3), "float32"), "y": ((1, 2, 4), "int64")}
    with pytest.raises(leat.LeatError, match="no input has a dimension 'batch'; those with a name: n, m"):
        _report._inputs(session, {"n": 4, "batch": 1})


def test_names_do_not_end_the_script_of_a_page():
    for name in ("</script><script>alert(1)</script>", "<!--", "\\", "\udcff\u2028\0'\"&"):
        text = _page.page({"title": name})
        assert text.count("</script>") == 2 and data_of(text) == {"title": name}


def test_a_report_of_what_is_no_model(devices, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    with pytest.raises(leat.LeatError, match="bad.onnx"):
        leat.report(tmp_path / "bad.onnx", tmp_path / "page.html")
    assert os.listdir(tmp_path) == ["bad.onnx"]
    for arguments in ({"threads": ()}, {"threads": (0,)}, {"dims": {"batch": -1}}):
        with pytest.raises(leat.LeatError, match="a report needs"):
            leat.report(tmp_path / "bad.onnx", tmp_path / "page.html", **arguments)
