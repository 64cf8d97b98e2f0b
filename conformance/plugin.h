/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Loading a plugin by path: the suite's own small loader, so that it depends on nothing but the ABI header.
 */
#ifndef LEAT_CONFORMANCE_PLUGIN_H_
#define LEAT_CONFORMANCE_PLUGIN_H_

#include <glib.h>
#include <leat/backend.h>

/** A loaded plugin. Never unloaded. */
typedef struct leat_plugin {
  leat_backend_query_fn query; /**< the exported function */
  const leat_backend_api *api; /**< what it gave, or NULL */
  char *defect;                /**< why its tables cannot be used (a part of 1.0 is missing), or NULL; owned */
} leat_plugin;

/** Opens the file and asks for the tables. FALSE, with a message that is owned by the caller, if the file is not a Leat
 * plugin at all; a plugin whose tables are refused or incomplete loads, with `defect` set. */
gboolean leati_plugin_load(const char *path, leat_plugin *out, char **out_message);

/** Says what a 1.0 backend must have and this table lacks; NULL if nothing. Owned by the caller. */
char *leati_plugin_defect(const leat_backend_api *api);

#endif /* LEAT_CONFORMANCE_PLUGIN_H_ */
