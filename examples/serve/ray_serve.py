#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The server for more than one GPU or machine: an application of Ray Serve, with a replica for each GPU.

    POST /classify   an image to classify, see digits.py
    GET /replica     which replica this is: its process, and the device that it was given

    ray_serve.py [--replicas N] [--port N]               on a Ray of its own, on this machine alone
    serve run ray_serve:app replicas=4 replica_gpus=1    on a cluster, whose machines all have this folder
    ... device=UUID,UUID                                 the devices, in the order of Ray's numbers for GPUs

What a client can get instead of an answer is what one_process.py gives, and 500 where the replica that had its request
has died. Ray Serve's proxy has GET /-/healthz; it drains a replica before it stops it, and replaces one that is dead,
or whose check_health() fails.
"""
import argparse
import asyncio
import os
import signal
import threading

import fastapi
import numpy as np
import ray
from ray import serve

import command_line
import digits

DEADLINE_S = 10
http = fastapi.FastAPI(openapi_url=None)


def device_of_replica(chosen):
    """The index or UUID of the device that a replica uses, or none for the best.

    Ray gives each replica a number among the GPUs of its machine. It hides others from CUDA, but not from Vulkan, so
    the number is used here. Without a list that is chosen, it counts the devices that are no software in Leat's order:
    each replica has one of its own, but it may be another one than CUDA has under that number.
    """
    import onnxruntime_ep_leat as leat
    numbers = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    if not numbers:
        return chosen[0] if chosen else None
    usable = chosen or [str(device.index) for device in leat.devices() if device.usable and not device.software]
    number = int(numbers[0])
    if number >= len(usable):
        raise RuntimeError(f"Ray gave GPU {number}, and Leat has {len(usable)} devices: {', '.join(usable) or 'none'}")
    return usable[number]


# A replica lets in two full batches: one that runs, and one that comes together. What does not fit waits in the proxy.
# A new version takes GPUs that old replicas have left, so none has to be free for it.
@serve.deployment(max_ongoing_requests=64, max_queued_requests=256,
                  backpressure_config=serve.config.BackpressureConfig(retry_after_s=1),
                  graceful_shutdown_timeout_s=DEADLINE_S + 1, graceful_shutdown_wait_loop_s=0.1,
                  max_surge_percent=0, health_check_period_s=2, health_check_timeout_s=DEADLINE_S)
@serve.ingress(http)
class Digits:
    def __init__(self, chosen, generation):
        self.device = device_of_replica(chosen)
        self.generation = generation
        self.failure = None
        self.session = digits.open_session(self.device)
        self.run_batch([np.zeros((1, 1, digits.SIDE, digits.SIDE), np.float32)])  # It compiles kernels.

    def run_batch(self, images):
        return list(self.session.run(None, {"image": np.concatenate(images)})[0])

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.002, max_concurrent_batches=2)
    async def scores_of(self, images):
        try:
            # In a thread, so that others can be read meanwhile.
            async with asyncio.timeout(DEADLINE_S):
                scores = await asyncio.to_thread(self.run_batch, images)
        except Exception as error:
            self.failure = f"the last batch failed: {type(error).__name__}: {error}"
            raise
        self.failure = None
        return scores

    def check_health(self):
        """Ray Serve asks this, and replaces a replica that raises something."""
        if self.failure:
            raise RuntimeError(self.failure)

    @http.post("/classify")
    async def classify(self, request: fastapi.Request):
        try:
            image = await digits.image_of_request(request, DEADLINE_S)
            return digits.answer_of(await self.scores_of(image))
        except digits.BadRequest as error:
            return fastapi.responses.JSONResponse({"error": str(error)}, error.status)
        except TimeoutError:
            return fastapi.responses.JSONResponse({"error": f"it took longer than {DEADLINE_S} s"}, 504)
        except Exception:
            return fastapi.responses.JSONResponse({"error": "the model could not be run"}, 500)

    @http.get("/replica")
    def replica(self):
        return {"process": os.getpid(), "device": self.device, "generation": self.generation}


def app(arguments):
    """The application. arguments, which may be text: replicas (1); replica_gpus, how many of Ray's GPUs each takes: 1,
    0.5 for two on each, or 0 where Ray has none (0); device; generation: replicas of another one than runs are a new
    version, which takes the old one's place replica by replica."""
    chosen = [name for name in arguments.get("device", "").split(",") if name]
    return Digits.options(
        num_replicas=int(arguments.get("replicas", 1)),
        ray_actor_options={"num_cpus": 0.1, "num_gpus": float(arguments.get("replica_gpus", 0))},
    ).bind(chosen, arguments.get("generation", "1"))


def start(port, gpus=None):
    """A Ray of this process's own, without dashboard, and its HTTP proxy. How many GPUs it has."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_gpus=gpus, include_dashboard=False, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": port, "request_timeout_s": 3 * DEADLINE_S})
    return int(ray.cluster_resources().get("GPU", 0))


def deploy(arguments):
    """Runs app() of these arguments, or ends the program with what a replica has raised, which is told here alone."""
    try:
        serve.run(app(arguments))
    except RuntimeError as error:
        said = [deployment.message for deployment in serve.status().applications["default"].deployments.values()]
        raise SystemExit("\n".join([str(error), *said])) from None


def main():
    parser = argparse.ArgumentParser(description="Serves digits by Ray Serve, on this machine.")
    parser.add_argument("--replicas", type=command_line.whole(1, 1024),
                        help="default: as many as Ray finds GPUs, or one")
    parser.add_argument("--gpus", type=command_line.whole(0, 1024),
                        help="how many there are, where Ray does not know the vendor's")
    parser.add_argument("--device", default="", help="indices or UUIDs, in the order of Ray's numbers for GPUs")
    parser.add_argument("--port", type=command_line.whole(1, 65535), default=8000)
    options = parser.parse_args()
    gpus = start(options.port, options.gpus)
    ended = threading.Event()
    for number in signal.SIGTERM, signal.SIGINT:
        signal.signal(number, lambda *_: ended.set())  # Ray's own, which ray.init() has set, would end it at once.
    deploy({"replicas": options.replicas or max(1, gpus), "replica_gpus": 1 if gpus else 0, "device": options.device})
    print(f"serving http://127.0.0.1:{options.port}", flush=True)
    ended.wait()
    serve.shutdown()  # Replicas drain, but the proxy cuts connections: balancers go elsewhere before.


if __name__ == "__main__":
    main()
