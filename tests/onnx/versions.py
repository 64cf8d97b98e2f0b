#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Versions of operators: what the backend lacks of those that ONNX Runtime's CPU provider has kernels for.

Usage: versions.py LEAT_INFO BACKEND

Of each operator of ONNX that the backend has in some version, every since-version that onnx and ONNX Runtime define is
compared. One that the CPU provider runs and the backend does not is named, and a mistake unless LACKS gives the reason;
so is a reason for what does not lack any more.
"""

import json
import subprocess
import sys

try:
    import onnx.defs
    import onnxruntime.capi.onnxruntime_pybind11_state as runtime
except ImportError:
    print('versions.py: this Python has no onnx or no onnxruntime')
    sys.exit(77)

# By operator and since-version, why it is not there.
LACKS = {}


def backend_versions(info, backend):
    """Ranges of versions by operator, of ONNX's own domain."""
    said = subprocess.run(
        [info, '--operators', '--json', '--plugin', backend], check=True, capture_output=True, text=True
    ).stdout
    versions = {}
    for entry in json.loads(said)['operators']:
        if entry['domain'] == '':
            found = versions.setdefault(entry['name'], [])
            found.append((entry['since_version_min'], entry['since_version_max']))
    return versions


def cpu_versions():
    """The same of the CPU provider's kernels."""
    versions = {}
    for kernel in runtime.get_all_opkernel_def():
        if kernel.provider == 'CPUExecutionProvider' and kernel.domain in ('', 'ai.onnx'):
            versions.setdefault(kernel.op_name, []).append(tuple(kernel.version_range))
    return versions


def has(ranges, version):
    return any(first <= version <= last for first, last in ranges)


def lacking(backend, cpu):
    """Pairs of operator and since-version. ONNX Runtime has definitions of its own in ONNX's domain, and onnx ones that
    are newer than it."""
    schemas = [*onnx.defs.get_all_schemas_with_history(), *runtime.get_all_operator_schema()]
    return {
        (schema.name, schema.since_version)
        for schema in schemas
        if schema.domain == ''
        and not schema.deprecated
        and schema.name in backend
        and has(cpu.get(schema.name, []), schema.since_version)
        and not has(backend[schema.name], schema.since_version)
    }


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    backend, cpu = backend_versions(sys.argv[1], sys.argv[2]), cpu_versions()
    seeded = dict(backend, Softmax=[(13, 13)])
    if ('Softmax', 11) not in lacking(seeded, cpu):
        sys.exit('versions.py: a seeded mistake, Softmax without version 11, was not reported')
    found = lacking(backend, cpu)
    for name, version in sorted(found - set(LACKS)):
        print(f'{name} of version {version} is not there, and the CPU provider has it')
    for name, version in sorted(set(LACKS) - found):
        print(f'{name} of version {version} does not lack any more: it leaves LACKS')
    print(f'{len(backend)} operators, {len(found)} versions lack, {len(LACKS)} of them with a reason')
    return 1 if found != set(LACKS) else 0


if __name__ == '__main__':
    sys.exit(main())
