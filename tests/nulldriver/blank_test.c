/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers that lack a function, whose function does nothing and answers 0, or of which none does anything: opening the
 * device is an error that names what is missing, again and again, or what is left of the driver is used as far as it
 * goes. Each in a process of its own, because a plugin looks for an instance's functions once. */
#include "unit_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/vulkan.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

/* Seconds that a process may take: without the driver's work it ends at once, or after WAIT_NS. */
#define PATIENCE_S 60
#define WAIT_NS 50000000

/* Functions without which nothing runs, and what the error says where they do nothing. */
static const struct {
  const char *function, *said;
} needed[] = {
    {"vkCreateInstance", "vkCreateInstance gives no instance"},
    {"vkEnumerateInstanceVersion", "speaks Vulkan 1.0"},
    {"vkEnumeratePhysicalDevices", "offer no device"},
    {"vkGetPhysicalDeviceProperties2", "lacks Vulkan 1.2 (it has 0.0)"},
    {"vkGetPhysicalDeviceFeatures2", "lacks shaderInt64"},
    {"vkGetPhysicalDeviceMemoryProperties2", "lacks memory of the device, memory that the host sees"},
    {"vkGetPhysicalDeviceQueueFamilyProperties", "lacks a queue for compute"},
    {"vkCreateDevice", "vkCreateDevice gives no device"},
    {"vkGetDeviceQueue", "vkGetDeviceQueue gives no queue 0"},
    {"vkGetBufferMemoryRequirements", "vkGetBufferMemoryRequirements says that a buffer of "},
    {"vkGetBufferDeviceAddress", "vkGetBufferDeviceAddress says that a buffer of "},
    {"vkBindBufferMemory", "vkGetBufferDeviceAddress says that a buffer of "},
    {"vkCreateBuffer", "vkGetBufferMemoryRequirements says that a buffer of "},
    {"vkQueueSubmit", "the work has not finished after "},
    {"vkGetSemaphoreCounterValue", "the work has not finished after "},
    {"vkMapMemory", "vkMapMemory for staging failed: VK_ERROR_MEMORY_MAP_FAILED"},
};

/* What is said if a function does nothing; NULL: that is not told. */
static const char *said_by(const char *function) {
  const char *said = NULL;
  for (size_t n = 0; n < sizeof(needed) / sizeof(needed[0]); ++n) {
    said = strcmp(needed[n].function, function) == 0 ? needed[n].said : said;
  }
  return said;
}

/* What a child tells: the status of opening the device, and the message of that or of what failed first later. */
typedef struct answer {
  int32_t status;
  char message[512];
} answer;

/* Opens the device of a driver that was changed; where that works, uses it. */
static answer use_driver(void) {
  leat_error said = {.struct_size = sizeof(said)}, again = {.struct_size = sizeof(again)};
  answer a = {.status = host_open(&h, &said)};
  (void)snprintf(a.message, sizeof(a.message), "%.500s", said.message);
  if (a.status != LEAT_OK) {
    /* The same again: nothing half-made is left. */
    if (host_open(&h, &again) != a.status || strcmp(said.message, again.message) != 0) {
      a.status = -1;
    }
    return a;
  }
  static blocks t;
  leat_stream *stream = NULL;
  leat_event *event = NULL;
  const DLTensor in = host_tensor(t.in, &count), out = host_tensor(t.out, &count);
  int32_t status = h.api->stream->create(h.device, 0, &stream, &said);
  status = status == LEAT_OK ? h.api->event->create(h.device, 0, &event, &said) : status;
  status = status == LEAT_OK ? h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.a, &said) : status;
  const DLTensor there = device_tensor(t.a, &count);
  status = status == LEAT_OK ? h.api->memory->copy(stream, &in, &there, &said) : status;
  status = status == LEAT_OK ? h.api->memory->copy(stream, &there, &out, &said) : status;
  status = status == LEAT_OK ? h.api->event->record(event, stream, &said) : status;
  status = status == LEAT_OK ? h.api->event->wait(event, WAIT_NS, &said) : status;
  if (status != LEAT_OK) {
    (void)snprintf(a.message, sizeof(a.message), "%.500s", said.message);
  }
  return a;
}

static answer in_child(const char *function, bool missing) {
  answer a = {.status = -1};
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)alarm(PATIENCE_S);
    nulldriver_reset();
    (void)nulldriver_blank(function, missing);
    a = use_driver();
    _exit(write(ends[1], &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
  }
  int ended;
  assert_int_equal(close(ends[1]), 0);
  if (read(ends[0], &a, sizeof(a)) != (ssize_t)sizeof(a)) {
    a.status = -1;
  }
  assert_int_equal(close(ends[0]), 0);
  assert_int_equal(waitpid(child, &ended, 0), child);
  if (ended != 0 || a.status == -1) {
    fail_msg("%s, %s: ended with %#x, and said \"%s\"", function != NULL ? function : "all",
             missing ? "missing" : "blank", (unsigned)ended, a.message);
  }
  return a;
}

/* Whether the plugin opens no device without a function, whose name the error says. */
static bool is_used(const char *function) {
  static const char *const names[] = {
#define NAME(name) "vk" #name,
      LEATI_VK_INSTANCE_FUNCTIONS(NAME) LEATI_VK_DEVICE_FUNCTIONS(NAME)
#undef NAME
      /* Those of what the driver says that it has. */
      "vkCreateInstance",
      "vkGetCalibratedTimestampsEXT", "vkGetSemaphoreFdKHR", "vkImportSemaphoreFdKHR"};
  bool used = false;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    used = used || strcmp(names[i], function) == 0;
  }
  return used;
}

static void a_driver_without_a_function_is_refused_or_does_without(void **state) {
  (void)state;
  bool can_fail;
  for (uint32_t i = 0; nulldriver_function(i, &can_fail) != NULL; ++i) {
    const char *const function = nulldriver_function(i, &can_fail);
    const answer a = in_child(function, true);
    const char *const expected = is_used(function) ? function : said_by(function);
    if (expected != NULL ? strstr(a.message, expected) == NULL : a.status != LEAT_OK) {
      fail_msg("without %s: %d, \"%s\"", function, a.status, a.message);
    }
  }
}

static void a_function_that_does_nothing_is_told_or_does_no_harm(void **state) {
  (void)state;
  bool can_fail;
  for (uint32_t i = 0; nulldriver_function(i, &can_fail) != NULL; ++i) {
    const char *const function = nulldriver_function(i, &can_fail);
    const answer a = in_child(function, false);
    const char *const expected = said_by(function);
    if (expected != NULL && strstr(a.message, expected) == NULL) {
      fail_msg("%s does nothing: %d, \"%s\"", function, a.status, a.message);
    }
  }
}

static void a_driver_of_which_nothing_works_is_told(void **state) {
  (void)state;
  assert_non_null(strstr(in_child(NULL, false).message, "speaks Vulkan 1.0"));
  assert_non_null(strstr(in_child(NULL, true).message, "lacks vkCreateInstance"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_driver_without_a_function_is_refused_or_does_without),
      cmocka_unit_test(a_function_that_does_nothing_is_told_or_does_no_harm),
      cmocka_unit_test(a_driver_of_which_nothing_works_is_told),
  };
  return cmocka_run_group_tests_name("nulldriver.blank", tests, NULL, NULL);
}
