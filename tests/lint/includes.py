#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""includes.py TREE: who may include whom (docs/internals.md, "The rooms"). Reads the #include lines of every C file and
of every kernel."""
import os
import re

import lint

# The rooms that the plugin's others stand on, lowest first: each may include those before it.
BASE_ROOMS = ['plugin/policy/', 'plugin/core/', 'plugin/device/', 'plugin/timeline/', 'plugin/memory/']

# The rooms of operators, lowest first, and which of those before it each may include. What the build makes of all of
# them, the tables of families and of kernels, is MADE, which all may use.
OPERATOR_ROOMS = {
    'core': [],
    'elementwise': ['core'],
    'movement': ['core', 'elementwise'],
    'random': ['core', 'movement'],
    'index': ['core', 'elementwise'],
    'reduce': ['core', 'elementwise'],
    'norm': ['core', 'elementwise', 'reduce'],
    'quantize': ['core', 'elementwise'],
    'product': ['core', 'elementwise', 'reduce', 'norm', 'quantize'],
    'conv': ['core', 'elementwise', 'reduce', 'product'],
    'image': ['core', 'elementwise'],
    'attention': ['core', 'elementwise', 'norm', 'product'],
    'recurrent': ['core', 'elementwise', 'product', 'quantize'],
    'state': ['core', 'elementwise', 'reduce'],
    'experts': ['core', 'reduce'],
    'linalg': ['core', 'movement'],
    'foreach': ['core'],
}
MADE = 'plugin/ops/'
OPS = [MADE, *(f'plugin/ops/{room}/' for room in OPERATOR_ROOMS)]

# A room is the longest of these prefixes that a file's path begins with. plugin/backend.c puts the parts together, so
# it is a room of its own; so is tools/bench/floor.c, which measures Vulkan without Leat, examples/serve.c, whose thread
# pool is GLib's, and examples/hosts/, whose programs know ONNX Runtime and nothing of Leat but a path.
ROOMS = ['abi/', 'common/', 'batch/', 'host-shim/', 'host-shim/onnxruntime/', 'conformance/', 'tools/',
         'tools/bench/floor.c', 'examples/', 'examples/hosts/', 'examples/serve.c', *BASE_ROOMS, 'plugin/backend.c',
         'plugin/record/', 'plugin/submit/', 'plugin/streams/', *OPS, 'plugin/graph/', 'tests/']

# Rooms whose headers a room may include, beside its own.
MAY_INCLUDE = {
    'abi/': [],
    'common/': ['abi/'],
    'batch/': ['abi/', 'common/'],
    'host-shim/': ['abi/', 'common/'],
    'host-shim/onnxruntime/': ['abi/', 'common/', 'host-shim/'],
    'conformance/': ['abi/'],
    # The floor is theirs, and alone in knowing Vulkan.
    'tools/': ['abi/', 'batch/', 'host-shim/', 'tools/bench/floor.c'],
    'tools/bench/floor.c': ['tools/'],
    'examples/': ['abi/', 'batch/', 'host-shim/'],
    'examples/hosts/': [],
    'examples/serve.c': ['abi/', 'host-shim/'],
    **{room: ['abi/', 'common/', *BASE_ROOMS[:i]] for i, room in enumerate(BASE_ROOMS)},
    # Rules take plain numbers.
    'plugin/policy/': [],
    'plugin/backend.c': ['abi/', 'common/', *BASE_ROOMS, 'plugin/record/', 'plugin/submit/', 'plugin/streams/',
                         *OPS, 'plugin/graph/'],
    'plugin/record/': ['abi/', 'common/', *BASE_ROOMS],
    'plugin/submit/': ['abi/', 'common/', *BASE_ROOMS, 'plugin/record/'],
    'plugin/streams/': ['abi/', 'common/', *BASE_ROOMS, 'plugin/record/', 'plugin/submit/'],
    # They put work into streams, and do not know that queues exist.
    MADE: OPS[1:],
    **{f'plugin/ops/{room}/': ['abi/', 'common/', *BASE_ROOMS, 'plugin/record/', 'plugin/streams/', MADE,
                               *(f'plugin/ops/{other}/' for other in others)]
       for room, others in OPERATOR_ROOMS.items()},
    'plugin/graph/': ['abi/', 'common/', *BASE_ROOMS, 'plugin/record/', 'plugin/streams/', *OPS],
}

# Headers of others, and the rooms that may include them.
OUTSIDE = [
    (r'^(glib|gio|gmodule|json-glib)\b', ['conformance/', 'examples/serve.c', 'tools/']),
    (r'^(vulkan|vk_)', ['tools/bench/floor.c', *BASE_ROOMS[1:], 'plugin/backend.c', 'plugin/record/',
                        'plugin/submit/', 'plugin/streams/', *OPS, 'plugin/graph/']),
    (r'^onnxruntime', ['examples/hosts/', 'host-shim/onnxruntime/', 'tools/']),
    (r'^dlpack/', ['abi/']),
    (r'^cmocka', []),
]

# What abi/ may include of the system: it must compile alone, in C and C++.
ABI_SYSTEM = {'stddef.h', 'stdint.h', 'dlpack/dlpack.h'}


def room_of(path):
    rooms = [r for r in ROOMS if path.startswith(r)]
    return max(rooms, key=len) if rooms else None


def room_root(path):
    """The folder that quoted includes of a file are relative to, beside the file's own."""
    return path.split('/')[0]


