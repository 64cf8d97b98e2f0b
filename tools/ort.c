/* SPDX-License-Identifier: BSD-3-Clause */
#include "ort.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "library.h"
#include "option_value.h"

#define PROVIDER_FILE "libleat_onnxruntime.so"
#define REGISTRATION "leat"
#define RUNTIME_FILE "libonnxruntime.so.1"

gboolean leati_ort_ok(const leati_ort *ort, OrtStatus *status, GError **error) {
  if (status == NULL) {
    return TRUE;
  }
  char *message = g_strstrip(g_utf8_make_valid(ort->api->GetErrorMessage(status), -1));
  /* It may quote a damaged model's bytes, and a terminal would obey some of them. */
  for (char *c = message; *c != '\0'; ++c) {
    *c = g_ascii_iscntrl(*c) ? ' ' : *c;
  }
  LEATI_FAULT_SET(error, "%s", message);
  g_free(message);
  ort->api->ReleaseStatus(status);
  return FALSE;
}

/* Lines of ONNX Runtime's log that are shown although nobody asked for it. */
#define LOG_LINES_MAX 20

/* What the provider says before the backend's own reason for finding nothing. */
#define NO_DEVICE "there is no device: "

/* What print_log() needs; any thread may be in it. */
static struct {
  gboolean all; /* constant after leati_ort_open() */
  gint shown;   /* lines so far; a counter that orders nothing */
  GMutex lock;  /* guards the next two */
  char *reason; /* why there is no device, or NULL */
  /* Why nodes were refused, by key_of_node(); NULL before the first. */
  GHashTable *refusals;
} log_state;

/* Keeps a backend's reason for the error that leat-run ends with, where it is not one line among others. */
static gboolean keep_reason(const char *message) {
  const char *found = strstr(message, NO_DEVICE);
  if (found == NULL) {
    return FALSE;
  }
  g_mutex_lock(&log_state.lock);
  g_free(log_state.reason);
  log_state.reason = g_strstrip(g_utf8_make_valid(found + strlen(NO_DEVICE), -1));
  g_mutex_unlock(&log_state.lock);
  return TRUE;
}

/* What the provider says of a node that it does not take, in between operator, name and reason. */
#define REFUSED_BEFORE LEATI_ORT_PROVIDER ": "
#define REFUSED_NAME " node '"
#define REFUSED_REASON "' stays with another provider: "

static char *key_of_node(const char *op, const char *node) {
  return g_strconcat(op, REFUSED_NAME, node, NULL);
}

/* Keeps why a node was refused, which the provider says in lines that are nobody else's. */
static void keep_refusal(const char *message) {
  const char *begin = strstr(message, REFUSED_BEFORE);
  const char *end = begin != NULL ? strstr(begin, REFUSED_REASON) : NULL;
  if (end == NULL) {
    return;
  }
  begin += strlen(REFUSED_BEFORE);
  g_mutex_lock(&log_state.lock);
  if (log_state.refusals == NULL) {
    log_state.refusals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  }
  g_hash_table_replace(log_state.refusals, g_strndup(begin, (gsize)(end - begin)),
                       g_strstrip(g_utf8_make_valid(end + strlen(REFUSED_REASON), -1)));
  g_mutex_unlock(&log_state.lock);
}

char *leati_ort_refusal(const char *op, const char *node) {
  char *key = key_of_node(op, node);
  g_mutex_lock(&log_state.lock);
  char *reason =
      log_state.refusals != NULL ? g_strdup((const char *)g_hash_table_lookup(log_state.refusals, key)) : NULL;
  g_mutex_unlock(&log_state.lock);
  g_free(key);
  return reason;
}

/* Called by ONNX Runtime from any thread. What it says about Leat matters even to a person who did not ask: above all,
 * that the provider failed while the graph was divided, after which ONNX Runtime goes on with the CPU provider alone.
 */
