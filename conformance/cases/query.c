/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_backend_query(): negotiation, reading of the caller's structs, and what the table holds.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"
#include "plugin.h"

/* A host that speaks ABI 1.0. */
static leat_host_info plain_host(void) {
  return (leat_host_info){.struct_size = sizeof(leat_host_info),
                          .abi_min = LEAT_ABI_1_0,
                          .abi_max = LEAT_ABI_1_0,
                          .header_version = LEAT_ABI_CURRENT,
                          .name = "leat-conformance"};
}

/* Any address but NULL, to see that a failing query overwrites it. */
static const leat_backend_api *poison(void) {
  static const leat_backend_api nothing;
  return &nothing;
}

static void check_refused(leat_case_context *ctx, const leat_host_info *host, int32_t expected) {
  const leat_backend_api *api = poison();
  LEAT_CHECK_STATUS(ctx, expected, ctx->query(host, &api, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, api == NULL, "a failing query must set the table to NULL");
}

static void range_exact(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
  LEAT_CHECK(ctx, api != NULL);
  LEAT_CHECK_U64(ctx, LEAT_ABI_1_0, api->abi_version);
  if (api->graph != NULL) {
    LEAT_CHECK_U64(ctx, LEAT_SIZE_THROUGH(leat_graph_api, fusions), api->graph->struct_size);
  }
}

static void range_wide(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  host.abi_max = LEAT_ABI_VERSION(1000, 7);
  host.header_version = host.abi_max;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
  LEAT_CHECK(ctx, api != NULL);
  LEAT_CHECK_MESSAGE(ctx, api->abi_version >= host.abi_min && api->abi_version <= host.abi_max,
                     "ABI 0x%x is outside the host's range 0x%x to 0x%x", api->abi_version, host.abi_min, host.abi_max);
  LEAT_CHECK_MESSAGE(ctx, api->header_version >= api->abi_version,
                     "ABI 0x%x was agreed on, but the plugin was built with the header of 0x%x", api->abi_version,
                     api->header_version);
}

static void range_newer(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *api = poison();
  (void)data;
  host.abi_min = LEAT_ABI_VERSION(0x7ffe, 0);
  host.abi_max = LEAT_ABI_VERSION(0x7ffe, 3);
  check_refused(ctx, &host, LEAT_ERROR_VERSION);
  LEAT_CHECK(ctx, ctx->query(&host, &api, &err) == LEAT_ERROR_VERSION);
  LEAT_CHECK_MESSAGE(ctx, strstr(err.message, "32766") != NULL,
                     "the host's range (32766.0 to 32766.3) is not in \"%s\"", err.message);
  LEAT_CHECK_MESSAGE(ctx, strstr(err.message, "1.0") != NULL, "the plugin's own range (from 1.0) is not in \"%s\"",
                     err.message);
}

static void range_older(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  (void)data;
  host.abi_min = LEAT_ABI_VERSION(0, 1);
  host.abi_max = LEAT_ABI_VERSION(0, 9);
  check_refused(ctx, &host, LEAT_ERROR_VERSION);
}

static void range_reversed(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  (void)data;
  host.abi_min = LEAT_ABI_VERSION(2, 0);
  host.abi_max = LEAT_ABI_VERSION(1, 0);
  /* An empty range: both readings of it are refusals. */
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_VERSION,
                    ctx->query(&host, &(const leat_backend_api *){NULL}, LEAT_ERR));
}

static void host_short(leat_case_context *ctx, const void *data) {
  static const uint32_t sizes[] = {0, 1, 4, 16, sizeof(leat_host_info) - 1};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    leat_host_info host = plain_host();
    host.struct_size = sizes[i];
    check_refused(ctx, &host, LEAT_ERROR_INVALID_ARGUMENT);
  }
}

/* A host struct of a later version. */
typedef struct {
  leat_host_info known;
  uint64_t tail[3];
} longer_host;

static void host_longer_zero(leat_case_context *ctx, const void *data) {
  longer_host host = {.known = plain_host()};
  const leat_backend_api *api = NULL;
  (void)data;
  host.known.struct_size = sizeof(host);
  LEAT_CHECK_OK(ctx, ctx->query(&host.known, &api, LEAT_ERR));
  LEAT_CHECK(ctx, api != NULL);
}

static void host_longer_nonzero(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t i = 0; i < 3; ++i) {
    longer_host host = {.known = plain_host()};
    host.known.struct_size = sizeof(host);
    host.tail[i] = UINT64_C(1) << (i * 31);
    check_refused(ctx, &host.known, LEAT_ERROR_INVALID_ARGUMENT);
  }
}

