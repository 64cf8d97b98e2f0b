#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares ONNX Runtime's operators of attention (domain com.microsoft) on Leat with NumPy in float64, and with its CPU
provider where that has the form: what is projected, packed, masked, cached and normalised.

usage: attention_tests.py LIBRARY

No model may leave a node to the CPU provider. Exit status: 0, or 1 if an answer is wrong, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

# A query without a key has scores of -1e4, which float32 rounds by 5e-4, and so are its weights, which add up to 1, of
# values up to 3; all else is smaller. Of float16 keys, values and what is added to scores are rounded, by 2^-11 of up
# to 8, which makes 1e-2 of the weights of scores up to 3, and results of up to 2.
TOLERANCE = {np.float32: 1.5e-3, np.float16: 2e-2}
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}
FILTER = -10000.0
B, S, L, N, H, P, D = 2, 5, 7, 3, 8, 4, 10
rng = np.random.default_rng(3)


def draw(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).clip(-3, 3).astype(np.float32)


def flags(*shape):
    return (rng.random(shape) > 0.4).astype(np.int32)


def heads(x):
    return x.reshape(*x.shape[:2], N, -1).transpose(0, 2, 1, 3)


def side_by_side(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def scores(q, k, added=0.0, scale=None):
    return np.einsum("bhsd,bhtd->bhst", q, k) * (scale or q.shape[-1] ** -0.5) + added


def attend(q, k, v, added=0.0, scale=None):
    s = scores(q, k, added, scale)
    weights = np.exp(s - s.max(-1, keepdims=True))
    return side_by_side(weights / weights.sum(-1, keepdims=True) @ v)


def off(keep):
    return np.where(keep, 0.0, FILTER)


def causal(queries, keys, past=0):
    return np.where(np.arange(keys) > np.arange(queries)[:, None] + past, -np.inf, 0.0)


def behind(past, new):
    return np.concatenate([past, new], 2)


class Case:
    """One call: `wanted` is what it gives, by float64, None where nobody asks; `cpu`, whether the CPU provider has it;
    `host`, inputs that are known when the model is made; `single`, those that are float32 whatever the rest is;
    `shared`, whether the CPU provider has to give keys and values in the memory of the past ones, inputs 3 and 4."""

    def __init__(self, name, operator, inputs, attributes, wanted, cpu=True, host=(), single=(), shared=False):
        self.shared = shared
        self.name, self.operator, self.inputs, self.attributes = name, operator, inputs, attributes
        self.single = {f"i{i}" for i in single}
        self.outputs = ["" if x is None else f"o{i}" for i, x in enumerate(wanted)]
        self.wanted, self.cpu, self.host = [x for x in wanted if x is not None], cpu, host

    def model(self, floats):
        names = ["" if x is None else f"i{i}" for i, x in enumerate(self.inputs)]
        given = {name: x.astype(floats) if x.dtype == np.float32 and name not in self.single else x
                 for name, x in zip(names, self.inputs) if x is not None}
        node = helper.make_node(self.operator, names, self.outputs, domain="com.microsoft", **self.attributes)
        host = {f"i{i}" for i in self.host}
        graph = helper.make_graph(
            [node], "attention", [helper.make_tensor_value_info(name, TYPES[x.dtype], x.shape)
                                  for name, x in given.items() if name not in host],
            [helper.make_tensor_value_info(name, TYPES[x.dtype if x.dtype.kind in "iu" else np.dtype(floats)],
                                           [None] * x.ndim)
             for name, x in zip([name for name in self.outputs if name], self.wanted)],
            [helper.make_tensor(name, TYPES[x.dtype], x.shape, x) for name, x in given.items() if name in host])
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=9).SerializeToString()
        return model, {name: x for name, x in given.items() if name not in host}

    def error(self, got, wanted):
        """How far off an answer is. Behind the last position a cache may have anything, and so may what is padding: NaN
        is wanted there."""
        if self.host:
            got, wanted = ([x[:, :, :w.shape[2]] if w.ndim == 4 else x for x, w in zip(answer, self.wanted)]
                           for answer in (got, wanted))
        if any(g.shape != w.shape for g, w in zip(got, wanted)):
            return np.inf
        known = [~np.isnan(w) for w in self.wanted]
        if self.host:
            known = [x[:, :, :w.shape[2]] if w.ndim == 4 else x for x, w in zip(known, self.wanted)]
        return max(np.abs(g.astype(np.float64) - w)[k].max(initial=0) for g, w, k in zip(got, wanted, known))


