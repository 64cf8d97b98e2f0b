// SPDX-License-Identifier: BSD-3-Clause
// Where what belongs to a batch of a matrix product begins; the arguments are those of gemm_args.glsl.
#ifndef LEAT_GEMM_BATCH_GLSL_
#define LEAT_GEMM_BATCH_GLSL_

struct BatchOffsets {
  int a, b, residual; // elements
};
BatchOffsets offsets_of(uint batch) {
  BatchOffsets r = BatchOffsets(0, 0, 0);
  if (args.batch_rank == 0) {
    return r;
  }
  uint rest = batch;
  for (int d = int(args.batch_rank) - 1; d > 0; --d) {
    const uint next = rest / args.batch_shape[d];
    const int index = int(rest - next * args.batch_shape[d]);
    r.a += index * args.a_batch[d];
    r.b += index * args.b_batch[d];
    r.residual += index * args.residual_batch[d];
    rest = next;
  }
  // What is left is the index of the first dimension, which takes no division.
  r.a += int(rest) * args.a_batch[0];
  r.b += int(rest) * args.b_batch[0];
  r.residual += int(rest) * args.residual_batch[0];
  return r;
}

int bias_of_batch(uint batch) {
  return int(batch - divide(batch, args.per_period) * args.bias_period) * args.bias_batch;
}

#endif
