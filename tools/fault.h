/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The one GError domain of the tools. A fault is told to a person and ends the program, so it has no codes: only its
 * message matters, and that says what is wrong and what would be right.
 */
#ifndef LEAT_TOOLS_FAULT_H_
#define LEAT_TOOLS_FAULT_H_

#include <glib.h>

/** Sets a fault; the arguments after it are those of g_set_error() from the format on. */
#define LEATI_FAULT_SET(error, ...) g_set_error((error), g_quark_from_static_string("leat-fault"), 0, __VA_ARGS__)

#endif /* LEAT_TOOLS_FAULT_H_ */
