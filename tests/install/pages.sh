#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pages.sh WORK BUILD COMPLETION PROGRAM...: the manual page of each PROGRAM, which BUILD wrote, has every word of its
# --help and every option in the section of options; bash completes each option, and no other word.
set -eu
work=$1
build=$2
completion=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
wrong=0

fail() {
  printf 'FAIL %s\n' "$*"
  wrong=1
}

# words: the words on standard input, one a line, but for headings, which a page has in capitals.
words() {
  tr -cs '[:alnum:]_/.<>=:|^*-' '\n' | tr '[:upper:]' '[:lower:]' | grep . | sort -u
}

# lacks PAGE HELP: what of HELP is not in PAGE.
lacks() {
  sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e 's/\\&//g' "$1" | words >"$work/page"
  grep -v -x -e 'Usage:' -e 'Help Options:' -e 'Application Options:' "$2" | sed 's/Exit status://' | words |
    comm -23 - "$work/page"
}

for program in "$@"; do
  name=$(basename "$program")
  page=$build/man/$name.1
  LC_ALL=C.UTF-8 "$program" --help | sed 's/OPTION…/OPTION/' >"$work/help"
  missing=$(lacks "$page" "$work/help")
  [ -z "$missing" ] || fail "$page lacks" "$missing"
  sed -n '/Options:$/,/^$/p' "$work/help" | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--/--/' | sort >"$work/options"
  sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/s/^\.B //p' "$page" | sed 's/\\-/-/g' | sed -E 's/.*(--[a-z-]+).*/\1/' | sort |
    diff "$work/options" - || fail "the options of $page, on the right, are not those of $name"

  # shellcheck disable=SC2016 # It is for bash.
  bash -c '. "$1"; compopt() { :; }; _leat "$2" -- && printf "%s\n" "${COMPREPLY[@]%=}"; _leat "$2" model &&
    printf "%s" "${COMPREPLY[@]}"' - "$completion" "$program" | sort | diff "$work/options" - ||
    fail "what bash completes, on the right, are not the options of $name"
done

# Canaries: an option and a word that a page does not have.
{ cat "$work/help"; echo '  --planted=X   Planted'; } >"$work/more"
[ "$(lacks "$page" "$work/more" | tr '\n' ' ')" = '--planted=x planted ' ] ||
  fail "canary: an option that the page lacks was NOT noticed: $(lacks "$page" "$work/more")"
[ $wrong -ne 0 ] || echo "the pages of $# programs have all of their --help"
exit $wrong
