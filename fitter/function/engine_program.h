/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What engine_parse.c makes of an expression, and engine_run.c runs. */
#ifndef PWLC_ENGINE_PROGRAM_H
#define PWLC_ENGINE_PROGRAM_H

#include "engine.h"

#define ENGINE_STACK 128 /* numbers; the parser refuses what needs more */

/* Each takes its operands, the last one uppermost, from the stack, and leaves its result there. */
enum operation {
    OP_CONSTANT,
    OP_X,
    OP_COPY, /* of the uppermost number */
    OP_NEGATE,
    OP_NOT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_LESS,
    OP_GREATER,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_AND,
    OP_OR,
    OP_MIN,
    OP_MAX,
    OP_ABS,
    OP_SIGN,
    OP_RINT,
    OP_FLOOR,
    OP_CEIL,
    OP_FUNCTION, /* of ball.h, `argument` */
    OP_LEAKY,    /* x, alpha: x < 0 ? alpha * x : x */
    OP_ELU,      /* x, alpha: x < 0 ? alpha * expm1(x) : x */
    /* c ? a : b is c IF a ELSE b END. The condition stays below the values until the branch is known. `argument` is
     * how many instructions to go on by: IF to behind ELSE, ELSE to behind END. */
    OP_IF,
    OP_ELSE,
    OP_END,
};

struct instruction {
    enum operation operation;
    int argument;
    struct ball constant;
};

struct engine {
    struct instruction *code;
    int count, capacity;
};

/* Runs [code, code + count), which leaves one number, at a point. */
struct ball program_value(const struct instruction *code, int count, struct dd x);

#endif
