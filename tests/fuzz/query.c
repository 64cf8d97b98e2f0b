/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of a host of any version, older, newer or broken, on the null driver: the query of a table, what functions
 * give out in structs and in lists of them, and errors. Each struct lies in memory of its own that is as long as its
 * struct_size says, so that the sanitizer sees who touches more. */
#include <string.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "nulldriver/test_host.h"

enum { STRUCT_LARGEST = 4000, LIST_LONGEST = 3, ACTIONS = 6 };
static const unsigned char untouched = 0xA5;

static host h;
static leat_stream *stream;
static leat_graph *graph;

/* ---- Structs ---------------------------------------------------------------------------------------------------- */

/* Exactly `size` bytes that hold `fill`, with the size in front where there is room for it. */
static void *make_struct(uint32_t size, uint32_t said, unsigned char fill) {
  unsigned char *const memory = malloc(size);
  FUZZ_CHECK(memory != NULL, "no memory");
  memset(memory, fill, size);
  memcpy(memory, &said, size < sizeof(said) ? size : sizeof(said));
  return memory;
}

/* A size near the one that is known, or any; not below that of the number itself, which everybody may read. */
static uint32_t draw_size(input *in, size_t known) {
  const uint8_t kind = input_byte(in);
  const int64_t size = kind < 64 ? (int64_t)known : kind < 224 ? (int64_t)known + kind - 144 : 17 * input_byte(in);
  return size < 4 ? 4 : size > STRUCT_LARGEST ? STRUCT_LARGEST : (uint32_t)size;
}

/* An error struct of some version, or none. */
static leat_error *make_error(input *in) {
  if (input_below(in, 8) == 0) {
    return NULL;
  }
  const uint32_t size = draw_size(in, sizeof(leat_error));
  return make_struct(size, size, untouched);
}

/* What a call left in its error: nothing beyond its size, which the sanitizer sees to, and a text that ends. */
static void check_error(leat_error *err, int32_t status, const char *who) {
  if (err == NULL) {
    return;
  }
  const uint32_t size = err->struct_size;
  if (status != LEAT_OK && size >= 8) {
    FUZZ_CHECK(err->code == status, "%s gives %d, and %d in the error", who, (int)status, (int)err->code);
  }
  const size_t head = offsetof(leat_error, message);
  if (status != LEAT_OK && size > head) {
    const size_t room = size - head < LEAT_ERROR_MESSAGE_SIZE ? size - head : LEAT_ERROR_MESSAGE_SIZE;
    FUZZ_CHECK(memchr(err->message, 0, room) != NULL, "%s gives a message without an end", who);
    FUZZ_CHECK(room == 1 || err->message[0] != '\0', "%s gives no message", who);
  }
  free(err);
}

/* ---- Query ------------------------------------------------------------------------------------------------------ */

static uint32_t draw_version(input *in) {
  static const uint32_t versions[] = {LEAT_ABI_1_0, LEAT_ABI_1_1, LEAT_ABI_VERSION(1, 2), LEAT_ABI_VERSION(2, 0), 0};
  const uint32_t which = input_below(in, 8);
  return which < 5 ? versions[which] : (uint32_t)input_number(in);
}

static void ask_tables(input *in) {
  const leat_host_info good = {.struct_size = sizeof(good),
                               .abi_min = draw_version(in),
                               .abi_max = draw_version(in),
                               .header_version = draw_version(in)};
  const uint32_t size = draw_size(in, sizeof(good));
  leat_host_info *const info = make_struct(size, size, 0);
  const size_t common = size < sizeof(good) ? size : sizeof(good);
  memcpy((char *)info + 4, (const char *)&good + 4, common - 4);
  bool clean = true;
  if (input_below(in, 4) == 0) {
    /* Something where no name is, a pointer that is taken at its word: a reserved field or one of a later version. */
    const size_t at = offsetof(leat_host_info, reserved) + input_byte(in);
    if (at < size) {
      ((unsigned char *)info)[at] = 1;
      clean = false;
    }
  }
  leat_error *const err = make_error(in);
  const leat_backend_api *table = h.api;
  const int32_t status = leat_backend_query(info, &table, err);
  FUZZ_CHECK((status == LEAT_OK) == (table != NULL), "the query gives %d and the table %p", (int)status,
             (const void *)table);
  if (table != NULL) {
    FUZZ_CHECK(clean, "the query takes what it does not know");
    FUZZ_CHECK(table->abi_version >= good.abi_min && table->abi_version <= good.abi_max &&
                   table->abi_version >= LEAT_ABI_1_0 && table->abi_version <= LEAT_ABI_CURRENT,
               "the query gives version 0x%x for 0x%x to 0x%x", table->abi_version, good.abi_min, good.abi_max);
  } else if (clean && size >= sizeof(good)) {
    FUZZ_CHECK(good.abi_min > good.abi_max || good.abi_min > LEAT_ABI_CURRENT || good.abi_max < LEAT_ABI_1_0,
               "the query gives no version for 0x%x to 0x%x", good.abi_min, good.abi_max);
  }
  check_error(err, status, "leat_backend_query");
  free(info);
}

