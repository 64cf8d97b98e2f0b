/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a conformance case is, how to add one, and what it may say about the plugin.
 *
 * **Adding a case.** Write a function `static void name(leat_case_context *ctx, const void *data)` in the file of its
 * area, under cases/ or ops/, and add a line to the table at the end of that file:
 *
 *     static const leat_case event_cases[] = {
 *         {.name = "event.unrecorded.counts_as_finished", .summary = "An event never recorded counts as finished.",
 *          .run = query_unrecorded},
 *     };
 *     void leati_cases_event(leat_case_list *list) {
 *       leati_case_list_add(list, event_cases, G_N_ELEMENTS(event_cases));
 *     }
 *
 * A new file also gets one line in cases/sources.c. Cases made from data (operators) are added one by one with
 * leati_case_list_add() by such a function; all that they point to must live as long as the process. Sources are read
 * without a plugin: they must not call one.
 *
 * **Profiles.** A source belongs to one of two (cases/sources.c), and so do its cases. *Core* is what any backend does:
 * devices, memory, streams, events, the pool, graphs, errors, tensors of others, checks of arguments, life and end.
 * *Operators* is what single operators compute. A case of the core that needs some operator takes whichever the backend
 * has, if it can.
 *
 * **Names** are stable text: `area.subject.what_is_true`, lower case but for the operator in `op.<Operator>.<variant>`
 * and `op.<Operator>.<variant>.threads_<n>`. A name is never used again for something else.
 *
 * **Outcome.** A case that returns has passed. The check macros below fail it, with the place and a message; the skip
 * functions end it as not supported, which is allowed only where the plugin itself said so. An operator that it lacks
 * is told once for all cases that want it. Both end the *process* at once, from any thread, so a case needs no clean-up
 * on failure and may check anywhere. A case that passes releases what it took: other cases follow in the same
 * process. What was opened by leati_fixture_device() is closed by the runner. Each case has a deadline; a hang or a
 * crash is an outcome too.
 *
 * **Calls to the plugin** go through the tables in the context, with LEAT_ERR as the last argument inside a check:
 *
 *     LEAT_CHECK_OK(ctx, ctx->event->record(event, stream, LEAT_ERR));
 *     LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(device, 12345, LEAT_ERR));
 *
 * The macros also check that a failing call filled in the code and a message.
 */
#ifndef LEAT_CONFORMANCE_CASE_H_
#define LEAT_CONFORMANCE_CASE_H_

#include <glib.h>
#include <leat/backend.h>

/** The domain of the operators that ONNX Runtime adds to ONNX's. */
#define LEAT_MICROSOFT "com.microsoft"

/** What a case gets: the plugin's tables and its own surroundings. One per running case. */
typedef struct leat_case_context {
  const char *name;              /**< the case's name */
  const char *plugin_path;       /**< the plugin's file */
  leat_backend_query_fn query;   /**< the plugin's exported function */
  const leat_backend_api *api;   /**< the table of tables */
  const leat_device_api *device; /**< api->device */
  const leat_memory_api *memory; /**< api->memory */
  const leat_stream_api *stream; /**< api->stream */
  const leat_event_api *event;   /**< api->event */
  const leat_op_api *op;         /**< api->op */
  uint32_t device_index;         /**< the device that was chosen (`--device`) */
  uint32_t seed;                 /**< for random data: depends on `--seed` and the name only */
  uint32_t run_seed;             /**< `--seed` itself, for a message that says how to repeat */
  uint32_t first_call;           /**< of cases that draw calls: the number of the first one (`--first-call`) */
  uint32_t calls;                /**< likewise: how many (`--calls`); 0: as many as the case likes */
  gboolean all_operators;        /**< an operator that is lacking is a failure (`--all-operators`) */
  double scale;                  /**< what deadlines are multiplied by; multiply your own timeouts too */
  struct leat_fixture *fixture;  /**< what fixture.c keeps */
} leat_case_context;

typedef void (*leat_case_fn)(leat_case_context *ctx, const void *data);

#define LEAT_CASE_ALONE (UINT64_C(1) << 0)          /**< needs a process of its own, in which no device is open yet */
#define LEAT_CASE_WITHOUT_DEVICE (UINT64_C(1) << 1) /**< runs also where there is no device; must not open one */
#define LEAT_CASE_WITHOUT_TABLES (UINT64_C(1) << 2) /**< runs also when a table is missing; uses `query` alone */

#define LEAT_PROFILE_CORE (UINT32_C(1) << 0)      /**< what any backend does */
#define LEAT_PROFILE_OPERATORS (UINT32_C(1) << 1) /**< what single operators compute */
#define LEAT_PROFILE_ALL (LEAT_PROFILE_CORE | LEAT_PROFILE_OPERATORS)

/** A case. Constant; lives as long as the process. */
typedef struct leat_case {
  const char *name;          /**< see above */
  const char *summary;       /**< one sentence: what is true when it passes */
  uint64_t needs_capability; /**< LEAT_CAPABILITY_* bits; if one is clear the case is not run: not supported */
  uint64_t flags;            /**< LEAT_CASE_* */
  uint32_t deadline_s;       /**< seconds without progress, before scaling; 0: LEAT_CASE_DEADLINE_S */
  uint32_t profile;          /**< LEAT_PROFILE_* of the source: the list fills it in */
  leat_case_fn run;          /**< the case */
  const void *data;          /**< second argument of `run` */
} leat_case;

