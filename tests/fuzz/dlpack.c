/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors of DLPack as a broken or hostile producer gives them, imported, exported and copied on the null driver.
 *
 * What is taken lies inside of a live block, by arithmetic that cannot overflow, and comes back as it was given. What
 * is plainly legal is taken. The producer's deleter is called once for what is taken and never for what is refused, and
 * when all is given back nothing is held. The sanitizer sees who reads more of a shape than its rank says. */
#include <string.h>

#include "fuzz/input.h"
#include "nulldriver/test_host.h"

enum { BLOCKS = 4, TENSORS = 4 };

static host h;
static leat_stream *stream;
static const uint64_t sizes[BLOCKS] = {0, 1, 256, 70000};
static uint64_t blocks[BLOCKS], freed;

/* A tensor with what the producer knows of it. The fields that the consumer gets lie where the sanitizer sees their
 * ends. */
typedef struct produced {
  DLManagedTensorVersioned *versioned; /* or */
  DLManagedTensor *unversioned;
  DLTensor *tensor; /* of the one or the other */
  uint32_t deleted;
} produced;

static void delete_versioned(DLManagedTensorVersioned *managed) {
  ++((produced *)managed->manager_ctx)->deleted;
}

static void delete_unversioned(DLManagedTensor *managed) {
  ++((produced *)managed->manager_ctx)->deleted;
}

static void *copy_of(const void *bytes, size_t size) {
  void *const to = malloc(size);
  FUZZ_CHECK(to != NULL, "no memory");
  return memcpy(to, bytes, size);
}

/* Numbers for the dimensions that there are, or NULL. A rank that no tensor has comes with none: nobody may look. */
static int64_t *draw_numbers(input *in, int32_t rank, uint32_t none_in) {
  int64_t numbers[LEAT_MAX_RANK];
  if (input_below(in, none_in) == 0) {
    return NULL;
  }
  const size_t count = rank < 0 || rank > LEAT_MAX_RANK ? 0 : (size_t)rank;
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = input_number(in);
  }
  return copy_of(numbers, count * sizeof(*numbers));
}

static void draw_tensor(input *in, DLTensor *t) {
  static const DLDataType types[] = {{kDLFloat, 32, 1},  {kDLFloat, 16, 1},    {kDLUInt, 8, 1}, {kDLInt, 64, 1},
                                     {kDLBfloat, 16, 1}, {LEAT_DL_BOOL, 8, 1}, {kDLInt, 4, 1}};
  const uint32_t block = input_below(in, BLOCKS + 2), type = input_below(in, 9), rank = input_below(in, 12);
  const uint64_t address = block < BLOCKS ? blocks[block] : block == BLOCKS ? freed : input_word(in);
  t->data = (void *)(uintptr_t)(address + (uint64_t)(input_below(in, 4) != 0 ? 0 : input_number(in)));
  t->byte_offset = input_below(in, 3) != 0 ? 0 : (uint64_t)input_number(in);
  t->dtype = type < 7 ? types[type] : (DLDataType){input_byte(in), input_byte(in), (uint16_t)input_word(in)};
  t->ndim = rank <= LEAT_MAX_RANK ? (int32_t)rank : (int32_t)input_number(in);
  t->shape = draw_numbers(in, t->ndim, 32);
  t->strides = draw_numbers(in, t->ndim, 3);
  t->device.device_type = input_below(in, 16) != 0 ? kDLVulkan : (DLDeviceType)input_byte(in);
  t->device.device_id = input_below(in, 16) != 0 ? 0 : (int32_t)input_number(in);
}

/* ---- What is legal ---------------------------------------------------------------------------------------------- */

/* Far more than any sum here: a size and a stride are below 2^63 each, and there are eight of them. */
typedef __int128 wide;

typedef enum verdict { ILLEGAL, UNCLEAR, LEGAL } verdict;

/* Whether a live block holds all that the elements touch. Unclear: it says more than any memory has, or something of
 * what has no elements. */
