#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a Check executable so that standard output is TAP alone; Check's own summary goes to standard error. The log is
# opened by name, which works on a pipe only: a file would be cut.
set -o pipefail
CK_TAP_LOG_FILE_NAME=/dev/fd/3 "$@" 3>&1 1>&2 | cat
