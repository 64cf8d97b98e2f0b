/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The contract between a host and a Leat backend. It is the only thing that both sides share.
 *
 * A backend is a shared library that exports one function, leat_backend_query(). The host opens the library, calls the
 * function once with the range of ABI versions it speaks, and gets a table of tables: device, memory, stream, event,
 * op, pool, graph, profiler, external. Tensors cross the line as DLPack views. The library is never unmapped.
 *
 * **In order of use.** device: open(); stream: create(); memory: alloc() and copy(); op: create() and invoke(); copy()
 * back; stream: synchronize(). `examples/add.c` does just this. A host need not load the library itself:
 * leat_host_load() of `leat/host.h` does. A backend begins as a copy of `conformance/template/template.c`, and
 * `leat-conformance` judges it.
 *
 * **Thread rules.** Every function states one:
 * - `@threads any`: any thread, at any time, also at once with itself on the same objects. Two threads that use one
 *   stream interleave whole calls.
 * - `@threads owner`: any thread, but no other call may use or be using the object that this call destroys.
 *
 * **Ownership.** Every pointer argument carries one tag: `[in]` is borrowed until the function returns, `[out]` is
 * written by the function, `[inout]` both, `[owned]` passes to the callee when the function returns LEAT_OK (and stays
 * with the caller otherwise). Strings that the backend hands out are constants that live as long as the process.
 *
 * **Errors.** Every function that can fail returns an `int32_t`: LEAT_OK or one of the LEAT_ERROR_* codes, and takes a
 * last argument `err`, which may be NULL. `@errors` lists the codes that a function gives beside those that every
 * function may give: LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_FORKED and LEAT_ERROR_INTERNAL. A code unknown to the
 * caller is a failure. Work runs later than the call that asked for it; its failures are *sticky*: every later wait or
 * query that covers the work returns the first one, on whichever thread, until leat_stream_api::clear_error.
 *
 * **Growth.** Every struct begins with `struct_size`, set by whoever fills the struct in. Structs grow at the end only.
 * A reader accepts a struct that is longer than the one it knows if the part it does not know is zero. Reserved fields
 * are zero and are checked. A slot (a function of a table) or a table that is marked optional may be NULL, no other.
 *
 * A table that comes with a later version is optional. It gets the next place at the end of leat_backend_api; a host
 * looks there only if leat_backend_api::struct_size reaches so far and `abi_version` is at least that later one.
 *
 * New numbers may come at any time: bits of a set (element types, capabilities), attribute types, status codes. To a
 * reader that does not know one it is something that cannot be used: a bit that is told is ignored, a flag that is
 * asked for is refused, a tensor of an element type and an attribute of a type that are not known are refused.
 *
 * **fork().** A child of fork() cannot use the backend: every call there fails with LEAT_ERROR_FORKED. The parent goes
 * on. exit() in the child may skip the exit handlers that were registered before the backend's own: those of drivers
 * come among them, and would wait for threads that the child lacks. A child that was made before the parent's first
 * call is a process like any other.
 *
 * **Threads that end.** No function is a cancellation point: a thread that is cancelled inside of one dies after it. A
 * thread may end, also by cancellation, with work open or in flight.
 *
 * **Processes that end.** A process may call exit() while threads are inside of functions of the backend. An exit
 * handler of the backend holds each of them for good, there or at its next call, waits at most two seconds for those on
 * their way, and frees nothing; so no later handler or destructor may wait for a thread that uses the backend. From
 * then on, on the thread that ends the process, functions that release something (close, destroy, free, release,
 * release_current, shutdown, the deleters of tensors) return LEAT_OK and do nothing, and all others fail with
 * LEAT_ERROR_UNAVAILABLE. Exit handlers and destructors that were registered after the first work on a device had
 * finished run before that, and find the backend whole.
 */
#ifndef LEAT_BACKEND_H_
#define LEAT_BACKEND_H_

#include <leat/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define LEAT_EXPORT __declspec(dllexport)
#else
#define LEAT_EXPORT __attribute__((visibility("default")))
#endif

/* ---- Versions ------------------------------------------------------------------------------------------------- */

/** An ABI version as one number that compares: major in the upper 16 bits, minor in the lower. */
#define LEAT_ABI_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define LEAT_ABI_MAJOR(version) ((uint32_t)(version) >> 16)
#define LEAT_ABI_MINOR(version) ((uint32_t)(version)&0xffffu)
#define LEAT_ABI_1_0 LEAT_ABI_VERSION(1, 0)
#define LEAT_ABI_1_1 LEAT_ABI_VERSION(1, 1)
/** The version that this header describes. */
#define LEAT_ABI_CURRENT LEAT_ABI_1_1

/** The one symbol that a backend exports, for dlsym(). */
#define LEAT_BACKEND_QUERY_SYMBOL "leat_backend_query"

/* ---- Status ----------------------------------------------------------------------------------------------------- */

#define LEAT_OK 0                     /**< done */
#define LEAT_ERROR_INVALID_ARGUMENT 1 /**< an argument breaks the contract; nothing happened */
#define LEAT_ERROR_NOT_SUPPORTED 2    /**< legal, but this backend or device cannot do it */
#define LEAT_ERROR_OUT_OF_MEMORY 3    /**< host or device memory is exhausted; nothing happened */
#define LEAT_ERROR_DEVICE_LOST 4      /**< the device is gone; everything outstanding on it has failed */
#define LEAT_ERROR_TIMEOUT 5          /**< the time given to a wait has passed; nothing changed */
#define LEAT_ERROR_NOT_READY 6        /**< what was asked about has not finished yet */
#define LEAT_ERROR_VERSION 7          /**< no common ABI version; the message holds both ranges */
#define LEAT_ERROR_UNAVAILABLE 8      /**< no usable device or driver; the message says why */
#define LEAT_ERROR_EXHAUSTED 9        /**< a bounded resource, such as the pool of streams, is all taken */
#define LEAT_ERROR_FORKED 10          /**< called in a child of fork(), where the backend cannot work */
#define LEAT_ERROR_BUSY 11            /**< an object is in use and cannot go yet */
#define LEAT_ERROR_INTERNAL 12        /**< a driver or the backend misbehaved; the message says where */
#define LEAT_ERROR_CORRUPTED 13       /**< memory outside a block was written; found only where guarding is on */

#define LEAT_ERROR_MESSAGE_SIZE 1008

/** Where a failing call says what went wrong. Owned by the caller, who sets `struct_size` and may leave the rest as it
 * is. A call that succeeds leaves it as it is, or sets `code` to LEAT_OK. */
typedef struct leat_error {
  uint32_t struct_size;                  /**< sizeof(leat_error) */
  int32_t code;                          /**< the LEAT_ERROR_* code that the call returned */
  int32_t native_code;                   /**< the code of the layer below (a VkResult, an errno), or 0 */
  uint32_t reserved;                     /**< zero */
  char message[LEAT_ERROR_MESSAGE_SIZE]; /**< UTF-8, always terminated, cut if too long */
} leat_error;

/* ---- Objects ---------------------------------------------------------------------------------------------------- */

typedef struct leat_device leat_device;       /**< an open device */
typedef struct leat_stream leat_stream;       /**< an ordered list of work on a device */
typedef struct leat_event leat_event;         /**< a point in a stream */
typedef struct leat_op leat_op;               /**< an operator with its attributes, ready to run; immutable */
typedef struct leat_graph leat_graph;         /**< several operators as one call, ready to run; immutable */
typedef struct leat_semaphore leat_semaphore; /**< a timeline semaphore of another API or device object */

/* ---- Query ------------------------------------------------------------------------------------------------------ */

/** What the host says of itself. */
typedef struct leat_host_info {
  uint32_t struct_size;    /**< sizeof(leat_host_info) */
  uint32_t abi_min;        /**< lowest LEAT_ABI_VERSION that the host can use */
  uint32_t abi_max;        /**< highest LEAT_ABI_VERSION that the host can use */
  uint32_t header_version; /**< LEAT_ABI_CURRENT of the header the host was built with */
  const char *name;        /**< the host's name, for messages; may be NULL */
  uint64_t reserved[4];    /**< zero */
} leat_host_info;

struct leat_device_api;
struct leat_memory_api;
struct leat_stream_api;
struct leat_event_api;
struct leat_op_api;
struct leat_graph_api;
struct leat_pool_api;
struct leat_profiler_api;
struct leat_external_api;
struct leat_graph_desc;

/** The table of tables. Constant; lives as long as the process. */
typedef struct leat_backend_api {
  uint32_t struct_size;                     /**< size that the backend filled in */
  uint32_t abi_version;                     /**< the version both sides agreed on */
  uint32_t header_version;                  /**< LEAT_ABI_CURRENT of the header the backend was built with */
  uint32_t reserved;                        /**< zero */
  const char *name;                         /**< short name, such as "vulkan" */
  const char *version;                      /**< version of the implementation (semantic versioning) */
  const char *build_id;                     /**< what exactly was built: commit and a digest of local changes */
  uint64_t capabilities;                    /**< LEAT_CAPABILITY_* */
  const struct leat_device_api *device;     /**< required */
  const struct leat_memory_api *memory;     /**< required */
  const struct leat_stream_api *stream;     /**< required */
  const struct leat_event_api *event;       /**< required */
  const struct leat_op_api *op;             /**< required */
  const struct leat_pool_api *pool;         /**< optional */
  const struct leat_graph_api *graph;       /**< optional */
  const struct leat_profiler_api *profiler; /**< optional */
  const struct leat_external_api *external; /**< optional */
  /** Frees what the backend holds while no device is open. A later call of any slot starts it again.
   * @threads any
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_BUSY: a device is still open */
  int32_t (*shutdown)(leat_error *err);
  /** Sets what an environment variable of the backend sets otherwise, and beats it. Valid until it is set again, also
   * over shutdown(). Settings are listed by leat_device_api::report() as "config." and the variable.
   * @threads any
   * @param name [in] the variable, such as "LEAT_LANES"
   * @param value [in] as the variable would hold it; copied; NULL: the environment counts again
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: no such setting; LEAT_ERROR_BUSY: a device is open or devices were counted
   *   already, since the last shutdown() */
  int32_t (*configure)(const char *name, const char *value, leat_error *err);
} leat_backend_api;

#define LEAT_CAPABILITY_EVENT_TIMING (UINT64_C(1) << 0) /**< events can be created with LEAT_EVENT_TIMING */
#define LEAT_CAPABILITY_HOST_MEMORY (UINT64_C(1) << 1)  /**< leat_memory_api has alloc_host() and free_host() */

/** Negotiates an ABI version, the highest that both sides know, and gives the table. May be called often; touches no
 * device and no driver.
 * @threads any
 * @param host [in] the host's range of versions
 * @param out [out] the table; NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_VERSION: no version in common */
typedef int32_t (*leat_backend_query_fn)(const leat_host_info *host, const leat_backend_api **out, leat_error *err);

/** The exported function of type leat_backend_query_fn.
 * @threads any
 * @param host [in] the host's range of versions
 * @param out [out] the table; NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_VERSION: no version in common */
LEAT_EXPORT int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err);

/* ---- Devices ---------------------------------------------------------------------------------------------------- */

#define LEAT_DEVICE_SOFTWARE (UINT64_C(1) << 0)       /**< runs on the CPU */
#define LEAT_DEVICE_UNIFIED_MEMORY (UINT64_C(1) << 1) /**< device memory is host memory */

/** A usable device. */
typedef struct leat_device_info {
  uint32_t struct_size;         /**< sizeof(leat_device_info) */
  uint32_t index;               /**< its number: argument of open(), `device_id` in its tensors */
  uint32_t vendor_id;           /**< PCI vendor, or the vendor's Khronos id */
  uint32_t device_id;           /**< PCI device, or the vendor's own number */
  uint64_t flags;               /**< LEAT_DEVICE_* */
  uint64_t memory_size;         /**< bytes of device memory */
  uint64_t max_allocation_size; /**< bytes of the largest single allocation */
  uint8_t uuid[16];             /**< stable across processes and reboots */
  uint8_t driver_uuid[16];      /**< of the driver's build: who has both in common can share memory */
  char name[256];               /**< as the driver gives it */
  char driver[256];             /**< driver name and version */
  char pci_bus_id[32];          /**< "dddd:bb:dd.f", or empty */
} leat_device_info;

