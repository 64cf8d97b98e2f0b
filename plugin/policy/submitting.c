/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/submitting.h"

#include "policy/lane_tuner.h"

/* Microseconds, as many as a command can have. */
static uint32_t to_us(uint64_t ns) {
  const uint64_t us = ns / 1000;
  return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

uint32_t leati_dispatch_us(const leati_traits *traits, uint64_t bytes, uint64_t multiplications) {
  return to_us(LEATI_COMMAND_NS + bytes / (traits->processors_least * LEATI_PROCESSOR_BYTES) +
               multiplications / (traits->processors_least * LEATI_PROCESSOR_MULTIPLICATIONS));
}

uint32_t leati_copy_us(const leati_traits *traits, uint64_t bytes, bool bus) {
  return bus ? to_us(LEATI_COMMAND_NS + bytes / LEATI_BUS_BYTES) : leati_dispatch_us(traits, 2 * bytes, 0);
}

int32_t leati_single_list_next(int32_t single_lists, uint32_t in_flight, bool one_list) {
  /* With more than one batch in flight lists had no reason to meet. */
  if (single_lists < 0) {
    ++single_lists;
  } else if (in_flight == 1) {
    single_lists = one_list ? single_lists + 1 : 0;
  }
  return single_lists < LEATI_SINGLE_LIST_STREAK ? single_lists : -LEATI_SINGLE_LIST_REST;
}

/* With two batches in flight threads meet in two groups. Barriers are queue-wide, so that two groups take up to twice
 * as long as one. Where this is more than the queue loses while it waits for the one, one batch is in flight. What it
 * loses is the writing, about as much again while as many threads leave their waits and hand their lists over, and
 * LEATI_TURN_NS. With one in flight lists that go together are worth more. */
leati_batch_advice leati_batch_advise(uint64_t took_ns, uint64_t wrote_ns, uint32_t in_flight, bool meet) {
  /* With one in flight instead of two, twice as many lists are written while the queue waits. */
  const uint64_t writing = wrote_ns * in_flight;
  const bool one = meet && took_ns > LEATI_BATCH_LONG_NS && took_ns > 2 * writing + LEATI_TURN_NS;
  const uint64_t part = took_ns / LEATI_GATHER_PART;
  return one ? (leati_batch_advice){.in_flight = 1,
                                    .gather_ns = part < LEATI_GATHER_NS_MAX ? part : LEATI_GATHER_NS_MAX}
             : (leati_batch_advice){.in_flight = LEATI_IN_FLIGHT_MAX, .gather_ns = LEATI_GATHER_NS};
}

bool leati_interval_is_full(uint32_t lists, uint32_t lanes, double list_s) {
  return lists >= LEATI_INTERVAL_LISTS ||
         (lists >= LEATI_INTERVAL_LONG_LISTS * lanes && leati_lane_tuner_is_long(list_s));
}
