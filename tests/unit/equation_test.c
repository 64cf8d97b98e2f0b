/* SPDX-License-Identifier: BSD-3-Clause */
/* Equations of Einsum: what is read, what is refused and why, and which dimension has which label. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ops/product/equation.h"

/* Writes what was read with an ellipsis of `dots` dimensions, "ab,b.->a", for comparison. */
static void write_term(const leati_equation_term *term, int32_t dots, char *out) {
  uint8_t labels[LEAT_MAX_RANK];
  const int32_t rank = term->count + (term->ellipsis >= 0 ? dots : 0);
  assert_true(leati_equation_labels(term, rank, labels));
  for (int32_t d = 0; d < rank; ++d) {
    const size_t used = strlen(out);
    out[used] = leati_equation_letter(labels[d]);
    out[used + 1] = '\0';
  }
}

static void read(const char *text, int32_t dots, const char *expected) {
  leati_equation e;
  leat_error err = {.struct_size = sizeof(err)};
  char got[128] = "";
  if (leati_equation_read(text, strlen(text), &e, &err) != LEAT_OK) {
    fail_msg("\"%s\": %s", text, err.message);
  }
  for (uint32_t i = 0; i < e.operand_count; ++i) {
    strcat(got, i > 0 ? "," : "");
    write_term(&e.operands[i], dots, got);
  }
  strcat(got, "->");
  write_term(&e.result, dots, got);
  assert_string_equal(got, expected);
}

static void refuse(const char *text, size_t length, int32_t code, const char *why) {
  leati_equation e;
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(leati_equation_read(text, length, &e, &err), code);
  if (strstr(err.message, why) == NULL) {
    fail_msg("\"%s\" should be in: %s", why, err.message);
  }
}

static void reads_terms(void **state) {
  (void)state;
  read("ij,jk->ik", 0, "ij,jk->ik");
  read(" i j , j k - > k i ", 0, "ij,jk->ki");
  read("aZ,zA->zZ", 0, "aZ,zA->zZ");
  read("iij->j", 0, "iij->j");
  read("->", 0, "->");
  read("", 0, "->");
  read(",a->a", 0, ",a->a");
  read("a,b,c->cab", 0, "a,b,c->cab");
  read("...ab,b...->a...b", 2, "..ab,b..->a..b");
  read("a...->a...", 0, "a->a");
  read("...->...", 8, "........->........");
}

static void finds_the_result(void **state) {
  (void)state;
  read("kj,ik", 0, "kj,ik->ij");
  read("ba", 0, "ba->ab");
  read("aBb,bA", 0, "aBb,bA->ABa");
  read("ii", 0, "ii->");
  read("b...a,a", 2, "b..a,a->..b");
}

static void refuses_others(void **state) {
  static const struct {
    const char *text, *why;
  } wrong[] = {
      {"ij->k", "has 'k' in the result, which no operand has"},
      {"ij->ii", "has 'i' in the result, twice"},
      {"i->i->i", "goes on behind the result"},
      {"i->i,", "goes on behind the result"},
      {"i-j", "has a '-' that is none of \"->\""},
      {"i-", "has a '-' that is none of \"->\""},
      {"i>j", "nothing else"},
      {"i1->i", "nothing else"},
      {"i\n->i", "\"i?->i\" may have"},
      {"i\303\244->i", "\"i?\?->i\" may have"},
      {"i..", "has a point that is none of three"},
      {"i. .j", "has a point that is none of three"},
      {"i....", "has a point that is none of three"},
      {"...i...", "has a term with two ellipses"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    refuse(wrong[i].text, strlen(wrong[i].text), LEAT_ERROR_INVALID_ARGUMENT, wrong[i].why);
  }
  refuse("i\0j->i", 6, LEAT_ERROR_INVALID_ARGUMENT, "\"i?j->i\" may have");
  refuse("a,b,c,d->abcd", 13, LEAT_ERROR_NOT_SUPPORTED, "has more than 3 operands");
  refuse("abcdefghi->a", 12, LEAT_ERROR_NOT_SUPPORTED, "more than 8 labels");
  refuse("abcde,fghij", 11, LEAT_ERROR_NOT_SUPPORTED, "more than 8 labels");
}

/* Nothing behind the end is read, and messages hold as much of a long text as there is room for. */
static void keeps_to_its_length(void **state) {
  static char text[1 << 20];
  leati_equation e;
  (void)state;
  memset(text, ' ', sizeof(text));
  memcpy(text + sizeof(text) - 3, "ijk", 3);
  assert_int_equal(leati_equation_read(text, sizeof(text) - 1, &e, NULL), LEAT_OK);
  assert_int_equal(e.operands[0].count, 2);
  assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
  memset(text, 'i', sizeof(text));
  refuse(text, sizeof(text), LEAT_ERROR_NOT_SUPPORTED, "more than 8 labels");
  memset(text, ',', sizeof(text));
  refuse(text, sizeof(text), LEAT_ERROR_NOT_SUPPORTED, "more than 3 operands");
  assert_int_equal(leati_equation_read(NULL, 0, &e, NULL), LEAT_OK);
  assert_int_equal(e.operand_count, 1);
}

/* The last dimensions of two ellipses go together, whatever stands where in the terms. */
static void labels_dimensions(void **state) {
  leati_equation e;
  uint8_t a[LEAT_MAX_RANK], b[LEAT_MAX_RANK];
  (void)state;
  assert_int_equal(leati_equation_read("x...y,...x", 10, &e, NULL), LEAT_OK);
  assert_true(leati_equation_labels(&e.operands[0], 5, a));
  assert_true(leati_equation_labels(&e.operands[1], 2, b));
  assert_int_equal(a[3], b[0]);
  assert_int_equal(a[3], LEATI_EQUATION_LABELS - 1);
  assert_int_equal(a[1], LEATI_EQUATION_LABELS - 3);
  assert_int_equal(a[0], b[1]);
  assert_false(leati_equation_labels(&e.operands[0], 1, a));
  assert_int_equal(leati_equation_read("xy", 2, &e, NULL), LEAT_OK);
  assert_false(leati_equation_labels(&e.operands[0], 3, a));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_terms),         cmocka_unit_test(finds_the_result),  cmocka_unit_test(refuses_others),
      cmocka_unit_test(keeps_to_its_length), cmocka_unit_test(labels_dimensions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
