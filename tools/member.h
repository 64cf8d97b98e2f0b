/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Members of JSON objects that are being built. Text that is not UTF-8 is made so.
 */
#ifndef LEAT_TOOLS_MEMBER_H_
#define LEAT_TOOLS_MEMBER_H_

#include <json-glib/json-glib.h>
#include <stdint.h>

/** @param value [borrowed: until return] NULL: null */
void leati_member_text(JsonBuilder *json, const char *name, const char *value);

void leati_member_int(JsonBuilder *json, const char *name, int64_t value);

/** A value that is not a finite number is the string "inf". */
void leati_member_number(JsonBuilder *json, const char *name, double value);

void leati_member_flag(JsonBuilder *json, const char *name, gboolean value);

/** Begins an array, or else an object. */
void leati_member_begin(JsonBuilder *json, const char *name, gboolean array);

/** @param texts [borrowed: until return] char * */
void leati_member_texts(JsonBuilder *json, const char *name, const GPtrArray *texts);

/** No member, but an element of the array that is being built.
 * @param value [borrowed: until return] NULL: "" */
void leati_member_element(JsonBuilder *json, const char *value);

#endif /* LEAT_TOOLS_MEMBER_H_ */
