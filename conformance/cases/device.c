/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_device_api: counting, describing, opening, closing, reporting, synchronising.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

static void count_stable(leat_case_context *ctx, const void *data) {
  uint32_t first = UINT32_MAX;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&first, LEAT_ERR));
  for (int i = 0; i < 20; ++i) {
    uint32_t again = UINT32_MAX;
    LEAT_CHECK_OK(ctx, ctx->device->count(&again, LEAT_ERR));
    LEAT_CHECK_U64(ctx, first, again);
  }
  LEAT_CHECK_OK(ctx, ctx->device->count(&first, NULL));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->count(NULL, LEAT_ERR));
}

static void count_none(leat_case_context *ctx, const void *data) {
  leat_error err = {.struct_size = sizeof(err)};
  uint32_t count = UINT32_MAX;
  (void)data;
  LEAT_CHECK_U64(ctx, LEAT_OK, (uint64_t)ctx->device->count(&count, &err));
  if (count != 0) {
    leati_case_skip(ctx, "there are %u devices; this is about none", count);
  }
  LEAT_CHECK_MESSAGE(ctx, err.message[0] != '\0', "there is no device and err->message does not say why");
}

static void info_fields(leat_case_context *ctx, const void *data) {
  uint32_t count = 0;
  static const uint8_t zero[16];
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    leat_device_info info;
    /* Only the size counts on the way in. */
    memset(&info, 0x5a, sizeof(info));
    info.struct_size = sizeof(info);
    LEAT_CHECK_OK(ctx, ctx->device->info(i, &info, LEAT_ERR));
    LEAT_CHECK_U64(ctx, i, info.index);
    LEAT_CHECK(ctx, memchr(info.name, '\0', sizeof(info.name)) != NULL);
    LEAT_CHECK(ctx, memchr(info.driver, '\0', sizeof(info.driver)) != NULL);
    LEAT_CHECK(ctx, memchr(info.pci_bus_id, '\0', sizeof(info.pci_bus_id)) != NULL);
    LEAT_CHECK_MESSAGE(ctx, info.name[0] != '\0', "device %u has no name", i);
    LEAT_CHECK_MESSAGE(ctx, info.memory_size > 0, "device %u has no memory", i);
    LEAT_CHECK_MESSAGE(ctx, info.max_allocation_size > 0, "device %u cannot allocate anything", i);
    LEAT_CHECK_MESSAGE(ctx, memcmp(info.uuid, zero, sizeof(zero)) != 0, "the uuid of device %u is zero", i);
    LEAT_CHECK_MESSAGE(
        ctx,
        info.pci_bus_id[0] == '\0' ||
            g_regex_match_simple("^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$", info.pci_bus_id, 0, 0),
        "pci_bus_id \"%s\" is not of the form dddd:bb:dd.f", info.pci_bus_id);
  }
}

static void info_stable(leat_case_context *ctx, const void *data) {
  uint32_t count = 0;
  uint8_t(*seen)[16];
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  seen = g_malloc0_n(count, sizeof(*seen));
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < count; ++i) {
      leat_device_info info = {.struct_size = sizeof(info)};
      LEAT_CHECK_OK(ctx, ctx->device->info(i, &info, LEAT_ERR));
      if (round == 0) {
        memcpy(seen[i], info.uuid, sizeof(seen[i]));
        for (uint32_t j = 0; j < i; ++j) {
          LEAT_CHECK_MESSAGE(ctx, memcmp(seen[i], seen[j], sizeof(seen[i])) != 0,
                             "devices %u and %u have the same uuid", j, i);
        }
      }
      LEAT_CHECK_BYTES(ctx, seen[i], info.uuid, sizeof(seen[i]));
    }
    /* Open or not, a device keeps its id. */
    leati_fixture_device(ctx);
  }
  g_free(seen);
}

