/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Finding the floating-point initializers in the bytes of a model, and nothing in what is none.
 */
#include "initializers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <string.h>

/* A model as protobuf writes it, with what is not to be visited between what is. */
static const unsigned char model[] = {
    0x08, 8,                       /* ir_version 8 */
    0x3a, 68,                      /* graph */
    0x0a, 4,  0x22, 2,  'O',  'p', /* node, of operator Op */
    0x12, 1,  'g',                 /* name */
    0x2a, 12, 0x08, 1,  0x10, 1,    0x4a, 4,    0,    0,    0x80, 0x3f,
    0x42, 0, /* initializer: float32, raw 1.0, no name */
    0x2a, 12, 0x10, 7,  0x4a, 8,    5,    0,    0,    0,    0,    0,
    0,    0,                                                         /* initializer: int64 */
    0x2a, 8,  0x4a, 4,  0,    0x3c, 0,    0x40, 0x10, 10,            /* initializer: float16, its type comes last */
    0x2a, 10, 0x10, 1,  0x22, 4,    0,    0,    0,    0x40, 0x38, 0, /* initializer: float32 2.0 as float_data */
    0x2a, 7,  0x10, 11, 0x4a, 3,    1,    2,    3,                   /* initializer: float64 of less than one element */
    0x42, 2,  0x08, 0,                                               /* and more of the model */
};

typedef struct visits {
  size_t calls, elements;
  double sum;
} visits;

static void visit(leati_element element, void *data, size_t count, void *user) {
  visits *seen = user;
  ++seen->calls;
  seen->elements += count;
  for (size_t i = 0; i < count; ++i) {
    seen->sum += leati_element_read(element, data, i);
    leati_element_write_float(element, data, i, 0.0);
  }
}

static void initializers_of_floating_point_are_visited(void **state) {
  (void)state;
  unsigned char bytes[sizeof(model)];
  visits seen = {0};
  memcpy(bytes, model, sizeof(model));
  assert_true(leati_initializers_each(bytes, sizeof(bytes), visit, &seen));
  assert_int_equal(seen.calls, 3);
  assert_int_equal(seen.elements, 4);
  assert_true(seen.sum == 1.0 + 1.0 + 2.0 + 2.0);
  /* What the visitor wrote is in the bytes, and nothing else is another. */
  size_t changed = 0;
  for (size_t i = 0; i < sizeof(model); ++i) {
    changed += bytes[i] != model[i];
  }
  assert_int_equal(changed, 2 + 2 + 1);
}

/* A model that is cut off at any byte, or has any byte replaced, is read no further than its end. */
static void damaged_bytes_are_read_within_their_end(void **state) {
  (void)state;
  for (size_t size = 1; size < sizeof(model); ++size) {
    visits seen = {0};
    unsigned char *bytes = g_memdup2(model, size);
    (void)leati_initializers_each(bytes, size, visit, &seen);
    assert_true(seen.calls <= 3);
    g_free(bytes);
  }
  for (size_t place = 0; place < sizeof(model); ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      visits seen = {0};
      unsigned char *bytes = g_memdup2(model, sizeof(model));
      bytes[place] = (unsigned char)value;
      (void)leati_initializers_each(bytes, sizeof(model), visit, &seen);
      assert_true(seen.elements <= sizeof(model) / 2);
      g_free(bytes);
    }
  }
  visits seen = {0};
  unsigned char endless[16];
  memset(endless, 0xff, sizeof(endless));
  assert_false(leati_initializers_each(endless, sizeof(endless), visit, &seen));
  assert_false(leati_initializers_each(endless, 0, visit, &seen));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(initializers_of_floating_point_are_visited),
      cmocka_unit_test(damaged_bytes_are_read_within_their_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
