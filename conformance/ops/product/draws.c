/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

/* A factor of a product's first operand, of one row or of all, behind inputs up to number `place`; with an epsilon its
 * rows are normalised first. */
static void factor(leati_draw *d, uint32_t place) {
  const int32_t rank = d->inputs[0].rank;
  const bool norm = leati_draw_chance(d, 50), row = norm || leati_draw_chance(d, 50);
  while (d->input_count < place) {
    leati_draw_absent(d);
  }
  leati_draw_input(d, d->inputs[0].type, row ? 1 : rank, d->inputs[0].dims + (row ? rank - 1 : 0));
  d->rounded = d->inputs[0].type != LEAT_TYPE_FLOAT32;
  if (norm) {
    leati_draw_attribute_float(d, "epsilon", g_rand_double_range(d->rand, 0.01, 1));
  }
}

static void matmul(leati_draw *d) {
  const bool fused = strcmp(d->info->name, "MatMul") != 0 && strcmp(d->info->name, "GemmFastGelu") != 0;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, 20);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, 9);
  const bool turn_a = fused && leati_draw_chance(d, 40);
  const bool turn_b = fused && leati_draw_chance(d, 40);
  const int32_t batch = leati_draw_rank(d, 0, 3);
  int64_t stack[RANK];
  int64_t dims[RANK];
  for (int32_t k = 0; k < batch; ++k) {
    stack[k] = leati_draw_int(d, d->empty ? 0 : 1, 3);
  }
  for (int side = 0; side < 2; ++side) {
    int32_t rank = 0;
    if (!fused && leati_draw_chance(d, 10)) {
      dims[rank++] = inner;
    } else {
      rank = leati_draw_narrowed(d, batch, stack, dims);
      const bool turned = side == 0 ? turn_a : turn_b;
      const int64_t two[2] = {side == 0 ? rows : inner, side == 0 ? inner : columns};
      dims[rank++] = two[turned ? 1 : 0];
      dims[rank++] = two[turned ? 0 : 1];
    }
    leati_draw_input(d, type, rank, dims);
  }
  leati_draw_attribute_int(d, "transA", turn_a);
  leati_draw_attribute_int(d, "transB", turn_b);
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  }
  if (d->info->max_inputs == 3 && d->inputs[1].rank > 1 && leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, 1, &columns);
  }
  if (d->info->max_inputs < 4) {
    return;
  }
  if (leati_draw_chance(d, 70)) {
    leati_draw_input(d, type, 1, &columns);
  } else {
    leati_draw_absent(d);
  }
  /* Both operands may have had fewer of the batch dimensions: what fits is asked of their shapes. */
  if (leati_draw_chance(d, 70)) {
    int64_t result[RANK] = {0};
    int32_t most = 2;
    for (int side = 0; side < 2; ++side) {
      most = d->inputs[side].rank > most ? d->inputs[side].rank : most;
    }
    for (int32_t k = 0; k < most - 2; ++k) {
      result[k] = 1;
      for (int side = 0; side < 2; ++side) {
        const int32_t at = k - (most - d->inputs[side].rank);
        if (at >= 0 && d->inputs[side].dims[at] != 1) {
          result[k] = d->inputs[side].dims[at];
        }
      }
    }
    result[most - 2] = rows;
    result[most - 1] = columns;
    if (leati_draw_chance(d, 20)) {
      /* Another shape of as many elements. */
      int64_t all[2] = {1, 1};
      for (int32_t k = 0; k < most; ++k) {
        all[k == 0 ? 0 : 1] *= result[k];
      }
      leati_draw_input(d, type, 2, all);
      leati_draw_attribute_ints(d, "shape", 2, all);
    } else {
      leati_draw_narrow_input(d, type, most, result);
    }
  }
  leati_draw_activation(d);
  if (!turn_a && d->inputs[1].rank == 2 && leati_draw_chance(d, 50)) {
    factor(d, 4);
  }
}

/* Terms of a few letters, some of them there twice, some in the result, and an ellipsis. Where an operand is summed up
 * before it is multiplied, what lies between is rounded, and infinities may meet other numbers. */
