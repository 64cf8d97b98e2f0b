// SPDX-License-Identifier: BSD-3-Clause
// Rotary embedding: pairs of elements of a head are turned by the angles of its position.
#ifndef LEAT_ROTARY_GLSL_
#define LEAT_ROTARY_GLSL_

#include "lengths.glsl"
#include "core/kernels/reals.glsl"

// leati_rotation_args of plugin/ops/attention/kv_cache.h.
struct Rotation {
  uint64_t cosines, sines;
  uint64_t position_ids; // a number of 64 bits for each new position of each batch, or one from which on all count; 0:
                         // they are what follows earlier ones
  int cosine_strides[2], sine_strides[2]; // of position and pair
  int id_strides[2];                      // of batch and new position; 0 of one number
  uint id_step;                           // from one new position to the next: 1 of one number, else 0
  uint pairs;       // elements that are rotated, two at a time
  uint interleaved; // 1: neighbours are a pair; 0: an element and the one so many further
  int positions;    // that there are cosines of
};

// By which position number `row` of a batch's new ones is rotated, which goes to position `at`. What is out of range is
// taken for the nearest of those that there are cosines of.
int rotation_position(const Rotation by, uint batch, uint row, int at) {
  uint position = uint(at);
  if (by.position_ids != 0) {
    const int i = int(batch) * by.id_strides[0] + int(row) * by.id_strides[1];
    position = uint(max(number_at(by.position_ids + uint64_t(i) * 8, true, by.positions - 1), 0)) + row * by.id_step;
  }
  return int(min(position, uint(by.positions - 1)));
}

// Element `element`, of the rotated ones, of the row that begins at `row`, turned by the angle of its pair at a
// position.
float rotated(const Rotation by, uint64_t from, int row, int stride, uint element, int position) {
  const bool interleaved = by.interleaved != 0;
  const bool second = interleaved ? element % 2 == 1 : element >= by.pairs;
  const uint pair = interleaved ? element / 2 : second ? element - by.pairs : element;
  const uint apart = interleaved ? 1 : by.pairs;
  const uint other = second ? element - apart : element + apart;
  const float cosine = ELEMENT(by.cosines, position * by.cosine_strides[0] + int(pair) * by.cosine_strides[1]);
  const float sine = ELEMENT(by.sines, position * by.sine_strides[0] + int(pair) * by.sine_strides[1]);
  const float crossed = sine * ELEMENT(from, row + int(other) * stride);
  return fma(cosine, ELEMENT(from, row + int(element) * stride), second ? crossed : -crossed);
}

#endif