/** One line of a report about the system, for people and for `leat-info`. */
typedef struct leat_property {
  uint32_t struct_size; /**< sizeof(leat_property) */
  int32_t device;       /**< index of a usable device, -1: the whole system, -2 and below: unusable devices */
  char name[64];        /**< words with dots, such as "memory.size"; a setting is "config." and its variable */
  char value[256];      /**< text */
} leat_property;

/** Finding and opening devices. */
typedef struct leat_device_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Counts the usable devices, best first. None is not a failure: `*out_count` is 0, the result LEAT_OK, and
   * `err->message` says why.
   * @threads any
   * @param out_count [out] number of usable devices
   * @param err [out] what went wrong, or why there is none; may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*count)(uint32_t *out_count, leat_error *err);
  /** Describes usable device `index`.
   * @threads any
   * @param index number below count()
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_UNAVAILABLE: there is no such device */
  int32_t (*info)(uint32_t index, leat_device_info *out, leat_error *err);
  /** Lists properties of the system and of all devices, also of those that are unusable, with the reason.
   * @threads any
   * @param inout_count [inout] capacity of `out` in, number of properties out; a capacity too small is filled as far
   *   as it goes
   * @param out [out] elements with `struct_size` set by the caller; may be NULL when the capacity is 0
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*report)(uint32_t *inout_count, leat_property *out, leat_error *err);
  /** Opens a device. Opening it again gives the same device, counted.
   * @threads any
   * @param index number below count()
   * @param out [out] the device; release with close()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_UNAVAILABLE, LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*open)(uint32_t index, leat_device **out, leat_error *err);
  /** Closes a device. The last close waits for the device to be idle and frees what is left of its memory, streams,
   * events, operators and graphs; their handles are dead then.
   * @threads owner
   * @param device [in] an open device; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*close)(leat_device *device, leat_error *err);
  /** Flushes all streams of the device and waits for everything that was put into them before the call.
   * @threads any
   * @param device [in] an open device
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_CORRUPTED, and the sticky errors of the streams; where guarding is on
   *   also, once, what the work of streams that are gone has met */
  int32_t (*synchronize)(leat_device *device, leat_error *err);
} leat_device_api;

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* A device address is a 64-bit number (for Vulkan a VkDeviceAddress) that the host cannot read through. In a DLTensor
 * of device type kDLVulkan, which ABI 1.0 uses for the device of any backend, `data` is that number, `device_id` is
 * leat_device_info::index, and `data + byte_offset` is plain arithmetic: any address inside a block is good. A host
 * tensor has device type kDLCPU. NULL strides mean compact: row-major, without gaps.
 *
 * Elements of fewer than 8 bits (int4, uint4, int2, uint2, float4e2m1) are packed, as DLPack and ONNX have it: of a
 * tensor of b-bit elements in row-major order, element i is the b bits from bit `i * b % 8` on, counted from the
 * lowest, of byte `i * b / 8`; n elements take `(n * b + 7) / 8` bytes. Whoever fills a tensor in packs it: the host
 * before an upload, the operator its outputs; a copy moves bytes and packs nothing. Bits of the last byte that hold no
 * element are not looked at when read, and zero when an operator writes them. `byte_offset` counts bytes as ever, so
 * that element 0 begins at the lowest bit of a byte; `strides` count elements, and must be NULL or those of a compact
 * tensor. Tensors with one element a byte (DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) are not imported:
 * LEAT_ERROR_NOT_SUPPORTED.
 *
 * A backend need not hold every element type. What it does not hold is refused wherever a tensor of it is given, with
 * LEAT_ERROR_NOT_SUPPORTED and a message that names the type as LEAT_TYPE_* does, in capitals or not ("float4e2m1").
 * Bytes that only have to be kept can always be uint8. */

/** Figures of a device's memory. Bytes unless said otherwise; taken one by one, each exact. */
typedef struct leat_memory_stats {
  uint32_t struct_size;       /**< sizeof(leat_memory_stats) */
  uint32_t reserved;          /**< zero */
  uint64_t allocated_bytes;   /**< in blocks that the caller holds */
  uint64_t allocated_peak;    /**< highest value of allocated_bytes */
  uint64_t reserved_bytes;    /**< taken from the driver */
  uint64_t reserved_peak;     /**< highest value of reserved_bytes */
  uint64_t allocation_count;  /**< calls of alloc() that succeeded */
  uint64_t free_count;        /**< blocks freed */
  uint64_t driver_call_count; /**< allocations that went to the driver */
  uint64_t live_block_count;  /**< blocks that the caller holds now */
  uint64_t cached_bytes;      /**< of reserved_bytes, in no block that is held: free, or waiting for its last use */
  uint64_t staging_bytes;     /**< taken from the driver for copies and arguments, beside reserved_bytes */
  /** reserved_bytes, staging_bytes and host_reserved_bytes together are at most this: the high watermark */
  uint64_t limit_bytes;
  uint64_t reclaim_count; /**< times that cached memory was released to the driver because of the limit or a shortage */
  uint64_t host_allocated_bytes; /**< in blocks of alloc_host() that the caller holds; in no figure above */
  uint64_t host_reserved_bytes;  /**< taken from the driver for such blocks, beside reserved_bytes */
} leat_memory_stats;

/** Figures of one size class. */
typedef struct leat_memory_class {
  uint32_t struct_size;      /**< sizeof(leat_memory_class) */
  uint32_t reserved;         /**< zero */
  uint64_t block_size;       /**< bytes of a block; 0: the class of blocks that have each a size of its own */
  uint64_t live_count;       /**< blocks that the caller holds */
  uint64_t cached_count;     /**< blocks that were used and are free or wait for their last use */
  uint64_t reserved_bytes;   /**< taken from the driver */
  uint64_t allocation_count; /**< blocks handed out so far */
  uint64_t reuse_count;      /**< of these, such that were used before */
} leat_memory_class;

/** A view that import_dlpack() gives, with room for its shape and strides. */
typedef struct leat_view {
  uint32_t struct_size; /**< sizeof(leat_view) */
  uint32_t reserved;    /**< zero */
  DLTensor tensor;      /**< `shape` and `strides` point into this struct */
  int64_t shape[8];     /**< elements */
  int64_t strides[8];   /**< elements */
} leat_view;

/** Device memory, copies, and exchange of tensors. */
typedef struct leat_memory_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Allocates a block. With a stream, the block may be one that was freed on this stream and whose last use is still
   * in flight there: it is the caller's in stream order. Without one, no use of the block is pending.
   * @threads any
   * @param device [in] an open device
   * @param size bytes; 0 is legal and gives a block that may not be accessed
   * @param stream [in] the stream that will use the block first, or NULL
   * @param out_address [out] device address, aligned to 256 bytes; release with free()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY: also after unused memory was released to the driver */
  int32_t (*alloc)(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address, leat_error *err);
  /** Gives a block back, in any state of use: it is reused only once the work that was put into streams before this
   * call no longer needs it. Never waits.
   * @threads any
   * @param device [in] an open device
   * @param address what alloc() or leat_external_api::import_memory() gave; 0 does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_CORRUPTED: the block was freed, and something had written before its begin or behind its end */
  int32_t (*free)(leat_device *device, uint64_t address, leat_error *err);
  /** Says that a stream uses a block in a way that the backend cannot see, so that a later free() waits for what is in
   * the stream now.
   * @threads any
   * @param device [in] an open device
   * @param address any address inside a live block
   * @param stream [in] a stream of the device
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*record_stream)(leat_device *device, uint64_t address, leat_stream *stream, leat_error *err);
  /** Copies a tensor, in stream order: host to device, device to host or device to device. Both are compact and have
   * the same dtype and number of elements. A host source has been read when the call returns; a host destination holds
   * the bytes once a wait, a synchronisation or a positive query has covered the copy, and must stay valid until
   * then or until the stream and all events that cover the copy are destroyed (but see alloc_host()).
   * @threads any
   * @param stream [in] the stream
   * @param src [in] source
   * @param dst [in] destination; `data` is written later
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST */
  int32_t (*copy)(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err);
  /** Finds the live block that holds an address.
   * @threads any
   * @param device [in] an open device
   * @param address any device address
   * @param out_base [out] address of the block
   * @param out_size [out] bytes that were asked for
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_INVALID_ARGUMENT: no live block holds it */
  int32_t (*find)(leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size, leat_error *err);
  /** Reads the figures.
   * @threads any
   * @param device [in] an open device
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*stats)(leat_device *device, leat_memory_stats *out, leat_error *err);
  /** Reads the figures of the size classes that were ever used, smallest first.
   * @threads any
   * @param device [in] an open device
   * @param inout_count [inout] capacity of `out` in, number of classes out; a capacity too small is filled as far as it
   *   goes
   * @param out [out] elements with `struct_size` set by the caller; may be NULL when the capacity is 0
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*classes)(leat_device *device, uint32_t *inout_count, leat_memory_class *out, leat_error *err);
  /** Lets the peaks start again from the current values.
   * @threads any
   * @param device [in] an open device
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*reset_peaks)(leat_device *device, leat_error *err);
  /** Gives cached memory and staging that nothing uses back to the driver.
   * @threads any
   * @param device [in] an open device
   * @param out_released [out] bytes that were released, those of alloc_host() included; may be NULL
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*trim)(leat_device *device, uint64_t *out_released, leat_error *err);
  /** Makes a DLPack tensor of a view. The tensor shares the block: the block lives until free() was called and the
   * tensor's deleter was called, in either order; the deleter may be called from any thread.
   * @threads any
   * @param stream [in] the stream whose work so far the consumer must see
   * @param view [in] a device view inside one live block; shape and strides are copied
   * @param ready [in] an event that is recorded for the consumer to wait on; NULL: the call synchronises the stream
   * @param out [out] the tensor, always with strides; release with its deleter
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST */
  int32_t (*export_dlpack)(leat_stream *stream, const DLTensor *view, leat_event *ready, DLManagedTensorVersioned **out,
                           leat_error *err);
  /** Takes a DLPack tensor whose memory is a live block of this device (nothing is copied). On success the deleter has
   * been called or will be; the caller holds the block through the view and releases it with free() on
   * the block's address (see find()). Each import is owed a free() of its own, beside the one of whoever made the
   * block: one that was allocated here and imported twice is freed three times, in any order, and lives until the last.
   * @threads any
   * @param stream [in] the stream that will use the tensor; it waits for `ready`
   * @param managed [owned] the tensor; on failure it stays the caller's
   * @param ready [in] an event after which the contents are there; NULL: they are there
   * @param out [inout] `struct_size` in, the view out
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: another device, major version or a read-only flag */
  int32_t (*import_dlpack)(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out,
                           leat_error *err);
  /** As export_dlpack(), in the struct of DLPack before 1.0.
   * @threads any
   * @param stream [in] the stream whose work so far the consumer must see
   * @param view [in] a device view inside one live block; shape and strides are copied
   * @param ready [in] an event that is recorded for the consumer to wait on; NULL: the call synchronises the stream
   * @param out [out] the tensor; release with its deleter
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST */
  int32_t (*export_dlpack_unversioned)(leat_stream *stream, const DLTensor *view, leat_event *ready,
                                       DLManagedTensor **out, leat_error *err);
  /** As import_dlpack(), in the struct of DLPack before 1.0.
   * @threads any
   * @param stream [in] the stream that will use the tensor; it waits for `ready`
   * @param managed [owned] the tensor; on failure it stays the caller's
   * @param ready [in] an event after which the contents are there; NULL: they are there
   * @param out [inout] `struct_size` in, the view out
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: another device */
  int32_t (*import_dlpack_unversioned)(leat_stream *stream, DLManagedTensor *managed, leat_event *ready, leat_view *out,
                                       leat_error *err);
  /** Allocates memory of the host that the device writes to directly: what copy() and launch() download into a tensor
   * that lies in it as a whole is written there by the device, where into other memory of the host a thread that waits
   * copies it. Else it is memory of the host as any other: a tensor in it has device type kDLCPU, any thread reads and
   * writes it through the pointer, and what is uploaded from it has been read when the call returns. It is in use until
   * the work that downloads into it has run, also when the stream and all events are destroyed: before that it may be
   * freed, but not used for anything else. A child of fork() must not touch it. Optional; it and free_host() come with
   * LEAT_CAPABILITY_HOST_MEMORY.
   * @threads any
   * @param device [in] an open device
   * @param size bytes; 0 is legal and gives memory that may not be accessed
   * @param out_pointer [out] the memory, aligned to 64 bytes; release with free_host(); dead when the device is closed
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY: also after unused memory was released to the driver */
  int32_t (*alloc_host)(leat_device *device, uint64_t size, void **out_pointer, leat_error *err);
  /** Gives memory of alloc_host() back, in any state of use: it is reused, or released to the driver, only once the
   * work that was put into streams before this call no longer needs it. Never waits. Optional.
   * @threads any
   * @param device [in] an open device
   * @param pointer [in] what alloc_host() gave; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_CORRUPTED: the memory was freed, and something had written before its begin or behind its end */
  int32_t (*free_host)(leat_device *device, void *pointer, leat_error *err);
} leat_memory_api;

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

