#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of docs/benchmarks.md from docs/benchmarks.json, between the lines "<!-- table NAME -->" and
"<!-- end -->" of the page.

Usage: page.py [--check] [TREE]    --check: write nothing; exit status 1 if the page has other tables

Each entry of the JSON file is a table: its name; device, driver, commit, date and command of the measurement; columns;
rows of a label and values. A value is a number, a pair of numbers (the lowest and the highest of several rounds), a
text, or null where nothing was measured.
"""
import argparse
import json
import os
import re
import sys

PAGE, FIGURES = "docs/benchmarks.md", "docs/benchmarks.json"
KEYS = ["name", "device", "driver", "commit", "date", "command", "columns", "rows"]
TABLE = re.compile(r"<!-- table (\S+) -->\n(.*?)<!-- end -->\n", re.S)


def value(number):
    if number is None:
        return ""
    if isinstance(number, list):
        low, high = number
        return value(low) if low == high else f"{value(low)} to {value(high)}"
    return f"{number:,}" if isinstance(number, (int, float)) else number


def table(entry):
    if list(entry) != KEYS:
        raise ValueError(f"table {entry.get('name')}: the keys must be {', '.join(KEYS)}")
    columns = [str(column) for column in entry["columns"]]
    lines = [columns]
    for label, *values in entry["rows"]:
        if len(values) + 1 != len(columns):
            raise ValueError(f"table {entry['name']}: \"{label}\" has {len(values)} values")
        lines.append([label, *map(value, values)])
    head, *body = ("|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines)
    text = "\n".join([head, "|" + "---|" * len(columns), *body])
    return f"{text}\n\n{entry['device']}, {entry['commit']}, {entry['date']}: {entry['command']}\n"


def written(page, figures):
    """The page with its tables as the figures have them."""
    tables = {entry["name"]: table(entry) for entry in json.loads(figures)}
    shown = [name for name, _ in TABLE.findall(page)]
    if sorted(shown) != sorted(tables):
        raise ValueError(f"in one of {PAGE} and {FIGURES} alone, or twice: "
                         f"{', '.join(sorted(set(shown) ^ set(tables))) or 'a table'}")
    return TABLE.sub(lambda match: f"<!-- table {match[1]} -->\n\n{tables[match[1]]}\n<!-- end -->\n", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tree", nargs="?", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    options = parser.parse_args()
    path = os.path.join(options.tree, PAGE)
    with open(path, encoding="utf-8") as page, open(os.path.join(options.tree, FIGURES), encoding="utf-8") as figures:
        old = page.read()
        new = written(old, figures.read())
    if options.check:
        sys.exit(f"{PAGE} has other tables than {FIGURES}; run tools/bench/page.py" if new != old else 0)
    with open(path, "w", encoding="utf-8") as page:
        page.write(new)


if __name__ == "__main__":
    main()
