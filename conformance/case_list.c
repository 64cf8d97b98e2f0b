/* SPDX-License-Identifier: BSD-3-Clause */
#include "case_list.h"

struct leat_case_list {
  GPtrArray *cases;  /* leat_case *, owned for the life of the process */
  GHashTable *names; /* set of names, borrowed from the cases */
  uint32_t profile;  /* of the source that adds */
};

leat_case_list *leati_case_list_new(void) {
  leat_case_list *list = g_new0(leat_case_list, 1);
  list->cases = g_ptr_array_new();
  list->names = g_hash_table_new(g_str_hash, g_str_equal);
  return list;
}

void leati_case_list_source(leat_case_list *list, uint32_t profile) {
  list->profile = profile;
}

void leati_case_list_add(leat_case_list *list, const leat_case *cases, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    leat_case *copy = g_memdup2(&cases[i], sizeof(cases[i]));
    copy->profile = list->profile;
    if (!g_hash_table_add(list->names, (gpointer)copy->name)) {
      g_error("two cases are named %s", copy->name);
    }
    g_ptr_array_add(list->cases, copy);
  }
}

GPtrArray *leati_case_list_end(leat_case_list *list) {
  GPtrArray *cases = list->cases;
  g_hash_table_unref(list->names);
  g_free(list);
  return cases;
}
