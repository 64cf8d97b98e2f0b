#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""words.py TREE: words that the project has given up do not come back, in names, comments, pages and messages.

A reader of Vulkan, ONNX or compilers looks for the words of those; each row of GIVEN_UP has what was said instead of
them, as a regular expression in which a blank also matches the end of a line of a comment, and what is said now.
EXCEPTIONS are files in which a word stands for something else, each with the reason.
"""
import re

import lint

GIVEN_UP = [
    (r'leati?_whereabouts', 'leati_alias'),
    (r'\bleati_placing', 'leati_aliasing'),
    (r'leati_scrap|\bscraps\b', 'host values, leati_host_chunk'),
    (r'LEATI_PROMISED', 'LEATI_PLAN_ALIGNMENT'),
    (r'\bleati_joint', 'leati_schedule'),
    (r'gemm_la(?:y|id)\b', 'gemm_select, gemm_config'),
    (r'leati_factor', 'leati_a_prologue'),
    (r'\brestride\b', 'strided_view'),
    (r'conv_spread', 'conv_transpose_gemm'),
    (r'index_is_told', 'reports_bad_index'),
    (r'stream_(?:vacate|welcome)', 'stream_release_owner, stream_adopt_owner'),
    (r'LEATI_(?:LONELY|COMPANY)_|\blonely\b|\bcompany\b', 'single lists, gathering, LEATI_GATHER_NS'),
    (r'leati_callee|\bcallee\b', 'compute_target'),
    (r'\bislands?\b|(?:\b|_)islands?(?:_|\b)', 'fused subgraph'),
    (r'channels?(?: that)?(?: of \w+(?: \w+)?)? (?:lie|lies|are|is|may be) next to each other', 'NHWC layout'),
    (r'channels next to each other', 'NHWC layout'),
    (r'kept plans?\b|plans? that (?:is|are) kept', 'cached plan, plan cache'),
    (r'(?:products?|convolutions?|weights|operands|pools|layers?) of bytes', 'int8 or uint8'),
    (r'signed bytes', 'int8'),
    (r'turns of the largest tile', 'waves (of workgroups per SM)'),
    (r'products? of few rows|kernels? for few rows', 'small m'),
    (r'turned by twos', 'rotary_embedding_dim must be even'),
    (r'as good as unset', 'an empty value counts as unset'),
    (r'shall not be done', 'fusion passes to disable'),
]
SOURCE = re.compile(r'\.(c|h|comp|glsl|py|sh|md|cmake|in|patch|java|rs|go)$|CMakeLists\.txt$')
# Released sections of the list of changes and frozen headers stay as they are; this file and its words are itself.
SKIPPED = re.compile(r'^(CHANGELOG\.md|tests/abi/v\d|tests/lint/words\.py)')
EXCEPTIONS = {
    # What a function's contract calls the one that is called.
    ('abi/leat/backend.h', 'compute_target'),
}
ROWS = [(re.compile(words.replace(' ', r'(?: |[ ]*\n[ ]*(?:\*|//|#)?[ ]*)'), re.I), now) for words, now in GIVEN_UP]


def check(tree):
    met = set()
    for path in tree.files:
        if not SOURCE.search(path) or SKIPPED.match(path):
            continue
        text = tree.text(path)
        for row, now in ROWS:
            for match in row.finditer(text):
                if (path, now) in EXCEPTIONS:
                    met.add((path, now))
                    continue
                line = text.count('\n', 0, match.start()) + 1
                said = ' '.join(match.group(0).split())
                yield f'{path}:{line}: "{said}" was given up; say: {now}'
    for path, now in sorted(EXCEPTIONS - met):
        if path in tree.files:
            yield f'{path} needs no exception for {now} any more'


CANARIES = [
    ({'plugin/a.c': '/* Images whose channels lie next to each\n * other. */\n'}, 'say: NHWC layout'),
    ({'plugin/a.c': 'leati_joint_end(&joint);\n'}, 'say: leati_schedule'),
    ({'docs/a.md': 'An empty value is as\ngood as unset.\n'}, 'docs/a.md:1: "as good as unset" was given up'),
    ({'abi/leat/backend.h': '/* none */\n'}, 'needs no exception'),
    ({'abi/leat/backend.h': '/* passes to the callee */\n'}, None),
    ({'CHANGELOG.md': '- products of bytes\n', 'tests/abi/v1_0/leat/backend.h': '/* signed bytes */\n'}, None),
    ({'docs/a.md': 'Pixels next to each other, and a number of bytes.\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
