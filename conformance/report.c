/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <json-glib/json-glib.h>
#include <leat_build_id.h>
#include <string.h>

const char *leati_outcome_name(leat_outcome outcome) {
  static const char *const names[LEAT_OUTCOME_COUNT] = {"NotRun", "Pass",  "NotSupported", "Waived",
                                                        "Fail",   "Crash", "Timeout"};
  return names[outcome];
}

const char *leati_profile_name(uint32_t profiles) {
  return profiles == LEAT_PROFILE_CORE ? "core" : profiles == LEAT_PROFILE_OPERATORS ? "operators" : "all";
}

static guint bad_count(const leat_report *report) {
  return report->counts[LEAT_OUTCOME_FAIL] + report->counts[LEAT_OUTCOME_CRASH] + report->counts[LEAT_OUTCOME_TIMEOUT];
}

int leati_report_status(const leat_report *report) {
  if (report->defect != NULL || bad_count(report) > 0) {
    return 1;
  }
  if (report->mustpass_missing != NULL && report->mustpass_missing->len > 0) {
    return 1;
  }
  if (report->unneeded_waivers != NULL && report->unneeded_waivers->len > 0) {
    return 1;
  }
  return report->no_device != NULL ? 77 : 0;
}

char *leati_report_command(const leat_report *report, const char *name) {
  return g_strdup_printf("%s --filter %s", report->command, name);
}

void leati_report_worse(leat_accuracy *inout, const leat_accuracy *other) {
  if (other->noted) {
    leati_ref_accuracy_worse(&inout->worst, other->worst);
    inout->noted = TRUE;
  }
}

/* ---- Groups ---- */

/* Cases that belong together: of one operator, or of another area (the first word of their names). */
typedef struct {
  char *name;                                   /* owned */
  uint32_t profile;                             /* of all of them */
  guint counts[LEAT_OUTCOME_COUNT];             /* by outcome */
  guint cases;                                  /* all of them */
  guint lacking;                                /* of these, not supported because an operator is lacking */
  GPtrArray *bad;                               /* results that are worse than waived (const leat_result *), borrowed */
  leat_accuracy accuracy[LEATI_REF_TYPE_COUNT]; /* the worst of all of them, by element type */
} group;

static void group_free(gpointer data) {
  group *g = data;
  g_ptr_array_unref(g->bad);
  g_free(g->name);
  g_free(g);
}

static char *group_name(const char *case_name) {
  char **words = g_strsplit(case_name, ".", 3);
  char *name = g_strdup(g_str_equal(words[0], "op") ? words[1] : words[0]);
  g_strfreev(words);
  return name;
}

static gboolean has_name(gconstpointer element, gconstpointer name) {
  return g_str_equal(((const group *)element)->name, name);
}

/* The groups of a report, in the order of their first cases. Free with g_ptr_array_unref(). */
static GPtrArray *groups_of(const leat_report *report) {
  GPtrArray *groups = g_ptr_array_new_with_free_func(group_free);
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    char *name = group_name(result->one->name);
    guint at;
    if (g_ptr_array_find_with_equal_func(groups, name, has_name, &at)) {
      g_free(name);
    } else {
      group *added = g_new0(group, 1);
      added->name = name;
      added->profile = result->one->profile;
      added->bad = g_ptr_array_new();
      at = groups->len;
      g_ptr_array_add(groups, added);
    }
    group *g = groups->pdata[at];
    ++g->cases;
    ++g->counts[result->outcome];
    if (result->outcome >= LEAT_OUTCOME_FAIL) {
      g_ptr_array_add(g->bad, (gpointer)result);
    }
    g->lacking += result->lacks != NULL ? 1 : 0;
    for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
      leati_report_worse(&g->accuracy[type], &result->accuracy[type]);
    }
  }
  return groups;
}

/* ---- Text ---- */

/* An error, so that a waiver does not outlive its reason. */
#define UNNEEDED "The waiver for %s is not needed, and is to be taken out: all that it names ran and passed."

static const char *or_unknown(const char *text) {
  return text != NULL ? text : "unknown";
}

/* Appends text with every line indented. */
static void append_indented(GString *out, const char *indent, const char *text) {
  char **lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; ++line) {
    if (**line != '\0' || line[1] != NULL) {
      g_string_append_printf(out, "%s%s\n", indent, *line);
    }
  }
  g_strfreev(lines);
}

