#version 460
// SPDX-License-Identifier: BSD-3-Clause
// GatherND and ScatterND: an index tuple names a slice. A tuple with an index out of range reads 0 or writes nothing.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"
#include "index.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t data;     // compact, as are the others
  uint64_t indices;
  uint64_t other;    // the result of GatherND, the updates of ScatterND
  uint count;        // items of `other`
  uint inner;        // items of a slice
  uint tuple;        // indices that name a slice
  uint per_batch;    // slices that share a batch
  uint batch_items;  // items of the data in a batch
  uint dims[8];      // what the indices count
  uint strides[8];   // items
  uint64_t finding;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint slice = item / args.inner;
    int64_t offset = int64_t(item - slice * args.inner) + int64_t(slice / args.per_batch) * int64_t(args.batch_items);
    bool inside = true;
    for (uint k = 0u; k < args.tuple; ++k) {
      int64_t x = index_load(args.indices, slice * args.tuple + k, args.dims[k], args.finding);
      inside = inside && x >= int64_t(0);
      offset += max(x, int64_t(0)) * int64_t(args.strides[k]);
    }
#if defined(SCATTER)
    if (inside) item_store(item_at(args.data, offset), item_load(item_at(args.other, int(item))));
#else
    Item value = Item(0);
    if (inside) value = item_load(item_at(args.data, offset));
    item_store(item_at(args.other, int(item)), value);
#endif
  }
}
