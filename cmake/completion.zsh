#compdef leat-bench leat-conformance leat-info leat-run
# SPDX-License-Identifier: BSD-3-Clause
# Completion in zsh for each of Leat's programs: its options, which it is asked for, and else files.
_gnu_generic
