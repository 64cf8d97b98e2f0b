/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with locks that the analysis must report, in the lines that say so. It is not built. */
#include "core/sync.h"

typedef struct shelf {
  leati_mutex lock; /* guards `count` */
  int count;
} shelf;

void add(shelf *s) LEATI_HOLDS(s->lock);
void leave_held(shelf *s, bool full);
void add_unheld(shelf *s);
void take_twice(shelf *s);
void give_unheld(pthread_mutex_t *lock);
void use_unheld(void);

void add(shelf *s) LEATI_HOLDS(s->lock) {
  ++s->count;
}

void leave_held(shelf *s, bool full) {
  leati_mutex_lock(&s->lock);
  if (full) {
    return;
  }
  leati_mutex_unlock(&s->lock);
} /* wrong */

void add_unheld(shelf *s) {
  add(s); /* wrong */
}

void take_twice(shelf *s) {
  leati_mutex_lock(&s->lock);
  leati_mutex_lock(&s->lock); /* wrong */
  leati_mutex_unlock(&s->lock);
}

void give_unheld(pthread_mutex_t *lock) {
  (void)pthread_mutex_unlock(lock); /* wrong */
}

static leati_mutex all_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_TRACE);
static int all LEATI_GUARDED_BY(all_lock);

void use_unheld(void) {
  ++all; /* wrong */
}
