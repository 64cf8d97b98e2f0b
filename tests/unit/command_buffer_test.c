/* SPDX-License-Identifier: BSD-3-Clause */
/* How lists are written side by side into one command buffer. A list is a word here: each letter is a command, small
 * ones are dispatches and capitals copies, and '|' stands for a barrier that the next command needs. What was written
 * is such a word too, with the stages of each barrier: c computes, t transfers, h is the host. */
#include "submit/command_buffer.h"

#include <stdio.h>
#include <string.h>

#include "unit_fixture.h"

enum { LIST_MAX = 16, WORD_MAX = 512 };

/* What the functions below stand in front of, and what they saw. One test at a time uses them. */
static leati_vk_device driver;
static char written[WORD_MAX];

static void put(const char *text) {
  assert_true(strlen(written) + strlen(text) < sizeof(written));
  strcat(written, text);
}

static void put_letter(uint64_t letter) {
  const char text[] = {(char)letter, '\0'};
  put(text);
}

static void put_stages(VkPipelineStageFlags stages, VkAccessFlags access, VkAccessFlags shader,
                       VkAccessFlags transfer) {
  put((stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0 ? "c" : "");
  put((stages & VK_PIPELINE_STAGE_TRANSFER_BIT) != 0 ? "t" : "");
  put((stages & VK_PIPELINE_STAGE_HOST_BIT) != 0 ? "h" : "");
  /* The accesses are those of the stages. */
  assert_int_equal((stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0 ? access & shader : shader, shader);
  assert_int_equal((stages & VK_PIPELINE_STAGE_TRANSFER_BIT) != 0 ? access & transfer : transfer, transfer);
}

static void on_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                       VkDependencyFlags flags, uint32_t count, const VkMemoryBarrier *barriers, uint32_t buffers,
                       const VkBufferMemoryBarrier *buffer, uint32_t images, const VkImageMemoryBarrier *image) {
  (void)commands;
  (void)buffer;
  (void)image;
  assert_int_equal(flags, 0);
  assert_int_equal(count, 1);
  assert_int_equal(buffers + images, 0);
  put("[");
  put_stages(from, barriers->srcAccessMask, VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
  put(">");
  put_stages(to, barriers->dstAccessMask, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
             VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  put("]");
}

static void on_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  (void)commands;
  assert_int_equal(y, 1);
  assert_int_equal(z, 1);
  put_letter(x);
}

static void on_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions) {
  (void)commands;
  (void)from;
  (void)to;
  assert_int_equal(count, 1);
  put_letter(regions->size);
}

static void on_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  (void)commands;
  (void)point;
  (void)pipeline;
}

static void on_sets(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
                    uint32_t count, const VkDescriptorSet *sets, uint32_t offset_count, const uint32_t *offsets) {
  (void)commands;
  (void)point;
  (void)layout;
  (void)first;
  (void)count;
  (void)sets;
  (void)offset_count;
  (void)offsets;
}

/* The pipelines of commands that are spelled, which nobody looks into. */
enum { PLAIN, OTHER, PIPELINES };
static leati_pipeline pipelines[PIPELINES];

/* A list, with room for its commands. */
typedef struct list {
  leati_submission submission;
  leati_command commands[LIST_MAX];
} list;

/* Makes the list of a word, for a stream that is only told from others. */
static leati_submission *spell(list *l, const void *stream, const char *word) {
  memset(l, 0, sizeof(*l));
  l->submission.stream = stream;
  l->submission.commands = l->commands;
  bool barrier = false;
  for (const char *at = word; *at != '\0'; ++at) {
    if (*at == '|') {
      barrier = true;
      continue;
    }
    leati_command *const command = &l->commands[l->submission.command_count++];
    assert_true(l->submission.command_count <= LIST_MAX);
    command->barrier = barrier;
    barrier = false;
    if (*at >= 'a') {
      command->kind = LEATI_COMMAND_DISPATCH;
      command->dispatch.pipeline = &pipelines[PLAIN];
      command->dispatch.groups[0] = (uint32_t)*at;
      command->dispatch.groups[1] = command->dispatch.groups[2] = 1;
    } else {
      command->kind = LEATI_COMMAND_COPY;
      command->copy.region.size = (VkDeviceSize)*at;
    }
  }
  return &l->submission;
}