def projected():
    """Attention, whose input is projected."""
    x, w, b = draw(B, S, D), draw(D, 3 * N * H, scale=0.3), draw(3 * N * H, scale=0.3)
    q, k, v = (heads(part) for part in np.split(x.astype(np.float64) @ w + b, 3, -1))
    keys = np.arange(S)

    def case(name, wanted, *more, cpu=True, host=(), **attributes):
        return Case(name, "Attention", [x, w, b, *more], {"num_heads": N, **attributes}, wanted, cpu, host)

    yield case("plain", [attend(q, k, v)])
    yield case("scale", [attend(q, k, v, scale=0.3)], scale=0.3)
    yield case("unidirectional", [attend(q, k, v, causal(S, S))], unidirectional=1)
    yield Case("no_bias", "Attention", [x, w], {"num_heads": N},
               [attend(*(heads(part) for part in np.split(x.astype(np.float64) @ w, 3, -1)))])
    ends, starts = np.array([3, 0]), np.array([1, 2])
    yield case("ends", [attend(q, k, v, off(keys < ends[:, None])[:, None, None])], ends.astype(np.int32))
    both = np.array([4, 5])
    between = (keys < both[:, None]) & (keys >= starts[:, None])
    yield case("ends_and_starts", [attend(q, k, v, off(between)[:, None, None])],
               np.concatenate([both, starts]).astype(np.int32))
    yield case("ends_of_3b2", [attend(q, k, v, off(keys < ends[:, None])[:, None, None])],
               np.array([*ends, 0, 5, 10, 0, 5, 10], np.int32))
    mask = flags(B, S)
    mask[0, :2] = -1, 2
    yield case("mask_of_keys", [attend(q, k, v, off(mask > 0)[:, None, None])], mask)
    yield case("mask_of_keys_unidirectional", [attend(q, k, v, off(mask > 0)[:, None, None] + causal(S, S))], mask,
               unidirectional=1)
    yield case("mask_filter_value", [attend(q, k, v, np.where(mask > 0, 0, -2.0)[:, None, None])], mask,
               mask_filter_value=-2.0)
    yield case("no_key", [attend(q, k, v, FILTER)], mask * 0)
    mask = flags(B, S, S)
    yield case("mask_of_scores", [attend(q, k, v, off(mask > 0)[:, None])], mask)
    mask = flags(B, 1, 9, 9)
    yield case("mask_of_positions", [attend(q, k, v, off(mask[:, :, :S, :S] > 0))], mask, cpu=False)
    yield case("mask_of_one", [attend(q, k, v)], np.zeros((B, 1), np.int32))
    added, mask = draw(B, 1, S, S), flags(B, S)
    yield case("added", [attend(q, k, v, added)], None, None, added)
    yield case("added_and_mask", [attend(q, k, v, added + off(mask > 0)[:, None, None])], mask, None, added)
    past = draw(2, B, N, P, H)
    both = np.stack([behind(past[0], k), behind(past[1], v)])
    yield case("past", [attend(q, *both), both], None, past)
    yield case("present_alone", [attend(q, k, v), np.stack([k, v])])
    yield case("past_unidirectional", [attend(q, *both, causal(S, P + S, P)), both], None, past, unidirectional=1)
    mask = flags(B, 1, 12, 12)
    own = off(mask[:, :, P:P + S, :P + S] > 0)
    yield case("past_and_mask_of_positions", [attend(q, *both, own), both], mask, past, cpu=False)
    room = draw(2, B, N, P + S, H)
    whole = np.stack([behind(room[0][:, :, :P], k), behind(room[1][:, :, :P], v)])
    yield case("shared", [attend(q, *whole), whole], None, room, None, np.array([P], np.int32), cpu=False, host=[6],
               past_present_share_buffer=1)
    w, b = draw(D, 2 * N * H + N * 4, scale=0.3), draw(2 * N * H + N * 4, scale=0.3)
    q, k, v = (heads(part) for part in np.split(x.astype(np.float64) @ w + b, [N * H, 2 * N * H], -1))
    yield Case("qkv_hidden_sizes", "Attention", [x, w, b], {"num_heads": N, "qkv_hidden_sizes": [N * H, N * H, N * 4]},
               [attend(q, k, v)])


