# SPDX-License-Identifier: BSD-3-Clause
"""A page of HTML without anything from elsewhere: headings, tables and charts of lines."""
from __future__ import annotations

import html
import math
from typing import Iterable, Mapping, Sequence

_STYLE = """body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}svg{display:inline-block;margin:.5em 1em .5em 0}
text{font:12px sans-serif;fill:#444}"""
_COLOURS = ("#0b6e4f", "#c8553d", "#3d5a98", "#8a6d1d")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 420, 260, 70, 40


def plain(value: float, digits: int) -> str:
    """A number that is not negative, with so many significant digits, or all that stand before the point, and at most
    nine behind it. There is never an exponent."""
    whole = math.floor(math.log10(value)) + 1 if value > 0 else digits
    text = f"{value:,.{min(9, max(0, digits - whole))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers have three significant digits."""
    def cell(value: object) -> str:
        return html.escape(plain(value, 3) if isinstance(value, (int, float)) else str(value))
    lines = ["<tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows]
    return "<table>" + "\n".join(lines) + "</table>"


def chart(title: str, unit: str, places: Sequence[object], lines: Mapping[str, Sequence[float]]) -> str:
    """Lines over places that are evenly far apart, from zero on."""
    most = max((value for values in lines.values() for value in values), default=0.0) or 1.0
    wide, high = _WIDTH - _LEFT - 20, _HEIGHT - _BOTTOM - 40

    def x(i: int) -> float:
        return _LEFT + wide * (i / max(1, len(places) - 1))

    def y(value: float) -> float:
        return 40 + high * (1 - value / most)
    parts = [f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{html.escape(title)}">',
             f'<text x="{_LEFT}" y="16">{html.escape(title)} ({html.escape(unit)})</text>']
    for share in (0, 0.5, 1):
        at = y(most * share)
        parts += [f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>',
                  f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{plain(most * share, 4)}</text>']
    parts += [f'<text x="{x(i):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{html.escape(str(place))}</text>'
              for i, place in enumerate(places)]
    for number, (name, values) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in enumerate(values))
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
                  f'<text x="{_LEFT + 110 * number}" y="32" style="fill:{colour}">{html.escape(name)}</text>']
    return "\n".join(parts + ["</svg>"])


def section(title: str, *content: str) -> str:
    """A heading with what stands below it."""
    return "\n".join([f"<h2>{html.escape(title)}</h2>", *content])


def paragraph(text: str) -> str:
    """Plain text."""
    return f"<p>{html.escape(text)}</p>"


def page(title: str, *content: str) -> str:
    """The whole file."""
    return "\n".join(["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
                      f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
                      f"<h1>{html.escape(title)}</h1>", *content, "</body></html>", ""])
