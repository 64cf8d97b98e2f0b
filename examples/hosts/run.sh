#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh BUILD [LANGUAGE...]: builds and runs the programs of this folder, c, java, rust and go, or those that are named,
# against the provider and the ONNX Runtime of BUILD, a build folder. What comes of it lies in BUILD/hosts. A language
# whose tools or packages are not to be had is skipped, and why is said. CC and CFLAGS count for c.
# Exit status: 0 all that ran were right, 1 one was not, 2 bad use, 77 none ran, because there is no device or nothing to
# build with.
set -u
java_version=1.29.0 # of ONNX Runtime, which the package for Java brings
rust_oldest=1.92    # what the crate of rust/Cargo.toml needs

if [ ! -e "${1-}/libleat_onnxruntime.so" ]; then
  echo "usage: run.sh BUILD [LANGUAGE...]; BUILD is a folder where libleat_onnxruntime.so was built" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd -P)
build=$(cd "$1" && pwd -P)
shift
[ $# -gt 0 ] || set -- c java rust go
work=$build/hosts
provider=$build/libleat_onnxruntime.so
runtime=$build/onnxruntime/libonnxruntime.so.1
model=$here/../demo/digits.onnx
include=$(sed -n 's/^ONNXRUNTIME_INCLUDE_DIR:PATH=//p' "$build/CMakeCache.txt")
ran=0 wrong=0

# skip WHY
skip() {
  printf '%-5s skipped: %s\n' "$language" "$1"
}

# fail WHAT: with what was printed last.
fail() {
  printf '%-5s FAILED: %s\n' "$language" "$1"
  cat "$folder/log"
  wrong=$((wrong + 1))
}

# has COMMAND...: whether there is each; what is lacking is told.
has() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || {
      skip "there is no $tool"
      return 1
    }
  done
}

# fetch COMMAND...: brings packages.
fetch() {
  "$@" >"$folder/log" 2>&1 || {
    skip "its packages cannot be had: $(grep . "$folder/log" | head -n 1)"
    return 1
  }
}

# compile COMMAND...
compile() {
  "$@" >"$folder/log" 2>&1 || {
    fail "it does not compile"
    return 1
  }
}

# run COMMAND...
run() {
  said=$("$@" 2>"$folder/log")
  status=$?
  if [ $status -eq 77 ]; then
    skip "$(tail -n 1 "$folder/log")"
  elif [ $status -ne 0 ]; then
    fail "exit status $status $said"
  else
    ran=$((ran + 1))
    printf '%-5s %s\n' "$language" "$said"
  fi
}

run_c() {
  has "${CC:-cc}" || return
  # shellcheck disable=SC2086 # Lists of options.
  compile ${CC:-cc} -std=c11 -D_GNU_SOURCE ${CFLAGS-} -isystem "$include" "$here/c/main.c" "$runtime" \
    -Wl,-rpath,"$build/onnxruntime" -pthread -lm -o "$folder/host" && run "$folder/host" "$provider" "$model"
}

run_java() {
  has java javac mvn &&
    fetch mvn -B -q dependency:copy -Dartifact=com.microsoft.onnxruntime:onnxruntime:$java_version \
      -DoutputDirectory="$folder" &&
    compile javac -Xlint:all -Werror -cp "$folder/onnxruntime-$java_version.jar" -d "$folder" "$here/java/Host.java" &&
    run java -cp "$folder:$folder/onnxruntime-$java_version.jar" Host "$provider" "$model"
}

run_rust() {
  has cargo rustc || return
  version=$(rustc --version | cut -d ' ' -f 2)
  if [ "$(printf '%s\n' $rust_oldest "$version" | sort -V | head -n 1)" != $rust_oldest ]; then
    skip "rustc is $version; $rust_oldest or newer is needed"
    return
  fi
  # Cargo writes its list of versions beside Cargo.toml.
  cp -r "$here/rust/Cargo.toml" "$here/rust/src" "$folder"
  fetch cargo fetch -q --manifest-path "$folder/Cargo.toml" &&
    compile cargo build -q --release --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target" &&
    run "$folder/target/release/host" "$runtime" "$provider" "$model"
}

run_go() {
  has go "${CC:-cc}" && cd "$here/go" && fetch go mod download &&
    compile env CGO_ENABLED=1 CGO_CFLAGS="-I$include" go build -o "$folder/host" . &&
    run "$folder/host" "$runtime" "$provider" "$model"
}

for language in "$@"; do
  folder=$work/$language
  rm -rf "$folder"
  mkdir -p "$folder"
  case $language in
    c | java | rust | go) "run_$language" ;;
    *)
      echo "run.sh: there is no program in $language; there are c, java, rust and go" >&2
      exit 2
      ;;
  esac
done
[ $wrong -eq 0 ] || exit 1
[ $ran -gt 0 ] || exit 77
