/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of policy/ at their bounds, on devices that are made up. The bounds are named, so that another value of a
 * constant needs no other test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include "policy/allocation.h"
#include "policy/lane_tuner.h"
#include "policy/recurrence.h"
#include "policy/saving.h"
#include "policy/submitting.h"
#include "policy/tiling.h"
#include "policy/waiting.h"

/* A large GPU, one with a single processor on a host with one core, and a device that is its host. */
static const leati_traits large = {.discrete = true,
                                   .cores = 16,
                                   .processors = 128,
                                   .processors_least = 128,
                                   .threads = 1024,
                                   .tuning = LEATI_TUNING_STANDARD};
static const leati_traits tiny = {.cores = 1, .processors = 1, .processors_least = 1, .tuning = LEATI_TUNING_STANDARD};
static const leati_traits software = {.software = true, .cores = 4, .processors = 4, .tuning = LEATI_TUNING_STANDARD};

/* Pieces that are joined one by one, at most: with what else the kernel does lavapipe ends its loops after 65535 turns.
 */
#define PIECES_MAX 32768u

static uint64_t div_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

/* ---- Waiting ------------------------------------------------------------------------------------------------------
 */

static void short_waits_spin_and_long_ones_sleep_first(void **state) {
  (void)state;
  /* Nothing is known yet, or waits are shorter than waking a thread takes. */
  for (uint64_t usual = 0; usual <= LEATI_WAKE_NS / 4; usual += LEATI_WAKE_NS / 4) {
    const leati_wait_course course = leati_wait_course_of(usual);
    assert_int_equal(course.sleep_ns, 0);
    assert_int_equal(course.spin_ns, LEATI_WAKE_NS);
  }
  leati_wait_course course = leati_wait_course_of(LEATI_WAKE_NS);
  assert_int_equal(course.spin_ns, 4 * LEATI_WAKE_NS);
  course = leati_wait_course_of(LEATI_SPIN_WHOLE_NS);
  assert_int_equal(course.sleep_ns, 0);
  assert_int_equal(course.spin_ns, 4 * LEATI_SPIN_WHOLE_NS);
  course = leati_wait_course_of(LEATI_SPIN_WHOLE_NS + 1);
  assert_int_equal(course.sleep_ns, LEATI_SPIN_WHOLE_NS / 2);
  assert_int_equal(course.nap_ns, LEATI_SPIN_WHOLE_NS / LEATI_NAPS_PER_WAIT);
  assert_int_equal(course.spin_ns, (LEATI_SPIN_WHOLE_NS + 1) + (LEATI_SPIN_WHOLE_NS + 1) / 4);
  course = leati_wait_course_of(100 * LEATI_NAPS_PER_WAIT * LEATI_NAP_NS);
  assert_int_equal(course.nap_ns, LEATI_NAP_NS);
}

static void a_wait_learns_more_from_one_that_was_over_while_it_slept(void **state) {
  (void)state;
  assert_int_equal(leati_wait_learn(1000, 5000, false), 2000);
  assert_int_equal(leati_wait_learn(5000, 1000, true), 3000);
  assert_int_equal(leati_wait_learn(0, 0, false), 0);
}

static void only_a_software_device_does_not_spin(void **state) {
  (void)state;
  assert_int_equal(leati_wait_spin_standard(&software), 0);
  assert_int_equal(leati_wait_spin_standard(&large), -1);
  assert_int_equal(leati_wait_spin_standard(&tiny), -1);
}

static void spinning_threads_count_when_they_are_many_or_spin_for_long(void **state) {
  (void)state;
  assert_false(leati_wait_counts(&large, LEATI_ROUNDS_UNCOUNTED - 1, 8));
  assert_true(leati_wait_counts(&large, LEATI_ROUNDS_UNCOUNTED, 1));
  assert_true(leati_wait_counts(&large, 1, 9));
  assert_true(leati_wait_counts(&tiny, 1, 1));
  assert_false(leati_wait_yields(&large, 16));
  assert_true(leati_wait_yields(&large, 17));
  assert_false(leati_wait_yields(&tiny, 1));
  assert_true(leati_wait_yields(&tiny, 2));
}

static void attendants_take_turns_at_asking_the_driver(void **state) {
  (void)state;
  for (uint32_t look = 0; look < LEATI_LOOKS_PER_CLOCK; ++look) {
    assert_true(leati_wait_asks(look, 0));
    assert_true(leati_wait_asks(look, 1));
    assert_int_equal(leati_wait_asks(look, 2), look % 2 == 0);
    assert_int_equal(leati_wait_asks(look, 31), look == 0);
  }
}

/* ---- Submitting ---------------------------------------------------------------------------------------------------
 */

static void a_list_goes_by_its_commands_and_barriers(void **state) {
  (void)state;
  assert_false(leati_list_goes_if_done(LEATI_COMMANDS_WORTH_SUBMITTING - 1));
  assert_true(leati_list_goes_if_done(LEATI_COMMANDS_WORTH_SUBMITTING));
  assert_false(leati_list_goes(LEATI_COMMANDS_MAX - 1));
  assert_true(leati_list_goes(LEATI_COMMANDS_MAX));
  const uint32_t commands = 5 * LEATI_COMMANDS_PER_LOOK;
  assert_false(leati_list_goes_if_alone(commands, LEATI_BARRIERS_WORTH_SUBMITTING - 1));
  assert_true(leati_list_goes_if_alone(commands, LEATI_BARRIERS_WORTH_SUBMITTING));
  assert_false(leati_list_goes_if_alone(commands + 1, LEATI_BARRIERS_WORTH_SUBMITTING));
}

static void a_group_takes_so_many_lists(void **state) {
  (void)state;
  assert_true(leati_group_takes(LEATI_COMMAND_BUFFER_LISTS_MAX - 1, 0, 0));
  assert_false(leati_group_takes(LEATI_COMMAND_BUFFER_LISTS_MAX, 0, 0));
}

static void a_submission_takes_work_of_a_bounded_time(void **state) {
  (void)state;
  assert_true(leati_submission_takes(LEATI_SUBMISSION_US - 1, 1));
  assert_false(leati_submission_takes(LEATI_SUBMISSION_US, 1));
  assert_false(leati_submission_takes(1, UINT32_MAX));
  assert_true(leati_group_takes(1, LEATI_SUBMISSION_US / 2, LEATI_SUBMISSION_US / 2));
  assert_false(leati_group_takes(1, LEATI_SUBMISSION_US / 2, LEATI_SUBMISSION_US / 2 + 1));
  /* One that takes longer by itself goes alone. */
  assert_true(leati_group_takes(0, 0, 10 * LEATI_SUBMISSION_US));
}

/* Launches of usual models go whole on a large GPU, where a submission more would be felt. */
static void usual_models_are_one_submission_on_a_large_gpu(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t dispatches;
    uint64_t bytes, multiplications; /* millions */
  } models[] = {
      {"ResNet-50 of 32 images", 60, 9000, 131000},
      {"BERT-base of 8 x 128 tokens", 160, 4000, 90000},
      {"ViT-B/16 of 8 images", 200, 5000, 140000},
      {"a token of 7 billion weights in float16", 400, 14500, 7000},
  };
  for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); ++i) {
    const uint64_t each_bytes = models[i].bytes * 1000000 / models[i].dispatches;
    const uint64_t each = models[i].multiplications * 1000000 / models[i].dispatches;
    const uint64_t all = (uint64_t)models[i].dispatches * leati_dispatch_us(&large, each_bytes, each);
    if (all > LEATI_SUBMISSION_US) {
      fail_msg("%s: %llu us", models[i].name, (unsigned long long)all);
    }
  }
}

static void work_is_estimated_by_what_it_moves_and_multiplies(void **state) {
  (void)state;
  const uint64_t bytes = LEATI_SUBMISSION_US * 1000 * LEATI_PROCESSOR_BYTES;
  const uint64_t pairs = LEATI_SUBMISSION_US * 1000 * LEATI_PROCESSOR_MULTIPLICATIONS;
  const uint32_t least = LEATI_COMMAND_NS / 1000;
  assert_int_equal(leati_dispatch_us(&tiny, 0, 0), least);
  assert_int_equal(leati_dispatch_us(&tiny, bytes, 0), LEATI_SUBMISSION_US + least);
  assert_int_equal(leati_dispatch_us(&tiny, 0, pairs), LEATI_SUBMISSION_US + least);
  assert_int_equal(leati_dispatch_us(&tiny, bytes, pairs), 2 * LEATI_SUBMISSION_US + least);
  assert_int_equal(leati_dispatch_us(&large, 128 * bytes, 0), LEATI_SUBMISSION_US + least);
  /* A copy on the device reads and writes; the bus is as fast for any device. */
  assert_int_equal(leati_copy_us(&large, 64 * bytes, false), LEATI_SUBMISSION_US + least);
  assert_int_equal(leati_copy_us(&large, LEATI_SUBMISSION_US * 1000 * LEATI_BUS_BYTES, true),
                   LEATI_SUBMISSION_US + least);
  /* What has no number is the longest. */
  assert_int_equal(leati_dispatch_us(&tiny, UINT64_MAX, UINT64_MAX), UINT32_MAX);
}

static void short_lists_by_themselves_are_held(void **state) {
  (void)state;
  assert_true(leati_batch_is_held(1, 0));
  assert_true(leati_batch_is_held(1, 1));
  assert_false(leati_batch_is_held(1, 2));
  assert_false(leati_batch_is_held(2, 1));
  assert_true(leati_list_is_held(LEATI_HELD_COMMANDS_MAX));
  assert_false(leati_list_is_held(LEATI_HELD_COMMANDS_MAX + 1));
  assert_true(leati_command_buffer_is_made(LEATI_COMMAND_BUFFERS_KEPT - 1));
  assert_false(leati_command_buffer_is_made(LEATI_COMMAND_BUFFERS_KEPT));
}

