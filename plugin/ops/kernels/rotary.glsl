// SPDX-License-Identifier: BSD-3-Clause
// Rotary embedding: pairs of elements of a head are turned by the angles of its position.
#ifndef LEAT_ROTARY_GLSL_
#define LEAT_ROTARY_GLSL_

#include "reals.glsl"

// leati_rotation_args of plugin/ops/kv_cache.h.
struct Rotation {
  uint64_t cosines, sines;
  int cosine_strides[2], sine_strides[2]; // of position and pair
  uint pairs;       // elements that are rotated, two at a time
  uint interleaved; // 1: neighbours are a pair; 0: an element and the one so many further
  int positions;    // that there are cosines of
};

// Element `element`, of the rotated ones, of the row that begins at `row`, turned by the angle of its pair at a
// position.
float rotated(const Rotation by, uint64_t from, int row, int stride, uint element, int position) {
  const bool interleaved = by.interleaved != 0;
  const bool second = interleaved ? element % 2 == 1 : element >= by.pairs;
  const uint pair = interleaved ? element / 2 : second ? element - by.pairs : element;
  const uint apart = interleaved ? 1 : by.pairs;
  const uint other = second ? element - apart : element + apart;
  const int angle = min(position, by.positions - 1);
  const float cosine = ELEMENT(by.cosines, angle * by.cosine_strides[0] + int(pair) * by.cosine_strides[1]);
  const float sine = ELEMENT(by.sines, angle * by.sine_strides[0] + int(pair) * by.sine_strides[1]);
  const float crossed = sine * ELEMENT(from, row + int(other) * stride);
  return fma(cosine, ELEMENT(from, row + int(element) * stride), second ? crossed : -crossed);
}

#endif
