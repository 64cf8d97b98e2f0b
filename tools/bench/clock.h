/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The device's clock rate, as a command of the user's tells it: Vulkan does not.
 */
#ifndef LEAT_TOOLS_BENCH_CLOCK_H_
#define LEAT_TOOLS_BENCH_CLOCK_H_

#include <glib.h>

/** A command that runs. One thread at a time. */
typedef struct leati_clock leati_clock;

/** Starts the command and returns at once.
 * @param command program and arguments, quoted as for a shell; prints a number of MHz on its first line
 * @return [owned: release with leati_clock_finish] NULL with the error set: it cannot be started */
leati_clock *leati_clock_start(const char *command, GError **error);

/** Whether the command has ended. Does not block. A command that takes more than ten seconds is killed. */
gboolean leati_clock_ready(leati_clock *clock);

/** Waits for the command and frees it.
 * @param mhz [out] what it said
 * @return FALSE with the error set: it failed, took too long, or printed no number */
gboolean leati_clock_finish(leati_clock *clock, double *mhz, GError **error);

#endif /* LEAT_TOOLS_BENCH_CLOCK_H_ */