static void one_batch_in_flight_where_batches_take_longer_than_what_that_loses(void **state) {
  (void)state;
  assert_int_equal(leati_in_flight_wanted(false, 1), 1);
  assert_int_equal(leati_in_flight_wanted(true, 1), LEATI_IN_FLIGHT_MAX);
  /* Nothing to write: what is long is told by itself. */
  assert_int_equal(leati_batch_advise(LEATI_BATCH_LONG_NS, 0, 2, true).in_flight, LEATI_IN_FLIGHT_MAX);
  assert_int_equal(leati_batch_advise(LEATI_BATCH_LONG_NS + 1, 0, 2, true).in_flight, 1);
  assert_int_equal(leati_batch_advise(LEATI_BATCH_LONG_NS + 1, 0, 2, false).in_flight, LEATI_IN_FLIGHT_MAX);
  /* Much to write, of half as many lists with two in flight. */
  const uint64_t wrote = LEATI_BATCH_LONG_NS;
  assert_int_equal(leati_batch_advise(4 * wrote + LEATI_TURN_NS, wrote, 2, true).in_flight, LEATI_IN_FLIGHT_MAX);
  assert_int_equal(leati_batch_advise(4 * wrote + LEATI_TURN_NS + 1, wrote, 2, true).in_flight, 1);
  assert_int_equal(leati_batch_advise(2 * wrote + LEATI_TURN_NS, wrote, 1, true).in_flight, LEATI_IN_FLIGHT_MAX);
  assert_int_equal(leati_batch_advise(2 * wrote + LEATI_TURN_NS + 1, wrote, 1, true).in_flight, 1);
  /* Gathering. */
  assert_int_equal(leati_batch_advise(0, 0, 2, true).gather_ns, LEATI_GATHER_NS);
  const uint64_t longest = LEATI_GATHER_PART * LEATI_GATHER_NS_MAX;
  assert_int_equal(leati_batch_advise(longest / 2, 0, 2, true).gather_ns, LEATI_GATHER_NS_MAX / 2);
  assert_int_equal(leati_batch_advise(2 * longest, 0, 2, true).gather_ns, LEATI_GATHER_NS_MAX);
  assert_int_equal(leati_batch_advise(2 * longest, 0, 2, false).gather_ns, LEATI_GATHER_NS);
}

static void lists_that_never_meet_are_left_alone_for_a_while(void **state) {
  (void)state;
  int32_t single_lists = 0;
  for (int i = 1; i < LEATI_SINGLE_LIST_STREAK; ++i) {
    single_lists = leati_single_list_next(single_lists, 1, true);
    assert_int_equal(single_lists, i);
  }
  assert_int_equal(leati_single_list_next(single_lists, 1, false), 0);
  assert_int_equal(leati_single_list_next(single_lists, 2, true), single_lists);
  assert_int_equal(leati_single_list_next(single_lists, 2, false), single_lists);
  single_lists = leati_single_list_next(single_lists, 1, true);
  assert_int_equal(single_lists, -LEATI_SINGLE_LIST_REST);
  assert_int_equal(leati_single_list_next(single_lists, 2, false), 1 - LEATI_SINGLE_LIST_REST);
  assert_int_equal(leati_single_list_next(-1, 2, true), 0);
}

static void a_lead_is_passed_on_to_the_last_leader_for_some_looks(void **state) {
  (void)state;
  assert_true(leati_lead_is_passed(false, false, 2, 0));
  assert_true(leati_lead_is_passed(false, false, 2, LEATI_PASSES_MAX - 1));
  assert_false(leati_lead_is_passed(false, false, 2, LEATI_PASSES_MAX));
  assert_false(leati_lead_is_passed(false, false, 1, 0));
  assert_false(leati_lead_is_passed(true, false, 2, 0));
  assert_false(leati_lead_is_passed(false, true, 2, 0));
  assert_false(leati_leader_is_tired(LEATI_TURNS_MAX - 1));
  assert_true(leati_leader_is_tired(LEATI_TURNS_MAX));
}

static void a_list_changes_its_lane_for_an_empty_one_or_a_gain(void **state) {
  (void)state;
  assert_true(leati_lane_is_better(0, 1, true));
  assert_false(leati_lane_is_better(1, 1, false));
  assert_true(leati_lane_is_better(1, 2, false));
  assert_false(leati_lane_is_better(1, 2, true));
  assert_true(leati_lane_is_better(1, 3, true));
}

static void an_interval_is_full_with_many_lists_or_some_long_ones(void **state) {
  (void)state;
  const double brief = LEATI_LIST_LONG_S, length = 1.01 * LEATI_LIST_LONG_S;
  assert_false(leati_interval_is_full(LEATI_INTERVAL_LISTS - 1, 1, brief));
  assert_true(leati_interval_is_full(LEATI_INTERVAL_LISTS, 1, brief));
  assert_true(leati_interval_is_full(LEATI_INTERVAL_LISTS, 8, 0));
  assert_false(leati_interval_is_full(LEATI_INTERVAL_LONG_LISTS - 1, 1, length));
  assert_true(leati_interval_is_full(LEATI_INTERVAL_LONG_LISTS, 1, length));
  assert_false(leati_interval_is_full(4 * LEATI_INTERVAL_LONG_LISTS - 1, 4, length));
  assert_true(leati_interval_is_full(4 * LEATI_INTERVAL_LONG_LISTS, 4, length));
}

/* What else the tuner does is in lane_tuner_test.c. */
static void a_device_with_one_queue_has_nothing_to_tune(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 1);
  const leati_throughput pace = {.commands = 1e6, .list_s = 1, .streams = 31};
  for (int i = 0; i < 100; ++i) {
    assert_int_equal(leati_lane_tuner_step(&tuner, &pace), 1);
  }
}

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

#define ALIGNMENT UINT64_C(256)

static void blocks_waste_a_quarter_at_most(void **state) {
  (void)state;
  assert_int_equal(leati_block_size_for(0, ALIGNMENT), ALIGNMENT);
  assert_int_equal(leati_block_size_for(ALIGNMENT, ALIGNMENT), ALIGNMENT);
  assert_int_equal(leati_block_size_for(ALIGNMENT + 1, ALIGNMENT), 2 * ALIGNMENT);
  assert_int_equal(leati_block_size_for(4096, ALIGNMENT), 4096);
  assert_int_equal(leati_block_size_for(4097, ALIGNMENT), 5120);
  assert_int_equal(leati_block_size_for(5121, ALIGNMENT), 6144);
  assert_int_equal(leati_block_size_for(7169, ALIGNMENT), 8192);
  assert_int_equal(leati_block_size_for(LEATI_CLASS_MAX, ALIGNMENT), LEATI_CLASS_MAX);
  assert_int_equal(leati_block_size_for(LEATI_CLASS_MAX + 1, ALIGNMENT), LEATI_CLASS_MAX + LEATI_LARGE_GRANULE);
  uint64_t before = 0;
  for (uint64_t size = 1; size < 4 * LEATI_CLASS_MAX; size += 1 + size / 37) {
    const uint64_t block = leati_block_size_for(size, ALIGNMENT);
    assert_true(block >= size && block >= before && block % ALIGNMENT == 0);
    assert_true(block - size < (size / 4 > ALIGNMENT ? size / 4 : ALIGNMENT));
    before = block;
  }
}

static void segments_hold_many_small_blocks_and_few_large_ones(void **state) {
  (void)state;
  assert_int_equal(leati_segment_blocks(ALIGNMENT), LEATI_SEGMENT_MIN / ALIGNMENT);
  const uint64_t usual = LEATI_SEGMENT_MAX / LEATI_BLOCKS_PER_SEGMENT;
  assert_int_equal(leati_segment_blocks(usual), LEATI_BLOCKS_PER_SEGMENT);
  assert_int_equal(leati_segment_blocks(2 * usual), LEATI_BLOCKS_PER_SEGMENT / 2);
  assert_int_equal(leati_segment_blocks(LEATI_SEGMENT_MAX / 2), 2);
  assert_int_equal(leati_segment_blocks(LEATI_SEGMENT_MAX), 1);
  assert_int_equal(leati_segment_blocks(LEATI_CLASS_MAX), 1);
}

static void a_free_block_serves_what_is_a_little_smaller(void **state) {
  (void)state;
  const uint64_t mib = UINT64_C(1) << 20;
  assert_true(leati_block_serves(40 * mib, 40 * mib));
  assert_false(leati_block_serves(40 * mib, 40 * mib + 1));
  assert_true(leati_block_serves(40 * mib, 40 * mib - 40 * mib / LEATI_LARGE_SLACK_PART));
  assert_false(leati_block_serves(40 * mib, 40 * mib - 40 * mib / LEATI_LARGE_SLACK_PART - 1));
}

static void small_copies_take_short_ways(void **state) {
  (void)state;
  assert_true(leati_block_is_mapped(LEATI_MAPPED_BLOCK_MAX));
  assert_false(leati_block_is_mapped(LEATI_MAPPED_BLOCK_MAX + 1));
  assert_true(leati_upload_is_direct(LEATI_DIRECT_UPLOAD_MAX));
  assert_false(leati_upload_is_direct(LEATI_DIRECT_UPLOAD_MAX + 1));
  assert_int_equal(leati_kernel_download_max(&large), LEATI_KERNEL_DOWNLOAD_MAX);
  assert_int_equal(leati_kernel_download_max(&software), 0);
  assert_int_equal(leati_kernel_download_max(&tiny), 0);
  assert_int_equal(leati_staged_max(false), LEATI_STAGED_MAX);
  assert_int_equal(leati_staged_max(true), UINT64_MAX);
}

/* All pieces but the last are of one size, and the last is not more. */
static void large_downloads_cross_a_bus_in_pieces(void **state) {
  (void)state;
  const uint64_t least = LEATI_DOWNLOAD_PIECE, many = LEATI_DOWNLOAD_PIECES_MAX;
  const uint64_t sizes[] = {2 * least, 2 * least + 1, 3 * least - 1,    3 * least,
                            12865792,  many * least,  many * least + 1, 100 * many * least + 12345};
  assert_int_equal(leati_download_piece(&large, 1), 1);
  assert_int_equal(leati_download_piece(&large, 2 * least - 1), 2 * least - 1);
  assert_int_equal(leati_download_piece(&software, 100 * least), 100 * least);
  assert_int_equal(leati_download_piece(&tiny, 100 * least), 100 * least);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    const uint64_t wanted = sizes[i] / least < many ? sizes[i] / least : many;
    const uint64_t piece = leati_download_piece(&large, sizes[i]), last = sizes[i] - (wanted - 1) * piece;
    assert_int_equal(piece % LEATI_CHUNK_GRANULE, 0);
    assert_true(piece >= least && last > 0 && last <= piece && (wanted - 1) * piece < sizes[i]);
  }
  assert_true(leati_delivery_is_small(LEATI_DELIVERY_SMALL_MAX));
  assert_false(leati_delivery_is_small(LEATI_DELIVERY_SMALL_MAX + 1));
}

static void chunks_are_of_the_usual_size_or_rounded_up(void **state) {
  (void)state;
  assert_int_equal(leati_chunk_size_for(LEATI_CHUNK_COPY_SIZE, 1), LEATI_CHUNK_COPY_SIZE);
  assert_int_equal(leati_chunk_size_for(LEATI_CHUNK_COPY_SIZE, LEATI_CHUNK_COPY_SIZE), LEATI_CHUNK_COPY_SIZE);
  assert_int_equal(leati_chunk_size_for(LEATI_CHUNK_COPY_SIZE, LEATI_CHUNK_COPY_SIZE + 1),
                   LEATI_CHUNK_COPY_SIZE + LEATI_CHUNK_GRANULE);
}