static void ORT_API_CALL print_log(void *param, OrtLoggingLevel severity, const char *category, const char *logid,
                                   const char *code_location, const char *message) {
  (void)param;
  (void)category;
  (void)logid;
  if (severity < ORT_LOGGING_LEVEL_WARNING) { /* said in sessions that are to explain */
    keep_refusal(message);
    return;
  }
  const gboolean is_ours = strstr(message, "Leat") != NULL || strstr(message, "LEAT_") != NULL ||
                           strstr(code_location != NULL ? code_location : "", "leat") != NULL;
  const gboolean is_kept = is_ours && keep_reason(message);
  if (!log_state.all && (!is_ours || is_kept || g_atomic_int_add(&log_state.shown, 1) >= LOG_LINES_MAX)) {
    return;
  }
  char *text = g_utf8_make_valid(message, -1);
  g_printerr("leat-run: ONNX Runtime says: %s\n", g_strstrip(text));
  g_free(text);
}

/* The folder of this program. */
static char *own_folder(void) {
  char *self = g_file_read_link("/proc/self/exe", NULL);
  char *folder = self != NULL ? g_path_get_dirname(self) : g_strdup(".");
  g_free(self);
  return folder;
}

/* The first of some places, seen from this program's folder, that holds a file; NULL if none does. */
static char *find_file(const char *file, const char *const *places, size_t count) {
  char *folder = own_folder();
  char *found = NULL;
  for (size_t i = 0; found == NULL && i < count; ++i) {
    char *place = g_canonicalize_filename(places[i], folder);
    char *path = g_build_filename(place, file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS)) {
      found = g_strdup(path);
    }
    g_free(path);
    g_free(place);
  }
  g_free(folder);
  return found;
}

/* The provider's library. */
static char *find_provider(GError **error) {
  static const char *const places[] = {".", LEAT_TOOLS_RELATIVE_LIBDIR "/leat", LEAT_TOOLS_LIBDIR "/leat"};
  char *found = find_file(PROVIDER_FILE, places, G_N_ELEMENTS(places));
  if (found == NULL) {
    char *folder = own_folder();
    LEATI_FAULT_SET(error,
                    "%s is neither in %s nor in its " LEAT_TOOLS_RELATIVE_LIBDIR "/leat nor in " LEAT_TOOLS_LIBDIR
                    "/leat; say where it is with --provider-library PATH",
                    PROVIDER_FILE, folder);
    g_free(folder);
  }
  return found;
}

/* Finds what would end the process in dlopen(). */
static gboolean check_library(const char *path, const char *name, GError **error) {
  struct stat info;
  leat_error reason = {.struct_size = sizeof(reason)};
  if (leati_library_check(path, name, &info, &reason) != LEAT_OK) {
    LEATI_FAULT_SET(error, "%s", reason.message);
    return FALSE;
  }
  return TRUE;
}

/* Opens ONNX Runtime, for good: its threads may run until the process ends. A copy beside this program comes before the
 * dynamic loader's own. NULL on failure. */
static const OrtApiBase *open_runtime(GError **error) {
  static const char *const places[] = {"onnxruntime", ".", LEAT_TOOLS_RELATIVE_LIBDIR, LEAT_TOOLS_LIBDIR};
  char *path = find_file(RUNTIME_FILE, places, G_N_ELEMENTS(places));
  if (path != NULL && !check_library(path, RUNTIME_FILE, error)) {
    g_free(path);
    return NULL;
  }
  void *const library = dlopen(path != NULL ? path : RUNTIME_FILE, RTLD_NOW | RTLD_LOCAL);
  g_free(path);
  if (library == NULL) {
    LEATI_FAULT_SET(error,
                    "ONNX Runtime cannot be opened (%s); put " RUNTIME_FILE
                    " beside leat-run or where the dynamic loader finds it, for example with LD_LIBRARY_PATH",
                    dlerror());
    return NULL;
  }
  const OrtApiBase *(ORT_API_CALL * get_base)(void) = NULL;
  /* POSIX, unlike ISO C, lets dlsym() give a function; storing it as an object pointer says so without a cast. */
  *(void **)&get_base = dlsym(library, "OrtGetApiBase");
  if (get_base == NULL) {
    LEATI_FAULT_SET(error, "%s is not ONNX Runtime: it has no OrtGetApiBase", RUNTIME_FILE);
    return NULL;
  }
  return get_base();
}

