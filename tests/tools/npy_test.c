/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The .npy reader and writer: round trips, every damage of a file one byte long, and headers made to hurt.
 */
#include "npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file of version 1 with the header as given and some bytes after it. */
static GByteArray *make_file(const char *header, const void *data, size_t size) {
  const size_t length = strlen(header);
  const guint8 prefix[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8)(length & 255), (guint8)(length >> 8)};
  GByteArray *file = g_byte_array_new();
  g_byte_array_append(file, prefix, sizeof(prefix));
  g_byte_array_append(file, (const guint8 *)header, (guint)length);
  g_byte_array_append(file, data, (guint)size);
  return file;
}

/* Parses bytes from memory of exactly their size, so that a sanitizer sees a read beyond. */
static leati_ndarray *parse(const void *bytes, size_t size, GError **error) {
  void *copy = g_memdup2(bytes, size);
  leati_ndarray *array = leati_npy_parse(copy, size, error);
  g_free(copy);
  return array;
}

static void expect_fault(const char *header, size_t size, const char *text) {
  const guint8 data[64] = {0};
  GByteArray *file = make_file(header, data, size);
  GError *error = NULL;
  assert_null(parse(file->data, file->len, &error));
  assert_non_null(error);
  if (strstr(error->message, text) == NULL) {
    fail_msg("\"%s\" is missing in \"%s\"", text, error->message);
  }
  g_error_free(error);
  g_byte_array_unref(file);
}

static void reads_what_numpy_writes(void **state) {
  (void)state;
  const float data[6] = {0.0f, 1.5f, -2.0f, NAN, INFINITY, 1e-40f};
  const char *const headers[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                       \n",
      "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}\n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(headers); ++i) {
    GByteArray *file = make_file(headers[i], data, sizeof(data));
    leati_ndarray *array = parse(file->data, file->len, NULL);
    assert_non_null(array);
    assert_int_equal(array->element, LEATI_FLOAT32);
    assert_int_equal(array->rank, 2);
    assert_int_equal(array->dims[0], 2);
    assert_int_equal(array->dims[1], 3);
    assert_memory_equal(array->data, data, sizeof(data));
    leati_ndarray_free(array);
    g_byte_array_unref(file);
  }
}

static void reads_version_2_and_no_dimensions(void **state) {
  (void)state;
  static const char kHeader[] = "{'descr': '|b1', 'fortran_order': False, 'shape': ()}";
  GByteArray *file = g_byte_array_new();
  const guint8 prefix[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, sizeof(kHeader) - 1, 0, 0, 0};
  const guint8 yes = 1;
  g_byte_array_append(file, prefix, sizeof(prefix));
  g_byte_array_append(file, (const guint8 *)kHeader, sizeof(kHeader) - 1);
  g_byte_array_append(file, &yes, 1);
  leati_ndarray *array = parse(file->data, file->len, NULL);
  assert_non_null(array);
  assert_int_equal(array->element, LEATI_BOOL);
  assert_int_equal(array->rank, 0);
  assert_int_equal(array->count, 1);
  leati_ndarray_free(array);
  g_byte_array_unref(file);
}