def resolve(files, path, name):
    """The file of the tree that an #include names, or None."""
    if name.startswith('leat/'):
        candidates = ['abi/' + name, 'batch/' + name, 'host-shim/' + name]
    elif name.startswith('common/'):
        candidates = [name]
    else:
        candidates = [os.path.normpath(os.path.join(os.path.dirname(path), name)),
                      os.path.join(room_root(path), name), os.path.join('host-shim', name),
                      # of kernels
                      os.path.join('plugin/ops', name)]
    return next((c for c in candidates if c in files), None)


def check(tree):
    files = set(tree.files)
    # What the build makes is named where it is made.
    build = ' '.join(tree.text(f) for f in tree.matching(r'(^|/)CMakeLists\.txt$|\.cmake$'))
    for path in tree.matching(r'\.(c|h|c\.in|h\.in|comp|glsl)$'):
        room = room_of(path)
        if room is None or room == MADE:
            yield f'{path}: is in no room that includes.py knows'
            continue
        if room == 'tests/':
            continue
        for number, line in enumerate(lint.strip_comments(tree.text(path)).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if not match:
                continue
            where, quoted, name = f'{path}:{number}', match.group(1) == '"', match.group(2)
            if '..' in name.split('/'):
                yield f'{where}: "{name}" climbs out of its folder; name it from the root of the room'
            target = resolve(files, path, name)
            if target:
                other = room_of(target)
                if other != room and other not in MAY_INCLUDE[room]:
                    allowed = ', '.join(MAY_INCLUDE[room]) or 'nothing of ours'
                    yield f'{where}: {room} must not include {target} of {other}; it may include {allowed}'
            elif quoted and not re.search(r'(?<![\w.])' + re.escape(os.path.basename(name)), build):
                yield f'{where}: "{name}" is neither in the tree nor made by the build'
            elif room == 'abi/' and name not in ABI_SYSTEM:
                yield f'{where}: abi/ may include {", ".join(sorted(ABI_SYSTEM))} only, not <{name}>'
            else:
                for pattern, rooms in OUTSIDE:
                    if re.match(pattern, name) and room not in rooms:
                        yield f'{where}: {room} must not include <{name}>'


BASE = {'abi/leat/backend.h': '', 'host-shim/leat/host.h': '', 'host-shim/stubs.h': '', 'plugin/device/device.h': '',
        'plugin/timeline/timeline.h': '', 'plugin/submit/lane.h': '', 'plugin/streams/stream.h': '',
        'plugin/ops/core/op.h': '', 'plugin/ops/product/gemm.h': '', 'plugin/ops/product/kernels/tile.glsl': '',
        'common/fork.h': '', 'tools/ndarray.h': ''}


def arrow(path, line, expected):
    return ({**BASE, path: line + '\n'}, expected)


CANARIES = [
    arrow('abi/leat/backend.h', '#include <stdbool.h>', 'not <stdbool.h>'),
    arrow('abi/leat/backend.h', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('host-shim/loader.c', '#include "plugin/device/device.h"', 'neither in the tree'),
    arrow('host-shim/loader.c', '#include "../plugin/device/device.h"', 'must not include plugin/device/device.h'),
    arrow('host-shim/onnxruntime/ep.c', '#include <glib.h>', 'must not include <glib.h>'),
    arrow('conformance/main.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('conformance/main.c', '#  include  "../plugin/device/device.h"', 'must not include plugin/device/device.h'),
    arrow('conformance/main.c', '#include "common/fork.h"', 'must not include common/fork.h'),
    arrow('common/inside.c', '#include "device.h"', 'neither in the tree'),
    arrow('common/error.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('common/error.c', '#include <leat/backend.h>', None),
    arrow('batch/batch.c', '#include "common/fork.h"\n#include <leat/backend.h>', None),
    arrow('batch/batch.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('tools/leat-run.c', '#include "../plugin/device/device.h"', 'must not include plugin/device/device.h'),
    arrow('plugin/memory/memory.c', '#include "streams/stream.h"', 'must not include plugin/streams/stream.h'),
    arrow('plugin/memory/memory.c', '#include "ops/core/op.h"', 'must not include plugin/ops/core/op.h'),
    arrow('plugin/memory/memory.c', '#include <glib.h>', 'must not include <glib.h>'),
    arrow('plugin/policy/tiling.c', '#include <leat/backend.h>', 'must not include abi/leat/backend.h'),
    arrow('plugin/policy/tiling.c', '#include "device/device.h"', 'must not include plugin/device/device.h'),
    arrow('plugin/policy/tiling.c', '#include <vulkan/vulkan_core.h>', 'must not include <vulkan/vulkan_core.h>'),
    arrow('plugin/core/sync.c', '#include "device/device.h"', 'must not include plugin/device/device.h'),
    arrow('plugin/device/chunk.c', '#include "timeline/timeline.h"', 'must not include plugin/timeline/timeline.h'),
    arrow('plugin/memory/memory.c', '#include "device/device.h"\n#include "timeline/timeline.h"', None),
    arrow('plugin/device.c', '', 'in no room'),
    arrow('plugin/record/plan.c', '#include "submit/lane.h"', 'must not include plugin/submit/lane.h'),
    arrow('plugin/submit/lane.c', '#include "streams/stream.h"', 'must not include plugin/streams/stream.h'),
    arrow('plugin/streams/event.c', '#include "ops/core/op.h"', 'must not include plugin/ops/core/op.h'),
    arrow('plugin/graph/launch.c', '#include "submit/lane.h"', 'must not include plugin/submit/lane.h'),
    arrow('plugin/ops/conv/conv.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('plugin/ops/conv/conv.c', '#include "ops/core/op.h"\n#include "ops/product/gemm.h"', None),
    arrow('plugin/ops/core/op.c', '#include "ops/product/gemm.h"', 'must not include plugin/ops/product/gemm.h'),
    arrow('plugin/ops/conv/kernels/a.comp', '#include "product/kernels/tile.glsl"', None),
    arrow('plugin/ops/core/kernels/a.glsl', '#include "product/kernels/tile.glsl"',
          'must not include plugin/ops/product/kernels/tile.glsl'),
    arrow('plugin/ops/image/kernels/a.comp', '#include "tile.glsl"', 'neither in the tree'),
    arrow('plugin/graph/fold.c', '#include "ops/product/gemm.h"', None),
    arrow('plugin/ops/other/a.c', '', 'in no room'),
    arrow('tools/leat-info.c', '#include <vulkan/vulkan.h>', 'must not include <vulkan/vulkan.h>'),
    arrow('tools/bench/rig.c', '#include <vulkan/vulkan_core.h>', 'must not include <vulkan/vulkan_core.h>'),
    arrow('tools/bench/floor.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('tools/bench/floor.c', '#include "ndarray.h"\n#include <vulkan/vulkan_core.h>', None),
    arrow('examples/add.c', '#include <glib.h>', 'must not include <glib.h>'),
    arrow('examples/add.c', '#include <onnxruntime_c_api.h>', 'must not include <onnxruntime_c_api.h>'),
    arrow('examples/hosts/c/main.c', '#include <leat/host.h>', 'must not include host-shim/leat/host.h'),
    arrow('examples/hosts/c/main.c', '#include <onnxruntime_c_api.h>', None),
    arrow('examples/serve.c', '#include "plugin/device/device.h"', 'neither in the tree'),
    arrow('examples/serve.c', '#include <glib.h>\n#include <leat/host.h>', None),
    ({'plugin/CMakeLists.txt': 'configure_file(made.h.in made.h)', 'plugin/core/a.c': '#include "made.h"\n'}, None),
    arrow('scripts/x.c', '', 'in no room'),
    arrow('plugin/ops/conv/conv.c',
          '#include "device/device.h"\n#include "streams/stream.h"\n/* #include <glib.h> */', None),
    arrow('plugin/backend.c', '#include "ops/core/op.h"\n#include "streams/stream.h"', None),
    arrow('host-shim/onnxruntime/ep.c', '#include "stubs.h"\n#include <leat/host.h>', None),
    arrow('tests/unit/x.c', '#include "../../plugin/ops/core/op.h"', None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
