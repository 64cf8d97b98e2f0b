/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How a batch queue is set up: its configuration, checked and in a form that is quick to use. Immutable once made, so
 * that a batch goes on with the one it began with.
 */
#ifndef LEAT_BATCH_BATCH_SETUP_H_
#define LEAT_BATCH_BATCH_SETUP_H_

#include <leat/batch.h>
#include <stdbool.h>
#include <stddef.h>

/** What the queue knows of an input. */
typedef struct leati_batch_input {
  int64_t multiple[LEAT_MAX_RANK]; /**< by axis; 0: sizes must be equal there */
  unsigned char fill[16];          /**< one element */
  bool pads;                       /**< some multiple is not 0 */
} leati_batch_input;

/** What the queue knows of an output: which axis of which input each of its axes follows. */
typedef struct leati_batch_output {
  uint32_t input[LEAT_MAX_RANK];
  uint32_t axis[LEAT_MAX_RANK]; /**< 0: follows nothing */
} leati_batch_output;

typedef struct leati_batch_setup {
  uint32_t references;       /**< guarded by the queue's lock */
  leat_batch_config config;  /**< `pads` and `follows` are NULL */
  size_t max_bytes;          /**< of an input of a batch; config.max_bytes, or a number near the end of memory */
  leati_batch_input *inputs; /**< config.input_count of them; in the same piece of memory, as `outputs` */
  leati_batch_output *outputs;
} leati_batch_setup;

/** Checks and copies a configuration.
 * @param out [out] with one reference; release with leati_batch_setup_drop()
 * @return a status, as of leat_batch_queue_create() */
int32_t leati_batch_setup_new(const leat_batch_config *config, leati_batch_setup **out, leat_error *err);

/** Gives up a reference. Called with the queue's lock held, unless nobody else has the setup. */
void leati_batch_setup_drop(leati_batch_setup *setup);

/** The size of an axis once it is padded alone. */
int64_t leati_batch_setup_padded(const leati_batch_setup *setup, uint32_t input, int32_t axis, int64_t size);

/** Rows of a batch once it is filled up. */
int64_t leati_batch_setup_rows(const leati_batch_setup *setup, int64_t rows);

/** Whether two requests may be in one batch.
 * @param a, b `config.input_count` checked tensors each */
bool leati_batch_setup_alike(const leati_batch_setup *setup, const DLTensor *a, const DLTensor *b);

/** Reads a struct of a caller, of any size: shorter than `known` is refused, longer must be zero beyond it.
 * @param out [out] `known` bytes
 * @return a status */
int32_t leati_batch_import(const void *from, size_t known, const char *what, void *out, leat_error *err);

#endif /* LEAT_BATCH_BATCH_SETUP_H_ */
