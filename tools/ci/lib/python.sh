#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Python environments, each with exactly the packages of a list.
# shellcheck source=tools/ci/lib/packages.sh
. "${0%/*}/lib/packages.sh"

# The interpreter for our environment: Debian's own, whose venv module the packages bring.
find_python() {
  if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" -V >/dev/null 2>&1 || stop "PYTHON is '$PYTHON', which does not run; name a CPython 3.11 to 3.14, or unset it"
    printf '%s\n' "$PYTHON"
  elif [ -x /usr/bin/python3 ]; then
    printf '/usr/bin/python3\n'
  else
    command -v python3 || stop "there is no python3; install it, or name one: PYTHON=/path/to/python3 ./dev ..."
  fi
}

# environment FOLDER REQUIREMENTS WORDS: a Python environment with exactly the packages of a list.
environment() {
  python=$(find_python)
  want="$(sha256sum <"$2" | cut -c1-16) $("$python" -V)"
  stamp=$1/leat-stamp
  if [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ]; then
    return 0
  fi
  folder=$1
  list=$2
  say "downloading $3 (pinned in $list)"
  rm -rf "$folder"
  logged venv "$python" -m venv "$folder" ||
    stop "$python could not make a virtual environment. On Debian the package python3-venv is what it needs."
  # The second variable beats the first where both are set.
  set -- env
  own=$DEPS/ca-certificates.crt
  [ ! -e "$own" ] || set -- env PIP_CERT="$own" REQUESTS_CA_BUNDLE="$own"
  logged pip "$@" "$folder/bin/python" -m pip --disable-pip-version-check install --require-hashes --no-deps \
    --only-binary :all: -r "$list" ||
    stop "pip could not bring the packages of $list." \
      "No network, or another index: see 'pip config list', then run this again." \
      "A hash that differs: the index gave another file than the pinned one; do not use it." \
      "No matching distribution: the pins are for CPython 3.11 to 3.14 on x86_64 and aarch64; PYTHON=... names another."
  printf '%s\n' "$want" >"$stamp"
}

# ONNX Runtime's library is among these.
setup_python() {
  environment "$DEPS/python" tools/requirements.txt "ONNX Runtime and the demo's Python packages, about 150 MB"
}

# setup_oldest: the oldest ONNX Runtime that Leat is for. Sets LEAT_TEST_OLDEST for tests/onnx/releases.py; all else that
# it needs is in the environment above.
setup_oldest() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/oldest" tests/onnx/oldest.txt "the oldest ONNX Runtime that Leat is for, about 20 MB"
  exec 9>&-
  for LEAT_TEST_OLDEST in "$DEPS"/oldest/lib/python3*/site-packages; do
    export LEAT_TEST_OLDEST
  done
}

# setup_genai: onnxruntime-genai, for tests/genai. Sets LEAT_TEST_GENAI, the folder of packages that has it; all else
# that it needs is in our environment.
setup_genai() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/genai" tests/genai/requirements.txt "onnxruntime-genai, about 11 MB"
  exec 9>&-
  for LEAT_TEST_GENAI in "$DEPS"/genai/lib/python3*/site-packages; do
    export LEAT_TEST_GENAI
  done
}

# setup_mutants: Clang's Python package, for tests/mutants. Sets MUTANTS_PYTHON.
setup_mutants() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/mutants" tests/mutants/requirements.txt "Clang's Python package, about 25 MB"
  exec 9>&-
  # shellcheck disable=SC2034 # Those who source this use it.
  MUTANTS_PYTHON=$DEPS/mutants/bin/python
}

# setup_wheel: what builds and tests the wheel. Sets LEAT_TEST_WHEEL for tests/wheel.
setup_wheel() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/wheel" python/requirements.txt "what builds and tests the wheel, about 20 MB"
  exec 9>&-
  export LEAT_TEST_WHEEL="$DEPS/wheel/bin/python"
}

# setup_serve: what serves by HTTP in examples/serve. Sets LEAT_TEST_SERVE for tests/serve.
setup_serve() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/serve" examples/serve/requirements.txt "what the example of a server needs, about 70 MB"
  exec 9>&-
  export LEAT_TEST_SERVE="$DEPS/serve/bin/python"
}

# setup_ray: the same with Ray Serve. Sets LEAT_TEST_RAY.
setup_ray() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/ray" examples/serve/ray_requirements.txt "Ray Serve for the example of a server, about 200 MB"
  exec 9>&-
  export LEAT_TEST_RAY="$DEPS/ray/bin/python"
}

setup_compiler() {
  exec 9>"$DEPS/lock"
  flock 9
  environment "$DEPS/compiler" python/compiler.txt "the compiler of the wheel's libraries, about 100 MB"
  exec 9>&-
}
