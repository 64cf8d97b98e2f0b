/* SPDX-License-Identifier: BSD-3-Clause */
#include "feed.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "npy.h"
#include "option_value.h"
#include "stage.h"
#include "user_file.h"

/* What is known while the sets of one model are made. */
typedef struct maker {
  const leati_ort *ort;
  const leati_model *model;
  const leati_options *options;
  uint32_t model_index;
  leati_feed *feed;
  GHashTable *files; /* path and, for .npy files, the parsed leati_ndarray * of feed->arrays; NULL marks a raw file */
  uint64_t bytes;    /* taken by feed->arrays */
} maker;

/* How one input is made; at most one of the first three is given. */
typedef struct source {
  GPtrArray *files; /* leati_named_value *, not owned */
  leati_named_value *fill;
  leati_named_value *range;
  leati_named_value *shape;
} source;

static leati_named_value *find(const GPtrArray *list, const char *name, const char *option, GError **error) {
  leati_named_value *found = NULL;
  for (guint i = 0; i < list->len; ++i) {
    leati_named_value *named = g_ptr_array_index(list, i);
    if (strcmp(named->name, name) == 0) {
      if (found != NULL && error != NULL && *error == NULL) {
        LEATI_FAULT_SET(error, "%s %s is given twice", option, name);
      }
      named->used = TRUE;
      found = named;
    }
  }
  return found;
}

static gboolean find_source(const leati_options *options, const leati_slot *slot, source *out, GError **error) {
  GError *twice = NULL;
  *out = (source){.files = g_ptr_array_new(),
                  .fill = find(options->fills, slot->name, "--fill", &twice),
                  .range = find(options->ranges, slot->name, "--range", &twice),
                  .shape = find(options->shapes, slot->name, "--shape", &twice)};
  for (guint i = 0; i < options->inputs->len; ++i) {
    leati_named_value *named = g_ptr_array_index(options->inputs, i);
    if (strcmp(named->name, slot->name) == 0) {
      named->used = TRUE;
      g_ptr_array_add(out->files, named);
    }
  }
  if (twice != NULL) {
    g_propagate_error(error, twice);
    return FALSE;
  }
  if ((out->files->len > 0) + (out->fill != NULL) + (out->range != NULL) > 1) {
    LEATI_FAULT_SET(error, "input '%s' is given by more than one of --input, --fill and --range; one is right",
                    slot->name);
    return FALSE;
  }
  return TRUE;
}