static void the_quarantine_is_bounded_yet_holds_one(void **state) {
  (void)state;
  assert_false(leati_quarantine_is_full(LEATI_QUARANTINE_BLOCKS, ALIGNMENT));
  assert_true(leati_quarantine_is_full(LEATI_QUARANTINE_BLOCKS + 1, ALIGNMENT));
  assert_false(leati_quarantine_is_full(2, LEATI_QUARANTINE_BYTES / 2));
  assert_true(leati_quarantine_is_full(2, LEATI_QUARANTINE_BYTES / 2 + 1));
  assert_false(leati_quarantine_is_full(1, 2 * LEATI_QUARANTINE_BYTES));
}

static void idle_memory_goes_down_to_the_low_watermark_or_further(void **state) {
  (void)state;
  assert_int_equal(leati_reclaim_target(100, 80, 10, 10), 80);
  assert_int_equal(leati_reclaim_target(100, 80, 20, 10), 80);
  assert_int_equal(leati_reclaim_target(100, 80, 21, 10), 79);
  assert_int_equal(leati_reclaim_target(100, 80, 100, 10), 0);
  /* More is wanted than there may ever be: what must fit counts. */
  assert_int_equal(leati_reclaim_target(100, 80, 101, 30), 70);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------------
 */

/* Holds a cut of a product against what is asked of any: all of it is computed, once, by splits that are worth it. */
static void check_cut(const leati_gemm_shape *s, const leati_gemm_cut *cut, uint32_t rows, uint32_t columns,
                      uint32_t least) {
  assert_int_equal(cut->tiles_m, div_up(s->m, rows));
  assert_int_equal(cut->tiles_n, div_up(s->n, columns));
  assert_true(cut->splits >= 1);
  if (cut->splits == 1) {
    assert_int_equal(cut->k_chunk, s->k);
    return;
  }
  assert_int_equal(cut->k_chunk % LEATI_GEMM_K_STEP, 0);
  assert_true((uint64_t)(cut->splits - 1) * cut->k_chunk < s->k && (uint64_t)cut->splits * cut->k_chunk >= s->k);
  assert_true(cut->splits <= s->k / least);
}

/* Holds all cuts of a product against it. */
static void check_product(const leati_traits *device, const leati_gemm_shape *s) {
  static const uint32_t extent[LEATI_TILE_COUNT] = {128, 64, 32, 16};
  const leati_tuning *const tuning = &device->tuning;
  leati_gemm_cut cut;
  for (leati_tile_work work = LEATI_WORK_PRODUCT; work <= LEATI_WORK_CONVOLUTION; ++work) {
    const leati_tile tile = leati_gemm_cut_tiled(device, s, work, &cut);
    const bool fewer = LEATI_GEMM_SPLIT_MIN_FEW < tuning->gemm_split_min;
    assert_true(tile != LEATI_TILE_16 || (work == LEATI_WORK_PRODUCT && cut.splits == 1));
    check_cut(s, &cut, extent[tile], extent[tile], fewer ? LEATI_GEMM_SPLIT_MIN_FEW : tuning->gemm_split_min);
    const leati_tile on_matrices = leati_gemm_cut_matrices(device, s, work, &cut);
    const uint32_t least = work == LEATI_WORK_CONVOLUTION ? LEATI_MATRIX_GATHER_SPLIT_MIN : tuning->matrix_split_min;
    assert_true(on_matrices != LEATI_TILE_16 || work == LEATI_WORK_PRODUCT);
    check_cut(s, &cut, extent[on_matrices], extent[on_matrices],
              on_matrices == LEATI_TILE_128  ? LEATI_MATRIX_SPLIT_MIN_128
              : on_matrices == LEATI_TILE_16 ? LEATI_MATRIX_SPLIT_MIN_16
                                             : least);
  }
  for (uint32_t along = LEATI_ALONG_COLUMNS; along <= LEATI_ALONG_COLUMNS_EIGHTS; ++along) {
    const uint32_t width = along == LEATI_ALONG_COLUMNS_EIGHTS ? 8 : along == LEATI_ALONG_COLUMNS_QUADS ? 4 : 1;
    const leati_gemv_cut few = leati_gemm_cut_skinny(device, s, along);
    check_cut(s, &few.gemm, s->m, few.lanes * width, tuning->gemv_split_min);
    assert_true(few.lanes >= 1 && few.lanes <= LEATI_GEMV_LANES && (few.lanes & (few.lanes - 1)) == 0);
    assert_true(few.lanes == LEATI_GEMV_LANES || 2 * few.lanes * width > LEATI_GEMV_COLUMNS_MIN);
    assert_true(few.threads == LEATI_GEMV_THREADS ||
                (few.threads == 2 * LEATI_GEMV_THREADS && few.threads <= device->threads));
  }
  for (uint32_t along = LEATI_ALONG_COLUMNS; along <= LEATI_ALONG_COLUMNS_QUADS; ++along) {
    const uint32_t width = along == LEATI_ALONG_COLUMNS_QUADS ? 4 : 1;
    const leati_gemv_cut few = leati_bytes_cut(device, s, along);
    check_cut(s, &few.gemm, s->m, few.lanes * width, tuning->gemv_split_min);
    assert_true(few.lanes >= 1 && few.lanes <= LEATI_GEMV_LANES && (few.lanes & (few.lanes - 1)) == 0);
    assert_true(few.lanes == LEATI_GEMV_LANES || 2 * few.lanes * width > LEATI_BYTES_COLUMNS_MIN);
  }
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t rows = 1u << k % 4, bits = k < 4 ? 4 : 8, each = LEATI_NBITS_BYTES * 8 / bits;
    const leati_gemm_shape one = {.m = s->m, .n = s->n, .k = s->k, .batch = 1};
    const leati_gemv_cut few = leati_nbits_cut(device, &one, rows, bits);
    check_cut(&one, &few.gemm, s->m, LEATI_NBITS_COLUMNS / few.lanes, few.lanes * each);
    assert_true(few.lanes >= LEATI_NBITS_LANES_MIN && few.lanes * rows <= LEATI_NBITS_LANES_MAX);
    assert_true(few.gemm.splits == 1 || few.gemm.k_chunk % (few.lanes * each) == 0);
  }
}

static void products_are_cut_wholly_on_any_device(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 129, 1000, 4096, 50257};
  static const uint32_t processors[] = {1, 2, 4, 16, 128, 132, 1024};
  const size_t count = sizeof(sizes) / sizeof(sizes[0]);
  for (size_t i = 0; i < count * count * count * 7 * 2; ++i) {
    const leati_traits device = {
        .cores = 1, .processors = processors[i / (count * count * count) % 7], .tuning = LEATI_TUNING_STANDARD};
    const leati_gemm_shape s = {.m = sizes[i % count],
                                .n = sizes[i / count % count],
                                .k = sizes[i / count / count % count] - 1,
                                .batch = i < count * count * count * 7 ? 1 : 12};
    check_product(&device, &s);
  }
}

static leati_tile tile_of(const leati_traits *device, uint32_t m, uint32_t n, uint32_t batch) {
  const leati_gemm_shape shape = {.m = m, .n = n, .k = 64, .batch = batch};
  leati_gemm_cut cut;
  return leati_gemm_cut_tiled(device, &shape, LEATI_WORK_OTHER, &cut);
}

static leati_tile product_tile_of(const leati_traits *device, uint32_t m, uint32_t n, uint32_t k, uint32_t batch) {
  const leati_gemm_shape shape = {.m = m, .n = n, .k = k, .batch = batch};
  leati_gemm_cut cut;
  return leati_gemm_cut_tiled(device, &shape, LEATI_WORK_PRODUCT, &cut);
}

static leati_tile matrix_tile_of(const leati_traits *device, uint32_t m, uint32_t n, uint32_t batch) {
  const leati_gemm_shape shape = {.m = m, .n = n, .k = 64, .batch = batch};
  leati_gemm_cut cut;
  return leati_gemm_cut_matrices(device, &shape, LEATI_WORK_PRODUCT, &cut);
}

static void matrix_tiles_are_large_where_they_fill_the_device(void **state) {
  (void)state;
  const uint32_t wanted = 128 * LEATI_MATRIX_FILL_128_QUARTERS / 4, middle = 128 * LEATI_MATRIX_FILL_64_QUARTERS / 4;
  assert_int_equal(matrix_tile_of(&large, 128, 128 * wanted, 1), LEATI_TILE_128);
  assert_int_equal(matrix_tile_of(&large, 128, 128 * (wanted - 1), 1), LEATI_TILE_64);
  assert_int_equal(matrix_tile_of(&large, 128, 128, wanted), LEATI_TILE_128);
  assert_int_equal(matrix_tile_of(&large, 64, 128 * wanted, 1), LEATI_TILE_64);
  assert_int_equal(matrix_tile_of(&large, 128 * wanted, 64, 1), LEATI_TILE_64);
  assert_int_equal(matrix_tile_of(&large, 64, 64 * middle, 1), LEATI_TILE_64);
  assert_int_equal(matrix_tile_of(&large, 64, 64 * (middle - 1), 1), LEATI_TILE_32);
  assert_int_equal(matrix_tile_of(&large, 32, 64 * middle, 1), LEATI_TILE_32);
}

static void matrix_tiles_are_small_where_these_do_not_fill_the_device(void **state) {
  (void)state;
  const uint32_t most = 128 * LEATI_MATRIX_FILL_16_QUARTERS / 4;
  leati_gemm_shape shape = {.m = 16, .n = 16 * most, .k = LEATI_MATRIX_SPLIT_MIN_16, .batch = 1};
  leati_gemm_cut cut;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_16);
  assert_int_equal(cut.tiles_m * cut.tiles_n, most);
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_OTHER, &cut), LEATI_TILE_32);
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_CONVOLUTION, &cut), LEATI_TILE_32);
  ++shape.k;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_32);
  shape.n /= 2;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_16);
  ++shape.n;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_32);
  shape.k = 0;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_16);
  shape.n = 16 * most + 1;
  assert_int_equal(leati_gemm_cut_matrices(&large, &shape, LEATI_WORK_PRODUCT, &cut), LEATI_TILE_32);
}

