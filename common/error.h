/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Error structs that a host hands in, filled in.
 */
#ifndef LEAT_COMMON_ERROR_H_
#define LEAT_COMMON_ERROR_H_

#include <leat/backend.h>
#include <stdarg.h>
#include <stdbool.h>

/** Says whether an error struct can be written to: none at all, or one of at least the size of ABI 1.0. */
bool leati_error_usable(const leat_error *err);

/** Marks an error struct as success. Does nothing with one that is not usable. */
void leati_error_clear(leat_error *err);

/** Writes a code and a message, cut between two characters if too long. Does nothing but return with a struct that is
 * NULL or not usable.
 * @return code */
int32_t leati_error_set(leat_error *err, int32_t code, int32_t native_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The name of a status, as "LEAT_OK". */
const char *leati_error_name(int32_t code);

#endif /* LEAT_COMMON_ERROR_H_ */