void leati_report_text_head(const leat_report *report, GString *out) {
  g_string_append_printf(out, "leat-conformance for ABI %u.%u, build %s\n", LEAT_ABI_MAJOR(LEAT_ABI_CURRENT),
                         LEAT_ABI_MINOR(LEAT_ABI_CURRENT), LEAT_BUILD_ID);
  g_string_append_printf(out, "plugin  %s\n", report->plugin_path);
  if (report->plugin_name != NULL) {
    g_string_append_printf(out, "        %s %s, build %s, ABI %s, capabilities 0x%" G_GINT64_MODIFIER "x\n",
                           report->plugin_name, report->plugin_version, report->plugin_build_id, report->plugin_abi,
                           report->capabilities);
  }
  if (report->defect != NULL) {
    g_string_append_printf(out, "        unusable: %s\n", report->defect);
  }
  if (report->device_name != NULL) {
    g_string_append_printf(out, "device  %s (%s), uuid %s\n", report->device_name, or_unknown(report->device_driver),
                           or_unknown(report->device_uuid));
  }
  if (report->no_device != NULL) {
    g_string_append_printf(out, "device  none: %s\n", report->no_device);
  }
  g_string_append_printf(out, "cases   %zu, seed %u\n\n", report->result_count, report->seed);
}

void leati_report_text_result(const leat_report *report, const leat_result *result, GString *out) {
  g_string_append_printf(out, "%-12s %s (%.2f s)\n", leati_outcome_name(result->outcome), result->one->name,
                         result->seconds);
  if (result->outcome == LEAT_OUTCOME_PASS) {
    return;
  }
  if (result->outcome >= LEAT_OUTCOME_FAIL) {
    g_string_append_printf(out, "    tested: %s\n", result->one->summary);
  }
  if (result->message != NULL) {
    append_indented(out, "    ", result->message);
  }
  if (result->runs > 1 && result->bad_runs > 0) {
    g_string_append_printf(out, "    %u of %u runs were bad\n", result->bad_runs, result->runs);
  }
  if (result->outcome == LEAT_OUTCOME_NOT_SUPPORTED) {
    return;
  }
  if (result->waiver != NULL) {
    g_string_append_printf(out, "    waived: %s\n", result->waiver);
  }
  if (result->output != NULL) {
    g_string_append(out, "    it printed at the end:\n");
    append_indented(out, "    | ", result->output);
  }
  if (result->outcome >= LEAT_OUTCOME_FAIL) {
    char *command = leati_report_command(report, result->one->name);
    g_string_append_printf(out, "    again: %s\n    in a debugger: gdb --args %s --run-case %s\n", command,
                           report->command, result->one->name);
    g_free(command);
  }
}

/* Appends "41 Pass, 2 Fail". */
static void append_counts(GString *out, const guint counts[LEAT_OUTCOME_COUNT]) {
  const char *separator = "";
  for (int outcome = LEAT_OUTCOME_PASS; outcome < LEAT_OUTCOME_COUNT; ++outcome) {
    if (counts[outcome] == 0) {
      continue;
    }
    g_string_append_printf(out, "%s%u %s", separator, counts[outcome], leati_outcome_name((leat_outcome)outcome));
    separator = ", ";
  }
  if (separator[0] == '\0') {
    g_string_append(out, "none could run");
  }
}

/* Whether all that there is to say of a group is how many of its cases passed: what is lacking is told elsewhere. */
static gboolean is_plain(const group *g) {
  return g->counts[LEAT_OUTCOME_PASS] + g->lacking == g->cases;
}

/* Appends the plain groups of a profile, in as few lines as hold them. */
static void append_plain(const GPtrArray *groups, uint32_t profile, GString *out) {
  gsize width = 0;
  for (guint i = 0; i < groups->len; ++i) {
    const group *g = groups->pdata[i];
    if (g->profile == profile && is_plain(g) && g->counts[LEAT_OUTCOME_PASS] > 0) {
      char *item = g_strdup_printf("%s %u", g->name, g->counts[LEAT_OUTCOME_PASS]);
      const gboolean full = width + strlen(item) > 100;
      g_string_append_printf(out, "%s%s", full ? ",\n          " : width == 0 ? "  passed: " : ", ", item);
      width = (full ? 0 : width) + strlen(item) + 2;
      g_free(item);
    }
  }
  if (width > 0) {
    g_string_append_c(out, '\n');
  }
}

/* Appends what a profile came to: all of it, its plain groups, then the others one by one with the cases that are bad.
 * If it is to be quiet, of the groups only those with such cases. */
