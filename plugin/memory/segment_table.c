/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/segment_table.h"

#include <stdatomic.h>

#include "core/status.h"

static leati_segment *entry_get(const leati_segment_array *array, uint32_t i) {
  return atomic_load_explicit(&array->entries[i].home, memory_order_relaxed);
}

/* What a table knows a segment by. */
static uint64_t address_of(const leati_segment_table *table, const leati_segment *home) {
  return table->by_host ? home->host_address : home->address;
}

static void entry_set(const leati_segment_table *table, leati_segment_array *array, uint32_t i, leati_segment *home) {
  const uint64_t address = address_of(table, home);
  atomic_store_explicit(&array->entries[i].address, address, memory_order_release);
  atomic_store_explicit(&array->entries[i].end, address + home->size, memory_order_release);
  atomic_store_explicit(&array->entries[i].home, home, memory_order_release);
}

/* Makes room for one more entry. `lock` held. */
static int32_t reserve(leati_segment_table *table, uint32_t count, leat_error *err) LEATI_HOLDS(table->lock) {
  leati_segment_array *const array = atomic_load_explicit(&table->array, memory_order_relaxed);
  if (array != NULL && count < array->capacity) {
    return LEAT_OK;
  }
  const uint32_t capacity = array == NULL ? 64 : array->capacity * 2;
  leati_segment_array *const grown = leati_calloc(1, sizeof(*grown) + capacity * sizeof(leati_segment_entry));
  if (grown == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the table of segments");
  }
  grown->capacity = capacity;
  grown->older = array;
  for (uint32_t i = 0; i < count; ++i) {
    entry_set(table, grown, i, entry_get(array, i));
  }
  atomic_store_explicit(&table->array, grown, memory_order_release);
  return LEAT_OK;
}

int32_t leati_segment_table_insert(leati_segment_table *table, leati_segment *added, leat_error *err) {
  leati_mutex_lock(&table->lock);
  const uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);
  const int32_t status = reserve(table, count, err);
  if (status == LEAT_OK) {
    leati_segment_array *const array = atomic_load_explicit(&table->array, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&table->sequence, 1, memory_order_acq_rel);
    uint32_t at = count;
    for (; at > 0 && address_of(table, entry_get(array, at - 1)) > address_of(table, added); --at) {
      entry_set(table, array, at, entry_get(array, at - 1));
    }
    entry_set(table, array, at, added);
    atomic_store_explicit(&table->count, count + 1, memory_order_release);
    (void)atomic_fetch_add_explicit(&table->sequence, 1, memory_order_acq_rel);
  }
  leati_mutex_unlock(&table->lock);
  return status;
}

void leati_segment_table_remove_leaving(leati_segment_table *table) {
  leati_mutex_lock(&table->lock);
  leati_segment_array *const array = atomic_load_explicit(&table->array, memory_order_relaxed);
  const uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&table->sequence, 1, memory_order_acq_rel);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    leati_segment *const home = entry_get(array, i);
    if (!home->leaving) {
      entry_set(table, array, kept++, home);
    }
  }
  atomic_store_explicit(&table->count, kept, memory_order_release);
  (void)atomic_fetch_add_explicit(&table->sequence, 1, memory_order_acq_rel);
  leati_mutex_unlock(&table->lock);
}

/* The segment that holds an address, or NULL. */
static leati_segment *find_segment(leati_segment_table *table, uint64_t address) {
  for (;;) {
    const uint32_t before = atomic_load_explicit(&table->sequence, memory_order_acquire);
    if ((before & 1u) != 0) {
      leati_spin_pause();
      continue;
    }
    leati_segment *home = NULL;
    const leati_segment_array *const array = atomic_load_explicit(&table->array, memory_order_acquire);
    uint32_t low = 0;
    uint32_t high = atomic_load_explicit(&table->count, memory_order_acquire);
    if (array == NULL || high > array->capacity) {
      high = 0;
    }
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      const leati_segment_entry *const entry = &array->entries[middle];
      if (address < atomic_load_explicit(&entry->address, memory_order_acquire)) {
        high = middle;
      } else if (address >= atomic_load_explicit(&entry->end, memory_order_acquire)) {
        low = middle + 1;
      } else {
        home = atomic_load_explicit(&entry->home, memory_order_acquire);
        break;
      }
    }
    if (atomic_load_explicit(&table->sequence, memory_order_acquire) == before) {
      return home;
    }
  }
}

leati_block *leati_segment_table_find(leati_segment_table *table, uint64_t address) {
  leati_segment *const home = find_segment(table, address);
  if (home == NULL) {
    return NULL;
  }
  const uint64_t index = (address - address_of(table, home)) / home->block_size;
  if (index >= home->block_count) {
    return NULL;
  }
  leati_block *const block = &home->blocks[index];
  const uint64_t references = atomic_load_explicit(&block->references, memory_order_acquire);
  return references != 0 && references != LEATI_TEMPORARY ? block : NULL;
}

void leati_segment_table_create(leati_segment_table *table, bool by_host) {
  table->by_host = by_host;
  leati_mutex_init(&table->lock, LEATI_RANK_SEGMENTS);
}

void leati_segment_table_destroy(leati_segment_table *table) {
  leati_segment_array *array = atomic_load_explicit(&table->array, memory_order_relaxed);
  while (array != NULL) {
    leati_segment_array *const older = array->older;
    leati_free(array);
    array = older;
  }
  leati_mutex_destroy(&table->lock);
}
