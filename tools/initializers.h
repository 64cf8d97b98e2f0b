/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The floating-point initializers in the bytes of an ONNX model. Everything else in them is skipped, and what is no
 * model has none.
 */
#ifndef LEAT_TOOLS_INITIALIZERS_H_
#define LEAT_TOOLS_INITIALIZERS_H_

#include "element.h"

/** Called for the elements of an initializer, or for a part of them.
 * @param data [borrowed: until return] elements of the type, which may be changed; not aligned
 * @param user as given to leati_initializers_each() */
typedef void (*leati_initializer_fn)(leati_element element, void *data, size_t count, void *user);

/** Visits the initializers of the model's graph that are of a type for which leati_element_is_float() holds, but for
 * those in files of their own.
 * @threads any
 * @param bytes [borrowed: until return] of the file
 * @return FALSE if there are none */
gboolean leati_initializers_each(void *bytes, size_t size, leati_initializer_fn visit, void *user);

#endif /* LEAT_TOOLS_INITIALIZERS_H_ */