/* Writes lists to a command buffer, past the driver; `written` then has the word. */
static int32_t write_past(leat_device *device, leati_command_buffer *command_buffer, leati_submission *const *lists,
                          uint32_t count, bool hold) {
  driver = device->vk;
  device->vk.CmdPipelineBarrier = on_barrier;
  device->vk.CmdDispatch = on_dispatch;
  device->vk.CmdCopyBuffer = on_copy;
  device->vk.CmdBindPipeline = on_pipeline;
  device->vk.CmdBindDescriptorSets = on_sets;
  written[0] = '\0';
  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = leati_command_buffer_write(device, command_buffer, lists, count, hold, &err);
  device->vk = driver;
  return status;
}

/* Writes lists and compares what came out. */
static void expect(void **state, leati_submission *const *lists, uint32_t count, const char *word) {
  leat_device *const device = fixture_of(state)->device;
  leati_command_buffer *command_buffer;
  assert_ok(leati_command_buffer_create(device, &command_buffer, &err));
  const int32_t status = write_past(device, command_buffer, lists, count, true);
  leati_command_buffers_destroy(device, command_buffer);
  assert_int_equal(status, LEAT_OK);
  assert_string_equal(written, word);
}

static int streams[4]; /* their addresses stand for streams */

static void a_list_alone_is_written_as_it_is(void **state) {
  list l;
  expect(state, (leati_submission *[]){spell(&l, &streams[0], "ab|c|D|ef")}, 1, "ab[c>c]c[c>t]D[t>c]ef");
  expect(state, (leati_submission *[]){spell(&l, &streams[0], "|a")}, 1, "a");
  expect(state, (leati_submission *[]){spell(&l, &streams[0], "")}, 1, "");
}

static void lists_of_different_streams_share_their_barriers(void **state) {
  list l[3];
  leati_submission *const lists[] = {spell(&l[0], &streams[0], "a|b|c"), spell(&l[1], &streams[1], "d|e"),
                                     spell(&l[2], &streams[2], "f|gG|h|i")};
  expect(state, lists, 3, "adf[c>ct]begG[ct>c]ch[c>c]i");
}

static void lists_of_one_stream_run_in_their_order(void **state) {
  list l[4];
  leati_submission *const lists[] = {spell(&l[0], &streams[0], "a|b"), spell(&l[1], &streams[1], "c"),
                                     spell(&l[2], &streams[0], ""), spell(&l[3], &streams[0], "de|f")};
  lists[3]->after = true;
  expect(state, lists, 4, "[ct>c]ac[c>c]b[c>c]de[c>c]f");
}

static void one_barrier_at_the_begin_serves_all_that_need_it(void **state) {
  list l[2];
  leati_submission *const lists[] = {spell(&l[0], &streams[0], "a|B"), spell(&l[1], &streams[1], "c")};
  lists[1]->after = true;
  /* It names every stage that follows: what a later one orders is what this one has let through. */
  expect(state, lists, 2, "[ct>ct]ac[c>t]B");
}

static void downloads_are_shown_to_the_host_at_the_end(void **state) {
  list l[2];
  leati_submission *const lists[] = {spell(&l[0], &streams[0], "a|B"), spell(&l[1], &streams[1], "c|d")};
  lists[0]->to_host = VK_PIPELINE_STAGE_TRANSFER_BIT;
  lists[1]->to_host = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  expect(state, lists, 2, "ac[c>ct]Bd[ct>h]");
}

static void as_many_lists_as_there_is_room_for(void **state) {
  static list l[LEATI_COMMAND_BUFFER_LISTS_MAX];
  leati_submission *lists[LEATI_COMMAND_BUFFER_LISTS_MAX];
  static char owners[LEATI_COMMAND_BUFFER_LISTS_MAX];
  char word[WORD_MAX] = "";
  for (int i = 0; i < LEATI_COMMAND_BUFFER_LISTS_MAX; ++i) {
    lists[i] = spell(&l[i], &owners[i], "a|b");
    word[i] = 'a';
  }
  strcat(word, "[c>c]");
  memset(word + strlen(word), 'b', LEATI_COMMAND_BUFFER_LISTS_MAX);
  expect(state, lists, LEATI_COMMAND_BUFFER_LISTS_MAX, word);
}