static void writes_what_it_reads(void **state) {
  (void)state;
  char *folder = g_dir_make_tmp("leat-npy-XXXXXX", NULL);
  char *path = g_build_filename(folder, "a.npy", NULL);
  const int64_t shapes[][3] = {{2, 3, 4}, {5, 0, 1}, {7, 1, 1}};
  for (int element = LEATI_FLOAT32; element <= LEATI_BOOL; ++element) {
    for (size_t rank = 0; rank <= 3; ++rank) {
      for (size_t s = 0; s < G_N_ELEMENTS(shapes); ++s) {
        leati_ndarray *array = leati_ndarray_new((leati_element)element, rank, shapes[s], NULL);
        assert_non_null(array);
        for (size_t i = 0; i < array->count; ++i) {
          if (leati_element_is_float(array->element)) {
            leati_element_write_float(array->element, array->data, i, (double)i - 1.5);
          } else {
            leati_element_write_int(array->element, array->data, i, (int64_t)(i % 2));
          }
        }
        assert_true(leati_npy_write(path, array, NULL));
        char *bytes = NULL;
        gsize size = 0;
        assert_true(g_file_get_contents(path, &bytes, &size, NULL));
        leati_ndarray *back = parse(bytes, size, NULL);
        assert_non_null(back);
        /* The elements begin at a multiple of 64. */
        assert_int_equal((size - back->bytes) % 64, 0);
        assert_int_equal(back->element, element == LEATI_BFLOAT16 ? LEATI_FLOAT32 : (leati_element)element);
        assert_int_equal(back->rank, rank);
        assert_int_equal(back->count, array->count);
        for (size_t i = 0; i < array->count; ++i) {
          assert_true(leati_element_read(back->element, back->data, i) ==
                      leati_element_read(array->element, array->data, i));
        }
        leati_ndarray_free(back);
        leati_ndarray_free(array);
        g_free(bytes);
      }
    }
  }
  assert_int_equal(g_unlink(path), 0);
  assert_int_equal(g_rmdir(folder), 0);
  g_free(path);
  g_free(folder);
}

static void says_that_it_cannot_write(void **state) {
  (void)state;
  leati_ndarray *array = leati_ndarray_new(LEATI_FLOAT32, 0, NULL, NULL);
  GError *error = NULL;
  assert_false(leati_npy_write("/nonexistent/folder/a.npy", array, &error));
  assert_non_null(strstr(error->message, "/nonexistent/folder/a.npy"));
  g_error_free(error);
  leati_ndarray_free(array);
}

/* Half an output would be taken for one. */
static void leaves_nothing_of_what_it_cannot_write(void **state) {
  (void)state;
  static float data[4096];
  int64_t dims[1] = {G_N_ELEMENTS(data)};
  leati_ndarray array;
  struct rlimit before;
  char *path = g_build_filename(g_get_tmp_dir(), "leat-npy-XXXXXX", NULL);
  GError *error = NULL;
  GStatBuf info;
  const int made = g_mkstemp(path);
  assert_true(made >= 0);
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, dims, data, &array, NULL));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8192, before.rlim_max}), 0);
  signal(SIGXFSZ, SIG_IGN);
  assert_false(leati_npy_write(path, &array, &error));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_non_null(strstr(error->message, g_strerror(EFBIG)));
  assert_int_equal(g_stat(path, &info), 0);
  assert_int_equal(info.st_size, 0);
  g_error_free(error);
  close(made);
  g_unlink(path);
  g_free(path);
}