def multi_head():
    """MultiHeadAttention, whose queries, keys and values are apart or packed."""
    query, key, value, bias = draw(B, S, N * H), draw(B, L, N * H), draw(B, L, N * H), draw(3 * N * H)
    q, k, v = (heads(x.astype(np.float64)) for x in (query, key, value))
    qb, kb, vb = (heads(x.astype(np.float64) + y) for x, y in zip((query, key, value), np.split(bias, 3)))
    keys = np.arange(L)

    def case(name, wanted, *inputs, cpu=True, host=(), **attributes):
        return Case(name, "MultiHeadAttention", list(inputs), {"num_heads": N, **attributes}, wanted, cpu, host)

    yield case("bias", [attend(qb, kb, vb)], query, key, value, bias)
    ends = np.array([3, 0])
    yield case("ends", [attend(q, k, v, off(keys < ends[:, None])[:, None, None])], query, key, value, None,
               ends.astype(np.int32))
    yield case("ends_of_3b2", [attend(q, k, v, off(keys < ends[:, None])[:, None, None])], query, key, value, None,
               np.array([*ends, 0, 5, 10, 0, 7, 14], np.int32))
    mask = flags(B, L)
    yield case("mask_of_keys", [attend(qb, kb, vb, off(mask > 0)[:, None, None])], query, key, value, bias, mask)
    mask, added = flags(B, S, L), draw(1, N, S, L)
    yield case("mask_of_scores", [attend(q, k, v, off(mask > 0)[:, None] + added)], query, key, value, None, mask,
               added)
    yield case("apart", [attend(q, k, v)], query, k.astype(np.float32), v.astype(np.float32))
    yield case("apart_with_bias", [attend(qb, k, v), k, v], query, k.astype(np.float32), v.astype(np.float32), bias)
    added, mask = draw(1, N, S, L), flags(B, L)
    yield case("scores", [attend(qb, kb, vb, added), None, None, scores(qb, kb, added)], query, key, value, bias, None,
               added)
    filtered = np.where(mask > 0, 0, -8.0)[:, None, None]
    yield case("scores_masked", [attend(q, k, v, filtered), None, None, scores(q, k, filtered)], query, key, value,
               None, mask, mask_filter_value=-8.0)
    yield case("scores_of_encoder", [attend(qb, k, v), None, None, scores(qb, k)], query, k.astype(np.float32),
               v.astype(np.float32), bias)
    qkv = draw(B, S, N, 3, H)
    own = [qkv[:, :, :, i].transpose(0, 2, 1, 3).astype(np.float64) for i in range(3)]
    own_biased = [x + y.reshape(1, N, 1, H) for x, y in zip(own, np.split(bias, 3))]
    yield case("packed", [attend(*own)], qkv, cpu=False)
    yield case("packed_with_bias", [attend(*own_biased, causal(S, S))], qkv, None, None, bias, cpu=False,
               unidirectional=1)
    kv = draw(B, L, N, 2, H)
    own = [kv[:, :, :, i].transpose(0, 2, 1, 3).astype(np.float64) for i in range(2)]
    yield case("packed_keys", [attend(q, *own)], query, kv, cpu=False)
    past, past_mask = [draw(B, N, P, H) for _ in range(2)], flags(B, P + L)
    both = [behind(past[0], kb), behind(past[1], vb)]
    yield case("past", [attend(qb, *both, off(past_mask > 0)[:, None, None]), *both], query, key, value, bias,
               past_mask, None, *past)
    one = [draw(B, 1, N * H) for _ in range(3)]
    q, k, v = (heads(x.astype(np.float64)) for x in one)
    number = np.array([P], np.int32)
    room, added = [draw(B, N, 12, H) for _ in range(2)], draw(1, N, 1, P + 1)
    used = [behind(x[:, :, :P], y) for x, y in zip(room, (k, v))]
    yield case("shared", [attend(q, *used, added), *used], *one, None, None, added, *room, number, host=[8])
    beams = np.zeros((1, 2, 12), np.int32)
    beams[0, :, :P] = [[1, 0, 0, 1], [0, 1, 0, 1]]
    taken = [np.stack([np.stack([x[beams[0, b, t], :, t] for t in range(P)], 1) for b in range(2)]) for x in room]
    own = [behind(x, y) for x, y in zip(taken, (k, v))]
    yield case("beams", [attend(q, *own), *used], *one, None, None, None, *room, number, beams, host=[8])