static void host_reserved(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t i = 0; i < 4; ++i) {
    leat_host_info host = plain_host();
    host.reserved[i] = 1;
    check_refused(ctx, &host, LEAT_ERROR_INVALID_ARGUMENT);
  }
}

static void null_arguments(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  (void)data;
  check_refused(ctx, NULL, LEAT_ERROR_INVALID_ARGUMENT);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->query(&host, NULL, LEAT_ERR));
}

static void null_err(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, NULL));
  host.reserved[0] = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->query(&host, &api, NULL));
}

static void null_name(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  host.name = NULL;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
}

static void error_short(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  static const uint32_t sizes[] = {0, 4, 8, 16, 100};
  (void)data;
  host.reserved[0] = 1;
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); ++i) {
    union {
      leat_error err;
      uint8_t bytes[sizeof(leat_error)];
    } short_err;
    memset(short_err.bytes, 0xa5, sizeof(short_err.bytes));
    short_err.err.struct_size = sizes[i];
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->query(&host, &api, &short_err.err));
    for (size_t j = MAX(sizes[i], sizeof(uint32_t)); j < sizeof(short_err.bytes); ++j) {
      LEAT_CHECK_MESSAGE(ctx, short_err.bytes[j] == 0xa5, "err->struct_size was %u and byte %zu was written", sizes[i],
                         j);
    }
  }
}

static void error_longer(leat_case_context *ctx, const void *data) {
  struct {
    leat_error err;
    uint8_t tail[64];
  } longer;
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  /* A caller may leave everything but the size as it is. */
  memset(&longer, 0x5a, sizeof(longer));
  longer.err.struct_size = sizeof(longer);
  host.reserved[0] = 1;
  LEAT_CHECK(ctx, ctx->query(&host, &api, &longer.err) == LEAT_ERROR_INVALID_ARGUMENT);
  LEAT_CHECK_U64(ctx, LEAT_ERROR_INVALID_ARGUMENT, (uint64_t)longer.err.code);
  LEAT_CHECK(ctx, memchr(longer.err.message, '\0', sizeof(longer.err.message)) != NULL);
  LEAT_CHECK(ctx, longer.err.message[0] != '\0' && longer.err.message[0] != 0x5a);
  LEAT_CHECK(ctx, longer.err.reserved == 0);
}

static void repeated(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *first = NULL;
  const leat_backend_api *again = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &first, LEAT_ERR));
  for (int i = 0; i < 100; ++i) {
    LEAT_CHECK_OK(ctx, ctx->query(&host, &again, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx,
                       again->device == first->device && again->memory == first->memory &&
                           again->stream == first->stream && again->event == first->event && again->op == first->op,
                       "the same question gave other tables");
  }
}

static void required_slots(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  char *defect;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
  defect = leati_plugin_defect(api);
  LEAT_CHECK_MESSAGE(ctx, defect == NULL, "%s", defect);
}

static void table_fields(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, api->reserved);
  LEAT_CHECK_U64(ctx, 0, api->device->reserved);
  LEAT_CHECK_U64(ctx, 0, api->memory->reserved);
  LEAT_CHECK_U64(ctx, 0, api->stream->reserved);
  LEAT_CHECK_U64(ctx, 0, api->event->reserved);
  LEAT_CHECK_U64(ctx, 0, api->op->reserved);
  LEAT_CHECK_MESSAGE(ctx, api->name[0] != '\0', "the name is empty");
  LEAT_CHECK_MESSAGE(ctx, api->build_id[0] != '\0', "the build id is empty");
  LEAT_CHECK_MESSAGE(ctx, g_regex_match_simple("^[0-9]+\\.[0-9]+\\.[0-9]+([-+].*)?$", api->version, 0, 0),
                     "the version \"%s\" is not a semantic version", api->version);
  LEAT_CHECK_MESSAGE(ctx, (api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) == 0 || api->event->elapsed != NULL,
                     "LEAT_CAPABILITY_EVENT_TIMING is set but event.elapsed is NULL");
  LEAT_CHECK_MESSAGE(ctx,
                     (api->capabilities & LEAT_CAPABILITY_HOST_MEMORY) == 0 ||
                         (api->memory->alloc_host != NULL && api->memory->free_host != NULL),
                     "LEAT_CAPABILITY_HOST_MEMORY is set but memory.alloc_host or memory.free_host is NULL");
}

static void query_thread(leat_case_context *ctx, uint32_t index, void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *const *expected = data;
  (void)index;
  for (int i = 0; i < 200; ++i) {
    const leat_backend_api *api = NULL;
    LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
    LEAT_CHECK(ctx, api->device == (*expected)->device);
  }
}

