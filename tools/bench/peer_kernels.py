# SPDX-License-Identifier: BSD-3-Clause
"""The rows of leat-bench's "kernels" in PyTorch with CUDA: eager, and as a CUDA graph of dependent runs.

The rows are those that leat-bench --list-rows prints; there is no second table. Measured as leat-bench does it: the
device is kept busy with the row before its window, lists of runs are under way all the time, the order is drawn anew in
each round, and a command tells the clock while the row goes on.
"""
import functools
import json
import math
import random
import shlex
import statistics
import subprocess
import sys
import time

DEVICE = 'cuda'
LISTS = 4
LIST_SECONDS = 250e-6
LENGTH_MAX = 128
PATIENCE = 10.0
WAYS = ('CUDA graph', 'eager')
COPY = {'name': 'device copy', 'op': 'Identity', 'type': 'float32', 'inputs': [[65536, 4096]],
        'input_types': ['float32'], 'output': [65536, 4096], 'attributes': {}, 'link': 'read', 'copies': 1,
        'kind': 'memory', 'work': 2 * 65536 * 4096 * 4e-9, 'unit': 'GB/s'}


def attention(torch, row):
    shares = row['inputs'][0][1] != row['inputs'][1][1]
    return functools.partial(torch.nn.functional.scaled_dot_product_attention, enable_gqa=shares)


def conv(torch, row):
    # Equal pads on all sides, as all rows have them.
    a = row['attributes']
    return lambda x, w: torch.nn.functional.conv2d(x, w, None, a['strides'], a['pads'][:2], 1, a['group'])


def transposed(torch, row):
    return lambda x, w: torch.nn.functional.conv_transpose2d(x, w, None, row['attributes']['strides'])


def weights(torch, row, packed, scales):
    bits = row['attributes']['bits']
    numbers = packed if bits == 8 else torch.stack((packed & 15, packed >> 4), -1).flatten(-2)
    return ((numbers.to(scales.dtype) - 2 ** (bits - 1)) * scales.unsqueeze(-1)).flatten(1).t()


def integer_product(torch, row):
    """Of the bytes with a sign, which PyTorch has products of, from 17 rows on."""
    rows = row['inputs'][0][0]
    pad = (0, 0, 0, max(0, 32 - rows))
    return lambda a, b: torch._int_mm(torch.nn.functional.pad(a.view(torch.int8), pad), b.view(torch.int8))[:rows]


def dynamic(torch, row):
    """Of float32, however wide the numbers come."""

    def quantised(x):
        x = x.float()
        low, high = torch.aminmax(x)
        low, high = low.clamp(max=0), high.clamp(min=0)
        scale = (high - low) / 255
        return (torch.round(x / scale) + torch.round(-low / scale)).clamp(0, 255).to(torch.uint8)

    return quantised


def lstm(torch, row):
    """ONNX has the gates in the order input, output, forget, cell; PyTorch input, forget, cell, output."""
    turned = {}

    def run(x, w, r):
        of = id(w), id(r)
        if of not in turned:
            turned[of] = [torch.cat([m[0].chunk(4)[gate] for gate in (0, 2, 3, 1)]) for m in (w, r)]
        state = x.new_zeros(1, *x.shape[1:])
        return torch.lstm(x, (state, state), turned[of], False, 1, 0.0, False, False, False)[0].unsqueeze(1)

    return run


OPERATORS = {
    'Attention': attention,
    'Conv': conv,
    'ConvTranspose': transposed,
    'DynamicQuantizeLinear': dynamic,
    'Erf': lambda torch, row: torch.erf,
    'Gelu': lambda torch, row: torch.nn.functional.gelu,
    'Gemm': lambda torch, row: torch.nn.functional.linear,
    'Identity': lambda torch, row: torch.clone,
    'LSTM': lstm,
    'LayerNormalization': lambda torch, row: lambda x, w, b: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b),
    'MatMul': lambda torch, row: torch.matmul,
    'MatMulInteger': integer_product,
    # PyTorch's own products of few bits have weights packed for one kind of device: this is what a model does without.
    'MatMulNBits': lambda torch, row: lambda x, b, scales: x @ weights(torch, row, b, scales),
    'ReduceSum': lambda torch, row: lambda x: torch.sum(x, row['attributes']['axes'], keepdim=True),
    'Relu': lambda torch, row: torch.relu,
    'Softmax': lambda torch, row: lambda x: torch.softmax(x, -1),
    'Transpose': lambda torch, row: lambda x: x.t().contiguous(),
}
EXACT = ('DynamicQuantizeLinear', 'Identity', 'MatMulInteger', 'Relu', 'Transpose')


def read_rows(path):
    """The rows of a file. ValueError says what is wrong with it."""
    try:
        with open(path, encoding='utf-8') as file:
            rows = json.load(file)
    except OSError as error:
        raise ValueError(f'{path}: {error.strerror}') from None
    except ValueError:
        raise ValueError(f'{path} is not JSON; leat-bench --list-rows prints what is wanted') from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(COPY) <= set(row) for row in rows):
        raise ValueError(f'{path} has no rows; leat-bench --list-rows prints what is wanted')
    for row in rows:
        if row['op'] not in OPERATORS:
            raise ValueError(f'{path}: {row["name"]} needs {row["op"]}, which peers.py cannot do')
    return rows