gboolean leati_ort_open(gboolean verbose, leati_ort *out, GError **error) {
  log_state.all = verbose;
  const OrtApiBase *const base = open_runtime(error);
  if (base == NULL) {
    return FALSE;
  }
  *out = (leati_ort){.version = base->GetVersionString()};
  /* Version 1.N speaks API N. Asking for more than that would make the library complain on stderr. */
  const unsigned long spoken = g_str_has_prefix(out->version, "1.") ? strtoul(out->version + 2, NULL, 10) : 0;
  out->api_version = (uint32_t)MIN(spoken, ORT_API_VERSION);
  out->api = out->api_version >= LEATI_ORT_API_MIN ? base->GetApi(out->api_version) : NULL;
  if (out->api == NULL) {
    LEATI_FAULT_SET(error, "ONNX Runtime %s is too old: 1.%d or newer is needed", out->version, LEATI_ORT_API_MIN);
    return FALSE;
  }
  return leati_ort_ok(
      out, out->api->CreateEnvWithCustomLogger(print_log, NULL, ORT_LOGGING_LEVEL_WARNING, "leat-run", &out->env),
      error);
}

/* The name, driver and id that the Leat provider attaches to each of its devices. */
static char *describe_device(const leati_ort *ort, const OrtEpDevice *device) {
  const OrtKeyValuePairs *facts = ort->api->EpDevice_EpMetadata(device);
  static const char *const kKeys[] = {"leat_device_name", "leat_driver", "leat_device_uuid"};
  static const char *const kBefore[] = {" on ", ", driver ", ", UUID "};
  GString *text = g_string_new(ort->api->EpDevice_EpName(device));
  for (size_t i = 0; facts != NULL && i < G_N_ELEMENTS(kKeys); ++i) {
    const char *value = ort->api->GetKeyValue(facts, kKeys[i]);
    if (value != NULL && *value != '\0') {
      g_string_append_printf(text, "%s%s", kBefore[i], value);
    }
  }
  const char *software = facts != NULL ? ort->api->GetKeyValue(facts, "leat_software") : NULL;
  if (g_strcmp0(software, "1") == 0) {
    g_string_append(text, " (in software, no GPU)");
  }
  char *valid = g_utf8_make_valid(text->str, -1);
  g_string_free(text, TRUE);
  return valid;
}

static gboolean choose_device(leati_ort *ort, const char *wanted, GError **error) {
  const OrtEpDevice *const *devices = NULL;
  size_t count = 0;
  if (!leati_ort_ok(ort, ort->api->GetEpDevices(ort->env, &devices, &count), error)) {
    return FALSE;
  }
  int64_t number = wanted == NULL ? 0 : -1;
  if (wanted != NULL) {
    (void)leati_parse_whole(wanted, 0, G_MAXINT32, &number, NULL);
  }
  GString *others = g_string_new(NULL);
  int64_t seen = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(ort->api->EpDevice_EpName(devices[i]), LEATI_ORT_PROVIDER) != 0) {
      continue;
    }
    char *text = describe_device(ort, devices[i]);
    /* The name of the provider, which comes first, is no part of what a device is called. */
    const char *facts = text + strlen(LEATI_ORT_PROVIDER);
    if (ort->device == NULL && (number >= 0 ? seen == number : strstr(facts, wanted) != NULL)) {
      ort->device = devices[i];
      ort->device_text = g_strdup(text);
    }
    g_string_append_printf(others, "\n  %" G_GINT64_FORMAT ": %s", seen, text);
    ++seen;
    g_free(text);
  }
  if (ort->device == NULL && seen == 0) {
    g_mutex_lock(&log_state.lock);
    LEATI_FAULT_SET(error, "%s found no device that Leat can use: %s", ort->library,
                    log_state.reason != NULL ? log_state.reason : "the backend gives no reason; leat-info may know it");
    g_mutex_unlock(&log_state.lock);
  } else if (ort->device == NULL) {
    LEATI_FAULT_SET(error, "--device %s: no such device; there are:%s", wanted, others->str);
  }
  g_string_free(others, TRUE);
  return ort->device != NULL;
}

