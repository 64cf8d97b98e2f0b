/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A device: its memory infos, and one open backend device that the factory and all its sessions share. ONNX Runtime
 * makes a stream per thread and session, on threads of its choice, and a server that starts a thread per request makes
 * one per request; so the device keeps the backend's streams that nobody uses for those who ask next.
 */
#ifndef LEAT_ONNXRUNTIME_SHARED_DEVICE_H_
#define LEAT_ONNXRUNTIME_SHARED_DEVICE_H_

#include <pthread.h>
#include <stdatomic.h>

#include "collector.h"
#include "runtime.h"

/** Vendor id of the provider and of its memory ("LEAT"). Two providers whose memory has the same type and vendor are
 * taken to share it, so this is no PCI vendor's number: those end at 0xffff. */
#define LEATI_VENDOR_ID 0x4c454154u
/** Alignment of device memory in bytes, as the backend promises it. */
#define LEATI_ALIGNMENT 256u
/** Idle streams that a device keeps. More than this many threads at once make and destroy the rest. */
#define LEATI_IDLE_MAX 128u

/** A device. Made by leati_shared_device_init(), shared by all sessions of the factory. */
typedef struct leati_shared_device {
  const leati_runtime *runtime;  /**< immutable */
  leat_device_info info;         /**< immutable */
  OrtMemoryInfo *memory_info;    /**< immutable; released with the device */
  OrtMemoryInfo *host_info;      /**< of HOST_ACCESSIBLE memory; NULL: the backend has none. Likewise */
  OrtHardwareDevice *created;    /**< what ONNX Runtime did not find, else NULL; written at registration only */
  pthread_mutex_t lock;          /**< guards opening, `idle` and `idle_count`; no other lock is taken under it */
  _Atomic(leat_device *) opened; /**< NULL until first used; the release store pairs with acquire loads */
  pthread_mutex_t publish_lock;  /**< guards `published_event`, and raising `published`; taken before the backend's */
  leat_event *published_event;   /**< behind all that was published; NULL: nothing, or it failed */
  _Atomic(uint64_t) published;   /**< how often; raised by release, so that who sees it finds the event recorded */
  _Atomic(size_t) largest;       /**< bytes of the largest allocation on it so far; a figure, relaxed */
  unsigned idle_count;           /**< elements of `idle`; guarded by `lock` */
  leat_stream *idle[LEATI_IDLE_MAX]; /**< streams nobody uses, the latest last; guarded by `lock` */
  leati_collector collector;         /**< profiles of sessions and Runs; has a lock of its own */
} leati_shared_device;

/** What the provider of each session begins with. A kernel, which ONNX Runtime tells its OrtEp, finds the device so. */
typedef struct leati_ep_head {
  OrtEp base;                  /**< what ONNX Runtime calls; immutable */
  leati_shared_device *device; /**< immutable */
} leati_ep_head;

/** Fills in a device.
 * @threads any
 * @param device [out] the device; release with leati_shared_device_clear() if NULL is returned
 * @param runtime [in] the tables, which must outlive the device
 * @param index the backend's number of it
 * @return NULL, or what went wrong */
OrtStatus *leati_shared_device_init(leati_shared_device *device, const leati_runtime *runtime, uint32_t index);

/** Closes the device and frees what belongs to it, except in a process that is exiting or was forked.
 * @threads owner
 * @param device [inout] the device */
void leati_shared_device_clear(leati_shared_device *device);

/** Opens the device, the first time, and gives the backend's handle.
 * @threads any
 * @param device [inout] the device
 * @param out [out] the handle, valid as long as the device
 * @param err [out] what went wrong
 * @return LEAT_OK or the code of the failure */
int32_t leati_shared_device_open(leati_shared_device *device, leat_device **out, leat_error *err);

/** Lends a stream that nobody else uses, without an error in it.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param out [out] the stream; return it by leati_shared_device_return_stream()
 * @param err [out] what went wrong
 * @return LEAT_OK or the code of the failure */
int32_t leati_shared_device_borrow_stream(leati_shared_device *device, leat_stream **out, leat_error *err);

/** Takes a stream back. What is in it is submitted and still runs; whoever gets the stream next comes after it.
 * @threads any
 * @param device [inout] the device that lent it
 * @param stream [owned] the stream */
void leati_shared_device_return_stream(leati_shared_device *device, leat_stream *stream);

/** Waits for all work that was put into the device's streams before. A failure of a stream's work is that stream's, and
 * a lost device is told by whatever is asked of it next.
 * @threads any
 * @param device [inout] the device; NULL, or one that nobody has opened, does nothing */
void leati_shared_device_wait(leati_shared_device *device);

/** Lets whatever Runs put into their streams from now on come after all that is in a stream. For work of which no Run
 * knows: copies that an application has made on a stream of its own. A failure of that work fails what comes after it
 * until somebody has been told; all of the device is waited for then.
 * @threads any
 * @param device [inout] the device, which is open
 * @param stream [in] the stream, which itself comes after what was published before
 * @return NULL, or what went wrong */
OrtStatus *leati_shared_device_publish(leati_shared_device *device, leat_stream *stream);

/** Lets a stream come after all that was published. Fails if that has failed, as leati_shared_device_publish() says.
 * @threads any
 * @param device [inout] the device
 * @param stream [in] the stream
 * @param out_published [out] the value of `published` that the stream comes after now
 * @return NULL, or what went wrong */
OrtStatus *leati_shared_device_catch_up(leati_shared_device *device, leat_stream *stream, uint64_t *out_published);

/** Tells whether a device is meant by what a user wrote: its number, its UUID, or a part of its name.
 * @threads any
 * @param device [in] the device
 * @param text [in] what the user wrote */
bool leati_shared_device_matches(const leati_shared_device *device, const char *text);

/** Writes a UUID as 8-4-4-4-12 hexadecimal digits.
 * @threads any
 * @param uuid [in] 16 bytes
 * @param out [out] 37 bytes */
void leati_shared_device_uuid_text(const uint8_t uuid[16], char out[37]);

#endif /* LEAT_ONNXRUNTIME_SHARED_DEVICE_H_ */
