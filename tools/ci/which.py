#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print which commands of ./dev try a source file.

Usage: which.py TREE BUILD FILE...

It goes by names: the operators that a file of plugin/ops/ defines, or a kernel's source serves; the functions and types
that a header declares and tests use; what a CMakeLists.txt of the tests compiles; the folder of a test.
"""
import os
import re
import sys

import ctest_plan
import jobs

# Tests of what no name leads to: files, and names of tests.
FOLDERS = ((r'host-shim/onnxruntime/capability', 'provider|onnx.control_flow'),
           (r'host-shim/onnxruntime/', 'provider'), (r'host-shim/', 'loader|abi'),
           (r'batch/', 'batch|abi.exports.batch'),
           (r'tools/bench/', 'tools.leat-bench'), (r'tools/ci/|dev$|\.ci/', 'dev'), (r'tools/', 'tools|info'),
           (r'python/', 'docs.package|wheel'), (r'conformance/mutants/', 'conformance.mutant'),
           (r'conformance/', 'conformance'), (r'abi/', 'abi|loader'), (r'examples/', 'example'),
           (r'cmake/|debian/', 'install'), (r'.*\.md$', 'docs'), (r'plugin/graph/fu', 'unit.fusion|models.dispatches'),
           (r'plugin/graph/', 'unit.(graph|drawn|fusion)'), (r'plugin/', 'unit|nulldriver'))


class Sources:
    """The texts of the tree."""

    def __init__(self, tree):
        self.tree = tree
        with open(os.path.join(tree, 'conformance/mustpass/operators.txt'), encoding='utf-8') as file:
            self.operators = set(re.findall(r'^([A-Z]\w+) \d', file.read(), re.M))

    def text(self, path):
        try:
            with open(os.path.join(self.tree, path), encoding='utf-8') as file:
                return file.read()
        except OSError:
            return ''

    def matching(self, folder, pattern):
        for where, _, names in os.walk(os.path.join(self.tree, folder)):
            for name in names:
                if re.search(pattern, name):
                    yield os.path.relpath(os.path.join(where, name), self.tree)

    def operators_named(self, path):
        """Those in quotes, and those of rows of a table of functions, such as OPERATOR(Abs, ...)."""
        names = re.findall(r'"(\w+)"|^\w+\((\w+),', self.text(path), re.M)
        return {quoted or row for quoted, row in names} & self.operators

    def operators_of_kernel(self, path):
        """Those of the files that use a kernel's source, also by way of what includes it."""
        sources, added = {os.path.basename(path)}, True
        while added:
            added = {os.path.basename(other) for other in self.matching('plugin/ops', r'\.(comp|glsl)$')
                     if any(re.search(rf'#include "([\w/]*/)?{name}"', self.text(other)) for name in sources)} - sources
            sources |= added
        found = set()
        for room in self.matching('plugin/ops', r'^room\.cmake$'):
            for kernel, source in re.findall(r'leat_kernel\((\w+)\s+([\w.]+)', self.text(room)):
                if source in sources or path == room:
                    used = rf'LEATI_KERNELS?_{kernel.upper()}\b|LEATI_KERNELS?_{kernel.upper()}_'
                    for user in self.matching('plugin/ops', r'\.c$'):
                        if re.search(used, self.text(user)):
                            found |= self.operators_named(user)
        return found

    def operators_of(self, path):
        if re.match(r'plugin/ops/\w+/(kernels/|room\.cmake$)', path):
            return self.operators_of_kernel(path)
        if re.match(r'(plugin|conformance)/ops/\w+/\w+\.(c|inc)$', path):
            return self.operators_named(path)
        return set()

    def tests_that_use(self, path):
        """Sources of tests that name what the header beside a file declares, but for what nearly all do."""
        stem, extension = os.path.splitext(path)
        if extension not in ('.c', '.h'):
            return set()
        names = set(re.findall(r'\b(leati_\w+)\b(?=\()|^\} (leati_\w+);', self.text(stem + '.h'), re.M))
        names = {name for pair in names for name in pair if name}
        used = re.compile(r'\b(' + '|'.join(map(re.escape, names)) + r')\b') if names else re.compile(r'(?!)')
        return {test for test in self.matching('tests', r'_test\.c$') if used.search(self.text(test))}


def tests_of(sources, tests, path):
    """Names of tests of ctest that try a file."""
    found = set()
    stem = os.path.splitext(os.path.basename(path))[0]
    used = {path} if path.startswith('tests/') else sources.tests_that_use(path)
    for test in tests:
        folder = os.path.relpath(os.path.dirname(test.defined_in), sources.tree)
        program = os.path.basename(test.command[0]) if test.command else ''
        for source in used:
            noun = re.sub(r'_test$', '', os.path.splitext(os.path.basename(source))[0])
            programs = [f'{prefix}{noun}_test' for prefix in ('', 'nulldriver_', 'provider_')]
            if os.path.dirname(source) == folder and (program in programs or test.name.endswith('.' + noun)):
                found.add(test.name)
        if test.name.split('.')[-1] == stem or f'/{path}' in sources.text(os.path.join(folder, 'CMakeLists.txt')) \
                and test.name.endswith(stem):
            found.add(test.name)
    if not found and path.startswith('tests/'):
        found = {test.name for test in tests
                 if os.path.relpath(test.defined_in, sources.tree) == os.path.dirname(path) + '/CMakeLists.txt'}
    return found


def commands_of(sources, tests, path):
    operators = sources.operators_of(path)
    if operators:
        yield './dev conformance ' + ' '.join(f"-f 'op.{name}.*'" for name in sorted(operators))
    names = tests_of(sources, tests, path)
    if names:
        yield f"./dev unit -R '^({'|'.join(sorted(names))})$'"
    elif not operators:
        folder = next((names for pattern, names in FOLDERS if re.match(pattern, path)), None)
        if folder:
            yield f"./dev unit -R '^({folder})'"
    yield './dev unit -L lint'
    broken = jobs.broken_by([path])
    if broken:
        yield './dev check ' + ' '.join(broken)


def main():
    tree, build, *files = sys.argv[1:]
    sources = Sources(tree)
    tests = ctest_plan.listed(build)
    for file in files:
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(tree))
        if not os.path.isfile(os.path.join(tree, path)):
            sys.exit(f'./dev: which: there is no file {path} in {tree}')
        print(f'{path}:')
        for command in commands_of(sources, tests, path):
            print(f'  {command}')


if __name__ == '__main__':
    main()
