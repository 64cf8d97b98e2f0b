/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The objects behind the handles. A handle is a number (a tag, the kind, how often its slot was used, the slot), so a
 * handle that was destroyed, or is of another kind, is always known as such. It is no address that could be read.
 */
#ifndef LEAT_TESTS_NULLDRIVER_OBJECTS_H_
#define LEAT_TESTS_NULLDRIVER_OBJECTS_H_

#include <stddef.h>

#include "nulldriver/driver.h"

/** First member of every object. Guarded by the driver's lock, as all members of objects are unless said otherwise. */
typedef struct nd_object {
  nulldriver_kind kind;
  uint32_t in_flight; /**< submissions that use it and have not completed */
  bool destroyed;     /**< its handle is dead; it lives until nothing in flight uses it */
  uint64_t handle;
  struct nd_device *device; /**< NULL for instance and device */
} nd_object;

#define ND_QUEUES_MAX 16
#define ND_LAYOUT_MAX 8u
#define ND_UNIFORM_ALIGNMENT 64u

typedef struct nd_instance {
  nd_object object;
} nd_instance;

typedef struct nd_job nd_job;

typedef struct nd_queue {
  nd_object object;
  nd_job *first, *last; /**< submissions that have not completed, in order */
  bool running;         /**< some thread executes the first one */
  bool has_thread;
  pthread_t thread;
} nd_queue;

typedef struct nd_device {
  nd_object object;
  nd_object *instance;
  nulldriver_shape shape; /**< constant */
  uint32_t family;        /**< constant: of its queues */
  uint32_t queue_count;   /**< constant */
  nd_queue *queues[ND_QUEUES_MAX];
  bool host_query_reset;  /**< constant: the feature is enabled */
  struct nd_device *next; /**< live devices */
  bool lost;
  bool ending; /**< its threads are to end */
} nd_device;

typedef struct nd_memory {
  nd_object object;
  uint64_t size;
  uint32_t type, heap;
  bool addressable; /**< allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT */
  bool mapped;
  unsigned char *data;  /**< constant; the bytes are the device's and the host's */
  unsigned char *taken; /**< constant: what was allocated for `data`, unless it is shared */
  bool shared;          /**< constant: `data` is shared bytes (sharing.h) */
  int fd;               /**< constant: what it is shared by, if it was made to be; else -1 */
} nd_memory;

typedef struct nd_buffer {
  nd_object object;
  uint64_t size;
  VkBufferUsageFlags usage;
  uint64_t memory; /**< handle; 0: not bound */
  nd_memory *home; /**< valid while `memory` is */
  uint64_t offset;
  VkDeviceAddress address;
  struct nd_buffer *next, *previous; /**< live buffers with an address */
} nd_buffer;

typedef struct nd_shader_module {
  nd_object object;
  const uint32_t *code; /**< as given: told to kernels, never read after the creation */
  uint64_t hash;        /**< of the code */
} nd_shader_module;

typedef struct nd_layout {
  nd_object object;
  uint32_t count;                        /**< bindings of a set layout, sets of a pipeline layout */
  VkDescriptorType types[ND_LAYOUT_MAX]; /**< of a set layout, by binding */
  uint64_t sets[ND_LAYOUT_MAX];          /**< of a pipeline layout: handles of set layouts */
} nd_layout;

typedef struct nd_pipeline_cache {
  nd_object object;
  uint64_t *known; /**< hashes of code and constants of the pipelines that it knows */
  uint32_t count, capacity;
} nd_pipeline_cache;

typedef struct nd_pipeline {
  nd_object object;
  bool cached; /**< a pipeline cache was given when it was created */
  const uint32_t *code;
  uint32_t constants_size;
  uint32_t constants[64];
} nd_pipeline;

typedef struct nd_descriptor_set nd_descriptor_set;

typedef struct nd_descriptor_pool {
  nd_object object;
  uint32_t max_sets, set_count;
  nd_descriptor_set *sets;
} nd_descriptor_pool;

struct nd_descriptor_set {
  nd_object object;
  nd_descriptor_set *next;
  nd_descriptor_pool *pool;
  bool dynamic;    /**< binding 0 has a dynamic offset */
  uint64_t buffer; /**< handle of the buffer in binding 0; 0: never written */
  uint64_t offset;
  uint64_t range;
};

typedef enum nd_command_kind {
  ND_COPY,
  ND_FILL,
  ND_DISPATCH,
  ND_TIMESTAMP,
  ND_RESET_QUERIES,
  ND_COPY_QUERIES,
} nd_command_kind;

