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
static const leat_op_info **entries;
static uint32_t entry_count;

void __wrap__exit(int status);

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
  entries = calloc(count, sizeof(*entries));
  FUZZ_CHECK(entries != NULL, "no memory");
  for (uint32_t i = 0; i < count; ++i) {
    LEAT_CHECK_OK(&ctx, ctx.op->info(i, &entries[entry_count], LEAT_ERR));
    entry_count += leati_draw_knows(entries[entry_count], NULL) ? 1u : 0u;
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  const uint32_t entry = input_byte(&in) | (uint32_t)input_byte(&in) << 8, number = input_byte(&in);
  if (in.left == 0) {
    return -1;
  }
  leati_random_call(&ctx, stream, entries[entry % entry_count], number, getenv("NULLDRIVER_MODE") == NULL, in.bytes,
                    in.left);
  return 0;
}