#define LEAT_STREAM_POOLED (UINT64_C(1) << 0) /**< one of the pool's: destroy() refuses it */
#define LEAT_STREAM_SHARED (UINT64_C(1) << 1) /**< the pool may give it to several threads at once */

/** What a stream is. */
typedef struct leat_stream_info {
  uint32_t struct_size; /**< sizeof(leat_stream_info) */
  int32_t pool_index;   /**< its number in the pool, or -1 */
  uint64_t flags;       /**< LEAT_STREAM_* */
  uint32_t lane;        /**< number of the hardware queue that its last submission went to */
  uint32_t reserved;    /**< zero */
} leat_stream_info;

/** Ordered lists of work. What is put into a stream is submitted to the device at the next flush, event record, wait or
 * synchronisation, or earlier if much has gathered. */
typedef struct leat_stream_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Makes a stream. Cheap: its resources come from a free list.
   * @threads any
   * @param device [in] an open device
   * @param flags zero
   * @param out [out] the stream; release with destroy()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*create)(leat_device *device, uint64_t flags, leat_stream **out, leat_error *err);
  /** Destroys a stream. What is in it is flushed and still runs; the call does not wait.
   * @threads owner
   * @param stream [in] the stream; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones; INVALID_ARGUMENT also for a stream of the pool */
  int32_t (*destroy)(leat_stream *stream, leat_error *err);
  /** Submits what is in the stream. Does not wait for it.
   * @threads any
   * @param stream [in] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY, and the sticky error of the stream */
  int32_t (*flush)(leat_stream *stream, leat_error *err);
  /** Flushes and waits for everything that is in the stream; downloads have arrived then.
   * @threads any
   * @param stream [in] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY, and the sticky error of the stream */
  int32_t (*synchronize)(leat_stream *stream, leat_error *err);
  /** Asks whether everything that is in the stream has finished; flushes it so that it will. On LEAT_OK downloads have
   * arrived.
   * @threads any
   * @param stream [in] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_READY, LEAT_ERROR_DEVICE_LOST, and the sticky error of the stream */
  int32_t (*query)(leat_stream *stream, leat_error *err);
  /** Makes later work of the stream wait, on the device, for what the event stands for now.
   * @threads any
   * @param stream [in] the stream that waits
   * @param event [in] an event of the same device; one never recorded is no wait
   * @param err [out] what went wrong, may be NULL
   * @errors the sticky error of the event, which becomes the stream's */
  int32_t (*wait_event)(leat_stream *stream, leat_event *event, leat_error *err);
  /** Gives the stream's sticky error without waiting.
   * @threads any
   * @param stream [in] the stream
   * @param err [out] the error, may be NULL
   * @errors the sticky error of the stream */
  int32_t (*error)(leat_stream *stream, leat_error *err);
  /** Forgets the stream's sticky error, so that new work can go in. Events recorded before keep it. A lost device stays
   * lost. Waits for what was put in before the failure and still runs; its downloads have arrived on LEAT_OK.
   * @threads any
   * @param stream [in] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY; the stream keeps its error then */
  int32_t (*clear_error)(leat_stream *stream, leat_error *err);
  /** Tells what a stream is.
   * @threads any
   * @param stream [in] the stream
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(leat_stream *stream, leat_stream_info *out, leat_error *err);
} leat_stream_api;

/* ---- The pool of streams ---------------------------------------------------------------------------------------- */

#define LEAT_POOL_ROUND_ROBIN (UINT64_C(1) << 0) /**< streams are shared: nobody waits, nobody is refused */

#define LEAT_POOL_TIMEOUT_CONFIGURED INT64_MIN /**< acquire() waits as the setting says */

/** What the pool of a device is doing. Taken one by one, each exact. */
typedef struct leat_pool_info {
  uint32_t struct_size;     /**< sizeof(leat_pool_info) */
  uint32_t stream_count;    /**< streams, number 0 included */
  uint64_t flags;           /**< LEAT_POOL_* */
  int64_t timeout_ms;       /**< the setting: milliseconds to wait for a stream, 0: not at all, -1: for ever */
  uint32_t held_count;      /**< streams that are taken now; of round-robin always 0 */
  uint32_t waiting_count;   /**< threads that wait for one */
  uint64_t acquire_count;   /**< streams given out so far */
  uint64_t exhausted_count; /**< times that none was to be had in time */
} leat_pool_info;

/** A pool of streams on each device, for hosts whose threads come and go. Stream 0 is the main thread's; the others are
 * given to worker threads on first use, and back when the thread ends, however it ends. Giving a stream back flushes
 * it, lets what is in flight go on, drops the downloads that no event covers (their destinations may go with the owner,
 * as when a stream is destroyed), and clears its sticky error. While none is free a thread waits, or fails with
 * LEAT_ERROR_EXHAUSTED, as the backend's setting says (for libleat_vulkan.so LEAT_STREAM_POOL_WAIT_TIMEOUT_MS); who
 * came first is served first. A thread that holds a stream and waits for another thread that needs one may wait for
 * ever if the timeout is -1: the other may never get one, so give the own one back first. A host that manages streams
 * of its own needs nothing of this. */
typedef struct leat_pool_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Takes a worker stream for the caller, who may hand it to any thread.
   * @threads any
   * @param device [in] an open device
   * @param timeout_ms milliseconds to wait; 0: not at all; -1: for ever; LEAT_POOL_TIMEOUT_CONFIGURED
   * @param out [out] the stream
   * @param out_ticket [out] what release() wants to see
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_EXHAUSTED: none came free in time; LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*acquire)(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket, leat_error *err);
  /** Releases a stream that acquire() gave.
   * @threads any
   * @param device [in] an open device
   * @param ticket what acquire() gave; a ticket serves once, and on its own device until that is closed. A ticket of a
   *   shared stream (LEAT_POOL_ROUND_ROBIN) holds nothing and may come again: all that release() does then is to flush
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*release)(leat_device *device, uint64_t ticket, leat_error *err);
  /** Gives a stream by its number, whoever has it. Takes nothing.
   * @threads any
   * @param device [in] an open device
   * @param index number below leat_pool_info::stream_count
   * @param out [out] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*stream)(leat_device *device, uint32_t index, leat_stream **out, leat_error *err);
  /** Gives the calling thread's current stream: the one that set_current() bound; else the thread's own, which it takes
   * on first use: stream 0 for the main thread, a worker stream for any other.
   * @threads any
   * @param device [in] an open device
   * @param out [out] the stream
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_EXHAUSTED: no stream came free in time; LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*current)(leat_device *device, leat_stream **out, leat_error *err);
  /** Binds a stream to the calling thread as its current one. Acquires, releases and transfers nothing: whoever holds
   * the stream goes on holding it, and the thread keeps its own.
   * @threads any
   * @param device [in] an open device
   * @param stream [in] any live stream of the device; NULL: the thread's own again. Must not be destroyed while bound:
   *   current() then fails
   * @param out_previous [out] what was bound before, or NULL if nothing was or it has been destroyed; may be NULL
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*set_current)(leat_device *device, leat_stream *stream, leat_stream **out_previous, leat_error *err);
  /** Gives the calling thread's own stream back before the thread ends, and unbinds what set_current() bound. Without
   * either it does nothing.
   * @threads any
   * @param device [in] an open device
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*release_current)(leat_device *device, leat_error *err);
  /** Tells what the pool is doing.
   * @threads any
   * @param device [in] an open device
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(leat_device *device, leat_pool_info *out, leat_error *err);
} leat_pool_api;

/* ---- Events ----------------------------------------------------------------------------------------------------- */

#define LEAT_EVENT_TIMING (UINT64_C(1) << 0) /**< elapsed() will be asked for */

/** Points in streams. */
typedef struct leat_event_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Makes an event. It stands for nothing, and counts as finished, until it is recorded.
   * @threads any
   * @param device [in] an open device
   * @param flags LEAT_EVENT_* bits
   * @param out [out] the event; release with destroy()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_NOT_SUPPORTED: a flag whose capability bit is clear, or that
   *   this device cannot do */
  int32_t (*create)(leat_device *device, uint64_t flags, leat_event **out, leat_error *err);
  /** Destroys an event, at any time: before what it stands for has finished, and after its stream is gone.
   * @threads owner
   * @param event [in] the event; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*destroy)(leat_event *event, leat_error *err);
  /** Lets the event stand for everything that is in the stream now, and flushes the stream. Recorded again, it
   * forgets what it stood for; waits that began before keep waiting for that.
   * @threads any
   * @param event [in] the event
   * @param stream [in] a stream of the same device
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY, and the sticky error of the stream */
  int32_t (*record)(leat_event *event, leat_stream *stream, leat_error *err);
  /** Asks whether what the event stands for has finished. On LEAT_OK downloads before it have arrived.
   * @threads any
   * @param event [in] the event
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_READY, LEAT_ERROR_DEVICE_LOST, and the sticky error of the event */
  int32_t (*query)(leat_event *event, leat_error *err);
  /** Waits on the host. On LEAT_OK downloads before it have arrived.
   * @threads any
   * @param event [in] the event
   * @param timeout_ns nanoseconds; 0 asks, -1 waits as long as it takes
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_TIMEOUT, LEAT_ERROR_DEVICE_LOST, and the sticky error of the event */
  int32_t (*wait)(leat_event *event, int64_t timeout_ns, leat_error *err);
  /** Gives the device time between two finished events that were created with LEAT_EVENT_TIMING. Optional.
   * @threads any
   * @param start [in] the earlier event
   * @param end [in] the later event
   * @param out_ns [out] nanoseconds
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_READY, and the sticky errors of the events */
  int32_t (*elapsed)(leat_event *start, leat_event *end, double *out_ns, leat_error *err);
  /** Makes a sync file (Linux) of what the event stands for now: a descriptor that poll() finds readable when that has
   * run on the device, or the device is lost. For event loops, and for other drivers that take such a fence. How it
   * went says query(), which also makes the downloads before it arrive. Optional, and not every device can.
   * @threads any
   * @param event [in] the event
   * @param out_fd [out] a descriptor, closed on exec; the caller's to close. -1: it has finished already
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST, and the sticky error of the
   *   event */
  int32_t (*export_sync_fd)(leat_event *event, int32_t *out_fd, leat_error *err);
} leat_event_api;

/* ---- Operators -------------------------------------------------------------------------------------------------- */