/** A recorded command. Handles, which are resolved at submission: what they name may be destroyed by then. */
typedef struct nd_command {
  nd_command_kind kind;
  uint64_t from, to;   /**< COPY, FILL: buffers; DISPATCH: pipeline and set; queries: pool in `to`, COPY_QUERIES: buffer
                          in   `from` */
  VkBufferCopy region; /**< FILL: dstOffset and size; DISPATCH: srcOffset is the dynamic offset; COPY_QUERIES:
                          dstOffset, and size from one to the next */
  uint32_t data;       /**< FILL: the pattern */
  uint32_t groups[3];  /**< DISPATCH; queries: first and count */
  /* While in flight; NULL where the command cannot be executed. */
  nd_object *source, *target; /**< the objects of `from` and `to` */
  nd_buffer *uniform;         /**< DISPATCH: the set's buffer; COPY_QUERIES: the one of `from` */
  uint64_t offset, range;     /**< DISPATCH: of the argument record in it */
} nd_command;

typedef enum nd_command_state { ND_INITIAL, ND_RECORDING, ND_EXECUTABLE, ND_PENDING, ND_SPENT } nd_command_state;

typedef struct nd_command_pool nd_command_pool;

typedef struct nd_command_buffer {
  nd_object object;
  struct nd_command_buffer *next;
  nd_command_pool *pool;
  nd_command_state state;
  bool one_time;
  uint64_t pipeline, set; /**< bound while recording */
  uint32_t set_offset;
  uint32_t count, capacity;
  nd_command *commands; /**< stable while in flight */
} nd_command_buffer;

struct nd_command_pool {
  nd_object object;
  VkCommandPoolCreateFlags flags;
  nd_command_buffer *buffers;
};

typedef struct nd_counter {
  uint64_t value;    /**< reached */
  uint64_t promised; /**< highest that a submission will signal */
} nd_counter;

typedef struct nd_semaphore {
  nd_object object;
  nd_counter own;      /**< of one that is not shared */
  nd_counter *counter; /**< `own`, or shared bytes (sharing.h) */
  bool binary;         /**< can become a sync file; 1 is signalled, and only one submission may signal it */
  /** Binary: of the sync file that it became, this driver's own; -1: it has not, or that is signalled. Timeline: what
   * it is shared by, if it was made to be; else -1. */
  int fd;
} nd_semaphore;

typedef enum nd_query_state { ND_QUERY_UNKNOWN, ND_QUERY_RESET, ND_QUERY_WRITTEN } nd_query_state;

typedef struct nd_query {
  nd_query_state state;
  uint32_t in_flight;
  uint64_t value;
} nd_query;

typedef struct nd_query_pool {
  nd_object object;
  uint32_t count;
  nd_query *queries;
} nd_query_pool;

/** Makes an object of `size` bytes, zeroed but for its head; NULL when slots or memory run out. Lock held. */
void *nd_object_create(nulldriver_kind kind, size_t size, nd_device *device);
/** Ends a handle: notes a violation if it is in flight. The object goes once nothing in flight uses it. Lock held. */
void nd_object_destroy(const char *function, nd_object *object);
/** The object of a handle; NULL, with a violation, if it is dead or of another kind. Lock held. */
void *nd_object_find(const char *function, nulldriver_kind kind, uint64_t handle);
/** As above, for a call that changes the object: the thread sanitizer sees it as a write. */
void *nd_object_find_to_change(const char *function, nulldriver_kind kind, uint64_t handle);
/** As nd_object_find(), without a violation. Lock held. */
void *nd_object_peek(nulldriver_kind kind, uint64_t handle);
/** Whether submissions in flight use the object. On a lost device nothing is in flight any more, even where a thread is
 * still to let go of it. Lock held. */
bool nd_object_in_use(const nd_object *object);
/** One more or one less submission uses the object. Lock held. */
void nd_object_use(nd_object *object);
void nd_object_unuse(nd_object *object);
/** Lets guarding a handle guard another one in its place: a command buffer's pool. Lock held. */
void nd_object_set_guard(nd_object *object, const nd_object *guard);
/** Objects of a device that are alive, by kind; their handles end. Lock held. */
void nd_objects_end(const char *function, const nd_device *device);
const char *nd_kind_name(nulldriver_kind kind);

/** Marks a handle as used by this thread alone; true unless it is no live handle, or another thread does so too, which
 * is a violation. Lock not held. Ends with nd_guard_leave(), if true. */
bool nd_guard_enter(const char *function, uint64_t handle, uint32_t *out_slot);
void nd_guard_leave(uint32_t slot);

/** Frees what an object holds beside its struct. In the file of its noun. */
void nd_memory_finish(nd_memory *memory);
void nd_buffer_finish(nd_buffer *buffer);
void nd_command_buffer_finish(nd_command_buffer *commands);
void nd_query_pool_finish(nd_query_pool *pool);
void nd_semaphore_finish(nd_semaphore *semaphore);
void nd_pipeline_cache_finish(nd_pipeline_cache *cache);

/** A handle of the API as a number and back. */
#define ND_NUMBER(handle) ((uint64_t)(uintptr_t)(handle))
#define ND_HANDLE(type, object_) ((type)(uintptr_t)(object_)->object.handle)

#endif /* LEAT_TESTS_NULLDRIVER_OBJECTS_H_ */
