/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * ONNX Runtime's C API with Leat: registers the provider from a path, and runs a model of small pictures from 8 threads
 * on one session, each answer compared with that of the CPU. Usage: host PROVIDER.so MODEL.onnx. Exits with 77 if there
 * is no device.
 */
#include <math.h>
#include <onnxruntime_c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, RUNS = 100, PIXELS = 64, SCORES = 10 };

static const OrtApi *ort;

/* What a thread is given, and what it gives. Sessions may be run by any number of threads at once. */
typedef struct worker {
  pthread_t thread;
  OrtSession *leat, *cpu;
  int number, right;
} worker;

/* Any failure ends the program, with what ONNX Runtime says of it. */
static void check(OrtStatus *status) {
  if (status != NULL) {
    fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    exit(1);
  }
}

/* Runs one picture. */
static void classify(OrtSession *session, float *picture, float *scores) {
  static const int64_t shape[] = {1, 1, 8, 8};
  static const char *const inputs[] = {"image"}, *const outputs[] = {"scores"};
  OrtMemoryInfo *host;
  OrtValue *input, *output = NULL;
  float *data;
  check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &host));
  check(ort->CreateTensorWithDataAsOrtValue(host, picture, PIXELS * sizeof(float), shape, 4,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  check(ort->Run(session, NULL, inputs, (const OrtValue *const *)&input, 1, outputs, 1, &output));
  check(ort->GetTensorMutableData(output, (void **)&data));
  memcpy(scores, data, SCORES * sizeof(float));
  ort->ReleaseValue(output);
  ort->ReleaseValue(input);
  ort->ReleaseMemoryInfo(host);
}

static void *work(void *argument) {
  worker *const w = argument;
  for (int run = 0; run < RUNS; ++run) {
    float picture[PIXELS], scores[SCORES], expected[SCORES];
    for (int p = 0; p < PIXELS; ++p) {
      picture[p] = (float)((w->number * 31 + run * 7 + p * 5) % 17) / 16;
    }
    classify(w->leat, picture, scores);
    classify(w->cpu, picture, expected);
    int close = 0;
    for (int s = 0; s < SCORES; ++s) {
      close += fabsf(scores[s] - expected[s]) <= 1e-3f * (1 + fabsf(expected[s]));
    }
    w->right += close == SCORES;
  }
  return NULL;
}

/* The best device of Leat's provider, which comes first. */
static const OrtEpDevice *find_device(const OrtEnv *env) {
  const OrtEpDevice *const *devices;
  size_t count;
  check(ort->GetEpDevices(env, &devices, &count));
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(ort->EpDevice_EpName(devices[i]), "LeatExecutionProvider") == 0) {
      return devices[i];
    }
  }
  fprintf(stderr, "no Vulkan device; leat-info says why\n");
  exit(77);
}

int main(int argc, char **argv) {
  worker workers[THREADS];
  OrtEnv *env;
  OrtSessionOptions *plain, *options;
  OrtSession *leat, *cpu;
  int right = 0;
  if (argc != 3) {
    fprintf(stderr, "usage: host PROVIDER.so MODEL.onnx\n");
    return 2;
  }
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (ort == NULL) {
    fprintf(stderr, "ONNX Runtime %s is older than the header\n", OrtGetApiBase()->GetVersionString());
    return 1;
  }
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "host", &env));
  /* ONNX Runtime would look for a relative path in its own folder. */
  char *const provider = realpath(argv[1], NULL);
  if (provider == NULL) {
    perror(argv[1]);
    return 1;
  }
  check(ort->RegisterExecutionProviderLibrary(env, "leat", provider));
  free(provider);
  const OrtEpDevice *const device = find_device(env);
  check(ort->CreateSessionOptions(&plain));
  check(ort->CreateSession(env, argv[2], plain, &cpu));
  check(ort->CreateSessionOptions(&options));
  check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, NULL, NULL, 0));
  /* A model that does not run on Leat as a whole is refused. */
  check(ort->AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"));
  check(ort->CreateSession(env, argv[2], options, &leat));
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.leat = leat, .cpu = cpu, .number = i};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "no thread\n");
      return 1;
    }
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(workers[i].thread, NULL);
    right += workers[i].right;
  }
  printf("%d of %d answers right\n", right, THREADS * RUNS);
  ort->ReleaseSession(leat);
  ort->ReleaseSession(cpu);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseSessionOptions(plain);
  check(ort->UnregisterExecutionProviderLibrary(env, "leat"));
  ort->ReleaseEnv(env);
  return right == THREADS * RUNS ? 0 : 1;
}
