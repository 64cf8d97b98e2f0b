#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""links.py TREE: what a page links to is there, and so is the heading that the link names.

A heading's anchor is what GitHub makes of it: small letters, "-" for blanks, no other signs.
"""
import os
import re

import lint

LINK = re.compile(r'\]\(([^)\s]*)\)')
FENCE = re.compile(r'^ *```.*?^ *```$', re.M | re.S)


def anchors(text):
    found = set()
    for heading in re.findall(r'^#+ +(.+?)\s*$', FENCE.sub('', text), re.M):
        heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()
        name = plain = re.sub(r'[^\w\- ]', '', heading).replace(' ', '-')
        count = 0
        while name in found:
            count += 1
            name = f'{plain}-{count}'
        found.add(name)
    return found


def check(tree):
    for page in tree.matching(r'\.md$'):
        for link in LINK.findall(FENCE.sub('', tree.text(page))):
            if re.match(r'\w+:', link):
                continue
            target, _, anchor = link.partition('#')
            path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
            if not os.path.exists(tree.path(path)):
                yield f'{page}: links to {path}, which is not there'
            elif anchor and anchor not in anchors(tree.text(path)):
                yield f'{page}: {path} has no heading for #{anchor}'


PAGE = '# A b\n\n## `c`, *d* [e](b.md)\n\n```sh\n# no heading\n```\n\n## A b\n\n'

CANARIES = [
    ({'a.md': PAGE + '[x](#a-b-1) [y](#c-d-e) [z](https://example.org/#f)\n', 'b.md': ''}, None),
    ({'a.md': PAGE, 'docs/b.md': '[x](../a.md#a-b)\n', 'b.md': ''}, None),
    ({'a.md': PAGE, 'docs/b.md': '[x](../a.md#no-heading)\n', 'b.md': ''}, 'no heading for #no-heading'),
    ({'a.md': PAGE}, 'b.md, which is not there'),
    ({'docs/a.md': '[x](../plugin)\n'}, 'plugin, which is not there'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
