/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The command line of leat-run.
 */
#ifndef LEAT_TOOLS_OPTIONS_H_
#define LEAT_TOOLS_OPTIONS_H_

#include <glib.h>
#include <stdint.h>

/** What was asked for. Constant once parsed, but for the used marks of the bindings. */
typedef struct leati_options {
  GPtrArray *models; /**< char *: paths, at least one */
  int64_t threads;   /**< a model, at least 1 */
  int64_t runs;      /**< a thread, at least 1 */
  int64_t sessions;  /**< a model, 1 to threads */
  int64_t warmup;    /**< runs a thread that are checked and not timed */
  int64_t cpu_threads;
  int64_t timeout; /**< seconds without any run ending, and of a stage; 0: none */
  int64_t seed;
  int64_t batch;         /**< rows of a batch, or 0: no batches */
  int64_t batch_delay;   /**< microseconds that a batch waits for more */
  int64_t batch_workers; /**< batches of a model at once, at least 1 */
  double tolerance;      /**< below 0: chosen from the model */
  gboolean leat;         /**< provider leat, else cpu */
  gboolean compare;      /**< with the CPU provider, else not at all */
  gboolean no_fallback;
  gboolean same_inputs;
  gboolean json;
  gboolean explain; /**< have sessions say why Leat does not run a node; no option, see rehearsal.h */
  gboolean verbose;
  gboolean version;
  char *provider_library; /**< NULL: beside this program */
  char *device;           /**< NULL: the first */
  char *save_outputs;     /**< folder, or NULL */
  char *report;           /**< path of a page, or NULL */
  char *command;          /**< all of the command line, as a shell takes it */
  char *profile;          /**< path of a trace, or NULL; it is among `provider_options` too */
  GPtrArray *inputs;      /**< leati_named_value *: these six hold what was given as NAME=VALUE */
  GPtrArray *dims;
  GPtrArray *shapes;
  GPtrArray *ranges;
  GPtrArray *fills;
  GPtrArray *provider_options;
} leati_options;

/** Reads the command line. "--help" prints the help and ends the program with 0.
 * @param argv [borrowed: until return] as main() has it
 * @param out [out] release with leati_options_clear(), also after a failure
 * @return FALSE with @p error set for anything that is not understood */
gboolean leati_options_parse(char **argv, leati_options *out, GError **error);

/** Has a profile written, by the provider's option for that.
 * @param path [borrowed: until return] */
void leati_options_profile(leati_options *options, const char *path);

/** Releases what the options hold. */
void leati_options_clear(leati_options *options);

#endif /* LEAT_TOOLS_OPTIONS_H_ */
