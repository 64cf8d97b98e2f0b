/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Calls of operators, drawn at random: attributes, types, shapes of rank 0 to 8, and elements.
 *
 * A recipe for each operator (recipes.c) draws what the specification allows, and indices out of range and divisors of
 * 0 where backend.h says what those give. What came out can then be spoilt in one place: an extreme attribute, a shape
 * that does not fit, a rank too high, a wrong type, something left out. All of it follows from the seed.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_H_

#include "case.h"
#include "ops/core/ref_tensor.h"

#define LEAT_DRAW_RANK (LEAT_MAX_RANK + 2) /**< dimensions of a drawn tensor at most, spoilt ones included */
#define LEAT_DRAW_INPUTS 12
#define LEAT_DRAW_OUTPUTS 6 /**< outputs of a call at most, spoilt counts included */
#define LEAT_DRAW_ATTRIBUTES 12

/** A tensor in host memory. */
typedef struct leati_draw_tensor {
  bool present;  /**< false: the optional input is absent */
  bool constant; /**< its value is told when the operator is created */
  bool repeated; /**< all elements along dimension 0 are equal, so it may have stride 0 */
  bool plain;    /**< no NaN, infinities and their like: they would meet numbers that nobody says are there */
  uint64_t type; /**< one LEAT_TYPE_* bit */
  int32_t rank;
  int64_t dims[LEAT_DRAW_RANK];
  int64_t count;  /**< elements */
  uint8_t *bytes; /**< the elements, compact; owned */
} leati_draw_tensor;

/** A call. `output_count` is how many outputs there are at most, wanted or not. */
typedef struct leati_draw {
  const leat_op_info *info;
  uint32_t since_version;
  uint32_t attribute_count;
  uint32_t input_count;
  uint32_t output_count;
  leat_attribute attributes[LEAT_DRAW_ATTRIBUTES];
  int64_t ints[LEAT_DRAW_ATTRIBUTES][LEAT_DRAW_RANK]; /**< what INTS attributes point to */
  float floats[LEAT_DRAW_ATTRIBUTES][LEAT_DRAW_RANK]; /**< what FLOATS attributes point to */
  char text[64];                                      /**< what a STRING attribute that is drawn points to */
  leati_draw_tensor value;                            /**< what a TENSOR attribute points to */
  DLTensor value_view;
  leati_draw_tensor inputs[LEAT_DRAW_INPUTS];
  bool faults;  /**< an index may be out of range and a divisor 0: no guard has the stream fail for it */
  bool summed;  /**< no very large and small numbers: a result would follow from the order of terms */
  bool empty;   /**< dimensions of size 0 are likely */
  bool spoilt;  /**< may be refused as invalid */
  bool ordered; /**< the result depends on an order that nobody promises */
  bool rounded; /**< what lies between may be rounded to 16 bits or not, as the layout has it */
  GRand *rand;
} leati_draw;

/** Whether there is a recipe for the operator, and it is of the kind (NULL: of any). */
bool leati_draw_knows(const leat_op_info *info, const char *kind);

/** Draws a call.
 * @param draw [out] holds nothing before; release with leati_draw_clear()
 * @param info [in] an entry of the operator list that there is a recipe for
 * @param seed what all of it follows from
 * @param empty in how many of 100 calls dimensions of size 0 are likely
 * @param faults leati_draw::faults */
void leati_draw_make(leati_draw *draw, const leat_op_info *info, uint32_t seed, int empty, bool faults);

/** Spoils the call in one place. */
void leati_draw_spoil(leati_draw *draw);

void leati_draw_clear(leati_draw *draw);

/** The call in words: operator, version, attributes and inputs. Free it with g_free(). */
char *leati_draw_text(const leati_draw *draw);

/** The type as DLPack says it, and bytes of an element. */
DLDataType leati_draw_dlpack(uint64_t type);
int64_t leati_draw_size(uint64_t type);

/** Makes a tensor of the reference out of a drawn one; false if the reference does not know the type. */
bool leati_draw_reference(const leati_draw_tensor *tensor, leati_ref_tensor *out);

/* ---- For recipes ------------------------------------------------------------------------------------------------ */

/** What draws the attributes and inputs of an operator. `info`, `since_version`, `empty`, `faults`, `summed` and `rand`
 * are set, one output is wanted. */
typedef void (*leati_draw_recipe)(leati_draw *draw);

/** An operator that can be drawn. */
typedef struct leati_draw_entry {
  const char *kind; /**< which case of random.c calls it */
  const char *domain;
  const char *name;
  leati_draw_recipe recipe;
} leati_draw_entry;

/** Ends with an entry without a name. */
extern const leati_draw_entry leati_draw_entries[];

/** A whole number from `low` to `high`, and true in so many of 100 cases. */
int64_t leati_draw_int(leati_draw *draw, int64_t low, int64_t high);
bool leati_draw_chance(leati_draw *draw, int percent);

/** One of the types of a type constraint. */
uint64_t leati_draw_type(leati_draw *draw, const char *parameter);

/** Draws the dimensions of a small tensor. */
void leati_draw_dims(leati_draw *draw, int32_t rank, int64_t *dims);

/** Adds an input with small random elements: floats normally distributed, integers from -9 to 9 (unsigned ones from 0),
 * booleans. Its elements may be set again. */
leati_draw_tensor *leati_draw_input(leati_draw *draw, uint64_t type, int32_t rank, const int64_t *dims);

/** Adds an int64 (or, with a type, int32) input of given numbers in one dimension; `count` -1: a scalar,
 * which is the first of them. */
leati_draw_tensor *leati_draw_list(leati_draw *draw, uint64_t type, int32_t count, const int64_t *numbers);

/** Adds an input that is left out. */
void leati_draw_absent(leati_draw *draw);

/** Sets one element; the number must be one that the type has. */
void leati_draw_set(leati_draw_tensor *tensor, int64_t at, double value);

/** Adds an attribute, if the entry says that the operator reads it. */
void leati_draw_attribute_int(leati_draw *draw, const char *name, int64_t value);
void leati_draw_attribute_float(leati_draw *draw, const char *name, double value);
void leati_draw_attribute_string(leati_draw *draw, const char *name, const char *value);
void leati_draw_attribute_ints(leati_draw *draw, const char *name, int32_t count, const int64_t *values);
void leati_draw_attribute_floats(leati_draw *draw, const char *name, int32_t count, const double *values);
void leati_draw_attribute_tensor(leati_draw *draw, const char *name, const DLTensor *value);

/** Elements in all. */
int64_t leati_draw_count(int32_t rank, const int64_t *dims);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_H_ */