static void append_profile(const GPtrArray *groups, uint32_t profile, gboolean quiet, GString *out) {
  guint counts[LEAT_OUTCOME_COUNT] = {0};
  guint cases = 0;
  for (guint i = 0; i < groups->len; ++i) {
    const group *g = groups->pdata[i];
    for (int outcome = LEAT_OUTCOME_PASS; g->profile == profile && outcome < LEAT_OUTCOME_COUNT; ++outcome) {
      counts[outcome] += g->counts[outcome];
    }
    cases += g->profile == profile ? g->cases : 0;
  }
  if (cases == 0) {
    return;
  }
  g_string_append_printf(out, "%s: ", leati_profile_name(profile));
  append_counts(out, counts);
  g_string_append_c(out, '\n');
  if (!quiet) {
    append_plain(groups, profile, out);
  }
  for (guint i = 0; i < groups->len; ++i) {
    const group *g = groups->pdata[i];
    if (g->profile != profile || is_plain(g) || (quiet && g->bad->len == 0)) {
      continue;
    }
    g_string_append_printf(out, "  %s: ", g->name);
    append_counts(out, g->counts);
    g_string_append_c(out, '\n');
    for (guint k = 0; k < g->bad->len; ++k) {
      const leat_result *result = g->bad->pdata[k];
      g_string_append_printf(out, "    %-8s %s\n", leati_outcome_name(result->outcome), result->one->name);
    }
  }
}

/* Why a case could not run, in words that others of its kind share: the operator that is lacking, or its group and
 * reason. NULL if it ran; owned by the caller. */
static char *lack_of(const leat_result *result) {
  if (result->outcome != LEAT_OUTCOME_NOT_SUPPORTED || result->lacks != NULL) {
    return g_strdup(result->lacks);
  }
  char *name = group_name(result->one->name);
  char *lack = g_strdup_printf("%s: %s", name, result->message);
  g_free(name);
  return lack;
}

/* Appends each lack once, with the number of its cases and the reason of the first. */
static void append_lacking(const leat_report *report, GString *out) {
  GHashTable *cases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < report->result_count; ++i) {
    char *lack = lack_of(&report->results[i]);
    if (lack != NULL) {
      g_hash_table_insert(cases, lack, GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(cases, lack)) + 1));
    }
  }
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    char *lack = lack_of(result);
    const guint count = lack != NULL ? GPOINTER_TO_UINT(g_hash_table_lookup(cases, lack)) : 0;
    if (count > 0) {
      char *name = result->lacks != NULL ? g_strdup(result->lacks) : group_name(result->one->name);
      g_string_append_printf(out, "NotSupported %s (%u case%s): %s\n", name, count, count == 1 ? "" : "s",
                             result->message);
      g_free(name);
      g_hash_table_remove(cases, lack);
    }
    g_free(lack);
  }
  g_hash_table_unref(cases);
}

/* Appends for each operator and element type the element that came nearest to its bound, of cases that passed. */
static void append_accuracy(const GPtrArray *groups, GString *out) {
  const char *heading =
      "\nerrors and bounds in units in the last place, of the elements that came nearest to their bounds:\n";
  for (guint i = 0; i < groups->len; ++i) {
    const group *g = groups->pdata[i];
    for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
      const leati_ref_accuracy *worst = &g->accuracy[type].worst;
      if (!g->accuracy[type].noted) {
        continue;
      }
      g_string_append_printf(out, "%s  %-28s %-9s", heading, g->name, leati_ref_type_name((leati_ref_type)type));
      heading = "";
      if (worst->bound > 0) {
        g_string_append_printf(out, " %10.3g of %10.3g, %3.0f %%", worst->error, worst->bound,
                               100 * worst->error / worst->bound);
      } else {
        g_string_append(out, " exact");
      }
      g_string_append(out, g->bad->len > 0 ? ", without cases that failed\n" : "\n");
    }
  }
}

