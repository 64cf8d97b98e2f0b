#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report_page.py PAGE [JSON] [--threads N...] [--has TEXT...]: whether a report of leat-run is as it must be.

It is well-formed and fetches nothing, its data is what JSON says (as leat-run --json --report printed it), with points
at these numbers of threads. Where Node.js is, its script is run without a browser: what it draws is well-formed, no
name of a model or node has become markup, and the tables hold the data. TEXT is in some cell.
"""
import argparse
import html.parser
import json
import shutil
import subprocess

# The little of a browser that the script asks for; what it would show goes to standard output.
BROWSER = """
const found = JSON.parse(require("fs").readFileSync(0, "utf8"));
globalThis.document = {getElementById: name => ({textContent: found[name]}), body: {}};
(0, eval)(found.script + ";globalThis.plain = plain;");
console.log(JSON.stringify({title: document.title, body: document.body.innerHTML, numbers: found.numbers.map(
  ([value, digits]) => plain(value, digits))}));
"""
NUMBERS = ((0, "0"), (999.7, "1,000"), (999.4, "999"), (99.96, "100"), (0.5, "0.5"), (12.34, "12.3"),
           (72241.3, "72,241"), (1e7, "10,000,000"), (1.234e-5, "0.0000123"), (1e-30, "0"), (7, "7"))
DRAWN = {"h1", "h2", "p", "table", "tr", "th", "td", "svg", "text", "line", "polyline", "circle"}
VOID = {"meta", "line", "polyline", "circle"}


class Page(html.parser.HTMLParser):
    """Scripts by their id, cells of tables, points of lines, and whether all that opens closes."""

    def __init__(self, text, allowed=None):
        super().__init__()
        self.allowed, self.open, self.scripts, self.rows, self.points = allowed, [], {}, [], []
        self.feed(text)
        self.close()
        assert not self.open, f"{self.open} is not closed"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert not {"src", "href"} & set(given), "it fetches something"
        assert self.allowed is None or tag in self.allowed, f"<{tag}> is not the page's"
        if tag == "script":
            self.script = given.get("id", "script")
            self.scripts[self.script] = ""
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "polyline":
            self.points.append(len(given["points"].split()))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open and self.open[-1] == "script":
            self.scripts[self.script] += data


def check_data(data, threads):
    assert data["title"] and data["lines"] and len(data["nodes"]) == len(data["lines"])
    for line in data["lines"]:
        assert [point["threads"] for point in line["points"]] == threads, line
        for point in line["points"]:
            assert 0 < point["p50_seconds"] <= point["p99_seconds"] and point["runs_per_second"] > 0, point
    for model in data["nodes"]:
        assert model["on_leat"] + len(model["elsewhere"]) == model["count"], model


def render(scripts):
    done = subprocess.run(["node", "-e", BROWSER], check=True, stdout=subprocess.PIPE, text=True,
                          input=json.dumps({**scripts, "numbers": [(value, 3) for value, _ in NUMBERS]}))
    return json.loads(done.stdout)


def check_drawing(scripts, data, threads, texts):
    shown = render(scripts)
    assert shown["numbers"] == [text for _, text in NUMBERS], shown["numbers"]
    assert shown["title"] == data["title"]
    page = Page(shown["body"], DRAWN)
    assert page.points == [len(threads)] * 3 * len(data["lines"]), page.points
    assert all(fact in page.rows for fact in data["facts"])
    rows = [row for row in page.rows if len(row) == 1 + 3 * len(data["lines"])]
    rates = [float(row[1].replace(",", "")) for row in rows if row[0].isdigit()]
    wanted = [point["runs_per_second"] for point in data["lines"][0]["points"]]
    assert len(rates) == len(wanted) and all(
        abs(rate - want) < 0.01 * want for rate, want in zip(rates, wanted)), (rates, wanted)
    for model in data["nodes"]:
        for operator, node, provider, reason in model["elsewhere"]:
            assert [operator, node, provider, reason or "no reason is known"] in page.rows, (model, page.rows)
    if data["device_time"]:
        total = sum(us for _, _, us in data["device_time"]["steps"])
        shares = [float(row[3][:-2]) for row in page.rows if len(row) == 4 and row[3].endswith(" %")]
        assert total > 0 and shares and sum(shares) < 100 + 0.05 * len(shares)
    for text in texts:
        assert any(text in cell for row in page.rows for cell in row), f"no cell has '{text}'"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--has", nargs="*", default=[])
    given = parser.parse_args()
    with open(given.page, encoding="utf-8") as file:
        page = Page(file.read())
    assert "<" not in page.scripts["data"]
    data = json.loads(page.scripts["data"])
    if given.json:
        with open(given.json, encoding="utf-8") as file:
            assert json.load(file) == data, "the page has other data than --json"
    check_data(data, given.threads)
    if shutil.which("node"):
        check_drawing(page.scripts, data, given.threads, given.has)
    else:
        print("no Node.js: the page was not drawn")


if __name__ == "__main__":
    main()
