/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_ticket.h"

#include <stdlib.h>
#include <string.h>

#include "batch_clock.h"
#include "common/error.h"

int32_t leati_batch_ticket_new(leat_batch_queue *queue, uint32_t count, const DLTensor *const *inputs,
                               leat_batch_ticket **out, leat_error *err) {
  leat_batch_ticket *ticket = calloc(1, sizeof(*ticket));
  leati_batch_group *spare = malloc(sizeof(*spare));
  if (ticket == NULL || spare == NULL || !leati_batch_clock_condition(&ticket->moved)) {
    free(ticket);
    free(spare);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for a request");
  }
  ticket->queue = queue;
  ticket->held = true;
  ticket->spare = spare;
  ticket->rows = inputs[0]->shape[0];
  if (!leati_batch_pack_init(&ticket->in, count, inputs)) {
    leati_batch_ticket_free(ticket);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the inputs of a request");
  }
  for (uint32_t i = 0; i < count; ++i) {
    leati_batch_copy(&ticket->in.tensors[i], 0, inputs[i], 0, ticket->rows);
  }
  *out = ticket;
  return LEAT_OK;
}

void leati_batch_ticket_free(leat_batch_ticket *ticket) {
  leati_batch_pack_clear(&ticket->in);
  leati_batch_pack_clear(&ticket->out);
  pthread_cond_destroy(&ticket->moved);
  free(ticket->spare);
  free(ticket->message);
  free(ticket);
}

int64_t leati_batch_ticket_load(const leat_batch_ticket *ticket) {
  return ticket->rows > 0 ? ticket->rows : 1;
}

void leati_batch_ticket_fail(leat_batch_ticket *ticket, int32_t code, int32_t native_code, const char *message) {
  ticket->code = code;
  ticket->native_code = native_code;
  ticket->message = strdup(message);
}

int32_t leati_batch_ticket_report(const leat_batch_ticket *ticket, leat_error *err) {
  return leati_error_set(err, ticket->code, ticket->native_code, "%s", ticket->message != NULL ? ticket->message : "");
}
