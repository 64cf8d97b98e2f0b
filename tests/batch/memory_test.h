/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What stands in for the C library's functions in the copy of the batch queue that memory_test.c runs.
 */
#ifndef LEAT_TESTS_BATCH_MEMORY_TEST_H_
#define LEAT_TESTS_BATCH_MEMORY_TEST_H_

#include <pthread.h>
#include <stddef.h>

void *leati_test_malloc(size_t bytes);
void *leati_test_calloc(size_t count, size_t bytes);
void *leati_test_aligned_alloc(size_t alignment, size_t bytes);
char *leati_test_strdup(const char *text);
int leati_test_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

#endif /* LEAT_TESTS_BATCH_MEMORY_TEST_H_ */
