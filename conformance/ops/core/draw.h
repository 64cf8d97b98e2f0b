/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A call of an operator, drawn at random: attributes, types, shapes of rank 0 to 8, and elements. What a family's
 * recipes draw it with.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_H_

#include "case.h"
#include "ops/core/ref_tensor.h"

#define LEAT_DRAW_RANK (LEAT_MAX_RANK + 2) /**< dimensions of a drawn tensor at most, spoilt ones included */
#define LEAT_DRAW_INPUTS 20
#define LEAT_DRAW_OUTPUTS 6 /**< outputs of a call at most, spoilt counts included */
#define LEAT_DRAW_ATTRIBUTES 16

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
  const char *strings[LEAT_DRAW_RANK];                /**< what a STRINGS attribute points to, of which there is one, */
  uint64_t lengths[LEAT_DRAW_RANK];                   /**< and these */
  leati_draw_tensor value;                            /**< what a TENSOR attribute points to */
  DLTensor value_view;
  leati_draw_tensor inputs[LEAT_DRAW_INPUTS];
  bool faults;            /**< an index may be out of range and a divisor 0: no guard has the stream fail for it */
  bool summed;            /**< no very large and small numbers: a result would follow from the order of terms */
  bool empty;             /**< dimensions of size 0 are likely */
  bool spoilt;            /**< may be refused as invalid */
  bool ordered;           /**< the result depends on an order that nobody promises */
  bool rounded;           /**< what lies between may be rounded to 16 bits or not, as the layout has it */
  const uint8_t *choices; /**< what is drawn next follows from these, */
  size_t choice_count;    /**< as long as some are left; then, and elements, from `rand` */
  GRand *rand;
} leati_draw;

/** The type as DLPack says it, and bytes of an element. */
DLDataType leati_draw_dlpack(uint64_t type);
int64_t leati_draw_size(uint64_t type);

/** The type's name, as in messages. */
const char *leati_draw_type_name(uint64_t type);

bool leati_draw_is_float(uint64_t type);

/** Makes a tensor of the reference out of a drawn one; false if the reference does not know the type. */
bool leati_draw_reference(const leati_draw_tensor *tensor, leati_ref_tensor *out);

/* ---- For recipes ------------------------------------------------------------------------------------------------ */

/** What draws the attributes and inputs of an operator. `info`, `since_version`, `empty`, `faults`, `summed` and `rand`
 * are set, one output is wanted. */
typedef void (*leati_draw_recipe)(leati_draw *draw);

/** Operators that are drawn alike. With a form, inputs and attributes are drawn as draw_derive.h says, and between the
 * two a recipe, if there is one, draws what neither form nor operator list say; without a form the recipe draws all of
 * it. The name of each family's list is `leati_draws_<family>` (draws.c there), and it ends with an entry without a
 * kind. */
typedef struct leati_draw_entry {
  const char *kind; /**< which case of random.c calls it */
  const char *domain;
  const char *names; /**< separated by spaces */
  const char *form;
  leati_draw_recipe recipe;
} leati_draw_entry;

/** A whole number from `low` to `high`, and true in so many of 100 cases. */
int64_t leati_draw_int(leati_draw *draw, int64_t low, int64_t high);
bool leati_draw_chance(leati_draw *draw, int percent);

/** One of the types of a type constraint. */
uint64_t leati_draw_type(leati_draw *draw, const char *parameter);

/** Any of the types that there are. */
uint64_t leati_draw_any_type(leati_draw *draw);

/** A rank in a range, mostly 4 at most. */
int32_t leati_draw_rank(leati_draw *draw, int32_t low, int32_t high);

/** Draws the dimensions of a small tensor. */
void leati_draw_dims(leati_draw *draw, int32_t rank, int64_t *dims);

/** Draws a shape that broadcasts to the given one; gives its rank. */
int32_t leati_draw_narrowed(leati_draw *draw, int32_t rank, const int64_t *dims, int64_t *out);

/** An axis, counted from the front or the back. */
int64_t leati_draw_axis(leati_draw *draw, int32_t rank);

/** The axis counted from the front. */
int32_t leati_draw_front(int64_t axis, int32_t rank);

/** Distinct axes of a rank in any order, some of them counted from the back; gives how many. */
int32_t leati_draw_axes(leati_draw *draw, int32_t rank, int64_t *axes);

/** Adds an input with small random elements: floats normally distributed, integers from -9 to 9 (unsigned ones from 0),
 * booleans. Its elements may be set again. */
leati_draw_tensor *leati_draw_input(leati_draw *draw, uint64_t type, int32_t rank, const int64_t *dims);

/** Adds an input of any shape whose rank is in a range, of a type of a type constraint. */
leati_draw_tensor *leati_draw_any(leati_draw *draw, const char *parameter, int32_t low, int32_t high, int32_t *rank,
                                  int64_t *dims);

/** Adds an input of a shape that broadcasts to the given one. */
leati_draw_tensor *leati_draw_narrow_input(leati_draw *draw, uint64_t type, int32_t rank, const int64_t *dims);

/** Adds an int64 (or, with a type, int32) input of given numbers in one dimension; `count` -1: a scalar,
 * which is the first of them. */
leati_draw_tensor *leati_draw_list(leati_draw *draw, uint64_t type, int32_t count, const int64_t *numbers);

/** Adds an input that is left out. */
void leati_draw_absent(leati_draw *draw);

/** Sets one element; the number must be one that the type has. */
void leati_draw_set(leati_draw_tensor *tensor, int64_t at, double value);

/** Sets all elements to whole numbers of a range. */
void leati_draw_range(leati_draw *draw, leati_draw_tensor *tensor, int64_t low, int64_t high);

/** Gives the tensor another type and shape; its elements are 0. */
void leati_draw_reshape(leati_draw_tensor *tensor, uint64_t type, int32_t rank, const int64_t *dims);

/** Adds an attribute without a value; NULL if the entry does not say that the operator reads it. */
leat_attribute *leati_draw_attribute(leati_draw *draw, const char *name, uint32_t type);

/** Adds an attribute, if the entry says that the operator reads it. */
void leati_draw_attribute_int(leati_draw *draw, const char *name, int64_t value);
void leati_draw_attribute_float(leati_draw *draw, const char *name, double value);
void leati_draw_attribute_string(leati_draw *draw, const char *name, const char *value);
void leati_draw_attribute_ints(leati_draw *draw, const char *name, int32_t count, const int64_t *values);
void leati_draw_attribute_floats(leati_draw *draw, const char *name, int32_t count, const double *values);
void leati_draw_attribute_strings(leati_draw *draw, const char *name, int32_t count, const char *const *values);
void leati_draw_attribute_tensor(leati_draw *draw, const char *name, const DLTensor *value);

/** Elements in all. */
int64_t leati_draw_count(int32_t rank, const int64_t *dims);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_H_ */
