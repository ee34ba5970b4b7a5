#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# list_luts.sh FOLDER: a C header that includes the tables in FOLDER, pwl_NAME.h each, and lists them; an empty list
# when there are none.
set -eu
shopt -s nullglob

cat <<'HEADER'
/* SPDX-License-Identifier: Apache-2.0 */
/* Made by list_luts.sh. */
#include <stddef.h>

#include <pwl/pwl.h>

HEADER
for path in "$1"/pwl_*.h; do
    echo "#include \"$path\""
done
printf '\nstatic const struct {\n    const char *name;\n    const pwl_table *table;\n} luts[] = {\n'
for path in "$1"/pwl_*.h; do
    name=${path##*/}
    echo "    {\"${name%.h}\", &${name%.h}},"
done
printf '    {NULL, NULL},\n};\n'