static void info_bad(leat_case_context *ctx, const void *data) {
  uint32_t count = 0;
  leat_device_info info = {.struct_size = sizeof(info)};
  struct {
    leat_device_info known;
    uint64_t tail[2];
  } longer;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_UNAVAILABLE, ctx->device->info(count, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_UNAVAILABLE, ctx->device->info(UINT32_MAX, &info, LEAT_ERR));
  if (count == 0) {
    return;
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->info(0, NULL, LEAT_ERR));
  info.struct_size = sizeof(info) - 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->info(0, &info, LEAT_ERR));
  info.struct_size = 0;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->info(0, &info, LEAT_ERR));
  memset(&longer, 0, sizeof(longer));
  longer.known.struct_size = sizeof(longer);
  LEAT_CHECK_OK(ctx, ctx->device->info(0, &longer.known, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, longer.tail[0]);
}

static void open_counted(leat_case_context *ctx, const void *data) {
  leat_device *first = NULL;
  leat_device *second = NULL;
  leat_stream *stream = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index, &first, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index, &second, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, first == second, "opening a device again gave another device");
  LEAT_CHECK_OK(ctx, ctx->device->close(first, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->create(second, 0, &stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->synchronize(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->stream->destroy(stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->device->close(second, LEAT_ERR));
}

static void open_bad(leat_case_context *ctx, const void *data) {
  uint32_t count = 0;
  leat_device *device = NULL;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_UNAVAILABLE, ctx->device->open(count, &device, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_UNAVAILABLE, ctx->device->open(UINT32_MAX, &device, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->device->close(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->synchronize(NULL, LEAT_ERR));
  if (count > 0) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->open(0, NULL, LEAT_ERR));
  }
}

/* Leaves all kinds of objects, with work in flight, to the last close. */
static void close_last(leat_case_context *ctx, const void *data) {
  (void)data;
  for (int round = 0; round < 3; ++round) {
    leat_memory_stats stats = {.struct_size = sizeof(stats)};
    leat_device *device = leati_fixture_device(ctx);
    leat_stream *stream = leati_stream_new(ctx);
    leat_event *event = leati_event_new(ctx);
    uint8_t bytes[1000];
    uint64_t block = leati_case_alloc(ctx, sizeof(bytes), stream);
    LEAT_CHECK_OK(ctx, ctx->memory->stats(device, &stats, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, stats.live_block_count == 1,
                       "%" G_GUINT64_FORMAT " blocks live after round %d closed the device", stats.live_block_count - 1,
                       round);
    leati_pattern(bytes, sizeof(bytes), 1);
    leati_stream_load(ctx, stream);
    leati_upload(ctx, stream, block, bytes, sizeof(bytes));
    LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
    leati_stream_load(ctx, stream);
    /* Closes the device and begins anew, with none of the above released. */
    leati_fixture_end(ctx);
    leati_fixture_begin(ctx);
  }
}

static void reopen(leat_case_context *ctx, const void *data) {
  (void)data;
  for (int round = 0; round < 5; ++round) {
    leat_stream *stream = leati_stream_new(ctx);
    uint8_t in[333];
    uint8_t out[333] = {0};
    uint64_t block = leati_case_alloc(ctx, sizeof(in), stream);
    leati_pattern(in, sizeof(in), (uint32_t)round);
    leati_upload(ctx, stream, block, in, sizeof(in));
    leati_download(ctx, stream, block, out, sizeof(out));
    leati_synchronize(ctx, stream);
    LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
    leati_case_free(ctx, block);
    leati_stream_destroy(ctx, stream);
    leati_fixture_end(ctx);
    leati_fixture_begin(ctx);
  }
}

static void open_thread(leat_case_context *ctx, uint32_t index, void *data) {
  (void)data;
  for (int i = 0; i < 4; ++i) {
    leat_device *device = NULL;
    leat_stream *stream = NULL;
    leat_case_tensor host;
    leat_case_tensor view;
    uint64_t block = 0;
    uint8_t in[64];
    uint8_t out[64] = {0};
    const int64_t shape[1] = {sizeof(in)};
    leati_pattern(in, sizeof(in), index * 100 + (uint32_t)i);
    LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index, &device, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->create(device, 0, &stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->memory->alloc(device, sizeof(in), stream, &block, LEAT_ERR));
    leati_case_tensor_device(ctx, &view, block, LEAT_U8, 1, shape);
    leati_case_tensor_host(&host, in, LEAT_U8, 1, shape);
    LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &host.tensor, &view.tensor, LEAT_ERR));
    leati_case_tensor_host(&host, out, LEAT_U8, 1, shape);
    LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &view.tensor, &host.tensor, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->synchronize(stream, LEAT_ERR));
    LEAT_CHECK_BYTES(ctx, in, out, sizeof(in));
    LEAT_CHECK_OK(ctx, ctx->memory->free(device, block, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->stream->destroy(stream, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->device->close(device, LEAT_ERR));
  }
}

static void open_threads(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_threads_run(ctx, 8, open_thread, NULL);
}

static void shutdown_and_again(leat_case_context *ctx, const void *data) {
  uint32_t count = 0;
  (void)data;
  leati_fixture_device(ctx);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_BUSY, ctx->api->shutdown(LEAT_ERR));
  leati_synchronize(ctx, leati_stream_new(ctx));
  leati_fixture_end(ctx);
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  leati_fixture_begin(ctx);
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  LEAT_CHECK(ctx, count > ctx->device_index);
  leati_synchronize(ctx, leati_stream_new(ctx));
}

static void synchronize_all(leat_case_context *ctx, const void *data) {
  enum { STREAMS = 4, SIZE = 5000 };
  leat_stream *streams[STREAMS];
  uint64_t blocks[STREAMS];
  uint8_t *bytes = g_malloc0(2 * STREAMS * SIZE);
  uint8_t *in = bytes;
  uint8_t *out = bytes + STREAMS * SIZE;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  for (uint32_t i = 0; i < STREAMS; ++i) {
    streams[i] = leati_stream_new(ctx);
    blocks[i] = leati_case_alloc(ctx, SIZE, streams[i]);
    leati_pattern(in + i * SIZE, SIZE, i);
    leati_stream_load(ctx, streams[i]);
    leati_upload(ctx, streams[i], blocks[i], in + i * SIZE, SIZE);
    leati_download(ctx, streams[i], blocks[i], out + i * SIZE, SIZE);
  }
  LEAT_CHECK_OK(ctx, ctx->device->synchronize(leati_fixture_device(ctx), LEAT_ERR));
  LEAT_CHECK_BYTES(ctx, in, out, STREAMS * SIZE);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    leati_case_free(ctx, blocks[i]);
    leati_stream_destroy(ctx, streams[i]);
  }
  g_free(bytes);
}

static void report_fills(leat_case_context *ctx, const void *data) {
  uint32_t total = 0;
  uint32_t devices = 0;
  uint32_t filled;
  leat_property *properties;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->count(&devices, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->device->report(&total, NULL, LEAT_ERR));
  properties = g_new0(leat_property, total + 1);
  for (uint32_t i = 0; i < total + 1; ++i) {
    properties[i].struct_size = sizeof(properties[i]);
  }
  filled = total;
  LEAT_CHECK_OK(ctx, ctx->device->report(&filled, properties, LEAT_ERR));
  LEAT_CHECK_U64(ctx, total, filled);
  for (uint32_t i = 0; i < total; ++i) {
    const leat_property *property = &properties[i];
    LEAT_CHECK(ctx, memchr(property->name, '\0', sizeof(property->name)) != NULL);
    LEAT_CHECK(ctx, memchr(property->value, '\0', sizeof(property->value)) != NULL);
    LEAT_CHECK_MESSAGE(ctx, g_regex_match_simple("^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$", property->name, 0, 0),
                       "the property name \"%s\" is not words with dots", property->name);
    LEAT_CHECK_MESSAGE(ctx, property->device < (int64_t)devices, "the property %s is of device %d, there are %u",
                       property->name, property->device, devices);
  }
  LEAT_CHECK_MESSAGE(ctx, properties[total].name[0] == '\0', "more was written than there is room for");
  g_free(properties);
}

static void report_small(leat_case_context *ctx, const void *data) {
  uint32_t total = 0;
  uint32_t count = 1;
  leat_property properties[2] = {{.struct_size = sizeof(leat_property)}, {.struct_size = sizeof(leat_property)}};
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->device->report(&total, NULL, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, total >= 1, "the report is empty; it must say something of the system");
  LEAT_CHECK_OK(ctx, ctx->device->report(&count, properties, LEAT_ERR));
  LEAT_CHECK_U64(ctx, total, count);
  LEAT_CHECK(ctx, properties[0].name[0] != '\0');
  LEAT_CHECK(ctx, properties[1].name[0] == '\0');
}

static void report_bad(leat_case_context *ctx, const void *data) {
  uint32_t count = 1;
  leat_property property = {.struct_size = sizeof(property) - 1};
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->report(NULL, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->report(&count, NULL, LEAT_ERR));
  count = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->device->report(&count, &property, LEAT_ERR));
}

