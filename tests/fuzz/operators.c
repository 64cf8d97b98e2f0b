/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of operators, drawn as the conformance suite draws them, each choice by a byte: attributes, types, shapes, what
 * is known beforehand and what is spoilt. A device that computes gives in every layout what the CPU reference says; the
 * null driver (NULLDRIVER_MODE) shows, many times as fast, that descriptions and views are taken or refused rightly. */
#include <string.h>

#include "fixture.h"
#include "fuzz/input.h"
#include "ops/core/draw_call.h"
#include "ops/core/random.h"

static leat_case_context ctx = {.name = "fuzz", .scale = 1};
static leat_stream *stream;
/* What an operator has more of than another, inputs and attributes, has more code behind it: a ticket for each. */
static const leat_op_info **tickets;
static uint32_t ticket_count;

void __wrap__exit(int status);

static void give_tickets(const leat_op_info *info) {
  const uint32_t inputs = info->max_inputs != LEAT_VARIADIC ? info->max_inputs : info->min_inputs + 1;
  const uint32_t count = leati_draw_knows(info, NULL) ? 1 + inputs + info->attribute_count : 0;
  tickets = realloc(tickets, (ticket_count + count + 1) * sizeof(*tickets));
  FUZZ_CHECK(tickets != NULL, "no memory");
  for (uint32_t i = 0; i < count; ++i) {
    tickets[ticket_count++] = info;
  }
}

/* A case that fails ends its process so, which the fuzzer would take for the end of its work. */
void __wrap__exit(int status) {
  (void)status;
  (void)fflush(stdout);
  abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  LEAT_CHECK_OK(&ctx, leat_backend_query(&info, &ctx.api, LEAT_ERR));
  ctx.query = leat_backend_query;
  ctx.device = ctx.api->device;
  ctx.memory = ctx.api->memory;
  ctx.stream = ctx.api->stream;
  ctx.event = ctx.api->event;
  ctx.op = ctx.api->op;
  leati_fixture_begin(&ctx);
  stream = leati_stream_new(&ctx);
  uint32_t count = 0;
  LEAT_CHECK_OK(&ctx, ctx.op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *entry;
    LEAT_CHECK_OK(&ctx, ctx.op->info(i, &entry, LEAT_ERR));
    give_tickets(entry);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  const uint32_t ticket = input_byte(&in) | (uint32_t)input_byte(&in) << 8, number = input_byte(&in);
  if (in.left == 0) {
    return -1;
  }
  leati_random_call(&ctx, stream, tickets[ticket % ticket_count], number, getenv("NULLDRIVER_MODE") == NULL, in.bytes,
                    in.left);
  return 0;
}
