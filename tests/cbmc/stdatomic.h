/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of the one thread that a harness is, in place of the C library's, which CBMC does not read. */
#ifndef LEAT_TESTS_CBMC_STDATOMIC_H_
#define LEAT_TESTS_CBMC_STDATOMIC_H_

#include <stdbool.h>

enum { memory_order_relaxed, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };

typedef bool atomic_bool;

#define atomic_load_explicit(at, order) (*(at))
#define atomic_store_explicit(at, value, order) ((void)(*(at) = (value)))
#define atomic_exchange_explicit(at, value, order) \
  ({                                               \
    __typeof__(*(at)) was_ = *(at);                \
    *(at) = (value);                               \
    was_;                                          \
  })
#define CHANGE_(at, how, value)     \
  ({                                \
    __typeof__(*(at)) was_ = *(at); \
    *(at) = was_ how(value);        \
    was_;                           \
  })
#define atomic_fetch_add_explicit(at, value, order) CHANGE_(at, +, value)
#define atomic_fetch_sub_explicit(at, value, order) CHANGE_(at, -, value)
#define atomic_fetch_or_explicit(at, value, order) CHANGE_(at, |, value)
#define atomic_compare_exchange_strong_explicit(at, expected, value, order, otherwise) \
  ({                                                                                   \
    const bool same_ = *(at) == *(expected);                                           \
    if (same_) {                                                                       \
      *(at) = (value);                                                                 \
    } else {                                                                           \
      *(expected) = *(at);                                                             \
    }                                                                                  \
    same_;                                                                             \
  })
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit

#endif /* LEAT_TESTS_CBMC_STDATOMIC_H_ */
