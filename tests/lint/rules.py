#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rules.py TREE: rules of fusion look at shapes only by the functions of graph/fusion.h, which note what they rely on,
and at operators by the numbers of graph/known_ops.h.

A rule that read a size past them would be applied to other shapes too, for which it might have done something else; one
that compared names would take a later version of an operator for what it knows.
"""
import re

import lint

RULES = r'plugin/graph/(fuse_\w+|expression)\.c$'


def check(tree):
    for path in tree.files:
        if re.match(RULES, path):
            for found in sorted(set(re.findall(r'\b(?:leati_)?inference\w*', lint.strip_comments(tree.text(path))))):
                yield f'{path} names {found}; what it looks at is to be asked for by the functions of graph/fusion.h'
            if re.search(r'info\.name\b|info->name\b', lint.strip_comments(tree.text(path))):
                yield f'{path} looks at the name of an operator; graph/known_ops.h has a number for it, and versions'


RULE = 'plugin/graph/fuse_this.c'
CANARIES = [
    ({RULE: 'bool is(const leati_fusion *f) {\n  return leati_fusion_is_one(f, 1, 0);\n}\n'}, None),
    ({RULE: '/* inference */\n'}, None),
    ({'plugin/graph/fusion.c': 'f->inference->values[0];\n'}, None),
    ({RULE: 'f->inference->values[0];\n'}, 'names inference'),
    ({RULE: 'leati_inference_open_node(0);\n'}, 'names leati_inference_open_node'),
    ({RULE: 'strcmp(node->op->def->info.name, "Add");\n'}, 'looks at the name'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