static void einsum(leati_draw *d) {
  static const char letters[] = {'a', 'b', 'Q', 'z', 'B'};
  enum { LETTERS = sizeof(letters) };
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t operands = leati_draw_chance(d, 60) ? 2 : leati_draw_int(d, 1, 3);
  const int64_t dotted = leati_draw_chance(d, 30) ? leati_draw_int(d, 1, (1 << operands) - 1) : 0;
  const int32_t dots = (int32_t)leati_draw_int(d, 0, 2);
  int64_t sizes[LETTERS], stack[2], dims[RANK];
  bool seen[LETTERS] = {false};
  char *text = d->text;
  for (int k = 0; k < LETTERS; ++k) {
    sizes[k] = leati_draw_int(d, least, leati_draw_chance(d, 10) ? 30 : 5);
  }
  for (int k = 0; k < 2; ++k) {
    stack[k] = leati_draw_int(d, least, 3);
  }
  for (int64_t i = 0; i < operands; ++i) {
    const int64_t count = leati_draw_int(d, 0, 4), place = leati_draw_int(d, 0, count);
    const int64_t one = leati_draw_chance(d, 10) ? leati_draw_int(d, 0, LETTERS - 1) : -1;
    int32_t rank = 0;
    if (i > 0) {
      *text++ = ',';
    }
    for (int64_t k = 0; k <= count; ++k) {
      if (k == place && (dotted >> i & 1) != 0) {
        text = g_stpcpy(text, "...");
        rank += leati_draw_narrowed(d, dots, stack, dims + rank);
      }
      if (k < count) {
        const int64_t letter = leati_draw_int(d, 0, LETTERS - 1);
        *text++ = letters[letter];
        seen[letter] = true;
        dims[rank++] = letter == one ? 1 : sizes[letter];
      }
    }
    leati_draw_input(d, type, rank, dims)->plain = operands > 1;
  }
  if (leati_draw_chance(d, 75)) {
    text = g_stpcpy(text, leati_draw_chance(d, 20) ? " -> " : "->");
    const int64_t first = leati_draw_int(d, 0, LETTERS - 1), place = leati_draw_int(d, 0, LETTERS);
    for (int64_t k = 0; k <= LETTERS; ++k) {
      if (k == place && dotted != 0) {
        text = g_stpcpy(text, "...");
      }
      if (k < LETTERS && seen[(first + k) % LETTERS] && leati_draw_chance(d, 60)) {
        *text++ = letters[(first + k) % LETTERS];
      }
    }
  }
  *text = '\0';
  leati_draw_attribute_string(d, "equation", d->text);
  d->rounded = operands > 1 && type != LEAT_TYPE_FLOAT32;
}

static void gemm(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  int64_t sizes[3]; /* rows, inner, columns */
  for (int k = 0; k < 3; ++k) {
    sizes[k] = leati_draw_int(d, d->empty ? 0 : 1, 20);
  }
  const bool turn_a = leati_draw_chance(d, 40);
  const bool turn_b = leati_draw_chance(d, 40);
  leati_draw_input(d, type, 2, (const int64_t[2]){sizes[turn_a ? 1 : 0], sizes[turn_a ? 0 : 1]});
  leati_draw_input(d, type, 2, (const int64_t[2]){sizes[turn_b ? 2 : 1], sizes[turn_b ? 1 : 2]});
  if (leati_draw_chance(d, 60)) {
    leati_draw_narrow_input(d, type, 2, (const int64_t[2]){sizes[0], sizes[2]});
  }
  leati_draw_attribute_int(d, "transA", turn_a);
  leati_draw_attribute_int(d, "transB", turn_b);
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "beta", g_rand_double_range(d->rand, -2, 2));
  }
  leati_draw_activation(d);
}

static void matmul_nbits(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T1");
  const int64_t bits = INT64_C(2) << leati_draw_int(d, 0, 2), size = INT64_C(16) << leati_draw_int(d, bits == 2, 4);
  const int64_t k = leati_draw_int(d, 1, leati_draw_chance(d, 30) ? 600 : 40), n = leati_draw_int(d, 1, 9);
  const int64_t blocks = (k + size - 1) / size, flat = leati_draw_int(d, 0, 1);
  int64_t dims[RANK];
  const int32_t rank = leati_draw_rank(d, 1, 4);
  for (int32_t at = 0; at < rank; ++at) {
    dims[at] = at == rank - 1 ? k : leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 9 : 3);
  }
  leati_draw_input(d, type, rank, dims);
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, 3, (const int64_t[3]){n, blocks, size * bits / 8}), 0, 255);
  /* Lists of a number for each block of each column, or for several of them. */
  const int64_t bytes = (blocks * bits + 7) / 8;
  const int64_t by_block[3] = {n, blocks, n * blocks}, by_byte[3] = {n, bytes, n * bytes};
  leati_draw_input(d, type, flat ? 1 : 2, flat ? by_block + 2 : by_block);
  const int64_t zeros = leati_draw_int(d, 0, 2);
  if (zeros == 0) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, flat ? 1 : 2, flat ? by_byte + 2 : by_byte), 0, 255);
  } else if (zeros == 1) {
    leati_draw_input(d, type, flat ? 1 : 2, flat ? by_block + 2 : by_block);
  } else {
    leati_draw_absent(d);
  }
  /* Whose scale each k has, of those blocks that there are and one more on both sides. */
  if (leati_draw_chance(d, 30)) {
    const int64_t indexed = leati_draw_chance(d, 50) ? k : blocks * size;
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &indexed), -1, blocks);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, type, 1, &n);
  }
  leati_draw_attribute_int(d, "K", k);
  leati_draw_attribute_int(d, "N", n);
  leati_draw_attribute_int(d, "block_size", size);
  if (bits != 4 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "bits", bits);
  }
}

