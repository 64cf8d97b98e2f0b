#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutants of our own C: small mistakes, drawn by a seed, each of which a test must notice.

Usage: mutants.py TREE BUILD [--count N] [--seed N] [--results FILE] [--match REGEX] [--then REGEX] [--list]

Clang (libclang's Python package) says where mistakes can be made in the C files of ROOMS. They are ordered by a hash of
the seed and their text, so that a change elsewhere leaves the draw as it is, and drawn from one room after the other.
TREE is copied into TREE/build-mutants and built there with the options of BUILD; each mistake is made in the copy, and
what its tests need is built again. One that does not compile, or to the same machine code, is none. The others meet
clang's thread-safety analysis, the tests that `./dev which` names for the file, those first that have noticed most in
its room, then, where all pass, those of its folder, those of WHOLE and those of --then. A test that hangs or computes
without an end has noticed it.

accepted.txt beside this file has survivors that are right, with the reason. Others are printed at the end: they want a
test. FILE keeps what was found, and what is there for the same text is not tried again.

Two canaries come first: a mistake that is certainly noticed, and one that certainly is not.

Exit status: 0, 1 with survivors that accepted.txt does not have, 2 bad use or a canary that came out wrong.
"""
import argparse
import collections
import contextlib
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
from typing import NamedTuple

import clang.cindex as clang

# A room each, so that none is drawn more often for its length.
ROOMS = ('plugin/streams', 'plugin/timeline', 'plugin/memory', 'plugin/graph', 'host-shim')
# Tests of whole programs, for what those of a file and of its folder leave.
WHOLE = {'plugin': r'^(conformance\.core|interop\.(plugin|nulldriver)|models\.dispatches|onnx\.random)$',
         'host-shim': r'^(onnx\.(control_flow|copies|device_tensors|host_memory|refused|string_lists|warm_up)|'
                      r'interop\.provider|profile\.trace|loader|loader\.guard)$'}
SWAPS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&', '+': '-', '-': '+',
         '*': '+', '/': '*', '%': '/', '&': '|', '|': '&', '^': '&', '<<': '>>', '>>': '<<', '+=': '-=', '-=': '+=',
         '|=': '&=', '&=': '|=', '*=': '+=', '++': '--', '--': '++'}
# Bytes of data and seconds of computing that a process of a test may have: a mistake must not take the machine. No test
# takes half of them.
MEMORY, COMPUTING_S = 6 << 30, 100
# Seconds that it may do nothing.
IDLE_S = 60
# How many tests are built and run at once, the first of which notice most.
FIRST, SECOND = 2, 6
ACCEPTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'accepted.txt')
CANARIES = (
    ('killed', ('plugin/memory/size_class.c', 'return (k - 8u) * 4u +', 'return (k - 8u) + 4u +')),
    ('survived', ('plugin/memory/size_class.c', '#define BLOCKS_PER_HOLD 256u', '#define BLOCKS_PER_HOLD 255u')),
)
KIND = clang.CursorKind


class Mutant(NamedTuple):
    path: str
    function: str
    line: int
    begin: int  # offsets in the file, in bytes
    end: int
    new: bytes
    before: str  # the lines that it changes, without blanks around them
    after: str
    nth: int     # of those with the same text in a function

    def key(self):
        return f'{self.path} | {self.function} | {self.before} | {self.after} | {self.nth}'


# ---- Where mistakes can be made ----------------------------------------------------------------------------------

class Draft:
    """The places of one file."""

    def __init__(self, tree, path, arguments):
        self.path = path
        with open(os.path.join(tree, path), 'rb') as file:
            self.text = file.read()
        unit = clang.Index.create().parse(os.path.join(tree, path), args=arguments,
                                          options=clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        wrong = [str(message) for message in unit.diagnostics if message.severity >= clang.Diagnostic.Error]
        if wrong:
            sys.exit('\n'.join(['mutants.py: libclang cannot read this:', *wrong]))
        own = [node for node in unit.cursor.get_children()
               if node.location.file and node.location.file.name == unit.spelling]
        # What a macro makes is not in the file; what is given to one has no place of its own there either.
        self.macros = [self.span(node) for node in own if node.kind == KIND.MACRO_INSTANTIATION]
        self.found = []
        for node in own:
            if node.kind == KIND.FUNCTION_DECL and node.is_definition():
                self.function = node.spelling
                self.walk(node)

    @staticmethod
    def span(node):
        return node.extent.start.offset, node.extent.end.offset

    def made_by_macro(self, begin, end):
        return any(first <= begin and end <= last for first, last in self.macros)

    def add(self, begin, end, new):
        line_begin = self.text.rfind(b'\n', 0, begin) + 1
        line_end = self.text.find(b'\n', end)
        before = self.text[line_begin:line_end]
        after = self.text[line_begin:begin] + new + self.text[end:line_end]
        before, after = (b' '.join(text.split()).decode() for text in (before, after))
        nth = sum((other.function, other.before, other.after) == (self.function, before, after)
                  for other in self.found)
        self.found.append(Mutant(self.path, self.function, self.text.count(b'\n', 0, begin) + 1, begin, end, new,
                                 before, after, nth))

    def between(self, node, left, right):
        """The operator between two operands: its offset and its text."""
        for token in node.get_tokens():
            at = token.extent.start.offset
            if left <= at < right and token.kind == clang.TokenKind.PUNCTUATION and token.spelling not in '()':
                return at, token.spelling
        return None, None

    def swap(self, node):
        """Another operator in place of one with two operands."""
        left, right = (self.span(child) for child in node.get_children())
        at, operator = self.between(node, left[1], right[0])
        if operator in SWAPS and not self.made_by_macro(at, at + len(operator)):
            self.add(at, at + len(operator), SWAPS[operator].encode())

    def unary(self, node):
        begin, end = self.span(node)
        text = self.text[begin:end]
        for operator in (b'++', b'--'):
            if text.startswith(operator):
                self.add(begin, begin + 2, SWAPS[operator.decode()].encode())
            elif text.endswith(operator):
                self.add(end - 2, end, SWAPS[operator.decode()].encode())
        if text.startswith(b'!'):
            self.add(begin, begin + 1, b'')

    def negate(self, condition):
        begin, end = self.span(condition)
        self.add(begin, end, b'!(' + self.text[begin:end] + b')')

    def drop(self, node):
        """A statement that is not there."""
        begin, end = self.span(node)
        assigns = node.kind == KIND.BINARY_OPERATOR
        if node.kind in (KIND.CALL_EXPR, KIND.COMPOUND_ASSIGNMENT_OPERATOR, KIND.CSTYLE_CAST_EXPR, KIND.BREAK_STMT,
                         KIND.CONTINUE_STMT, KIND.UNARY_OPERATOR) or assigns:
            self.add(begin, end, b'')

    def walk(self, node):
        for child in node.get_children():
            begin, end = self.span(child)
            if self.made_by_macro(begin, end) and not re.fullmatch(rb'true|false', self.text[begin:end]):
                continue
            if node.kind == KIND.COMPOUND_STMT:
                self.drop(child)
            children = list(child.get_children())
            if child.kind in (KIND.BINARY_OPERATOR, KIND.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
                self.swap(child)
            elif child.kind == KIND.UNARY_OPERATOR:
                self.unary(child)
            elif child.kind in (KIND.IF_STMT, KIND.CONDITIONAL_OPERATOR):
                self.negate(children[0])
            elif child.kind == KIND.INTEGER_LITERAL and re.fullmatch(rb'\d+', self.text[begin:end]):
                self.add(begin, end, str(int(self.text[begin:end]) + 1).encode())
            elif child.kind == KIND.RETURN_STMT and children:
                first, last = self.span(children[0])
                other = {b'true': b'false', b'false': b'true'}.get(self.text[first:last])
                if other:
                    self.add(first, last, other)
            self.walk(child)


def room_of(path):
    return next(room for room in ROOMS if path.startswith(room))


def arguments_of(tree, build):
    """What each of our C files is compiled with."""
    told = subprocess.run(['ninja', '-C', build, '-t', 'compdb'], stdout=subprocess.PIPE, text=True, check=True).stdout
    # The headers that belong to the compiler are not in libclang's package.
    headers = subprocess.run(['clang', '-print-file-name=include'], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    found = {}
    for entry in json.loads(told):
        path = os.path.relpath(os.path.join(entry['directory'], entry['file']), tree)
        if path.endswith('.c') and path.startswith(ROOMS) and path not in found:
            words = shlex.split(entry['command'])
            found[path] = ['-isystem', headers.strip()] + [
                word for before, word in zip(words, words[1:])
                if re.match('-[ID]|-std=|-isystem', word) or before == '-isystem']
    return found


def drawn(tree, build, seed, pattern):
    """All mutants, in the order in which they are tried."""
    rooms = {room: [] for room in ROOMS}
    for path, arguments in sorted(arguments_of(tree, build).items()):
        if re.search(pattern, path):
            os.chdir(build)
            rooms[room_of(path)] += Draft(tree, path, arguments).found
    for found in rooms.values():
        found.sort(key=lambda mutant: hashlib.sha256(f'{seed} {mutant.key()}'.encode()).digest())
    longest = max(map(len, rooms.values()))
    return [found[place] for place in range(longest) for found in rooms.values() if place < len(found)]


# ---- The copy, and what is run in it -----------------------------------------------------------------------------

def call(command, **options):
    """Exit status and what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, **options)
    return done.returncode, done.stdout


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (COMPUTING_S, COMPUTING_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Copy:
    def __init__(self, tree, build):
        self.work = os.path.join(tree, 'build-mutants')
        self.tree, self.build = os.path.join(self.work, 'tree'), os.path.join(self.work, 'build')
        self.copy(tree)
        self.configure(build)
        sys.path.insert(0, os.path.join(tree, 'tools', 'ci'))
        sys.path.insert(0, os.path.join(tree, 'tests', 'tsa'))
        import analyse  # pylint: disable=import-outside-toplevel
        import ctest_plan  # pylint: disable=import-outside-toplevel
        import jobs  # pylint: disable=import-outside-toplevel
        import which  # pylint: disable=import-outside-toplevel
        self.plan, self.which, self.jobs = ctest_plan, which, jobs
        self.sources = which.Sources(self.tree)
        self.tests = ctest_plan.listed(self.build)
        self.analysis = analyse.commands(self.tree, self.build)
        self.tools = os.path.join(tree, 'tools', 'ci')
        self.right = set()  # tests that are known to pass without a mistake
        self.noticed = collections.Counter()  # mistakes, by room and test

    def copy(self, tree):
        """Files that differ, a mutant's that a run has left among them; those that are gone go."""
        listed = subprocess.run(['git', '-C', tree, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                                stdout=subprocess.PIPE, check=True).stdout
        names = set(filter(None, listed.decode().split('\0')))
        for folder, _, files in os.walk(self.tree):
            for path in (os.path.join(folder, name) for name in files):
                if os.path.relpath(path, self.tree) not in names:
                    os.remove(path)
        for name in names:
            source, target = os.path.join(tree, name), os.path.join(self.tree, name)
            if not os.path.isfile(source):
                continue
            with open(source, 'rb') as file:
                text = file.read()
            if os.path.exists(target):
                with open(target, 'rb') as file:
                    if file.read() == text:
                        continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, 'wb') as file:
                file.write(text)
            os.chmod(target, os.stat(source).st_mode)

    def configure(self, build):
        """As BUILD is, with its kernels; without debug information, and with assertions, which notice mistakes."""
        with open(os.path.join(build, 'CMakeCache.txt'), encoding='utf-8') as file:
            cache = dict(re.findall(r'^(\w+):\w+=(.*)$', file.read(), re.M))
        kept = [f'-D{name}={cache.get(name, "")}' for name in (
            'CMAKE_C_COMPILER_LAUNCHER', 'CMAKE_CXX_COMPILER_LAUNCHER', 'ONNXRUNTIME_INCLUDE_DIR',
            'ONNXRUNTIME_LIBRARY', 'Python3_EXECUTABLE', 'LEAT_MATRIX_GLSLC', 'Vulkan_GLSLC_EXECUTABLE')]
        kernels = os.path.join(os.path.abspath(build), 'plugin', 'ops', 'kernels')
        status, told = call(['cmake', '--preset', 'gcc', '-B', self.build, *kept, f'-DLEAT_KERNELS_DIR={kernels}',
                             '-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1', '-DBUILD_TESTING=ON'], cwd=self.tree)
        if status == 0:  # headers that are made
            status, told = self.ninja(['leat_build_id_header', 'leat_kernels'])
        if status != 0:
            sys.exit(told)

    def named(self, path):
        """The tests of `./dev test` that `./dev which` names for a file, as a pattern."""
        told = '\n'.join(self.which.commands_of(self.sources, self.tests, path))
        pattern = re.search(r"\./dev unit -R '(.*?)'", told).group(1)
        names = self.names(pattern)
        # Else a test of that name has to do with something else.
        return f"^({'|'.join(map(re.escape, names))})$" if names else self.of_folder(path)

    def of_folder(self, path):
        """The tests of its folder."""
        return '^(' + next(names for folder, names in self.which.FOLDERS if re.match(folder, path)) + ')'

    def names(self, pattern):
        """Those of `./dev test`: others are its longer forms."""
        return [test.name for test in self.tests
                if re.search(pattern, test.name) and self.jobs.job_of(test.name) == 'test']

    def parts(self, patterns, room):
        """Tests, each once, those of a pattern that notice most first, in parts that are built and run one after the
        other."""
        met = set()
        for pattern in patterns:
            names = sorted(set(self.names(pattern)) - met, key=lambda name: (-self.noticed[room, name], name))
            met.update(names)
            yield from filter(None, (names[:FIRST], names[FIRST:FIRST + SECOND], names[FIRST + SECOND:]))

    def ninja(self, targets):
        return call(['ninja', '-C', self.build, *sorted(targets)])

    def fails(self, names):
        """What of tests fails; '': nothing."""
        chosen = [test for test in self.tests if test.name in names]
        status, told = self.ninja(self.plan.targets_of(chosen, self.build) or {'all'})
        if status != 0:
            return 'the build'
        status, told = call([sys.executable, '-B', os.path.join(self.tools, 'watch.py'), str(IDLE_S), 'ctest',
                             '--test-dir', self.build, '-FS', 'leat_build', '-j', '3', '--stop-on-failure', '-R',
                             self.plan.regex_of(chosen)], preexec_fn=limited,
                            env={**os.environ, 'LEAT_TESTS_ALLOW_MISMATCH': '1', 'LEAT_CACHE_DIR': ''})
        failed = re.findall(r'^\s+\d+ - (\S+) \(', told, re.M)
        if status != 0 and not failed:
            sys.exit(f'mutants.py: ctest failed, and no test:\n{told}')
        return failed[0] if status != 0 else ''

    def must_pass(self, name):
        """Ends the program where a test that has noticed a mistake fails without one too."""
        if name not in self.right and name in self.names('') and self.fails([name]):
            sys.exit(f'mutants.py: {name} fails without a mistake')
        self.right.add(name)

    def code(self, path):
        """The machine code of a file in what ships; None: it does not compile."""
        told = subprocess.run(['ninja', '-C', self.build, '-t', 'query', os.path.join(self.tree, path)],
                              stdout=subprocess.PIPE, text=True, check=False).stdout
        names = [name for name in re.findall(r'^\s+(\S+\.o)$', told, re.M)
                 if name.startswith(('plugin/', 'host-shim/'))]
        if self.ninja(names)[0] != 0:
            return None
        code = []
        for name in names:
            with open(os.path.join(self.build, name), 'rb') as file:
                code.append(file.read())
        return code

    @contextlib.contextmanager
    def changed(self, mutant):
        """The copy has the mistake for so long."""
        path = os.path.join(self.tree, mutant.path)
        with open(path, 'rb') as file:
            text = file.read()
        try:
            with open(path, 'wb') as file:
                file.write(text[:mutant.begin] + mutant.new + text[mutant.end:])
            yield
        finally:
            with open(path, 'wb') as file:
                file.write(text)


def judge(copy, mutant, patterns):
    """What became of a mutant, and by what or why; of a survivor the tests that it passed."""
    before = copy.code(mutant.path)
    room = room_of(mutant.path)
    failed = ''
    with copy.changed(mutant):
        after = copy.code(mutant.path)
        if after is None:
            return 'none', 'does not compile'
        if after == before:
            return 'none', 'the same machine code'
        status, told = call(copy.analysis[mutant.path], cwd=copy.build)
        if status != 0 or 'warning:' in told:
            return 'killed', 'thread-safety analysis'
        for names in copy.parts(patterns, room):
            failed = copy.fails(names)
            if failed:
                break
    if not failed:
        return 'survived', ' '.join(patterns)
    copy.must_pass(failed)
    copy.noticed[room, failed] += 1
    return 'killed', failed


# ---- The draw ----------------------------------------------------------------------------------------------------

def canary(tree, path, before, after):
    """A mutant by its text, which must be there once."""
    with open(os.path.join(tree, path), 'rb') as file:
        text = file.read()
    if text.count(before.encode()) != 1:
        sys.exit(f'mutants.py: the canary {path}: {before} is not there once; choose another')
    begin = text.index(before.encode())
    return Mutant(path, 'canary', 0, begin, begin + len(before), after.encode(), before, after, 0)


def accepted(path):
    """Reasons by the key of a survivor."""
    with open(path, encoding='utf-8') as file:
        pieces = re.findall(r'^(\S.*)\n((?:  .*\n)+)', file.read(), re.M)
    return {key: ' '.join(reason.split()) for key, reason in pieces if not key.startswith('#')}


class Results:
    """What was found, kept in a file with a line for each mutant."""

    def __init__(self, path):
        self.path, self.by_key = path, {}
        if path and os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                for line in file:
                    key, *result = json.loads(line)
                    self.by_key[key] = tuple(result)

    def put(self, key, result):
        self.by_key[key] = result
        if self.path:
            with open(self.path, 'a', encoding='utf-8') as file:
                file.write(json.dumps([key, *result]) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tree')
    parser.add_argument('build')
    parser.add_argument('--count', type=int, default=6, metavar='N', help='mutants to try (6)')
    parser.add_argument('--seed', type=int, default=1, metavar='N')
    parser.add_argument('--match', default='', metavar='REGEX', help='only files whose paths have this')
    parser.add_argument('--then', metavar='REGEX', help='tests that survivors meet')
    parser.add_argument('--results', metavar='FILE', help='keeps what was found')
    parser.add_argument('--list', action='store_true', help='prints the draw and ends')
    parser.add_argument('--no-canaries', action='store_true')
    args = parser.parse_args()
    tree = os.path.realpath(args.tree)
    results_path = os.path.abspath(args.results) if args.results else None
    copy = Copy(tree, os.path.abspath(args.build))
    draw = drawn(copy.tree, copy.build, args.seed, args.match)
    if args.list:
        for mutant in draw[:args.count]:
            print(mutant.key())
        return 0
    for wanted, text in () if args.no_canaries else CANARIES:
        got = judge(copy, canary(copy.tree, *text), [copy.named(text[0])])
        print(f'canary: {got}', flush=True)
        if got[0] != wanted:
            sys.exit(f'mutants.py: the canary {text} should have {wanted}: {got}')
    begun, reasons, results = time.monotonic(), accepted(ACCEPTED), Results(results_path)
    for key, (fate, by) in results.by_key.items():
        if fate == 'killed':
            copy.noticed[room_of(key), by] += 1
    counts = {'killed': 0, 'survived': 0, 'none': 0}
    right, open_ = 0, []
    for mutant in draw:
        if counts['killed'] + counts['survived'] == args.count:
            break
        key = mutant.key()
        passed = results.by_key.get(key, ('survived', ''))
        if passed[0] == 'survived' and key not in reasons:
            patterns = dict.fromkeys((copy.named(mutant.path), copy.of_folder(mutant.path),
                                      WHOLE[mutant.path.split('/')[0]], args.then))
            wanted = [pattern for pattern in patterns
                      if pattern and pattern not in passed[1].split()]
            if wanted:
                fate, by = judge(copy, mutant, wanted)
                results.put(key, (fate, f'{passed[1]} {by}'.strip() if fate == 'survived' else by))
        fate, by = results.by_key.get(key, passed)
        counts[fate] += 1
        print(f'{fate}: {mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}: {reasons.get(key, by)}',
              flush=True)
        if fate == 'survived':
            right += key in reasons
            open_ += [] if key in reasons else [key]
    tried = counts['killed'] + counts['survived']
    print('\n'.join(['survivors that want a test, or a reason in accepted.txt:', *open_] if open_ else []))
    print(f'mutants: {len(draw)} places; {tried} tried, {counts["killed"]} killed, {right} survive and are right, '
          f'{len(open_)} survive; {counts["none"]} were none; {time.monotonic() - begun:.0f} s')
    return 1 if open_ else 0


if __name__ == '__main__':
    sys.exit(main())
