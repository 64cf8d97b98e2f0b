/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_list.h"

#include <string.h>

OrtStatus *leati_node_list_no_memory(const leati_runtime *runtime) {
  return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory while choosing nodes");
}

/* Fills in the table of indices by id. */
static OrtStatus *read_ids(leati_node_list *list) {
  const OrtApi *ort = list->runtime->ort;
  OrtStatus *status = NULL;
  size_t id = 0;
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    status = ort->Node_GetId(list->nodes[i].node, &id);
    list->id_count = status == NULL && id >= list->id_count ? id + 1 : list->id_count;
  }
  list->index_of = leati_scratch_alloc(&list->scratch, list->id_count, sizeof(*list->index_of));
  if (status != NULL || list->index_of == NULL) {
    return status != NULL ? status : leati_node_list_no_memory(list->runtime);
  }
  memset(list->index_of, 0xff, list->id_count * sizeof(*list->index_of));
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    status = ort->Node_GetId(list->nodes[i].node, &id);
    if (status == NULL) {
      list->index_of[id] = (int64_t)i;
    }
  }
  return status;
}

OrtStatus *leati_node_list_read(leati_node_list *list, const leati_runtime *runtime, const OrtGraph *graph) {
  *list = (leati_node_list){.runtime = runtime};
  OrtStatus *status = runtime->ort->Graph_GetNumNodes(graph, &list->count);
  if (status != NULL || list->count == 0) {
    return status;
  }
  const OrtNode **handles = leati_scratch_alloc(&list->scratch, list->count, sizeof(*handles));
  list->nodes = leati_scratch_alloc(&list->scratch, list->count, sizeof(*list->nodes));
  if (handles == NULL || list->nodes == NULL) {
    return leati_node_list_no_memory(runtime);
  }
  status = runtime->ort->Graph_GetNodes(graph, handles, list->count);
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    list->nodes[i].node = handles[i];
  }
  return status != NULL ? status : read_ids(list);
}

OrtStatus *leati_node_list_find(const leati_node_list *list, const OrtNode *node, int64_t *out) {
  size_t id = 0;
  OrtStatus *status = list->runtime->ort->Node_GetId(node, &id);
  *out = status == NULL && id < list->id_count ? list->index_of[id] : -1;
  return status;
}

void leati_node_list_clear(leati_node_list *list) {
  leati_scratch_clear(&list->scratch);
}