static verdict judge(const DLTensor *t) {
  const bool held =
      t->dtype.lanes == 1 &&
      ((t->dtype.code == kDLFloat && t->dtype.bits >= 16 && t->dtype.bits <= 64) ||
       ((t->dtype.code == kDLInt || t->dtype.code == kDLUInt) && t->dtype.bits >= 8 && t->dtype.bits <= 64) ||
       (t->dtype.code == kDLBfloat && t->dtype.bits == 16) || (t->dtype.code == LEAT_DL_BOOL && t->dtype.bits == 8));
  if (t->device.device_type != kDLVulkan || t->device.device_id != 0 || !held ||
      (t->dtype.bits & (t->dtype.bits - 1)) != 0 || t->ndim < 0 || t->ndim > LEAT_MAX_RANK ||
      (t->ndim > 0 && t->shape == NULL)) {
    return ILLEGAL;
  }
  const int64_t item = t->dtype.bits / 8;
  wide low = 0, high = 1, count = 1, compact = 1;
  bool empty = false, large = false;
  for (int32_t i = t->ndim; i-- > 0;) {
    if (t->shape[i] < 0) {
      return ILLEGAL;
    }
    const wide stride = t->strides != NULL ? t->strides[i] : compact;
    const wide reach = (wide)(t->shape[i] - 1) * stride;
    low += reach < 0 ? reach : 0;
    high += reach < 0 ? 0 : reach;
    empty = empty || t->shape[i] == 0;
    count *= t->shape[i];
    compact *= t->shape[i] == 0 ? 1 : t->shape[i];
    large = large || count > INT32_MAX || compact > INT32_MAX;
    count = large ? 1 : count;
    compact = large ? 1 : compact;
  }
  if (empty || large) {
    return UNCLEAR;
  }
  const wide first = (wide)(uintptr_t)t->data + (wide)t->byte_offset;
  for (int i = 0; i < BLOCKS; ++i) {
    const wide begin = (wide)blocks[i], end = begin + (wide)sizes[i];
    if ((wide)(uintptr_t)t->data >= begin && (wide)(uintptr_t)t->data < end) {
      return first + low * item < begin || first + high * item > end ? ILLEGAL : first % item == 0 ? LEGAL : UNCLEAR;
    }
  }
  return ILLEGAL;
}

static void check_verdict(const DLTensor *t, int32_t status, const leat_error *err, const char *who) {
  const verdict right = judge(t);
  FUZZ_CHECK(status == LEAT_OK || (err->code == status && err->message[0] != '\0'), "%s gives %d without a message",
             who, (int)status);
  FUZZ_CHECK(right != LEGAL || status == LEAT_OK, "%s refuses what is legal: %s", who, err->message);
  FUZZ_CHECK(right != ILLEGAL || status != LEAT_OK, "%s takes what is illegal", who);
}

/* ---- Producing and consuming ------------------------------------------------------------------------------------ */

static void produce(input *in, produced *p) {
  DLTensor tensor;
  draw_tensor(in, &tensor);
  memset(p, 0, sizeof(*p));
  if (input_below(in, 2) == 0) {
    const DLManagedTensor made = {.dl_tensor = tensor, .manager_ctx = p, .deleter = delete_unversioned};
    p->unversioned = copy_of(&made, sizeof(made));
    p->tensor = &p->unversioned->dl_tensor;
  } else {
    const DLManagedTensorVersioned made = {
        .dl_tensor = tensor,
        .manager_ctx = p,
        .deleter = delete_versioned,
        .flags = input_below(in, 8) != 0 ? 0 : input_byte(in),
        .version = {input_below(in, 8) != 0 ? DLPACK_MAJOR_VERSION : input_byte(in), input_byte(in)}};
    p->versioned = copy_of(&made, sizeof(made));
    p->tensor = &p->versioned->dl_tensor;
  }
}

static void withdraw(produced *p) {
  free(p->tensor->shape);
  free(p->tensor->strides);
  free(p->versioned);
  free(p->unversioned);
}

/* Gives back the block of a tensor that was taken. */
static void give_back(const DLTensor *taken) {
  uint64_t base = 0, size = 0;
  HOST_NEED(h.api->memory->find(h.device, (uint64_t)(uintptr_t)taken->data, &base, &size, &err));
  HOST_NEED(h.api->memory->free(h.device, base, &err));
}

/* What was taken goes out again, in either struct, and its deleter is called before or after the block is given back.
 */
static void export_again(input *in, const DLTensor *taken) {
  leat_error err = {.struct_size = sizeof(err)};
  DLManagedTensorVersioned *versioned = NULL;
  DLManagedTensor *unversioned = NULL;
  const bool new = input_below(in, 2) == 0, first = input_below(in, 2) == 0;
  const int32_t status = new ? h.api->memory->export_dlpack(stream, taken, NULL, &versioned, &err)
                             : h.api->memory->export_dlpack_unversioned(stream, taken, NULL, &unversioned, &err);
  FUZZ_CHECK(status == LEAT_OK, "what was taken is not given out: %s", err.message);
  const DLTensor *const out = new ? &versioned->dl_tensor : &unversioned->dl_tensor;
  FUZZ_CHECK(out->ndim == taken->ndim && out->data == taken->data && out->byte_offset == taken->byte_offset,
             "another tensor is given out");
  if (first) {
    give_back(taken);
  }
  if (new) {
    versioned->deleter(versioned);
  } else {
    unversioned->deleter(unversioned);
  }
  if (!first) {
    give_back(taken);
  }
}

