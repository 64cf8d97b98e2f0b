#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench [--draw JSON...|[--plot] ARGUMENT...]: leat-bench on the device that Leat would choose; nothing is told about which driver.
# shellcheck source=tools/ci/lib/build.sh
. "${0%/*}/lib/build.sh"

# draw JSON...: docs/scaling.svg.
draw() {
  make_logs
  environment "$DEPS/plot" tools/bench/requirements.txt "what draws the picture, about 40 MB"
  "$DEPS/plot/bin/python" "$ROOT/tools/bench/plot.py" "$@"
}

if [ "${1:-}" = --draw ]; then
  shift
  [ $# -gt 0 ] || stop "bench --draw wants JSON files of leat-bench or tools/bench/peers.py"
  draw "$@"
  exit
fi
setup
build_gcc leat-bench leat_vulkan
if [ "${1:-}" = --plot ]; then
  shift
  "$BUILD/leat-bench" --json "$BUILD/bench.json" "$@"
  draw "$BUILD/bench.json"
else
  exec "$BUILD/leat-bench" "$@"
fi
