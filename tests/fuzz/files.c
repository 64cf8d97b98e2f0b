/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes from outside as text or as a file: values of settings, arrays in .npy files, and the file of compiled
 * pipelines. A value is taken and shown, or refused by name; an array has the bytes that its shape needs; of a cache
 * file whoever asks is given the bytes that were written, or none. */
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache_file.h"
#include "core/config.h"
#include "core/sync.h"
#include "fuzz/input.h"
#include "npy.h"
#include "nulldriver/test_host.h"

static const leat_backend_api *api;
static char folder[] = "/tmp/leat-fuzz-XXXXXX";

/* ---- Settings --------------------------------------------------------------------------------------------------- */

/* Whether opening a device with it touches no file that the value names. */
static bool is_harmless(const char *name) {
  return strcmp(name, "LEAT_PROFILE") != 0 && strcmp(name, "LEAT_CACHE_DIR") != 0;
}

static void open_once(const char *name, const char *value) {
  leat_error why = {.struct_size = sizeof(why)};
  leat_device *device = NULL;
  const int32_t status = api->device->open(0, &device, &why);
  /* No such device, or a setting that does not go with another one's default. */
  FUZZ_CHECK(status == LEAT_OK || ((status == LEAT_ERROR_UNAVAILABLE || status == LEAT_ERROR_INVALID_ARGUMENT) &&
                                   why.message[0] != '\0'),
             "with %s='%s' opening gives %d: %s", name, value, (int)status, why.message);
  HOST_NEED(api->device->close(device, &err));
}

static void set(input *in) {
  char names[64][128], shown[600];
  uint32_t count = 0;
  while (leati_config_describe(count, names[count], sizeof(names[count]), shown, sizeof(shown))) {
    ++count;
  }
  const char *const name = names[input_byte(in) % count] + strlen("config.");
  const bool opens = input_below(in, 8) == 0;
  char *const value = g_strndup((const char *)in->bytes, in->left);
  leat_error why = {.struct_size = sizeof(why)};
  const int32_t checked = leati_config_check(name, value, NULL), status = api->configure(name, value, &why);
  FUZZ_CHECK(status == checked, "%s='%s' gives %d when it is set, %d when it is checked", name, value, (int)status,
             (int)checked);
  FUZZ_CHECK(status == LEAT_OK || (status == LEAT_ERROR_INVALID_ARGUMENT && strstr(why.message, name) != NULL),
             "%s='%s' gives %d: %s", name, value, (int)status, why.message);
  if (status == LEAT_OK && opens && is_harmless(name)) {
    open_once(name, value);
  }
  HOST_NEED(api->shutdown(&err));
  HOST_NEED(api->configure(name, NULL, &err));
  g_free(value);
}

/* ---- Arrays ----------------------------------------------------------------------------------------------------- */

static void parse(const input *in, bool with_magic) {
  static const char magic[8] = "\x93NUMPY\x01";
  GError *error = NULL;
  const size_t head = with_magic ? sizeof(magic) : 0, size = head + in->left;
  /* As long as the file is, for the sanitizer. */
  char *const bytes = malloc(size);
  FUZZ_CHECK(bytes != NULL, "no memory");
  memcpy(bytes, magic, head);
  memcpy(bytes + head, in->bytes, in->left);
  leati_ndarray *const array = leati_npy_parse(bytes, size, &error);
  FUZZ_CHECK((array == NULL) == (error != NULL), "an array and an error, or none of both");
  if (array != NULL) {
    FUZZ_CHECK(array->bytes <= size && memcmp(array->data, bytes + size - array->bytes, array->bytes) == 0,
               "other elements than those at the file's end");
  }
  leati_ndarray_free(array);
  g_clear_error(&error);
  free(bytes);
}

/* ---- Pipelines -------------------------------------------------------------------------------------------------- */

/* The file's path: the only one in the folder. */
static char *only_file(void) {
  GDir *const all = g_dir_open(folder, 0, NULL);
  const char *const name = all != NULL ? g_dir_read_name(all) : NULL;
  FUZZ_CHECK(name != NULL, "no file in %s", folder);
  char *const path = g_build_filename(folder, name, NULL);
  g_dir_close(all);
  return path;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
  const int fd = open(path, O_WRONLY | O_TRUNC);
  FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, "%s cannot be written", path);
}

static void damage(input *in) {
  static char key[] = "a key", data[] = "what was compiled";
  const leati_cache_file file = {.folder = folder, .key = key, .key_size = sizeof(key)};
  char *whole;
  size_t size, cut;
  FUZZ_CHECK(leati_cache_file_write(&file, data, sizeof(data)), "%s cannot be written", folder);
  char *const path = only_file();
  FUZZ_CHECK(g_file_get_contents(path, &whole, &size, NULL), "%s cannot be read", path);
  unsigned char *const changed = malloc(2 * size);
  FUZZ_CHECK(changed != NULL, "no memory");
  memcpy(changed, whole, size);
  memset(changed + size, 0, size);
  cut = input_below(in, 4) == 0 ? input_byte(in) % (2 * size) : size;
  const uint32_t count = input_below(in, 8);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = input_byte(in) % (2 * size);
    changed[at] = input_byte(in);
  }
  write_file(path, changed, cut);
  const bool same = cut == size && memcmp(changed, whole, size) == 0;
  const leati_cache_content read = leati_cache_file_read(&file);
  FUZZ_CHECK((read.data != NULL) == same, "a file that is %s is %s", same ? "whole" : "damaged",
             read.data != NULL ? "read" : "not read");
  FUZZ_CHECK(!same || (read.size == sizeof(data) && memcmp(read.data, data, sizeof(data)) == 0),
             "other bytes are read");
  leati_free(read.memory);
  (void)unlink(path);
  free(changed);
  g_free(whole);
  g_free(path);
}

/* ---- The target ------------------------------------------------------------------------------------------------- */

static void remove_folder(void) {
  (void)rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  HOST_NEED(leat_backend_query(&info, &api, &err));
  FUZZ_CHECK(mkdtemp(folder) != NULL && atexit(remove_folder) == 0, "no folder %s", folder);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  switch (input_below(&in, 4)) {
    case 0:
      set(&in);
      break;
    case 1:
      damage(&in);
      break;
    case 2:
      parse(&in, true);
      break;
    default:
      parse(&in, false);
  }
  return 0;
}
