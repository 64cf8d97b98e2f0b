/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a backend says of itself, the system and the devices, read once and kept.
 */
#ifndef LEAT_TOOLS_INVENTORY_H_
#define LEAT_TOOLS_INVENTORY_H_

#include <glib.h>
#include <leat/host.h>

/** What the inventory comes to. The values are exit codes of leat-info. */
typedef enum leati_verdict {
  LEATI_VERDICT_USABLE = 0,  /**< the chosen device was opened */
  LEATI_VERDICT_NONE = 1,    /**< there is no device that can be used */
  LEATI_VERDICT_UNKNOWN = 2, /**< the backend could not be asked */
} leati_verdict;

/** A line of a report: group and key are the parts of the property's name before and after its first dot. */
typedef struct leati_property {
  char *group; /**< "" when the name has no dot */
  char *key;
  char *value;
} leati_property;

/** A device, usable or not. */
typedef struct leati_device_entry {
  leat_device_info info; /**< all zero for a device that is not usable */
  gboolean usable;
  char *name;
  char *reason;          /**< why it is not usable, else NULL */
  GPtrArray *properties; /**< of leati_property */
} leati_device_entry;

/** A setting as it is in effect. */
typedef struct leati_setting {
  char *name;   /**< the variable */
  char *value;  /**< in effect */
  char *origin; /**< "default", "environment", "environment, FORCE_GRAPH_PATH", "host", "option" (of leat-info) */
  char *reader; /**< who reads it: "backend", "loader" */
} leati_setting;

/** Everything. Absent texts are NULL. */
typedef struct leati_inventory {
  leati_verdict verdict;
  int32_t code;                /**< the status that the verdict comes from */
  char *reason;                /**< why the verdict is not "usable" */
  const leat_backend_api *api; /**< NULL: not loaded */
  char *plugin_file;           /**< the file that was loaded */
  uint32_t operator_count;     /**< entries of the operator list */
  char *chosen_reason;         /**< why device 0 is the first */
  GPtrArray *devices;          /**< of leati_device_entry, usable ones first */
  GPtrArray *properties;       /**< of leati_property: the system's */
  GPtrArray *settings;         /**< of leati_setting */
} leati_inventory;

/** Loads the backend and reads everything. Never fails: what went wrong is in the verdict.
 * @param plugin the option --plugin, or NULL */
leati_inventory *leati_inventory_new(const char *plugin);
void leati_inventory_free(leati_inventory *inventory);

/** Name of a verdict: "usable", "none", "unknown". */
const char *leati_verdict_name(leati_verdict verdict);

#endif /* LEAT_TOOLS_INVENTORY_H_ */
