# SPDX-License-Identifier: BSD-3-Clause
"""The page that report() writes."""
import collections
import html.parser
import os

import pytest

import onnxruntime_ep_leat as leat
from onnxruntime_ep_leat import _page, _report


class Page(html.parser.HTMLParser):
    """What a page holds: the cells of its tables, how many points each line has, and whether all that opens closes."""

    VOID = {"meta", "line", "polyline"}

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.points = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert not {"src", "href"} & set(attributes), "it fetches something"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "polyline":
            self.points.append(len(attributes["points"].split()))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_report_has_what_was_measured(devices, model, tmp_path):
    told = []
    leat.report(model, tmp_path / "page.html", threads=(1, 3), seconds=0.1, dims={"batch": 2}, progress=told.append)
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.points == [2, 2, 2, 2]
    measured = {row[0]: row[1:] for row in page.rows if row and row[0] in ("1", "3")}
    assert all(float(value.replace(",", "")) > 0 for row in measured.values() for value in row) and len(measured) == 2
    # Device time is that of nodes of this model, and memory that of a process that holds its weights.
    spent = [row for row in page.rows if len(row) == 4 and row[3].endswith("%")]
    assert any("Conv" in row[0] for row in spent)
    assert abs(sum(float(row[3][:-2]) for row in spent) - 100) < 1 + 0.05 * len(spent)
    taken = next(row for row in page.rows if row and row[0] == "taken from the driver")
    assert float(taken[1].replace(",", "")) > 0
    assert any("3 threads" in text for text in told)


def test_a_report_from_the_command_line(run, devices, model, tmp_path):
    file = tmp_path / "page.html"
    done = run("-m", "onnxruntime_ep_leat", "--report", model, "-o", str(file), "--seconds", "0.05", "--dim", "batch=3")
    assert done.returncode == 0 and "batch = 3" in file.read_text(encoding="utf-8"), done
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


def test_numbers_of_a_page_are_plain():
    for value, text in ((0.0, "0"), (999.7, "1,000"), (999.4, "999"), (99.96, "100"), (0.5, "0.5"), (12.34, "12.3"),
                        (72241.3, "72,241"), (1e7, "10,000,000"), (1.234e-5, "0.0000123"), (1e-30, "0"), (7, "7")):
        assert _page.table((), [(value,)]).count(f"<td>{text}</td>") == 1, (value, _page.plain(value, 3))
    chart = _page.chart("rates", "runs/s", (1, 2), {"a": [1.0, 72241.3]})
    assert ">72,241<" in chart and ">36,121<" in chart and ">0<" in chart and "e+" not in chart


def test_a_report_of_what_is_no_model(devices, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    with pytest.raises(leat.LeatError, match="bad.onnx"):
        leat.report(tmp_path / "bad.onnx", tmp_path / "page.html")
    assert os.listdir(tmp_path) == ["bad.onnx"]
    for arguments in ({"threads": ()}, {"threads": (0,)}, {"dims": {"batch": -1}}):
        with pytest.raises(leat.LeatError, match="a report needs"):
            leat.report(tmp_path / "bad.onnx", tmp_path / "page.html", **arguments)