def group_query():
    """GroupQueryAttention: norms of queries and keys, which the CPU provider has not, and keys that come later."""
    groups = 2
    query, key, value = draw(1, S, N * groups * H), draw(1, S, groups * H), draw(1, S, groups * H)
    past, norms = [draw(1, groups, P, H) for _ in range(2)], [draw(H) for _ in range(2)]
    q, k, v = (x.reshape(1, S, -1, H).transpose(0, 2, 1, 3).astype(np.float64) for x in (query, key, value))

    def of(wanted_q, wanted_k, added):
        both = [behind(past[0], wanted_k), behind(past[1], v)]
        return [attend(wanted_q, *(x.repeat(N, 1) for x in both), added), *both]

    def case(name, wanted, *more, cpu=True, **attributes):
        return Case(name, "GroupQueryAttention",
                    [query, key, value, *past, np.array([P + S - 1], np.int32), np.array(P + S, np.int32), *more],
                    {"num_heads": N * groups, "kv_num_heads": groups, **attributes}, wanted, cpu, [6])

    def norm(x, weights):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weights

    yield case("causal", of(q, k, causal(S, P + S, P)))
    yield case("not_causal", of(q, k, 0.0), causal=0)
    yield case("norms", of(norm(q, norms[0]), norm(k, norms[1]), causal(S, P + S, P)), *[None] * 7, *norms, cpu=False)


