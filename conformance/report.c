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

static guint bad_count(const leat_report *report) {
  return report->counts[LEAT_OUTCOME_FAIL] + report->counts[LEAT_OUTCOME_CRASH] + report->counts[LEAT_OUTCOME_TIMEOUT];
}

int leati_report_status(const leat_report *report) {
  if (report->defect != NULL || bad_count(report) > 0)
    return 1;
  if (report->mustpass_missing != NULL && report->mustpass_missing->len > 0)
    return 1;
  return report->no_device != NULL ? 77 : 0;
}

char *leati_report_command(const leat_report *report, const char *name) {
  return g_strdup_printf("%s --run-case %s", report->command, name);
}

/* ---- Text ---- */

static const char *or_unknown(const char *text) {
  return text != NULL ? text : "unknown";
}

/* Appends text with every line indented. */
static void append_indented(GString *out, const char *indent, const char *text) {
  char **lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; ++line) {
    if (**line != '\0' || line[1] != NULL)
      g_string_append_printf(out, "%s%s\n", indent, *line);
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
  if (report->defect != NULL)
    g_string_append_printf(out, "        unusable: %s\n", report->defect);
  if (report->device_name != NULL) {
    g_string_append_printf(out, "device  %s (%s), uuid %s\n", report->device_name, or_unknown(report->device_driver),
                           or_unknown(report->device_uuid));
  }
  if (report->no_device != NULL)
    g_string_append_printf(out, "device  none: %s\n", report->no_device);
  g_string_append_printf(out, "cases   %zu, seed %u\n\n", report->result_count, report->seed);
}

void leati_report_text_result(const leat_report *report, const leat_result *result, GString *out) {
  g_string_append_printf(out, "%-12s %s (%.2f s)\n", leati_outcome_name(result->outcome), result->one->name,
                         result->seconds);
  if (result->outcome == LEAT_OUTCOME_PASS)
    return;
  if (result->message != NULL)
    append_indented(out, "    ", result->message);
  if (result->runs > 1 && result->bad_runs > 0) {
    g_string_append_printf(out, "    %u of %u runs were bad\n", result->bad_runs, result->runs);
  }
  if (result->outcome == LEAT_OUTCOME_NOT_SUPPORTED)
    return;
  if (result->waiver != NULL)
    g_string_append_printf(out, "    waived: %s\n", result->waiver);
  if (result->output != NULL) {
    g_string_append(out, "    it printed at the end:\n");
    append_indented(out, "    | ", result->output);
  }
  if (result->outcome >= LEAT_OUTCOME_FAIL) {
    char *command = leati_report_command(report, result->one->name);
    g_string_append_printf(out, "    again: %s\n", command);
    g_free(command);
  }
}

void leati_report_text_tail(const leat_report *report, GString *out) {
  const char *separator = "";
  if (bad_count(report) > 0) {
    g_string_append(out, "\nNot passed:\n");
    for (size_t i = 0; i < report->result_count; ++i) {
      const leat_result *result = &report->results[i];
      if (result->outcome < LEAT_OUTCOME_FAIL)
        continue;
      g_string_append_printf(out, "  %-8s %s\n", leati_outcome_name(result->outcome), result->one->name);
    }
  }
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    if (result->waiver != NULL && result->outcome == LEAT_OUTCOME_PASS) {
      g_string_append_printf(out, "The waiver for %s is not needed: it passed.\n", result->one->name);
    }
  }
  g_string_append_printf(out, "\n%zu cases in %.1f s: ", report->result_count, report->seconds);
  for (int outcome = LEAT_OUTCOME_PASS; outcome < LEAT_OUTCOME_COUNT; ++outcome) {
    if (report->counts[outcome] == 0)
      continue;
    g_string_append_printf(out, "%s%u %s", separator, report->counts[outcome],
                           leati_outcome_name((leat_outcome)outcome));
    separator = ", ";
  }
  if (separator[0] == '\0')
    g_string_append(out, "none could run");
  g_string_append(out, "\n");
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
    g_string_append_printf(out, "%s: %u of %u cases of the list %s passed or are not supported.\n",
                           report->mustpass_ok == report->mustpass_total ? "Conformant" : "Not conformant",
                           report->mustpass_ok, report->mustpass_total, report->mustpass_name);
  }
}

void leati_report_text(const leat_report *report, GString *out) {
  leati_report_text_head(report, out);
  for (size_t i = 0; i < report->result_count; ++i)
    leati_report_text_result(report, &report->results[i], out);
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
    if (result->outcome == LEAT_OUTCOME_NOT_SUPPORTED)
      g_string_append_printf(out, " # SKIP %s", note->str);
    if (result->outcome == LEAT_OUTCOME_WAIVED)
      g_string_append_printf(out, " # TODO %s", result->waiver);
    g_string_append_c(out, '\n');
    if (result->outcome >= LEAT_OUTCOME_WAIVED) {
      char *command = leati_report_command(report, result->one->name);
      g_string_append_printf(out, "# %s: %s\n# again: %s\n", leati_outcome_name(result->outcome), note->str, command);
      g_free(command);
      if (result->output != NULL)
        append_indented(out, "# | ", result->output);
    }
    g_string_free(note, TRUE);
  }
}

/* ---- JUnit ---- */

/* XML 1.0 cannot carry most control characters, escaped or not. */
static char *xml_text(const char *text) {
  char *plain = g_strdup(text != NULL ? text : "");
  char *escaped;
  for (char *at = plain; *at != '\0'; ++at) {
    if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t')
      *at = '?';
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
  if (report->no_device != NULL)
    append_property(out, "no_device", report->no_device);
  if (report->defect != NULL)
    append_property(out, "defect", report->defect);
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
      const char *element = result->outcome == LEAT_OUTCOME_FAIL ? "failure" : "error";
      g_string_append_printf(out,
                             ">\n    <%s type=\"%s\" message=\"%s\">again: %s</%s>\n"
                             "    <system-err>%s</system-err>\n  </testcase>\n",
                             element, leati_outcome_name(result->outcome), message, again, element, output);
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
  add_number(builder, "ok", report->mustpass_ok);
  json_builder_set_member_name(builder, "complete");
  json_builder_add_boolean_value(builder, report->complete);
  json_builder_set_member_name(builder, "missing");
  json_builder_begin_array(builder);
  for (guint i = 0; report->mustpass_missing != NULL && i < report->mustpass_missing->len; ++i) {
    json_builder_add_string_value(builder, report->mustpass_missing->pdata[i]);
  }
  json_builder_end_array(builder);
  json_builder_end_object(builder);

  json_builder_set_member_name(builder, "cases");
  json_builder_begin_array(builder);
  for (size_t i = 0; i < report->result_count; ++i) {
    const leat_result *result = &report->results[i];
    char *command = leati_report_command(report, result->one->name);
    json_builder_begin_object(builder);
    add_text(builder, "name", result->one->name);
    add_text(builder, "outcome", leati_outcome_name(result->outcome));
    add_text(builder, "message", result->message);
    add_text(builder, "output", result->output);
    add_text(builder, "waiver", result->waiver);
    add_number(builder, "runs", result->runs);
    add_number(builder, "bad_runs", result->bad_runs);
    add_seconds(builder, result->seconds);
    add_text(builder, "again", command);
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
