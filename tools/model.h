/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * One model: what it takes and gives, its sessions, and which of its nodes ran where.
 */
#ifndef LEAT_TOOLS_MODEL_H_
#define LEAT_TOOLS_MODEL_H_

#include "ndarray.h"
#include "ort.h"

/** An input or output. */
typedef struct leati_slot {
  char *name;
  leati_element element;
  gboolean has_shape; /**< FALSE: the model does not even say how many dimensions there are */
  size_t rank;
  int64_t dims[LEATI_NDARRAY_RANK_MAX];  /**< negative: dynamic */
  char *symbols[LEATI_NDARRAY_RANK_MAX]; /**< names of dynamic dimensions, "" where there is none */
} leati_slot;

/** A node and who runs it. */
typedef struct leati_model_node {
  char *name;
  char *op;       /**< operator, with its domain before it where that is not ONNX's own */
  char *provider; /**< such as "CPUExecutionProvider" */
  char *reason;   /**< why the Leat provider refused it, or NULL: it did not, or its session was not to explain */
  guint subgraph; /**< number of the group of nodes that the provider runs as one, from 1; 0: it runs by itself */
} leati_model_node;

/** A model. Constant while threads run its sessions. */
typedef struct leati_model {
  char *path;
  char *label; /**< its file's name without ".onnx", made unique among the models */
  size_t input_count, output_count;
  leati_slot *inputs, *outputs;
  const char **input_names, **output_names; /**< the slots' names, as Run wants them */
  size_t session_count;
  OrtSession **sessions;
  double *session_seconds; /**< how long making each session took */
  GPtrArray *nodes;        /**< leati_model_node * of the first session, as ONNX Runtime assigned them */
} leati_model;

/** Starts a model without sessions.
 * @param label [borrowed: until return]
 * @return [owned: release with leati_model_free before leati_ort_close] */
leati_model *leati_model_new(const char *path, const char *label);

/** Frees a model and its sessions, none of which may be running; NULL is allowed. */
void leati_model_free(const leati_ort *ort, leati_model *model);

/** Reads inputs and outputs from a session of the model, unless that was done before.
 * @return FALSE with @p error set if one of them is not a tensor of a type in element.h */
gboolean leati_model_describe(const leati_ort *ort, const OrtSession *session, leati_model *model, GError **error);

/** Adds a session.
 * @return FALSE with @p error set */
gboolean leati_model_add_session(const leati_ort *ort, const leati_session_plan *plan, leati_model *model,
                                 GError **error);

/** Which node a session gave to which provider.
 * @return [owned: release with g_ptr_array_unref] leati_model_node *; NULL with @p error set */
GPtrArray *leati_model_nodes(const leati_ort *ort, const OrtSession *session, GError **error);

/** One run. Any number of threads may run one session at once.
 * @threads any
 * @param inputs [borrowed: until return] one for each input of the model
 * @param outputs [out] [owned: release with leati_values_free] one for each output of the model; none on failure
 * @return a status that the caller takes, NULL for success */
OrtStatus *leati_model_run(const leati_ort *ort, const leati_model *model, OrtSession *session, OrtValue *const *inputs,
                           OrtValue **outputs);

/** Makes a view of a tensor that ONNX Runtime holds.
 * @threads any
 * @param value [borrowed: as long as the view is used]
 * @return FALSE with @p error set if it is not a tensor of a type in element.h in host memory */
gboolean leati_value_view(const leati_ort *ort, OrtValue *value, leati_ndarray *out, GError **error);

/** Makes ONNX Runtime's view of an array.
 * @threads any
 * @param array [borrowed: as long as the value lives]
 * @return [owned: release with api->ReleaseValue] NULL with @p error set */
OrtValue *leati_value_new(const leati_ort *ort, const leati_ndarray *array, GError **error);

/** Makes a value with memory of its own, and copies an array into it.
 * @threads any
 * @param array [borrowed: until return]
 * @return [owned: release with api->ReleaseValue] NULL with @p error set */
OrtValue *leati_value_copy(const leati_ort *ort, const leati_ndarray *array, GError **error);

/** Releases @p count values, of which any may be NULL, and sets them to NULL.
 * @threads any */
void leati_values_free(const leati_ort *ort, OrtValue **values, size_t count);

#endif /* LEAT_TOOLS_MODEL_H_ */