static void query_threads(leat_case_context *ctx, const void *data) {
  leat_host_info host = plain_host();
  const leat_backend_api *api = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->query(&host, &api, LEAT_ERR));
  leati_threads_run(ctx, 16, query_thread, &api);
}

#define ALWAYS (LEAT_CASE_WITHOUT_DEVICE | LEAT_CASE_WITHOUT_TABLES)

static void later_tables(leat_case_context *ctx, const void *data) {
  (void)data;
  LEAT_CHECK_MESSAGE(ctx, ctx->api->abi_version >= LEAT_ABI_1_0 && ctx->api->abi_version <= LEAT_ABI_CURRENT,
                     "ABI 0x%x is outside the host's range 0x%x to 0x%x", ctx->api->abi_version, LEAT_ABI_1_0,
                     LEAT_ABI_CURRENT);
  LEAT_CHECK_U64(ctx, LEAT_SIZE_THROUGH(leat_backend_api, configure), ctx->api->struct_size);
}

static const leat_case cases[] = {
    {.name = "query.range.exact_version_is_agreed",
     .summary = "A host that speaks only ABI 1.0 gets ABI 1.0, with tables that end where those of 1.0 do.",
     .flags = ALWAYS,
     .run = range_exact},
    {.name = "query.range.wide_range_is_negotiated",
     .summary = "A host that also speaks later versions gets one that both know.",
     .flags = ALWAYS,
     .run = range_wide},
    {.name = "query.range.newer_host_is_refused_with_both_ranges",
     .summary = "No version in common: LEAT_ERROR_VERSION, and the message holds both ranges.",
     .flags = ALWAYS,
     .run = range_newer},
    {.name = "query.range.older_host_is_refused",
     .summary = "A host that speaks only versions before 1.0 is refused.",
     .flags = ALWAYS,
     .run = range_older},
    {.name = "query.range.reversed_is_refused",
     .summary = "A lowest version above the highest is refused.",
     .flags = ALWAYS,
     .run = range_reversed},
    {.name = "query.host_info.too_short_is_invalid",
     .summary = "A host struct shorter than that of ABI 1.0 is invalid.",
     .flags = ALWAYS,
     .run = host_short},
    {.name = "query.host_info.longer_with_zero_tail_is_fine",
     .summary = "A longer host struct is accepted if what the plugin does not know is zero.",
     .flags = ALWAYS,
     .run = host_longer_zero},
    {.name = "query.host_info.longer_with_nonzero_tail_is_invalid",
     .summary = "A longer host struct is refused if what the plugin does not know is not zero.",
     .flags = ALWAYS,
     .run = host_longer_nonzero},
    {.name = "query.host_info.reserved_must_be_zero",
     .summary = "Reserved fields that are not zero are refused.",
     .flags = ALWAYS,
     .run = host_reserved},
    {.name = "query.arguments.null_is_invalid",
     .summary = "NULL for the host or for the result is invalid.",
     .flags = ALWAYS,
     .run = null_arguments},
    {.name = "query.arguments.null_err_is_fine",
     .summary = "The error struct may be left out.",
     .flags = ALWAYS,
     .run = null_err},
    {.name = "query.arguments.null_host_name_is_fine",
     .summary = "The host may have no name.",
     .flags = ALWAYS,
     .run = null_name},
    {.name = "query.error.short_struct_is_not_overrun",
     .summary = "Nothing is written beyond the size that an error struct states.",
     .flags = ALWAYS,
     .run = error_short},
    {.name = "query.error.longer_struct_is_filled",
     .summary = "An error struct of a later version is filled in, whatever it held.",
     .flags = ALWAYS,
     .run = error_longer},
    {.name = "query.table.repeated_query_gives_the_same",
     .summary = "Asking again gives the same tables.",
     .flags = ALWAYS,
     .run = repeated},
    {.name = "query.table.required_slots_are_present",
     .summary = "All tables and slots that ABI 1.0 requires are there.",
     .flags = ALWAYS,
     .run = required_slots},
    {.name = "query.table.fields_are_filled",
     .summary = "Name, version and build id are there, reserved fields are zero, capabilities fit the slots.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = table_fields},
    {.name = "query.table.later_tables_are_absent",
     .summary = "Tables that the version agreed on does not define are NULL.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = later_tables},
    {.name = "query.threads.sixteen_at_once",
     .summary = "Sixteen threads that ask at once all get the same tables.",
     .flags = ALWAYS,
     .run = query_threads},
};

void leati_cases_query(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