/* Operators are ONNX's: named as in the ONNX specification (domain ""), or as ONNX Runtime names its own
 * ("com.microsoft"), or ours ("leat"), with their attributes and the version of the operator set that introduced the
 * form in use (the specification's "since version").
 *
 * Numbers in tensors of the device are not known when an operator is put into a stream. An index out of range (Gather,
 * GatherElements, GatherND, ScatterElements, ScatterND, TensorScatter) reads 0 or writes nothing, and an integer
 * divided by zero (Div, Mod) gives 0: no memory outside of the tensors is touched, and no error is told. Where guarding
 * is on (LEAT_MEMORY_GUARD) the results are the same, and when the work has run its stream fails with
 * LEAT_ERROR_INVALID_ARGUMENT and a message that names the operator, which the next wait for it gives; other streams go
 * on, and so does later work of this one that was submitted already.
 *
 * What the specification leaves open is the same on every device:
 * - Cast of a float to an integer type, and Pow of integers with a fractional exponent: towards zero; what does not fit
 *   becomes the nearest number that the type holds, and NaN 0. Pow with a whole exponent wraps, as products of
 *   integers do; 0 to a negative power is 0.
 * - Attention gives scores of -infinity (qk_matmul_output_mode 2) and weights of 0 (3) for keys that a query does not
 *   have, or that the mask takes out; scores before the mask (0 and 1) are there of all keys.
 * - Unique takes zeros of both signs for one value, and NaN, all of which are one, for larger than all others;
 *   NonMaxSuppression takes no box whose score is NaN, and of equal scores the first.
 * - A NaN among the operands of Max, Min, ReduceMax, ReduceMin, MaxPool, GlobalMaxPool and Clip gives NaN. ArgMax and
 *   ArgMin find the first NaN, or the last with select_last_index. TopK ranks NaNs above infinity; NaNs are equal
 *   there, and both zeros, and of equal elements the first comes first.
 * - ReduceMean of integers is rounded towards zero, whatever their sum is; ReduceSum and ReduceProd wrap.
 * - QuantizeLinear rounds what it divides and the quotient to the type of the scale, or that of `precision`, and takes
 * a quotient that is NaN for 0. DynamicQuantizeLinear has scale 1 and zero point 0 where its scale would be smaller
 * than a normal number, as of nothing but zeros. MatMulInteger and ConvInteger wrap. QLinearMatMul and QLinearConv
 *   multiply a sum by the scales in float32, and round before they add the zero point.
 * - An operator of com.microsoft whose name begins with QLinear gives what the one without that gives between
 *   DequantizeLinear and QuantizeLinear.
 * - DynamicQuantizeMatMul quantises A as DynamicQuantizeLinear does, all of it together. QuantizeLinear and
 *   DequantizeLinear of com.microsoft are those of ONNX without blocks.
 * - Pad takes off what negative pads say before it adds anything, in all modes.
 * - A pool's window may reach beyond image and padding by less than a stride; what lies there does not count.
 * - Updates of ScatterElements and ScatterND that meet in an element are reduced in the order in which they lie, and
 *   sums and products of floats of 16 bits rounded at the end; a NaN among what min and max compare gives NaN. Running
 *   sums and products (CumSum, CumProd) of such floats are rounded as they are written, not before.
 * - What Resize gives no weight, as its filters do at their ends, counts for nothing, also if it is infinite.
 * - Filters of Resize with antialias reach beyond an image, as those of cubic do, and find the pixel at the end there.
 * - AffineGrid with align_corners has the one pixel of a side that has no more at 1.
 * - Axes of Slice, Squeeze, Unsqueeze, Pad and Resize that are named twice are refused.
 * - Attention, MultiHeadAttention and GroupQueryAttention give 0 for a query none of whose keys is taken. A key that is
 * not taken, because it comes later, a bool mask says so or a float mask has -infinity there, counts for nothing,
 * whatever its score; its value has to be finite. A mask of Attention 24 with fewer keys, also with one, takes the
 * others out. A query that has keys, all of them with scores of -infinity, gives NaN, of GroupQueryAttention 0.
 * - A number of keys that a tensor of the device has (nonpad_kv_seqlen, and seqlens_k + 1 of GroupQueryAttention) and
 *   that there are not counts as the nearest that there are, and so does the number of a block in g_idx of MatMulNBits.
 * - GroupQueryAttention gives keys and values as long as the earlier ones, or total_sequence_length if that is more.
 *   Where all positions are new, nothing of the earlier ones counts. Behind the last position there are zeros, or
 *   in the memory of the earlier ones what was there. An attention_bias takes keys from total_sequence_length on out.
 *   Where all positions are new, only the first of position_ids counts, and all batches go on from it; of numbers that
 *   there are no angles for the nearest. smooth_softmax and head_sink count in the sum of weights alone.
 *   With sliding_window_cache keys and values are as long as the earlier ones. If total_sequence_length is more than
 *   that, there are zeros behind those that stay, and a batch has at most 2^30 positions.
 *   Codes of quantised keys and values are the nearest to an element by its scale, of two the even one, and 0 where the
 *   quotient is no number; attention has what they stand for, in the type of the queries, of new positions too. Behind
 *   the last position bytes are 0. A number of query_seqlens that there is not counts as the nearest; what is padding
 *   lies behind the last position of keys and values, for which they must have room, or the last of them are lost, and
 *   gives numbers of no meaning. output_qk has
 *   total_sequence_length keys: scores as they go into the softmax, and 0 for a key that a query does not have by its
 *   position, or weights.
 * - SparseAttention is GroupQueryAttention whose queries have keys of the blocks alone that block_col_indices list for
 *   the row of blocks of their position, at most as many as there are rows; what these numbers say beyond the list or
 *   the blocks is left out. Tables are those of the heads in turn.
 * - Attention of com.microsoft and MultiHeadAttention add mask_filter_value to the score of a key that a mask of whole
 *   numbers does not have, together with attention_bias rounded to the type and never below its lowest number: a query
 *   without such keys weighs all of them. A number above 0 has the key. Of a mask of 3 batches + 2 numbers the first
 *   count, where the keys of a batch end. Behind the last position of keys and values there are zeros, and a beam of
 *   cache_indirection that there is not counts as the nearest. A bias of MultiHeadAttention is added to queries alone
 *   where keys and values have four dimensions. Attention takes past and attention_bias together. The output qk has
 *   scores as they go into the softmax, with all that is added. Without past keys cache_indirection says nothing.
 * - GridSample by cubic convolution takes each element outside of the image as padding_mode has it, wherever the place
 *   is. A place that is 2^63 elements away or more is outside of the image on its side, and one that is no number
 * before the first element; by reflection either is that of -1.
 * - RotaryEmbedding of com.microsoft counts on from position_ids of one dimension. A position that there are no angles
 *   for is that of the nearest. Its attributes scale and is_packed_batching change nothing.
 * - A length of ReverseSequence below 0 is 0, and one beyond the entries their number. LRN takes any size from 1 on.
 * - LSTM, GRU and RNN go on from states that are not rounded between steps, whatever the type; the products of their
 *   inputs may be. A length of sequence_lens that there is not counts as the nearest that there is. Behind the end of a
 *   sequence Y has zeros; one without steps gives zeros for its last states too. `clip` bounds what goes into gates,
 * not the cells of LSTM. Names of activations may be in capitals or not; a parameter that is not given is that of the
 *   activation's own operator, of Affine 1 and 0, of ScaledTanh 1 and 1.
 * - DynamicQuantizeLSTM quantises X once, with all of its steps, and each row of the states by itself before each step,
 *   both as DynamicQuantizeLinear does; sums of bytes are integers. A zero point may be another one for each column,
 * also of int8, and has as many dimensions as its scale.
 * - LinearAttention goes on from a state that is not rounded between tokens, whatever the types; without past_state the
 *   next one has the type of the queries. Gates that its update_rule does not name are not read. Of com.microsoft's
 *   LinearAttention and CausalConvWithState there is a state_window of 0 alone, and of the latter ndim = 1 and the
 *   defaults of attributes that only the CUDA provider has. LinearAttentionGate and GatedRMSNorm round once.
 * - MoE and QMoE take of equal scores the later expert's first, and Gelu by tanh. Weights of experts are the softmax of
 *   all scores, divided by the sum of those taken with normalize_routing_weights; what lies between the products of an
 *   expert is not rounded. There is no third product, and of swiglu_fusion 1 and 2 for swiglu; of QMoE quant_type "int"
 *   with 4 and 8 bits alone, for all products, and weights that are packed for no device: weights_prepacked is 0 or -1.
 * - LpNormalization of a row whose squares add up to more than float32 holds gives zeros.
 * - Einsum may sum up what one operand alone has before it multiplies, and multiplies three from the left; each step is
 *   rounded to the type. A dimension of size 1 is repeated where others with its label are larger, in other operands.
 *   Letters of a result that is not given are in the order of their codes, capitals first.
 * - Of domain "leat" linear algebra, version 1, on each matrix of a batch, the last two dimensions, by the conventions
 * of LAPACK. `info` has a number (int32) for each matrix; 0: all went well. LU(A) gives the factors L, below a diagonal
 * of ones that is not stored, and U of A with rows swapped, in one tensor; `pivots` (int32, from 1): row k was swapped
 * with row pivots[k], for k from the first to the last; and info, the number, from 1, of the first element of U's
 * diagonal that is 0: the factors are right all the same. Of equal pivots the first is taken. LUSolve(LU, pivots, B)
 * gives X of A X = B, with transpose = 1 of A' X = B; a pivot that names no row swaps nothing. TriangularSolve(A, B)
 * gives X of A X = B, with transpose = 1 of A' X = B, with right = 1 of X A = B or X A' = B. Of A the lower triangle is
 * read, with upper = 1 the upper one, with unit_diagonal = 1 not the diagonal, which counts as ones. Cholesky(A) gives
 * the lower triangular L of L L' = A, of which the lower triangle is read, with upper = 1 the upper triangular U of U'
 * U = A, of which the upper one is; info is the number of the first row and column up to which A is not positive
 * definite, and the factor then is any numbers. CholeskySolve(L, B) gives X of A X = B, of a factor that the same
 * `upper` describes. Solutions give info as a second output, which may be left out: the first element of the diagonal
 * that is 0. Of such a matrix X is B as it was given.
 * - Det of matrices without elements is 1, Inverse of com.microsoft of a matrix that has none NaN throughout.
 * - OneHot cuts fractions off indices and depth.
 * - BitShift by as many bits as the type has, or more, shifts all bits out in all versions. BitCount(X) of domain
 * "leat", version 1, gives how many bits of each element are 1, in its type. BitCast does not look at the bytes of a
 * bool.
 *
 * Of domain com.microsoft what stands for several operators gives what these give one after the other, each rounded to
 * the type:
 * - BiasGelu is Gelu of A + B, FastGelu Gelu with approximate = "tanh" of X, or X + bias; BiasAdd is (X + bias) + skip.
 *   The biases of these and of BiasSplitGelu have one dimension.
 * - BiasSplitGelu gives the first half of X + bias times Gelu of the second.
 * - ComplexMul and ComplexMulConj, which takes the conjugate of B, broadcast all dimensions but the last, of a real and
 *   an imaginary part, and round both products before they add or subtract.
 * - GemmFastGelu is MatMul of X and W, + bias, and FastGelu of that; TransposeMatMul is FusedMatMul.
 * - EmbedLayerNormalization adds word_embedding, position_embedding and segment_embedding of each token in this order
 *   and rounds no sum but embedding_sum. Without position_ids positions count from 0 in each sequence. An index counts
 *   from the end if it is negative; one that names no line adds zeros. mask_index is how many elements of the mask are
 * 1 in each sequence, and 0 without a mask.
 * - BiasSoftmax is Softmax of data + bias, of all dimensions from the axis on as one; the bias broadcasts to the data.
 * - GroupNorm and SkipGroupNorm round nothing between what is normalised and the result. The skip input has the shape
 *   of X, or an element for each channel of each image; S is (X + skip) + bias.
 * - Affine, ParametricSoftplus, ScaledTanh and ImageScaler of ONNX's domain, as ONNX Runtime keeps them, are alpha X +
 *   beta, alpha Softplus(beta X) and alpha Tanh(beta X), of both of which both parameters must be there, and scale X +
 *   bias, with an element of `bias` for each channel, 16 at most.
 *
 * Fused operators give what their parts give, one after the other, rounded no more often. Of domain "leat", version 1:
 * - FusedMatMul(A, B, bias?, residual?, factor?) is activation(alpha A' B' + bias + residual), or with residual_first =
 *   0 activation(alpha A' B' + bias) + residual. A and B as MatMul has them, their last two dimensions swapped by
 *   transA and transB; the bias has one element for each column, the residual broadcasts to the result's shape. Where
 *   `shape` lists one of as many elements, the result has that shape, its elements in their order; -1 stands for the
 *   size that the residual has there. With a factor, which has A's shape or an element for each of A's last dimension,
 *   A times that is in the place of A; with the attribute `epsilon` too, RMSNormalization(A, factor), for which the
 *   factor has an element for each of the last dimension. B is one matrix then, and A is not transposed.
 * - FusedConv(X, W, bias?, residual?, gate?) is as FusedMatMul, with the attributes of Conv; the residual has the
 *   result's shape. A gate has one element for each channel of each image, which X is multiplied by before all else;
 * the kernel is of one element then, without groups, strides and pads.
 * - SqueezeExcite(X, squeeze, excite, squeeze_bias?, excite_bias?) gives a number for each channel of each image of X,
 *   in X's shape with 1 in the place of all further dimensions: gate_activation(excite h + excite_bias), where h is
 *   activation(squeeze m + squeeze_bias) and m are the means of the channels. `squeeze` has a row for each element of
 *   h, `excite` one for each channel; both may have further dimensions of 1.
 * - FusedAttention(Q, K, V, mask?) is Attention with the attributes scale, q_num_heads and kv_num_heads, and with
 *   q_layout, k_layout, v_layout and y_layout, which are "bhsd" where absent: a letter for each dimension of an operand
 *   and of the result, b batch, h head, s position, d element of a head, x the heads side by side. Where b or h is
 *   missing there is one; the mask broadcasts to queries and keys, behind those of b and h that Q has. With
 *   nan_to_zero = 1 a query gives 0 whose weights are NaN, because a score of a key that is taken is NaN or +infinity,
 *   or all of them are -infinity.
 * - FusedRotaryEmbedding(X, cos, sin) is X cos + X' sin, where X' is the second half of X's last dimension, which is
 *   even, negated, and behind it the first half. Both broadcast to X, which has 4 dimensions at most.
 * The attribute `activation` of the first three names an operator of one number, and `activation_params` lists its
 * attributes (of Clip: min, max); what is not listed has that operator's default. FastGelu is Gelu with approximate =
 * "tanh". "" is none. gate_activation and gate_activation_params are the same, and FusedGemm and FusedConv of
 * "com.microsoft" know the same activations.
 * - QuantizedMatMul(A, B, A_scale, B_scale, A_zero?, B_zero?, bias?, y_scale?, y_zero?) is activation(the sums of
 *   MatMulInteger as float32 times A_scale B_scale, + bias), of float32, or with y_scale QuantizeLinear of that. Scales
 *   and zero points have one element, or one for each row of A or column of B, whose dimensions transB swaps; the bias
 *   has one for each column. `activation` is "Relu" or "". QuantizedConv(X, W, X_scale, W_scale, X_zero?,
 *   W_zero?, bias?, y_scale?, y_zero?) is the same of ConvInteger; W_scale, W_zero and bias have an element for each
 * channel of the result, the bias in one dimension or in those that broadcast so.
 * - Pointwise(inputs...), 1 to 8 of them, is a program of up to 16 steps on each element of what they broadcast to; its
 *   result is that of the last step. `functions` names the steps, with a space in between: operators of one number,
 *   Add, Sub, Mul, Div, Pow, Min, Max, PRelu, Mod, Where and Clip; FastGelu, as above; Fmod is Mod with fmod = 1;
 * Equal, Less, Greater, LessOrEqual and GreaterOrEqual give 1 or 0, and the condition of Where is any number but 0.
 *   `operands` lists those of all steps, one after the other: of each its operator's inputs, then its attributes
 * (alpha, beta, gamma; of Shrink lambd, bias). An operand is the number of an input; behind these the results of steps
 * count on; -1, -2... are the elements of `constants`, up to 32.
 * - QuantizedPointwise(inputs...) is Pointwise of float32, but each input may be of int8 or uint8: then its element of
 *   `scales` is not 0, and in its place is what DequantizeLinear gives for it with that and its element of
 *   `zero_points`. With result_type, ONNX's number of int8 or uint8, the result is quantised by QuantizeLinear with
 *   result_scale and result_zero_point. */

