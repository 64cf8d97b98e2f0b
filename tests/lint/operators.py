#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""operators.py TREE: graphs and the ONNX Runtime provider know operators by what their entries say, not by name.

No text in C there is the name of an operator of docs/operators.md, which has those of the plugin's list, but for three
places: the table of what rules look for, which has a number for each name and says for which versions it stands
(plugin/graph/known_ops.h), what a kernel of another provider refuses, which no backend can tell (the table
refused_inputs of the provider), and what the runtime's Scan has a provider do (scan_operator). Nor does anything there
look at the name of an entry to compare it, but for these tables.

What an operator of domain leat does, which no specification says, the contract says: abi/leat/backend.h has "Name(".
"""
import re

import lint

LIST = 'docs/operators.md'
CHECKED = r'^(plugin/graph|host-shim/onnxruntime)/.*\.[ch]$'
PATTERNS = r'^plugin/graph/(\w+/)*known_ops\.[ch]$'
OTHERS = re.compile(r'\brefused_inputs\[\] = \{.*?^\};|\bscan_operator\[\] = "\w+";', re.S | re.M)
COMPARES = re.compile(r'\bstr\w*(?:cmp|str)\([^;]*\b(?:info->|def->info\.)name\b')
# The registry finds the entry of a node, whatever it is.
FINDS = re.compile(r'strcmp\(info->name, form->type\) == 0')
CONTRACT = 'abi/leat/backend.h'
OWN = re.compile(r'"(\w+)",\s*"leat",')


def check(tree):
    page = tree.text(LIST) if LIST in tree.files else ''
    rows = re.findall(r'^\| (.*) \|.*\|$', page.partition('## List')[2], re.M)
    names = set(re.findall(r'\b([A-Z]\w+) \d', ' '.join(rows)))
    if not names:
        yield f'{LIST}: no operator is found'
    for path in tree.matching(CHECKED):
        if re.match(PATTERNS, path):
            continue
        text = OTHERS.sub('', lint.strip_comments(tree.text(path)))
        for name in sorted(set(re.findall(r'"(\w+)"', text)) & names):
            yield f'{path} names {name}; what it asks of operators is for leat_op_info, or for graph/known_ops.h'
        if COMPARES.search(FINDS.sub('', text)):
            yield f'{path} compares the name of an entry; graph/known_ops.h has numbers for names, and versions'
    defined = tree.text(CONTRACT) if CONTRACT in tree.files else ''
    for path in tree.matching(r'^plugin/ops/.*\.c$'):
        for name in OWN.findall(lint.strip_comments(tree.text(path))):
            if not re.search(rf'\b{name}\(', defined):
                yield f'{path}: {CONTRACT} does not say what {name} of domain leat does'


DOC = {LIST: '| Gemm | alpha |\n## List\n| Add 7-14, Conv 11 | T: floats |\n'}
RULE, PROVIDER = 'plugin/graph/fuse_this.c', 'host-shim/onnxruntime/that.c'
CANARIES = [
    ({**DOC, RULE: 'return node->known == LEATI_IS_ADD; /* "Add" */\n'}, None),
    ({**DOC, 'plugin/graph/known_ops.h': 'X(ADD, "", "Add", 7, 14)\n'}, None),
    ({**DOC, 'plugin/graph/rules/known_ops.c': 'strcmp(rows[i].name, info->name);\n'}, None),
    ({**DOC, 'plugin/ops/binary.c': 'BINARY("Add", (7, 14))\n'}, None),
    ({**DOC, PROVIDER: 'static const struct {\n  int i;\n} refused_inputs[] = {\n    {"", "Conv", 1},\n};\n'}, None),
    ({**DOC, PROVIDER: 'static const char scan_operator[] = "Conv";\n'}, None),
    ({**DOC, PROVIDER: 'return strcmp(info->name, form->type) == 0;\n'}, None),
    ({**DOC, RULE: '.op = "Add",\n'}, 'fuse_this.c names Add'),
    ({**DOC, PROVIDER: 'static const char *const words[] = {"Gemm", "Conv"};\n'}, 'that.c names Conv'),
    ({**DOC, PROVIDER: 'if (strstr(list->nodes[i].info->name, word)) {\n'}, 'compares the name'),
    ({**DOC, 'plugin/graph/run/launch.c': 'strcmp(op->def->info.name, other);\n'}, 'compares the name'),
    ({PROVIDER: 'int nothing;\n'}, 'no operator is found'),
    ({**DOC, CONTRACT: '/* - Cube(X) is X X X. */\n', 'plugin/ops/a/b.c': 'LEATI_OP("Cube", "leat", (1, 1)\n'}, None),
    ({**DOC, CONTRACT: '/* - Cubes(X). */\n', 'plugin/ops/a/b.c': 'LEATI_OP(\n        "Cube", "leat", (1, 1)\n'},
     'does not say what Cube'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
