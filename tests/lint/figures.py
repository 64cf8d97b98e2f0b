#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""figures.py TREE: the tables of docs/benchmarks.md are those that tools/bench/page.py writes."""
import os
import sys

import lint

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'tools', 'bench'))
import page  # noqa: E402


def check(tree):
    try:
        if page.written(tree.text(page.PAGE), tree.text(page.FIGURES)) != tree.text(page.PAGE):
            yield f'{page.PAGE}: a table is not what {page.FIGURES} says; run tools/bench/page.py'
    except ValueError as error:
        yield f'{page.FIGURES}: {error}'


FIGURES = ('[{"name": "a", "device": "d", "driver": "1", "commit": "c", "date": "2000-01-01", "command": "`x`",'
           ' "columns": ["us", 8], "rows": [["y", [1000, 2000]], ["z", null]]}]')
PAGE = '<!-- table a -->\n\n| us | 8 |\n|---|---|\n| y | 1,000 to 2,000 |\n| z | |\n\n' \
       'd, c, 2000-01-01: `x`\n\n<!-- end -->\n'

CANARIES = [
    ({page.PAGE: PAGE, page.FIGURES: FIGURES}, None),
    ({page.PAGE: PAGE.replace('2,000 |', '3,000 |'), page.FIGURES: FIGURES}, 'a table is not what'),
    ({page.PAGE: PAGE.replace('table a', 'table b'), page.FIGURES: FIGURES}, 'alone, or twice: a, b'),
    ({page.PAGE: PAGE, page.FIGURES: FIGURES.replace('"date": "2000-01-01", ', '')}, 'the keys must be'),
    ({page.PAGE: PAGE, page.FIGURES: FIGURES.replace('null', 'null, 1')}, '"z" has 2 values'),
    ({page.PAGE: PAGE, page.FIGURES: FIGURES[1:]}, page.FIGURES),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