static void constants_lie_along_k_for_products_that_gain_by_it(void **state) {
  (void)state;
  leati_gemm_shape shape = {.m = 64, .n = 1, .k = LEATI_MATRIX_ALONG_K_MAX, .batch = 1};
  assert_true(leati_gemm_along_k_pays(16 * 16, &shape));
  assert_true(leati_gemm_along_k_pays(64 * 64, &shape));
  assert_false(leati_gemm_along_k_pays(128 * 128, &shape));
  ++shape.k;
  assert_false(leati_gemm_along_k_pays(16 * 16, &shape));
}

static void parts_of_float32_pay_with_the_largest_tile(void **state) {
  (void)state;
  const uint32_t wanted = 128 * LEATI_MATRIX_FILL_128_QUARTERS / 4;
  assert_true(leati_gemm_parts_pay(&large, &(leati_gemm_shape){.m = 128, .n = 128 * wanted, .k = 64, .batch = 1}));
  assert_false(
      leati_gemm_parts_pay(&large, &(leati_gemm_shape){.m = 128, .n = 128 * (wanted - 1), .k = 64, .batch = 1}));
  assert_false(leati_gemm_parts_pay(&large, &(leati_gemm_shape){.m = 64, .n = 128 * wanted, .k = 64, .batch = 1}));
}

static void channels_are_moved_for_convolutions_that_multiply_much(void **state) {
  (void)state;
  const uint32_t results = LEATI_CONV_LAST_MIN * 1000;
  const uint64_t moved = UINT64_C(1000000) * LEATI_CONV_LAST_MIN / LEATI_CONV_LAST_EACH;
  assert_true(leati_conv_last_pays(&large, &(leati_gemm_shape){.m = 8, .n = results, .k = 125, .batch = 1}, moved));
  assert_true(leati_conv_last_pays(&large, &(leati_gemm_shape){.m = 2, .n = results, .k = 125, .batch = 4}, moved));
  assert_false(
      leati_conv_last_pays(&large, &(leati_gemm_shape){.m = 8, .n = results - 1, .k = 125, .batch = 1}, moved));
  assert_false(
      leati_conv_last_pays(&large, &(leati_gemm_shape){.m = 8, .n = results, .k = 125, .batch = 1}, moved + 1));
  assert_true(leati_conv_last_pays(&large, &(leati_gemm_shape){.m = 1, .n = INT32_MAX, .k = INT32_MAX, .batch = 1}, 1));
}

static void attention_has_subgroups_as_long_as_they_fill_the_device(void **state) {
  (void)state;
  const uint64_t wanted = 128 * LEATI_ATTENTION_FILL_QUARTERS / 4;
  assert_int_equal(leati_attention_subgroups(&large, wanted, 64, 16), LEATI_MATRIX_SUBGROUPS);
  assert_int_equal(leati_attention_subgroups(&large, wanted - 1, 64, 16), LEATI_MATRIX_SUBGROUPS / 2);
  assert_int_equal(leati_attention_subgroups(&large, 1, 64, 16), 1);
  assert_int_equal(leati_attention_subgroups(&large, 1, 64 * (uint32_t)wanted, 16), LEATI_MATRIX_SUBGROUPS);
  /* None is without queries, but that their number is a power of two. */
  assert_int_equal(leati_attention_subgroups(&large, wanted, 1, 16), 1);
  assert_int_equal(leati_attention_subgroups(&large, wanted, 17, 16), 2);
  assert_int_equal(leati_attention_subgroups(&large, wanted, 33, 16), 4);
  assert_int_equal(leati_attention_subgroups(&large, 1u << 20, UINT32_MAX, 16), LEATI_MATRIX_SUBGROUPS);
}

static void attention_shares_keys_where_queries_are_few(void **state) {
  (void)state;
  const uint64_t enough = 128 * LEATI_ATTENTION_SPLIT_FILL_QUARTERS / 4;
  const uint32_t least = LEATI_ATTENTION_SPLIT_MIN;
  assert_int_equal(leati_attention_splits(&large, enough, 1u << 20), 1);
  assert_int_equal(leati_attention_splits(&large, enough - 1, 1u << 20), 2);
  assert_int_equal(leati_attention_splits(&large, 1, 1u << 20), 2 * enough);
  assert_int_equal(leati_attention_splits(&large, 1, 2 * least), 2);
  assert_int_equal(leati_attention_splits(&large, 1, 2 * least - 1), 1);
  assert_int_equal(leati_attention_splits(&large, 1, 0), 1);
  assert_int_equal(leati_attention_splits(&large, 0, 1u << 20), 1);
  assert_int_equal(leati_attention_splits(&tiny, 1, 1u << 20), 1);
}

/* Holds what is cut against what the kernel has room for. */
static void check_few(const leati_traits *device, uint32_t subgroup, const leati_attention_few_shape *shape,
                      const leati_attention_few_cut *cut) {
  const uint32_t powers[] = {cut->threads, cut->rows, cut->lanes, cut->chunks, cut->flight};
  for (uint32_t i = 0; i < sizeof(powers) / sizeof(powers[0]); ++i) {
    assert_true(powers[i] > 0 && (powers[i] & (powers[i] - 1)) == 0);
  }
  assert_true(cut->rows <= LEATI_ATTENTION_FEW_ROWS_MOST && cut->rows < 2 * shape->rows);
  assert_true(cut->lanes >= LEATI_ATTENTION_FEW_LANES_LEAST && cut->lanes <= LEATI_ATTENTION_FEW_LANES_MOST);
  assert_true(cut->lanes <= subgroup && cut->lanes * cut->chunks >= shape->pieces);
  assert_true(cut->rows * cut->chunks * shape->fours <= LEATI_ATTENTION_FEW_RESULTS_MOST);
  assert_true(cut->rows * cut->flight <= LEATI_ATTENTION_FEW_SCORES_MOST);
  assert_true(cut->flight <= LEATI_ATTENTION_FEW_FLIGHT_MOST);
  assert_true(cut->flight * cut->chunks <= LEATI_ATTENTION_FEW_PIECES_MOST);
  assert_true(cut->threads >= LEATI_ATTENTION_FEW_THREADS_LEAST && cut->threads >= subgroup);
  assert_true(cut->threads <= subgroup * LEATI_ATTENTION_FEW_SUBGROUPS_MOST && cut->threads <= device->threads);
  /* No workgroup that shares keys is without a block of them. */
  assert_true(cut->splits == 1 ||
              (uint64_t)(cut->splits - 1) * (cut->threads / cut->lanes) * cut->flight < shape->keys);
}

static void attention_of_few_queries_stays_in_registers(void **state) {
  (void)state;
  const leati_traits smaller = {.processors = 16, .threads = 256, .tuning = LEATI_TUNING_STANDARD};
  for (uint32_t subgroup = 4; subgroup <= 128; subgroup *= 2) {
    for (uint32_t i = 0; i < 2 * 64 * 20; ++i) {
      const leati_attention_few_shape shape = {
          .heads = 3, .rows = i / 128 + 1, .keys = 1000, .pieces = i / 2 % 64 + 1, .fours = i % 2 + 1};
      if (shape.pieces * shape.fours <= 64) { /* 256 elements */
        const leati_attention_few_cut cut = leati_attention_cut_few(&large, subgroup, &shape),
                                      small = leati_attention_cut_few(&smaller, subgroup, &shape);
        check_few(&large, subgroup, &shape, &cut);
        check_few(&smaller, subgroup, &shape, &small);
      }
    }
  }
}

/* Heads of 128 elements of 16 bits. */
static leati_attention_few_cut few_of(const leati_traits *device, uint64_t heads, uint64_t rows, uint32_t keys) {
  const leati_attention_few_shape shape = {.heads = heads, .rows = rows, .keys = keys, .pieces = 16, .fours = 2};
  return leati_attention_cut_few(device, 32, &shape);
}

static void attention_of_few_queries_shares_blocks_of_keys(void **state) {
  (void)state;
  /* Where results would not fit, teams are larger, and if they cannot be workgroups have fewer rows. */
  const leati_attention_few_shape narrow = {.heads = 8, .rows = 8, .keys = 512, .pieces = 16, .fours = 2};
  assert_int_equal(few_of(&large, 8, 4, 512).lanes, 8);
  assert_int_equal(few_of(&large, 8, 8, 512).lanes, 16);
  assert_int_equal(few_of(&large, 8, 8, 512).rows, 8);
  assert_int_equal(leati_attention_cut_few(&large, 8, &narrow).rows, 4);
  const uint32_t enough = 128 * LEATI_ATTENTION_FEW_FILL_QUARTERS / 4;
  const leati_attention_few_cut long_one = few_of(&large, 1, 1, 1u << 20);
  assert_int_equal(long_one.threads, LEATI_ATTENTION_FEW_THREADS);
  assert_int_equal(long_one.splits, enough);
  assert_int_equal(few_of(&large, enough / 2, 1, 1u << 20).splits, 2);
  assert_int_equal(few_of(&large, enough / 2 + 1, 1, 1u << 20).splits, 1);
  assert_int_equal(few_of(&large, UINT64_C(1) << 40, 1, 1u << 20).splits, 1);
  /* Fewer blocks than processors are blocks of smaller workgroups, and nobody shares one. */
  const leati_attention_few_cut short_one = few_of(&large, 1, 1, 100);
  const uint32_t block = short_one.threads / short_one.lanes * short_one.flight;
  assert_int_equal(short_one.threads, LEATI_ATTENTION_FEW_THREADS_MIN);
  assert_int_equal(short_one.splits, div_up(100, block));
  assert_int_equal(few_of(&large, 1, 1, 2 * block).splits, 2);
  assert_int_equal(few_of(&large, 1, 1, 2 * block + 1).splits, 3);
  assert_int_equal(few_of(&large, 1, 1, 1).splits, 1);
  assert_int_equal(few_of(&large, 0, 0, 0).splits, 1);
  assert_int_equal(few_of(&tiny, 1, 1, 1u << 20).splits, 1);
  assert_true(leati_attention_is_few(&large, LEATI_ATTENTION_FEW_QUERIES));
  assert_false(leati_attention_is_few(&large, LEATI_ATTENTION_FEW_QUERIES + 1));
}

static uint32_t splits_of(const leati_traits *device, uint32_t m, uint32_t n, uint32_t k) {
  const leati_gemm_shape shape = {.m = m, .n = n, .k = k, .batch = 1};
  leati_gemm_cut cut;
  (void)leati_gemm_cut_tiled(device, &shape, LEATI_WORK_OTHER, &cut);
  return cut.splits;
}

/* Whether such a product, whose k is not split, has the kernel with more slices of k. */
static bool has_more_slices(const leati_traits *device, uint32_t m, uint32_t n, uint32_t k) {
  const leati_gemm_shape shape = {.m = m, .n = n, .k = k, .batch = 1};
  leati_gemm_cut cut;
  const leati_tile tile = leati_gemm_cut_tiled(device, &shape, LEATI_WORK_PRODUCT, &cut);
  return leati_gemm_more_slices_pay(device, &shape, tile, cut.splits);
}

