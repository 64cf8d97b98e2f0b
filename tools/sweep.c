/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <leat_build_id.h>
#include <string.h>

#include "member.h"

/* A job of a point. */
typedef struct point {
  int64_t threads;
  leati_figures figures;
} point;

struct leati_sweep {
  GArray *points; /* of point: all jobs of the first number of threads, then of the next */
};

leati_sweep *leati_sweep_new(void) {
  leati_sweep *sweep = g_new0(leati_sweep, 1);
  sweep->points = g_array_new(FALSE, FALSE, sizeof(point));
  return sweep;
}

void leati_sweep_free(leati_sweep *sweep) {
  g_array_unref(sweep->points);
  g_free(sweep);
}

int64_t leati_sweep_next(const leati_sweep *sweep, int64_t most) {
  if (sweep->points->len == 0) {
    return 1;
  }
  const int64_t last = g_array_index(sweep->points, point, sweep->points->len - 1).threads;
  return last < most ? MIN(2 * last, most) : 0;
}

void leati_sweep_add(leati_sweep *sweep, const leati_findings *findings) {
  for (size_t i = 0; i < findings->job_count; ++i) {
    point added = {.threads = findings->options->threads};
    leati_findings_sum(findings, i, &added.figures);
    g_array_append_val(sweep->points, added);
  }
}

static void add_fact(JsonBuilder *json, const char *name, const char *value) {
  json_builder_begin_array(json);
  leati_member_element(json, name);
  leati_member_element(json, value);
  json_builder_end_array(json);
}

/* A fact whose text is taken. */
static void add_and_free(JsonBuilder *json, const char *name, char *value) {
  add_fact(json, name, value);
  g_free(value);
}

/* What became of all runs and outputs of the sweep. */
static char *verdict(const leati_sweep *sweep, const leati_options *options) {
  int64_t runs = 0, failed = 0, outputs = 0, wrong = 0, within_spread = 0;
  for (guint i = 0; i < sweep->points->len; ++i) {
    const leati_figures *one = &g_array_index(sweep->points, point, i).figures;
    runs += one->runs;
    failed += one->failed + one->skipped;
    outputs += one->outputs;
    wrong += one->wrong;
    within_spread += one->within_spread;
  }
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%" G_GINT64_FORMAT " runs, %" G_GINT64_FORMAT " failed; ", runs, failed);
  if (options->compare) {
    g_string_append_printf(text,
                           "%" G_GINT64_FORMAT " outputs compared with the CPU provider's, %" G_GINT64_FORMAT " wrong",
                           outputs, wrong);
    if (within_spread > 0) {
      g_string_append_printf(
          text, "; %" G_GINT64_FORMAT " beyond the tolerance are right by what the CPU provider differs from itself",
          within_spread);
    }
  } else {
    g_string_append(text, "outputs were not compared");
  }
  return g_string_free(text, FALSE);
}

static void add_facts(JsonBuilder *json, const leati_sweep *sweep, const leati_findings *findings) {
  const leati_options *options = findings->options;
  GDateTime *now = g_date_time_new_now_local();
  leati_member_begin(json, "facts", TRUE);
  add_fact(json, "leat-run", LEAT_VERSION " (" LEAT_BUILD_ID ")");
  add_fact(json, "ONNX Runtime", findings->ort->version);
  add_fact(json, "provider", options->leat ? findings->ort->device_text : "CPUExecutionProvider");
  add_and_free(json, "date", g_date_time_format(now, "%Y-%m-%d"));
  add_fact(json, "command", options->command);
  add_and_free(json, "work",
               g_strdup_printf("sessions of a model: at most %" G_GINT64_FORMAT "; runs of a thread: %" G_GINT64_FORMAT
                               ", %" G_GINT64_FORMAT " more to warm up",
                               options->sessions, options->runs, options->warmup));
  for (size_t i = 0; i < findings->job_count; ++i) {
    const leati_job *job = &findings->jobs[i];
    for (guint n = 0; n < job->feed->texts->len; ++n) {
      add_and_free(json, "input",
                   g_strdup_printf("%s: %s", job->model->label, (const char *)g_ptr_array_index(job->feed->texts, n)));
    }
  }
  add_and_free(json, "verdict", verdict(sweep, options));
  json_builder_end_array(json);
  g_date_time_unref(now);
}