/* ---- Structs that are given out --------------------------------------------------------------------------------- */

static int32_t device_info(void *out, leat_error *err) {
  return h.api->device->info(0, out, err);
}
static int32_t memory_stats(void *out, leat_error *err) {
  return h.api->memory->stats(h.device, out, err);
}
static int32_t stream_info(void *out, leat_error *err) {
  return h.api->stream->info(stream, out, err);
}
static int32_t pool_info(void *out, leat_error *err) {
  return h.api->pool->info(h.device, out, err);
}
static int32_t profiler_info(void *out, leat_error *err) {
  return h.api->profiler->info(h.device, out, err);
}
static int32_t external_info(void *out, leat_error *err) {
  return h.api->external->info(h.device, out, err);
}
static int32_t graph_info(void *out, leat_error *err) {
  return h.api->graph->info(graph, out, err);
}
static int32_t inferred_shape(void *out, leat_error *err) {
  int64_t three = 3;
  const DLTensor tensor = device_tensor(0, &three);
  return h.api->op->infer(h.relu, 1, (const DLTensor *const[1]){&tensor}, 1, (leat_shape *const[1]){out}, err);
}

static const struct {
  const char *name;
  size_t size;
  int32_t (*ask)(void *out, leat_error *err);
} structs[] = {{"device.info", sizeof(leat_device_info), device_info},
               {"memory.stats", sizeof(leat_memory_stats), memory_stats},
               {"stream.info", sizeof(leat_stream_info), stream_info},
               {"pool.info", sizeof(leat_pool_info), pool_info},
               {"profiler.info", sizeof(leat_profiler_info), profiler_info},
               {"external.info", sizeof(leat_external_info), external_info},
               {"graph.info", sizeof(leat_graph_info), graph_info},
               {"op.infer", sizeof(leat_shape), inferred_shape}};