static void few_tiles_have_more_slices(void **state) {
  (void)state;
  leati_traits device = large;
  device.tuning.gemm_fill_16_quarters = 0;
  device.tuning.gemm_split_min = 1u << 20;
  const uint32_t most = 128 * LEATI_GEMM_SLICES_FILL_QUARTERS / 4;
  assert_true(has_more_slices(&device, 32, 32 * most, LEATI_GEMM_SLICES_MIN));
  assert_false(has_more_slices(&device, 32, 32 * most, LEATI_GEMM_SLICES_MIN - 1));
  assert_false(has_more_slices(&device, 32, 32 * (most + 1), LEATI_GEMM_SLICES_MIN));
  /* Pieces of a k that is split have few steps already, and other tiles other kernels. */
  device.tuning.gemm_split_min = 64;
  assert_false(has_more_slices(&device, 32, 32 * most, LEATI_GEMM_SLICES_MIN));
  assert_false(has_more_slices(&large, 32, 32, LEATI_GEMM_K_16));
  assert_true(has_more_slices(&large, 40, 1700, 300)); /* few_tiles_of_32 of the conformance suite */
  assert_false(has_more_slices(&large, 64, 64 * most * LEATI_GEMM_FILL_64_QUARTERS, LEATI_GEMM_SLICES_MIN));
}

static void tiles_are_the_largest_that_fill_the_device(void **state) {
  (void)state;
  const uint32_t wanted = 128 * LEATI_GEMM_FILL_128_QUARTERS / 4, wanted_64 = 128 * LEATI_GEMM_FILL_64_QUARTERS / 4;
  assert_int_equal(tile_of(&large, 128, 128 * wanted, 1), LEATI_TILE_128);
  assert_true(tile_of(&large, 128, 128 * (wanted - 1), 1) > LEATI_TILE_128);
  assert_int_equal(tile_of(&large, 128, 128, wanted), LEATI_TILE_128);
  /* A few more than one for each processor, and the last of them would have the device to themselves. */
  assert_int_equal(product_tile_of(&large, 128, 128 * 128, 64, 1), LEATI_TILE_128);
  assert_int_equal(product_tile_of(&large, 128, 128 * (128 + 1), 64, 1), LEATI_TILE_64);
  assert_int_equal(product_tile_of(&large, 128, 128 * (2 * wanted - 1), 64, 1), LEATI_TILE_64);
  assert_int_equal(product_tile_of(&large, 128, 128 * 2 * wanted, 64, 1), LEATI_TILE_128);
  assert_int_equal(tile_of(&large, 128, 128 * (128 + 1), 1), LEATI_TILE_128); /* of bytes */
  assert_int_equal(tile_of(&large, 64, 64 * wanted_64, 1), LEATI_TILE_64);
  assert_int_equal(tile_of(&large, 64, 64 * (wanted_64 - 1), 1), LEATI_TILE_32);
  /* A tile that is at most half full is none, whatever there is of them. */
  assert_int_equal(tile_of(&large, 64, 128 * wanted_64, 1), LEATI_TILE_64);
  assert_int_equal(tile_of(&large, 65, 128 * wanted_64, 1), LEATI_TILE_128);
  assert_int_equal(tile_of(&large, 128 * wanted_64, 64, 1), LEATI_TILE_64);
  assert_int_equal(tile_of(&large, 32, 64 * wanted_64, 1), LEATI_TILE_32);
  assert_int_equal(tile_of(&large, 64 * wanted_64, 32, 1), LEATI_TILE_32);
  /* One processor is full with one workgroup. */
  assert_int_equal(tile_of(&tiny, 65, 65, 1), LEATI_TILE_128);
  assert_int_equal(tile_of(&tiny, 33, 33, 1), LEATI_TILE_64);
  assert_int_equal(tile_of(&tiny, 32, 33, 1), LEATI_TILE_32);
  assert_int_equal(splits_of(&tiny, 65, 65, 1 << 20), 1);
}

static void products_of_few_tiles_have_small_ones(void **state) {
  (void)state;
  const uint32_t most = 128 * LEATI_GEMM_FILL_16_QUARTERS / 4, long_k = LEATI_GEMM_K_16;
  assert_int_equal(product_tile_of(&large, 16, 16 * most, long_k, 1), LEATI_TILE_16);
  assert_int_equal(product_tile_of(&large, 16, 16 * most + 1, long_k, 1), LEATI_TILE_32);
  assert_int_equal(product_tile_of(&large, 16, 16 * most, long_k + 1, 1), LEATI_TILE_32);
  assert_int_equal(product_tile_of(&large, 1, 16, long_k + 1, 1), LEATI_TILE_32);
  assert_int_equal(product_tile_of(&large, 16, 16, 1, most), LEATI_TILE_16);
  assert_int_equal(product_tile_of(&large, 16, 16, 1, most + 1), LEATI_TILE_32);
  assert_int_equal(product_tile_of(&large, 16, 16, 0, most), LEATI_TILE_16);
  /* One processor is full with one workgroup of a larger tile. */
  assert_int_equal(product_tile_of(&tiny, 33, 33, 64, 1), LEATI_TILE_64);
}

static void long_products_are_split_where_workgroups_are_few(void **state) {
  (void)state;
  const uint32_t filling = 128 * LEATI_GEMM_SPLIT_FILL, few = 128 * LEATI_GEMM_FEW_QUARTERS / 4;
  assert_int_equal(splits_of(&large, 32, 32 * few, 2 * LEATI_GEMM_SPLIT_MIN_FEW - 1), 1);
  assert_int_equal(splits_of(&large, 32, 32 * few, 2 * LEATI_GEMM_SPLIT_MIN_FEW), 2);
  assert_int_equal(splits_of(&large, 32, 32 * (few + 1), 2 * LEATI_GEMM_SPLIT_MIN - 1), 1);
  assert_int_equal(splits_of(&large, 32, 32 * (few + 1), 2 * LEATI_GEMM_SPLIT_MIN), 2);
  assert_int_equal(splits_of(&large, 32, 32, filling * LEATI_GEMM_SPLIT_MIN), filling);
  assert_int_equal(splits_of(&large, 32, 32, 16 * filling * LEATI_GEMM_SPLIT_MIN), filling);
  assert_int_equal(splits_of(&large, 32, 32 * (filling / 2 + 1), 1 << 20), 1);
  assert_int_equal(splits_of(&large, 32, 32 * (filling / 2), 1 << 20), 2);
  /* The largest tiles are many enough, or are not taken. */
  assert_int_equal(splits_of(&large, 128, 128 * 128, 1 << 20), 1);
  /* Four processors. */
  assert_int_equal(splits_of(&software, 32, 32 * 9, 1 << 20), 1);
  assert_int_equal(splits_of(&software, 32, 32 * 8, 1 << 20), 2);
  const leati_gemm_shape row = {.m = 1, .n = 16, .k = 2 * LEATI_GEMV_SPLIT_MIN - 1, .batch = 1};
  assert_int_equal(leati_gemm_cut_skinny(&large, &row, LEATI_ALONG_K).gemm.splits, 1);
  const leati_gemm_shape longer = {.m = 1, .n = 16, .k = 2 * LEATI_GEMV_SPLIT_MIN, .batch = 1};
  assert_int_equal(leati_gemm_cut_skinny(&large, &longer, LEATI_ALONG_K).gemm.splits, 2);
}

static void products_of_few_rows_have_narrow_workgroups_where_these_are_few(void **state) {
  (void)state;
  const uint32_t along = LEATI_ALONG_COLUMNS_EIGHTS, enough = 128 * LEATI_GEMV_FILL_QUARTERS / 4;
  const leati_gemm_shape wide = {.m = 1, .n = enough * 128, .k = 1 << 20, .batch = 1};
  leati_gemv_cut cut = leati_gemm_cut_skinny(&large, &wide, along);
  assert_int_equal(cut.lanes, LEATI_GEMV_LANES);
  const leati_gemm_shape narrower = {.m = 1, .n = (enough - 1) * 128, .k = 1 << 20, .batch = 1};
  cut = leati_gemm_cut_skinny(&large, &narrower, along);
  assert_int_equal(cut.lanes, LEATI_GEMV_LANES / 2);
  assert_int_equal(cut.gemm.splits, 1);
  assert_int_equal(cut.threads, LEATI_GEMV_THREADS);
  /* No more workgroups than processors: larger ones. */
  const leati_gemm_shape narrow = {.m = 1, .n = 128 * LEATI_GEMV_COLUMNS_MIN, .k = 1 << 20, .batch = 1};
  cut = leati_gemm_cut_skinny(&large, &narrow, along);
  assert_int_equal(cut.lanes * 8, LEATI_GEMV_COLUMNS_MIN);
  assert_int_equal(cut.gemm.splits, 1);
  assert_int_equal(cut.threads, 2 * LEATI_GEMV_THREADS);
  assert_int_equal(leati_gemm_cut_skinny(&tiny, &narrow, along).threads, LEATI_GEMV_THREADS);
}

static void rows_of_bytes_have_narrow_workgroups_where_these_are_few(void **state) {
  (void)state;
  const uint32_t along = LEATI_ALONG_COLUMNS_QUADS, enough = 128 * LEATI_GEMV_FILL_QUARTERS / 4;
  const leati_gemm_shape wide = {.m = 1, .n = enough * 64, .k = 1 << 20, .batch = 1};
  assert_int_equal(leati_bytes_cut(&large, &wide, along).lanes, LEATI_GEMV_LANES);
  assert_int_equal(leati_bytes_cut(&large, &wide, along).gemm.splits, 1);
  const leati_gemm_shape narrow = {.m = 1, .n = (enough - 1) * 64, .k = 1 << 20, .batch = 1};
  assert_int_equal(4 * leati_bytes_cut(&large, &narrow, along).lanes, LEATI_BYTES_COLUMNS_MIN);
  const leati_gemm_shape few = {.m = 1, .n = 64, .k = 2 * LEATI_GEMV_SPLIT_MIN, .batch = 1};
  assert_int_equal(4 * leati_bytes_cut(&large, &few, along).lanes, LEATI_BYTES_COLUMNS_MIN);
  assert_int_equal(leati_bytes_cut(&large, &few, along).gemm.splits, 2);
  assert_int_equal(leati_bytes_cut(&large, &few, LEATI_ALONG_K_QUADS).lanes, LEATI_GEMV_LANES);
}

