// SPDX-License-Identifier: BSD-3-Clause
// Elements of matrices of float32 or float64, and blocks of them by strides, of which any may be negative.
#ifndef LEAT_MATRIX_GLSL_
#define LEAT_MATRIX_GLSL_

#include "core/kernels/divider.glsl"
#include "core/kernels/leat.glsl"

#if defined(DOUBLE)
#define Scalar double
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Scalars { double v[]; };
#else
#define Scalar float
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Scalars { float v[]; };
#endif

// Rows and columns of a block (ops/linalg/matrix_block.h).
#define BLOCK 32

// A block of each matrix of a batch: element 0 of the tensor, and in elements where the first of the block is, and from
// there to the next row, column and matrix.
struct Block {
  uint64_t tensor;
  int begin, row, column, matrix;
};

int place(Block b, uint matrix, uint row, uint column) {
  return b.begin + int(matrix) * b.matrix + int(row) * b.row + int(column) * b.column;
}

Scalar element(Block b, uint matrix, uint row, uint column) { return Scalars(b.tensor).v[place(b, matrix, row, column)]; }

void set_element(Block b, uint matrix, uint row, uint column, Scalar x) {
  Scalars(b.tensor).v[place(b, matrix, row, column)] = x;
}

// Whether nothing is to be computed of a matrix: what `info`, if it is there, says of it is not 0. A driver may read
// before it looks at a condition that all threads share, so there is something to read in its place: a block.
bool is_refused(uint64_t info, uint matrix, Block instead) {
  const int said = I32(info != 0 ? info : instead.tensor).v[matrix];
  return info != 0 && said != 0;
}

#endif