def wrong(torch, row, operator, inputs):
    """What is wrong with the result, or None. Held against the same in double precision.

    A sum of n terms is off by (n + 2) 2^-24 of its magnitude, in whatever order it is made. Softmax and layer norm
    carry errors of such sums and of a few functions on, each at most four times; functions of one number are off by
    some ULP. Where the row's type has 16 bits, what comes out is rounded once more: by 2^-11 (bfloat16: 2^-8) of it, or
    by 2^-25.
    """
    got = operator(*inputs).double()
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    if row['op'] == 'MatMulInteger':
        wanted = torch.matmul(*(x.view(torch.int8).double() for x in inputs))
    else:
        wanted = operator(*wide)
    unit = 2.0 ** -24
    if row['op'] in EXACT:
        bound = torch.zeros_like(wanted)
    elif row['op'] in ('Gemm', 'MatMul', 'Conv', 'ConvTranspose', 'ReduceSum'):
        shape = row['inputs'][-1]
        terms = {'Gemm': row['inputs'][0][-1], 'MatMul': row['inputs'][0][-1], 'Conv': math.prod(shape[1:]),
                 'ConvTranspose': shape[0], 'ReduceSum': max(shape)}[row['op']]
        bound = (terms + 2) * unit * operator(*(x.abs() for x in wide))
    elif row['op'] == 'MatMulNBits':
        rounded = 2.0 ** -11 if row['type'] == 'float16' else 0
        w = weights(torch, row, *wide[1:]).abs()
        bound = ((row['inputs'][0][-1] + 6) * unit + rounded) * (wide[0].abs() @ w)
    elif row['op'] == 'Softmax':
        bound = 4 * (row['inputs'][0][-1] + 64) * unit * wanted
    elif row['op'] == 'Attention':
        # Weights are off as those of softmax are, and by scores, which are sums; they may be rounded to float16 too.
        tokens, head = row['inputs'][1][-2:]
        relative = 4 * (tokens + head * head + 64) * unit + (2.0 ** -11 if row['type'] == 'float16' else 0)
        bound = 2 * relative * operator(*wide[:2], wide[2].abs())
    elif row['op'] == 'LSTM':
        # A step's gates are off as sums and functions are, and carry what the states before were off by on.
        steps, _, units = row['inputs'][0]
        bound = torch.full_like(wanted, steps * (2 * units + 66) * unit)
    elif row['op'] == 'LayerNormalization':
        bound = 4 * (row['inputs'][0][-1] + 64) * unit * (1 + wanted.abs())
    else:
        bound = torch.full_like(wanted, 64 * unit)
    halves = {'float16': 2.0 ** -11, 'bfloat16': 2.0 ** -8}
    if row['type'] in halves:
        bound = bound + halves[row['type']] * wanted.abs() + 2.0 ** -25
    # NaN is wrong too.
    if not bool(((got - wanted).abs() <= bound).all()):
        return f'wrong result, off by {(got - wanted).abs().max().item():g} at most'
    return None


class Exercise:
    """A row in one of the two ways: lists of runs, each run after the one before it."""

    def __init__(self, torch, row, way):
        self.torch, self.row, self.way = torch, row, way
        self.operator = OPERATORS[row['op']](torch, row)
        torch.manual_seed(0)
        self.inputs = [torch.randint(0, 256, shape, dtype=torch.uint8, device=DEVICE) if name == 'uint8' else
                       torch.rand(shape, device=DEVICE).mul_(2).sub_(1).to(getattr(torch, name))
                       for shape, name in zip(row['inputs'], row['input_types'])]
        # Of the second input, which take turns: a list has a run for each, so that none is in a cache.
        self.copies = [self.inputs[1].clone() for _ in range(row['copies'])] if row['copies'] > 1 else []
        self.length, self.graph = row['copies'], None
        self.events, self.next = [torch.cuda.Event() for _ in range(LISTS)], 0

    def check(self):
        return wrong(self.torch, self.row, self.operator, self.inputs)

    def chain(self):
        first, rest = self.inputs[0], self.inputs[1:]
        for run in range(self.length):
            if self.copies:
                rest[0] = self.copies[run % len(self.copies)]
            result = self.operator(first, *rest)
            if self.row['link'] == 'read':
                first = result

    def capture(self):
        """Makes the graph for lists of the length that is set."""
        self.torch.cuda.synchronize()
        self.graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(self.graph):
            self.chain()

    def begin(self):
        # Libraries choose their kernels at the first call, which cannot be captured.
        self.chain()
        if self.way == 'CUDA graph':
            self.capture()

    def wait(self):
        self.events[self.next].synchronize()

    def put(self):
        if self.graph is not None:
            self.graph.replay()
        else:
            self.chain()
        self.events[self.next].record()
        self.next = (self.next + 1) % LISTS

    def step(self):
        self.wait()
        self.put()

    def measure(self, seconds):
        """Seconds of a run, and runs, from the end of a list to the end of a later one."""
        self.wait()
        start = end = time.perf_counter()
        runs = 0
        while end - start < seconds or runs == 0:
            self.put()
            self.wait()
            end = time.perf_counter()
            runs += self.length
        self.put()
        return (end - start) / runs, runs

    def load(self, seconds):
        until = time.perf_counter() + seconds
        for _ in range(LISTS):
            self.step()
        while True:
            length = max(self.row['copies'], min(LENGTH_MAX, int(LIST_SECONDS / self.measure(seconds / 4)[0])))
            if length != self.length:
                self.length = length
                if self.graph is not None:
                    self.capture()
                for _ in range(LISTS):
                    self.step()
            if time.perf_counter() >= until:
                return