static void weights_of_few_bits_are_split_into_whole_steps(void **state) {
  (void)state;
  const uint32_t rows = 8, step = LEATI_NBITS_LANES_MIN * LEATI_NBITS_BYTES * 8 / 4, filling = 128 * LEATI_NBITS_FILL;
  const uint32_t columns = LEATI_NBITS_COLUMNS / LEATI_NBITS_LANES_MIN;
  const leati_gemm_shape none = {.m = rows, .n = columns, .k = 2 * step - 1, .batch = 1};
  assert_int_equal(leati_nbits_cut(&large, &none, rows, 4).gemm.splits, 1);
  assert_int_equal(leati_nbits_cut(&large, &none, rows, 8).gemm.splits, 2);
  const leati_gemm_shape two = {.m = rows, .n = columns, .k = 2 * step, .batch = 1};
  assert_int_equal(leati_nbits_cut(&large, &two, rows, 4).gemm.splits, 2);
  const leati_gemm_shape filled = {.m = rows, .n = filling / 2 * columns, .k = 1 << 20, .batch = 1};
  assert_int_equal(leati_nbits_cut(&large, &filled, rows, 4).gemm.splits, 2);
  const leati_gemm_shape more = {.m = rows, .n = (filling / 2 + 1) * columns, .k = 1 << 20, .batch = 1};
  assert_int_equal(leati_nbits_cut(&large, &more, rows, 4).gemm.splits, 1);
  /* Fewer rows let more threads share a column, before k is split; no more than it has work for. */
  assert_int_equal(leati_nbits_cut(&large, &filled, 1, 4).lanes, 2 * LEATI_NBITS_LANES_MIN);
  assert_int_equal(leati_nbits_cut(&large, &filled, 1, 4).gemm.splits, 1);
  assert_int_equal(leati_nbits_cut(&large, &none, 1, 4).lanes, LEATI_NBITS_LANES_MIN);
}

static void few_rows_or_columns_have_a_kernel_of_their_own(void **state) {
  (void)state;
  for (int on = 0; on <= 1; ++on) {
    const int64_t few = on != 0 ? LEATI_MATRIX_GEMV_ROWS : LEATI_GEMV_ROWS;
    assert_true(leati_gemm_is_skinny(&large, on, few, 1000) && !leati_gemm_is_transposed(&large, on, few, 1000));
    assert_true(leati_gemm_is_skinny(&large, on, 1000, few) && leati_gemm_is_transposed(&large, on, 1000, few));
    assert_true(leati_gemm_is_skinny(&large, on, few, few) && !leati_gemm_is_transposed(&large, on, few, few));
    assert_false(leati_gemm_is_skinny(&large, on, few + 1, few + 1));
    assert_false(leati_gemm_is_transposed(&large, on, few + 1, few + 1));
  }
}

static void operands_are_read_as_widely_as_they_lie(void **state) {
  (void)state;
  assert_int_equal(leati_gemm_mode(true, true, 1, 1), LEATI_MODE_QUADS_K);
  assert_int_equal(leati_gemm_mode(false, true, 4, 1), LEATI_MODE_QUADS_I);
  assert_int_equal(leati_gemm_mode(false, false, 3, 3), LEATI_MODE_SINGLES_K);
  assert_int_equal(leati_gemm_mode(false, false, 4, 3), LEATI_MODE_SINGLES_I);
  const uint32_t quads_k = LEATI_MODE_QUADS_K, quads_i = LEATI_MODE_QUADS_I, many = LEATI_GEMV_QUADS_COLUMNS;
  assert_int_equal(leati_gemv_along(quads_k, quads_k, false, many, 1, 64), LEATI_ALONG_K_QUADS);
  assert_int_equal(leati_gemv_along(quads_i, quads_k, false, many, 1, 64), LEATI_ALONG_K);
  assert_int_equal(leati_gemv_along(quads_k, quads_i, false, many, 64, 1), LEATI_ALONG_COLUMNS_QUADS);
  assert_int_equal(leati_gemv_along(quads_k, quads_i, true, many, 64, 1), LEATI_ALONG_COLUMNS_EIGHTS);
  assert_int_equal(leati_gemv_along(quads_k, quads_i, true, many - 1, 64, 1), LEATI_ALONG_COLUMNS);
  assert_int_equal(leati_gemv_along(quads_k, quads_i, false, many - 1, 1, 1), LEATI_ALONG_K);
  assert_int_equal(leati_gemv_along_bytes(quads_k, 1, 64), LEATI_ALONG_K_QUADS);
  assert_int_equal(leati_gemv_along_bytes(quads_i, 64, 1), LEATI_ALONG_COLUMNS_QUADS);
  assert_int_equal(leati_gemv_along_bytes(LEATI_MODE_SINGLES_K, 1, 33), LEATI_ALONG_K);
  assert_int_equal(leati_gemv_along_bytes(LEATI_MODE_SINGLES_I, 33, 1), LEATI_ALONG_COLUMNS);
}

static void little_is_read_from_where_it_lies_apart(void **state) {
  (void)state;
  assert_true(leati_reads_scattered(LEATI_SCATTERED_MAX));
  assert_false(leati_reads_scattered(LEATI_SCATTERED_MAX + 1));
}

static uint32_t parts(bool along, uint64_t rows, uint64_t count) {
  return leati_row_parts(along, rows, count);
}

static void rows_have_as_many_threads_as_they_are_long(void **state) {
  (void)state;
  assert_int_equal(parts(true, 1, LEATI_ROW_1_MAX), 1);
  assert_int_equal(parts(true, 1, LEATI_ROW_1_MAX + 1), 8);
  assert_int_equal(parts(true, 1, LEATI_ROW_8_MAX), 8);
  assert_int_equal(parts(true, 1, LEATI_ROW_8_MAX + 1), 32);
  assert_int_equal(parts(true, 1, LEATI_ROW_32_MAX), 32);
  assert_int_equal(parts(true, LEATI_ROWS_MANY - 1, LEATI_ROW_32_MAX + 1), LEATI_ROW_THREADS);
  assert_int_equal(parts(true, LEATI_ROWS_MANY, LEATI_ROW_32_MAX + 1), 32);
  assert_int_equal(parts(true, LEATI_ROWS_MANY, LEATI_ROW_32_MANY_MAX), 32);
  assert_int_equal(parts(true, LEATI_ROWS_MANY, LEATI_ROW_32_MANY_MAX + 1), LEATI_ROW_THREADS);
  assert_int_equal(parts(false, 1, LEATI_ACROSS_1_MAX), 1);
  assert_int_equal(parts(false, 1, LEATI_ACROSS_1_MAX + 1), 8);
  assert_int_equal(parts(false, 1, LEATI_ACROSS_8_BELOW - 1), 8);
  assert_int_equal(parts(false, 1, LEATI_ACROSS_8_BELOW), 32);
  assert_int_equal(parts(false, LEATI_ACROSS_8_ROWS, LEATI_ACROSS_8_BELOW), 32);
  assert_int_equal(parts(false, LEATI_ACROSS_8_ROWS + 1, LEATI_ACROSS_8_BELOW), 8);
  assert_int_equal(parts(false, LEATI_ACROSS_1_ROWS - 1, 1 << 20), 8);
  assert_int_equal(parts(false, LEATI_ACROSS_1_ROWS, 1 << 20), 1);
}

static void a_thread_holds_up_to_four_fours(void **state) {
  (void)state;
  static const struct {
    uint64_t rows, count;
    uint32_t parts, group, held;
  } shares[] = {
      {1, 0, 1, 32, 1},          {1, 5, 2, 32, 1},          {768, 64, 16, 64, 1},     {64, 384, 32, 32, 3},
      {4096, 512, 32, 256, 4},   {4096, 513, 64, 256, 3},   {4096, 1024, 64, 256, 4}, {4096, 1025, 128, 256, 3},
      {4096, 4096, 256, 256, 4}, {4096, 4097, 256, 256, 0},
  };
  for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); ++i) {
    const leati_row_share share = leati_row_share_of(&large, 32, true, shares[i].rows, shares[i].count);
    assert_int_equal(share.parts, shares[i].parts);
    assert_int_equal(share.group, shares[i].group);
    assert_int_equal(share.held, shares[i].held);
  }
  /* A workgroup has whole subgroups. */
  assert_int_equal(leati_row_share_of(&large, 128, true, 1, 4).group, 128);
  /* Where the rows are neighbours, threads have whole rows or large parts. */
  assert_int_equal(leati_row_share_of(&large, 32, false, 16384, 16).held, 4);
  assert_int_equal(leati_row_share_of(&large, 32, false, 16384, 17).held, 0);
}

static void reductions_are_cut_until_the_device_is_full(void **state) {
  (void)state;
  const uint64_t wanted = (uint64_t)128 * LEATI_REDUCE_FILL, million = 1 << 20;
  const uint32_t least = LEATI_REDUCE_CHUNK_MIN * LEATI_ROW_THREADS;
  assert_int_equal(leati_reduce_chunk(&large, wanted, LEATI_ROW_THREADS, million), million);
  assert_int_equal(leati_reduce_chunk(&large, wanted - 1, LEATI_ROW_THREADS, million), million / 2);
  assert_int_equal(leati_reduce_chunk(&large, 1, LEATI_ROW_THREADS, 2 * least - 1), 2 * least - 1);
  assert_int_equal(leati_reduce_chunk(&large, 1, LEATI_ROW_THREADS, 2 * least), least);
  assert_int_equal(leati_reduce_chunk(&large, 1, 32, million), div_up(million, wanted * LEATI_REDUCE_SPLIT_FILL));
  assert_int_equal(leati_reduce_chunk(&large, 1, LEATI_ROW_THREADS, 0), 0);
  /* One processor wants few workgroups. */
  assert_int_equal(leati_reduce_chunk(&tiny, LEATI_REDUCE_FILL, LEATI_ROW_THREADS, million), million);
  assert_int_equal(leati_reduce_chunk(&tiny, 1, LEATI_ROW_THREADS, million),
                   million / (LEATI_REDUCE_FILL * LEATI_REDUCE_SPLIT_FILL));
}

