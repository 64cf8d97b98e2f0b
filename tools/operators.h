/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The operator list of a backend, for people and as JSON.
 */
#ifndef LEAT_TOOLS_OPERATORS_H_
#define LEAT_TOOLS_OPERATORS_H_

#include <glib.h>
#include <json-glib/json-glib.h>
#include <leat/backend.h>

/** Reads the list. No device is needed for it.
 * @return [owned: release with g_ptr_array_unref] of const leat_op_info, which are the backend's, in the order of
 *   domains, names and versions; NULL after an error */
GPtrArray *leati_operators_new(const leat_backend_api *api, leat_error *err);

/** The list as text: under the name of each domain its operators, with their versions, their element types by type
 * constraint, and which inputs and outputs lie on the host.
 * @return [owned: release with g_free] lines, each with its line feed */
char *leati_operators_text(const GPtrArray *operators);

/** Adds the list to the JSON object that is open, as the member "operators". */
void leati_operators_json(const GPtrArray *operators, JsonBuilder *json);

#endif /* LEAT_TOOLS_OPERATORS_H_ */
