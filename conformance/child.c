/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "ops/core/accuracy.h"
#include "ops/core/bound.h"
#include "plugin.h"
#include "tell.h"

/* Loads the plugin and fills in a context, or tells why not and returns an exit status. */
static int load(const leat_child_options *options, leat_plugin *plugin, leat_case_context *ctx) {
  char *message = NULL;
  leati_tell_to(options->result_fd);
  memset(ctx, 0, sizeof(*ctx));
  if (!leati_plugin_load(options->plugin_path, plugin, &message)) {
    leati_tell("error", message, NULL);
    g_free(message);
    return LEAT_CHILD_BAD_PLUGIN;
  }
  ctx->name = "none";
  ctx->plugin_path = options->plugin_path;
  ctx->query = plugin->query;
  ctx->device_index = options->device_index;
  ctx->run_seed = options->seed;
  ctx->first_call = options->first_call;
  ctx->calls = options->calls;
  ctx->all_operators = options->all_operators;
  leati_ref_fast_float32 = options->fast_float32;
  ctx->scale = options->scale;
  if (plugin->defect == NULL) {
    ctx->api = plugin->api;
    ctx->device = plugin->api->device;
    ctx->memory = plugin->api->memory;
    ctx->stream = plugin->api->stream;
    ctx->event = plugin->api->event;
    ctx->op = plugin->api->op;
  }
  return 0;
}

int leati_child_probe(const leat_child_options *options) {
  leat_plugin plugin;
  leat_case_context ctx;
  leat_error err = {.struct_size = sizeof(err)};
  leat_device_info info = {.struct_size = sizeof(info)};
  uint32_t count = 0;
  char abi[32];
  char header[32];
  char capabilities[32];
  char index[32];
  char flags[32];
  char uuid[40];
  int status = load(options, &plugin, &ctx);
  if (status != 0) {
    return status;
  }
  if (plugin.defect != NULL) {
    leati_tell("defect", plugin.defect, NULL);
    return 0;
  }
  g_snprintf(abi, sizeof(abi), "%u.%u", LEAT_ABI_MAJOR(plugin.api->abi_version),
             LEAT_ABI_MINOR(plugin.api->abi_version));
  g_snprintf(header, sizeof(header), "%u.%u", LEAT_ABI_MAJOR(plugin.api->header_version),
             LEAT_ABI_MINOR(plugin.api->header_version));
  g_snprintf(capabilities, sizeof(capabilities), "%" G_GUINT64_FORMAT, plugin.api->capabilities);
  leati_tell("plugin", plugin.api->name, plugin.api->version, plugin.api->build_id, abi, header, capabilities, NULL);
  status = ctx.device->count(&count, &err);
  if (status != LEAT_OK) {
    /* The arguments are right, so what is invalid is a setting. Taken for no device, it would be hidden by a run that
     * skips all. */
    const gboolean setting = status == LEAT_ERROR_INVALID_ARGUMENT;
    char *text;
    err.message[sizeof(err.message) - 1] = '\0';
    text = g_strdup_printf("counting the devices failed: %s", err.message);
    leati_tell(setting ? "error" : "no-device", text, NULL);
    g_free(text);
    return setting ? LEAT_CHILD_BAD_PLUGIN : 0;
  }
  if (count == 0) {
    err.message[sizeof(err.message) - 1] = '\0';
    leati_tell("no-device",
               err.message[0] != '\0' ? err.message : "the plugin found no usable device and gave no reason", NULL);
    return 0;
  }
  if (options->device_index >= count) {
    char *text = g_strdup_printf("--device %u: there %s %u usable device%s, numbered from 0", options->device_index,
                                 count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    leati_tell("error", text, NULL);
    g_free(text);
    return LEAT_CHILD_BAD_PLUGIN;
  }
  if (ctx.device->info(options->device_index, &info, &err) != LEAT_OK) {
    err.message[sizeof(err.message) - 1] = '\0';
    /* A failure here is for the device cases to report. */
    g_snprintf(info.name, sizeof(info.name), "unknown (device.info failed: %.200s)", err.message);
  }
  info.name[sizeof(info.name) - 1] = '\0';
  info.driver[sizeof(info.driver) - 1] = '\0';
  g_snprintf(index, sizeof(index), "%u", options->device_index);
  g_snprintf(flags, sizeof(flags), "%" G_GUINT64_FORMAT, info.flags);
  for (int i = 0; i < 16; ++i) {
    g_snprintf(uuid + 2 * i, 3, "%02x", info.uuid[i]);
  }
  leati_tell("device", index, info.name, info.driver, uuid, flags, NULL);
  return 0;
}

/* Tells how near to their bounds the results of a case came. */
static void tell_accuracy(const char *name) {
  for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
    leati_ref_accuracy worst;
    if (leati_ref_accuracy_take((leati_ref_type)type, &worst)) {
      char error[G_ASCII_DTOSTR_BUF_SIZE], bound[G_ASCII_DTOSTR_BUF_SIZE];
      leati_tell("accuracy", name, leati_ref_type_name((leati_ref_type)type),
                 g_ascii_dtostr(error, sizeof(error), worst.error), g_ascii_dtostr(bound, sizeof(bound), worst.bound),
                 NULL);
    }
  }
}

int leati_child_run(const leat_child_options *options, const leat_case *const *cases, size_t count) {
  leat_plugin plugin;
  leat_case_context ctx;
  leat_device *kept = NULL;
  int status = load(options, &plugin, &ctx);
  if (status != 0) {
    return status;
  }
  for (size_t i = 0; i < count; ++i) {
    const leat_case *one = cases[i];
    ctx.name = one->name;
    ctx.seed = g_str_hash(one->name) ^ (options->seed * 2654435761u);
    leati_tell("begin", one->name, NULL);
    if (options->result_fd < 0) {
      g_printerr("%s: %s\n", one->name, one->summary);
    }
    if (plugin.defect != NULL && (one->flags & LEAT_CASE_WITHOUT_TABLES) == 0) {
      LEAT_FAIL(&ctx, "the plugin's tables cannot be used: %s", plugin.defect);
    }
    if ((one->needs_capability & (plugin.defect == NULL ? plugin.api->capabilities : 0)) != one->needs_capability) {
      leati_case_skip(&ctx, "capability bit 0x%" G_GINT64_MODIFIER "x is clear", one->needs_capability);
    }
    leati_fixture_begin(&ctx);
    if (count > 1 && kept == NULL && (one->flags & (LEAT_CASE_WITHOUT_DEVICE | LEAT_CASE_ALONE)) == 0) {
      /* Keeps the device open between the cases of this process, since the first open is the expensive one. */
      LEAT_CHECK_OK(&ctx, ctx.device->open(ctx.device_index, &kept, LEAT_ERR));
    }
    one->run(&ctx, one->data);
    leati_fixture_end(&ctx);
    tell_accuracy(one->name);
    leati_tell("pass", one->name, NULL);
  }
  if (kept != NULL) {
    LEAT_CHECK_OK(&ctx, ctx.device->close(kept, LEAT_ERR));
  }
  if (options->result_fd >= 0) {
    leati_tell("done", NULL);
  }
  return 0;
}
