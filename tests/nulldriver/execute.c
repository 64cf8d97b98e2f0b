/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device does when a submission runs. */
#include <string.h>

#include "nulldriver/instance.h"
#include "nulldriver/queue.h"
#include "nulldriver/races.h"

/* Bytes of an argument record that the device reads at most. */
#define RECORD_MAX 16384

/* The bytes of a buffer, which is bound and in use. */
static unsigned char *bytes_of(const nd_buffer *buffer, uint64_t offset) {
  return buffer->home->data + buffer->offset + offset;
}

static void copy(const nd_command *command) {
  unsigned char *const to = bytes_of((const nd_buffer *)command->target, command->region.dstOffset);
  const unsigned char *const from = bytes_of((const nd_buffer *)command->source, command->region.srcOffset);
  const uint64_t size = command->region.size;
  nd_races_seen();
  memcpy(to, from, size);
  nd_races_unseen();
}

static void fill(const nd_command *command) {
  unsigned char *const to = bytes_of((const nd_buffer *)command->target, command->region.dstOffset);
  const uint64_t size = command->region.size;
  const uint32_t data = command->data;
  nd_races_seen();
  for (uint64_t i = 0; i < size; i += sizeof(data)) {
    memcpy(to + i, &data, sizeof(data));
  }
  nd_races_unseen();
}

static void dispatch(const nd_command *command) {
  const nd_pipeline *const pipeline = (const nd_pipeline *)command->source;
  const uint32_t size = command->range < RECORD_MAX ? (uint32_t)command->range : RECORD_MAX;
  const unsigned char *const from = bytes_of(command->uniform, command->offset);
  unsigned char record[RECORD_MAX];
  nd_lock();
  const nulldriver_kernel kernel = nd_set.kernel;
  void *const user = nd_set.kernel_user;
  nd_unlock();
  const nulldriver_dispatch told = {.code = pipeline->code,
                                    .constants = pipeline->constants,
                                    .constants_size = pipeline->constants_size,
                                    .cached = pipeline->cached,
                                    .arguments = record,
                                    .arguments_size = size,
                                    .groups = {command->groups[0], command->groups[1], command->groups[2]}};
  nd_races_seen();
  memcpy(record, from, size);
  if (kernel != NULL) {
    kernel(&told, user);
  }
  nd_races_unseen();
}

static void queries(const nd_command *command) {
  nd_query_pool *const pool = (nd_query_pool *)command->target;
  nd_lock();
  for (uint32_t i = 0; i < command->groups[1]; ++i) {
    nd_query *const query = &pool->queries[command->groups[0] + i];
    if (command->kind == ND_RESET_QUERIES) {
      query->state = ND_QUERY_RESET;
      continue;
    }
    if (query->state != ND_QUERY_RESET) {
      nd_violation("vkCmdWriteTimestamp", "query %u is written without a reset before", command->groups[0] + i);
    }
    query->value = nd_device_clock();
    query->state = ND_QUERY_WRITTEN;
  }
  nd_unlock();
}

static void copy_queries(const nd_command *command) {
  const nd_query_pool *const pool = (const nd_query_pool *)command->target;
  for (uint32_t i = 0; i < command->groups[1]; ++i) {
    nd_lock();
    const nd_query query = pool->queries[command->groups[0] + i];
    if (query.state != ND_QUERY_WRITTEN) {
      nd_violation("vkCmdCopyQueryPoolResults", "query %u is waited for and nothing writes it", command->groups[0] + i);
    }
    nd_unlock();
    unsigned char *const to = bytes_of(command->uniform, command->region.dstOffset + command->region.size * i);
    nd_races_seen();
    memcpy(to, &query.value, sizeof(query.value));
    nd_races_unseen();
  }
}

void nd_job_execute(const nd_job *job) {
  for (uint32_t i = 0; i < job->buffer_count; ++i) {
    const nd_command_buffer *const commands = job->buffers[i];
    for (uint32_t j = 0; j < commands->count; ++j) {
      const nd_command *const command = &commands->commands[j];
      if (command->target == NULL) {
        continue;
      }
      switch (command->kind) {
        case ND_COPY:
          copy(command);
          break;
        case ND_FILL:
          fill(command);
          break;
        case ND_DISPATCH:
          dispatch(command);
          break;
        case ND_TIMESTAMP:
        case ND_RESET_QUERIES:
          queries(command);
          break;
        case ND_COPY_QUERIES:
          copy_queries(command);
          break;
      }
    }
  }
}