static void matmul_bnb4(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T1");
  const int64_t size = INT64_C(16) << leati_draw_int(d, 0, 4), n = leati_draw_int(d, 1, 9);
  const int64_t k = leati_draw_chance(d, 50) ? size * leati_draw_int(d, 1, 3) : leati_draw_int(d, 1, 60);
  const bool turned = leati_draw_chance(d, 20);
  const int64_t bytes = (n * k + 1) / 2, blocks = (n * k + size - 1) / size;
  int64_t dims[RANK];
  const int32_t rank = leati_draw_rank(d, 1, 4);
  for (int32_t at = 0; at < rank; ++at) {
    dims[at] = at < rank - 1 ? leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 9 : 3) : turned ? n : k;
  }
  leati_draw_input(d, type, rank, dims);
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, 1, &bytes), 0, 255);
  leati_draw_input(d, type, 1, &blocks);
  leati_draw_attribute_int(d, "K", k);
  leati_draw_attribute_int(d, "N", n);
  leati_draw_attribute_int(d, "block_size", size);
  leati_draw_attribute_int(d, "quant_type", leati_draw_int(d, 0, 1));
  if (turned || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "transB", turned ? 0 : 1);
  }
  if (leati_draw_chance(d, 20)) {
    leati_draw_attribute_int(d, "training_mode", leati_draw_int(d, 0, 1));
  }
}

/* The dimensions of a scale or zero point of an operand. */
static int32_t draw_place(leati_draw *d, const leati_draw_tensor *operand, bool rows, int64_t *dims) {
  const int32_t rank = operand->rank;
  const int64_t kind = rank < 2 ? 0 : leati_draw_int(d, 0, 2);
  dims[0] = 1;
  if (kind == 0) {
    return leati_draw_chance(d, 50) ? 1 : 0;
  }
  if (kind == 1) {
    dims[0] = operand->dims[rank - (rows ? 2 : 1)];
    return 1;
  }
  memcpy(dims, operand->dims, sizeof(dims[0]) * (size_t)rank);
  dims[rank - (rows ? 1 : 2)] = 1;
  return rank;
}

static void qgemm(leati_draw *d) {
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, 9), inner = leati_draw_int(d, 1, 20);
  const int64_t columns = leati_draw_int(d, 1, 12), each = leati_draw_chance(d, 50) ? columns : 1;
  const bool turned = leati_draw_chance(d, 60);
  const uint64_t a = leati_draw_type(d, "TA"), b = leati_draw_type(d, "TB");
  leati_draw_bytes(d, leati_draw_input(d, a, 2, (const int64_t[]){rows, inner}));
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, g_rand_double_range(d->rand, 0.01, 0.1));
  leati_draw_bytes(d, leati_draw_input(d, a, 0, NULL));
  leati_draw_bytes(
      d, leati_draw_input(d, b, 2, turned ? (const int64_t[]){columns, inner} : (const int64_t[]){inner, columns}));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &each);
  leati_draw_bytes(d, leati_draw_input(d, b, 1, &each));
  if (leati_draw_chance(d, 70)) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &columns), -20000, 20000);
  } else {
    leati_draw_absent(d);
  }
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, (double)leati_draw_int(d, 1, 400));
  leati_draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "TYZ"), 0, NULL));
  leati_draw_attribute_int(d, "transB", turned);
  if (leati_draw_chance(d, 10)) {
    leati_draw_attribute_int(d, "transA", 1);
  }
}

