#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that a node of a model costs the host, by callgrind over the null driver, which computes nothing.

Usage: instructions.py BUILD [--plugin PATH] [--nodes N]

Runs a chain of small operators through ONNX Runtime 20 and 120 times; the difference, by the number of nodes, is what a
node costs. Needs valgrind, and onnx in this Python. Another plugin of the same ABI may be put in for comparison.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

RUNS = (20, 120)
# What is shown: the functions of the tables that a provider calls, and what it does around them, callees included.
FUNCTIONS = {
    'compute': 'the provider, all of a node',
    'op_infer': 'of that, shapes',
    'op_invoke': 'of that, the operator',
    'submit_queued': 'of that, submission, mostly the driver',
}


def make_model(path, nodes):
    try:
        import numpy as np
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        sys.exit('instructions.py: this Python has no onnx')
    # In this order ONNX Runtime fuses none of them.
    kinds = [
        ('MatMul', ['w'], {}),
        ('LayerNormalization', ['g', 'b'], {'axis': -1}),
        ('Add', ['b'], {}),
        ('Tanh', [], {}),
    ]
    chain = []
    for i in range(nodes):
        kind, more, attributes = kinds[i % len(kinds)]
        chain.append(helper.make_node(kind, [f't{i}', *more], [f't{i + 1}'], **attributes))
    weights = {'w': np.eye(64), 'b': np.zeros(64), 'g': np.ones(64)}
    graph = helper.make_graph(
        chain,
        'chain',
        [helper.make_tensor_value_info('t0', TensorProto.FLOAT, [4, 64])],
        [helper.make_tensor_value_info(f't{nodes}', TensorProto.FLOAT, [4, 64])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def told_by(command, environment=None):
    """What a program prints; the end, with its own words, if it fails or is not there."""
    try:
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as missing:
        sys.exit(f'instructions.py: {missing.filename}: not installed')
    except subprocess.CalledProcessError as failed:
        said = [line for line in (failed.stdout + failed.stderr).split('\n') if line and not line.startswith('==')]
        sys.exit(f'instructions.py: {command[0]} ended with {failed.returncode}: {said[-1] if said else "no word"}')


def count(build, plugin, model, folder, runs):
    """Instructions of each function, callees included."""
    out = f'{folder}/callgrind.{runs}'
    environment = dict(
        os.environ, LD_LIBRARY_PATH=f'{build}/nulldriver', LEAT_PLUGIN_PATH=plugin, LEAT_WAIT_SPIN_US='0'
    )
    command = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', f'{build}/leat-run', model]
    command += ['--compare', 'none', '--runs', str(runs), '--warmup', '5', '--no-fallback']
    told_by(command, environment)
    told = told_by(['callgrind_annotate', '--inclusive=yes', '--threshold=100', '--show-percs=no', out])
    found = {}
    for name in FUNCTIONS:
        line = re.search(rf'^\s*([\d,]+)\s+\S+:{name}(\s|$)', told, re.MULTILINE)
        found[name] = int(line[1].replace(',', '')) if line else 0
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build')
    parser.add_argument('--plugin', help='another libleat_vulkan.so')
    parser.add_argument('--nodes', type=int, default=200)
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    plugin = os.path.abspath(arguments.plugin or f'{build}/libleat_vulkan.so')
    for needed in (f'{build}/leat-run', f'{build}/nulldriver', plugin):
        if not os.path.exists(needed):
            sys.exit(f'instructions.py: {needed}: no such file; BUILD is the folder that ./dev build makes')
    with tempfile.TemporaryDirectory() as folder:
        model = f'{folder}/chain.onnx'
        make_model(model, arguments.nodes)
        few, many = (count(build, plugin, model, folder, runs) for runs in RUNS)
    for name, what in FUNCTIONS.items():
        print(f'{(many[name] - few[name]) / (RUNS[1] - RUNS[0]) / arguments.nodes:8,.0f}  {name}: {what}')


if __name__ == '__main__':
    main()