gboolean leati_ort_register(leati_ort *ort, const char *library, const char *device, GError **error) {
  /* ONNX Runtime looks for relative paths in its own folder, which is not what a person at a shell means. */
  char *path = library != NULL ? g_canonicalize_filename(library, NULL) : find_provider(error);
  if (path == NULL) {
    return FALSE;
  }
  gboolean registered = FALSE;
  if (check_library(path, PROVIDER_FILE, error)) {
    registered = leati_ort_ok(ort, ort->api->RegisterExecutionProviderLibrary(ort->env, REGISTRATION, path), error);
    if (!registered) {
      g_prefix_error(error, "%s cannot be used as a provider library%s: ", path,
                     g_str_has_suffix(path, "/" PROVIDER_FILE) ? "" : " (" PROVIDER_FILE " was expected)");
    }
  }
  if (!registered) {
    g_free(path);
    return FALSE;
  }
  ort->library = path;
  return choose_device(ort, device, error);
}

const char *leati_ort_device_name(const leati_ort *ort) {
  const OrtKeyValuePairs *facts = ort->device != NULL ? ort->api->EpDevice_EpMetadata(ort->device) : NULL;
  const char *name = facts != NULL ? ort->api->GetKeyValue(facts, "leat_device_name") : NULL;
  return name != NULL ? name : ort->device != NULL ? LEATI_ORT_PROVIDER : "ONNX Runtime's CPU provider";
}

OrtKeyValuePairs *leati_ort_memory(const leati_ort *ort) {
  const OrtMemoryInfo *place =
      ort->device != NULL ? ort->api->EpDevice_MemoryInfo(ort->device, OrtDeviceMemoryType_DEFAULT) : NULL;
  OrtAllocator *allocator = NULL;
  OrtKeyValuePairs *figures = NULL;
  if (place == NULL || !leati_ort_ok(ort, ort->api->GetSharedAllocator(ort->env, place, &allocator), NULL) ||
      allocator == NULL || !leati_ort_ok(ort, ort->api->AllocatorGetStats(allocator, &figures), NULL)) {
    return NULL;
  }
  return figures;
}

void leati_ort_close(leati_ort *ort) {
  if (ort->library != NULL) {
    GError *error = NULL;
    if (!leati_ort_ok(ort, ort->api->UnregisterExecutionProviderLibrary(ort->env, REGISTRATION), &error)) {
      g_printerr("leat-run: %s could not be released: %s\n", ort->library, error->message);
      g_clear_error(&error);
    }
  }
  if (ort->env != NULL) {
    ort->api->ReleaseEnv(ort->env);
  }
  g_mutex_lock(&log_state.lock);
  g_clear_pointer(&log_state.reason, g_free);
  g_clear_pointer(&log_state.refusals, g_hash_table_unref);
  g_mutex_unlock(&log_state.lock);
  g_free(ort->device_text);
  g_free(ort->library);
  *ort = (leati_ort){0};
}

/* A model that is not read from its file would look for weights beside it in the folder of the process. */
static gboolean set_folder(const leati_ort *ort, const char *path, OrtSessionOptions *options, GError **error) {
  char *folder = g_path_get_dirname(path);
  const gboolean right = leati_ort_ok(
      ort, ort->api->AddSessionConfigEntry(options, "session.model_external_initializers_file_folder_path", folder),
      error);
  g_free(folder);
  return right;
}

