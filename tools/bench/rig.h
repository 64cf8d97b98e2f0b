/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A device opened through Leat's ABI, and tensors on it.
 */
#ifndef LEAT_TOOLS_BENCH_RIG_H_
#define LEAT_TOOLS_BENCH_RIG_H_

#include <glib.h>
#include <leat/host.h>

/** Inputs, outputs and common dimension of the linear layer that is measured. */
#define LEATI_LINEAR_BATCH 4
#define LEATI_LINEAR_INPUTS 256
#define LEATI_LINEAR_OUTPUTS 128

/** A device with the operators that are measured. Constant while a team runs. */
typedef struct leati_rig {
  const leat_backend_api *api;
  leat_device_info info;
  leat_device *device;
  leat_op *relu;   /**< float32 [n] */
  leat_op *gemm;   /**< float32 [4,256] x [256,128] + [128] */
  leat_op *cumsum; /**< int32 [n,m], along axis 0 */
} leati_rig;

/** A tensor with its shape; must not be copied, because the view points into it. */
typedef struct leati_tensor {
  DLTensor view;
  int64_t shape[2];
} leati_tensor;

#define LEATI_RIG_ERROR \
  { .struct_size = sizeof(leat_error) }

/** TRUE for LEAT_OK; else sets the error to what the call was to do, the status and its message. */
gboolean leati_rig_ok(int32_t status, const leat_error *err, const char *what, GError **error);

/** Loads the backend and opens a device of it.
 * @param plugin the backend's file, or NULL
 * @param index of the device
 * @param out [out] release with leati_rig_close() */
gboolean leati_rig_open(const char *plugin, guint index, leati_rig *out, GError **error);

/** Closes the device, sets a setting of the backend, and opens the device again.
 * @param value NULL: as the environment has it
 * @return FALSE with the error set; the rig is closed then, unless the setting alone was refused */
gboolean leati_rig_reopen(leati_rig *rig, const char *setting, const char *value, GError **error);

/** Closes the device and lets the backend free what it holds. Closing it again does nothing. */
void leati_rig_close(leati_rig *rig);

/** Whether the backend has a pool of streams, and how many streams for threads other than the main one. 0: none. */
guint leati_rig_pool_threads(const leati_rig *rig);

/** A tensor of the device, not set. @p columns 0: of one dimension.
 * @param out [out] release with leati_tensor_free() */
gboolean leati_tensor_make(const leati_rig *rig, leat_stream *stream, DLDataType type, int64_t rows, int64_t columns,
                           leati_tensor *out, GError **error);
/** Frees it; one that is all zero is left alone. */
void leati_tensor_free(const leati_rig *rig, leati_tensor *tensor);
/** A view of host memory with the shape of @p tensor. */
DLTensor leati_tensor_host(leati_tensor *tensor, const void *data);
/** Uploads; done when the stream has come to it. */
gboolean leati_tensor_put(const leati_rig *rig, leat_stream *stream, leati_tensor *tensor, const void *data,
                          GError **error);
/** Downloads and waits. */
gboolean leati_tensor_get(const leati_rig *rig, leat_stream *stream, leati_tensor *tensor, void *data, GError **error);

#endif /* LEAT_TOOLS_BENCH_RIG_H_ */
