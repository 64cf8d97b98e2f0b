/* SPDX-License-Identifier: BSD-3-Clause */
#include "member.h"

#include <math.h>

void leati_member_text(JsonBuilder *json, const char *name, const char *value) {
  json_builder_set_member_name(json, name);
  if (value == NULL) {
    json_builder_add_null_value(json);
    return;
  }
  char *valid = g_utf8_make_valid(value, -1);
  json_builder_add_string_value(json, valid);
  g_free(valid);
}

void leati_member_int(JsonBuilder *json, const char *name, int64_t value) {
  json_builder_set_member_name(json, name);
  json_builder_add_int_value(json, value);
}

void leati_member_number(JsonBuilder *json, const char *name, double value) {
  json_builder_set_member_name(json, name);
  if (isfinite(value)) {
    json_builder_add_double_value(json, value);
  } else {
    json_builder_add_string_value(json, "inf");
  }
}

void leati_member_flag(JsonBuilder *json, const char *name, gboolean value) {
  json_builder_set_member_name(json, name);
  json_builder_add_boolean_value(json, value);
}

void leati_member_begin(JsonBuilder *json, const char *name, gboolean array) {
  json_builder_set_member_name(json, name);
  if (array) {
    json_builder_begin_array(json);
  } else {
    json_builder_begin_object(json);
  }
}

void leati_member_element(JsonBuilder *json, const char *value) {
  char *valid = g_utf8_make_valid(value != NULL ? value : "", -1);
  json_builder_add_string_value(json, valid);
  g_free(valid);
}

void leati_member_texts(JsonBuilder *json, const char *name, const GPtrArray *texts) {
  leati_member_begin(json, name, TRUE);
  for (guint i = 0; i < texts->len; ++i) {
    leati_member_element(json, g_ptr_array_index(texts, i));
  }
  json_builder_end_array(json);
}
