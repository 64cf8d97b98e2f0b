/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator's table of segments: from an address to its block. */
#include "memory/segment_table.c"

#include "outside.h"

#define SEGMENTS 3

static leati_segment segments[SEGMENTS];
static leati_block block;
/* A table with room for so many. */
static struct {
  leati_segment_array array;
  leati_segment_entry entries[SEGMENTS];
} room;
static leati_segment_table table = {.array = &room.array};

/* A reader that is alone never waits for a writer. */
void leati_spin_pause(void) {
  PROVE(false);
}

/* A table of so many segments, one behind the other. Each is cut into one block and some rest. */
static void begin(uint32_t count) {
  uint64_t address = 0;
  room.array.capacity = SEGMENTS;
  for (uint32_t i = 0; i < SEGMENTS; ++i) {
    address += (uint64_t)ANY(uint16_t) << 12;
    segments[i].address = address;
    segments[i].block_size = 4096;
    segments[i].size = ANY(bool) ? 8192 : 4096;
    segments[i].block_count = 1;
    segments[i].blocks = &block;
    address += segments[i].size;
    if (i < count) {
      room.entries[i].address = segments[i].address;
      room.entries[i].end = segments[i].address + segments[i].size;
      room.entries[i].home = &segments[i];
    }
  }
  table.count = count;
}

/* An address finds the block that it lies in if someone holds that, and else none.
 * UNWIND 4 LOOPS find_segment.1:2
 * MISTAKE plugin/memory/segment_table.c: `low = middle + 1;` becomes `low = middle + 2;`
 * MISTAKE plugin/memory/segment_table.c: `address >= atomic_load_explicit(&entry->end` becomes
 * `address > atomic_load_explicit(&entry->end`
 * MISTAKE plugin/memory/segment_table.c: `if (index >= home->block_count)` becomes `if (index > home->block_count)`
 * MISTAKE plugin/memory/segment_table.c: `references != LEATI_TEMPORARY` becomes `true` */
void prove_an_address_finds_its_block(void) {
  begin(SEGMENTS);
  block.references = ANY(uint64_t);
  const uint64_t address = ANY(uint64_t);
  bool inside = false;
  for (uint32_t i = 0; i < SEGMENTS; ++i) {
    inside = inside || address - segments[i].address < 4096;
  }
  const bool held = block.references != 0 && block.references != LEATI_TEMPORARY;
  PROVE((leati_segment_table_find(&table, address) == &block) == (inside && held));
}

/* Entry `i` stands for its segment, behind the one before it. */
static void prove_entry(uint32_t i) {
  const leati_segment_entry *const entries = table.array->entries;
  const leati_segment *const home = entries[i].home;
  PROVE(entries[i].address == home->address && entries[i].end == home->address + home->size);
  PROVE(i == 0 || entries[i - 1].end <= entries[i].address);
}

/* A segment that is added anywhere leaves the table sorted, also where the table has to grow for it; one for which
 * there is no host memory leaves it as it was. A reader knows that entries moved.
 * UNWIND 4
 * SMALLER plugin/memory/segment_table.c: `array->capacity * 2` becomes `array->capacity + 1`
 * MISTAKE plugin/memory/segment_table.c: `> address_of(table, added)` becomes `< address_of(table, added)`
 * MISTAKE plugin/memory/segment_table.c: `entry_set(table, array, at, entry_get(array, at - 1));` becomes ``
 * MISTAKE plugin/memory/segment_table.c: `count < array->capacity` becomes `count <= array->capacity`
 * MISTAKE plugin/memory/segment_table.c: `entry_set(table, grown, i, entry_get(array, i));` becomes `` */
void prove_a_segment_is_added_in_order(void) {
  begin(SEGMENTS);
  /* Any of the three is the one that comes last. */
  const uint32_t last = ANY(uint32_t);
  ASSUME(last < SEGMENTS);
  room.entries[0].home = &segments[last == 0 ? 1 : 0];
  room.entries[1].home = &segments[last == 2 ? 1 : 2];
  for (uint32_t i = 0; i < 2; ++i) {
    room.entries[i].address = room.entries[i].home->address;
    room.entries[i].end = room.entries[i].address + room.entries[i].home->size;
  }
  table.count = 2;
  room.array.capacity = ANY(bool) ? 2 : 3;
  if (leati_segment_table_insert(&table, &segments[last], NULL) == LEAT_OK) {
    PROVE(table.count == 3 && table.count <= table.array->capacity && table.sequence == 2);
    prove_entry(0);
    prove_entry(1);
    prove_entry(2);
  } else {
    PROVE(table.count == 2 && table.array == &room.array && table.sequence % 2 == 0);
  }
}

/* Just those that leave are taken out, and the others stay in order.
 * UNWIND 4
 * MISTAKE plugin/memory/segment_table.c: `if (!home->leaving)` becomes `if (home->leaving)`
 * MISTAKE plugin/memory/segment_table.c: `entry_set(table, array, kept++, home);` becomes `++kept;`
 * MISTAKE plugin/memory/segment_table.c: `&table->count, kept, memory_order_release` becomes
 * `&table->count, count, memory_order_release` */
void prove_those_that_leave_are_taken_out(void) {
  begin(SEGMENTS);
  uint32_t staying = 0;
  for (uint32_t i = 0; i < SEGMENTS; ++i) {
    segments[i].leaving = ANY(bool);
    staying += !segments[i].leaving;
  }
  leati_segment_table_remove_leaving(&table);
  PROVE(table.count == staying && table.sequence == 2);
  for (uint32_t i = 0; i < staying; ++i) {
    PROVE(!room.entries[i].home->leaving);
    prove_entry(i);
  }
}
