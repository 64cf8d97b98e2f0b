/* SPDX-License-Identifier: BSD-3-Clause */
/* Four threads hand single rows to a queue, whose worker squares them in one call. */
#include <leat/batch.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4

static leat_batch_queue *queue;

/* Runs a batch: the results take the place of the inputs. */
static int32_t square(void *user, leat_batch_call *call, leat_error *err) {
  (void)user;
  (void)err;
  call->outputs[0] = *call->inputs[0];
  float *values = call->outputs[0].data;
  for (int64_t i = 0; i < call->inputs[0]->shape[0]; ++i) {
    values[i] *= values[i];
  }
  return LEAT_OK;
}

static void *request(void *number) {
  float *value = number;
  int64_t shape[1] = {1};
  const DLTensor tensor = {value, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  const DLTensor *tensors[1] = {&tensor};
  leat_error err = {.struct_size = sizeof(err)};
  if (leat_batch_run(queue, 1, tensors, 1, tensors, -1, &err) != LEAT_OK) {
    fprintf(stderr, "%s\n", err.message);
    *value = 0;
  }
  return NULL;
}

int main(void) {
  leat_error err = {.struct_size = sizeof(err)};
  const leat_batch_config config = {.struct_size = sizeof(config),
                                    .workers = 1,
                                    .input_count = 1,
                                    .output_count = 1,
                                    .capacity = 64,
                                    .max_rows = THREADS,
                                    .row_multiple = 1,
                                    .max_delay_ns = 1000000,
                                    .run = square};
  if (leat_batch_queue_create(&config, &queue, &err) != LEAT_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  float values[THREADS] = {1, 2, 3, 4};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    if (pthread_create(&threads[i], NULL, request, &values[i]) != 0) {
      return 1;
    }
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
  }
  leat_batch_queue_destroy(queue, LEAT_BATCH_DRAIN, NULL);
  printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  return values[0] == 1 && values[1] == 4 && values[2] == 9 && values[3] == 16 ? 0 : 1;
}
