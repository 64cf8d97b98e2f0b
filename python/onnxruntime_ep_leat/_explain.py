# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of a model run where, and why."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterable

from ._backend import LeatError
from ._register import EP_NAME, onnxruntime, register

RECORD = "session.record_ep_graph_assignment_info"
_REFUSAL = re.compile(EP_NAME + r": (\S+) node '(.*?)' stays with another provider: (.*)")
# Beginnings of reasons: host-shim/onnxruntime/kernel_registry.c and capability.c have them.
_NO_OPERATOR = "its operator is not in the backend's list"
_NO_VERSION = re.compile(r"its operator is of version (\d+); ")
_BETWEEN = "what it takes and gives is on the host in any case"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Node:
    """A node of a model, as ONNX Runtime's optimisations left it.

    name, op_type, domain: the node's; domain "" is ONNX's own.
    provider: the execution provider that runs it, such as "LeatExecutionProvider".
    reason: why Leat does not run it; empty where it does, and where nothing is known.
    """

    name: str
    op_type: str
    domain: str
    provider: str
    reason: str


def assignment(session: Any) -> list[tuple[str, str, str, str]]:
    return [(node.name, node.op_type, node.domain, part.ep_name)
            for part in session.get_provider_graph_assignment_info() for node in part.get_nodes()]


def _of_session(session: Any) -> list[Node]:
    try:
        return [Node(*fields, reason="") for fields in assignment(session)]
    except Exception as cause:
        raise LeatError("the session did not record which nodes run where; add "
                        f"options.add_session_config_entry('{RECORD}', '1') before it is made, or give explain() the "
                        f"model's path ({cause})") from cause


def _of_path(path: str) -> list[Node]:
    """Makes a session in another process, because ONNX Runtime writes its log, which holds the reasons, to standard
    error and nowhere else."""
    onnxruntime()
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "nodes.json")
        # The folders of modules are handed on, for a process that has set them itself.
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(entry or os.getcwd() for entry in sys.path))
        done = subprocess.run([sys.executable, "-m", __name__, path, result], env=env, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True, errors="replace", check=False)
        log = _COLOURS.sub("", done.stderr)
        if done.returncode:
            last = [line for line in log.splitlines() if line.strip()][-1:] or [f"exit status {done.returncode}"]
            raise LeatError(f"{path} cannot be explained: {last[0]}")
        with open(result, encoding="utf-8") as file:
            nodes = json.load(file)
    reasons = {(op_type, name): reason for op_type, name, reason in _REFUSAL.findall(log)}
    return [Node(name, op_type, domain, provider,
                 "" if provider == EP_NAME else reasons.get((op_type, name), ""))
            for name, op_type, domain, provider in nodes]


def explain(model: Any) -> list[Node]:
    """Says of each node of a model where it runs, and of those that Leat leaves to others, why.

    model: path of an ONNX file. The model is loaded in another process, on the best device, with ONNX Runtime's default
    options; that takes as long as making a session. Or an InferenceSession that was made with the configuration entry
    "session.record_ep_graph_assignment_info" set to "1": then the nodes are those of just that session, and no reason
    is known.

    Returns the nodes that are left after ONNX Runtime's optimisations, those in bodies of If, Loop and Scan too, in the
    order in which it tells them.

    Raises LeatError: as register(); there is no device; the model cannot be loaded; the session recorded nothing.
    """
    if isinstance(model, (str, os.PathLike)):
        return _of_path(os.fspath(model))
    return _of_session(model)


def lacking(nodes: Iterable[Node]) -> str:
    """A line that says which operators and versions Leat lacks for a model, those of most nodes first, and how many
    nodes they would bring; empty where it lacks none. A node may have more that Leat refuses, hence "up to".

    nodes: what explain() gave for a path.
    """
    wanted: Counter[str] = Counter()
    between = 0
    for node in nodes:
        kind = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        version = _NO_VERSION.match(node.reason)
        if version:
            wanted[f"{kind} of version {version[1]}"] += 1
        elif node.reason == _NO_OPERATOR:
            wanted[kind] += 1
        between += node.reason.startswith(_BETWEEN)
    if not wanted:
        return ""
    listed = ", ".join(f"{kind} ({count})" for kind, count in wanted.most_common())
    along = f", and {between} between such nodes" if between else ""
    return f"up to {sum(wanted.values())} more would with {listed}{along}"


def _main(path: str, result: str) -> int:
    try:
        ort = onnxruntime()
        found = register()
        if not found:
            raise LeatError("there is no usable device: python -m onnxruntime_ep_leat --devices")
        options = ort.SessionOptions()
        options.log_severity_level = 0
        options.add_session_config_entry(RECORD, "1")
        options.add_provider_for_devices(found[:1], {})
        nodes = assignment(ort.InferenceSession(path, options, enable_fallback=0))
    except Exception as cause:
        print(" ".join(str(cause).split()), file=sys.stderr)
        return 1
    with open(result, "w", encoding="utf-8") as file:
        json.dump(nodes, file)
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
