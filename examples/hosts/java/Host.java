// SPDX-License-Identifier: BSD-3-Clause
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtEpDevice;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * ONNX Runtime's Java API with Leat: registers the provider from a path, and runs a model of small pictures from 8
 * threads on one session, each answer compared with that of the CPU. Usage: Host PROVIDER.so MODEL.onnx. Exits with 77
 * if there is no device.
 */
public final class Host {
  private static final int THREADS = 8;
  private static final int RUNS = 100;

  private Host() {}

  private static float[] classify(OrtEnvironment env, OrtSession session, float[][][][] picture) throws OrtException {
    try (OnnxTensor image = OnnxTensor.createTensor(env, picture);
        OrtSession.Result result = session.run(Map.of("image", image))) {
      return ((float[][]) result.get(0).getValue())[0];
    }
  }

  private static int work(OrtEnvironment env, OrtSession leat, OrtSession cpu, int thread) throws OrtException {
    int right = 0;
    for (int run = 0; run < RUNS; ++run) {
      float[][][][] picture = new float[1][1][8][8];
      for (int p = 0; p < 64; ++p) {
        picture[0][0][p / 8][p % 8] = (thread * 31 + run * 7 + p * 5) % 17 / 16f;
      }
      float[] scores = classify(env, leat, picture);
      float[] expected = classify(env, cpu, picture);
      boolean close = scores.length == expected.length;
      for (int s = 0; close && s < scores.length; ++s) {
        close = Math.abs(scores[s] - expected[s]) <= 1e-3f * (1 + Math.abs(expected[s]));
      }
      right += close ? 1 : 0;
    }
    return right;
  }

  public static void main(String[] arguments) throws Exception {
    OrtEnvironment env = OrtEnvironment.getEnvironment();
    env.registerExecutionProviderLibrary("leat", arguments[0]);
    List<OrtEpDevice> devices = new ArrayList<>();
    for (OrtEpDevice device : env.getEpDevices()) {
      if (device.getEpName().equals("LeatExecutionProvider")) {
        devices.add(device);
      }
    }
    if (devices.isEmpty()) {
      System.err.println("no Vulkan device; leat-info says why");
      System.exit(77);
    }
    int right = 0;
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.addExecutionProvider(devices.subList(0, 1), Map.of()); // the best device comes first
      // A model that does not run on Leat as a whole is refused.
      options.addConfigEntry("session.disable_cpu_ep_fallback", "1");
      try (OrtSession leat = env.createSession(arguments[1], options);
          OrtSession cpu = env.createSession(arguments[1])) {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < THREADS; ++i) {
          int thread = i;
          answers.add(pool.submit(() -> work(env, leat, cpu, thread)));
        }
        for (Future<Integer> answer : answers) {
          right += answer.get();
        }
        pool.shutdown();
      }
    }
    System.out.printf("%d of %d answers right%n", right, THREADS * RUNS);
    System.exit(right == THREADS * RUNS ? 0 : 1);
  }
}
