/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A function of one number with its parameters: what an operator of the unary family is, and the activation of a fused
 * operator. kernels/functions.glsl computes both.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_FUNCTION_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_FUNCTION_H_

#include "ops/core/op.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"

/** As kernels are told of it. All zero: the number itself. */
typedef struct leati_function {
  uint32_t operation; /**< LEAT_EW_*: of one number, or LEAT_EW_CLIP between two parameters */
  float parameters[2];
} leati_function;

/** The bounds of Clip where they are not given: the lowest and the largest finite number of a floating-point type. A
 * leati_function, which knows no type, has those of float32. */
void leati_clip_limits(uint64_t type, float out[2]);
/** The parameters for a kernel whose results are of a floating-point type. */
void leati_function_parameters(const leati_function *function, uint64_t type, float out[2]);

/** A name that a function of one number has. */
typedef struct leati_function_name {
  const char *name;
  uint32_t operation; /**< LEAT_EW_* */
  bool program;       /**< of the programs of leat.Pointwise, whose operands are the number and then the parameters */
  bool activation;    /**< of fused operators */
  uint32_t parameter_count;
  const char *attributes[2]; /**< of its own operator, for the parameters */
  float otherwise[2];        /**< where they are not given */
} leati_function_name;

/** All of them: functions.inc. */
extern const leati_function_name leati_function_names[];
extern const uint32_t leati_function_name_count;

/** The first of a name, which need not end with '\0'; NULL: there is none. */
const leati_function_name *leati_function_find(const char *name, uint64_t length);

/** Reads the parameters of a function from the attributes that the operator of this name has for them.
 * @param name [in] NULL, or of no function of one number: it has none */
void leati_function_read(const leati_op_desc *desc, const char *name, uint32_t operation, leati_function *out);

/** The function that an operator of the unary family computes; NULL: the operator is another one. (unary.c) */
const leati_function *leati_function_of(const leat_op *op);
/** The name of a function as an activation, and how many parameters it has; NULL: it is none. */
const char *leati_function_activation(const leati_function *function, uint32_t *out_count);

/** The attributes of fused operators. A parameter that is not given is what the activation's own operator has then. */
extern const leat_op_attribute leati_attribute_activation;        /**< the operator's name; empty: none */
extern const leat_op_attribute leati_attribute_activation_params; /**< its parameters in the order of its attributes */
extern const leat_op_attribute leati_attribute_activation_alpha, leati_attribute_activation_beta; /**< or one by one */
extern const leat_op_attribute leati_attribute_activation_gamma;
/** The same of a second activation, that of a gate. */
extern const leat_op_attribute leati_attribute_gate_activation, leati_attribute_gate_activation_params;

/** Reads an activation from those of them that the operator `def` has.
 * @errors NOT_SUPPORTED: no such activation; INVALID_ARGUMENT: it has fewer parameters than are given */
int32_t leati_function_read_activation(const leati_op_def *def, const leati_op_desc *desc, leati_function *out,
                                       leat_error *err);
/** The same of a gate. */
int32_t leati_function_read_gate_activation(const leati_op_def *def, const leati_op_desc *desc, leati_function *out,
                                            leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_FUNCTION_H_ */
