#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# man.sh PROGRAM VERSION SUMMARY PAGE [EMULATOR...]: writes the manual page of PROGRAM, which is what its --help says, in
# a page's form, so that the two cannot differ. SUMMARY goes behind the name; EMULATOR runs a program of another machine.
set -eu
program=$1
version=$2
summary=$3
page=$4
shift 4
name=$(basename "$program")

help=$(env LC_ALL=C.UTF-8 "$@" "$program" --help)
mkdir -p "$(dirname "$page")"
printf '%s\n' "$help" | LC_ALL=C awk -v name="$name" -v version="$version" -v summary="$summary" '
  # Text as roff wants it.
  function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\342\200\246/, "...", text)
    return text ~ /^[.\047]/ ? "\\&" text : text
  }
  function section(title) { print ".SH " toupper(roff(title)) }
  # From line i on, which is indented by two or by nothing, to the end of the paragraph or section.
  function paragraphs(i, verbatim) {
    if (verbatim) print ".nf"
    while (line[i] == "") ++i
    for (; i <= last && !heading(i) && line[i] !~ /^Exit status: /; ++i) {
      text = line[i]
      sub(/^  /, "", text)
      if (text != "") print roff(text)
      else if (verbatim) print ""
      else if (line[i + 1] != "" && !heading(i + 1) && line[i + 1] !~ /^Exit status: /) print ".PP"
    }
    if (verbatim) print ".fi"
    return i
  }
  # A line that stands out, and has its own below it.
  function heading(i) { return line[i] ~ /^[^ ]/ && line[i + 1] ~ /^  [^ ]/ }

  { line[++last] = $0 }
  END {
    while (line[last] == "") --last
    print ".TH " toupper(roff(name)) " 1 \"\" \"Leat " version "\" \"User Commands\""
    section("name")
    print roff(name) " \\- " roff(summary)
    for (i = 1; i <= last;) {
      if (line[i] == "") ++i
      else if (line[i] == "Usage:") {
        section("synopsis")
        use = line[i + 1]
        sub(/^ +/, "", use)
        sub(/\[OPTION[^]]*\]/, "[OPTION]...", use)
        print roff(use)
        section("description")
        i = paragraphs(i + 2, 0)
      } else if (line[i] == "Help Options:") {
        section("options")
        ++i
      } else if (line[i] == "Application Options:") ++i
      else if (line[i] ~ /^  -/) {
        text = line[i]
        sub(/^ +/, "", text)
        at = match(text, /  +/)
        print ".TP\n.B " roff(at ? substr(text, 1, at - 1) : text)
        if (at) print roff(substr(text, RSTART + RLENGTH))
        ++i
      } else if (line[i] ~ /^Exit status: /) {
        section("exit status")
        sub(/^Exit status: /, "", line[i])
        i = paragraphs(i, 0)
      } else if (heading(i)) {
        section(line[i])
        i = paragraphs(i + 1, line[i] == "Examples" || line[i] == "Exit status")
      } else {
        section("notes")
        i = paragraphs(i, 0)
      }
    }
    section("see also")
    others = ""
    for (i = split("leat-bench leat-conformance leat-info leat-run", program, " "); i > 0; --i)
      if (program[i] != name) others = program[i] "(1)" (others == "" ? "" : ", ") others
    print roff(others)
  }' >"$page"
