/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The inputs of a model: one or several sets of them, made up or read from files, and what the CPU provider gives for
 * each.
 */
#ifndef LEAT_TOOLS_FEED_H_
#define LEAT_TOOLS_FEED_H_

#include "model.h"
#include "options.h"

/** Inputs of one run, and the outputs that are right for them. */
typedef struct leati_set {
  OrtValue **inputs;  /**< one for each input of the model */
  OrtValue **outputs; /**< one for each output once leati_feed_expect() was called, else NULL */
} leati_set;

/** The sets of one model. Constant while threads read them: thread i takes set i modulo their number. */
typedef struct leati_feed {
  size_t set_count;
  leati_set *sets;
  GPtrArray *arrays; /**< leati_ndarray *: the memory under the inputs, some of it in several sets */
  GPtrArray *texts;  /**< char *: one line an input, saying type, shape and where it came from */
  GPtrArray *notes;  /**< char *: what was assumed because nothing was said */
} leati_feed;

/** Makes the inputs. Marks the named values that it used.
 * @param model described, constant
 * @param model_index distinguishes the random inputs of models that have the same seed
 * @return [owned: release with leati_feed_free] NULL with @p error set: a file that is missing or does not fit the
 * model, a dimension given twice with different sizes, a value that the type cannot hold, or too much memory */
leati_feed *leati_feed_new(const leati_ort *ort, const leati_model *model, const leati_options *options,
                           uint32_t model_index, GError **error);

/** Computes the outputs of every set with a session, one after another.
 * @param session of the CPU provider
 * @return FALSE with @p error set if the model does not run with these inputs */
gboolean leati_feed_expect(const leati_ort *ort, const leati_model *model, OrtSession *session, leati_feed *feed,
                           GError **error);

/** Frees a feed; NULL is allowed. */
void leati_feed_free(const leati_ort *ort, const leati_model *model, leati_feed *feed);

#endif /* LEAT_TOOLS_FEED_H_ */
