/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Equations of Einsum: which dimensions of operands and result go together.
 */
#ifndef LEAT_PLUGIN_OPS_PRODUCT_EQUATION_H_
#define LEAT_PLUGIN_OPS_PRODUCT_EQUATION_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stdint.h>

#define LEATI_EQUATION_OPERANDS_MAX 3
/** Labels are numbers: letters in the order of their codes, A to Z and a to z, then the dimensions of ellipses, of
 * which those with the same number from the end go together. */
#define LEATI_EQUATION_LETTERS 52
#define LEATI_EQUATION_LABELS (LEATI_EQUATION_LETTERS + LEAT_MAX_RANK)

/** An operand or the result. */
typedef struct leati_equation_term {
  int32_t ellipsis; /**< letters before it; -1: it has none */
  int32_t count;
  uint8_t letters[LEAT_MAX_RANK];
} leati_equation_term;

typedef struct leati_equation {
  char text[64]; /**< for messages: cut off, and without what cannot be printed */
  uint32_t operand_count;
  leati_equation_term operands[LEATI_EQUATION_OPERANDS_MAX], result;
} leati_equation;

/** Reads `length` characters. Spaces mean nothing; a result that is not given has the ellipsis, then all letters that
 * are there once.
 * @errors INVALID_ARGUMENT: it is none; NOT_SUPPORTED: too many operands or labels */
int32_t leati_equation_read(const char *text, uint64_t length, leati_equation *out, leat_error *err);

/** The labels of a tensor of `rank` dimensions as a term has them; false: it has them for another rank. */
bool leati_equation_labels(const leati_equation_term *term, int32_t rank, uint8_t *out);

/** The letter of a label, or '.' for a dimension of an ellipsis. */
char leati_equation_letter(uint8_t label);

#endif /* LEAT_PLUGIN_OPS_PRODUCT_EQUATION_H_ */
