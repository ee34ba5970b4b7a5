#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plans run by many threads under ThreadSanitizer; then, that it sees a race where there is one. $1 the program.
set -u
# Where addresses are randomised over more bits than the sanitizer's shadow covers, it does not start.
fixed=()
! setarch -R true 2>/dev/null || fixed=(setarch -R)

TSAN_OPTIONS=exitcode=66 "${fixed[@]}" "$1" || { echo "threads disturb each other: exit status $?"; exit 1; }

TSAN_OPTIONS=exitcode=66 "${fixed[@]}" "$1" race 2>&1 | grep 'WARNING: ThreadSanitizer: data race' >/dev/null ||
    { echo "the sanitizer does not see a race"; exit 1; }