static void ask_struct(input *in) {
  const uint32_t which = input_below(in, sizeof(structs) / sizeof(structs[0]));
  const uint32_t size = draw_size(in, structs[which].size);
  const bool none = input_below(in, 16) == 0;
  unsigned char *const out = none ? NULL : make_struct(size, size, untouched);
  leat_error *const err = make_error(in);
  const int32_t status = structs[which].ask(out, err);
  if (none || size < structs[which].size) {
    /* An output that is not wanted is NULL. Some structs grew since 1.0, and their older size is taken. */
    FUZZ_CHECK(!none || (status == LEAT_OK) == (structs[which].ask == inferred_shape), "%s gives %d for NULL",
               structs[which].name, (int)status);
  } else {
    FUZZ_CHECK(status == LEAT_OK, "%s refuses %u bytes, of which it needs %zu", structs[which].name, size,
               structs[which].size);
  }
  if (!none) {
    FUZZ_CHECK(memcmp(out, &size, sizeof(size)) == 0, "%s changes struct_size", structs[which].name);
    for (size_t i = status == LEAT_OK ? structs[which].size : sizeof(size); i < size; ++i) {
      FUZZ_CHECK(out[i] == untouched, "%s changes byte %zu", structs[which].name, i);
    }
  }
  check_error(err, status, structs[which].name);
  free(out);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

static int32_t report(uint32_t *count, void *out, leat_error *err) {
  return h.api->device->report(count, out, err);
}
static int32_t memory_classes(uint32_t *count, void *out, leat_error *err) {
  return h.api->memory->classes(h.device, count, out, err);
}
static int32_t graph_fusions(uint32_t *count, void *out, leat_error *err) {
  return h.api->graph->fusions(graph, count, out, err);
}
static int32_t profiler_read(uint32_t *count, void *out, leat_error *err) {
  return h.api->profiler->read(h.device, count, out, err);
}

static const struct {
  const char *name;
  size_t size;
  int32_t (*ask)(uint32_t *count, void *out, leat_error *err);
} lists[] = {{"device.report", sizeof(leat_property), report},
             {"memory.classes", sizeof(leat_memory_class), memory_classes},
             {"graph.fusions", sizeof(leat_graph_fusion), graph_fusions},
             {"profiler.read", sizeof(leat_profile_record), profiler_read}};

static void ask_list(input *in) {
  const uint32_t which = input_below(in, sizeof(lists) / sizeof(lists[0]));
  const size_t size = lists[which].size;
  uint32_t capacity = input_below(in, LIST_LONGEST + 1);
  const bool none = input_below(in, 16) == 0, no_count = input_below(in, 32) == 0;
  unsigned char *const out = none ? NULL : make_struct((uint32_t)size * capacity, (uint32_t)size, untouched);
  bool good = !no_count && (!none || capacity == 0);
  for (uint32_t i = 0; !none && i < capacity; ++i) {
    const uint32_t said = input_below(in, 8) != 0 ? (uint32_t)size : (uint32_t)input_number(in);
    memcpy(out + i * size, &said, sizeof(said));
    good = good && said == size;
  }
  leat_error *const err = make_error(in);
  const int32_t status = lists[which].ask(no_count ? NULL : &capacity, out, err);
  FUZZ_CHECK((status == LEAT_OK) == good, "%s gives %d for a list that is %s", lists[which].name, (int)status,
             good ? "right" : "wrong");
  check_error(err, status, lists[which].name);
  free(out);
}

/* ---- Structs that are taken ------------------------------------------------------------------------------------- */

/* An operator as a host of another version describes it: each struct of its own size, with something behind it. */
static void describe(input *in) {
  const int64_t unknown[1] = {-1};
  const leat_value_info vector = {
      .struct_size = sizeof(vector), .ndim = 1, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = unknown};
  const float slope = 0.5f;
  const leat_attribute alpha = {
      .struct_size = sizeof(alpha), .type = LEAT_ATTRIBUTE_FLOAT, .name = "alpha", .f = slope};
  uint32_t sizes[3];
  unsigned char *memory[3];
  const size_t known[3] = {sizeof(vector), sizeof(alpha), sizeof(leat_op_desc)};
  bool clean = true, large = true;
  const leat_value_info *inputs[1];
  const leat_attribute *attributes[1];
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 16,
                             .name = "LeakyRelu",
                             .attribute_count = 1,
                             .input_count = 1,
                             .output_count = 1,
                             .attributes = attributes,
                             .inputs = inputs};
  const void *const whole[3] = {&vector, &alpha, &desc};
  for (int i = 0; i < 3; ++i) {
    sizes[i] = draw_size(in, known[i]);
    memory[i] = make_struct(sizes[i], sizes[i], 0);
    const size_t common = sizes[i] < known[i] ? sizes[i] : known[i];
    memcpy(memory[i] + 4, (const char *)whole[i] + 4, common - 4);
    if (sizes[i] > known[i] && input_below(in, 3) == 0) {
      memory[i][known[i] + input_byte(in) % (sizes[i] - known[i])] = 1;
      clean = false;
    }
    large = large && sizes[i] >= known[i];
  }
  inputs[0] = (const void *)memory[0];
  attributes[0] = (const void *)memory[1];
  leat_error *const first = make_error(in), *const second = make_error(in);
  const leat_op_desc *const given = (const void *)memory[2];
  leat_op *op = NULL;
  const int32_t supported = h.api->op->supports(h.device, given, first);
  const int32_t created = h.api->op->create(h.device, given, &op, second);
  FUZZ_CHECK(supported == created, "supports() gives %d, create() %d", (int)supported, (int)created);
  FUZZ_CHECK(clean || created != LEAT_OK, "create() takes what it does not know");
  FUZZ_CHECK(!clean || !large || created == LEAT_OK, "create() refuses structs of a later version, with %d",
             (int)created);
  HOST_NEED(h.api->op->destroy(op, &err));
  check_error(first, supported, "op.supports");
  check_error(second, created, "op.create");
  for (int i = 0; i < 3; ++i) {
    free(memory[i]);
  }
}

/* ---- Descriptors and numbers that are taken --------------------------------------------------------------------- */

/* Memory and semaphores of a kind that there is not, or without a descriptor: the descriptor stays the caller's. What
 * is right but for a descriptor of something else would be the driver's to find, which need not. */
