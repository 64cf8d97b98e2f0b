/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/tiling.h"

/* Threads that a row of a norm gets before they take more than four elements each: the most usual size of subgroups,
 * within which they add up without a barrier; also the smallest workgroup. */
#define ROW_TOGETHER 32u
/* Fours of a row that a thread keeps in registers; with more a row gets more threads while there are any, and then is
 * read three times. At most the HELD_MOST of the kernels. */
#define ROW_FOURS_MAX 4u

static uint64_t div_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

/* ---- Matrix products ----------------------------------------------------------------------------------------------
 */

/* So many workgroups as quarters of the processors. */
static uint64_t quarters(const leati_traits *traits, uint32_t count) {
  return (uint64_t)traits->processors * count / 4;
}

/* Splits k into pieces of `least` elements or more, for `wanted` workgroups, at multiples of `step`. */
static void split(const leati_gemm_shape *shape, uint64_t groups, uint64_t wanted, uint32_t least, uint32_t step,
                  leati_gemm_cut *cut) {
  const uint64_t most = shape->k / least;
  uint64_t splits = groups > 0 && groups < wanted ? wanted / groups : 1;
  splits = splits < most ? splits : most;
  cut->splits = 1;
  cut->k_chunk = shape->k;
  if (splits >= 2) {
    cut->k_chunk = (uint32_t)(div_up(div_up(shape->k, splits), step) * step);
    cut->splits = (uint32_t)div_up(shape->k, cut->k_chunk);
  }
}

/* How many tiles there are of a product. */
static uint64_t count_tiles(const leati_gemm_shape *shape, leati_tile tile) {
  const uint32_t extent = leati_tile_extent(tile);
  return div_up(shape->m, extent) * div_up(shape->n, extent) * shape->batch;
}

/* Sets how many rows and columns of it there are. */
static void take_tile(const leati_gemm_shape *shape, leati_tile tile, leati_gemm_cut *cut) {
  cut->tiles_m = (uint32_t)div_up(shape->m, leati_tile_extent(tile));
  cut->tiles_n = (uint32_t)div_up(shape->n, leati_tile_extent(tile));
}

/* The largest tile of which there are enough to fill the device, and which is itself more than half full; or that of
 * 32. */
static leati_tile choose_tile(const leati_gemm_shape *shape, uint64_t enough_128, uint64_t enough_64) {
  const uint64_t enough[] = {enough_128, enough_64};
  leati_tile tile = LEATI_TILE_128;
  for (; tile < LEATI_TILE_32; ++tile) {
    const uint32_t half = leati_tile_extent(tile) / 2;
    if (count_tiles(shape, tile) >= enough[tile] && shape->m > half && shape->n > half) {
      break;
    }
  }
  return tile;
}

leati_tile leati_gemm_cut_tiled(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile_work work,
                                leati_gemm_cut *out) {
  const leati_tuning *const tuning = &traits->tuning;
  /* A processor has one tile of 128 of reals at a time: in each turn that they take, as many are wanted. */
  const uint64_t turns = work == LEATI_WORK_OTHER ? 1 : div_up(count_tiles(shape, LEATI_TILE_128), traits->processors);
  leati_tile tile = choose_tile(shape, turns * quarters(traits, tuning->gemm_fill_128_quarters),
                                quarters(traits, tuning->gemm_fill_64_quarters));
  if (tile == LEATI_TILE_32 && work == LEATI_WORK_PRODUCT && shape->k <= LEATI_GEMM_K_16 &&
      count_tiles(shape, LEATI_TILE_16) <= quarters(traits, tuning->gemm_fill_16_quarters)) {
    tile = LEATI_TILE_16;
  }
  const bool splits = tile == LEATI_TILE_64 || tile == LEATI_TILE_32;
  const uint64_t groups = count_tiles(shape, tile);
  const bool few = groups <= quarters(traits, LEATI_GEMM_FEW_QUARTERS);
  take_tile(shape, tile, out);
  split(shape, groups, splits ? (uint64_t)traits->processors * tuning->gemm_split_fill : 0,
        few ? LEATI_GEMM_SPLIT_MIN_FEW : tuning->gemm_split_min, LEATI_GEMM_K_STEP, out);
  return tile;
}