void leati_report_text_tail(const leat_report *report, GString *out) {
  GPtrArray *groups = groups_of(report);
  g_string_append_c(out, '\n');
  append_profile(groups, LEAT_PROFILE_CORE, report->quiet, out);
  append_profile(groups, LEAT_PROFILE_OPERATORS, report->quiet, out);
  if (report->accuracy) {
    append_accuracy(groups, out);
  }
  g_ptr_array_unref(groups);
  if (!report->quiet) {
    append_lacking(report, out);
  }
  g_string_append_printf(out, "\n%zu case%s in %.1f s: ", report->result_count, report->result_count == 1 ? "" : "s",
                         report->seconds);
  append_counts(out, report->counts);
  g_string_append_c(out, '\n');
  for (guint i = 0; report->unneeded_waivers != NULL && i < report->unneeded_waivers->len; ++i) {
    g_string_append_printf(out, UNNEEDED "\n", (const char *)report->unneeded_waivers->pdata[i]);
  }
  if (report->mustpass_missing != NULL) {
    for (guint i = 0; i < report->mustpass_missing->len; ++i) {
      g_string_append_printf(out, "The list %s names %s, which this suite does not have.\n", report->mustpass_name,
                             (const char *)report->mustpass_missing->pdata[i]);
    }
  }
  if (report->defect != NULL) {
    g_string_append_printf(out, "Not conformant: %s\n", report->defect);
  } else if (report->no_device != NULL) {
    g_string_append_printf(out, "Conformance cannot be told, there is no device: %s\n", report->no_device);
  } else if (report->mustpass_name != NULL && report->complete) {
    const guint passed = report->mustpass_passed, lacking = report->mustpass_not_supported;
    const guint others = report->mustpass_total - passed - lacking;
    g_string_append_printf(out, "%s%s%s: of the %u cases of the list %s, %u passed and %u are not supported",
                           others == 0 ? "Conformant" : "Not conformant",
                           report->profiles == LEAT_PROFILE_ALL ? "" : " in the profile ",
                           report->profiles == LEAT_PROFILE_ALL ? "" : leati_profile_name(report->profiles),
                           report->mustpass_total, report->mustpass_name, passed, lacking);
    g_string_append_printf(out, others == 0 ? ".\n" : "; %u did not pass.\n", others);
  }
}

void leati_report_text(const leat_report *report, GString *out) {
  leati_report_text_head(report, out);
  for (size_t i = 0; i < report->result_count; ++i) {
    leati_report_text_result(report, &report->results[i], out);
  }
  leati_report_text_tail(report, out);
}

/* ---- TAP ---- */

void leati_report_tap(const leat_report *report, GString *out) {
  g_string_append(out, "TAP version 13\n");
  if (report->defect == NULL && report->no_device != NULL && report->result_count == 0) {
    g_string_append_printf(out, "1..0 # SKIP no device: %s\n", report->no_device);
    return;
  }
  g_string_append_printf(out, "1..%zu\n", report->result_count);
  g_string_append_printf(out, "# plugin %s: %s %s, build %s\n# device %s\n", report->plugin_path,
                         or_unknown(report->plugin_name), or_unknown(report->plugin_version),
                         or_unknown(report->plugin_build_id),
                         report->no_device != NULL ? "none" : or_unknown(report->device_name));
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    GString *note = g_string_new(result->message);
    g_string_replace(note, "\n", " ", 0);
    g_string_append_printf(out, "%s %zu - %s", result->outcome >= LEAT_OUTCOME_WAIVED ? "not ok" : "ok", i + 1,
                           result->one->name);
    if (result->outcome == LEAT_OUTCOME_NOT_SUPPORTED) {
      g_string_append_printf(out, " # SKIP %s", note->str);
    }
    if (result->outcome == LEAT_OUTCOME_WAIVED) {
      g_string_append_printf(out, " # TODO %s", result->waiver);
    }
    g_string_append_c(out, '\n');
    if (result->outcome >= LEAT_OUTCOME_WAIVED) {
      char *command = leati_report_command(report, result->one->name);
      g_string_append_printf(out, "# %s: %s\n# tested: %s\n# again: %s\n", leati_outcome_name(result->outcome),
                             note->str, result->one->summary, command);
      g_free(command);
      if (result->output != NULL) {
        append_indented(out, "# | ", result->output);
      }
    }
    g_string_free(note, TRUE);
  }
  for (guint i = 0; report->unneeded_waivers != NULL && i < report->unneeded_waivers->len; ++i) {
    g_string_append_printf(out, "# " UNNEEDED "\n", (const char *)report->unneeded_waivers->pdata[i]);
  }
}

/* ---- JUnit ---- */

/* XML 1.0 cannot carry most control characters, escaped or not. */
static char *xml_text(const char *text) {
  char *plain = g_strdup(text != NULL ? text : "");
  char *escaped;
  for (char *at = plain; *at != '\0'; ++at) {
    if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t') {
      *at = '?';
    }
  }
  escaped = g_markup_escape_text(plain, -1);
  g_free(plain);
  return escaped;
}

