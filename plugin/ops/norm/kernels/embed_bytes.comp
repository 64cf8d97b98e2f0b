#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Lines of two or three tables of bytes that stand for floats, which indices name, added up: a workgroup for each row.
// Of a sequence the elements of its mask that are 1 are counted.
#include "core/kernels/leat.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t ids, segments; // segments: 0 for none
  uint64_t words, places, kinds;
  uint64_t scales[3], zeros[3];
  uint64_t mask, sums, counts; // 0 for none, of mask and counts
  uint rows, columns, sequence;
  uint lines[3];
  uint sign; // of a byte; 0: it has none
};
LEAT_ARGS

shared uint ones;

// Where the line begins that an index names, a negative one from the end; -1: there is none, which counts as zeros.
int line_of(int index, uint lines) {
  const int line = index < 0 ? index + int(lines) : index;
  return line >= 0 && line < int(lines) ? int(uint(line) * args.columns) : -1;
}

int number_of(uint byte) { return int(byte ^ args.sign) - int(args.sign); }

struct Table {
  float scale;
  int zero;
};
Table table_of(uint64_t scale, uint64_t zero) {
  return Table(F32(scale).v[0], number_of(uint(U8(zero).v[0])));
}
float float_of(Table table, uint64_t bytes, int line, uint column) {
  return line >= 0 ? float(number_of(uint(U8(bytes).v[uint(line) + column])) - table.zero) * table.scale : 0;
}

void main() {
  const uint row = leat_linear_group();
  if (row >= args.rows) {
    return;
  }
  const int word = line_of(I32(args.ids).v[row], args.lines[0]);
  const int place = line_of(int(row % args.sequence), args.lines[1]);
  const Table words = table_of(args.scales[0], args.zeros[0]), places = table_of(args.scales[1], args.zeros[1]);
  int kind = -1;
  Table kinds = Table(0, 0);
  if (args.segments != 0) {
    kind = line_of(I32(args.segments).v[row], args.lines[2]);
    kinds = table_of(args.scales[2], args.zeros[2]);
  }
  for (uint column = gl_LocalInvocationIndex; column < args.columns; column += 256) {
    F32(args.sums).v[row * args.columns + column] =
        (float_of(words, args.words, word, column) + float_of(places, args.places, place, column)) +
        float_of(kinds, args.kinds, kind, column);
  }
  if (args.counts == 0 || row % args.sequence != 0) {
    return;
  }
  if (gl_LocalInvocationIndex == 0) {
    ones = 0;
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; args.mask != 0 && i < args.sequence; i += 256) {
    if (I32(args.mask).v[row + i] == 1) {
      atomicAdd(ones, 1);
    }
  }
  barrier();
  if (gl_LocalInvocationIndex == 0) {
    I32(args.counts).v[row / args.sequence] = int(ones);
  }
}
