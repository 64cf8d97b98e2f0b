/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What functions do with locks, for clang's thread-safety analysis (`./dev check tsa`), which defines
 * LEAT_ANALYSE_LOCKS. Else compilers read nothing: gcc takes no attribute there.
 *
 * Written behind a function's parameters, whose locks it names: `static void serve(pool *pool)
 * LEATI_HOLDS(pool->lock)`. Fields say in words what guards them: in C, clang 14 has no attribute of a field that names
 * another one.
 */
#ifndef LEAT_COMMON_GUARDED_H_
#define LEAT_COMMON_GUARDED_H_

#ifdef LEAT_ANALYSE_LOCKS
#define LEATI_ANALYSED(attribute) __attribute__((attribute))
#else
#define LEATI_ANALYSED(attribute)
#endif

/** Of a type: it is a lock. */
#define LEATI_LOCK LEATI_ANALYSED(capability("mutex"))
/** Of a variable outside of functions: the lock is held where it is used. */
#define LEATI_GUARDED_BY(lock) LEATI_ANALYSED(guarded_by(lock))
/** Of a function: it returns with these locks, which the caller does not have. */
#define LEATI_TAKES(...) LEATI_ANALYSED(acquire_capability(__VA_ARGS__))
/** Returns with these locks if it returns true. */
#define LEATI_TRIES(...) LEATI_ANALYSED(try_acquire_capability(true, __VA_ARGS__))
/** Is called with these locks, and returns without them. */
#define LEATI_GIVES(...) LEATI_ANALYSED(release_capability(__VA_ARGS__))
/** Is called with these locks, and returns with them; it may give them up meanwhile. */
#define LEATI_HOLDS(...) LEATI_ANALYSED(requires_capability(__VA_ARGS__))
/** Is called with these locks, which the analysis cannot know. */
#define LEATI_ASSUMES(...) LEATI_ANALYSED(assert_capability(__VA_ARGS__))
/** Is called without these locks. */
#define LEATI_LACKS(...) LEATI_ANALYSED(locks_excluded(__VA_ARGS__))
/** The function is not analysed; a comment says why. */
#define LEATI_UNANALYSED LEATI_ANALYSED(no_thread_safety_analysis)

#endif /* LEAT_COMMON_GUARDED_H_ */
