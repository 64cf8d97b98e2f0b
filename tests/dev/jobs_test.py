#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""jobs_test.py TREE BUILD: what ./dev test, check, unit, which and .ci/run choose, and that what hangs is ended."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TREE, BUILD = (os.path.realpath(path) for path in sys.argv[1:3])
sys.path.insert(0, os.path.join(TREE, 'tools', 'ci'))

import ctest_plan  # noqa: E402
import jobs  # noqa: E402
import run_jobs  # noqa: E402
import which  # noqa: E402

TESTS = ctest_plan.listed(BUILD)
FILES = [os.path.relpath(os.path.join(folder, name), TREE)
         for top in ('', 'abi', 'batch', '.ci', 'cmake', 'common', 'conformance', 'debian', 'docs', 'examples',
                     'host-shim', 'plugin', 'python', 'tests', 'tools')
         for folder, folders, names in os.walk(os.path.join(TREE, top)) for name in names
         if top or not folders.clear()]


def named(pattern):
    return [test for test in TESTS if re.match(pattern, test.name)]


class Table(unittest.TestCase):
    """Every test is in one job, and every job has something to do."""

    def test_each_job_has_tests_or_a_command(self):
        for job in jobs.JOBS:
            if job.tests:
                self.assertTrue([test for test in TESTS if jobs.job_of(test.name) == job.name], job.name)
            else:
                self.assertIn(f'tools/ci/{job.name}.sh', FILES)

    def test_each_part_of_a_pattern_finds_something(self):
        for job in jobs.JOBS:
            self.assertTrue(any(re.match(job.paths, file) for file in FILES), job.name)
            for part in re.split(r'\|(?![^(]*\))', job.tests) if job.tests else ():
                self.assertTrue([test for test in TESTS if re.match(part, test.name)], part)

    def test_no_test_has_a_limit_of_wall_time_of_its_own(self):
        for file in FILES:
            if file.endswith('CMakeLists.txt') and file != 'tests/CMakeLists.txt':
                with open(os.path.join(TREE, file), encoding='utf-8') as opened:
                    self.assertNotRegex(opened.read(), r'\sTIMEOUT \d', f'{file}: tools/ci/watch.py ends what hangs')

    def test_test_has_what_it_promises(self):
        quick = {test.name for test in TESTS if jobs.job_of(test.name) == 'test'}
        for pattern in (r'conformance\.mutant\.', r'nulldriver\.', r'lint\.', r'abi\.',
                        r'unit\.(?!fusion\.without|.*\.all$)', r'loader', r'batch'):
            self.assertEqual([test.name for test in named(pattern) if test.name not in quick], [])
        for name in ('conformance.core', 'conformance.quick', 'provider', 'life.canary', 'example.serve'):
            self.assertIn(name, quick)
        self.assertGreaterEqual(sum(name.startswith('models.') for name in quick), 3)


