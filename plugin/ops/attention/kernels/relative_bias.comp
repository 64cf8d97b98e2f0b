#version 460
// SPDX-License-Identifier: BSD-3-Clause
// What is added to scores by the distance of a key from a query: y[head, query, key] = table[head, bucket].
#include "core/kernels/leat.glsl"
#include "core/kernels/item.glsl"
#include "core/kernels/divider.glsl"

layout(local_size_x = 256) in;
#define SHARED_MAX 64

// The C struct is bias_args in ops/attention/relative_bias.c.
struct Args {
  uint64_t table, y;
  uint count, queries, keys, buckets;
  uint half_buckets;
  uint exact, shared_buckets;
  uint from[SHARED_MAX];
  Divider per_keys, per_queries;
};
LEAT_ARGS

void main() {
  const uint item = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (item >= args.count) {
    return;
  }
  const uint row = divide(item, args.per_keys), key = item - row * args.keys;
  const uint head = divide(row, args.per_queries), query = row - head * args.queries;
  const bool behind = key > query;
  const uint far = behind ? (args.half_buckets != 0 ? key - query : 0) : query - key;
  uint bucket = min(far, args.exact);
  for (uint i = 0; i < args.shared_buckets && far >= args.from[i]; ++i) {
    ++bucket;
  }
  bucket += behind ? args.half_buckets : 0;
  item_store(item_at(args.y, int(item)), item_load(item_at(args.table, int(head * args.buckets + bucket))));
}
