#version 460
// SPDX-License-Identifier: BSD-3-Clause
// TensorScatter: rows of an update go into those of a cache, of each batch from a row of its own on. A cache that is
// written where it was read has all other rows already. Rows that would go beyond the cache are left out.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"
#include "core/kernels/finding.glsl"

LEAT_CONSTANT(bool, place_is_told, false);  // if it is out of range

layout(local_size_x = 256) in;

struct Args {
  uint64_t past, fresh, at, to;  // compact; `at`: the first row by batch, or 0
  uint count, fresh_count;       // items of the cache and of the update
  uint inner;                    // items of a row
  uint rows, fresh_rows;
  uint heads;                    // caches of a batch
  uint circular;
  uint64_t finding;
};
LEAT_ARGS

// The row of the cache that the update of a batch begins at; -1: there is none.
int first_row(uint batch) {
  if (args.at == uint64_t(0)) return 0;
  int64_t x = load_I64(args.at + uint64_t(batch) * 8u), rows = int64_t(args.rows);
  bool circular = args.circular != 0u;
  uint last = circular ? 0xffffffffu : args.rows - args.fresh_rows;
  bool inside = x >= int64_t(0) && (circular || x <= int64_t(last));
  if (place_is_told && !inside) finding_tell(args.finding, x, last);
  return x < int64_t(0) || (!circular && x >= rows) ? -1 : int(x % rows);
}

void main() {
  bool in_place = args.past == args.to;
  uint items = in_place ? args.fresh_count : args.count, rows = in_place ? args.fresh_rows : args.rows;
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < items; ++n, item += 256u) {
    uint line = item / args.inner, cache = line / rows, rest = item - line * args.inner;
    int row = int(line - cache * rows), first = first_row(cache / args.heads);
    if (in_place) {
      int to = first + row;
      to -= args.circular != 0u && to >= int(args.rows) ? int(args.rows) : 0;
      if (first >= 0 && to < int(args.rows)) {
        item_store(item_at(args.to, int((cache * args.rows + uint(to)) * args.inner + rest)),
                   item_load(item_at(args.fresh, int(item))));
      }
    } else {
      int from = row - first;
      from += args.circular != 0u && from < 0 ? int(args.rows) : 0;
      bool fresh = first >= 0 && from >= 0 && from < int(args.fresh_rows);
      item_store(item_at(args.to, int(item)),
                 item_load(fresh ? item_at(args.fresh,
                                           int((cache * args.fresh_rows + uint(from)) * args.inner + rest))
                                 : item_at(args.past, int(item))));
    }
  }
}
