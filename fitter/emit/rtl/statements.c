/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statements.h"

#include <stdlib.h>
#include <string.h>

static struct declared *new_declared(struct declarations *all, const char *name, size_t length, int bits)
{
    if (all->count == all->room) {
        const int room = 2 * all->room + 64;
        struct declared *list = realloc(all->list, (size_t)room * sizeof *list);
        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    struct declared *declared = &all->list[all->count];
    *declared = (struct declared){.bits = bits};
    if (length >= sizeof declared->name)
        return NULL;
    memcpy(declared->name, name, length);
    all->count++;
    return declared;
}

static bool add_port(struct declarations *all, const char *name, const struct tensor *tensor)
{
    struct declared *port = new_declared(all, name, strlen(name), tensor->bits);
    if (!port)
        return false;
    port->is_port = true;
    port->is_signed = tensor->is_signed;
    return true;
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

const char *line_next(const char **rest, size_t *length)
{
    const char *line = *rest + strspn(*rest, " ");
    if (*line == '\0')
        return NULL;
    *length = strcspn(line, "\n");
    *rest = line + *length + (line[*length] == '\n');
    return line;
}

/* "logic signed [7:0] name;" */
static bool declare(const char *line, size_t length, struct declarations *all)
{
    const char *name = line + strlen("logic "), *end = line + length - 1;
    int high = 0;
    const bool is_signed = begins(name, "signed ");
    name += is_signed ? strlen("signed ") : 0;
    if (*name == '[') {
        high = atoi(name + 1);
        name = strchr(name, ' ') + 1;
    }
    struct declared *declared = new_declared(all, name, (size_t)(end - name), high + 1);
    if (declared)
        declared->is_signed = is_signed;
    return declared != NULL;
}

static bool declare_all(const struct text *text, struct declarations *all)
{
    size_t length;
    const char *rest = text->bytes;
    for (const char *line; rest && (line = line_next(&rest, &length)) != NULL;)
        if (begins(line, "logic ") && !begins(line, "logic unused_") && !declare(line, length, all))
            return false;
    return !text->failed;
}

int statements_declare(const struct module *m, struct declarations *all, struct diag *diag)
{
    const struct pipeline *p = &m->pipeline;
    bool is_whole = add_port(all, "x_i", &m->table->in) && add_port(all, "y_o", &m->table->out);
    for (int i = 0; is_whole && i <= p->stages; i++)
        is_whole = declare_all(&p->declarations[i], all) && declare_all(&p->parts[i], all) && !p->moves[i].failed;
    return is_whole ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for the signals of %s", m->name);
}

/* "assign a = ...;", "assign a[3] = ...;", "assign unused_a = ^a[...];" */
static enum statement_kind read_assignment(const char *line, size_t length, const struct declarations *all,
                                           struct formulas *formulas, struct statement *s)
{
    const char *name = line + strlen("assign "), *equals = strstr(name, " = ");
    const size_t name_length = strcspn(name, "[ ");
    if (!equals)
        return STATEMENT_UNKNOWN;
    const char *right = equals + strlen(" = ");
    s->target = declared_find(all, name, name_length);
    s->bit = name[name_length] == '[' ? atoi(name + name_length + 1) : -1;
    s->right = formula_read(right, (size_t)(line + length - 1 - right), all, formulas);
    if (begins(name, "unused_") && s->right && s->right->kind == FORMULA_REDUCED && s->right->first->signal)
        return STATEMENT_UNUSED;
    return s->target && s->right ? STATEMENT_ASSIGNMENT : STATEMENT_UNKNOWN;
}

bool statement_next(const char **rest, const struct declarations *all, struct formulas *formulas, struct statement *s)
{
    size_t length;
    for (const char *line; (line = line_next(rest, &length)) != NULL;) {
        *s = (struct statement){.text = line, .length = (int)length};
        if (begins(line, "logic "))
            continue;
        if (begins(line, "//")) {
            s->kind = STATEMENT_COMMENT;
            s->text += 2;
            s->length -= 2;
        } else if (length > 0) {
            s->kind = begins(line, "assign ") ? read_assignment(line, length, all, formulas, s) : STATEMENT_UNKNOWN;
        }
        return true;
    }
    return false;
}

int statement_refuse(const char *format, const struct statement *statement, struct diag *diag)
{
    return diag_set(diag, EXIT_IO, "--format %s: no counterpart of \"%.*s\"", format, statement->length,
                    statement->text);
}
