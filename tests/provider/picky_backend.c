/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The backend that LEAT_TEST_PICKY_BASE names, but for graphs of more than one node, which it refuses to build with the
 * LEAT_ERROR_* code in LEAT_TEST_PICKY_CODE. Without that it says no more of its operators than ABI 1.0 had words for.
 */
#include <dlfcn.h>
#include <leat/backend.h>
#include <stdio.h>
#include <stdlib.h>

/* What is handed out: copies, of which one slot differs. Constant after the first query, which one thread makes. */
static leat_backend_api picky;
static leat_graph_api picky_graph;
static const leat_graph_api *base_graph;
static leat_op_api picky_op;
static const leat_op_api *base_op;
static leat_op_info entries[512];

static int32_t build(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err) {
  const char *const code = getenv("LEAT_TEST_PICKY_CODE");
  if (desc->node_count > 1 && code != NULL) {
    err->code = (int32_t)strtol(code, NULL, 10);
    (void)snprintf(err->message, sizeof(err->message), "graphs have one node at most here");
    return err->code;
  }
  return base_graph->build(device, desc, out, err);
}

static int32_t info(uint32_t index, const leat_op_info **out, leat_error *err) {
  const int32_t status = base_op->info(index, out, err);
  if (status == LEAT_OK && index < sizeof(entries) / sizeof(entries[0])) {
    entries[index] = **out;
    entries[index].flags &= LEAT_OP_ALIAS | LEAT_OP_IN_PLACE | LEAT_OP_CACHES;
    *out = &entries[index];
  }
  return status;
}

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  const char *const path = getenv("LEAT_TEST_PICKY_BASE");
  void *const library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  leat_backend_query_fn query = NULL;
  if (library != NULL) {
    *(void **)&query = dlsym(library, "leat_backend_query");
  }
  if (query == NULL) {
    err->code = LEAT_ERROR_INTERNAL;
    (void)snprintf(err->message, sizeof(err->message), "LEAT_TEST_PICKY_BASE names no backend");
    return LEAT_ERROR_INTERNAL;
  }
  const leat_backend_api *base = NULL;
  const int32_t status = query(host, &base, err);
  if (status == LEAT_OK) {
    picky = *base;
    base_graph = base->graph;
    picky_graph = *base_graph;
    picky_graph.build = build;
    picky.graph = &picky_graph;
    base_op = base->op;
    picky_op = *base_op;
    picky_op.info = getenv("LEAT_TEST_PICKY_CODE") != NULL ? base_op->info : info;
    picky.op = &picky_op;
    *out = &picky;
  }
  return status;
}
