/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of jansson, for headers that name them: nothing here reads JSON. */
typedef struct json_t json_t;