static void append_property(GString *out, const char *name, const char *value) {
  char *text = xml_text(or_unknown(value));
  g_string_append_printf(out, "    <property name=\"%s\" value=\"%s\"/>\n", name, text);
  g_free(text);
}

void leati_report_junit(const leat_report *report, GString *out) {
  g_string_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  g_string_append_printf(out,
                         "<testsuite name=\"leat-conformance\" tests=\"%zu\" failures=\"%u\" errors=\"%u\" "
                         "skipped=\"%u\" time=\"%.3f\">\n  <properties>\n",
                         report->result_count, report->counts[LEAT_OUTCOME_FAIL],
                         report->counts[LEAT_OUTCOME_CRASH] + report->counts[LEAT_OUTCOME_TIMEOUT],
                         report->counts[LEAT_OUTCOME_NOT_SUPPORTED] + report->counts[LEAT_OUTCOME_WAIVED],
                         report->seconds);
  append_property(out, "suite.build_id", LEAT_BUILD_ID);
  append_property(out, "plugin.path", report->plugin_path);
  append_property(out, "plugin.name", report->plugin_name);
  append_property(out, "plugin.version", report->plugin_version);
  append_property(out, "plugin.build_id", report->plugin_build_id);
  append_property(out, "device.name", report->device_name);
  append_property(out, "device.driver", report->device_driver);
  if (report->no_device != NULL) {
    append_property(out, "no_device", report->no_device);
  }
  if (report->defect != NULL) {
    append_property(out, "defect", report->defect);
  }
  g_string_append(out, "  </properties>\n");
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    char *message = xml_text(result->message);
    char *area = g_strndup(result->one->name, strcspn(result->one->name, "."));
    g_string_append_printf(out, "  <testcase classname=\"leat.%s\" name=\"%s\" time=\"%.3f\"", area, result->one->name,
                           result->seconds);
    if (result->outcome == LEAT_OUTCOME_PASS) {
      g_string_append(out, "/>\n");
    } else if (result->outcome <= LEAT_OUTCOME_WAIVED) {
      char *reason = result->waiver != NULL && result->outcome == LEAT_OUTCOME_WAIVED ? xml_text(result->waiver)
                                                                                      : g_strdup(message);
      g_string_append_printf(out, ">\n    <skipped message=\"%s: %s\"/>\n  </testcase>\n",
                             leati_outcome_name(result->outcome), reason);
      g_free(reason);
    } else {
      char *output = xml_text(result->output);
      char *command = leati_report_command(report, result->one->name);
      char *again = xml_text(command);
      char *tested = xml_text(result->one->summary);
      const char *element = result->outcome == LEAT_OUTCOME_FAIL ? "failure" : "error";
      g_string_append_printf(out,
                             ">\n    <%s type=\"%s\" message=\"%s\">tested: %s\nagain: %s</%s>\n"
                             "    <system-err>%s</system-err>\n  </testcase>\n",
                             element, leati_outcome_name(result->outcome), message, tested, again, element, output);
      g_free(tested);
      g_free(output);
      g_free(command);
      g_free(again);
    }
    g_free(message);
    g_free(area);
  }
  g_string_append(out, "</testsuite>\n");
}

/* ---- JSON ---- */

/* Adds a member, null if there is no text. */
static void add_text(JsonBuilder *builder, const char *name, const char *text) {
  json_builder_set_member_name(builder, name);
  if (text != NULL) {
    json_builder_add_string_value(builder, text);
  } else {
    json_builder_add_null_value(builder);
  }
}

static void add_number(JsonBuilder *builder, const char *name, gint64 number) {
  json_builder_set_member_name(builder, name);
  json_builder_add_int_value(builder, number);
}

static void add_seconds(JsonBuilder *builder, double seconds) {
  json_builder_set_member_name(builder, "seconds");
  json_builder_add_double_value(builder, seconds);
}

