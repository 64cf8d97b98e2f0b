/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Attributes of a node that outlive its description: numbers and texts. Tensors, lists of texts and graphs are not
 * kept.
 */
#ifndef LEAT_PLUGIN_GRAPH_ATTRIBUTES_H_
#define LEAT_PLUGIN_GRAPH_ATTRIBUTES_H_

#include <leat/backend.h>
#include <stdbool.h>

/** All zero: none. */
typedef struct leati_kept_attributes {
  const leat_attribute *const *list; /**< one block of memory with all that they point to; leati_free() it */
  uint32_t count;
  bool partial; /**< there were others, which are not kept */
} leati_kept_attributes;

/** Copies those that the operator reads of the attributes that it was made with, which were checked then.
 * @errors OUT_OF_MEMORY */
int32_t leati_attributes_keep(const leat_op_info *info, uint32_t count, const leat_attribute *const *from,
                              leati_kept_attributes *out, leat_error *err);

/** The attribute of that name; NULL: none is kept. */
const leat_attribute *leati_attributes_find(const leati_kept_attributes *attributes, const char *name);
/** Its number; `otherwise` if none is kept. */
int64_t leati_attributes_int(const leati_kept_attributes *attributes, const char *name, int64_t otherwise);
float leati_attributes_float(const leati_kept_attributes *attributes, const char *name, float otherwise);
/** The order of dimensions that a Transpose of `rank` was made with: dimension d of its result is the input's
 * `out[d]`. */
void leati_attributes_order(const leati_kept_attributes *attributes, int32_t rank, int64_t *out);

#endif /* LEAT_PLUGIN_GRAPH_ATTRIBUTES_H_ */
