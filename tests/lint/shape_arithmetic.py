#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shape_arithmetic.py TREE: what the ONNX Runtime provider takes for shape arithmetic, a graph computes on the host.

Each operator of the provider's table (host-shim/onnxruntime/shape_arithmetic.c) is in the table of
plugin/graph/evaluate.c, gives what it gives on the host by itself, as Shape does, or is in LEFT_OUT, with the reason.
What the provider takes and a graph does not compute cuts an island wherever it stands. The other way round nothing is
lost: a graph may compute more, where it knows the elements. An exception that is not needed fails too.
"""
import re

import lint

PROVIDER = 'host-shim/onnxruntime/shape_arithmetic.c'
GRAPH = 'plugin/graph/evaluate.c'

GIVEN_ON_HOST = {'Shape', 'Size'}
LEFT_OUT = {
    'Pad': 'no exporter is known that computes shapes by it',
    'Split': 'no exporter is known that computes shapes by it; it has several outputs',
}


def table(tree, path, name):
    """The operators that the rows of a table begin with."""
    if path not in tree.files:
        return set()
    match = re.search(rf'\b{name}\[\] = {{\n(.*?)^}};', lint.strip_comments(tree.text(path)), re.S | re.M)
    return set(re.findall(r'^\s*{"(\w+)"', match.group(1), re.M)) if match else set()


def check(tree):
    taken, computed = table(tree, PROVIDER, 'shape_operators'), table(tree, GRAPH, 'evaluators')
    if not taken:
        yield f'{PROVIDER}: no table "shape_operators" is found'
    if not computed:
        yield f'{GRAPH}: no table "evaluators" is found'
    for name in sorted(taken - computed - GIVEN_ON_HOST - set(LEFT_OUT)):
        yield f'{PROVIDER}: {name} is not in the table of {GRAPH}, so it cuts islands'
    for name in sorted(name for name in LEFT_OUT if taken and (name in computed or name not in taken)):
        yield f'{name} needs no exception'


def tree_of(taken, computed):
    return {PROVIDER: 'static const struct {\n  bool grows;\n} shape_operators[] = {\n'
                      + ''.join(f'    {{"{name}", false}},\n' for name in taken) + '};\n',
            GRAPH: 'static const leati_evaluator evaluators[] = {\n'
                   + ''.join(f'    {{"{name}", 1, NULL}},\n' for name in computed) + '};\n'}


TAKEN, COMPUTED = ['Shape', 'Add', 'Pad', 'Split'], ['Add', 'Reciprocal']

CANARIES = [
    (tree_of(TAKEN, COMPUTED), None),
    (tree_of(TAKEN + ['Transpose'], COMPUTED), 'Transpose is not in the table'),
    (tree_of(TAKEN, COMPUTED + ['Pad']), 'Pad needs no exception'),
    (tree_of(TAKEN[:-1], COMPUTED), 'Split needs no exception'),
    ({**tree_of(TAKEN, COMPUTED), GRAPH: ''}, 'no table "evaluators"'),
    ({**tree_of(TAKEN, COMPUTED), PROVIDER: ''}, 'no table "shape_operators"'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
