/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Some operator, whichever the backend has, called in a way that is right in everything: the cases about arguments
 * break one thing of the call at a time.
 *
 * It is Add of two float matrices where the backend has that. Elsewhere it is the first entry of its operator list that
 * takes device tensors of one shape and type and no attributes, and gives one of a shape that infer() tells.
 */
#ifndef LEAT_CONFORMANCE_CASES_SUBJECT_H_
#define LEAT_CONFORMANCE_CASES_SUBJECT_H_

#include <stdbool.h>

#include "fixture.h"

/** Inputs of a form at most. */
#define LEATI_FORM_INPUTS 4

/** A form of an operator that the backend takes. */
typedef struct leati_form {
  const leat_op_info *info; /**< its entry in the operator list */
  uint32_t since_version;   /**< one of the entry's */
  uint32_t inputs;          /**< how many; all are alike */
  DLDataType dtype;         /**< of each input */
  int32_t ndim;             /**< of each input, 2 or more */
  int64_t dims[4];          /**< of each input; the last two, and the product of all, are above 1 */
} leati_form;

/** The form to take arguments of. Ends the case as lacking an operator if there is none. */
leati_form leati_form_any(leat_case_context *ctx);
/** One of an operator that takes any number of inputs, with three of them; otherwise the same. */
leati_form leati_form_variadic(leat_case_context *ctx);
/** One whose results are exact and of the inputs' type and shape, so that any chain of it has one right result: Add of
 * whole numbers where the backend has that, else an operator on integers. Otherwise the same. */
leati_form leati_form_exact(leat_case_context *ctx);
/** The form of an entry of the operator list, if there is one; false: the case cannot tell how the entry is called. */
bool leati_form_of(leat_case_context *ctx, const leat_op_info *info, leati_form *out);

/** The form of Add, whether the backend has it or not: for descriptions that become wrong by their names. */
leati_form leati_form_of_add(void);
/** Whether it is Add: what broadcasting gives is known then. */
bool leati_form_is_add(const leati_form *form);

/** The description of a form, with an attribute that no operator knows. It points into itself: do not copy it. */
typedef struct leati_form_desc {
  int64_t dims[4];
  leat_value_info info; /**< of all inputs */
  const leat_value_info *infos[LEATI_FORM_INPUTS];
  leat_attribute attribute;
  const leat_attribute *attributes[1];
  leat_op_desc desc;
} leati_form_desc;

void leati_form_describe(const leati_form *form, leati_form_desc *out);

/** A call of a form with numbers in its inputs. */
typedef struct leati_subject {
  leat_case_context *ctx;
  leati_form form;
  leat_stream *stream;
  leat_op *op;
  uint64_t block;                                /**< the inputs and then the output, one behind the other */
  uint64_t size;                                 /**< bytes of the block */
  uint64_t item;                                 /**< bytes of an element of the inputs */
  leat_shape shape;                              /**< of the output */
  uint64_t starts[LEATI_FORM_INPUTS + 1];        /**< where in the block each view begins */
  uint64_t sizes[LEATI_FORM_INPUTS + 1];         /**< bytes of each view */
  leat_case_tensor views[LEATI_FORM_INPUTS + 1]; /**< the inputs, then the output */
  uint8_t *expected;                             /**< the output's bytes */
} leati_subject;

/** A call of leati_form_any(), or of a given form. */
leati_subject *leati_subject_new(leat_case_context *ctx);
leati_subject *leati_subject_of(leat_case_context *ctx, const leati_form *form);
/** Puts all views right again. */
void leati_subject_reset(leati_subject *subject);
/** Calls invoke() with the views as they are. */
int32_t leati_subject_invoke(leati_subject *subject, leat_error *err);
/** Calls infer() with the inputs as they are. */
int32_t leati_subject_infer(leati_subject *subject, leat_shape *out, leat_error *err);
/** The view of the output. */
leat_case_tensor *leati_subject_output(leati_subject *subject);
/** Shows that the refusals left the stream, the operator and the inputs as they were, and releases everything. */
void leati_subject_free(leati_subject *subject);

#endif /* LEAT_CONFORMANCE_CASES_SUBJECT_H_ */