static void refuses_hostile_headers(void **state) {
  (void)state;
#define HEAD(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape "}"
  expect_fault(HEAD("'<f4'", "False", "(2, 3)"), 23, "cut short");
  expect_fault(HEAD("'<f4'", "False", "(2, 3)"), 25, "too long");
  expect_fault(HEAD("'>f4'", "False", "(2, 3)"), 24, "big-endian");
  expect_fault(HEAD("'<f4'", "True", "(2, 3)"), 24, "Fortran order");
  expect_fault(HEAD("'<f4'", "Maybe", "(2, 3)"), 24, "fortran_order");
  expect_fault(HEAD("'<c8'", "False", "(3,)"), 24, "<c8");
  expect_fault(HEAD("'|O'", "False", "(3,)"), 24, "|O");
  expect_fault(HEAD("'<U4'", "False", "(3,)"), 24, "<U4");
  expect_fault(HEAD("'|f4'", "False", "(3,)"), 12, "|f4");
  expect_fault(HEAD("''", "False", "(3,)"), 12, "type ''");
  expect_fault(HEAD("[('a', '<f4')]", "False", "(3,)"), 12, "structured");
  expect_fault(HEAD("'<f4'", "False", "(3)"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(-3,)"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(3,,)"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(3, 1"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "3"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(1.5,)"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(99999999999999999999,)"), 12, "tuple");
  expect_fault(HEAD("'<f4'", "False", "(4611686018427387904, 4)"), 12, "address space");
  expect_fault(HEAD("'<f8'", "False", "(2305843009213693952,)"), 12, "address space");
  expect_fault(HEAD("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4,
               "at most 32");
  expect_fault(HEAD("'<f4'", "False", "(3,)") "x", 12, "dictionary");
  expect_fault(HEAD("'<f4'", "False", "(3,), 'shape': (3,)"), 12, "twice");
  expect_fault(HEAD("'<f4'", "False", "(3,), 'other': 1"), 12, "should not have");
  expect_fault("{'descr': '<f4', 'shape': (3,)}", 12, "fortran_order");
  expect_fault("{}", 0, "lacks");
  expect_fault("{", 0, "dictionary");
  expect_fault("", 0, "dictionary");
  expect_fault("{'a\\'b': 1}", 0, "dictionary");
  expect_fault("{'descr", 0, "dictionary");
#undef HEAD
}

static void zero_among_huge_sizes_is_empty(void **state) {
  (void)state;
  GByteArray *file = make_file(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775000, 0, 4611686018427387904)}", "", 0);
  leati_ndarray *array = parse(file->data, file->len, NULL);
  assert_non_null(array);
  assert_int_equal(array->count, 0);
  leati_ndarray_free(array);
  g_byte_array_unref(file);
}

static void refuses_other_files(void **state) {
  (void)state;
  const struct {
    const char *bytes;
    size_t size;
    const char *text;
  } files[] = {
      {"", 0, "93 'NUMPY'"},
      {"\x93NUMP", 5, "93 'NUMPY'"},
      {"\x93NUMPY", 6, "cut short"},
      {"\x93NUMPY\1\0\5", 9, "cut short"},
      {"\x93NUMPY\1\1\0\0\0\0", 12, "version 1.1"},
      {"\x93NUMPY\4\0\0\0\0\0", 12, "version 4.0"},
      {"\x93NUMPY\0\0\0\0\0\0", 12, "version 0.0"},
      {"\x93NUMPY\1\0\xff\xff{}", 12, "longer than the file"},
      {"\x93NUMPY\2\0\xff\xff\xff\xff", 12, "longer than any header"},
      {"version https://git-lfs", 23, "93 'NUMPY'"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(files); ++i) {
    GError *error = NULL;
    assert_null(parse(files[i].bytes, files[i].size, &error));
    if (strstr(error->message, files[i].text) == NULL) {
      fail_msg("\"%s\" is missing in \"%s\"", files[i].text, error->message);
    }
    g_error_free(error);
  }
}

/* Each byte of a good file set to each value, and each length cut: right or refused, nothing else. */
static void survives_any_damage(void **state) {
  (void)state;
  const float data[3] = {1.0f, 2.0f, 3.0f};
  GByteArray *file = make_file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", data, sizeof(data));
  for (guint i = 0; i < file->len; ++i) {
    leati_ndarray_free(parse(file->data, i, NULL));
    const guint8 before = file->data[i];
    for (int value = 0; value < 256; ++value) {
      file->data[i] = (guint8)value;
      GError *error = NULL;
      leati_ndarray *array = parse(file->data, file->len, &error);
      assert_true((array != NULL) != (error != NULL));
      leati_ndarray_free(array);
      g_clear_error(&error);
    }
    file->data[i] = before;
  }
  g_byte_array_unref(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_what_numpy_writes),
      cmocka_unit_test(reads_version_2_and_no_dimensions),
      cmocka_unit_test(writes_what_it_reads),
      cmocka_unit_test(says_that_it_cannot_write),
      cmocka_unit_test(refuses_hostile_headers),
      cmocka_unit_test(zero_among_huge_sizes_is_empty),
      cmocka_unit_test(leaves_nothing_of_what_it_cannot_write),
      cmocka_unit_test(refuses_other_files),
      cmocka_unit_test(survives_any_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
