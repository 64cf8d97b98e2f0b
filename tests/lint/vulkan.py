#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""vulkan.py TREE: only plugin/submit/ submits to a queue, and only plugin/device/vulkan.c opens the Vulkan library.

But for tools/bench/floor.c, which measures Vulkan without Leat.
"""
import re

import lint

SUBMIT = re.compile(r'\b(?:vk)?Queue(?:Submit2?(?:KHR)?|BindSparse|WaitIdle)\s*\(')
OPEN = re.compile(r'\bdlm?open\s*\(')
FLOOR = 'tools/bench/floor.c'


def check(tree):
    for path in tree.matching(r'^(batch|plugin|host-shim|conformance|tools|examples)/.*\.(c|h)$'):
        if path == FLOOR:
            continue
        for number, line in enumerate(lint.strip_comments(tree.text(path)).splitlines(), 1):
            where = f'{path}:{number}'
            if SUBMIT.search(line) and not path.startswith('plugin/submit/'):
                yield f'{where}: submits to a queue; only plugin/submit/ may'
            if OPEN.search(line) and path != 'plugin/device/vulkan.c':
                if path.startswith('plugin/'):
                    yield f'{where}: opens a library; in plugin/ only plugin/device/vulkan.c may'
                elif 'libvulkan' in line:
                    yield f'{where}: opens the Vulkan library; only plugin/device/vulkan.c may'


CANARIES = [
    ({'plugin/memory/memory.c': 'r = device->vk.QueueSubmit(queue, 1, &info, fence);\n'}, 'submits to a queue'),
    ({'plugin/ops/conv/conv.c': 'vkQueueSubmit2KHR (queue);\n'}, 'submits to a queue'),
    ({'tools/leat-info.c': 'vk->QueueBindSparse(queue);\n'}, 'submits to a queue'),
    ({'plugin/device/device.c': 'handle = dlopen("libfoo.so", 1);\n'}, 'opens a library'),
    ({'tools/leat-info.c': 'handle = dlopen("libvulkan.so.1", 1);\n'}, 'opens the Vulkan library'),
    ({'tools/bench/rig.c': 'f->QueueSubmit(q, 1, &info, fence);\n'}, 'submits to a queue'),
    ({FLOOR: 'dlopen("libvulkan.so.1", 1);\nf->QueueSubmit(q, 1, &info, fence);\n'}, None),
    ({'plugin/submit/lane.c': 'vk.QueueSubmit(queue, 1, batch, 0);\n', 'plugin/device/vulkan.h': 'X(QueueSubmit)\n',
      'plugin/device/vulkan.c': 'dlopen("libvulkan.so.1", 1);\n',
      'plugin/device/device.c': '/* vkQueueSubmit() */ "vkQueueSubmit"\n',
      'host-shim/loader.c': 'dlopen(path, 1);\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