static const leat_case cases[] = {
    {.name = "device.count.is_stable",
     .summary = "Counting the devices again gives the same number; NULL for the result is invalid.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = count_stable},
    {.name = "device.count.none_comes_with_a_reason",
     .summary = "Where there is no device, the count succeeds and the message says why there is none.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = count_none},
    {.name = "device.info.fields_are_filled",
     .summary = "Every device has a number, a name, memory and an id.",
     .run = info_fields},
    {.name = "device.info.uuid_is_stable_and_unique",
     .summary = "The id of a device stays the same and no other device has it.",
     .run = info_stable},
    {.name = "device.info.bad_arguments_are_refused",
     .summary = "An index out of range, NULL and a short struct are refused; a longer struct is accepted.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = info_bad},
    {.name = "device.open.again_gives_the_same_device",
     .summary = "Opening is counted: the device works until the last close.",
     .run = open_counted},
    {.name = "device.open.bad_arguments_are_refused",
     .summary = "An index out of range and NULL are refused; closing NULL does nothing.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = open_bad},
    {.name = "device.open.eight_threads_at_once",
     .summary = "Threads that open, use and close the device at once do not disturb each other.",
     .flags = LEAT_CASE_ALONE,
     .run = open_threads},
    {.name = "device.close.last_frees_what_is_left",
     .summary = "The last close waits for work in flight and frees streams, events and blocks that are left.",
     .flags = LEAT_CASE_ALONE,
     .run = close_last},
    {.name = "device.close.can_be_opened_again",
     .summary = "A device that was closed works when it is opened again, five times.",
     .flags = LEAT_CASE_ALONE,
     .run = reopen},
    {.name = "device.shutdown.is_busy_while_open_and_reversible",
     .summary = "shutdown() refuses while a device is open, succeeds after, and everything starts again later.",
     .flags = LEAT_CASE_ALONE,
     .run = shutdown_and_again},
    {.name = "device.synchronize.covers_all_streams",
     .summary = "Synchronising the device flushes all streams and delivers their downloads.",
     .run = synchronize_all},
    {.name = "device.report.lists_properties",
     .summary = "The report fills exactly as many properties as it counts, with legal names and devices.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = report_fills},
    {.name = "device.report.small_capacity_is_filled_as_far_as_it_goes",
     .summary = "A capacity too small is filled, and the whole number is told.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = report_small},
    {.name = "device.report.bad_arguments_are_refused",
     .summary = "NULL with a capacity, NULL for the count and short elements are invalid.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = report_bad},
};

void leati_cases_device(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