static void matmul_integer(leati_draw *d) {
  const bool scaled = strcmp(d->info->name, "QLinearMatMul") == 0;
  const bool dynamic = strcmp(d->info->name, "DynamicQuantizeMatMul") == 0; /* its first operand is of floats */
  const bool to_float = dynamic || strcmp(d->info->name, "MatMulIntegerToFloat") == 0;
  const char *const names[2] = {"T1", "T2"};
  const uint64_t scale = scaled ? leati_draw_type(d, "TS") : to_float ? leati_draw_type(d, dynamic ? "T1" : "T3") : 0;
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 30) ? 600 : 40);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  int64_t batch[RANK], dims[2][RANK], place[2][RANK];
  int32_t ranks[2], place_ranks[2];
  uint64_t types[2];
  leati_draw_dims(d, 3, batch);
  for (int side = 0; side < 2; ++side) {
    const int32_t count = leati_draw_narrowed(d, 3, batch, dims[side]);
    const bool vector = leati_draw_chance(d, 10);
    types[side] = leati_draw_type(d, names[side]);
    if (vector) {
      ranks[side] = 1;
      dims[side][0] = inner;
    } else {
      ranks[side] = count + 2;
      dims[side][count] = side == 0 ? rows : inner;
      dims[side][count + 1] = side == 0 ? inner : columns;
    }
    leati_draw_tensor shape = {.rank = ranks[side]};
    memcpy(shape.dims, dims[side], sizeof(dims[side][0]) * (size_t)ranks[side]);
    place_ranks[side] = draw_place(d, &shape, side == 0, place[side]);
  }
  if (!scaled) {
    for (int side = 0; side < 2; ++side) {
      leati_draw_tensor *const operand = leati_draw_input(d, types[side], ranks[side], dims[side]);
      operand->plain = dynamic;
      if (!dynamic || side == 1) {
        leati_draw_bytes(d, operand);
      }
    }
    for (int side = dynamic ? 1 : 0; side < 2 && to_float; ++side) {
      leati_draw_input(d, scale, place_ranks[side], place[side]);
    }
    for (int side = dynamic ? 1 : 0; side < 2; ++side) {
      if (leati_draw_chance(d, 60)) {
        leati_draw_bytes(d, leati_draw_input(d, types[side], place_ranks[side], place[side]));
      } else {
        leati_draw_absent(d);
      }
    }
    if (to_float && ranks[1] > 1 && leati_draw_chance(d, 50)) {
      leati_draw_input(d, scale, 1, &columns);
    }
    return;
  }
  for (int side = 0; side < 2; ++side) {
    leati_draw_bytes(d, leati_draw_input(d, types[side], ranks[side], dims[side]));
    leati_draw_input(d, scale, place_ranks[side], place[side]);
    leati_draw_bytes(d, leati_draw_input(d, types[side], place_ranks[side], place[side]));
  }
  leati_draw_tensor *const of_result = leati_draw_input(d, scale, 0, NULL);
  leati_draw_set(of_result, 0, 64 * (double)leati_draw_int(d, 1, 400));
  leati_draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "T3"), 0, NULL));
}

static void quantized_matmul(leati_draw *d) {
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 30) ? 600 : 40);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const bool turned = leati_draw_chance(d, 40);
  const int64_t a[2] = {rows, inner}, b[2] = {turned ? columns : inner, turned ? inner : columns};
  const int64_t *const dims[2] = {a, b};
  const int32_t ranks[2] = {2, 2};
  leati_draw_quantized_operands(d, ranks, dims, &columns);
  leati_draw_quantized_result(d, columns, leati_draw_chance(d, 50));
  leati_draw_attribute_int(d, "transB", turned);
}

const leati_draw_entry leati_draws_product[] = {
    {"matmul", "", "MatMul", NULL, matmul},
    {"matmul", LEAT_MICROSOFT, "FusedMatMul TransposeMatMul GemmFastGelu", NULL, matmul},
    {"matmul", "leat", "FusedMatMul", NULL, matmul},
    {"matmul", "", "Einsum", NULL, einsum},
    {"matmul", "", "Gemm", NULL, gemm},
    {"matmul", LEAT_MICROSOFT, "FusedGemm", NULL, gemm},
    {"matmul", LEAT_MICROSOFT, "MatMulNBits", NULL, matmul_nbits},
    {"matmul", LEAT_MICROSOFT, "MatMulBnb4", NULL, matmul_bnb4},
    {"matmul", "", "MatMulInteger QLinearMatMul", NULL, matmul_integer},
    {"matmul", LEAT_MICROSOFT, "MatMulIntegerToFloat DynamicQuantizeMatMul", NULL, matmul_integer},
    {"matmul", "leat", "QuantizedMatMul", NULL, quantized_matmul},
    {"matmul", LEAT_MICROSOFT, "QGemm", NULL, qgemm},
    {NULL, NULL, NULL, NULL, NULL},
};
