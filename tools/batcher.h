/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A model behind a batch queue: threads run it with single requests, sessions see batches.
 */
#ifndef LEAT_TOOLS_BATCHER_H_
#define LEAT_TOOLS_BATCHER_H_

#include <leat/batch.h>

#include "feed.h"

typedef struct leati_batcher leati_batcher;

/** Starts a queue for a model, as --batch and its companions say.
 * A request is a set of the feed or, where the model takes exactly --batch rows, the first row of a set.
 * @param model [borrowed: until leati_batcher_free] with its sessions; worker i runs session i modulo their number
 * @param feed [borrowed: until return] whose sets will be the requests
 * @return [owned: release with leati_batcher_free] NULL with @p error set if axis 0 of an input or output is not the
 *   batch, or a request has more rows than a batch */
leati_batcher *leati_batcher_new(const leati_ort *ort, const leati_options *options, const leati_model *model,
                                 const leati_feed *feed, GError **error);

/** Runs one request, together with those that other threads have in hand.
 * @threads any
 * @param inputs [borrowed: until return] of a set of the feed
 * @param outputs [out] [owned: release with leati_values_free] one for each output of the model; none on failure
 * @return FALSE with @p error set */
gboolean leati_batcher_run(leati_batcher *batcher, OrtValue *const *inputs, OrtValue **outputs, GError **error);

/** Cuts the view of what is right for a set down to what is right for the request that leati_batcher_run() makes of it.
 * @threads any */
void leati_batcher_crop(const leati_batcher *batcher, leati_ndarray *array);

/** TRUE if a request is the first row of a set rather than the set.
 * @threads any */
gboolean leati_batcher_crops(const leati_batcher *batcher);

/** What the queue has done so far.
 * @threads any */
void leati_batcher_stats(const leati_batcher *batcher, leat_batch_stats *out);

/** Ends the queue after what is in it; NULL is allowed. */
void leati_batcher_free(leati_batcher *batcher);

#endif /* LEAT_TOOLS_BATCHER_H_ */