/* Of domain "leat", version 1, on lists of up to 512 tensors of one type, X standing for X[0], X[1]...: all lists of a
 * call have as many, those of the same place the same shape. Elements are computed in float32 and rounded once. What is
 * updated are the last lists (LEAT_OP_LAST_IN_PLACE). `rate` is a float32 on the device, `steps` an int64.
 * - ForeachAdd(X, Y) gives Y + alpha X, ForeachMul(X, Y) X Y, ForeachAddcmul(A, B, Y) Y + value A B, and ForeachLerp(X,
 *   Y) Y + weight (X - Y), from a weight of 0.5 on X - (1 - weight) (X - Y).
 * - ForeachNorm(X) gives the root of the sum of squares of each tensor, float32 in one dimension. ForeachClipByNorm(X)
 *   gives that of all elements, a float32 of rank 0, and behind it X times max_norm / (norm + epsilon), where that is
 *   less than 1.
 * - ForeachSGD(rate, G, P, M) gives P and M: g is G + weight_decay P, M becomes momentum M + (1 - dampening) g, and P
 *   becomes P - rate M, with nesterov = 1 P - rate (g + momentum M).
 * - ForeachAdam(rate, steps, G, P, M, V) gives P, M and V by Kingma and Ba, "Adam: A Method for Stochastic
 * Optimization" (2015): g is G + weight_decay P, M becomes beta1 M + (1 - beta1) g, V becomes beta2 V + (1 - beta2)
 * g^2, and P becomes P - rate / (1 - beta1^steps) M / (sqrt(V / (1 - beta2^steps)) + epsilon), where `steps` counts
 * this one too. ForeachAdamW is the same by Loshchilov and Hutter, "Decoupled Weight Decay Regularization" (2019): g is
 * G, and P is multiplied by 1 - rate weight_decay first. Absent, alpha, value, max_norm are 1, weight is 0.5, momentum
 * and beta1 0.9, beta2 0.999, epsilon 1e-8, of ForeachClipByNorm 1e-6, weight_decay 0, of ForeachAdamW 0.01.
 *
 * Views, of domain "leat", version 1. A place is a number of an element of X, in the order in which they are without
 * strides; one that is outside is refused.
 * - AsStrided(X) gives a tensor of the attribute `shape` whose element [i, j...] is that at the place offset + i
 *   strides[0] + j strides[1]...; strides may be 0 and negative.
 * - AsStridedScatter(X, Y) gives X with the elements of Y, which has the shape `shape`, in these places. No two may be
 *   the same: in the order of their sizes, each of `strides` is greater than the way from the first to the last element
 *   of the dimensions before it; else the call is refused.
 * - Roll(X) moves elements by shifts[k] towards the end of dimension axes[k]; what leaves it there comes in at its
 *   begin. Without axes, by shifts[0] in the order of all elements. */

/* Random numbers are those of Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2,
 * 3", 2011), so they are a function of what is asked for: of a key, a stream and the place of an element. Nothing is
 * kept from call to call, and threads share nothing.
 * - With a seed each call and each launch gives the same numbers, on every device, from any thread, in graphs and
 *   without. The key is the attribute `seed`: an integer's 64 bits, lower half first, or the 32 bits of a float32 and
 * 0. The stream is the attribute `offset` of operators of domain "leat", or 0, plus the element of the input of that
 *   name, an optional int64 tensor of one element on the device; sums wrap.
 * - Without a seed the key is drawn when the device is opened, and each call, and each node of each launch, has the
 * next stream. `offset` is not read.
 * - Element e, counted in the order of the result's elements, takes word e mod 4 of the block with the counter (e / 4,
 *   0, stream mod 2^32, stream / 2^32). A word w stands for the even number w' = floor(w / 256) 2^-24.
 * - RandomUniform and RandomUniformLike give low + (high - low) w', each operation rounded to float32. Rounding may
 *   reach `high`.
 * - RandomNormal and RandomNormalLike give mean + scale n. Of two neighbours with words v and w, the first at an even
 *   place, n is r cos(a) and r sin(a), where a is 2 pi floor(w / 64) 2^-26 and r the root of -2 log(u), u being the
 *   first 24 significant bits of (v + 1) 2^-32; n is at most 2^-21 r off.
 * - Bernoulli gives 1 where w' is below the element, else 0; also for a NaN.
 * - Multinomial gives the first class whose weight, e to what it has below the largest of its row, and those before it
 *   add up to more than w' times the sum of all; of several that are infinite each has the same weight. A row with a
 *   NaN, or all of -infinity, gives class 0.
 * - Dropout in training keeps an element where w' is not below the ratio, and divides it by 1 - ratio; the ratio is 0
 * or more and less than 1. The mask has a true for what is kept. Of domain "leat", version 1, RandomNormal(offset?),
 * RandomUniform(offset?) and Bernoulli(X, offset?) have the attributes of ONNX's, `offset` and an integer as `seed`.
 * Dropout(X, offset?) is Dropout in training with the attribute `ratio` (0.5). The following have `seed` and `offset`,
 * and their result is of the type and shape of the first input:
 * - RandomExponential(rate, offset?) gives -log(u) / rate, of the word of each element as above, where a rate below
 *   2^-126 counts as that, and RandomGeometric(p, offset?) 1 more than the whole part of log(u) / log(1 - p). Of a
 *   parameter that is not above 0 both give NaN, of a p of 1 and more 1.
 * - RandomGamma(alpha, offset?) gives numbers by Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables"
 *   (2000): attempt k of element e has the words of the counter (e, k, stream), two for n = r cos(a), the third for the
 *   u that is compared; there are 64 at most. Of an alpha below 1 the number of alpha + 1 times u^(1 / alpha), of the
 *   fourth word, is given; of 0 0, of less NaN, above 10^18 alpha.
 * - RandomBeta(alpha, beta, offset?), both of one shape, gives a / (a + b) of gamma distributed numbers a and b, the
 *   attempts of b counting from 64, and RandomDirichlet(alpha, offset?) those of alpha divided by their sum along the
 * last dimension, as softmax of their logarithms: also where they are too small for float32. RandomPermutation(offset?)
 * gives 0 to `count` - 1 in an order that the words of the first four blocks say, k[0] to k[15]; of int64 or of int32,
 * as `dtype` has it. Number e is permuted until it is less than `count` by (l, r) = (r, l ^ (f(r ^ k[i]) mod 2^h)) for
 * i = 0 to 15, of its upper and its lower h bits, where 2^(2 h) is at least `count` and h at least 4; f(x) is x ^= x >>
 * 16, x *= 0x85ebca6b, x ^= x >> 13, x *= 0xc2b2ae35, x ^= x >> 16 of 32 bits. */

#define LEAT_MAX_RANK 8 /**< dimensions of a tensor at most */