static uint64_t machine_memory(void) {
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Counts memory before it is taken, since a machine that overcommits would fail later and worse. */
static gboolean account(maker *m, uint64_t bytes, GError **error) {
  const uint64_t machine = machine_memory();
  m->bytes += bytes;
  if (m->bytes > machine) {
    LEATI_FAULT_SET(error,
                    "the inputs of all threads take more than the %" G_GUINT64_FORMAT
                    " MiB that this machine has; smaller --dim, fewer --threads or --same-inputs would fit",
                    machine >> 20);
    return FALSE;
  }
  return TRUE;
}

/* Loads a file once. @p out is its array, or NULL with TRUE if it holds bare bytes. */
static gboolean load(maker *m, const char *path, leati_ndarray **out, GError **error) {
  gpointer known = NULL;
  *out = NULL;
  if (g_hash_table_lookup_extended(m->files, path, NULL, &known)) {
    *out = known;
    return TRUE;
  }
  char *bytes = NULL;
  size_t size = 0;
  GError *reason = NULL;
  if (!leati_user_file_read(path, machine_memory(), &bytes, &size, &reason)) {
    LEATI_FAULT_SET(error, "%s; a .npy file or a file of bare elements was expected", reason->message);
    g_error_free(reason);
    return FALSE;
  }
  gboolean right = account(m, size, error);
  if (right && (leati_npy_is(bytes, size) || g_str_has_suffix(path, ".npy"))) {
    *out = leati_npy_parse(bytes, size, error);
    right = *out != NULL;
    if (right) {
      g_ptr_array_add(m->feed->arrays, *out);
    } else {
      g_prefix_error(error, "%s: ", path);
    }
  }
  g_free(bytes);
  if (right) {
    g_hash_table_insert(m->files, g_strdup(path), *out);
  }
  return right;
}

/* Binds a dynamic dimension's name to a size, or checks that it is the size bound before. */
static gboolean bind(GHashTable *sizes, const char *symbol, int64_t size, GError **error) {
  if (*symbol == '\0') {
    return TRUE;
  }
  const int64_t *bound = g_hash_table_lookup(sizes, symbol);
  if (bound != NULL && *bound != size) {
    LEATI_FAULT_SET(error,
                    "dimension '%s' is %" G_GINT64_FORMAT " here and %" G_GINT64_FORMAT
                    " by --dim, --shape or the file of another input",
                    symbol, size, *bound);
    return FALSE;
  }
  if (bound == NULL) {
    g_hash_table_insert(sizes, g_strdup(symbol), g_memdup2(&size, sizeof(size)));
  }
  return TRUE;
}

/* Checks a given shape against what the model says, and binds its dynamic dimensions. */
static gboolean accept_shape(const leati_slot *slot, const int64_t *dims, size_t rank, GHashTable *sizes,
                             GError **error) {
  gboolean fits = !slot->has_shape || rank == slot->rank;
  for (size_t i = 0; fits && slot->has_shape && i < rank; ++i) {
    fits = slot->dims[i] < 0 || slot->dims[i] == dims[i];
  }
  if (!fits) {
    char *is = leati_shape_text(dims, rank);
    char *wanted = leati_shape_text(slot->dims, slot->rank);
    LEATI_FAULT_SET(error, "its shape is %s, and the model takes %s", is, wanted);
    g_free(is);
    g_free(wanted);
    return FALSE;
  }
  for (size_t i = 0; slot->has_shape && i < rank; ++i) {
    if (slot->dims[i] < 0 && !bind(sizes, slot->symbols[i], dims[i], error)) {
      return FALSE;
    }
  }
  return TRUE;
}

/* Takes the shape of what is given: the .npy file of this set, or --shape. @p array is the file's, or NULL. */
static gboolean take_given(maker *m, const leati_slot *slot, const source *from, size_t set, GHashTable *sizes,
                           leati_ndarray **array, GError **error) {
  int64_t dims[LEATI_NDARRAY_RANK_MAX];
  size_t rank = 0;
  *array = NULL;
  if (from->shape != NULL) {
    if (!leati_parse_shape(from->shape->value, dims, LEATI_NDARRAY_RANK_MAX, &rank, error) ||
        !accept_shape(slot, dims, rank, sizes, error)) {
      g_prefix_error(error, "--shape %s: ", slot->name);
      return FALSE;
    }
  }
  if (from->files->len == 0) {
    return TRUE;
  }
  const leati_named_value *file = g_ptr_array_index(from->files, (guint)(set % from->files->len));
  gboolean right = load(m, file->value, array, error);
  if (right && *array != NULL) {
    if ((*array)->element != slot->element) {
      LEATI_FAULT_SET(error, "%s holds %s, and the model takes %s; save it with array.astype('%s')", file->value,
                      leati_element_name((*array)->element), leati_element_name(slot->element),
                      leati_element_name(slot->element));
      right = FALSE;
    } else if (from->shape != NULL &&
               (rank != (*array)->rank || memcmp(dims, (*array)->dims, rank * sizeof(*dims)) != 0)) {
      LEATI_FAULT_SET(error, "%s has another shape than --shape says; it carries its own, so --shape is not needed",
                      file->value);
      right = FALSE;
    } else if (!accept_shape(slot, (*array)->dims, (*array)->rank, sizes, error)) {
      g_prefix_error(error, "%s: ", file->value);
      right = FALSE;
    }
  }
  if (!right) {
    g_prefix_error(error, "--input %s: ", slot->name);
  }
  return right;
}

static void note(maker *m, char *text) {
  g_ptr_array_add(m->feed->notes, text);
}

/* The shape of an input that no .npy file gives: each dynamic dimension is bound by now, or becomes 1. */
static gboolean resolve(maker *m, const leati_slot *slot, const source *from, size_t set, GHashTable *sizes,
                        int64_t *dims, size_t *rank, GError **error) {
  if (from->shape != NULL) {
    return leati_parse_shape(from->shape->value, dims, LEATI_NDARRAY_RANK_MAX, rank, error);
  }
  if (!slot->has_shape && set == 0) {
    note(m, g_strdup_printf("the model does not say the shape of input '%s': taken as one element without dimensions; "
                            "--shape %s=SIZES gives it",
                            slot->name, slot->name));
  }
  *rank = slot->rank;
  for (size_t i = 0; i < slot->rank; ++i) {
    dims[i] = slot->dims[i];
    if (dims[i] >= 0) {
      continue;
    }
    const int64_t *bound = g_hash_table_lookup(sizes, slot->symbols[i]);
    dims[i] = bound != NULL ? *bound : 1;
    if (bound != NULL) {
      continue;
    }
    /* Binding it makes sure that each name is noted once. */
    (void)bind(sizes, slot->symbols[i], 1, NULL);
    if (set == 0 && *slot->symbols[i] == '\0') {
      note(m, g_strdup_printf("dimension %" G_GSIZE_FORMAT " of input '%s' is dynamic and not given: taken as 1; "
                              "--shape %s=SIZES gives it",
                              i, slot->name, slot->name));
    } else if (set == 0) {
      note(m, g_strdup_printf("dimension '%s' is dynamic and not given: taken as 1; --dim %s=SIZE gives it",
                              slot->symbols[i], slot->symbols[i]));
    }
  }
  return TRUE;
}

static gboolean read_raw(const char *path, leati_ndarray *array, GError **error) {
  char *bytes = NULL;
  size_t size = 0;
  if (!leati_user_file_read(path, machine_memory(), &bytes, &size, error)) {
    return FALSE;
  }
  const gboolean right = size == array->bytes;
  if (right && size != 0) {
    memcpy(array->data, bytes, size);
  } else if (!right) {
    char *shape = leati_shape_text(array->dims, array->rank);
    LEATI_FAULT_SET(error,
                    "%s has %" G_GSIZE_FORMAT " bytes, and %s%s takes %" G_GSIZE_FORMAT
                    "; a .npy file would carry its own shape, --shape gives one",
                    path, size, leati_element_name(array->element), shape, array->bytes);
    g_free(shape);
  }
  g_free(bytes);
  return right;
}

static gboolean fill(const char *text, leati_ndarray *array, GError **error) {
  if (leati_element_is_float(array->element)) {
    char *end = NULL;
    const double value = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0') {
      LEATI_FAULT_SET(error, "'%s' is not a number, nan or inf", text);
      return FALSE;
    }
    for (size_t i = 0; i < array->count; ++i) {
      leati_element_write_float(array->element, array->data, i, value);
    }
    return TRUE;
  }
  int64_t low = 0;
  int64_t high = 0;
  int64_t value = 0;
  leati_element_limits(array->element, &low, &high);
  if (array->element == LEATI_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
    value = strcmp(text, "true") == 0;
  } else if (!leati_parse_whole(text, low, high, &value, error)) {
    return FALSE;
  }
  for (size_t i = 0; i < array->count; ++i) {
    leati_element_write_int(array->element, array->data, i, value);
  }
  return TRUE;
}

