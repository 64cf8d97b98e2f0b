/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The plugin's gate, always open: linked instead of plugin/core/gate.c and common/inside.c, and together with the rest
 * of the plugin, so that the scenes can show that they notice. Takes the place of libleat_host too, because the plugin
 * is in the program.
 */
#include "core/gate.h"

#include <leat/backend.h>
#include <leat/host.h>

atomic_bool leati_inside_closed;

leati_gate leati_gate_enter(leati_pass *pass) {
  *pass = (leati_pass){0};
  return LEATI_GATE_OPEN;
}

void leati_gate_leave(leati_pass *pass) {
  (void)pass;
}

void leati_inside_stop(void) {
}

void leati_gate_register(leati_gate_moment moment) {
  (void)moment;
}

void leati_gate_at_exit(void (*last)(void)) {
  (void)last;
}

int32_t leat_host_load(const char *path, const leat_backend_api **out, leat_error *err) {
  (void)path;
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_1_0,
                               .abi_max = LEAT_ABI_CURRENT,
                               .header_version = LEAT_ABI_CURRENT};
  return leat_backend_query(&host, out, err);
}

const char *leat_host_status_name(int32_t code) {
  return code == LEAT_OK ? "LEAT_OK" : "an error";
}