#define LEAT_CASE_DEADLINE_S 60u

/** A growing list of cases (case_list.c). */
typedef struct leat_case_list leat_case_list;

/** Adds cases; copies the structs, not what they point to. Ends the program if a name is there already. */
void leati_case_list_add(leat_case_list *list, const leat_case *cases, size_t count);

/** The cases of one file. */
typedef struct leat_case_source {
  uint32_t profile;                  /**< LEAT_PROFILE_* */
  void (*add)(leat_case_list *list); /**< adds them */
} leat_case_source;

/** All sources, those of the core first, ended by one without a function (cases/sources.c). */
extern const leat_case_source leati_case_sources[];

/* ---- Checks. Usable from any thread of the case; each evaluates its arguments once. ---- */

/** Ends the process with the outcome Fail. */
void leati_case_fail(const leat_case_context *ctx, const char *file, int line, const char *format, ...)
    G_GNUC_PRINTF(4, 5) G_GNUC_NORETURN;

/** Ends the process with the outcome NotSupported because a capability bit, an optional slot or a count of devices,
 * read from the plugin by the case, says so. Give what was read in the reason. */
void leati_case_skip(const leat_case_context *ctx, const char *format, ...) G_GNUC_PRINTF(2, 3) G_GNUC_NORETURN;

/** Ends the process with the outcome NotSupported because the plugin has no such operator, or not in this form: its
 * list or supports() says so, and the reason tells it. */
void leati_case_lack(const leat_case_context *ctx, const char *name, const char *format, ...)
    G_GNUC_PRINTF(3, 4) G_GNUC_NORETURN;

/** Asks op.supports about `desc`: returns if it is supported, ends the process as leati_case_lack() does if the
 * plugin says LEAT_ERROR_NOT_SUPPORTED, and with Fail for any other answer. Needs leati_fixture_device(). */
void leati_case_require_op(leat_case_context *ctx, const leat_op_desc *desc);

/** This thread's error struct, made ready for one call; the checks below look at it after the call. */
leat_error *leati_case_error(void);
#define LEAT_ERR leati_case_error()

/** Text of a status code, such as "LEAT_ERROR_TIMEOUT". */
const char *leati_case_status_name(int32_t code);

/** What the macros call. `second` is another status that is accepted, or `expected` again. */
void leati_case_check_status(const leat_case_context *ctx, const char *file, int line, const char *text,
                             int32_t expected, int32_t second, int32_t actual);
void leati_case_check_failure(const leat_case_context *ctx, const char *file, int line, const char *text,
                              int32_t actual);
void leati_case_check_u64(const leat_case_context *ctx, const char *file, int line, const char *text, uint64_t expected,
                          uint64_t actual);
void leati_case_check_bytes(const leat_case_context *ctx, const char *file, int line, const char *text,
                            const void *expected, const void *actual, size_t size);

/** The condition holds. */
#define LEAT_CHECK(ctx, condition)                                         \
  do {                                                                     \
    if (!(condition)) {                                                    \
      leati_case_fail(ctx, __FILE__, __LINE__, "%s is false", #condition); \
    }                                                                      \
  } while (0)

/** The condition holds; otherwise the message (printf) says what is wrong. */
#define LEAT_CHECK_MESSAGE(ctx, condition, ...)              \
  do {                                                       \
    if (!(condition)) {                                      \
      leati_case_fail(ctx, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                        \
  } while (0)

/** Fails the case with a message (printf). */
#define LEAT_FAIL(ctx, ...) leati_case_fail(ctx, __FILE__, __LINE__, __VA_ARGS__)

/** The call returns LEAT_OK. */
#define LEAT_CHECK_OK(ctx, call) leati_case_check_status(ctx, __FILE__, __LINE__, #call, LEAT_OK, LEAT_OK, call)

/** The call returns exactly this status. */
#define LEAT_CHECK_STATUS(ctx, expected, call) \
  leati_case_check_status(ctx, __FILE__, __LINE__, #call, expected, expected, call)

/** The call returns one of two. */
#define LEAT_CHECK_EITHER(ctx, first, second, call) \
  leati_case_check_status(ctx, __FILE__, __LINE__, #call, first, second, call)

/** The call fails, whatever the code. */
#define LEAT_CHECK_FAILS(ctx, call) leati_case_check_failure(ctx, __FILE__, __LINE__, #call, call)

/** Two unsigned numbers are equal. */
#define LEAT_CHECK_U64(ctx, expected, actual) leati_case_check_u64(ctx, __FILE__, __LINE__, #actual, expected, actual)

/** Two ranges of bytes are equal; the message shows the first difference. */
#define LEAT_CHECK_BYTES(ctx, expected, actual, size) \
  leati_case_check_bytes(ctx, __FILE__, __LINE__, #actual, expected, actual, size)

#endif /* LEAT_CONFORMANCE_CASE_H_ */