/* Whole numbers drawn evenly from low to high, both of which lie within the type and within 2^53 of zero. */
static void draw_ints(GRand *random, leati_ndarray *array, double low, double high) {
  for (size_t i = 0; i < array->count; ++i) {
    const double value = fmin(high, low + floor(g_rand_double(random) * (high - low + 1.0)));
    leati_element_write_int(array->element, array->data, i, (int64_t)value);
  }
}

/* Two independent normal numbers come from two even ones (Box and Muller). */
static void draw_normal(GRand *random, leati_ndarray *array) {
  double spare = 0.0;
  for (size_t i = 0; i < array->count; ++i) {
    double value = spare;
    if (i % 2 == 0) {
      const double radius = sqrt(-2.0 * log(1.0 - g_rand_double(random)));
      const double angle = 2.0 * G_PI * g_rand_double(random);
      value = radius * cos(angle);
      spare = radius * sin(angle);
    }
    leati_element_write_float(array->element, array->data, i, value);
  }
}

static gboolean draw(GRand *random, const char *range, leati_ndarray *array, GError **error) {
  const gboolean is_float = leati_element_is_float(array->element);
  double low = 0.0;
  double high = 1.0;
  if (range == NULL && is_float) {
    draw_normal(random, array);
    return TRUE;
  }
  if (range != NULL && !leati_parse_range(range, &low, &high, error)) {
    return FALSE;
  }
  if (is_float) {
    for (size_t i = 0; i < array->count; ++i) {
      leati_element_write_float(array->element, array->data, i, low + (high - low) * g_rand_double(random));
    }
    return TRUE;
  }
  int64_t least = 0;
  int64_t most = 0;
  leati_element_limits(array->element, &least, &most);
  /* Beyond 2^53 a double no longer holds every whole number. */
  const double exact = 9007199254740992.0;
  if (low != floor(low) || high != floor(high) || low < fmax((double)least, -exact) ||
      high > fmin((double)most, exact)) {
    LEATI_FAULT_SET(error, "'%s' is not a range of whole numbers that %s holds (and a double holds exactly)", range,
                    leati_element_name(array->element));
    return FALSE;
  }
  draw_ints(random, array, low, high);
  return TRUE;
}