def evicting():
    """GroupQueryAttention whose cache has room for a window: prompts and what goes on from them, by many positions."""
    groups = 2
    for name, window, capacity, before, new in (("prompt", 3, 4, 0, S), ("short_prompt", 5, P + S, 0, S),
                                                ("one", 4, 4, 9, 1), ("slack", 3, 6, 11, 1), ("several", 3, 4, 9, S),
                                                ("nothing", 3, 12, 5, 1), ("not_yet", 3, 10, 5, S),
                                                ("from_now_on", 3, 10, 6, S)):
        total = before + new

        def resident(count, window=window, capacity=capacity):
            step = capacity - window + 1
            return count - step * max(0, -(-(count - capacity) // step))

        query = draw(1, new, N * groups * H)
        keys, values = (draw(1, groups, total, H) for _ in range(2))
        past = [np.full((1, groups, capacity, H), 7, np.float32) for _ in range(2)]
        for cache, x in zip(past, (keys, values)):
            cache[:, :, :resident(before)] = x[:, :, before - resident(before):before]
        seen = np.arange(total) - np.arange(before, total)[:, None]
        added = np.where((seen > 0) | (seen <= -window), -np.inf, 0.0)
        q = query.reshape(1, new, -1, H).transpose(0, 2, 1, 3).astype(np.float64)
        wanted = [attend(q, *(x.repeat(N, 1) for x in (keys, values)), added),
                  *(x[:, :, total - resident(total):] for x in (keys, values))]
        yield Case(f"evicting_{name}", "GroupQueryAttention",
                   [query, *(side_by_side(x[:, :, before:]) for x in (keys, values)), *past,
                    np.array([total - 1], np.int32), np.array(total, np.int32)],
                   {"num_heads": N * groups, "kv_num_heads": groups, "local_window_size": window,
                    "sliding_window_cache": 1}, wanted, True, [6])


def coded():
    """GroupQueryAttention whose caches are codes: int8, or two of 4 bits in a byte, with a scale for all or for each
    element of a head. Keys and values are such that float16 has them, so that both types find the same codes."""
    groups = 2
    for bits, by_channel, before in ((8, False, P), (8, True, P), (4, False, P), (4, True, P), (8, True, 0)):
        most = 2 ** (bits - 1)
        query = draw(1, S, N * groups * H)
        new = [draw(1, S, groups * H).astype(np.float16).astype(np.float32) for _ in range(2)]
        scales = [((0.5 + rng.random((1, groups, 1, H) if by_channel else 1)) * 3 / most).astype(np.float32)
                  for _ in range(2)]
        past = [rng.integers(-most, most, (1, groups, before, H)) for _ in range(2)]
        codes = [behind(x, np.rint(y.reshape(1, S, groups, H).transpose(0, 2, 1, 3) / z).clip(-most, most - 1))
                 for x, y, z in zip(past, new, scales)]

        def packed(x, bits=bits):
            x = x.astype(np.int32)
            return x.astype(np.int8) if bits == 8 else (x[..., ::2] + 8 | x[..., 1::2] + 8 << 4).astype(np.uint8)

        q = query.reshape(1, S, -1, H).transpose(0, 2, 1, 3).astype(np.float64)
        both = [(x * y.astype(np.float64)).repeat(N, 1) for x, y in zip(codes, scales)]
        kind = "PER_CHANNEL" if by_channel else "PER_TENSOR"
        yield Case(f"codes_{bits}_{kind.lower()}_{before}", "GroupQueryAttention",
                   [query, *new, *(packed(x) for x in past), np.array([before + S - 1], np.int32),
                    np.array(before + S, np.int32), *[None] * 5, *scales],
                   {"num_heads": N * groups, "kv_num_heads": groups, "k_quant_type": kind, "v_quant_type": kind,
                    "kv_cache_bit_width": bits},
                   [attend(q, *both, causal(S, before + S, before)), *(packed(x) for x in codes)], True, [6], (12, 13))


def padded_chunks():
    """GroupQueryAttention of batches that have fewer new positions than there is room for, or none."""
    groups, room, before, valid = 2, 12, np.array([5, 0, 6]), np.array([2, 3, 0])
    query, past = draw(3, 3, N * groups * H), [draw(3, groups, room, H) for _ in range(2)]
    new = [draw(3, 3, groups * H) for _ in range(2)]
    wanted = [np.full(query.shape, np.nan), *(np.full(x.shape, np.nan) for x in past)]
    for b, (p, v) in enumerate(zip(before, valid)):
        both = [behind(x[b:b + 1, :, :p], y[b:b + 1, :v].reshape(1, v, groups, H).transpose(0, 2, 1, 3))
                for x, y in zip(past, new)]
        q = query[b:b + 1, :v].reshape(1, v, N * groups, H).transpose(0, 2, 1, 3).astype(np.float64)
        wanted[0][b:b + 1, :v] = attend(q, *(x.repeat(N, 1) for x in both), causal(v, p + v, p)) if v else 0
        for x, y in zip(wanted[1:], both):
            x[b, :, :p + v] = y
    yield Case("padded", "GroupQueryAttention",
               [query, *new, *past, (before + valid - 1).astype(np.int32), np.array(room, np.int32), *[None] * 9,
                valid.astype(np.int32)], {"num_heads": N * groups, "kv_num_heads": groups}, wanted, True, [6])


def scored():
    """GroupQueryAttention with its scores, or the weights that they become, beside the result."""
    groups, window = 2, 4
    query, key, value = draw(1, S, N * groups * H), draw(1, S, groups * H), draw(1, S, groups * H)
    past, sinks, bias = [draw(1, groups, P, H) for _ in range(2)], draw(N * groups), draw(1, N * groups, S, P + S)
    q, k, v = (x.reshape(1, S, -1, H).transpose(0, 2, 1, 3).astype(np.float64) for x in (query, key, value))
    both = [behind(past[0], k), behind(past[1], v)]
    seen = np.arange(P + S) - np.arange(P, P + S)[:, None]
    own = (seen <= 0) & (seen > -window)
    s = np.where(own, scores(q, both[0].repeat(N, 1), bias), -np.inf)
    sink = np.broadcast_to(sinks[:, None, None], (1, N * groups, S, 1))
    weights = np.exp(np.concatenate([s, sink], -1))
    weights = (weights / weights.sum(-1, keepdims=True))[..., :-1]
    for form, third in ((1, np.where(own, s, 0.0)), (2, weights)):
        yield Case(f"scored_{form}", "GroupQueryAttention",
                   [query, key, value, *past, np.array([P + S - 1], np.int32), np.array(P + S, np.int32), None, None,
                    None, bias, sinks],
                   {"num_heads": N * groups, "kv_num_heads": groups, "qk_output": form, "local_window_size": window},
                   [side_by_side(weights @ both[1].repeat(N, 1)), *both, third], True, [6])


def sparse():
    """SparseAttention: prompts and single positions, whose queries have some blocks of the keys before them. The CPU
    provider reads weights of other places than it wrote where batches have different lengths, also if all blocks are
    taken (docs/limits.md)."""
    groups, size, block, room = 2, 16, 16, 64
    tables = np.array([[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]],
                       [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]])
    rows = np.array([[0, *table.sum(1).cumsum()] for table in tables], np.int32)
    columns = [np.nonzero(table)[1] for table in tables]
    columns = np.array([[*x, *[-1] * (max(map(len, columns)) - len(x))] for x in columns], np.int32)
    angles = rng.random((room, size // 2)) * 6
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    halves = N * groups // len(tables)

    def turned(x, positions):
        one, other = x[..., :size // 2], x[..., size // 2:]
        c, s = (y[positions][:, None].astype(np.float64) for y in (cosines, sines))
        return np.concatenate([one * c - other * s, one * s + other * c], -1)

    for name, lengths, fresh, rotates in (("prompt", [40], 40, 0), ("prompt_rotary", [50, 50], 50, 1),
                                          ("one", [50, 50], 1, 0), ("one_rotary", [40, 40], 1, 1),
                                          ("one_by_batch", [33, 50], 1, 0)):
        batch, ends = len(lengths), np.array(lengths)
        query, past = draw(batch, fresh, N * groups * size), [draw(batch, groups, room, size) for _ in range(2)]
        new = [draw(batch, fresh, groups * size) for _ in range(2)]
        q, k, v = (x.reshape(batch, fresh, -1, size).transpose(0, 2, 1, 3).astype(np.float64) for x in (query, *new))
        at = ends[:, None] - fresh + np.arange(fresh)
        if rotates:
            q, k = turned(q, at), turned(k, at)
        present = [x.astype(np.float64) for x in past]
        for b, end in enumerate(ends):
            for x, y in zip(present, (k, v)):
                x[b, :, end - fresh:end] = y[b]
        keys = np.arange(room)
        own = np.tile(tables[:, at // block][..., keys // block].transpose(1, 0, 2, 3), (1, halves, 1, 1)) > 0
        added = np.where(own & (keys <= at[..., None])[:, None], 0.0, -np.inf)
        wanted = [attend(q, *(x.repeat(N, 1) for x in present), added),
                  *(x[:, :, :ends.min()] for x in present)]
        yield Case(f"sparse_{name}", "SparseAttention",
                   [query, *new, *past, rows, columns, np.array([max(lengths)], np.int32), ends.astype(np.int32),
                    *([cosines, sines] if rotates else [])],
                   {"num_heads": N * groups, "kv_num_heads": groups, "sparse_block_size": block, "do_rotary": rotates},
                   wanted, len(set(lengths)) == 1, [7], shared=True)


def run_cpu(model, feeds, shared):
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    if not shared:
        return session.run(None, feeds)
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(x.copy()) for name, x in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    binding.bind_output("o0")
    for output, past in (("o1", "i3"), ("o2", "i4")):
        binding.bind_ortvalue_output(output, values[past])
    session.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()


def main():
    devices = on_leat.devices_of_command_line(__doc__.splitlines()[3])
    wrong, count, worst = 0, 0, {}
    for case in [*projected(), *multi_head(), *group_query(), *evicting(), *coded(), *padded_chunks(),
                 *scored(), *sparse()]:
        for floats in (np.float32, np.float16):
            model, feeds = case.model(floats)
            got = on_leat.session(model, devices).run(None, feeds)
            errors = [case.error(got, case.wanted)]
            if case.cpu and floats == np.float32:
                errors.append(case.error(got, run_cpu(model, feeds, case.shared)))
            count += 1
            worst[floats] = max(worst.get(floats, 0), *errors)
            if max(errors) > TOLERANCE[floats]:
                print(f"{case.operator}.{case.name} {np.dtype(floats)}: off by {errors}", file=sys.stderr)
                wrong += 1
    print(f"{count} calls, {wrong} wrong; off by", ", ".join(f"{e:.1e} ({np.dtype(t)})" for t, e in worst.items()))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