static VkResult refuse_to_begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info) {
  (void)commands;
  (void)info;
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* What a list may differ in from "ab|c|D|ef", and what is the same for all. */
static bool holds_other(const leat_device *device, const leati_command_buffer *command_buffer, unsigned way) {
  static const char *const words[] = {"ab|c|D|eg", "ab|c|D|e", "ab|c|D|efg", "abc|D|ef", "ab|c|E|ef", "ab|c|d|ef", ""};
  enum { WORDS = sizeof(words) / sizeof(words[0]) };
  list l;
  leati_submission *const other = spell(&l, &streams[1], way < WORDS ? words[way] : "ab|c|D|ef");
  leati_command *const dispatch = &l.commands[4], *const copy = &l.commands[3];
  switch (way < WORDS ? 0 : way - WORDS + 1) {
    case 0:
      break;
    case 1:
      other->after = true;
      break;
    case 2:
      other->to_host = VK_PIPELINE_STAGE_TRANSFER_BIT;
      break;
    case 3:
      dispatch->dispatch.offset = 64;
      break;
    case 4:
      memset(&dispatch->dispatch.set, 1, sizeof(dispatch->dispatch.set));
      break;
    case 5:
      dispatch->dispatch.pipeline = &pipelines[OTHER];
      break;
    case 6:
      dispatch->dispatch.groups[1] = 2;
      break;
    case 7:
      dispatch->dispatch.groups[2] = 2;
      break;
    case 8:
      memset(&copy->copy.from, 1, sizeof(copy->copy.from));
      break;
    case 9:
      memset(&copy->copy.to, 1, sizeof(copy->copy.to));
      break;
    case 10:
      copy->copy.region.srcOffset = 4;
      break;
    case 11:
      copy->copy.region.dstOffset = 4;
      break;
    default:
      assert_int_equal(way, WORDS + 11);
      /* No difference. */
      return leati_command_buffer_holds(device, command_buffer, other);
  }
  assert_false(leati_command_buffer_holds(device, command_buffer, other));
  return false;
}

static void a_command_buffer_holds_the_one_list_in_it(void **state) {
  leat_device *const device = fixture_of(state)->device;
  leati_command_buffer *command_buffer;
  list l[2];
  leati_submission *const lists[] = {spell(&l[0], &streams[0], "ab|c|D|ef"), spell(&l[1], &streams[1], "a")};
  list nothing;
  const leati_submission *const empty = spell(&nothing, &streams[0], "");
  assert_ok(leati_command_buffer_create(device, &command_buffer, &err));
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[0]));
  assert_false(leati_command_buffer_holds(device, command_buffer, empty));
  assert_ok(write_past(device, command_buffer, lists, 1, true));
  assert_true(leati_command_buffer_holds(device, command_buffer, lists[0]));
  /* Whose it is does not matter, all else does. */
  unsigned way = 0;
  while (!holds_other(device, command_buffer, way)) {
    ++way;
  }
  /* A handle may be that of another object by now. */
  (void)atomic_fetch_add_explicit(&device->destroyed, 1, memory_order_relaxed);
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[0]));
  assert_ok(write_past(device, command_buffer, lists, 1, true));
  assert_true(leati_command_buffer_holds(device, command_buffer, lists[0]));
  /* It is gone as soon as another is begun. */
  const leati_vk_device kept = device->vk;
  device->vk.BeginCommandBuffer = refuse_to_begin;
  assert_int_equal(leati_command_buffer_write(device, command_buffer, &lists[1], 1, true, NULL),
                   LEAT_ERROR_OUT_OF_MEMORY);
  device->vk = kept;
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[0]));
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[1]));
  assert_ok(write_past(device, command_buffer, lists, 1, false));
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[0]));
  assert_ok(write_past(device, command_buffer, lists, 2, true));
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[0]));
  assert_false(leati_command_buffer_holds(device, command_buffer, lists[1]));
  assert_false(leati_command_buffer_holds(device, command_buffer, empty));
  leati_command_buffers_destroy(device, command_buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_list_alone_is_written_as_it_is, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(lists_of_different_streams_share_their_barriers, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(lists_of_one_stream_run_in_their_order, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(one_barrier_at_the_begin_serves_all_that_need_it, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(downloads_are_shown_to_the_host_at_the_end, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(as_many_lists_as_there_is_room_for, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(a_command_buffer_holds_the_one_list_in_it, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests_name("command_buffer", tests, NULL, NULL);
}
