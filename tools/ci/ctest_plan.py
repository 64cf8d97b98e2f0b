#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a build folder, as ctest lists them, and what each needs.

Usage: ctest_plan.py BUILD [--job=JOB] [CTEST-ARGUMENT...]

Prints what ./dev unit does before it runs these tests: a line `fetch NAME...` with what of setup_NAME they ask for, a
line `build TARGET...` with what they run (`build all`: everything), and with --job a line `tests REGEX` with the job's
tests by name.
"""
import glob
import json
import os
import re
import subprocess
import sys

import jobs

# What other programs load by its file name, and so no test names.
LOADED = ('libleat_vulkan.so', 'libleat_host.so', 'libleat_batch.so', 'libleat_onnxruntime.so')
# Tests that load nothing but what they name: programs that are linked with all that they test, and checks of files
# and models.
COMPLETE = r'(unit|nulldriver(?!\.provider$)|batch|lint|abi|spin|litmus|cbmc)(\.|$)'
# What ./dev fetches for single tests, by their names.
FETCHED = (('oldest', r'\.oldest(\.|$)'), ('genai', r'genai\.'), ('wheel', r'wheel\.'), ('ray', r'example\.ray_serve$'),
           ('serve', r'example\.one_process$|tools\.serving$'), ('spin', r'spin\.'),
           ('herd', r'litmus\.'), ('cbmc', r'cbmc\.'))


class Test:
    """A test of ctest."""

    def __init__(self, listed, files):
        self.name = listed['name']
        self.command = listed['command']
        properties = {p['name']: p['value'] for p in listed.get('properties', [])}
        self.environment = properties.get('ENVIRONMENT', [])
        self.defined_in = files[listed['backtrace']] if 'backtrace' in listed else ''

    def paths(self):
        """Absolute paths in the command and in the variables."""
        for word in (*self.command, *self.environment):
            yield from (os.path.normpath(piece) for piece in re.split(r'[:;=\s]', word) if piece.startswith('/'))


def written_commands(build):
    """The command of each test as CMake wrote it down: ctest tells none of a test whose program is not built."""
    commands = {}
    for file in glob.iglob(os.path.join(build, '**', 'CTestTestfile.cmake'), recursive=True):
        with open(file, encoding='utf-8') as opened:
            for name, words in re.findall(r'^add_test\(\[=\[(.*?)\]=\] (".*)\)$', opened.read(), re.M):
                commands[name] = re.findall(r'"((?:[^"\\]|\\.)*)"', words)
    return commands


def listed(build, arguments=()):
    """The tests that ctest chooses by arguments."""
    done = subprocess.run(['ctest', '--test-dir', build, '-FS', 'leat_build', *arguments, '--show-only=json-v1'],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    told = json.loads(done.stdout)
    graph = told['backtraceGraph']
    files = [graph['files'][node['file']] for node in graph['nodes']]
    commands = written_commands(build) if any('command' not in test for test in told['tests']) else {}
    return [Test({'command': commands.get(test['name'], []), **test}, files) for test in told['tests']]


def built_files(build):
    """What ninja makes, by path relative to the build folder."""
    told = subprocess.run(['ninja', '-C', build, '-t', 'targets', 'all'], stdout=subprocess.PIPE, text=True, check=True)
    return {line.rsplit(': ', 1)[0] for line in told.stdout.splitlines() if not line.endswith(': phony')}


def targets_of(tests, build):
    """What must be built for tests; None: everything."""
    build = os.path.realpath(build)
    made = built_files(build)
    wanted = set()
    for test in tests:
        for path in test.paths():
            relative = os.path.relpath(os.path.realpath(path) if os.path.isdir(path) else path, build)
            if relative == '.':
                return None
            if relative in made:
                wanted.add(relative)
            # A folder that the dynamic loader looks into.
            wanted.update(file for file in made if os.path.dirname(file) == relative and '.so' in file)
        if not re.match(COMPLETE, test.name):
            wanted.update(file for file in made if file in LOADED)
    return wanted


def regex_of(tests):
    return '^(' + '|'.join(re.escape(test.name) for test in tests) + ')$'


def main():
    build, *arguments = sys.argv[1:]
    job = None
    if arguments and arguments[0].startswith('--job='):
        job = arguments.pop(0).removeprefix('--job=')
    tests = listed(build, arguments)
    if job:
        tests = [test for test in tests if jobs.job_of(test.name) == job]
        print('tests', regex_of(tests))
    if {'-N', '--show-only'} & set(arguments):
        tests = []
    print('fetch', *(name for name, pattern in FETCHED if any(re.search(pattern, test.name) for test in tests)))
    targets = targets_of(tests, build)
    print('build', *(['all'] if targets is None else sorted(targets)))


if __name__ == '__main__':
    main()