#define LEAT_TYPE_FLOAT32 (UINT64_C(1) << 0)
#define LEAT_TYPE_FLOAT16 (UINT64_C(1) << 1)
#define LEAT_TYPE_BFLOAT16 (UINT64_C(1) << 2)
#define LEAT_TYPE_FLOAT64 (UINT64_C(1) << 3)
#define LEAT_TYPE_INT8 (UINT64_C(1) << 4)
#define LEAT_TYPE_INT16 (UINT64_C(1) << 5)
#define LEAT_TYPE_INT32 (UINT64_C(1) << 6)
#define LEAT_TYPE_INT64 (UINT64_C(1) << 7)
#define LEAT_TYPE_UINT8 (UINT64_C(1) << 8)
#define LEAT_TYPE_UINT16 (UINT64_C(1) << 9)
#define LEAT_TYPE_UINT32 (UINT64_C(1) << 10)
#define LEAT_TYPE_UINT64 (UINT64_C(1) << 11)
#define LEAT_TYPE_BOOL (UINT64_C(1) << 12) /**< a byte; any but 0 is true, and may stay as it is where it is moved */
/* In the names of ONNX: exponent and mantissa bits; FN is finite with NaN, UZ has one zero, E8M0 is a power of two. In
 * DLPack they are LEAT_DL_FLOAT8_* of 8 bits, LEAT_DL_FLOAT4_E2M1FN of 4, and kDLInt and kDLUInt of 4 and 2. */
#define LEAT_TYPE_FLOAT8E4M3FN (UINT64_C(1) << 13)
#define LEAT_TYPE_FLOAT8E4M3FNUZ (UINT64_C(1) << 14)
#define LEAT_TYPE_FLOAT8E5M2 (UINT64_C(1) << 15)
#define LEAT_TYPE_FLOAT8E5M2FNUZ (UINT64_C(1) << 16)
#define LEAT_TYPE_FLOAT8E8M0 (UINT64_C(1) << 17)
#define LEAT_TYPE_FLOAT4E2M1 (UINT64_C(1) << 18) /**< packed, see above leat_memory_stats; so are the following */
#define LEAT_TYPE_INT4 (UINT64_C(1) << 19)
#define LEAT_TYPE_UINT4 (UINT64_C(1) << 20)
#define LEAT_TYPE_INT2 (UINT64_C(1) << 21)
#define LEAT_TYPE_UINT2 (UINT64_C(1) << 22)

/* ONNX's attribute types that operators on device tensors have. Those it has beside them are of operators that make no
 * device tensor (SPARSE_TENSOR of Constant, TYPE_PROTO of Optional) or of none (TENSORS, GRAPHS). */
#define LEAT_ATTRIBUTE_INT 1u     /**< one int64 */
#define LEAT_ATTRIBUTE_FLOAT 2u   /**< one float */
#define LEAT_ATTRIBUTE_STRING 3u  /**< bytes */
#define LEAT_ATTRIBUTE_INTS 4u    /**< int64 list */
#define LEAT_ATTRIBUTE_FLOATS 5u  /**< float list */
#define LEAT_ATTRIBUTE_TENSOR 6u  /**< a host tensor */
#define LEAT_ATTRIBUTE_STRINGS 7u /**< list of bytes, such as the activations of LSTM */
/** The body of If, Loop and their kind, a leat_graph_desc. A backend that runs no bodies refuses an operator that has
 * such an attribute, also one that it would ignore, with LEAT_ERROR_NOT_SUPPORTED and a message that names the
 * attribute. */
#define LEAT_ATTRIBUTE_GRAPH 8u

/** A set of element types that the specification gives one name ("T", "Tind", ...). */
typedef struct leat_op_type {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  const char *name;     /**< the specification's type constraint, or "tensor(T)" where it fixes the type */
  uint64_t types;       /**< LEAT_TYPE_* that are supported for it */
} leat_op_type;

/** An attribute that an operator reads. */
typedef struct leat_op_attribute {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t type;        /**< LEAT_ATTRIBUTE_* */
  const char *name;     /**< the specification's name */
} leat_op_attribute;

/** Output 0 may be the same memory as input 0 because it has the same bytes (Reshape and its kind). */
#define LEAT_OP_ALIAS (UINT64_C(1) << 0)
/** Output 0 may be the same memory as an input of the same shape and type. */
#define LEAT_OP_IN_PLACE (UINT64_C(1) << 1)
/** Outputs 1 and 2 may be exactly the memory of inputs 3 and 4, each where it has that one's shape: caches, of which
 * all but what is new stays as it is. */
#define LEAT_OP_CACHES (UINT64_C(1) << 2)
/* Those that follow say what a host that divides a model into graphs has to know of an operator; since 1.1. A reader
 * leaves out what it does not know, and a backend may set none of them. */
/** A graph computes it on the host, in leat_graph_api::build(), infer() and launch(), where the values of its inputs
 * are known there and shapes follow from what it gives, provided that its inputs and outputs are of int64, int32 and
 * bool. So its outputs may be host inputs of other nodes. */
#define LEAT_OP_EVALUATED (UINT64_C(1) << 3)
/** Likewise with inputs and outputs of float32 among them. Implies LEAT_OP_EVALUATED. */
#define LEAT_OP_EVALUATED_FLOAT32 (UINT64_C(1) << 4)
/** How many elements it gives follows from the values of its inputs, not from their shapes: it may make many of few. */
#define LEAT_OP_GROWS (UINT64_C(1) << 5)
/** It computes with each element that it takes many times, as products of matrices, convolutions and attention do:
 * worth a copy to the device and back. */
#define LEAT_OP_HEAVY (UINT64_C(1) << 6)
/** The last output may be exactly the memory of the last input, the one before it that of the one before, and so on,
 * each where it has that one's shape and type; since 1.1. */
#define LEAT_OP_LAST_IN_PLACE (UINT64_C(1) << 7)

#define LEAT_VARIADIC \
  UINT32_MAX /**< max_inputs (all of them required then), max_outputs: as many as the caller likes */

/** One operator in one range of versions. Constant; lives as long as the process. */
typedef struct leat_op_info {
  uint32_t struct_size;                       /**< size that the backend filled in */
  uint32_t since_version_min;                 /**< lowest "since version" of the form */
  uint32_t since_version_max;                 /**< highest one; UINT32_MAX: no newer form is known */
  uint32_t min_inputs;                        /**< inputs at least; the definition may require others behind them */
  uint32_t max_inputs;                        /**< inputs at most, or LEAT_VARIADIC */
  uint32_t min_outputs;                       /**< outputs at least; those are required, others are optional */
  uint32_t max_outputs;                       /**< outputs at most, or LEAT_VARIADIC */
  uint32_t type_count;                        /**< elements of `types` */
  uint32_t attribute_count;                   /**< elements of `attributes` */
  uint32_t reserved;                          /**< zero */
  uint64_t host_inputs;                       /**< bit i: input i is a host tensor, whose values planning needs */
  uint64_t host_outputs;                      /**< bit i: output i is a host tensor, written when invoke() returns */
  uint64_t flags;                             /**< LEAT_OP_* */
  const char *name;                           /**< operator */
  const char *domain;                         /**< "" for ONNX */
  const leat_op_type *const *types;           /**< by type constraint */
  const leat_op_attribute *const *attributes; /**< what create() reads; others are ignored */
} leat_op_info;

/** The value of an attribute. */
typedef struct leat_attribute {
  uint32_t struct_size;                /**< sizeof(leat_attribute) */
  uint32_t type;                       /**< LEAT_ATTRIBUTE_*, says which of the fields below counts */
  const char *name;                    /**< the specification's name */
  uint64_t count;                      /**< elements of `ints`, `floats` or `strings`, bytes of `string` */
  int64_t i;                           /**< INT */
  const int64_t *ints;                 /**< INTS */
  const float *floats;                 /**< FLOATS */
  const char *string;                  /**< STRING, need not be terminated */
  const DLTensor *tensor;              /**< TENSOR, on the host, compact */
  const char *const *strings;          /**< STRINGS, need not be terminated */
  const uint64_t *lengths;             /**< STRINGS: bytes of each */
  const struct leat_graph_desc *graph; /**< GRAPH */
  float f;                             /**< FLOAT */
  uint32_t reserved;                   /**< zero */
} leat_attribute;

/** What is known of an input before the operator runs. */
typedef struct leat_value_info {
  uint32_t struct_size;  /**< sizeof(leat_value_info) */
  int32_t ndim;          /**< dimensions, or -1: unknown */
  DLDataType dtype;      /**< element type; lanes 1 */
  uint32_t reserved;     /**< zero */
  const int64_t *shape;  /**< elements by dimension, -1: unknown; may be NULL when ndim is -1 or 0 */
  const DLTensor *value; /**< the value, on the host, if it is a constant; else NULL */
} leat_value_info;

/** An operator as it stands in a model. */
typedef struct leat_op_desc {
  uint32_t struct_size;                    /**< sizeof(leat_op_desc) */
  uint32_t since_version;                  /**< "since version" of the form in use */
  const char *name;                        /**< operator */
  const char *domain;                      /**< NULL is "" */
  uint32_t attribute_count;                /**< elements of `attributes` */
  uint32_t input_count;                    /**< elements of `inputs` */
  uint32_t output_count;                   /**< outputs that will be asked for */
  uint32_t reserved;                       /**< zero */
  const leat_attribute *const *attributes; /**< in any order */
  const leat_value_info *const *inputs;    /**< NULL element: the optional input is absent */
} leat_op_desc;

/** Shape and type of an output. */
typedef struct leat_shape {
  uint32_t struct_size;        /**< sizeof(leat_shape) */
  int32_t ndim;                /**< dimensions */
  DLDataType dtype;            /**< element type */
  uint32_t reserved;           /**< zero */
  int64_t dims[LEAT_MAX_RANK]; /**< elements by dimension */
} leat_shape;

/** Operators: what there is, and running it. */
typedef struct leat_op_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Counts the entries of the operator list.
   * @threads any
   * @param out_count [out] number of entries
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*count)(uint32_t *out_count, leat_error *err);
  /** Gives one entry of the operator list.
   * @threads any
   * @param index number below count()
   * @param out [out] the entry, a constant of the backend
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(uint32_t index, const leat_op_info **out, leat_error *err);
  /** Asks whether create() and invoke() would take an operator with these attributes and types, and with the ranks,
   * shapes and constants as far as they are known. Creates nothing.
   * @threads any
   * @param device [in] an open device
   * @param desc [in] the operator
   * @param err [out] why not, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED */
  int32_t (*supports)(leat_device *device, const leat_op_desc *desc, leat_error *err);
  /** Makes an operator. Everything in `desc` is copied.
   * @threads any
   * @param device [in] an open device
   * @param desc [in] the operator
   * @param out [out] the operator; release with destroy()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*create)(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err);
  /** Destroys an operator. Work that it put into streams still runs.
   * @threads owner
   * @param op [in] the operator; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*destroy)(leat_op *op, leat_error *err);
  /** Computes the shapes and types of the outputs. Reads the data of host inputs only. A call, of this or of invoke(),
   * is of what the operator was created for: inputs have the types of its description, are absent where they are absent
   * there, and only there; there are at most as many outputs, and exactly as many where leat_op_info allows any number.
   * Other calls are refused (LEAT_ERROR_INVALID_ARGUMENT).
   * @threads any
   * @param op [in] the operator
   * @param input_count elements of `inputs`
   * @param inputs [in] the inputs; a NULL element is an absent optional input
   * @param output_count elements of `out`
   * @param out [inout] shapes with `struct_size` set; a NULL element is an output not wanted
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED */
  int32_t (*infer)(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                   leat_shape *const *out, leat_error *err);
  /** Puts the operator into a stream. Atomic: all of it or, on failure, nothing. Device views must lie inside live
   * blocks of the stream's device; inputs may have any strides, outputs are compact. An output overlaps no input, but
   * for what LEAT_OP_ALIAS, LEAT_OP_IN_PLACE, LEAT_OP_CACHES and LEAT_OP_LAST_IN_PLACE allow. Every element of an
   * output is written. A required output that is absent is refused (LEAT_ERROR_INVALID_ARGUMENT); optional ones may be
   * absent in any combination. Does not order anything across streams: use events.
   * @threads any
   * @param op [in] the operator
   * @param stream [in] a stream of the device that the operator was made for
   * @param input_count elements of `inputs`
   * @param inputs [in] the inputs; a NULL element is an absent optional input
   * @param output_count elements of `outputs`
   * @param outputs [in] the outputs, with the shapes that infer() gives; a NULL element is an optional output that is
   *   not wanted
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST, and the sticky error of the
   *   stream */
  int32_t (*invoke)(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                    uint32_t output_count, const DLTensor *const *outputs, leat_error *err);
} leat_op_api;