static void import(input *in) {
  const uint32_t size = draw_size(in, sizeof(leat_external_memory));
  const bool open = input_below(in, 2) == 0;
  const int fd = open ? dup(STDERR_FILENO) : -1 - (int)input_byte(in);
  /* With a descriptor the type is none that there is: none, two, or a bit that nobody knows. */
  const uint64_t type = open ? input_word(in) & ~LEAT_EXTERNAL_OPAQUE_FD : LEAT_EXTERNAL_OPAQUE_FD;
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = fd,
                                       .handle_type = type,
                                       .allocation_size = (uint64_t)input_number(in),
                                       .size = (uint64_t)input_number(in),
                                       .dedicated_usage = (uint32_t)input_number(in),
                                       .memory_type = (uint32_t)input_number(in)};
  unsigned char *const given = make_struct(size, size, 0);
  memcpy(given + 4, (const char *)&memory + 4, (size < sizeof(memory) ? size : sizeof(memory)) - 4);
  leat_error *const err = make_error(in), *const other = make_error(in);
  uint64_t address = 0;
  leat_semaphore *semaphore = NULL;
  const int32_t status = h.api->external->import_memory(h.device, (const void *)given, &address, err);
  FUZZ_CHECK(status != LEAT_OK, "memory of descriptor %d and type %llu is imported", fd, (unsigned long long)type);
  check_error(err, status, "import_memory");
  const int32_t second = h.api->external->import_semaphore(h.device, type, fd, &semaphore, other);
  FUZZ_CHECK(second != LEAT_OK && semaphore == NULL, "a semaphore of descriptor %d is imported", fd);
  check_error(other, second, "import_semaphore");
  FUZZ_CHECK(!open || close(fd) == 0, "a descriptor is closed that stayed the caller's");
  free(given);
}

/* The profiler starts with what it takes, and not twice. */
static void profile(input *in) {
  const uint32_t drawn = (uint32_t)input_number(in), most = 1u << 22;
  /* There is memory for the most, but not for every input. */
  const uint32_t capacity = drawn > 4096 && drawn <= most ? drawn & 4095 : drawn;
  const uint64_t flags = input_below(in, 4) == 0 ? input_word(in) : 0;
  leat_error *const why = make_error(in);
  const int32_t status = h.api->profiler->start(h.device, capacity, flags, why);
  FUZZ_CHECK((status == LEAT_OK) == (flags == 0 && capacity <= most), "start(%u, %llu) gives %d", capacity,
             (unsigned long long)flags, (int)status);
  check_error(why, status, "profiler.start");
  FUZZ_CHECK(status != LEAT_OK || h.api->profiler->start(h.device, 0, 0, NULL) == LEAT_ERROR_BUSY, "it starts twice");
  ask_list(in);
  HOST_NEED(h.api->profiler->stop(h.device, &err));
}

/* ---- The target ------------------------------------------------------------------------------------------------- */

/* A graph of one Relu. */
static void make_graph(void) {
  const int64_t three[1] = {3};
  const DLDataType type = {.code = kDLFloat, .bits = 32, .lanes = 1};
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = type, .shape = three};
  const leat_value_info *const values[2] = {&vector, &vector};
  const uint32_t first[1] = {0}, second[1] = {1};
  const leat_graph_node relu = {.struct_size = sizeof(relu),
                                .since_version = 14,
                                .op = "Relu",
                                .input_count = 1,
                                .output_count = 1,
                                .inputs = first,
                                .outputs = second};
  const leat_graph_node *const nodes[1] = {&relu};
  const leat_graph_desc desc = {.struct_size = sizeof(desc),
                                .value_count = 2,
                                .node_count = 1,
                                .input_count = 1,
                                .output_count = 1,
                                .values = values,
                                .nodes = nodes,
                                .inputs = first,
                                .outputs = second};
  HOST_NEED(h.api->graph->build(h.device, &desc, &graph, &err));
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  HOST_NEED(host_open(&h, &err));
  HOST_NEED(h.api->stream->create(h.device, 0, &stream, &err));
  make_graph();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  for (int i = 0; i < ACTIONS && (i == 0 || in.left != 0); ++i) {
    switch (input_below(&in, 6)) {
      case 0:
        ask_tables(&in);
        break;
      case 1:
        ask_struct(&in);
        break;
      case 2:
        ask_list(&in);
        break;
      case 3:
        import(&in);
        break;
      case 4:
        profile(&in);
        break;
      default:
        describe(&in);
    }
  }
  FUZZ_CHECK(host_report_violations() == 0, "a rule of Vulkan was broken");
  return 0;
}
