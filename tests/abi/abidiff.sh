#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abidiff.sh TREE FROZEN: compares the types that hang on leat_backend_query() in today's header with those of a frozen
# version: structs may have grown at their end, nothing else may differ. Then it plants breaks in copies of today's
# header, each of which must be reported, and legal growth, which must not be.
#
# What counts as growth is decided here, not by a suppression of abidiff: its rule for members that were inserted at the
# end (2.2) also swallows changes of a struct into which nothing was inserted, such as another parameter type.
set -eu
tree=$1
frozen=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# build NAME INCLUDE: a library that has all of the header's types in its debug information.
build() {
  "${CC:-cc}" -std=c11 -g -O0 -fPIC -shared -fvisibility=hidden -I"$2" -o "$work/$1.so" "$tree/tests/abi/surface.c"
}

# compatible NAME: true when that library differs from the frozen one in growth only; the report goes to $work/report.
compatible() {
  rc=0
  abidiff --leaf-changes-only --no-show-locs "$work/frozen.so" "$work/$1.so" >"$work/report" 2>&1 || rc=$?
  case $rc in
    0) return 0 ;;
    4) ;;
    *) return 1 ;;
  esac
  awk '
    /^$/ || /^Leaf changes summary:/ || /^Changed leaf types summary:/ { next }
    /^Removed\/Changed\/Added (functions|variables) summary: 0 Removed, 0 Changed, 0 Added/ { next }
    /^.struct leat_[a-z_]+. changed:$/ { size = -1; next }
    /^  type size changed from [0-9]+ to [0-9]+ / && $7 > $5 { size = $5; next }
    /^  [0-9]+ data member insertions?:$/ { next }
    /^    .*, at offset [0-9]+ \(in bits\)$/ && size >= 0 && $(NF - 2) >= size { next }
    { broken = 1 }
    END { exit broken }' "$work/report"
}

# plant NAME EXPRESSION: today's header with one change.
plant() {
  mkdir -p "$work/$1/leat"
  cp "$tree/abi/leat/dlpack.h" "$work/$1/leat/"
  sed -E "$2" "$tree/abi/leat/backend.h" >"$work/$1/leat/backend.h"
  if cmp -s "$tree/abi/leat/backend.h" "$work/$1/leat/backend.h"; then
    echo "canary $1: the change was not made; look at its expression in abidiff.sh"
    exit 1
  fi
  build "$1" "$work/$1"
}

must_report() {
  plant "$1" "$2"
  if compatible "$1"; then
    echo "canary $1: the break was NOT reported"
    wrong=1
  else
    echo "canary $1: reported"
  fi
}

must_accept() {
  plant "$1" "$2"
  if compatible "$1"; then
    echo "growth $1: accepted"
  else
    cat "$work/report"
    echo "growth $1: NOT accepted"
    wrong=1
  fi
}

build frozen "$frozen"
build today "$tree/abi"
if compatible today; then
  echo "today's header: compatible with $frozen"
else
  cat "$work/report"
  echo "today's header: NOT compatible with $frozen"
  wrong=1
fi

slot='  int32_t (*planted)(leat_device *device, leat_error *err);'
must_report inserted_slot "s|^( *int32_t \\(\\*open\\)\\(uint32_t index)|$slot\\n\\1|"
must_report inserted_field 's|^( *uint64_t memory_size;)|  uint64_t planted;\n\1|'
must_report changed_parameter 's|(\(\*alloc\)\(leat_device \*device, )uint64_t|\1uint32_t|'
must_report changed_result 's|int32_t( \(\*flush\))|int64_t\1|'
must_report removed_slot '/int32_t \(\*trim\)/d'
must_report swapped_fields \
  's|^  uint32_t vendor_id;|  uint32_t planted;|; s|^  uint32_t device_id;|  uint32_t vendor_id;|; s|^  uint32_t planted;|  uint32_t device_id;|'
# The header's own assertion about the last member grows along.
must_accept slot_at_end "s|^\\} leat_stream_api;|$slot\\n&|; s|(NO_TAIL\\(leat_stream_api, )[a-z_]+|\\1planted|"
must_accept field_at_end 's|^\} leat_device_info;|  uint64_t planted;\n&|; s|(NO_TAIL\(leat_device_info, )[a-z_]+|\1planted|'
exit $wrong