/* ---- Graphs ----------------------------------------------------------------------------------------------------- */

/* A graph is several operators that run as one call: a whole model, or a part of it. Building it does once what
 * invoke() does each time: attributes are read, constants go to the device, and what a launch has to do is planned. A
 * backend may compute nodes in another order, together, or once instead of at each launch; every result is at least as
 * exact as that of the nodes one by one.
 *
 * A graph is made of *values*, named by their number in leat_graph_desc::values. A value is an input of the graph, a
 * constant, or an output of one node. */

/** Number of a value that is not there: an optional input or output of a node that is absent. */
#define LEAT_GRAPH_NO_VALUE UINT32_MAX

/** One operator of a graph. */
typedef struct leat_graph_node {
  uint32_t struct_size;                    /**< sizeof(leat_graph_node) */
  uint32_t since_version;                  /**< "since version" of the form in use */
  const char *name;                        /**< of the node, for messages; may be NULL */
  const char *op;                          /**< operator */
  const char *domain;                      /**< NULL is "" */
  uint32_t attribute_count;                /**< elements of `attributes` */
  uint32_t input_count;                    /**< elements of `inputs` */
  uint32_t output_count;                   /**< elements of `outputs` */
  uint32_t reserved;                       /**< zero */
  const leat_attribute *const *attributes; /**< in any order */
  const uint32_t *inputs;                  /**< values, or LEAT_GRAPH_NO_VALUE */
  const uint32_t *outputs;                 /**< values that this node makes, or LEAT_GRAPH_NO_VALUE */
} leat_graph_node;

/** A graph as it stands in a model. */
typedef struct leat_graph_desc {
  uint32_t struct_size;   /**< sizeof(leat_graph_desc) */
  uint32_t value_count;   /**< elements of `values` */
  uint32_t node_count;    /**< elements of `nodes` */
  uint32_t input_count;   /**< elements of `inputs` */
  uint32_t output_count;  /**< elements of `outputs` */
  uint32_t capture_count; /**< elements of `captures` and `captured` */
  /** What is known of each value; none is NULL. Of inputs the element type must be, of outputs of nodes nothing need
   * be: an element type of 0 bits is not known. A value with leat_value_info::value is a constant, which no node makes
   * and which is no input. What nothing makes is neither taken by a node nor an output. */
  const leat_value_info *const *values;
  const leat_graph_node *const *nodes; /**< each after those whose outputs it takes */
  const uint32_t *inputs;              /**< values that a launch is given, each once */
  const uint32_t *outputs;             /**< values that a launch gives, each once; not inputs and not constants */
  const uint32_t *captures; /**< of a body (LEAT_ATTRIBUTE_GRAPH): values from the graph around it; else NULL */
  const uint32_t *captured; /**< which values of the graph around they are; NULL otherwise */
} leat_graph_desc;

/** What a graph has become. Figures of the device are those of the set of input shapes that was planned last: at first
 * by build() if all shapes were known, then by launches. */
typedef struct leat_graph_info {
  uint32_t struct_size;    /**< sizeof(leat_graph_info) */
  uint32_t node_count;     /**< nodes of the description */
  uint32_t plan_count;     /**< sets of input shapes whose plans are kept now */
  uint32_t dispatch_count; /**< kernels that one launch runs */
  uint32_t copy_count;     /**< copies on the device that one launch makes */
  uint32_t level_count;    /**< groups of these that run one after the other; those of one level run side by side */
  uint64_t constant_bytes; /**< constants on the device, some of which other graphs may share, and copies of them that
                                lie as kernels read them best */
  uint64_t arena_bytes;    /**< device memory for what nodes leave to other nodes, of one launch in flight */
  uint64_t naive_bytes;    /**< the same if no two of them shared memory */
  uint64_t launch_count;   /**< launches that were put into streams so far */
  uint64_t compile_count;  /**< programs of the device that these had to compile; since 1.1 */
} leat_graph_info;

/** Something that is done to graphs, such as a rewriting of nodes into fewer, and how often it was. */
typedef struct leat_graph_fusion {
  uint32_t struct_size; /**< sizeof(leat_graph_fusion) */
  uint32_t count;       /**< times that it was done in this graph */
  char name[56];        /**< short name, such as "bias" */
} leat_graph_fusion;

/** Graphs of operators, built once and launched any number of times. */
typedef struct leat_graph_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Builds a graph. Everything in `desc` is copied. The nodes are such that leat_op_api::supports() takes, and where
   * shapes are known that leat_op_api::infer() takes; a message names the node that is not, and its operator.
   * @threads any
   * @param device [in] an open device
   * @param desc [in] the graph; one with captures is a body, and is refused
   * @param out [out] the graph; release with destroy()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST */
  int32_t (*build)(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err);
  /** Destroys a graph. Launches that were put into streams still run.
   * @threads owner
   * @param graph [in] the graph; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*destroy)(leat_graph *graph, leat_error *err);
  /** Computes the shapes and types of the outputs. Reads the data of those inputs only whose values decide shapes.
   * @threads any
   * @param graph [in] the graph
   * @param input_count elements of `inputs`: leat_graph_desc::input_count
   * @param inputs [in] the inputs
   * @param output_count elements of `out`: leat_graph_desc::output_count
   * @param out [inout] shapes with `struct_size` set; a NULL element is an output not wanted
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*infer)(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                   leat_shape *const *out, leat_error *err);
  /** Puts a launch of the graph into a stream. Atomic: all of it or, on failure, nothing. Any number of launches of one
   * graph may be under way, on any streams. Tensors on the device lie inside live blocks of it; inputs there may have
   * any strides. An input on the host is compact and has been read when the call returns. An input whose values decide
   * shapes must be on the host. An output on the host is compact and is written as by leat_memory_api::copy(): once a
   * wait, a synchronisation or a positive query has covered the launch. Outputs are compact and overlap neither each
   * other nor an input, but for a cache (LEAT_OP_CACHES, LEAT_OP_LAST_IN_PLACE, or of TensorScatter) that is an input
   * which nothing else takes.
   * @threads any
   * @param graph [in] the graph
   * @param stream [in] a stream of the device that the graph was built for
   * @param input_count elements of `inputs`: leat_graph_desc::input_count
   * @param inputs [in] the inputs; none is NULL. Each has the element type that build() was told, and rank and
   *   dimensions where those were told
   * @param output_count elements of `outputs`: leat_graph_desc::output_count
   * @param outputs [in] the outputs, with the shapes that infer() gives; a NULL element is an output not wanted
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST, and the sticky error of the
   *   stream */
  int32_t (*launch)(const leat_graph *graph, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                    uint32_t output_count, const DLTensor *const *outputs, leat_error *err);
  /** Tells what a graph has become.
   * @threads any
   * @param graph [in] the graph
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(const leat_graph *graph, leat_graph_info *out, leat_error *err);
  /** Lists what rewritings the backend knows, and how often each was done in a graph.
   * @threads any
   * @param graph [in] the graph
   * @param inout_count [inout] capacity of `out` in, number of rewritings out; a capacity too small is filled as far as
   *   it goes
   * @param out [out] elements with `struct_size` set by the caller; may be NULL when the capacity is 0
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*fusions)(const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out, leat_error *err);
  /** Compiles what launches with such inputs need, so that these do not: since 1.1, and may be NULL. Nothing is put
   * into a stream. The inputs stand for those of a launch, on the device or on the host, and have types and shapes
   * alone: their strides and data are not looked at, but for one whose values decide shapes, which is on the host with
   * its data. It counts for outputs on the device, all of them wanted.
   * @threads any
   * @param graph [in] the graph
   * @param input_count elements of `inputs`: leat_graph_desc::input_count
   * @param inputs [in] the inputs; none is NULL
   * @param inout_count [inout] how many programs of the device may be compiled in, how many were out, also on failure.
   *   As many as were allowed: some may be missing then, which is no failure
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_DEVICE_LOST */
  int32_t (*prepare)(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                     uint32_t *inout_count, leat_error *err);
} leat_graph_api;

/* ---- Profiles --------------------------------------------------------------------------------------------------- */

/* What a device did, and when: one record for each step (a kernel or a copy) that ran on it, one for each call that put
 * steps there, and what threads of the host spent on it.
 *
 * Times are nanoseconds of the host's CLOCK_MONOTONIC. A device has a clock of its own: where its driver relates the
 * two (LEAT_PROFILER_CALIBRATED) they agree to some microseconds; else device times are such that nothing begins before
 * it was submitted or ends after it was seen to have, which may be early by what a submission takes. Times of one lane
 * are of one clock and exact to a step of it in either case.
 *
 * Steps between which nothing stands, of one launch or of several streams, run side by side, so their times overlap.
 * The device tells when a step and all that was given to its lane before it are done: that is `end_ns`. `begin_ns` is
 * when the last step before its level (what must be done before it may begin) was, and `busy_ns` is by how much
 * `end_ns` is later than that of the step given to the lane before it. So `end_ns - begin_ns` is never less than what
 * the step took, and `busy_ns` never more than what the lane spent: the latter of all steps of a lane add up to the
 * time in which it had something to do, the former do not. Between two batches that a lane is given nothing is counted.
 * Measuring takes time of its own, and where a device stops for it steps run one after the other. */

#define LEAT_PROFILE_LAUNCH 1  /**< on the device: all steps of one call (invoke(), launch() or copy()) */
#define LEAT_PROFILE_KERNEL 2  /**< on the device: a step that computes */
#define LEAT_PROFILE_COPY 3    /**< on the device: a step that copies bytes */
#define LEAT_PROFILE_RECORD 4  /**< on the host: a thread in such a call, while it puts the steps into the stream */
#define LEAT_PROFILE_SUBMIT 5  /**< on the host: a thread gives what was recorded to the device */
#define LEAT_PROFILE_WAIT 6    /**< on the host: a thread waits for the device */
#define LEAT_PROFILE_COMPILE 7 /**< on the host: a call that puts steps into a stream compiles a program; since 1.1 */

/** leat_profile_record::node of what is of no node. */
#define LEAT_PROFILE_NO_NODE UINT32_MAX

/** One thing that was done. What does not apply is zero or empty. */
typedef struct leat_profile_record {
  uint32_t struct_size;  /**< sizeof(leat_profile_record) */
  uint32_t kind;         /**< LEAT_PROFILE_*; a reader leaves out what it does not know */
  uint64_t launch;       /**< number of the call that recorded it, which no other call in the process has */
  uint64_t begin_ns;     /**< when it began */
  uint64_t end_ns;       /**< when it ended, not before it began */
  uint64_t busy_ns;      /**< on the device: see above; of a launch the sum of its steps; at most end_ns - begin_ns */
  uint64_t recorded_ns;  /**< on the device: when the call that recorded it began */
  uint64_t submitted_ns; /**< on the device: when it was given to the device */
  uint64_t stream;       /**< handle of the stream, as a number: it may be gone, or another's by now; 0: of none */
  uint32_t lane;         /**< number of the hardware queue */
  uint32_t thread;       /**< on the host, and of a launch: kernel's number of the thread that did it, or recorded it */
  uint32_t step;         /**< of a step: its number in the launch; of LAUNCH and RECORD: how many steps it has */
  uint32_t node;         /**< number in leat_graph_desc::nodes, or LEAT_PROFILE_NO_NODE. Where one operator takes the
                              place of several nodes, that of the last */
  char op[64];           /**< operator, "upload", "download" or "copy"; of a LAUNCH or RECORD of a graph "graph" */
  char name[128];        /**< leat_graph_node::name, or the program that was compiled, cut if too long: whole characters
                              of UTF-8 */
} leat_profile_record;

