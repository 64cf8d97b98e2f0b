# SPDX-License-Identifier: BSD-3-Clause
"""The table of jobs: what ./dev test runs, and what ./dev check runs beyond it.

A test of ctest belongs to the first job of JOBS whose `tests` finds it at the beginning of its name, else to `test`.
Other jobs are commands of ./dev. `paths` finds the files whose change can break a job; .ci/run goes by them. `seconds`
is how long the job took on two cores, in which .ci/run decides whether there is time for it.
"""
import re
from typing import NamedTuple


class Job(NamedTuple):
    name: str
    seconds: int  # on two cores, its build included
    paths: str    # of files, from the root of the tree
    what: str
    tests: str = ''  # of ctest; '': the job is a command of ./dev


# What operators compute: kernels, plans and what they are driven by.
COMPUTING = r'plugin/(ops|graph|policy)/'
PROVIDER = r'host-shim/onnxruntime/'
C = r'.*\.[ch]$'

# In the order in which .ci/run tries them.
JOBS = (
    Job('asan', 404, C + r'|.*CMakeLists\.txt$', 'C tests under the address and undefined-behaviour sanitizers'),
    Job('suite', 442, COMPUTING + '|plugin/device/|conformance/',
        'every conformance case, 300 drawn calls a family, backends with few operators, tiles of devices with many '
        'processors, all drawn programs and networks',
        tests=r'conformance\.(all|kernels|kernels\.quick|operators|small_tiles|processors)$'
              r'|unit\.fusion\.without\.(?!all$)|unit\.(pointwise|drawn)\.all$'),
    Job('nodes', 133, COMPUTING + f'|{PROVIDER}|tests/onnx/',
        "ONNX's node tests, drawn models and products, decoders; the oldest ONNX Runtime",
        tests=r'onnx\.(nodes|bodies$|bodies\.delayed$|subgraphs|operator_sets|products|fused|nbits|decoding)(\.|$)'
              r'|onnx\.einsum(\.|$)'
              r'|onnx\.profiling(\.|$)'
              r'|onnx\..*\.oldest$'
              r'|onnx\.release\.oldest'),
    Job('models', 120,
        COMPUTING + f'|plugin/(record|submit|streams)/|{PROVIDER}|tests/(models|genai|whisper)/|tools/[^/]*$',
        'ten whole models, in float16, quantised, node by node; language models by onnxruntime-genai, Whisper',
        tests=r'genai\.|models\.(?!((bert|resnet|gpt2)\.dynamo\.sessions4|dispatches)$)'),
    Job('newest', 540, COMPUTING + '|plugin/device/|conformance/|tests/unit/',
        "the whole suite on the newest Mesa, with matrix hardware, guard pages and its layers"),
    Job('validation', 130, 'plugin/|conformance/|examples/demo/',
        "cases and the demo under Debian 12's validation layers"),
    Job('tsan', 180, 'plugin/|common/|host-shim/|batch/|tests/(nulldriver|batch|life|provider)/',
        'plugin, provider and batch queue under the thread sanitizer'),
    Job('limits', 29, COMPUTING + '|plugin/device/|tests/limits/', 'cases on devices with other limits'),
    Job('faults', 150, 'plugin/(core|device|graph|memory|record|submit|streams|timeline)/|host-shim/|tests/faults/',
        'calls of Vulkan, allocations and calls for files that fail, one in each process, while threads run models',
        tests=r'faults\.'),
    Job('life', 60, 'common/|plugin/(core|device|record|submit|streams)/|plugin/backend|host-shim/|batch/|tests/life/',
        'scenes of processes that exit, fork and are killed, ten times each',
        tests=r'life\.(?!canary$)'),
    Job('prove', 240, 'common/|plugin/(core|device|graph|memory|ops/core|streams|submit|timeline)/|batch/|host-shim/'
        '|tests/(litmus|spin)/', 'models of what threads share, every state searched, and memory orders, with mistakes '
        'that must be found', tests=r'(litmus|spin)\.'),
    Job('cbmc', 240, 'common/|plugin/(core|device|graph|memory|ops/core|policy|record|streams|submit|timeline)/|batch/'
        '|tools/npy|tests/cbmc/', 'sources for all values of what is left open, with mistakes that must be found',
        tests=r'cbmc\.'),
    Job('tsa', 30, 'plugin/|common/|host-shim/|batch/|tests/tsa/',
        "clang's thread-safety analysis of every lock of plugin, provider and batch queue"),
    Job('fuzz', 300, 'plugin/|common/|abi/|conformance/ops/|tools/(npy|ndarray)|tests/(fuzz|nulldriver|unit)/',
        "libFuzzer across the ABI: 10^4 executions under the sanitizers, and canaries"),
    Job('mutants', 300, r'plugin/(streams|timeline|memory|graph)/|host-shim/|tests/(mutants|unit|nulldriver|provider)/',
        'mistakes made in our own C, drawn by a seed, of which a test must notice each'),
    Job('clang', 31, C, 'the build with clang, without warnings'),
    Job('tuning', 52, r'plugin/policy/|tools/bench/|tests/tools/',
        'operators with constants at the ends of their ranges; leat-bench and its tuner',
        tests=r'tools\.(tuning|leat-bench|leat-bench\.tune)$'),
    Job('pages', 18, r'.*\.md$|examples/|tests/docs/|tools/|python/', 'every command of every page',
        tests=r'docs\.commands$'),
    Job('recipes', 200, COMPUTING + r'|plugin/(core|memory)/|conformance/|docs/adding-an-operator\.md$|tests/recipes/',
        'worked examples of adding operators, types, versions and rules, applied, built and run',
        tests=r'recipes\.build$'),
    Job('wheels', 36, f'python/|{PROVIDER}|tests/wheel/|cmake/',
        'the wheel, beside the oldest and the newest ONNX Runtime',
        tests=r'wheel\.'),
    Job('servers', 79, r'examples/serve/|tests/serve/|python/|batch/|tools/bench/serving|tests/tools/serving',
        'servers of examples/serve under load, one process and Ray',
        tests=r'example\.(one_process|ray_serve)$|tools\.serving$'),
    Job('install', 20, r'cmake/|.*CMakeLists\.txt$|tests/install/|debian/|dev$|tools/ci/|plugin/ops/\w+/kernels/',
        'the plugin built alone; the packages that ./dev names are enough',
        tests=r'install\.(alone|reproducible)$|dev\.packages$'),
)
NAMES = tuple(job.name for job in JOBS)
BY_NAME = {job.name: job for job in JOBS}


def job_of(test):
    """The job of a test of ctest, by its name."""
    return next((job.name for job in JOBS if job.tests and re.match(job.tests, test)), 'test')


def broken_by(files):
    """The jobs that a change of these files can break, in order."""
    return [job.name for job in JOBS if any(re.match(job.paths, file) for file in files)]
