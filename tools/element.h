/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Types of tensor elements: their names, sizes, limits, and conversion to and from double.
 */
#ifndef LEAT_TOOLS_ELEMENT_H_
#define LEAT_TOOLS_ELEMENT_H_

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/** An element type. Types that are not here (strings, complex numbers, types narrower than a byte) cannot be fed or
 * compared. */
typedef enum leati_element {
  LEATI_FLOAT32,
  LEATI_FLOAT64,
  LEATI_FLOAT16,
  LEATI_BFLOAT16,
  LEATI_INT8,
  LEATI_INT16,
  LEATI_INT32,
  LEATI_INT64,
  LEATI_UINT8,
  LEATI_UINT16,
  LEATI_UINT32,
  LEATI_UINT64,
  LEATI_BOOL,
} leati_element;

/** Name as ONNX users know it, such as "float32".
 * @threads any */
const char *leati_element_name(leati_element element);

/** Bytes of one element.
 * @threads any */
size_t leati_element_size(leati_element element);

/** TRUE for the four floating-point types.
 * @threads any */
gboolean leati_element_is_float(leati_element element);

/** Half the distance from 1 to the next number of a floating-point type: the relative error of rounding once.
 * @threads any
 * @param element one for which leati_element_is_float() holds */
double leati_element_unit(leati_element element);

/** Smallest and largest whole number of an integer type or bool. The largest of uint64 is given as INT64_MAX.
 * @threads any
 * @param element one for which leati_element_is_float() does not hold
 * @param low,high [out] both ends are included */
void leati_element_limits(leati_element element, int64_t *low, int64_t *high);

/** Reads element @p index as a double. Whole numbers beyond 2^53 are rounded.
 * @threads any
 * @param data [borrowed: until return] elements of the type, aligned or not */
double leati_element_read(leati_element element, const void *data, size_t index);

/** Writes a floating-point value, rounded to nearest even in the type.
 * @threads any
 * @param element one for which leati_element_is_float() holds
 * @param data [borrowed: until return] elements of the type */
void leati_element_write_float(leati_element element, void *data, size_t index, double value);

/** Moves a floating-point number by so many of its neighbours, away from zero or, below 0, towards it. Zero, NaN,
 * infinity and what would become one of them or change its sign stay.
 * @threads any
 * @param element one for which leati_element_is_float() holds
 * @param data [borrowed: until return] elements of the type */
void leati_element_step(leati_element element, void *data, size_t index, int64_t ulps);

/** Writes a whole number that lies within leati_element_limits().
 * @threads any
 * @param element one for which leati_element_is_float() does not hold
 * @param data [borrowed: until return] elements of the type */
void leati_element_write_int(leati_element element, void *data, size_t index, int64_t value);

#endif /* LEAT_TOOLS_ELEMENT_H_ */