#define LEAT_PROFILER_RUNNING (UINT64_C(1) << 0)    /**< started, and not stopped */
#define LEAT_PROFILER_CALIBRATED (UINT64_C(1) << 1) /**< the driver relates the device's clock to the host's */

/** What the profiler of a device is doing. */
typedef struct leat_profiler_info {
  uint32_t struct_size;   /**< sizeof(leat_profiler_info) */
  uint32_t capacity;      /**< records that are kept at most; 0: it was never started */
  uint64_t flags;         /**< LEAT_PROFILER_* */
  uint64_t pending_count; /**< records that can be read */
  uint64_t lost_count;    /**< records that there was no room or no memory for since start() */
} leat_profiler_info;

/** Records of what a device does, kept until they are read. Nothing is recorded, and next to nothing is spent, until
 * somebody asks for it. */
typedef struct leat_profiler_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Starts: calls that begin after this one returned are recorded. Flushes all streams. Records that were not read are
   * dropped.
   * @threads any
   * @param device [in] an open device
   * @param capacity records that are kept at most, up to 2^22; 0: 2^16. A record that finds no room is dropped, and
   *   counted in leat_profiler_info::lost_count
   * @param flags zero
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: the device has no clock that can be read; LEAT_ERROR_BUSY: it is running;
   *   LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*start)(leat_device *device, uint32_t capacity, uint64_t flags, leat_error *err);
  /** Stops: calls that begin after this one returned are not recorded. Flushes all streams. Records stay to be read,
   * and what was recorded and runs later still gets its own. Does nothing if it is not running.
   * @threads any
   * @param device [in] an open device
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*stop)(leat_device *device, leat_error *err);
  /** Takes records out, about in the order in which what they tell of ended. Those of work that a wait has covered are
   * there. Does not wait for the device.
   * @threads any
   * @param device [in] an open device
   * @param inout_count [inout] capacity of `out` in, number of records that were taken out; fewer than the capacity:
   *   there are no more by now
   * @param out [out] elements with `struct_size` set by the caller; may be NULL when the capacity is 0
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*read)(leat_device *device, uint32_t *inout_count, leat_profile_record *out, leat_error *err);
  /** Tells what the profiler is doing.
   * @threads any
   * @param device [in] an open device
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(leat_device *device, leat_profiler_info *out, leat_error *err);
} leat_profiler_api;

/* ---- External memory and semaphores ----------------------------------------------------------------------------- */

/* Memory and timeline semaphores that another API made on the same device, or another device object of the same one (a
 * second VkDevice, say), for work here to use without a copy. They come as file descriptors.
 *
 * An importer and its exporter must be of one physical device and one driver: compare leat_device_info::uuid and
 * driver_uuid with what the other side says of itself (VkPhysicalDeviceIDProperties). No import can check that: a
 * descriptor of another device, or of something else, is undefined behaviour in the driver. (One of NVIDIA's finds no
 * memory any more after it has been shown /dev/null.)
 *
 * Imported memory is a block as alloc() gives one, for all functions of the ABI, but for these: its contents stay as
 * they are, its address has the alignment that the driver gives a buffer, it counts neither in leat_memory_stats nor
 * against the limit there, and it is never another block's when it was freed. What the other side does with it is
 * unknown here, so it is the caller who keeps the two apart: by a semaphore, or by waiting on the host.
 *
 * A semaphore is one whose value only rises, and which both sides wait for and raise. wait() and signal() go into a
 * stream, in order with what is put in before and after. */

/** A descriptor of memory (vkGetMemoryFdKHR) or of a timeline semaphore (vkGetSemaphoreFdKHR) that only the driver
 * understands. */
#define LEAT_EXTERNAL_OPAQUE_FD (UINT64_C(1) << 0)

/** leat_external_memory::memory_type of a caller who does not know it. */
#define LEAT_EXTERNAL_ANY_MEMORY_TYPE UINT32_MAX

/** What a device can import. */
typedef struct leat_external_info {
  uint32_t struct_size;       /**< sizeof(leat_external_info) */
  uint32_t reserved;          /**< zero */
  uint64_t memory_handles;    /**< LEAT_EXTERNAL_* that import_memory() takes */
  uint64_t semaphore_handles; /**< LEAT_EXTERNAL_* that import_semaphore() takes */
} leat_external_info;

/** Memory of another API. */
typedef struct leat_external_memory {
  uint32_t struct_size;     /**< sizeof(leat_external_memory) */
  int32_t fd;               /**< the descriptor; owned by the backend once import_memory() has returned LEAT_OK */
  uint64_t handle_type;     /**< one LEAT_EXTERNAL_* */
  uint64_t allocation_size; /**< VkMemoryAllocateInfo::allocationSize of the memory; 0: what a buffer of `size` bytes
                                 takes (vkGetBufferMemoryRequirements), which is right where it was made for one */
  uint64_t size;            /**< bytes to use, from the first on: those of the block; of dedicated memory
                                 VkBufferCreateInfo::size of its buffer */
  uint32_t dedicated_usage; /**< VkBufferCreateInfo::usage of the buffer that the memory is dedicated to
                                 (VkMemoryDedicatedAllocateInfo), which has no flags, and is not shared by queue
                                 families; 0: it is not dedicated */
  uint32_t memory_type;     /**< VkMemoryAllocateInfo::memoryTypeIndex, or LEAT_EXTERNAL_ANY_MEMORY_TYPE: the first
                                 that the driver takes, which is right where memory is the device's own */
} leat_external_memory;

/** Importing memory and timeline semaphores. */
typedef struct leat_external_api {
  uint32_t struct_size; /**< size that the backend filled in */
  uint32_t reserved;    /**< zero */
  /** Tells what the device can import. What it cannot is refused with the reason when it is tried.
   * @threads any
   * @param device [in] an open device
   * @param out [inout] `struct_size` in, the rest out
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*info)(leat_device *device, leat_external_info *out, leat_error *err);
  /** Makes a block of memory of another API. Nothing is copied. One leat_memory_api::free(), and one more for each
   * import_dlpack() of a tensor in it, gives it back: the driver has it when the work that was put into streams before
   * that has run, at the latest with a trim() after it or with the device; the memory itself lives as long as its other
   * users want.
   * @threads any
   * @param device [in] an open device
   * @param memory [in] the memory; its descriptor stays the caller's on failure
   * @param out_address [out] device address of its first byte; release with leat_memory_api::free()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: the device cannot import such memory, the message says why;
   *   LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*import_memory)(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                           leat_error *err);
  /** Makes a semaphore of a timeline semaphore of another API.
   * @threads any
   * @param device [in] an open device
   * @param handle_type one LEAT_EXTERNAL_*
   * @param fd the descriptor: the backend's when the call returns LEAT_OK, the caller's otherwise
   * @param out [out] the semaphore; release with destroy_semaphore()
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_NOT_SUPPORTED: the device cannot import such a semaphore, the message says why;
   *   LEAT_ERROR_OUT_OF_MEMORY */
  int32_t (*import_semaphore)(leat_device *device, uint64_t handle_type, int32_t fd, leat_semaphore **out,
                              leat_error *err);
  /** Destroys a semaphore. Waits and signals that were put into streams still happen.
   * @threads owner
   * @param semaphore [in] the semaphore; NULL does nothing
   * @param err [out] what went wrong, may be NULL
   * @errors none beside the common ones */
  int32_t (*destroy_semaphore)(leat_semaphore *semaphore, leat_error *err);
  /** Makes later work of the stream wait, on the device, until the semaphore has a value. The value may come later than
   * this call, but must not need work that is put into any stream of the device after it: a hardware queue does what it
   * is given in order, and streams share queues. Nothing ends a wait for a value that never comes.
   * @threads any
   * @param stream [in] the stream that waits
   * @param semaphore [in] a semaphore of the same device
   * @param value the value, or any above it
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY, and the sticky error of the stream */
  int32_t (*wait)(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err);
  /** Raises the semaphore to a value when everything that is in the stream now has run, and flushes the stream. If the
   * stream fails before that, the value does not come: the caller, who is told at the next wait, can raise it on the
   * other side.
   * @threads any
   * @param stream [in] a stream of the same device
   * @param semaphore [in] the semaphore
   * @param value more than the semaphore has or will get before from anybody
   * @param err [out] what went wrong, may be NULL
   * @errors LEAT_ERROR_DEVICE_LOST, LEAT_ERROR_OUT_OF_MEMORY, and the sticky error of the stream */
  int32_t (*signal)(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err);
} leat_external_api;

/* ---- Layout ----------------------------------------------------------------------------------------------------- */

/** Bytes of struct `type` up to the end of `last`: its size when nothing is padded. */
#define LEAT_SIZE_THROUGH(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

#if defined(__cplusplus)
#define LEAT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define LEAT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define LEAT_ASSERT_NO_TAIL(type, last) \
  LEAT_STATIC_ASSERT(sizeof(type) == LEAT_SIZE_THROUGH(type, last), #type " has padding at its end")

LEAT_ASSERT_NO_TAIL(leat_error, message);
LEAT_ASSERT_NO_TAIL(leat_host_info, reserved);
LEAT_ASSERT_NO_TAIL(leat_backend_api, configure);
LEAT_ASSERT_NO_TAIL(leat_device_info, pci_bus_id);
LEAT_ASSERT_NO_TAIL(leat_property, value);
LEAT_ASSERT_NO_TAIL(leat_device_api, synchronize);
LEAT_ASSERT_NO_TAIL(leat_memory_stats, host_reserved_bytes);
LEAT_ASSERT_NO_TAIL(leat_memory_class, reuse_count);
LEAT_ASSERT_NO_TAIL(leat_view, strides);
LEAT_ASSERT_NO_TAIL(leat_memory_api, free_host);
LEAT_ASSERT_NO_TAIL(leat_stream_info, reserved);
LEAT_ASSERT_NO_TAIL(leat_stream_api, info);
LEAT_ASSERT_NO_TAIL(leat_pool_info, exhausted_count);
LEAT_ASSERT_NO_TAIL(leat_pool_api, info);
LEAT_ASSERT_NO_TAIL(leat_event_api, export_sync_fd);
LEAT_ASSERT_NO_TAIL(leat_op_type, types);
LEAT_ASSERT_NO_TAIL(leat_op_attribute, name);
LEAT_ASSERT_NO_TAIL(leat_op_info, attributes);
LEAT_ASSERT_NO_TAIL(leat_attribute, reserved);
LEAT_ASSERT_NO_TAIL(leat_value_info, value);
LEAT_ASSERT_NO_TAIL(leat_op_desc, inputs);
LEAT_ASSERT_NO_TAIL(leat_shape, dims);
LEAT_ASSERT_NO_TAIL(leat_op_api, invoke);
LEAT_ASSERT_NO_TAIL(leat_graph_node, outputs);
LEAT_ASSERT_NO_TAIL(leat_graph_desc, captured);
LEAT_ASSERT_NO_TAIL(leat_graph_info, compile_count);
LEAT_ASSERT_NO_TAIL(leat_graph_fusion, name);
LEAT_ASSERT_NO_TAIL(leat_graph_api, prepare);
LEAT_ASSERT_NO_TAIL(leat_profile_record, name);
LEAT_ASSERT_NO_TAIL(leat_profiler_info, lost_count);
LEAT_ASSERT_NO_TAIL(leat_profiler_api, info);
LEAT_ASSERT_NO_TAIL(leat_external_info, semaphore_handles);
LEAT_ASSERT_NO_TAIL(leat_external_memory, memory_type);
LEAT_ASSERT_NO_TAIL(leat_external_api, signal);

#ifdef __cplusplus
}
#endif

#endif /* LEAT_BACKEND_H_ */
