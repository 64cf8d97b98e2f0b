/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The backend's operator list, and control flow (control_flow.h), as a kernel registry of ONNX Runtime. One per
 * factory, made when first asked for, shared by all sessions.
 */
#ifndef LEAT_ONNXRUNTIME_KERNEL_REGISTRY_H_
#define LEAT_ONNXRUNTIME_KERNEL_REGISTRY_H_

#include <pthread.h>

#include "kernel_impl.h"

/** The registry. */
typedef struct leati_kernel_registry {
  const leati_runtime *runtime; /**< immutable */
  pthread_mutex_t lock;         /**< guards the making of what follows, which is immutable then */
  OrtKernelRegistry *kernels;   /**< NULL until made */
  leati_kernel_source *sources; /**< one for each entry of the operator list, then those of control flow */
  uint32_t source_count;        /**< elements of `sources` */
} leati_kernel_registry;

/** Prepares a registry; nothing is made yet.
 * @threads any
 * @param registry [out] the registry; release with leati_kernel_registry_clear() if true is returned
 * @param runtime [in] the tables, which must outlive it
 * @return false: out of memory */
bool leati_kernel_registry_init(leati_kernel_registry *registry, const leati_runtime *runtime);

/** Frees the registry.
 * @threads owner
 * @param registry [inout] the registry */
void leati_kernel_registry_clear(leati_kernel_registry *registry);

/** Gives ONNX Runtime's registry, which is made the first time.
 * @threads any
 * @param registry [inout] the registry
 * @param out [out] valid as long as the registry
 * @return NULL, or what went wrong */
OrtStatus *leati_kernel_registry_kernels(leati_kernel_registry *registry, const OrtKernelRegistry **out);

/** What a node asks for. Strings are ONNX Runtime's and live as long as the node. */
typedef struct leati_node_form {
  const char *name;         /**< of the node */
  const char *type;         /**< operator */
  const char *domain;       /**< its domain, "" for ONNX's own */
  int since;                /**< its "since version" */
  const leat_op_info *info; /**< its entry in the list; NULL: there is none */
} leati_node_form;

/** Finds the operator of a node in the list.
 * @threads any, after leati_kernel_registry_kernels()
 * @param registry [in] the registry
 * @param node [in] the node; ONNX Runtime gives the domain "ai.onnx" as "", whatever the model says
 * @param out [out] what it asks for
 * @return NULL, or what went wrong */
OrtStatus *leati_kernel_registry_find(const leati_kernel_registry *registry, const OrtNode *node, leati_node_form *out);

/** Says why there is no entry for a node: its operator is not in the list, or in other versions, which are named.
 * @threads any, after leati_kernel_registry_kernels()
 * @param registry [in] the registry
 * @param form [in] what leati_kernel_registry_find() gave, without an entry
 * @param out [out] the reason, for a message; cut if too long */
void leati_kernel_registry_explain(const leati_kernel_registry *registry, const leati_node_form *form, char out[256]);

#endif /* LEAT_ONNXRUNTIME_KERNEL_REGISTRY_H_ */
