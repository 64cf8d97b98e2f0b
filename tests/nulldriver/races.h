/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the thread sanitizer is told. The driver has one lock, and a lock orders the threads that take it: left alone it
 * would order every call of the host after every other one, and so hide the host's races. So the sanitizer does not
 * look at the driver's own state, which that lock guards, nor at the lock. It sees the bytes that the device reads and
 * writes, a mark on each object that stands for the object's state, and exactly the order that Vulkan promises: from a
 * submission to its execution, from one execution to the next on a queue, and from a semaphore's signal to whoever sees
 * its value.
 */
#ifndef LEAT_TESTS_NULLDRIVER_RACES_H_
#define LEAT_TESTS_NULLDRIVER_RACES_H_

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

/* The sanitizer's dynamic annotations, which it exports without a header. */
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/** The sanitizer looks away from this thread until nd_races_seen(). Nests. */
static inline void nd_races_unseen(void) {
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
static inline void nd_races_seen(void) {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}
/** What this thread did so far comes before whoever calls nd_races_after() on the same address later. Both are called
 * unseen. */
static inline void nd_races_before(void *address) {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __tsan_release(address);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}
static inline void nd_races_after(void *address) {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __tsan_acquire(address);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}
#else
static inline void nd_races_unseen(void) {
}
static inline void nd_races_seen(void) {
}
static inline void nd_races_before(void *address) {
  (void)address;
}
static inline void nd_races_after(void *address) {
  (void)address;
}
#endif

#endif /* LEAT_TESTS_NULLDRIVER_RACES_H_ */