class Needs(unittest.TestCase):
    """What ./dev unit builds and fetches for tests."""

    def plan(self, *arguments, build=BUILD):
        return subprocess.run([sys.executable, '-B', os.path.join(TREE, 'tools/ci/ctest_plan.py'), build, *arguments],
                              stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    def test_programs_that_were_never_built_are_known(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
                file.write('cmake_minimum_required(VERSION 3.25)\nproject(one LANGUAGES C)\nenable_testing()\n'
                           'add_executable(some_test some_test.c)\nadd_executable(scene some_test.c)\n'
                           'add_test(NAME unit.some COMMAND some_test $<TARGET_FILE:scene> "a word")\n')
            with open(os.path.join(folder, 'some_test.c'), 'w', encoding='utf-8') as file:
                file.write('int main(void) {\n  return 0;\n}\n')
            build = os.path.join(folder, 'build')
            subprocess.run(['cmake', '-S', folder, '-B', build, '-G', 'Ninja'], stdout=subprocess.DEVNULL, check=True)
            self.assertEqual(self.plan('-R', '^unit.some$', build=build), ['fetch', 'build scene some_test'])

    def test_a_unit_test_needs_its_program_alone(self):
        self.assertEqual(self.plan('-R', '^unit.tensor$'), ['fetch', 'build tensor_test'])

    def test_a_program_that_loads_needs_what_it_loads(self):
        told = self.plan('-R', '^provider$')[1].split()
        for wanted in 'leat-provider-test', 'libleat_vulkan.so', 'libleat_onnxruntime.so':
            self.assertIn(wanted, told)

    def test_the_build_folder_as_an_argument_is_everything(self):
        self.assertEqual(self.plan('-R', '^docs.commands$')[1], 'build all')

    def test_nothing_is_built_for_a_list(self):
        self.assertEqual(self.plan('-N', '-R', '^docs.commands$'), ['fetch', 'build'])

    def test_only_what_needs_it_is_fetched(self):
        self.assertEqual(self.plan('--job=test')[1], 'fetch')
        self.assertEqual(self.plan('-R', r'^onnx.subgraphs.oldest$')[0], 'fetch oldest')
        self.assertEqual(self.plan('-R', r'^example.ray_serve$')[0], 'fetch ray')

    def test_the_driver_in_the_place_of_the_loader_is_built(self):
        self.assertIn(' nulldriver/libvulkan.so', self.plan('-R', '^nulldriver.lane$')[1])


class Which(unittest.TestCase):
    """./dev which."""
    SOURCES = which.Sources(TREE)

    def commands(self, path):
        return list(which.commands_of(self.SOURCES, TESTS, path))

    def test_an_operators_file(self):
        self.assertEqual(self.commands('plugin/ops/reduce/topk.c')[0], "./dev conformance -f 'op.TopK.*'")

    def test_a_table_of_functions(self):
        for room in 'plugin', 'conformance':
            self.assertIn("-f 'op.Mish.*'", self.commands(room + '/ops/elementwise/functions.inc')[0])

    def test_a_kernel(self):
        self.assertIn("-f 'op.CumSum.*'", self.commands('plugin/ops/reduce/kernels/cumsum.comp')[0])

    def test_a_noun(self):
        self.assertRegex(self.commands('plugin/memory/tensor.c')[0], r"^./dev unit -R '.*unit\.tensor\b")
        self.assertRegex(self.commands('host-shim/onnxruntime/shape_cache.c')[0], r'provider\.shape_cache')

    def test_a_test(self):
        self.assertEqual(self.commands('tests/lint/names.py')[0], "./dev unit -R '^(lint.names)$'")


class Change(unittest.TestCase):
    """What .ci/run takes for the change."""

    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        self.tree = os.path.join(self.kept.name, 'tree')
        self.git('init', '-q', '-b', 'main', self.tree, where='/')
        self.commit('plugin/ops/product/gemm.c')
        os.environ.pop('LEAT_CI_BASE', None)

    def git(self, *words, where=None):
        subprocess.run(['git', '-C', where or self.tree, '-c', 'user.name=n', '-c', 'user.email=e', *words],
                       stdout=subprocess.DEVNULL, check=True)

    def commit(self, path):
        os.makedirs(os.path.dirname(os.path.join(self.tree, path)) or '.', exist_ok=True)
        with open(os.path.join(self.tree, path), 'a', encoding='utf-8') as file:
            file.write('x')
        self.git('add', '-A')
        self.git('commit', '-q', '-m', path)

    def test_without_a_base_everything_is_new(self):
        self.assertIsNone(run_jobs.changed_files(self.tree))
        self.assertCountEqual(run_jobs.jobs_of_change(self.tree), jobs.NAMES)

    def test_against_the_branch_of_origin(self):
        clone = os.path.join(self.kept.name, 'clone')
        self.git('clone', '-q', self.tree, clone, where='/')
        self.tree = clone
        self.git('checkout', '-q', '-b', 'mine')
        self.commit('docs/limits.md')
        self.assertEqual(run_jobs.changed_files(clone), ['docs/limits.md'])
        chosen = run_jobs.jobs_of_change(clone)
        self.assertEqual(chosen[0], 'pages')
        self.assertEqual(len(chosen), 2)  # and one in turn

    def test_a_clone_of_this_branch_alone_goes_back(self):
        for number in range(run_jobs.CI_COMMITS):
            self.commit(f'docs/{number}.md')
        self.assertEqual(len(run_jobs.changed_files(self.tree)), run_jobs.CI_COMMITS)


class Hangs(unittest.TestCase):
    """watch.py ends what hangs, and waits for what is slow."""

    def status(self, program):
        child = f'{sys.executable} -c "{program}"'
        # The shell stands for ctest: what it starts is a test.
        done = subprocess.run([sys.executable, '-B', os.path.join(TREE, 'tools/ci/watch.py'), '2', 'sh', '-c',
                               f'{child}; exit $?'], stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout

    def test_a_child_that_hangs(self):
        status, said = self.status('import time; time.sleep(1000)')
        self.assertEqual(status, 137)
        self.assertIn('so it hangs and is ended', said)

    def test_a_child_that_is_slow(self):
        self.assertEqual(self.status('import time\nwhile time.process_time() < 3: pass'), (0, ''))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
