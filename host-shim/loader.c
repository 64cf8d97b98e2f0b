/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <leat/host.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "library.h"
#include "stubs.h"

#define PLUGIN_FILE "libleat_vulkan.so"
#define PLUGIN_SUBFOLDER "leat"
#define PLUGIN_VARIABLE "LEAT_PLUGIN_PATH"

#ifndef LEAT_PLUGIN_INSTALL_DIR
#error "define LEAT_PLUGIN_INSTALL_DIR as the folder that plugins are installed to"
#endif

/* ---- Backends that are loaded ------------------------------------------------------------------------------------ */

/* A file that was loaded. Immutable once it is in the list, and there for ever, as the library is. */
typedef struct loaded_file {
  struct loaded_file *next;
  dev_t device;
  ino_t inode;
  leati_tables tables;
} loaded_file;

/* All files that were loaded, newest first. It only grows, at its head, so that readers need no lock, the backend's own
 * code never runs under one, and a child of fork() cannot find one held. The release store of a new head pairs with
 * the acquire loads in loaded_find() and loaded_insert(): a thread that sees the node sees its contents. */
static _Atomic(loaded_file *) loaded_files;

static loaded_file *loaded_find(loaded_file *head, dev_t device, ino_t inode) {
  for (loaded_file *file = head; file != NULL; file = file->next) {
    if (file->device == device && file->inode == inode) {
      return file;
    }
  }
  return NULL;
}

/* Puts a file into the list, or frees it and gives the one that another thread has put there meanwhile. */
static loaded_file *loaded_insert(loaded_file *file) {
  loaded_file *head = atomic_load_explicit(&loaded_files, memory_order_acquire);
  do {
    loaded_file *other = loaded_find(head, file->device, file->inode);
    if (other != NULL) {
      free(file);
      return other;
    }
    file->next = head;
  } while (
      !atomic_compare_exchange_weak_explicit(&loaded_files, &head, file, memory_order_acq_rel, memory_order_acquire));
  return file;
}

/* ---- Finding the file -------------------------------------------------------------------------------------------- */

static bool folder_is(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Writes "FOLDER/libleat_vulkan.so", or "FOLDER/leat/libleat_vulkan.so" where below is "/leat"; false when that is too
 * long for a path. */
static bool plugin_in(char out[PATH_MAX], const char *folder, const char *below) {
  return snprintf(out, PATH_MAX, "%s%s/" PLUGIN_FILE, folder, below) < PATH_MAX;
}

/* Writes the folder of the library (or program) that this code is in; false when it cannot be told. */
static bool own_folder(char out[PATH_MAX]) {
  Dl_info info;
  if (!dladdr((const void *)&loaded_files, &info) || info.dli_fname == NULL || realpath(info.dli_fname, out) == NULL) {
    return false;
  }
  char *slash = strrchr(out, '/');
  if (slash == NULL) {
    return false;
  }
  slash[slash == out ? 1 : 0] = '\0';
  return true;
}

/* Decides which file leat_host_load(NULL) means. */
static int32_t plugin_default(char out[PATH_MAX], leat_error *err) {
  const char *variable = secure_getenv(PLUGIN_VARIABLE);
  if (variable != NULL && *variable != '\0') {
    bool fits = folder_is(variable) ? plugin_in(out, variable, "") : snprintf(out, PATH_MAX, "%s", variable) < PATH_MAX;
    if (!fits) {
      return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, ENAMETOOLONG,
                             PLUGIN_VARIABLE " is too long for a path (%zu bytes, at most %d)", strlen(variable),
                             PATH_MAX - 1);
    }
    if (access(out, F_OK)) {
      return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, errno,
                             PLUGIN_VARIABLE
                             "=%s: there is no file %s (%s); set it to a backend, such as /path/to/" PLUGIN_FILE
                             ", or to the folder that holds " PLUGIN_FILE,
                             variable, out, strerror(errno));
    }
    return LEAT_OK;
  }
  char folder[PATH_MAX];
  bool folder_known = own_folder(folder);
  /* A backend lies beside the provider that loads it, and in a folder beside a library that programs are linked with.
   */
  if (folder_known && plugin_in(out, folder, "") && access(out, F_OK) == 0) {
    return LEAT_OK;
  }
  if (folder_known && plugin_in(out, folder, "/" PLUGIN_SUBFOLDER) && access(out, F_OK) == 0) {
    return LEAT_OK;
  }
  if (plugin_in(out, LEAT_PLUGIN_INSTALL_DIR, "") && access(out, F_OK) == 0) {
    return LEAT_OK;
  }
  return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, ENOENT,
                         "there is no " PLUGIN_FILE " in %s, in " PLUGIN_SUBFOLDER
                         "/ there, or in " LEAT_PLUGIN_INSTALL_DIR "; set " PLUGIN_VARIABLE
                         " to it or to the folder that holds it",
                         folder_known ? folder : "the folder of the program");
}