/* Makes an input that no .npy file gives. */
static leati_ndarray *make(maker *m, size_t input, const source *from, size_t set, GHashTable *sizes, GError **error) {
  const leati_slot *slot = &m->model->inputs[input];
  int64_t dims[LEATI_NDARRAY_RANK_MAX];
  size_t rank = 0;
  leati_ndarray shape;
  if (!resolve(m, slot, from, set, sizes, dims, &rank, error) ||
      !leati_ndarray_wrap(slot->element, rank, dims, NULL, &shape, error) || !account(m, shape.bytes, error)) {
    g_prefix_error(error, "input '%s': ", slot->name);
    return NULL;
  }
  leati_ndarray *array = leati_ndarray_new(slot->element, rank, dims, error);
  if (array == NULL) {
    g_prefix_error(error, "input '%s': ", slot->name);
    return NULL;
  }
  gboolean right;
  const char *option;
  if (from->files->len > 0) {
    const leati_named_value *file = g_ptr_array_index(from->files, (guint)(set % from->files->len));
    right = read_raw(file->value, array, error);
    option = "--input";
  } else if (from->fill != NULL) {
    right = fill(from->fill->value, array, error);
    option = "--fill";
  } else {
    const guint32 seed[] = {(guint32)m->options->seed, (guint32)((uint64_t)m->options->seed >> 32), m->model_index,
                            (guint32)set, (guint32)input};
    GRand *random = g_rand_new_with_seed_array(seed, G_N_ELEMENTS(seed));
    right = draw(random, from->range != NULL ? from->range->value : NULL, array, error);
    option = "--range";
    g_rand_free(random);
  }
  if (!right) {
    g_prefix_error(error, "%s %s: ", option, slot->name);
    leati_ndarray_free(array);
    return NULL;
  }
  return array;
}

/* One line about an input, for people. */
static char *describe(const leati_slot *slot, const source *from, const leati_ndarray *array, size_t sets) {
  char *shape = leati_shape_text(array->dims, array->rank);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s %s%s: ", slot->name, leati_element_name(array->element), shape);
  if (from->files->len > 0) {
    const leati_named_value *first = g_ptr_array_index(from->files, 0);
    g_string_append(text, first->value);
    if (from->files->len > 1) {
      g_string_append_printf(text, " and %u more files", from->files->len - 1);
    }
  } else if (from->fill != NULL) {
    g_string_append_printf(text, "all %s", from->fill->value);
  } else {
    if (from->range != NULL) {
      g_string_append_printf(text, "random, even in %s", from->range->value);
    } else {
      g_string_append(text, leati_element_is_float(array->element) ? "random, normal (0, 1)" : "random, 0 or 1");
    }
    if (sets > 1) {
      g_string_append_printf(text, ", %" G_GSIZE_FORMAT " different ones", sets);
    }
  }
  g_free(shape);
  return g_string_free(text, FALSE);
}

static gboolean make_set(maker *m, const source *sources, size_t set, GError **error) {
  const leati_model *model = m->model;
  GHashTable *sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  leati_ndarray **arrays = g_new0(leati_ndarray *, model->input_count + 1);
  gboolean right = TRUE;
  for (guint i = 0; right && i < m->options->dims->len; ++i) {
    const leati_named_value *dim = g_ptr_array_index(m->options->dims, i);
    int64_t size = 0;
    right = leati_parse_whole(dim->value, 0, G_MAXINT64, &size, error) && bind(sizes, dim->name, size, error);
  }
  /* What is given comes first, because it may say the sizes of what is not. */
  for (size_t i = 0; right && i < model->input_count; ++i) {
    right = take_given(m, &model->inputs[i], &sources[i], set, sizes, &arrays[i], error);
  }
  for (size_t i = 0; right && i < model->input_count; ++i) {
    if (arrays[i] == NULL) {
      arrays[i] = make(m, i, &sources[i], set, sizes, error);
      if (arrays[i] != NULL) {
        g_ptr_array_add(m->feed->arrays, arrays[i]);
      }
    }
    if (arrays[i] != NULL) {
      m->feed->sets[set].inputs[i] = leati_value_new(m->ort, arrays[i], error);
    }
    right = m->feed->sets[set].inputs[i] != NULL;
    if (right && set == 0) {
      g_ptr_array_add(m->feed->texts, describe(&model->inputs[i], &sources[i], arrays[i], m->feed->set_count));
    }
  }
  g_free(arrays);
  g_hash_table_unref(sizes);
  return right;
}

