#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws runs a second against threads from what leat-bench --json and peers.py wrote, as SVG.

Usage: plot.py [-o FILE] JSON...

Each file holds one JSON object, or one on each line. A panel is drawn for each of: trivial operator (with the floor),
linear layer, chains; those without points are left out. The same input gives the same file, byte for byte.
Needs the package of requirements.txt beside this file; ./dev bench --plot brings it.
"""
import argparse
import json
import os
import sys

# Title and measurements whose lines a panel takes; for a chain, the variant after it, so that lines are settings.
PANELS = [
    ('a trivial operator, run and waited for', ('floor', 'op')),
    ('linear layer 256 to 128, batch 4', ('linear',)),
    ('12 dependent operators of about 1 us', ('chain', '12 x 1 us')),
    ('12 dependent operators of about 7 us', ('chain', '12 x 7 us')),
    ('12 dependent operators of about 80 us', ('chain', '12 x 80 us')),
]


class BadInput(Exception):
    """A file that is not what it should be; the text says how."""


def documents(path):
    """The JSON objects of a file: one, or one on each line."""
    # A pipe or a device may have no end.
    if os.path.exists(path) and not os.path.isfile(path):
        raise BadInput(f'{path}: is not a file')
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read()
    except OSError as error:
        raise BadInput(f'{path}: {error.strerror}') from error
    try:
        try:
            found = [json.loads(text)]
        except json.JSONDecodeError:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise BadInput(f'{path}: is not JSON: {error}') from error
    for document in found:
        if not isinstance(document, dict) or not isinstance(document.get('points'), list):
            raise BadInput(f'{path}: has no "points"; wanted is what leat-bench --json or peers.py writes')
        device = document.get('device')
        if not isinstance(device, dict) or not all(isinstance(device.get(k), str) for k in ('name', 'driver')):
            raise BadInput(f'{path}: does not name its device')
    if not found:
        raise BadInput(f'{path}: is empty')
    return found


def lines_of(found, wanted):
    """Lines of a panel: label -> [(threads, median, lowest, highest)], in the order of the files."""
    lines = {}
    measurements, variant = (wanted, None) if wanted[0] != 'chain' else (wanted[:1], wanted[1])
    for document in found:
        ours = document.get('tool') == 'leat-bench'
        for point in document['points']:
            if point['measurement'] not in measurements or point['unit'] != 'runs/s':
                continue
            if variant is not None:
                if point['variant'] != variant:
                    continue
                label = point['setting'] or 'Leat'
            else:
                label = point['variant']
                if point['measurement'] == 'floor':
                    label = f'floor: {label}'
                elif label != 'floor' and ours:
                    label = f'Leat: {label}'
                if point['setting']:
                    label = f'{label}, {point["setting"]}'
            spread = (point['threads'], point['median'], point['lowest'], point['highest'])
            lines.setdefault(label, {})[point['threads']] = spread
    return {label: [points[threads] for threads in sorted(points)] for label, points in lines.items()}


def operator_us(found, variant):
    """What an operator of a chain took in each of the files, for the title."""
    taken = []
    for document in found:
        for point in document['points']:
            us = point.get('facts', {}).get('operator_us')
            if point['measurement'] == 'chain' and point['variant'] == variant and us is not None:
                text = f'{us:.1f}'
                if text not in taken:
                    taken.append(text)
    return f' (measured: {", ".join(taken)})' if taken else ''


def caption(found):
    """Each device with its driver once, then the days of measuring."""
    devices, days, builds = [], set(), []
    for document in found:
        device = f'{document["device"]["name"]}, {document["device"]["driver"]}'
        if device not in devices:
            devices.append(device)
        days.add(document.get('date', '')[:10])
        build = document.get('build_id')
        if build and build not in builds:
            builds.append(build)
    text = f'{"; ".join(devices)}; {", ".join(sorted(day for day in days if day))}'
    return text + (f'; Leat build {", ".join(builds)}' if builds else '')


def draw(found, path):
    import matplotlib
    matplotlib.use('svg')
    # Without these an SVG differs from run to run.
    matplotlib.rcParams['svg.hashsalt'] = 'leat'
    matplotlib.rcParams['svg.fonttype'] = 'none'
    from matplotlib import pyplot, ticker

    panels = []
    for title, wanted in PANELS:
        lines = lines_of(found, wanted)
        if lines:
            panels.append((title + (operator_us(found, wanted[1]) if wanted[0] == 'chain' else ''), lines))
    if not panels:
        raise BadInput('there are no runs/s of floor, op, linear or chain in these files')
    columns = min(len(panels), 2)
    rows = (len(panels) + columns - 1) // columns
    figure, axes = pyplot.subplots(rows, columns, figsize=(6.4 * columns, 4.2 * rows), squeeze=False)
    flat = [axis for row in axes for axis in row]
    for axis in flat[len(panels):]:
        axis.set_axis_off()
    for axis, (title, lines) in zip(flat, panels):
        for label, points in lines.items():
            threads, medians, lows, highs = zip(*points)
            plain = label.startswith('floor')
            drawn, = axis.plot(threads, medians, marker='o', markersize=3, linewidth=1.2, label=label,
                               linestyle='--' if plain else '-')
            axis.fill_between(threads, lows, highs, alpha=0.12, color=drawn.get_color(), linewidth=0)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel('threads')
        axis.set_ylabel('runs a second')
        axis.set_xticks(sorted({point[0] for points in lines.values() for point in points}))
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter('{x:,.0f}'))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.text(0.5, 0.005, caption(found), ha='center', fontsize=7)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, format='svg', metadata={'Date': None, 'Creator': None})


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description='Draws runs a second against threads as SVG.')
    parser.add_argument('json', nargs='+', metavar='JSON', help='what leat-bench --json or peers.py wrote')
    parser.add_argument('-o', '--output', default=os.path.join(root, 'docs', 'scaling.svg'),
                        help='the picture (docs/scaling.svg of this tree)')
    args = parser.parse_args()
    try:
        found = [document for path in args.json for document in documents(path)]
        draw(found, args.output)
    except BadInput as error:
        sys.exit(f'plot.py: {error}')
    except KeyError as error:
        sys.exit(f'plot.py: a point lacks {error}; wanted is what leat-bench --json or peers.py writes')
    except ImportError as error:
        sys.exit(f'plot.py: {error}; ./dev bench --plot brings what it needs (tools/bench/requirements.txt)')
    print(args.output)


if __name__ == '__main__':
    main()