static void consume(input *in, produced *p) {
  const DLTensor was = *p->tensor;
  leat_error err = {.struct_size = sizeof(err)};
  leat_view *const out = malloc(sizeof(*out));
  FUZZ_CHECK(out != NULL, "no memory");
  *out = (leat_view){.struct_size = sizeof(*out)};
  const bool refused = p->versioned != NULL && (p->versioned->version.major != DLPACK_MAJOR_VERSION ||
                                                (p->versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
  const int32_t status = p->versioned != NULL
                             ? h.api->memory->import_dlpack(stream, p->versioned, NULL, out, &err)
                             : h.api->memory->import_dlpack_unversioned(stream, p->unversioned, NULL, out, &err);
  if (refused) {
    FUZZ_CHECK(status == LEAT_ERROR_NOT_SUPPORTED, "a version or flag that is not known gives %d", (int)status);
  } else {
    check_verdict(&was, status, &err, "import");
  }
  FUZZ_CHECK(p->deleted == (status == LEAT_OK ? 1u : 0u), "status %d, and the deleter was called %u times", (int)status,
             p->deleted);
  if (status == LEAT_OK) {
    FUZZ_CHECK(out->tensor.shape == out->shape && out->tensor.strides == out->strides && out->tensor.ndim == was.ndim &&
                   out->tensor.data == was.data && out->tensor.byte_offset == was.byte_offset,
               "another tensor was taken");
    for (int32_t i = 0; i < was.ndim; ++i) {
      FUZZ_CHECK(out->shape[i] == was.shape[i], "another shape was taken");
    }
    export_again(in, &out->tensor);
  }
  free(out);
}

/* A copy between what was produced and a tensor of the host that is as it should be. */
static void copy_through(input *in, const produced *p) {
  const DLTensor *const t = p->tensor;
  const verdict right = judge(t);
  leat_error failure = {.struct_size = sizeof(failure)};
  uint64_t bytes = 1;
  for (int32_t i = 0; right == LEGAL && i < t->ndim; ++i) {
    bytes *= (uint64_t)t->shape[i];
  }
  bytes *= t->dtype.bits / 8u;
  /* Strides of 0 make many elements of few bytes; a copy of them is refused, or else would need as much memory. */
  unsigned char *const memory = right == LEGAL && bytes <= sizes[BLOCKS - 1] ? calloc(1, bytes) : NULL;
  if (memory == NULL) {
    return;
  }
  DLTensor host = *t;
  host.device.device_type = kDLCPU;
  host.device.device_id = 0;
  host.data = memory;
  host.byte_offset = 0;
  host.strides = NULL;
  const int32_t status = input_below(in, 2) == 0 ? h.api->memory->copy(stream, &host, t, &failure)
                                                 : h.api->memory->copy(stream, t, &host, &failure);
  FUZZ_CHECK(status == LEAT_OK || t->strides != NULL, "a copy of what is compact is refused: %s", failure.message);
  HOST_NEED(h.api->stream->synchronize(stream, &err));
  free(memory);
}

static leat_memory_stats figures(void) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  HOST_NEED(h.api->memory->stats(h.device, &stats, &err));
  return stats;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  HOST_NEED(host_open(&h, &err));
  HOST_NEED(h.api->stream->create(h.device, 0, &stream, &err));
  for (int i = 0; i < BLOCKS; ++i) {
    HOST_NEED(h.api->memory->alloc(h.device, sizes[i], NULL, &blocks[i], &err));
  }
  HOST_NEED(h.api->memory->alloc(h.device, 64, NULL, &freed, &err));
  HOST_NEED(h.api->memory->free(h.device, freed, &err));
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  const leat_memory_stats before = figures();
  for (int i = 0; i < TENSORS && (i == 0 || in.left != 0); ++i) {
    produced p;
    produce(&in, &p);
    copy_through(&in, &p);
    consume(&in, &p);
    withdraw(&p);
  }
  const leat_memory_stats after = figures();
  FUZZ_CHECK(after.allocated_bytes == before.allocated_bytes && after.live_block_count == before.live_block_count,
             "%llu blocks are held, and %llu were", (unsigned long long)after.live_block_count,
             (unsigned long long)before.live_block_count);
  FUZZ_CHECK(host_report_violations() == 0, "a rule of Vulkan was broken");
  return 0;
}