/* Marks the dimensions that the model has as used, so that a misspelt --dim can be told from one of another model. */
static void mark_dims(const leati_model *model, const GPtrArray *dims) {
  for (size_t i = 0; i < model->input_count; ++i) {
    for (size_t d = 0; d < model->inputs[i].rank; ++d) {
      if (*model->inputs[i].symbols[d] != '\0') {
        (void)find(dims, model->inputs[i].symbols[d], "--dim", NULL);
      }
    }
  }
}

leati_feed *leati_feed_new(const leati_ort *ort, const leati_model *model, const leati_options *options,
                           uint32_t model_index, GError **error) {
  leati_stage_begin("inputs of", model->label);
  leati_feed *feed = g_new0(leati_feed, 1);
  feed->arrays = g_ptr_array_new_with_free_func((GDestroyNotify)leati_ndarray_free);
  feed->texts = g_ptr_array_new_with_free_func(g_free);
  feed->notes = g_ptr_array_new_with_free_func(g_free);
  maker m = {ort, model, options, model_index, feed, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), 0};
  source *sources = g_new0(source, model->input_count + 1);
  gboolean right = TRUE;
  gboolean random = FALSE;
  size_t files = 1;
  for (size_t i = 0; right && i < model->input_count; ++i) {
    right = find_source(options, &model->inputs[i], &sources[i], error);
    random = random || (sources[i].files->len == 0 && sources[i].fill == NULL);
    files = MAX(files, sources[i].files->len);
  }
  mark_dims(model, options->dims);
  const size_t threads = (size_t)options->threads;
  feed->set_count = options->same_inputs ? 1 : random ? threads : MIN(files, threads);
  feed->sets = g_new0(leati_set, feed->set_count);
  for (size_t set = 0; set < feed->set_count; ++set) {
    feed->sets[set].inputs = g_new0(OrtValue *, model->input_count + 1);
  }
  for (size_t set = 0; right && set < feed->set_count; ++set) {
    right = make_set(&m, sources, set, error);
  }
  for (size_t i = 0; i < model->input_count; ++i) {
    g_clear_pointer(&sources[i].files, g_ptr_array_unref);
  }
  g_free(sources);
  g_hash_table_unref(m.files);
  if (!right) {
    g_prefix_error(error, "%s: ", model->path);
    leati_feed_free(ort, model, feed);
    return NULL;
  }
  return feed;
}

gboolean leati_feed_expect(const leati_ort *ort, const leati_model *model, OrtSession *session, leati_feed *feed,
                           GError **error) {
  for (size_t i = 0; i < feed->set_count; ++i) {
    leati_set *set = &feed->sets[i];
    OrtValue **outputs = g_new0(OrtValue *, model->output_count + 1);
    leati_stage_begin("CPU reference of", model->label);
    if (!leati_ort_ok(ort, leati_model_run(ort, model, session, set->inputs, outputs), error)) {
      g_prefix_error(error,
                     "%s does not run on the CPU provider with these inputs (--dim, --shape, --range, --fill and "
                     "--input change them): ",
                     model->path);
      g_free(outputs);
      return FALSE;
    }
    set->outputs = outputs;
  }
  return TRUE;
}

void leati_feed_free(const leati_ort *ort, const leati_model *model, leati_feed *feed) {
  if (feed == NULL) {
    return;
  }
  for (size_t i = 0; i < feed->set_count; ++i) {
    leati_values_free(ort, feed->sets[i].inputs, model->input_count);
    g_free(feed->sets[i].inputs);
    if (feed->sets[i].outputs != NULL) {
      leati_values_free(ort, feed->sets[i].outputs, model->output_count);
      g_free(feed->sets[i].outputs);
    }
  }
  g_free(feed->sets);
  g_ptr_array_unref(feed->arrays);
  g_ptr_array_unref(feed->texts);
  g_ptr_array_unref(feed->notes);
  g_free(feed);
}