static void dynamic_quantisation_is_one_dispatch_of_few_elements(void **state) {
  (void)state;
  const uint64_t block = 4 * LEATI_DYNAMIC_THREADS, most = LEATI_DYNAMIC_WHOLE_MAX;
  static const struct {
    uint64_t count;
    bool whole;
    uint32_t groups;
  } cuts[] = {{0, true, 1},
              {1, true, 1},
              {4 * LEATI_DYNAMIC_THREADS, true, 1},
              {4 * LEATI_DYNAMIC_THREADS + 1, true, 2},
              {64 * 384, true, 64 * 384 / (4 * LEATI_DYNAMIC_THREADS)},
              {1 << 22, false, 128 * LEATI_DYNAMIC_FILL}};
  for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); ++i) {
    const leati_dynamic_cut cut = leati_dynamic_cut_of(&large, cuts[i].count);
    assert_int_equal(cut.whole, cuts[i].whole);
    assert_int_equal(cut.threads, LEATI_DYNAMIC_THREADS);
    assert_int_equal(cut.groups, cuts[i].groups);
  }
  assert_true(leati_dynamic_cut_of(&large, most).whole);
  assert_false(leati_dynamic_cut_of(&large, most + 1).whole);
  assert_int_equal(leati_dynamic_cut_of(&large, most + 1).groups, most / block + 1);
  /* Each workgroup of one dispatch reads everything, and has one block: there are no more than run at once. */
  assert_true(leati_dynamic_cut_of(&software, 4 * 4 * LEATI_DYNAMIC_THREADS_MIN).whole);
  assert_false(leati_dynamic_cut_of(&software, 4 * 4 * LEATI_DYNAMIC_THREADS_MIN + 1).whole);
  assert_int_equal(leati_dynamic_cut_of(&tiny, most).groups, LEATI_DYNAMIC_FILL);
  assert_int_equal(leati_dynamic_cut_of(&tiny, most).threads, LEATI_DYNAMIC_THREADS_MIN);
}

/* The layer of a cut has all that the kernel is written for, within what the device has. */
static leati_recurrent_cut check_recurrent(const leati_traits *device, const leati_recurrent_shape *shape) {
  const leati_recurrent_cut cut = leati_recurrent_cut_of(device, shape);
  const uint32_t all = (shape->units + 3) / 4;
  assert_true(cut.threads >= 1 && cut.threads <= device->threads);
  assert_true(cut.rows >= 1 && cut.rows <= LEATI_RECURRENT_ROWS_MOST && cut.pass >= 1 && cut.rows % cut.pass == 0);
  assert_true(cut.pass * cut.fours * 4 <= cut.threads);
  assert_true((uint64_t)(cut.pass * cut.threads + cut.vectors + (shape->quantized ? cut.rows : 0)) * 16 <=
              device->shared);
  assert_true(cut.held <= LEATI_RECURRENT_HELD_MOST);
  if (cut.whole) {
    assert_int_equal(cut.fours, all);
    assert_true(cut.vectors >= cut.rows * all);
  }
  for (uint32_t r = 0; r < 2; ++r) {
    assert_true(cut.parts[r] * shape->round_gates[r] * cut.fours <= cut.threads);
    assert_true(shape->round_gates[r] == 0 || (uint64_t)cut.parts[r] * cut.part_fours[r] >= all);
  }
  return cut;
}

static void recurrent_layers_fit_any_device(void **state) {
  (void)state;
  leati_traits least = tiny;
  least.threads = 128;
  least.shared = 16384;
  leati_traits middle = large; /* Its shared memory is a power of two that a pass of rows could fill. */
  middle.threads = 1024;
  middle.shared = 32768;
  leati_traits most = large;
  most.threads = 1024;
  most.shared = 49152;
  const leati_traits *const devices[] = {&least, &middle, &most};
  static const uint32_t gates[][3] = {{4, 4, 0}, {3, 3, 0}, {3, 2, 1}, {1, 1, 0}};
  static const uint32_t units[] = {1, 3, 4, 31, 64, 100, 128, 129, 255, 256, 1000, 1024, 4096};
  static const uint32_t batches[] = {1, 2, 5, 17, 300};
  for (uint32_t i = 0; i < 3 * 4 * 13 * 5 * 2; ++i) {
    const uint32_t *const g = gates[i / 3 % 4];
    leati_recurrent_shape shape = {.gates = g[0],
                                   .round_gates = {g[1], g[2]},
                                   .units = units[i / 12 % 13],
                                   .batch = batches[i / 156 % 5],
                                   .steps = 20,
                                   .directions = 1 + i / 780 % 2,
                                   .item_size = 4};
    (void)check_recurrent(devices[i % 3], &shape);
    shape.steps = 1;
    shape.item_size = 2;
    (void)check_recurrent(devices[i % 3], &shape);
    shape.item_size = 1;
    shape.quantized = true;
    (void)check_recurrent(devices[i % 3], &shape);
    shape.steps = 20;
    (void)check_recurrent(devices[i % 3], &shape);
  }
}

static void small_recurrent_layers_are_one_dispatch(void **state) {
  (void)state;
  leati_traits device = large;
  device.threads = 1024;
  device.shared = 49152;
  leati_recurrent_shape lstm = {.gates = 4,
                                .round_gates = {4, 0},
                                .units = 128,
                                .batch = 1,
                                .steps = LEATI_RECURRENT_WHOLE_STEPS,
                                .directions = 1,
                                .item_size = 4};
  assert_int_equal(4 * 128 * 128 * 4, LEATI_RECURRENT_WHOLE_MAX);
  assert_true(leati_recurrent_cut_of(&device, &lstm).whole);
  assert_int_equal(leati_recurrent_cut_of(&device, &lstm).rows, 1);
  assert_int_equal(leati_recurrent_cut_of(&device, &lstm).held, LEATI_RECURRENT_HELD_MOST);
  lstm.steps = LEATI_RECURRENT_WHOLE_STEPS - 1;
  assert_false(leati_recurrent_cut_of(&device, &lstm).whole);
  lstm.steps = 20;
  lstm.units = 132;
  assert_false(leati_recurrent_cut_of(&device, &lstm).whole);
  lstm.units = 128;
  /* As many rows as there are processors go by themselves. */
  lstm.batch = device.processors;
  assert_int_equal(leati_recurrent_cut_of(&device, &lstm).rows, 1);
  lstm.batch = device.processors + 1;
  assert_int_equal(leati_recurrent_cut_of(&device, &lstm).rows, 4);
}

static void means_have_as_many_threads_as_images_are_large(void **state) {
  (void)state;
  const uint64_t each = LEATI_SQUEEZE_LOADS;
  assert_int_equal(leati_squeeze_parts(1), LEATI_SQUEEZE_PARTS_MIN);
  assert_int_equal(leati_squeeze_parts(each * 32), 32);
  assert_int_equal(leati_squeeze_parts(each * 32 + 1), 64);
  assert_int_equal(leati_squeeze_parts(INT32_MAX), LEATI_SQUEEZE_THREADS);
}

static void squeeze_and_excitation_is_one_dispatch_with_few_weights(void **state) {
  (void)state;
  assert_true(leati_squeeze_pays(576, 144));
  assert_false(leati_squeeze_pays(672, 168));
}

/* ---- Tuning -------------------------------------------------------------------------------------------------------
 */

/* Adds a number to what rules answered so far. */
static void note(uint64_t *answers, uint64_t value) {
  *answers = (*answers ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  *answers ^= *answers >> 29;
}

/* Holds rows of all kinds against what is asked of how they are shared out, whatever the tuning. */
static void check_rows(const leati_traits *device, uint64_t rows, uint64_t count, uint64_t *answers) {
  for (int along = 0; along <= 1; ++along) {
    const uint32_t threads = leati_row_parts(along != 0, rows, count);
    assert_true(threads >= 1 && threads <= LEATI_ROW_THREADS && (threads & (threads - 1)) == 0);
    const uint64_t groups = div_up(rows * threads, LEATI_ROW_THREADS);
    const uint64_t chunk = leati_reduce_chunk(device, groups, threads, count);
    assert_true(count == 0 ? chunk == 0 : chunk >= 1 && chunk <= count);
    assert_true(chunk <= (uint64_t)threads * LEATI_REDUCE_TURNS_MAX);
    note(answers, threads);
    note(answers, chunk);
    for (uint32_t subgroup = 1; subgroup <= 128; subgroup *= 4) {
      const leati_row_share share = leati_row_share_of(device, subgroup, along != 0, rows, count);
      const uint64_t fours = count > 0 ? div_up(count, 4) : 1;
      assert_true(share.parts >= 1 && share.parts <= share.group && (share.parts & (share.parts - 1)) == 0);
      assert_true(share.group >= subgroup && share.group <= LEATI_ROW_THREADS &&
                  (share.group & (share.group - 1)) == 0);
      assert_true(share.held <= 4 && (share.held == 0 || (uint64_t)share.held * share.parts >= fours));
      note(answers, share.parts);
      note(answers, share.group);
      note(answers, share.held);
    }
  }
}

static void check_dynamic(const leati_traits *device, uint64_t count, uint64_t *answers) {
  const leati_dynamic_cut cut = leati_dynamic_cut_of(device, count);
  const uint64_t blocks = div_up(count, 4 * (uint64_t)cut.threads);
  assert_true(cut.threads >= 128 && cut.threads <= device->threads && (cut.threads & (cut.threads - 1)) == 0);
  assert_true(cut.groups >= 1 && (cut.groups == 1 || cut.groups <= blocks));
  assert_true((cut.whole ? blocks : div_up(blocks, cut.groups)) <= LEATI_REDUCE_TURNS_MAX);
  note(answers, cut.threads);
  note(answers, cut.groups);
  note(answers, cut.whole);
}

static void check_attention(const leati_traits *device, uint32_t heads, uint32_t count, uint64_t *answers) {
  const uint32_t subgroups = leati_attention_subgroups(device, heads, count, 16);
  const uint32_t splits = leati_attention_splits(device, heads, count);
  assert_true(subgroups >= 1 && subgroups <= LEATI_MATRIX_SUBGROUPS && (subgroups & (subgroups - 1)) == 0);
  assert_true(splits == 1 || (splits <= count / device->tuning.attention_split_min && splits <= PIECES_MAX));
  note(answers, subgroups);
  note(answers, splits);
  note(answers, leati_attention_is_few(device, heads));
  for (uint32_t subgroup = 4; subgroup <= 128; subgroup *= 2) {
    const leati_attention_few_shape shape = {.heads = heads,
                                             .rows = heads % 20 + 1,
                                             .keys = count,
                                             .pieces = subgroup / 4 + heads % 2,
                                             .fours = subgroup < 64 ? 2 : 1};
    const leati_attention_few_cut cut = leati_attention_cut_few(device, subgroup, &shape);
    check_few(device, subgroup, &shape, &cut);
    assert_true(cut.splits <= PIECES_MAX);
    note(answers, cut.lanes);
    note(answers, cut.flight);
    note(answers, cut.threads);
    note(answers, cut.splits);
  }
}

static void note_product(const leati_traits *device, const leati_gemm_shape *s, uint64_t *answers) {
  leati_gemm_cut cut;
  for (leati_tile_work work = LEATI_WORK_PRODUCT; work <= LEATI_WORK_CONVOLUTION; ++work) {
    const leati_tile plain = leati_gemm_cut_tiled(device, s, work, &cut);
    note(answers, plain + cut.splits * 8);
    note(answers, leati_gemm_more_slices_pay(device, s, plain, cut.splits));
    const leati_tile tile = leati_gemm_cut_matrices(device, s, work, &cut);
    note(answers, tile + cut.splits * 8);
    note(answers, leati_gemm_along_k_pays(leati_tile_size(tile), s));
  }
  note(answers, leati_conv_last_pays(device, s, (uint64_t)s->n * s->k));
  for (uint32_t along = LEATI_ALONG_K; along <= LEATI_ALONG_COLUMNS_EIGHTS; ++along) {
    const leati_gemv_cut few = leati_gemm_cut_skinny(device, s, along);
    assert_true(few.gemm.splits <= PIECES_MAX);
    note(answers, few.lanes + few.gemm.splits * 32);
  }
  const leati_gemv_cut bytes = leati_bytes_cut(device, s, LEATI_ALONG_COLUMNS_QUADS);
  assert_true(bytes.gemm.splits <= PIECES_MAX);
  note(answers, bytes.lanes + bytes.gemm.splits * 32);
  note(answers, leati_nbits_cut(device, s, 1, 4).gemm.splits);
  note(answers, leati_gemv_along(LEATI_MODE_SINGLES_K, LEATI_MODE_QUADS_I, true, s->n, 1, 1));
  for (int on = 0; on <= 1; ++on) {
    note(answers, leati_gemm_is_skinny(device, on, s->m, s->n) * 2u + leati_gemm_is_transposed(device, on, s->m, s->n));
  }
}

static void note_recurrent(const leati_traits *device, uint32_t units, uint32_t batch, uint64_t *answers) {
  for (uint32_t steps = 1; steps <= 4; ++steps) {
    const leati_recurrent_shape shape = {.gates = 4,
                                         .round_gates = {4, 0},
                                         .units = units,
                                         .batch = batch,
                                         .steps = steps,
                                         .directions = 1,
                                         .item_size = 4};
    const leati_recurrent_cut cut = check_recurrent(device, &shape);
    note(answers, cut.whole);
    note(answers, cut.threads);
    note(answers, cut.fours);
  }
}

/* What all rules answer, on devices of three sizes; each answer is held against what is asked of it. */
static uint64_t check_rules(const leati_tuning *tuning) {
  static const uint32_t sizes[] = {1, 2, 5, 8, 16, 33, 65, 128, 320, 1000, 4096, 50257};
  static const uint32_t processors[] = {1, 132, 1024};
  const size_t count = sizeof(sizes) / sizeof(sizes[0]);
  uint64_t answers = 0;
  for (size_t d = 0; d < 3; ++d) {
    const leati_traits device = {
        .cores = 1, .processors = processors[d], .threads = 1024, .shared = 49152, .tuning = *tuning};
    for (size_t i = 0; i < count * count; ++i) {
      const uint32_t a = sizes[i % count], b = sizes[i / count];
      for (uint32_t k = 1; k <= UINT32_C(1) << 20; k *= 32) {
        const leati_gemm_shape s = {.m = a, .n = b, .k = k, .batch = 1};
        check_product(&device, &s);
        note_product(&device, &s, &answers);
      }
      check_rows(&device, a, b, &answers);
      check_rows(&device, (uint64_t)a << 12, b, &answers);
      check_rows(&device, a, (uint64_t)b << 14, &answers);
      check_dynamic(&device, (uint64_t)a * b, &answers);
      note_recurrent(&device, a, b, &answers);
      check_attention(&device, a, b, &answers);
      check_attention(&device, a, b << 10, &answers);
    }
  }
  return answers;
}

/* Whether a constant is asked for where it is acted by, and by no rule of this room. */
static bool is_asked_elsewhere(const char *name) {
  static const char *const names[] = {"processors_assumed", "attention_matrix_keys", "copy_items_many"};
  bool found = false;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    found = found || strcmp(name, names[i]) == 0;
  }
  return found;
}

