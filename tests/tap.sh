#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a Check executable so that standard output is TAP alone; Check's own summary goes to standard error.
CK_TAP_LOG_FILE_NAME=/dev/fd/3 exec "$@" 3>&1 1>&2