bool leati_gemm_more_slices_pay(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile tile,
                                uint32_t splits) {
  return tile == LEATI_TILE_32 && splits == 1 && shape->k >= LEATI_GEMM_SLICES_MIN &&
         count_tiles(shape, tile) <= quarters(traits, LEATI_GEMM_SLICES_FILL_QUARTERS);
}

leati_tile leati_gemm_cut_matrices(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile_work work,
                                   leati_gemm_cut *out) {
  const leati_tuning *const tuning = &traits->tuning;
  leati_tile tile = choose_tile(shape, quarters(traits, tuning->matrix_fill_128_quarters),
                                quarters(traits, tuning->matrix_fill_64_quarters));
  const uint64_t parts = shape->k > 0 ? div_up(shape->k, LEATI_MATRIX_SPLIT_MIN_16) : 1;
  if (tile == LEATI_TILE_32 && work == LEATI_WORK_PRODUCT &&
      count_tiles(shape, LEATI_TILE_16) * parts <= quarters(traits, LEATI_MATRIX_FILL_16_QUARTERS)) {
    tile = LEATI_TILE_16;
  }
  take_tile(shape, tile, out);
  const bool gathers = work == LEATI_WORK_CONVOLUTION;
  const uint64_t fill = tile == LEATI_TILE_16 ? 1
                        : gathers             ? LEATI_MATRIX_GATHER_SPLIT_FILL
                                              : tuning->matrix_split_fill;
  const uint32_t least = tile == LEATI_TILE_128  ? LEATI_MATRIX_SPLIT_MIN_128
                         : tile == LEATI_TILE_16 ? LEATI_MATRIX_SPLIT_MIN_16
                         : gathers               ? LEATI_MATRIX_GATHER_SPLIT_MIN
                                                 : tuning->matrix_split_min;
  split(shape, count_tiles(shape, tile), traits->processors * fill, least,
        tile == LEATI_TILE_16 ? LEATI_MATRIX_K_STEP_16 : LEATI_GEMM_K_STEP, out);
  return tile;
}

bool leati_gemm_parts_pay(const leati_traits *traits, const leati_gemm_shape *shape) {
  leati_gemm_cut cut;
  return leati_gemm_cut_matrices(traits, shape, LEATI_WORK_PRODUCT, &cut) == LEATI_TILE_128;
}

bool leati_conv_last_pays(const leati_traits *traits, const leati_gemm_shape *shape, uint64_t moved) {
  /* Within 64 bits: of either there are less than 2^31. */
  const uint64_t products = (uint64_t)shape->m * shape->n * shape->batch * shape->k;
  return products / 1000000 >= traits->tuning.conv_last_min && products / traits->tuning.conv_last_each >= moved;
}

bool leati_gemm_along_k_pays(uint32_t tile_size, const leati_gemm_shape *shape) {
  return tile_size < leati_tile_size(LEATI_TILE_128) && (uint64_t)shape->k * shape->n <= LEATI_MATRIX_ALONG_K_MAX;
}

uint32_t leati_attention_subgroups(const leati_traits *traits, uint64_t heads, uint32_t queries, uint32_t rows) {
  const uint64_t enough = quarters(traits, LEATI_ATTENTION_FILL_QUARTERS);
  uint32_t subgroups = LEATI_MATRIX_SUBGROUPS;
  while (subgroups > 1 &&
         (queries <= rows * subgroups / 2 || heads * div_up(queries, rows * (uint64_t)subgroups) < enough)) {
    subgroups /= 2;
  }
  return subgroups;
}

uint32_t leati_attention_splits(const leati_traits *traits, uint64_t groups, uint32_t keys) {
  const uint64_t enough = quarters(traits, LEATI_ATTENTION_SPLIT_FILL_QUARTERS);
  const uint64_t filling = groups > 0 && groups < enough ? 2 * enough / groups : 1;
  const uint64_t most = keys / traits->tuning.attention_split_min, splits = filling < most ? filling : most;
  return splits > 1 ? (uint32_t)splits : 1;
}

