# SPDX-License-Identifier: BSD-3-Clause
"""The page of a report: report.html, which leat-run fills in with the same JSON."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping

_MARK = "@DATA@"


def page(data: Mapping[str, Any]) -> str:
    """The whole file.

    data: title; facts, pairs of texts; lines, each with a name and points (threads, runs_per_second, p50_seconds,
        p99_seconds) at the same threads; nodes, each a model's name, count, on_leat, and elsewhere (operator, node,
        provider, reason); device_time, with a note and steps (operator, node, microseconds a run), or None; memory,
        with a note and rows (what, bytes now, highest or None), or None.
    """
    with open(os.path.join(os.path.dirname(__file__), "report.html"), encoding="utf-8") as file:
        template = file.read()
    # No text in it may end the script that it stands in.
    return template.replace(_MARK, json.dumps(data, indent=1, allow_nan=False).replace("<", "\\u003c"), 1)