static gboolean set_options(const leati_ort *ort, const char *path, const leati_session_plan *plan,
                            OrtSessionOptions *options, GError **error) {
  const OrtApi *api = ort->api;
  if (!leati_ort_ok(ort, api->SetIntraOpNumThreads(options, plan->cpu_threads), error) ||
      !leati_ort_ok(ort, api->AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"), error) ||
      (plan->bytes != NULL && !set_folder(ort, path, options, error)) ||
      (plan->level != NULL &&
       !leati_ort_ok(ort, api->SetSessionGraphOptimizationLevel(options, *plan->level), error)) ||
      (plan->explain &&
       !leati_ort_ok(ort, api->SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_VERBOSE), error)) ||
      (plan->no_fallback &&
       !leati_ort_ok(ort, api->AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"), error))) {
    return FALSE;
  }
  if (!plan->leat) {
    return TRUE;
  }
  const guint count = plan->provider_options != NULL ? plan->provider_options->len : 0;
  const char **keys = g_new0(const char *, count + 1);
  const char **values = g_new0(const char *, count + 1);
  for (guint i = 0; i < count; ++i) {
    const leati_named_value *option = g_ptr_array_index(plan->provider_options, i);
    keys[i] = option->name;
    values[i] = option->value;
  }
  OrtStatus *status =
      api->SessionOptionsAppendExecutionProvider_V2(options, ort->env, &ort->device, 1, keys, values, count);
  g_free(keys);
  g_free(values);
  return leati_ort_ok(ort, status, error);
}

static const char *explain(OrtErrorCode code, const char *message) {
  /* ONNX Runtime has no code of its own for this. */
  if (strstr(message, "No Op registered") != NULL) {
    return "the model has an operator that ONNX Runtime does not know; standard operators were expected";
  }
  switch (code) {
    case ORT_INVALID_PROTOBUF:
    case ORT_NO_MODEL:
      return "not an ONNX model, or one that is cut short or damaged; export it again";
    case ORT_INVALID_GRAPH:
      return "the model breaks ONNX's rules, or was made for a newer ONNX";
    case ORT_NOT_IMPLEMENTED:
      return "the model has an operator that ONNX Runtime lacks for these types";
    default:
      return "ONNX Runtime cannot make a session of it";
  }
}

OrtSession *leati_ort_session(const leati_ort *ort, const char *path, const leati_session_plan *plan, GError **error) {
  /* Checked here because ONNX Runtime's words for these would not help; it may also wait for ever on a pipe. */
  if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
    LEATI_FAULT_SET(error, "%s: %s; the path of an ONNX model was expected", path,
                    g_file_test(path, G_FILE_TEST_EXISTS) ? "not a file" : "no such file");
    return NULL;
  }
  OrtSessionOptions *options = NULL;
  OrtSession *session = NULL;
  if (leati_ort_ok(ort, ort->api->CreateSessionOptions(&options), error) &&
      set_options(ort, path, plan, options, error)) {
    gsize size = 0;
    const void *bytes = plan->bytes != NULL ? g_bytes_get_data(plan->bytes, &size) : NULL;
    OrtStatus *status = bytes != NULL ? ort->api->CreateSessionFromArray(ort->env, bytes, size, options, &session)
                                      : ort->api->CreateSession(ort->env, path, options, &session);
    const OrtErrorCode code = status != NULL ? ort->api->GetErrorCode(status) : ORT_OK;
    GError *reason = NULL;
    if (!leati_ort_ok(ort, status, &reason)) {
      LEATI_FAULT_SET(error, "%s: %s: %s", path, explain(code, reason->message), reason->message);
      g_error_free(reason);
      session = NULL;
    }
  } else {
    g_prefix_error(error, "%s: ", path);
  }
  if (options != NULL) {
    ort->api->ReleaseSessionOptions(options);
  }
  return session;
}
