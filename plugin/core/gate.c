/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/gate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fork.h"

/* Moments that have come. Pairs with nothing: it only keeps the number of registrations small. */
static atomic_bool registered[LEATI_GATE_MOMENTS];

leati_gate leati_gate_enter(leati_pass *pass) {
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &pass->cancel_state);
  const leati_gate found = leati_inside_enter(&pass->inside);
  pass->entered = found == LEATI_GATE_OPEN;
  if (!pass->entered) {
    (void)pthread_setcancelstate(pass->cancel_state, NULL);
  }
  return found;
}

void leati_gate_leave(leati_pass *pass) {
  if (pass->entered) {
    leati_inside_leave(pass->inside);
    (void)pthread_setcancelstate(pass->cancel_state, NULL);
    pass->entered = false;
  }
}

/* What is called behind the closed gate, or NULL. Set by release, taken by acquire. */
static void (*_Atomic at_exit)(void);

static void close_at_exit(int status, void *unused) {
  (void)unused;
  if (leati_forked() && atomic_load_explicit(&registered[LEATI_GATE_LOADED], memory_order_relaxed)) {
    (void)fflush(NULL);
    _exit(status);
  }
  leati_inside_close(0);
  void (*const last)(void) = leati_forked() ? NULL : atomic_exchange_explicit(&at_exit, NULL, memory_order_acquire);
  if (last != NULL) {
    last();
  }
}

void leati_gate_at_exit(void (*last)(void)) {
  atomic_store_explicit(&at_exit, last, memory_order_release);
}

void leati_gate_register(leati_gate_moment moment) {
  if (!atomic_load_explicit(&registered[moment], memory_order_relaxed) &&
      !atomic_exchange_explicit(&registered[moment], true, memory_order_relaxed)) {
    (void)on_exit(close_at_exit, NULL);
  }
}