/* ---- Opening and negotiating ------------------------------------------------------------------------------------- */

/* Opens the library for good. Its resources are never released: backends keep state that other threads may be in. */
static int32_t query_find(const char *path, leat_backend_query_fn *out, leat_error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    const char *reason = dlerror();
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0, "%s: cannot be loaded: %s", path,
                           reason != NULL ? reason : "no reason given");
  }
  void *symbol = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  if (symbol == NULL) {
    return leati_error_set(
        err, LEAT_ERROR_UNAVAILABLE, 0,
        "%s: is a shared library, but no Leat backend: it does not export " LEAT_BACKEND_QUERY_SYMBOL "()", path);
  }
  Dl_info info;
  void *entry = NULL;
  if (dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) && entry != NULL) {
    /* The type sits in the same byte of 32-bit and 64-bit symbols' st_info. */
    const ElfW(Sym) *described = entry;
    unsigned type = ELF64_ST_TYPE(described->st_info);
    if (type == STT_OBJECT || type == STT_TLS) {
      return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0,
                             "%s: is no Leat backend: its symbol " LEAT_BACKEND_QUERY_SYMBOL " is data, not a function",
                             path);
    }
  }
  /* POSIX promises that the bytes of this pointer are those of the function pointer; ISO C has no cast for it. */
  memcpy(out, &symbol, sizeof(*out));
  return LEAT_OK;
}

static int32_t negotiate(const char *path, leat_backend_query_fn query, leati_tables *tables, leat_error *err) {
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_1_0,
                               .abi_max = LEAT_ABI_CURRENT,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "libleat_host"};
  const leat_backend_api *given = NULL;
  leat_error inner = {.struct_size = sizeof(inner)};
  int32_t status = query(&host, &given, &inner);
  if (status == LEAT_OK) {
    return leati_tables_complete(tables, given, host.abi_min, host.abi_max, path, err);
  }
  inner.message[sizeof(inner.message) - 1] = '\0';
  const char *reason = inner.message[0] != '\0' ? inner.message : "(it gives no reason)";
  if (status == LEAT_ERROR_VERSION) {
    return leati_error_set(err, status, inner.native_code,
                           "%s: no ABI version in common: this host speaks %u.%u to %u.%u; the backend says: %s", path,
                           LEAT_ABI_MAJOR(host.abi_min), LEAT_ABI_MINOR(host.abi_min), LEAT_ABI_MAJOR(host.abi_max),
                           LEAT_ABI_MINOR(host.abi_max), reason);
  }
  return leati_error_set(err, status, inner.native_code, "%s: the backend refuses with %s (%d): %s", path,
                         leat_host_status_name(status), status, reason);
}

int32_t leat_host_load(const char *path, const leat_backend_api **out, leat_error *err) {
  if (!leati_error_usable(err)) {
    return LEAT_ERROR_INVALID_ARGUMENT;
  }
  if (out == NULL) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "leat_host_load: out is NULL");
  }
  *out = NULL;
  char chosen[PATH_MAX];
  if (path == NULL) {
    int32_t status = plugin_default(chosen, err);
    if (status != 0) {
      return status;
    }
    path = chosen;
  } else if (*path == '\0') {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, ENOENT,
                           "the path of the backend is empty; give one, or NULL for the default");
  }
  struct stat identity;
  int32_t status = leati_library_check(path, PLUGIN_FILE, &identity, err);
  if (status != 0) {
    return status;
  }
  loaded_file *file =
      loaded_find(atomic_load_explicit(&loaded_files, memory_order_acquire), identity.st_dev, identity.st_ino);
  if (file == NULL) {
    /* With a slash in it, the name is a path to dlopen() too, never one to look for in the system's folders. */
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) {
      return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, errno, "%s: %s", path, strerror(errno));
    }
    file = calloc(1, sizeof(*file));
    if (file == NULL) {
      return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, ENOMEM, "%s: no memory for its tables", path);
    }
    file->device = identity.st_dev;
    file->inode = identity.st_ino;
    leat_backend_query_fn query = NULL;
    if ((status = query_find(real, &query, err)) != LEAT_OK ||
        (status = negotiate(real, query, &file->tables, err)) != LEAT_OK) {
      free(file);
      return status;
    }
    file = loaded_insert(file);
  }
  *out = &file->tables.backend;
  leati_error_clear(err);
  return LEAT_OK;
}

const char *leat_host_status_name(int32_t code) {
  return leati_error_name(code);
}