def clock_mhz(command, meanwhile):
    """What the command says, while `meanwhile` is called over and over. ValueError: it did not work."""
    try:
        process = subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE, text=True)
    except (OSError, ValueError, IndexError) as error:
        raise ValueError(f'--clock-command: {command!r}: {error}') from None
    until = time.monotonic() + PATIENCE
    with process:
        while process.poll() is None:
            if time.monotonic() > until:
                process.kill()
                raise ValueError(f'--clock-command: {command!r} did not end within {PATIENCE:g} seconds')
            meanwhile()
        line = process.stdout.readline().strip()
    if process.returncode != 0:
        raise ValueError(f'--clock-command: {command!r} failed with status {process.returncode}')
    try:
        return float(line)
    except ValueError:
        raise ValueError(f'--clock-command: {command!r} printed no number of MHz: {line!r}') from None


def new_point(row, way):
    link = 'reads the last' if row['link'] == 'read' else 'rewrites, other weights' if row['copies'] > 1 else 'rewrites'
    return {'measurement': 'kernels', 'variant': row['name'], 'setting': f'PyTorch {way}, {link}', 'threads': 1,
            'unit': 'us/run', 'samples': [], 'facts': {}}


def run_row(torch, row, way, args, point, first):
    """Adds a sample to the point; gives the row's rate, or None where the device cannot take it."""
    facts = point['facts']
    try:
        exercise = Exercise(torch, row, way)
        if first:
            fault = exercise.check()
            if fault:
                raise RuntimeError(f'{row["name"]}, {way}: {fault}')
        exercise.begin()
        exercise.load(args.warmup)
        seconds, runs = exercise.measure(args.seconds)
    except torch.cuda.OutOfMemoryError as error:
        facts['skipped'] = str(error).splitlines()[0]
        return None
    point['samples'].append(seconds * 1e6)
    facts['runs'] = runs
    if args.clock_command:
        try:
            mhz = clock_mhz(args.clock_command, exercise.step)
            facts.setdefault('clock_mhz_samples', []).append(mhz)
            facts['clock_mhz'] = min(facts['clock_mhz_samples'])
        except ValueError as error:
            print(f'peers.py: {row["name"]}: {error}', file=sys.stderr)
            facts['clock'] = 'not read'
    torch.cuda.synchronize()
    return row['work'] / seconds


def finish(row, point):
    samples = point['samples']
    if samples:
        point.update(median=statistics.median(samples), lowest=min(samples), highest=max(samples))
        point['facts'][row['unit']] = row['work'] / (point['median'] * 1e-6)
    if 'ratio_samples' in point:
        point['ratio'] = statistics.median(point['ratio_samples'])
    return point


def measure(torch, rows, args):
    """Points in the form of leat-bench --json. RuntimeError: a result was wrong. ValueError: the clock's command."""
    torch.backends.cudnn.allow_tf32 = False
    # Sums of float16 products in float32, as Leat makes them.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    # PyTorch at its best: cuDNN tries its algorithms on each shape.
    torch.backends.cudnn.benchmark = True
    if args.clock_command:
        clock_mhz(args.clock_command, lambda: time.sleep(0.001))
    points = {(row['name'], way): new_point(row, way) for row in [COPY, *rows] for way in WAYS}
    order = [(row, way) for row in rows for way in WAYS]
    draw = random.Random(args.seed)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.inference_mode():
        for number in range(args.repeat):
            draw.shuffle(order)
            copied = {}
            for row, way in [*((COPY, way) for way in WAYS), *order]:
                point = points[row['name'], way]
                rate = run_row(torch, row, way, args, point, number == 0)
                torch.cuda.empty_cache()
                if row is COPY:
                    copied[way] = rate
                elif row['kind'] == 'memory' and rate and copied[way]:
                    point['ratio_to'] = COPY['name']
                    point.setdefault('ratio_samples', []).append(rate / copied[way])
    return [finish(row, points[row['name'], way]) for row in [COPY, *rows] for way in WAYS]