static void add_lines(JsonBuilder *json, const leati_sweep *sweep, const leati_findings *findings) {
  leati_member_begin(json, "lines", TRUE);
  for (size_t job = 0; job < findings->job_count; ++job) {
    json_builder_begin_object(json);
    leati_member_text(json, "name", findings->jobs[job].model->label);
    leati_member_begin(json, "points", TRUE);
    for (size_t i = job; i < sweep->points->len; i += findings->job_count) {
      const point *one = &g_array_index(sweep->points, point, i);
      json_builder_begin_object(json);
      leati_member_int(json, "threads", one->threads);
      leati_member_number(json, "runs_per_second", one->figures.runs_a_second);
      leati_member_number(json, "p50_seconds", one->figures.p50);
      leati_member_number(json, "p99_seconds", one->figures.p99);
      json_builder_end_object(json);
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
  }
  json_builder_end_array(json);
}

static void add_nodes(JsonBuilder *json, const leati_findings *findings, const leati_rehearsal *rehearsal) {
  JsonArray *rehearsed = rehearsal->result != NULL
                             ? json_object_get_array_member(json_node_get_object(rehearsal->result), "models")
                             : NULL;
  leati_member_begin(json, "nodes", TRUE);
  for (size_t i = 0; i < findings->job_count; ++i) {
    const leati_model *model = findings->jobs[i].model;
    int64_t there = 0;
    for (guint n = 0; n < model->nodes->len; ++n) {
      const leati_model_node *node = g_ptr_array_index(model->nodes, n);
      there += strcmp(node->provider, LEATI_ORT_PROVIDER) == 0;
    }
    json_builder_begin_object(json);
    leati_member_text(json, "name", model->label);
    leati_member_int(json, "count", model->nodes->len);
    leati_member_int(json, "on_leat", there);
    if (rehearsed != NULL) {
      JsonObject *told = json_array_get_object_element(rehearsed, (guint)i);
      json_builder_set_member_name(json, "elsewhere");
      json_builder_add_value(json, json_node_copy(json_object_get_member(told, "elsewhere")));
    } else {
      leati_run_report_elsewhere(json, model);
    }
    json_builder_end_object(json);
  }
  json_builder_end_array(json);
}

static void add_device_time(JsonBuilder *json, const leati_rehearsal *rehearsal) {
  if (rehearsal->steps != NULL) {
    leati_member_begin(json, "device_time", FALSE);
    leati_member_text(json, "note", "a run of each model from one thread, with a profile");
    json_builder_set_member_name(json, "steps");
    json_builder_add_value(json, json_node_copy(rehearsal->steps));
    json_builder_end_object(json);
  } else {
    leati_member_text(json, "device_time", NULL);
  }
}

/* A row of the memory's table; a figure that nobody tells is null. */
static void add_memory_row(JsonBuilder *json, const OrtApi *api, const OrtKeyValuePairs *figures, const char *what,
                           const char *now, const char *highest) {
  const char *const keys[] = {now, highest};
  json_builder_begin_array(json);
  leati_member_element(json, what);
  for (size_t i = 0; i < G_N_ELEMENTS(keys); ++i) {
    const char *value = keys[i] != NULL ? api->GetKeyValue(figures, keys[i]) : NULL;
    if (value != NULL) {
      json_builder_add_int_value(json, g_ascii_strtoll(value, NULL, 10));
    } else {
      json_builder_add_null_value(json);
    }
  }
  json_builder_end_array(json);
}

static void add_memory(JsonBuilder *json, const leati_ort *ort) {
  OrtKeyValuePairs *figures = leati_ort_memory(ort);
  if (figures == NULL) {
    leati_member_text(json, "memory", NULL);
    return;
  }
  leati_member_begin(json, "memory", FALSE);
  leati_member_text(json, "note", "Of this process, after the runs");
  leati_member_begin(json, "rows", TRUE);
  add_memory_row(json, ort->api, figures, "taken from the driver", "TotalAllocated", "leat.reserved_peak");
  add_memory_row(json, ort->api, figures, "in use", "InUse", "MaxInUse");
  add_memory_row(json, ort->api, figures, "for copies and arguments", "leat.staging", NULL);
  json_builder_end_array(json);
  json_builder_end_object(json);
  ort->api->ReleaseKeyValuePairs(figures);
}

char *leati_sweep_json(const leati_sweep *sweep, const leati_findings *findings, const leati_rehearsal *rehearsal) {
  JsonBuilder *json = json_builder_new();
  GString *title = g_string_new(NULL);
  for (size_t i = 0; i < findings->job_count; ++i) {
    g_string_append_printf(title, "%s%s", i > 0 ? ", " : "", findings->jobs[i].model->label);
  }
  g_string_append_printf(title, " on %s", leati_ort_device_name(findings->ort));
  json_builder_begin_object(json);
  leati_member_text(json, "title", title->str);
  g_string_free(title, TRUE);
  add_facts(json, sweep, findings);
  add_lines(json, sweep, findings);
  add_nodes(json, findings, rehearsal);
  add_device_time(json, rehearsal);
  add_memory(json, findings->ort);
  json_builder_end_object(json);
  JsonNode *root = json_builder_get_root(json);
  char *text = json_to_string(root, TRUE);
  json_node_unref(root);
  g_object_unref(json);
  return text;
}