static void rules_are_right_with_any_tuning_and_ask_for_all_of_it(void **state) {
  (void)state;
  const leati_tuning standard = LEATI_TUNING_STANDARD;
  const uint64_t usual = check_rules(&standard);
  leati_tuning least = standard, most = standard;
  for (uint32_t i = 0; i < LEATI_TUNABLE_COUNT; ++i) {
    const leati_tunable *const it = &leati_tunables[i];
    leati_tuning low = standard, high = standard;
    assert_int_equal(*leati_tuning_field(&low, i), it->standard);
    *leati_tuning_field(&low, i) = *leati_tuning_field(&least, i) = it->least;
    *leati_tuning_field(&high, i) = *leati_tuning_field(&most, i) = it->most;
    const bool asked = check_rules(&low) != usual;
    if (check_rules(&high) == usual && !asked && !is_asked_elsewhere(it->name)) {
      fail_msg("no rule asks for %s", it->name);
    }
  }
  (void)check_rules(&least);
  (void)check_rules(&most);
  /* Values of all together at random, most of them near an end. */
  uint32_t random = 1;
  for (int round = 0; round < 100; ++round) {
    leati_tuning drawn = standard;
    for (uint32_t i = 0; i < LEATI_TUNABLE_COUNT; ++i) {
      const leati_tunable *const it = &leati_tunables[i];
      random = random * 1664525u + 1013904223u;
      const uint32_t range = it->most - it->least, some = (random >> 8) % (1u << (random >> 28)) % (range + 1);
      *leati_tuning_field(&drawn, i) = (random & 16u) != 0 ? it->least + some : it->most - some;
    }
    (void)check_rules(&drawn);
  }
}

/* ---- Saving -------------------------------------------------------------------------------------------------------
 */

static void saving_takes_a_part_of_what_compiling_does(void **state) {
  (void)state;
  assert_false(leati_save_is_due(0, 0));
  assert_true(leati_save_is_due(1, 0));
  assert_false(leati_save_is_due(1000 * LEATI_COMPILE_PER_SAVE - 1, 1000));
  assert_true(leati_save_is_due(1000 * LEATI_COMPILE_PER_SAVE, 1000));
  assert_false(leati_save_is_due(UINT64_MAX, LEATI_SAVE_NEVER));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_waits_spin_and_long_ones_sleep_first),
      cmocka_unit_test(a_wait_learns_more_from_one_that_was_over_while_it_slept),
      cmocka_unit_test(only_a_software_device_does_not_spin),
      cmocka_unit_test(spinning_threads_count_when_they_are_many_or_spin_for_long),
      cmocka_unit_test(attendants_take_turns_at_asking_the_driver),
      cmocka_unit_test(a_list_goes_by_its_commands_and_barriers),
      cmocka_unit_test(a_group_takes_so_many_lists),
      cmocka_unit_test(a_submission_takes_work_of_a_bounded_time),
      cmocka_unit_test(work_is_estimated_by_what_it_moves_and_multiplies),
      cmocka_unit_test(usual_models_are_one_submission_on_a_large_gpu),
      cmocka_unit_test(short_lists_by_themselves_are_held),
      cmocka_unit_test(one_batch_in_flight_where_batches_take_longer_than_what_that_loses),
      cmocka_unit_test(lists_that_never_meet_are_left_alone_for_a_while),
      cmocka_unit_test(a_lead_is_passed_on_to_the_last_leader_for_some_looks),
      cmocka_unit_test(a_list_changes_its_lane_for_an_empty_one_or_a_gain),
      cmocka_unit_test(an_interval_is_full_with_many_lists_or_some_long_ones),
      cmocka_unit_test(a_device_with_one_queue_has_nothing_to_tune),
      cmocka_unit_test(blocks_waste_a_quarter_at_most),
      cmocka_unit_test(segments_hold_many_small_blocks_and_few_large_ones),
      cmocka_unit_test(a_free_block_serves_what_is_a_little_smaller),
      cmocka_unit_test(small_copies_take_short_ways),
      cmocka_unit_test(large_downloads_cross_a_bus_in_pieces),
      cmocka_unit_test(chunks_are_of_the_usual_size_or_rounded_up),
      cmocka_unit_test(the_quarantine_is_bounded_yet_holds_one),
      cmocka_unit_test(idle_memory_goes_down_to_the_low_watermark_or_further),
      cmocka_unit_test(products_are_cut_wholly_on_any_device),
      cmocka_unit_test(few_tiles_have_more_slices),
      cmocka_unit_test(tiles_are_the_largest_that_fill_the_device),
      cmocka_unit_test(matrix_tiles_are_large_where_they_fill_the_device),
      cmocka_unit_test(matrix_tiles_are_small_where_these_do_not_fill_the_device),
      cmocka_unit_test(constants_lie_along_k_for_products_that_gain_by_it),
      cmocka_unit_test(parts_of_float32_pay_with_the_largest_tile),
      cmocka_unit_test(channels_are_moved_for_convolutions_that_multiply_much),
      cmocka_unit_test(attention_has_subgroups_as_long_as_they_fill_the_device),
      cmocka_unit_test(attention_shares_keys_where_queries_are_few),
      cmocka_unit_test(attention_of_few_queries_stays_in_registers),
      cmocka_unit_test(attention_of_few_queries_shares_blocks_of_keys),
      cmocka_unit_test(products_of_few_tiles_have_small_ones),
      cmocka_unit_test(long_products_are_split_where_workgroups_are_few),
      cmocka_unit_test(products_of_few_rows_have_narrow_workgroups_where_these_are_few),
      cmocka_unit_test(rows_of_bytes_have_narrow_workgroups_where_these_are_few),
      cmocka_unit_test(weights_of_few_bits_are_split_into_whole_steps),
      cmocka_unit_test(few_rows_or_columns_have_a_kernel_of_their_own),
      cmocka_unit_test(operands_are_read_as_widely_as_they_lie),
      cmocka_unit_test(little_is_read_from_where_it_lies_apart),
      cmocka_unit_test(rows_have_as_many_threads_as_they_are_long),
      cmocka_unit_test(a_thread_holds_up_to_four_fours),
      cmocka_unit_test(reductions_are_cut_until_the_device_is_full),
      cmocka_unit_test(recurrent_layers_fit_any_device),
      cmocka_unit_test(small_recurrent_layers_are_one_dispatch),
      cmocka_unit_test(means_have_as_many_threads_as_images_are_large),
      cmocka_unit_test(dynamic_quantisation_is_one_dispatch_of_few_elements),
      cmocka_unit_test(squeeze_and_excitation_is_one_dispatch_with_few_weights),
      cmocka_unit_test(rules_are_right_with_any_tuning_and_ask_for_all_of_it),
      cmocka_unit_test(saving_takes_a_part_of_what_compiling_does),
  };
  return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
