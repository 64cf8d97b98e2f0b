#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""info_test.py LEAT_INFO:PLUGIN:FAKE: leat-info on this machine's devices, on none, and with what it cannot use."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

INFO, PLUGIN, FAKE = (os.path.abspath(p) for p in sys.argv.pop(1).split(':'))
SETTINGS = {'LEAT_VULKAN_DEVICE', 'LEAT_LANES', 'LEAT_WAIT_SPIN_US', 'LEAT_STREAM_POOL_WAIT_TIMEOUT_MS',
            'LEAT_STREAM_POLICY', 'LEAT_HIGH_WATERMARK_RATIO', 'LEAT_LOW_WATERMARK_RATIO', 'LEAT_MEMORY_GUARD',
            'LEAT_FORCE_GRAPH_PATH', 'LEAT_FORCE_DIRECT_PATH', 'LEAT_FUSIONS_OFF',
            'LEAT_GRAPH_PLANS_MIB', 'LEAT_MATRICES', 'LEAT_FLOAT32_MATMUL', 'LEAT_TUNING', 'LEAT_LOG',
            'LEAT_CACHE_DIR', 'LEAT_PROFILE'}


def info(*arguments, **variables):
    """Runs leat-info in an environment that has no variables of Leat but those given."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith('LEAT_') and n != 'FORCE_GRAPH_PATH'}
    environment.update(variables)
    return subprocess.run([INFO, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False)


def report(*arguments, **variables):
    done = info('--json', *arguments, **variables)
    return done.returncode, json.loads(done.stdout), done.stderr


class Usable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code, cls.report, cls.stderr = report('--plugin', PLUGIN)
        if cls.report['verdict'] == 'none':
            raise unittest.SkipTest('no device: ' + cls.report['reason'])

    def test_report_is_complete(self):
        self.assertEqual((self.code, self.report['verdict'], self.report['status']), (0, 'usable', 'LEAT_OK'))
        self.assertEqual(self.stderr, '')
        self.assertIsNone(self.report['reason'])
        backend = self.report['backend']
        self.assertEqual((backend['file'], backend['name'], backend['abi_version']), (PLUGIN, 'vulkan', '1.1'))
        self.assertEqual(backend['build_id'], self.report['build_id'])
        self.assertGreater(backend['operator_count'], 50)
        self.assertTrue(self.report['system']['chosen_reason'])

    def test_devices_have_what_one_asks_for(self):
        devices = [d for d in self.report['devices'] if d['usable']]
        self.assertEqual([d['index'] for d in devices], list(range(len(devices))))
        self.assertEqual([d['chosen'] for d in devices], [True] + [False] * (len(devices) - 1))
        for device in devices:
            self.assertTrue(device['name'] and device['driver'])
            self.assertRegex(device['uuid'], r'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
            self.assertGreater(device['memory_size'], 0)
            self.assertGreater(device['max_allocation_size'], 0)
            names = device['properties']
            for prefix in ('queue.', 'memory.heap.', 'features.used', 'features.missing'):
                self.assertTrue(any(n.startswith(prefix) for n in names), prefix)
            self.assertEqual(names['features.missing'], '')

    def test_unusable_devices_have_a_reason(self):
        for device in self.report['devices']:
            if not device['usable']:
                self.assertTrue(device['reason'])

    def test_settings_say_where_they_come_from(self):
        settings = self.report['settings']
        self.assertEqual(settings.pop('LEAT_PLUGIN_PATH'), {'value': PLUGIN, 'origin': 'option', 'reader': 'loader'})
        self.assertEqual(set(settings), SETTINGS)
        for setting in settings.values():
            self.assertEqual((setting['origin'], setting['reader']), ('default', 'backend'))
        values = {'LEAT_VULKAN_DEVICE': '0', 'LEAT_LOG': 'error', 'LEAT_LANES': '1', 'LEAT_WAIT_SPIN_US': '7',
                  'LEAT_STREAM_POOL_WAIT_TIMEOUT_MS': '-1', 'LEAT_STREAM_POLICY': 'round-robin',
                  'LEAT_HIGH_WATERMARK_RATIO': '0.9', 'LEAT_LOW_WATERMARK_RATIO': '.5', 'LEAT_MEMORY_GUARD': '1',
                  'LEAT_PROFILE': '/nowhere/trace (new).json', 'LEAT_FORCE_DIRECT_PATH': '1',
                  'LEAT_FUSIONS_OFF': 'bias,gelu', 'LEAT_GRAPH_PLANS_MIB': '7',
                  'LEAT_MATRICES': 'khr', 'LEAT_FLOAT32_MATMUL': 'fast',
                  'LEAT_TUNING': 'gemv_rows=4,reduce_fill=8',
                  'LEAT_CACHE_DIR': '/tmp/no (such)/folder'}
        code, other, stderr = report(LEAT_PLUGIN_PATH=PLUGIN, **values)
        self.assertEqual((code, stderr), (0, ''))
        self.assertEqual(other['settings'].pop('LEAT_PLUGIN_PATH'),
                         {'value': PLUGIN, 'origin': 'environment', 'reader': 'loader'})
        for name, value in values.items():
            self.assertEqual(other['settings'].pop(name),
                             {'value': value, 'origin': 'environment', 'reader': 'backend'}, name)
        self.assertEqual(set(other['settings']), {'LEAT_FORCE_GRAPH_PATH'})

    def test_what_kernels_are_cut_by_is_told(self):
        form = r'(\d+) \((\d+) to (\d+), by itself (\d+)\)'
        told = {name: [int(n) for n in re.fullmatch(form, value).groups()]
                for name, value in self.report['system']['properties'].items() if name.startswith('tuning.')}
        self.assertGreater(len(told), 20)
        for name, (value, least, most, standard) in told.items():
            self.assertEqual(value, standard, name)
            self.assertTrue(least <= value <= most, name)
        _, other, _ = report('--plugin', PLUGIN, LEAT_TUNING='gemv_rows=4')
        self.assertEqual(other['system']['properties']['tuning.gemv_rows'], '4 (0 to 8, by itself 8)')
        # People read of those that were set, and of no other.
        text = info('--plugin', PLUGIN, LEAT_TUNING='gemv_rows=4').stdout
        self.assertRegex(text, r'(?m)^Tuning, .*\n  gemv_rows +4 \(0 to 8, by itself 8\)\n\n')
        self.assertNotIn('reduce_fill', text)
        self.assertNotIn('Tuning', info('--plugin', PLUGIN).stdout)
        for value, reason in (('gemv_rows=9', 'a whole number from 0 to 8'), ('gem=1', '"gem" is no name')):
            done = info('--check', '--plugin', PLUGIN, LEAT_TUNING=value)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(reason, done.stdout)

    def test_variables_that_nobody_reads_are_named(self):
        mistakes = {'LEAT_LANE': '2', 'LEAT_VULKAN_DEVCE': '0'}
        others = {'LEAT_LANES': '2', 'LEAT_DEPS_DIR': '/x', 'LEATHER': 'brown', 'LEAT_LOG': 'error'}
        code, given, stderr = report('--plugin', PLUGIN, **mistakes, **others)
        self.assertEqual((code, sorted(given['unread_variables'])), (0, sorted(mistakes)))
        for name in mistakes:
            self.assertRegex(stderr, rf'(?m)^leat-info: warning: nothing reads {name};')
        self.assertEqual(len(stderr.splitlines()), len(mistakes))
        self.assertEqual(self.report['unread_variables'], [])
        for arguments in (['--check'], []):
            self.assertIn('nothing reads LEAT_LANE;', info('--plugin', PLUGIN, *arguments, LEAT_LANE='2').stderr)
        # A backend that cannot be asked has not said what it reads.
        self.assertNotIn('LEAT_LANE', info('--plugin', FAKE, LEAT_LANE='2').stderr)

    def test_device_with_another_number_is_a_bad_setting(self):
        for value in ('77', 'nonsense'):
            done = info('--check', '--plugin', PLUGIN, LEAT_VULKAN_DEVICE=value)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(f'LEAT_VULKAN_DEVICE is "{value}", which names no usable device', done.stdout)

    def test_plain_and_prefixed_variable(self):
        for variables, value, origin in [
                ({'FORCE_GRAPH_PATH': '1'}, '1', 'environment, FORCE_GRAPH_PATH'),
                ({'FORCE_GRAPH_PATH': '1', 'LEAT_FORCE_GRAPH_PATH': '0'}, '0', 'environment'),
                ({'FORCE_GRAPH_PATH': '1', 'LEAT_FORCE_GRAPH_PATH': ''}, '1', 'environment, FORCE_GRAPH_PATH'),
                ({'FORCE_GRAPH_PATH': ''}, '0', 'default')]:
            _, other, _ = report('--plugin', PLUGIN, **variables)
            self.assertEqual(other['settings']['LEAT_FORCE_GRAPH_PATH'],
                             {'value': value, 'origin': origin, 'reader': 'backend'}, variables)

    def test_folder_for_pipelines(self):
        # Drivers have caches of their own there.
        with tempfile.TemporaryDirectory() as home:
            for variables, value, origin in [
                    ({'HOME': home, 'XDG_CACHE_HOME': ''}, home + '/.cache/leat', 'default'),
                    ({'HOME': home, 'XDG_CACHE_HOME': home + '/caches'}, home + '/caches/leat', 'default'),
                    ({'HOME': home, 'LEAT_CACHE_DIR': ''}, '', 'environment')]:
                _, other, _ = report('--plugin', PLUGIN, **variables)
                self.assertEqual(other['settings']['LEAT_CACHE_DIR'],
                                 {'value': value, 'origin': origin, 'reader': 'backend'}, variables)
                self.assertRegex(info('--plugin', PLUGIN, **variables).stdout,
                                 rf'(?m)^  LEAT_CACHE_DIR +{value or "none"} \({origin}; read by the backend\)$')

    def test_a_trace_that_cannot_be_written_is_told_once(self):
        _, _, stderr = report('--plugin', PLUGIN, LEAT_PROFILE='/nowhere/trace.json')
        self.assertRegex(stderr, r'\Aleat: warn: LEAT_PROFILE is "/nowhere/trace.json": [^\n]+\n\Z')
        _, _, stderr = report('--plugin', PLUGIN, LEAT_LOG='error', LEAT_PROFILE='/nowhere/trace.json')
        self.assertEqual(stderr, '')

    def test_who_only_asks_leaves_a_trace_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'trace.json')
            report('--plugin', PLUGIN, LEAT_PROFILE=path)
            with open(path, encoding='utf-8') as file:
                self.assertEqual(json.load(file), {'traceEvents': []})
            with open(path, 'w', encoding='utf-8') as file:
                file.write('a trace of before')
            report('--plugin', PLUGIN, LEAT_PROFILE=path)
            with open(path, encoding='utf-8') as file:
                self.assertEqual(file.read(), 'a trace of before')

    def test_text_has_the_same(self):
        done = info('--plugin', PLUGIN)
        self.assertEqual(done.returncode, 0)
        for text in [self.report['devices'][0]['name'], self.report['devices'][0]['driver'], 'Queues', 'Memory',
                     'Features', 'Settings', 'LEAT_VULKAN_DEVICE', 'usable: device 0', self.report['build_id']]:
            self.assertIn(text, done.stdout)
        self.assertLess(max(map(len, done.stdout.splitlines())), 200)

    def test_check_is_one_line(self):
        done = info('--check', '--plugin', PLUGIN)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertRegex(done.stdout, r'\Ausable: device 0, .+\n\Z')

    def test_device_can_be_named(self):
        name = self.report['devices'][0]['name']
        uuid = self.report['devices'][0]['uuid']
        for value in (name[:8], uuid):
            code, other, _ = report('--plugin', PLUGIN, LEAT_VULKAN_DEVICE=value)
            self.assertEqual(code, 0, value)
            self.assertIn(value.lower(), (other['devices'][0]['name'] + other['devices'][0]['uuid']).lower())


class Unusable(unittest.TestCase):
    def test_no_driver(self):
        nothing = {'VK_DRIVER_FILES': '/nonexistent.json', 'VK_ICD_FILENAMES': '/nonexistent.json'}
        done = info('--check', '--plugin', PLUGIN, **nothing)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r'\Ano usable device: .+\n\Z')
        code, given, stderr = report('--plugin', PLUGIN, **nothing)
        self.assertEqual((code, given['verdict'], given['devices']), (1, 'none', []))
        self.assertTrue(given['reason'])
        self.assertIn('no usable device', stderr)
        # The variables are what is wrong, if there is a loader at all.
        if 'no driver' in given['reason']:
            for name, value in nothing.items():
                self.assertIn(f'{name}={value}', given['reason'])

    def test_device_that_is_not_there(self):
        done = info('--plugin', PLUGIN, LEAT_VULKAN_DEVICE='nonsense')
        self.assertIn(done.returncode, (1, 2))
        self.assertIn('LEAT_VULKAN_DEVICE', done.stderr)
        self.assertIn('nonsense', done.stderr)

    def test_bad_setting_is_named(self):
        for variable, value, allowed in [('LEAT_LANES', '99', '8'), ('LEAT_LANES', 'many', '8'),
                                         ('LEAT_WAIT_SPIN_US', '-3', '0'), ('LEAT_LOG', 'loud', 'debug'),
                                         ('LEAT_LOW_WATERMARK_RATIO', '0,5', '0.8'),
                                         ('FORCE_GRAPH_PATH', '2', '0 or 1'),
                                         ('LEAT_CACHE_DIR', 'cache', 'an absolute path'),
                                         ('LEAT_STREAM_POLICY', 'both', 'round-robin')]:
            done = info('--check', '--plugin', PLUGIN, **{variable: value})
            self.assertEqual(done.returncode, 2, done.stdout)
            for text in (variable, value, allowed):
                self.assertIn(text, done.stdout)

    def test_backend_that_answers_nothing(self):
        done = info('--check', '--plugin', FAKE)
        self.assertEqual((done.returncode, done.stdout), (2, 'cannot tell: device.count\n'))

    def test_what_is_no_backend(self):
        for path, text in [('/nonexistent.so', 'No such file'), (__file__, 'not a shared library'),
                           ('/', 'is a folder')]:
            for done in (info('--plugin', path), info(LEAT_PLUGIN_PATH=path)):
                self.assertEqual(done.returncode, 2)
                if path != '/':
                    self.assertIn(path, done.stderr)
            self.assertIn(text, info('--plugin', path).stderr)
            code, given, _ = report('--plugin', path)
            self.assertEqual((code, given['verdict'], given['backend']), (2, 'unknown', None))


class Operators(unittest.TestCase):
    """The list needs no device, nor a driver."""
    NOTHING = {'VK_DRIVER_FILES': '/nonexistent.json', 'VK_ICD_FILENAMES': '/nonexistent.json'}

    @classmethod
    def setUpClass(cls):
        cls.code, cls.report, cls.stderr = report('--operators', '--plugin', PLUGIN, **cls.NOTHING)
        cls.text = info('--operators', '--plugin', PLUGIN, **cls.NOTHING)

    def find(self, name, domain=''):
        return [o for o in self.report['operators'] if (o['name'], o['domain']) == (name, domain)]

    def test_list_is_complete_and_in_order(self):
        self.assertEqual((self.code, self.stderr), (0, ''))
        self.assertEqual((self.report['backend']['name'], self.report['backend']['abi_version']), ('vulkan', '1.1'))
        _, other, _ = report('--plugin', PLUGIN, **self.NOTHING)
        operators = self.report['operators']
        self.assertEqual(len(operators), other['backend']['operator_count'])
        keys = [(o['domain'], o['name'], o['since_version_min']) for o in operators]
        self.assertEqual(keys, sorted(set(keys)))

    def test_an_entry_has_what_the_backend_says(self):
        self.assertEqual(self.find('Shape'), [{
            'name': 'Shape', 'domain': '', 'since_version_min': 1, 'since_version_max': 25, 'min_inputs': 1,
            'max_inputs': 1, 'min_outputs': 1, 'max_outputs': 1,
            'types': {'T': ['float32', 'float16', 'bfloat16', 'float64', 'int8', 'int16', 'int32', 'int64', 'uint8',
                            'uint16', 'uint32', 'uint64', 'bool'], 'T1': ['int64']},
            'host_inputs': [], 'host_outputs': [0], 'attributes': ['start', 'end']}])
        self.assertEqual([(o['since_version_min'], o['host_inputs']) for o in self.find('Slice')],
                         [(1, []), (10, [1, 2, 3, 4])])
        concat, = self.find('Concat')
        self.assertEqual((concat['min_inputs'], concat['max_inputs']), (1, None))
        self.assertEqual([o['since_version_min'] for o in self.find('ReduceSum')], [1, 13])
        self.assertEqual(self.find('Pointwise', 'leat')[0]['types'], {'T': ['float32', 'float16', 'bfloat16']})

    def test_text_has_the_same(self):
        self.assertEqual((self.text.returncode, self.text.stderr), (0, ''))
        lines = self.text.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 110)
        listed, domain = [], None
        for line in lines:
            if line.startswith('Domain '):
                domain = line.removeprefix('Domain ').replace('"" (ONNX)', '')
            elif line.startswith('  ') and line[2] != ' ':
                listed.append((domain, line.split()[0]))
        self.assertEqual(listed, [(o['domain'], o['name']) for o in self.report['operators']])
        for line in [r'  Shape +1-25 +T: float32, float16, bfloat16, float64, int8 to int64, uint8 to',
                     r' +uint64, bool; T1: int64; output 0 on the host',
                     r'  Neg +6-13 +T: float32, float16, bfloat16, int8 to int64', r'  Not +1 +T: bool',
                     r'  ReduceSum +13 +T: float32, float16, bfloat16, int32, int64; axes: int64; input 1',
                     r' +on the host',
                     r'  PRelu +7-16 +T: float32, float16, bfloat16, int32, int64']:
            self.assertRegex(self.text.stdout, rf'(?m)^{line}$')

    def test_backend_that_cannot_be_asked(self):
        for arguments in ([], ['--json']):
            for plugin, text in [(FAKE, 'the operator list cannot be read: op.count'), ('/nonexistent.so', 'No such')]:
                done = info('--operators', *arguments, '--plugin', plugin)
                self.assertEqual((done.returncode, done.stdout), (2, ''))
                self.assertIn(text, done.stderr)


class CommandLine(unittest.TestCase):
    def test_mistakes(self):
        for arguments, text in [(['--nonsense'], '--nonsense'), (['extra'], 'extra'), (['--plugin'], '--plugin'),
                                (['--check', '--json'], 'do not go together'),
                                (['--check', '--operators'], 'the list has no verdict')]:
            done = info(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn(text, done.stderr)

    def test_report_that_cannot_be_written(self):
        for target, reason in [('>/dev/full', 'No space left on device'), ('>&-', 'Bad file descriptor')]:
            for arguments in (['--plugin', PLUGIN], ['--version'], ['--help']):
                done = subprocess.run(['sh', '-c', f'exec "$0" "$@" {target}', INFO, *arguments],
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertEqual(done.stderr.splitlines()[-1], f'leat-info: writing to stdout: {reason}')

    def test_version_and_help(self):
        done = info('--version')
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r'\Aleat-info \d+\.\d+\.\d+, build \S+, ABI 1\.1\n\Z')
        done = info('--help')
        self.assertEqual(done.returncode, 0)
        self.assertIn('Exit status', done.stdout)


if __name__ == '__main__':
    unittest.main()
