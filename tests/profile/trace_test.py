#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""trace_test.py CONFORMANCE:PLUGIN:SCENE: what LEAT_PROFILE writes is JSON whose events go together.

Programs that make traces are cases of the conformance suite and scenes of processes that end in odd ways.
"""
import collections
import decimal
import json
import os
import subprocess
import sys
import tempfile
import unittest

CONFORMANCE, PLUGIN, SCENE = (os.path.abspath(p) for p in sys.argv.pop(1).split(':'))
HOST = 1


def run(path, *command, status=0):
    """Runs a program with a trace at a path, and gives what it prints; it may be that there is no device."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith('LEAT_') and n != 'FORCE_GRAPH_PATH'}
    # Nodes that are rewritten have no kernels of their own.
    environment.update(LEAT_PROFILE=path, LEAT_CACHE_DIR='', LEAT_FUSIONS_OFF='all')
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77:
        raise unittest.SkipTest('no device: ' + done.stdout + done.stderr)
    if done.returncode != status:
        raise AssertionError(f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    return done.stdout + done.stderr


def events_of(path):
    """The events of a trace, with times that compare exactly."""
    with open(path, encoding='utf-8') as file:
        return json.load(file, parse_float=decimal.Decimal)['traceEvents']


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, 'a "trace".json')

    def tearDown(self):
        self.folder.cleanup()

    def check(self, events):
        """What is true of every trace; gives the launches by their number and device."""
        rows, launches, steps = collections.defaultdict(list), {}, collections.defaultdict(list)
        named = {e['pid'] for e in events if e['ph'] == 'M' and e['name'] == 'process_name'}
        for event in events:
            self.assertIn(event['ph'], 'MXbe')
            self.assertIn(event['pid'], named)
            self.assertTrue(event['name'])
            if event['ph'] == 'X':
                self.assertGreaterEqual(event['dur'], 0)
                rows[event['pid'], event['tid']].append((event['ts'], event['ts'] + event['dur']))
            if event['ph'] == 'X' and event['pid'] != HOST:
                steps[event['pid'], event['args']['launch']].append(event)
            if event['ph'] in 'be':
                launches.setdefault((event['pid'], int(event['id2']['local'])), {})[event['ph']] = event
        for (group, _), spans in rows.items():
            spans.sort()
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                # Threads of the host submit while they wait.
                self.assertTrue(group == HOST or end <= begin, (group, end, begin))
        for key, both in launches.items():
            self.assertEqual(set(both), {'b', 'e'}, key)
            begin, end = both['b']['ts'], both['e']['ts']
            self.assertLessEqual(begin, end)
            self.assertEqual(len(steps[key]), both['b']['args']['steps'])
            self.assertLessEqual(sum(s['dur'] for s in steps[key]), end - begin)
            for step in steps[key]:
                self.assertLessEqual(begin, step['args']['level began us'])
                self.assertLessEqual(step['ts'] + step['dur'], end)
        self.assertEqual(set(steps), set(launches))
        recorded = {e['args']['launch'] for e in events if e['ph'] == 'X' and e['name'] == 'record'}
        self.assertLessEqual({number for _, number in launches}, recorded)
        return launches

    def case(self, name):
        return run(self.path, CONFORMANCE, PLUGIN, '--filter', name)

    def test_a_graph_and_names_that_are_odd(self):
        self.case('profiler.read.nodes_of_graphs')
        events = events_of(self.path)
        launches = self.check(events)
        self.assertEqual(sum(both['b']['name'] == 'graph' for both in launches.values()), 3)
        names = {e['args'].get('node name') for e in events if e.get('cat') == 'kernel'}
        for name in ('quote " and \\ backslash', 'line\nbreak\tand\x01control', 'Ünï€'):
            self.assertIn(name, names)

    def test_threads(self):
        for name in ('threads.own_stream.forty', 'graph.threads.eight_own_streams'):
            self.case(name)
            if os.path.exists(self.path):
                launches = self.check(events_of(self.path))
                self.assertTrue(launches)

    def test_a_path_that_cannot_be_written_is_told_once(self):
        self.path = os.path.join(self.folder.name, 'none', 'trace.json')
        said = run(self.path, SCENE, 'exit-from-main')
        self.assertIn('LEAT_PROFILE is "' + self.path + '": the file cannot be made (No such file or directory)', said)
        self.assertEqual(said.count('LEAT_PROFILE'), 1)

    def scene(self, name):
        run(self.path, SCENE, name)
        return self.check(events_of(self.path))

    def test_processes_that_end_with_the_device_open(self):
        for name in ('exit-from-main', 'return-from-main', 'exit-with-detached-threads'):
            with self.subTest(name):
                self.assertTrue(self.scene(name))

    def test_processes_that_end_too_early_for_more_leave_json(self):
        for name in ('exit-with-work-left', 'quick-exit'):
            with self.subTest(name):
                run(self.path, SCENE, name)
                self.assertTrue(events_of(self.path))

    def test_children_of_fork_write_nothing(self):
        for name in ('fork-beside-threads', 'fork-from-a-thread'):
            with self.subTest(name):
                self.assertTrue(self.scene(name))

    def test_a_device_that_is_opened_again_goes_on(self):
        self.assertTrue(self.scene('shut-down-and-use-again'))


if __name__ == '__main__':
    unittest.main()