/* The powers of two next to a number of at least 1. */
static uint32_t power_above(uint64_t number) {
  uint32_t power = 1;
  while (power < number) {
    power *= 2;
  }
  return power;
}
static uint32_t power_below(uint32_t number) {
  uint32_t power = 1;
  while (power <= number / 2) {
    power *= 2;
  }
  return power;
}

static uint32_t least_of(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
static uint32_t most_of(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* How heads are shared out to the threads of a team, and how many rows of results they have room for. */
static void cut_heads(const leati_traits *traits, uint32_t subgroup, const leati_attention_few_shape *shape,
                      leati_attention_few_cut *out) {
  const uint32_t widest = least_of(subgroup, LEATI_ATTENTION_FEW_LANES_MOST);
  const uint32_t usual = least_of(power_below(LEATI_ATTENTION_FEW_LANES), widest);
  const uint32_t enough = power_above(shape->pieces < usual ? shape->pieces : usual);
  out->lanes = most_of(enough, LEATI_ATTENTION_FEW_LANES_LEAST);
  out->chunks = power_above(div_up(shape->pieces, out->lanes));
  out->rows = shape->rows < LEATI_ATTENTION_FEW_ROWS_MOST ? power_above(shape->rows) : LEATI_ATTENTION_FEW_ROWS_MOST;
  while (out->rows * out->chunks * shape->fours > LEATI_ATTENTION_FEW_RESULTS_MOST) {
    if (out->chunks > 1 && out->lanes < widest) {
      out->lanes *= 2;
      out->chunks /= 2;
    } else {
      out->rows /= 2;
    }
  }
  const uint32_t loads = power_below(traits->tuning.attention_few_flight);
  out->flight = least_of(most_of(loads / out->chunks, 1), LEATI_ATTENTION_FEW_FLIGHT_MOST);
  out->flight = least_of(out->flight, LEATI_ATTENTION_FEW_SCORES_MOST / out->rows);
}

leati_attention_few_cut leati_attention_cut_few(const leati_traits *traits, uint32_t subgroup,
                                                const leati_attention_few_shape *shape) {
  const leati_tuning *const tuning = &traits->tuning;
  leati_attention_few_cut out = {.splits = 1};
  cut_heads(traits, subgroup, shape, &out);
  const uint32_t room = least_of(subgroup * LEATI_ATTENTION_FEW_SUBGROUPS_MOST, power_below(traits->threads));
  const uint32_t least = most_of(subgroup, LEATI_ATTENTION_FEW_THREADS_LEAST);
  out.threads = most_of(least_of(power_below(tuning->attention_few_threads), room), least);
  const uint64_t groups = shape->heads * div_up(shape->rows, out.rows);
  const uint64_t enough = quarters(traits, LEATI_ATTENTION_FEW_FILL_QUARTERS);
  while (out.threads / 2 >= most_of(LEATI_ATTENTION_FEW_THREADS_MIN, least) &&
         groups * div_up(shape->keys, out.threads / out.lanes * out.flight) < enough) {
    out.threads /= 2;
  }
  const uint64_t blocks = div_up(shape->keys, out.threads / out.lanes * out.flight);
  const uint64_t filling = groups > 0 && groups < enough ? enough / groups : 1;
  const uint64_t splits = filling < blocks ? filling : blocks;
  out.splits = splits > 1 ? (uint32_t)splits : 1;
  return out;
}

leati_gemv_cut leati_gemm_cut_skinny(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t along) {
  const leati_tuning *const tuning = &traits->tuning;
  const bool eights = along == LEATI_ALONG_COLUMNS_EIGHTS, vectors = eights || along == LEATI_ALONG_COLUMNS_QUADS;
  const uint32_t width = eights ? 8 : vectors ? 4 : 1;
  const uint64_t enough = quarters(traits, LEATI_GEMV_FILL_QUARTERS);
  leati_gemv_cut out = {.lanes = LEATI_GEMV_LANES, .threads = LEATI_GEMV_THREADS};
  while (vectors && out.lanes * width > LEATI_GEMV_COLUMNS_MIN &&
         div_up(shape->n, out.lanes * width) * shape->batch < enough) {
    out.lanes /= 2;
  }
  out.gemm = (leati_gemm_cut){.tiles_m = 1, .tiles_n = (uint32_t)div_up(shape->n, out.lanes * width)};
  const uint64_t groups = out.gemm.tiles_n * (uint64_t)shape->batch;
  split(shape, groups, groups < enough ? 2 * enough : 0, tuning->gemv_split_min, LEATI_GEMM_K_STEP, &out.gemm);
  if (vectors && groups * out.gemm.splits <= traits->processors && traits->threads >= 2 * out.threads) {
    out.threads *= 2;
  }
  return out;
}

leati_gemv_cut leati_bytes_cut(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t along) {
  const leati_tuning *const tuning = &traits->tuning;
  const bool fours = along == LEATI_ALONG_COLUMNS_QUADS;
  const uint32_t width = fours ? 4 : 1;
  const uint64_t enough = quarters(traits, LEATI_GEMV_FILL_QUARTERS);
  leati_gemv_cut out = {.lanes = LEATI_GEMV_LANES, .threads = LEATI_GEMV_THREADS};
  while (fours && out.lanes * width > LEATI_BYTES_COLUMNS_MIN &&
         div_up(shape->n, out.lanes * width) * shape->batch < enough) {
    out.lanes /= 2;
  }
  out.gemm = (leati_gemm_cut){.tiles_m = 1, .tiles_n = (uint32_t)div_up(shape->n, out.lanes * width)};
  const uint64_t groups = out.gemm.tiles_n * (uint64_t)shape->batch;
  split(shape, groups, groups < enough ? 2 * enough : 0, tuning->gemv_split_min, LEATI_GEMM_K_STEP, &out.gemm);
  return out;
}

leati_gemv_cut leati_nbits_cut(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t rows,
                               uint32_t bits) {
  const uint32_t each = LEATI_NBITS_BYTES * 8 / bits;
  const uint64_t wanted = (uint64_t)traits->processors * traits->tuning.nbits_fill;
  leati_gemv_cut out = {.lanes = LEATI_NBITS_LANES_MIN, .threads = LEATI_GEMV_THREADS};
  while (2 * out.lanes * rows <= LEATI_NBITS_LANES_MAX && 2 * out.lanes * each <= shape->k &&
         div_up(shape->n, LEATI_NBITS_COLUMNS / out.lanes) < wanted) {
    out.lanes *= 2;
  }
  const uint32_t step = out.lanes * each;
  out.gemm = (leati_gemm_cut){.tiles_m = 1, .tiles_n = (uint32_t)div_up(shape->n, LEATI_NBITS_COLUMNS / out.lanes)};
  split(shape, out.gemm.tiles_n, wanted, step, step, &out.gemm);
  return out;
}

uint32_t leati_gemv_along(uint32_t mode_a, uint32_t mode_b, bool eights, uint32_t columns, int64_t b_k,
                          int64_t b_column) {
  if (mode_b == LEATI_MODE_QUADS_K && mode_a == LEATI_MODE_QUADS_K) {
    return LEATI_ALONG_K_QUADS;
  }
  if (mode_b == LEATI_MODE_QUADS_I && columns >= LEATI_GEMV_QUADS_COLUMNS) {
    return eights ? LEATI_ALONG_COLUMNS_EIGHTS : LEATI_ALONG_COLUMNS_QUADS;
  }
  return b_k <= b_column ? LEATI_ALONG_K : LEATI_ALONG_COLUMNS;
}

uint32_t leati_gemv_along_bytes(uint32_t mode_b, int64_t b_k, int64_t b_column) {
  return mode_b == LEATI_MODE_QUADS_K   ? LEATI_ALONG_K_QUADS
         : mode_b == LEATI_MODE_QUADS_I ? LEATI_ALONG_COLUMNS_QUADS
         : b_k <= b_column              ? LEATI_ALONG_K
                                        : LEATI_ALONG_COLUMNS;
}

/* ---- Rows --------------------------------------------------------------------------------------------------------
 */

/* Threads to a row whose elements are neighbours. */
static uint32_t parts_along(uint64_t rows, uint64_t count) {
  if (count <= LEATI_ROW_1_MAX) {
    return 1;
  }
  if (count <= LEATI_ROW_8_MAX) {
    return 8;
  }
  const uint64_t most = rows >= LEATI_ROWS_MANY ? LEATI_ROW_32_MANY_MAX : LEATI_ROW_32_MAX;
  return count <= most ? 32 : LEATI_ROW_THREADS;
}

/* Threads to a row where the rows are neighbours. */
static uint32_t parts_across(uint64_t rows, uint64_t count) {
  if (count <= LEATI_ACROSS_1_MAX || rows >= LEATI_ACROSS_1_ROWS) {
    return 1;
  }
  return count < LEATI_ACROSS_8_BELOW || rows > LEATI_ACROSS_8_ROWS ? 8 : 32;
}

uint32_t leati_row_parts(bool along, uint64_t rows, uint64_t count) {
  return along ? parts_along(rows, count) : parts_across(rows, count);
}

leati_row_share leati_row_share_of(const leati_traits *traits, uint32_t subgroup, bool along, uint64_t rows,
                                   uint64_t count) {
  const uint64_t fours = count > 0 ? div_up(count, 4) : 1;
  uint32_t parts = along ? 1 : parts_across(rows, count), group = LEATI_ROW_THREADS;
  if (along) {
    while ((parts < fours && parts < ROW_TOGETHER) ||
           (parts < LEATI_ROW_THREADS && fours > (uint64_t)parts * ROW_FOURS_MAX)) {
      parts *= 2;
    }
    const uint32_t least = subgroup > ROW_TOGETHER ? subgroup : ROW_TOGETHER;
    while (group > parts && group > least && rows * parts < (uint64_t)group * traits->processors) {
      group /= 2;
    }
  }
  const uint64_t each = div_up(fours, parts);
  return (leati_row_share){.parts = parts, .group = group, .held = each <= ROW_FOURS_MAX ? (uint32_t)each : 0};
}

uint64_t leati_reduce_chunk(const leati_traits *traits, uint64_t groups, uint32_t parts, uint64_t count) {
  const leati_tuning *const tuning = &traits->tuning;
  const uint64_t wanted = (uint64_t)traits->processors * tuning->reduce_fill;
  uint64_t chunk = count;
  if (groups < wanted) {
    const uint64_t most = count / ((uint64_t)tuning->reduce_chunk_min * parts);
    const uint64_t filling = LEATI_REDUCE_SPLIT_FILL * wanted / groups;
    const uint64_t chunks = filling < most ? filling : most;
    chunk = chunks < 2 ? count : div_up(count, chunks);
  }
  const uint64_t longest = (uint64_t)LEATI_REDUCE_TURNS_MAX * parts;
  return chunk < longest ? chunk : longest;
}

leati_dynamic_cut leati_dynamic_cut_of(const leati_traits *traits, uint64_t count) {
  const uint32_t most = LEATI_DYNAMIC_THREADS < traits->threads ? LEATI_DYNAMIC_THREADS : traits->threads;
  leati_dynamic_cut out = {.threads = LEATI_DYNAMIC_THREADS_MIN};
  while (2 * out.threads <= most) {
    out.threads *= 2;
  }
  const uint64_t blocks = count > 0 ? div_up(count, 4 * (uint64_t)out.threads) : 1;
  const uint32_t beside = traits->software ? traits->cores : traits->processors; /* workgroups that run at once */
  const uint64_t wanted = (uint64_t)beside * LEATI_DYNAMIC_FILL;
  const uint64_t least = div_up(blocks, LEATI_REDUCE_TURNS_MAX);
  const uint64_t groups = wanted > least ? wanted : least;
  /* Workgroups of one dispatch have a block each, and no more of them read everything than do so at once. */
  out.whole = blocks <= 1 || (count <= LEATI_DYNAMIC_WHOLE_MAX && blocks <= beside);
  out.groups = (uint32_t)(out.whole || blocks < groups ? blocks : groups);
  return out;
}

uint32_t leati_squeeze_parts(uint64_t pixels) {
  uint32_t parts = LEATI_SQUEEZE_PARTS_MIN;
  while (parts < LEATI_SQUEEZE_THREADS && pixels > (uint64_t)LEATI_SQUEEZE_LOADS * parts) {
    parts *= 2;
  }
  return parts;
}

bool leati_squeeze_pays(uint64_t channels, uint64_t squeezed) {
  return channels * squeezed <= LEATI_SQUEEZE_WEIGHTS_MAX;
}
