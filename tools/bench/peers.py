#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch CUDA doing what leat-bench's "op" and "linear" do, from threads of one process, each with its own stream;
and the rows of its "kernels", eager and in a CUDA graph.

Usage: peers.py [--only op,linear] [--threads 1,2,8] [--seconds S] [--repeat N] > FILE
       leat-bench --list-rows > rows.json
       peers.py --only kernels --rows rows.json [--clock-command CMD] [--seconds S] [--warmup S] [--seed N] > FILE

Prints a JSON object on a line for each number of threads, and one for "kernels", in the form of leat-bench --json.
Every thread's results are checked at its end, those of kernels before they are measured. Exit status: 0 all right, 1 a
wrong result or a failure, 2 bad use, or no PyTorch with CUDA.
"""
import argparse
import datetime
import json
import random
import statistics
import sys
import threading
import time

import peer_kernels

THREADS = '1,2,4,8,12,16,31'
WORK = ('op', 'linear', 'kernels')
TEAMS = WORK[:2]


def whole(low, high):
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number') from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f'{value} is not from {low} to {high}')
        return value
    return parse


def threads_list(text):
    numbers = [whole(1, 64)(part) for part in text.split(',')]
    if len(set(numbers)) != len(numbers):
        raise argparse.ArgumentTypeError(f'"{text}" has a number twice')
    return numbers


def names_list(text):
    names = text.split(',')
    for name in names:
        if name not in WORK:
            raise argparse.ArgumentTypeError(f'there is no "{name}"; there are {", ".join(WORK)}')
    return names


def duration(text):
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not 0.001 <= value <= 3600:
        raise argparse.ArgumentTypeError(f'{text} is not from 0.001 to 3600')
    return value


def arguments(argv=None):
    parser = argparse.ArgumentParser(description='PyTorch CUDA beside leat-bench, from the same numbers of threads.')
    parser.add_argument('--only', type=names_list, default=list(TEAMS), metavar='NAME[,NAME]',
                        help='op, linear; kernels, if named')
    parser.add_argument('-t', '--threads', type=threads_list, default=threads_list(THREADS), metavar='N[,N...]',
                        help=f'numbers of threads ({THREADS})')
    parser.add_argument('-s', '--seconds', type=duration, default=0.3, metavar='S', help='for each point and round')
    parser.add_argument('-r', '--repeat', type=whole(1, 1000), default=5, metavar='N', help='rounds (5)')
    parser.add_argument('--rows', metavar='FILE', help='rows of kernels, as leat-bench --list-rows prints them')
    parser.add_argument('--warmup', type=duration, default=0.5, metavar='S', help='load before each row (0.5)')
    parser.add_argument('--seed', type=whole(0, 2 ** 32 - 1), default=random.randrange(2 ** 32), metavar='N',
                        help='order of the rows (drawn, and written down)')
    parser.add_argument('--clock-command', metavar='CMD', help='prints the clock in MHz, run beside each row')
    args = parser.parse_args(argv)
    if 'kernels' in args.only:
        if args.rows is None:
            parser.error('kernels needs --rows FILE, which leat-bench --list-rows prints')
        try:
            args.rows = peer_kernels.read_rows(args.rows)
        except ValueError as error:
            parser.error(f'--rows: {error}')
    return args


class Worker(threading.Thread):
    """One thread: warms up, waits for the common start, runs until the time is over, checks."""

    def __init__(self, torch, make, seconds, gate):
        super().__init__()
        self.torch, self.make, self.seconds, self.gate = torch, make, seconds, gate
        self.times, self.runs, self.end, self.cpu, self.failure = [], 0, 0.0, 0.0, None

    def run(self):
        try:
            stream = self.torch.cuda.Stream()
            with self.torch.cuda.stream(stream), self.torch.inference_mode():
                once, check = self.make(stream)
                until = time.perf_counter() + self.seconds / 5
                for i in range(1 << 30):
                    if i >= 3 and time.perf_counter() >= until:
                        break
                    once()
                self.gate.wait()
                self.measure(once)
                check()
        except Exception as error:
            self.failure = f'{type(error).__name__}: {error}'
            self.gate.abort()

    def measure(self, once):
        cpu = time.thread_time()
        before = time.perf_counter()
        until = before + self.seconds
        while before < until:
            once()
            now = time.perf_counter()
            self.times.append(now - before)
            before = now
        self.runs, self.end, self.cpu = len(self.times), before, time.thread_time() - cpu


def same(torch, got, wanted, tolerance):
    if not torch.allclose(got, wanted, rtol=0, atol=tolerance):
        raise ValueError(f'wrong result, off by {(got - wanted).abs().max().item()}')


def make_op(torch, stream):
    x = (torch.arange(1024, device='cuda', dtype=torch.float32) * 37 % 201 - 100) / 4
    y = torch.empty_like(x)
    stream.synchronize()

    def once():
        torch.clamp_min(x, 0, out=y)
        stream.synchronize()

    def check():
        same(torch, y.cpu(), x.cpu().relu(), 0)
        x.neg_()
        once()
        same(torch, y.cpu(), x.cpu().relu(), 0)

    return once, check


def make_relu(torch, stream):
    x = (torch.arange(1024, device='cuda', dtype=torch.float32) * 37 % 201 - 100) / 4
    kept = []
    stream.synchronize()

    def once():
        kept[:] = [torch.relu(x)]
        stream.synchronize()

    def check():
        same(torch, kept[0].cpu(), x.cpu().relu(), 0)

    return once, check


def linear_parts(torch):
    torch.manual_seed(0)
    layer = torch.nn.Linear(256, 128).eval()
    x = torch.randn(4, 256)
    wanted = torch.nn.functional.linear(x.double(), layer.weight.double(), layer.bias.double()).detach()
    # Each element sums 257 numbers: at most 258 roundings of 2^-24 of the sum of absolute values, twice for their own.
    size = torch.nn.functional.linear(x.double().abs(), layer.weight.double().abs(), layer.bias.double().abs())
    return layer.cuda(), x, wanted, 2 * 258 * 2.0 ** -24 * size.max().item()


def make_resident(torch, stream):
    layer, x, wanted, tolerance = linear_parts(torch)
    x = x.cuda()
    kept = []
    stream.synchronize()

    def once():
        kept[:] = [layer(x)]
        stream.synchronize()

    return once, lambda: same(torch, kept[0].cpu().double(), wanted, tolerance)


def make_host(torch, stream):
    layer, x, wanted, tolerance = linear_parts(torch)
    x = x.pin_memory()
    y = torch.empty(4, 128).pin_memory()
    stream.synchronize()

    def once():
        y.copy_(layer(x.to('cuda', non_blocking=True)), non_blocking=True)
        stream.synchronize()

    return once, lambda: same(torch, y.double(), wanted, tolerance)


def percentile(values, percent):
    """By nearest rank, as leat-bench has it."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def sample(torch, make, threads, seconds):
    """Runs a second, p50, p99, CPU time of the process and of the threads, each of a run and in us, in one round."""
    start = []
    gate = threading.Barrier(threads, action=lambda: start.append((time.perf_counter(), time.process_time())))
    workers = [Worker(torch, lambda stream: make(torch, stream), seconds, gate) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = time.process_time()
    failures = [worker.failure for worker in workers if worker.failure]
    if failures:
        # The barrier breaks for the others; who broke it says why.
        raise RuntimeError(next((f for f in failures if 'BrokenBarrier' not in f), failures[0]))
    runs = sum(worker.runs for worker in workers)
    times = [value for worker in workers for value in worker.times]
    return (runs / (max(worker.end for worker in workers) - start[0][0]), percentile(times, 50) * 1e6,
            percentile(times, 99) * 1e6, (spent - start[0][1]) * 1e6 / runs,
            sum(worker.cpu for worker in workers) * 1e6 / runs)


def point(measurement, variant, threads, samples):
    rates, p50, p99, cpu, own = (list(column) for column in zip(*samples))
    return {'measurement': measurement, 'variant': variant, 'setting': None, 'threads': threads, 'unit': 'runs/s',
            'median': statistics.median(rates), 'lowest': min(rates), 'highest': max(rates), 'samples': rates,
            'p50_us': statistics.median(p50), 'p99_us': statistics.median(p99), 'cpu_us': statistics.median(cpu),
            'thread_cpu_us': statistics.median(own), 'p50_us_samples': p50, 'p99_us_samples': p99,
            'cpu_us_samples': cpu, 'thread_cpu_us_samples': own, 'facts': {}}


LINES = {
    'op': [('PyTorch relu', make_relu), ('PyTorch clamp, out given', make_op)],
    'linear': [('PyTorch, host to host', make_host), ('PyTorch, on the device', make_resident)],
}


def measure_teams(torch, args, threads):
    """Points of what teams of threads do. RuntimeError: one failed, or a result was wrong."""
    samples = {}
    for _ in range(args.repeat):
        for name in args.only:
            for variant, make in LINES.get(name, ()):
                try:
                    taken = sample(torch, make, threads, args.seconds)
                except RuntimeError as error:
                    raise RuntimeError(f'{variant}, {threads} threads: {error}') from None
                samples.setdefault((name, variant), []).append(taken)
    return [point(name, variant, threads, taken) for (name, variant), taken in samples.items()]


def report(torch, points, options):
    device = {'name': torch.cuda.get_device_name(), 'driver': f'PyTorch {torch.__version__}, CUDA {torch.version.cuda}'}
    date = datetime.datetime.now(datetime.timezone.utc).isoformat()
    print(json.dumps({'tool': 'peers.py', 'date': date, 'device': device, 'options': options, 'points': points}),
          flush=True)


def main():
    args = arguments()
    try:
        import torch
    except ImportError as error:
        print(f'peers.py: {error}; it needs PyTorch with CUDA in its Python ({sys.executable})', file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print('peers.py: this PyTorch finds no CUDA device', file=sys.stderr)
        return 2
    torch.backends.cuda.matmul.allow_tf32 = False
    options = {'seconds': args.seconds, 'repeat': args.repeat}
    try:
        if set(args.only) & set(TEAMS):
            for threads in args.threads:
                report(torch, measure_teams(torch, args, threads), options)
        if 'kernels' in args.only:
            options.update(load=args.warmup, seed=args.seed)
            report(torch, peer_kernels.measure(torch, args.rows, args), options)
    except (RuntimeError, ValueError) as error:
        print(f'peers.py: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
