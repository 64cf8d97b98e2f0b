/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What is typed after options: NAME=VALUE, numbers, ranges, shapes, and the command line as a whole.
 */
#include "option_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <string.h>

#include "options.h"

static void named_values_split_at_the_first_sign(void **state) {
  (void)state;
  const struct {
    const char *text, *name, *value;
  } good[] = {{"a=b", "a", "b"}, {"a=", "a", ""}, {"x:0=/p/q=r.npy", "x:0", "/p/q=r.npy"}};
  for (size_t i = 0; i < G_N_ELEMENTS(good); ++i) {
    leati_named_value *named = leati_named_value_parse(good[i].text, NULL);
    assert_non_null(named);
    assert_string_equal(named->name, good[i].name);
    assert_string_equal(named->value, good[i].value);
    assert_false(named->used);
    leati_named_value_free(named);
  }
  const char *const bad[] = {"", "a", "=b", "="};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); ++i) {
    GError *error = NULL;
    assert_null(leati_named_value_parse(bad[i], &error));
    assert_non_null(strstr(error->message, "NAME=VALUE"));
    g_error_free(error);
  }
}

static void whole_numbers_are_strict(void **state) {
  (void)state;
  int64_t value = 0;
  assert_true(leati_parse_whole("1", 1, 8, &value, NULL));
  assert_int_equal(value, 1);
  assert_true(leati_parse_whole("-5", -5, 8, &value, NULL));
  assert_int_equal(value, -5);
  const char *const bad[] = {"", "x", "-3", "0", "9", "3x", " 3", "3 ", "3.0", "1e1", "0x3", "99999999999999999999"};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); ++i) {
    GError *error = NULL;
    assert_false(leati_parse_whole(bad[i], 1, 8, &value, &error));
    assert_non_null(strstr(error->message, "from 1 to 8"));
    g_error_free(error);
  }
}

static void numbers_and_ranges_are_finite(void **state) {
  (void)state;
  double low = 0.0;
  double high = 0.0;
  assert_true(leati_parse_number("1e-3", 0.0, &low, NULL));
  assert_true(low == 1e-3);
  assert_true(leati_parse_range("-2.5:7", &low, &high, NULL));
  assert_true(low == -2.5 && high == 7.0);
  assert_true(leati_parse_range("3:3", &low, &high, NULL));
  const char *const numbers[] = {"", "x", "-1", "nan", "inf", "1e999", "1 ", " 1", "1,5"};
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); ++i) {
    assert_false(leati_parse_number(numbers[i], 0.0, &low, NULL));
  }
  const char *const ranges[] = {"", "1", ":", "1:", ":1", "2:1", "1:2:3", "1:x", "nan:1", "0:inf", "1: 2", "1-2"};
  for (size_t i = 0; i < G_N_ELEMENTS(ranges); ++i) {
    GError *error = NULL;
    assert_false(leati_parse_range(ranges[i], &low, &high, &error));
    assert_non_null(strstr(error->message, "LOW:HIGH"));
    g_error_free(error);
  }
}

static void shapes_are_sizes_with_commas(void **state) {
  (void)state;
  int64_t dims[3] = {0};
  size_t rank = 0;
  assert_true(leati_parse_shape("1,0,2147483648", dims, 3, &rank, NULL));
  assert_int_equal(rank, 3);
  assert_int_equal(dims[1], 0);
  assert_int_equal(dims[2], INT64_C(1) << 31);
  const char *const bad[] = {"", ",", "1,", ",1", "1,,2", "-1", "1x2", "1,2,3,4", "2147483649", "a"};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); ++i) {
    assert_false(leati_parse_shape(bad[i], dims, 3, &rank, NULL));
  }
}

static gboolean parse(const char *line, leati_options *out, GError **error) {
  char **argv = g_strsplit(line, " ", -1);
  const gboolean right = leati_options_parse(argv, out, error);
  g_strfreev(argv);
  return right;
}

static void command_lines_are_read(void **state) {
  (void)state;
  leati_options options;
  assert_true(
      parse("leat-run a.onnx b.onnx -t 8 --runs=20 --sessions 4 --provider cpu --compare none --dim n=3 --dim m=4 "
            "-i x=f.npy --input x=g.npy --tolerance 0.5 --json",
            &options, NULL));
  assert_int_equal(options.models->len, 2);
  assert_string_equal(g_ptr_array_index(options.models, 1), "b.onnx");
  assert_int_equal(options.threads, 8);
  assert_int_equal(options.runs, 20);
  assert_int_equal(options.sessions, 4);
  assert_false(options.leat);
  assert_false(options.compare);
  assert_true(options.json);
  assert_true(options.tolerance == 0.5);
  assert_int_equal(options.dims->len, 2);
  assert_int_equal(options.inputs->len, 2);
  leati_options_clear(&options);

  assert_true(parse("leat-run a.onnx", &options, NULL));
  assert_int_equal(options.threads, 1);
  assert_true(options.leat);
  assert_true(options.compare);
  assert_true(options.tolerance < 0.0);
  leati_options_clear(&options);
}

static void bad_command_lines_are_refused(void **state) {
  (void)state;
  const struct {
    const char *line, *text;
  } bad[] = {
      {"leat-run", "no model"},
      {"leat-run m --threads -3", "--threads: '-3' is not a whole number from 1 to 1024"},
      {"leat-run m --threads x", "--threads: 'x' is not a whole number from 1 to 1024"},
      {"leat-run m --threads", "--threads"},
      {"leat-run m --threads 0", "from 1 to 1024"},
      {"leat-run m --runs 1e3", "--runs: '1e3'"},
      {"leat-run m --sessions 2", "at most one a thread"},
      {"leat-run m n --threads 1000", "more than the 1024 threads"},
      {"leat-run m --provider gpu", "--provider: 'gpu' is neither leat nor cpu"},
      {"leat-run m --compare cuda", "neither cpu nor none"},
      {"leat-run m --provider cpu --device 0", "--device is for --provider leat"},
      {"leat-run m --provider cpu --no-fallback", "--no-fallback is for --provider leat"},
      {"leat-run m --tolerance tight", "--tolerance: 'tight'"},
      {"leat-run m --tolerance -1", "--tolerance: '-1'"},
      {"leat-run m --dim n", "--dim: 'n' is not NAME=VALUE"},
      {"leat-run m --dim n=x", "--dim n: 'x' is not a whole number"},
      {"leat-run m --dim n=-1", "--dim n: '-1'"},
      {"leat-run m --frobnicate", "--frobnicate"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(bad); ++i) {
    leati_options options;
    GError *error = NULL;
    assert_false(parse(bad[i].line, &options, &error));
    assert_non_null(error);
    if (strstr(error->message, bad[i].text) == NULL) {
      fail_msg("%s: \"%s\" is missing in \"%s\"", bad[i].line, bad[i].text, error->message);
    }
    g_error_free(error);
    leati_options_clear(&options);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(named_values_split_at_the_first_sign),
      cmocka_unit_test(whole_numbers_are_strict),
      cmocka_unit_test(numbers_and_ranges_are_finite),
      cmocka_unit_test(shapes_are_sizes_with_commas),
      cmocka_unit_test(command_lines_are_read),
      cmocka_unit_test(bad_command_lines_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