/* How near to their bounds the results of a case came, by element type. */
static void add_accuracy(JsonBuilder *builder, const leat_result *result) {
  json_builder_set_member_name(builder, "accuracy");
  json_builder_begin_array(builder);
  for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
    const leat_accuracy *accuracy = &result->accuracy[type];
    if (!accuracy->noted) {
      continue;
    }
    json_builder_begin_object(builder);
    add_text(builder, "type", leati_ref_type_name((leati_ref_type)type));
    json_builder_set_member_name(builder, "error_ulps");
    json_builder_add_double_value(builder, accuracy->worst.error);
    json_builder_set_member_name(builder, "bound_ulps");
    json_builder_add_double_value(builder, accuracy->worst.bound);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

void leati_report_json(const leat_report *report, GString *out) {
  JsonBuilder *builder = json_builder_new();
  JsonGenerator *generator = json_generator_new();
  JsonNode *root;
  char *text;

  json_builder_begin_object(builder);
  json_builder_set_member_name(builder, "suite");
  json_builder_begin_object(builder);
  add_text(builder, "build_id", LEAT_BUILD_ID);
  add_number(builder, "abi_major", LEAT_ABI_MAJOR(LEAT_ABI_CURRENT));
  add_number(builder, "abi_minor", LEAT_ABI_MINOR(LEAT_ABI_CURRENT));
  add_number(builder, "seed", report->seed);
  json_builder_end_object(builder);

  json_builder_set_member_name(builder, "plugin");
  json_builder_begin_object(builder);
  add_text(builder, "path", report->plugin_path);
  add_text(builder, "name", report->plugin_name);
  add_text(builder, "version", report->plugin_version);
  add_text(builder, "build_id", report->plugin_build_id);
  add_text(builder, "abi", report->plugin_abi);
  add_text(builder, "header", report->plugin_header);
  add_text(builder, "defect", report->defect);
  add_number(builder, "capabilities", (gint64)report->capabilities);
  json_builder_end_object(builder);

  json_builder_set_member_name(builder, "device");
  json_builder_begin_object(builder);
  add_text(builder, "name", report->device_name);
  add_text(builder, "driver", report->device_driver);
  add_text(builder, "uuid", report->device_uuid);
  add_text(builder, "missing_because", report->no_device);
  json_builder_end_object(builder);

  json_builder_set_member_name(builder, "counts");
  json_builder_begin_object(builder);
  for (int outcome = LEAT_OUTCOME_PASS; outcome < LEAT_OUTCOME_COUNT; ++outcome) {
    add_number(builder, leati_outcome_name((leat_outcome)outcome), report->counts[outcome]);
  }
  json_builder_end_object(builder);
  add_seconds(builder, report->seconds);
  add_number(builder, "exit_status", leati_report_status(report));

  json_builder_set_member_name(builder, "mustpass");
  json_builder_begin_object(builder);
  add_text(builder, "list", report->mustpass_name);
  add_number(builder, "total", report->mustpass_total);
  add_number(builder, "ok", report->mustpass_passed + report->mustpass_not_supported);
  add_number(builder, "passed", report->mustpass_passed);
  json_builder_set_member_name(builder, "complete");
  json_builder_add_boolean_value(builder, report->complete);
  json_builder_set_member_name(builder, "missing");
  json_builder_begin_array(builder);
  for (guint i = 0; report->mustpass_missing != NULL && i < report->mustpass_missing->len; ++i) {
    json_builder_add_string_value(builder, report->mustpass_missing->pdata[i]);
  }
  json_builder_end_array(builder);
  json_builder_end_object(builder);

  json_builder_set_member_name(builder, "unneeded_waivers");
  json_builder_begin_array(builder);
  for (guint i = 0; report->unneeded_waivers != NULL && i < report->unneeded_waivers->len; ++i) {
    json_builder_add_string_value(builder, report->unneeded_waivers->pdata[i]);
  }
  json_builder_end_array(builder);

  json_builder_set_member_name(builder, "cases");
  json_builder_begin_array(builder);
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    char *command = leati_report_command(report, result->one->name);
    json_builder_begin_object(builder);
    add_text(builder, "name", result->one->name);
    add_text(builder, "tested", result->one->summary);
    add_text(builder, "outcome", leati_outcome_name(result->outcome));
    add_text(builder, "message", result->message);
    add_text(builder, "output", result->output);
    add_text(builder, "waiver", result->waiver);
    add_number(builder, "runs", result->runs);
    add_number(builder, "bad_runs", result->bad_runs);
    add_seconds(builder, result->seconds);
    add_text(builder, "again", command);
    add_accuracy(builder, result);
    json_builder_end_object(builder);
    g_free(command);
  }
  json_builder_end_array(builder);
  json_builder_end_object(builder);

  root = json_builder_get_root(builder);
  json_generator_set_root(generator, root);
  json_generator_set_pretty(generator, TRUE);
  text = json_generator_to_data(generator, NULL);
  g_string_append(out, text);
  g_string_append_c(out, '\n');
  g_free(text);
  json_node_unref(root);
  g_object_unref(generator);
  g_object_unref(builder);
}
