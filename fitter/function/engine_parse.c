/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar, with what binds least first:
 *
 *   expression = value [ "?" expression ":" expression ]
 *   value      = operators of levels[] between signed, from left to right
 *   signed     = [ "-" | "+" | "!" ] power          so that -x^2 is -(x^2)
 *   power      = primary [ "^" signed ]             so that 2^3^2 is 2^(3^2)
 *   primary    = number | name | name "(" expression { "," expression } ")" | "(" expression ")"
 *
 * What has no x in it is computed at once.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elementary.h"
#include "engine_names.h"
#include "function.h"

#define SHOWN 40     /* characters of the user's text that a message repeats */
#define MOST_DEEP 90 /* parentheses and powers inside each other */

struct parser {
    const char *text, *at;
    struct engine *engine;
    int depth;    /* of the text */
    int on_stack; /* numbers */
    bool has_x;
    const char *field; /* what messages call the text */
    struct diag *diag;
};

static const struct ball pi = {{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, 0x1p-106};
static const struct ball e = {{0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53}, 0x1p-106};
static const struct ball log10_of_e = {{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, 0x1p-106};

/* False, with a message about the text. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format, ...)
{
    char words[sizeof parser->diag->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    diag_set(parser->diag, EXIT_USAGE, "%s '%.*s': %s", parser->field, SHOWN, parser->text, words);
    return false;
}

/* As messages count characters. */
static int character(const struct parser *parser, const char *at)
{
    return (int)(at - parser->text) + 1;
}

static bool refuse_at(struct parser *parser, const char *at)
{
    char hint[SUGGESTION_SIZE];
    if (*at == '\0')
        return refuse(parser, "the expression is not complete at its end");
    return refuse(parser, "not understood from character %d on, '%.*s'%s", character(parser, at), SHOWN, at,
                  hint_at(parser->text, at, hint));
}

static bool refuse_depth(struct parser *parser)
{
    return refuse(parser, "nested too deeply at character %d", character(parser, parser->at));
}

static const char *skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " ");
    return parser->at;
}

/* Takes a character that comes next. */
static bool take(struct parser *parser, char c)
{
    if (*skip_blanks(parser) != c)
        return false;
    parser->at++;
    return true;
}

static bool add_instruction(struct parser *parser, struct instruction instruction, int operands)
{
    struct engine *const engine = parser->engine;
    if (engine->count == engine->capacity) {
        const int capacity = engine->capacity > 0 ? 2 * engine->capacity : 16;
        struct instruction *const code = realloc(engine->code, (size_t)capacity * sizeof *code);
        if (code == NULL) {
            diag_set(parser->diag, EXIT_IO, "out of memory for an expression");
            return false;
        }
        engine->code = code;
        engine->capacity = capacity;
    }
    engine->code[engine->count++] = instruction;
    parser->on_stack += 1 - operands;
    return parser->on_stack <= ENGINE_STACK - 2 || refuse_depth(parser);
}

static bool add_constant(struct parser *parser, struct ball value)
{
    return add_instruction(parser, (struct instruction){OP_CONSTANT, 0, value}, 0);
}

/* An operation; of constants, its result. */
static bool add_operation(struct parser *parser, enum operation operation, int argument, int operands)
{
    struct engine *const engine = parser->engine;
    if (!add_instruction(parser, (struct instruction){operation, argument, {{0, 0}, 0}}, operands))
        return false;
    for (int i = 0; i < operands; i++)
        if (engine->code[engine->count - 2 - i].operation != OP_CONSTANT)
            return true;
    struct instruction *const first = &engine->code[engine->count - 1 - operands];
    *first = (struct instruction){OP_CONSTANT, 0, program_value(first, operands + 1, dd_of(0))};
    engine->count -= operands;
    return true;
}

/* Decimal digits from `text` on, with a point: their number times ten to *exponent. Null where there is none. */
static const char *read_digits(const char *text, struct ball *value, int *exponent)
{
    const struct ball ten = ball_of(10);
    bool has_point = false, has_digit = false;
    *value = ball_of(0);
    *exponent = 0;
    for (;; text++) {
        if (*text == '.' && !has_point) {
            has_point = true;
        } else if (is_digit(*text)) {
            const int digit = *text - '0';
            *value = ball_is(*value, value->mid.hi) && value->mid.hi < 0x1p49
                         ? ball_of(10 * value->mid.hi + digit)
                         : ball_add(ball_mul(*value, ten), ball_of(digit));
            *exponent -= has_point;
            has_digit = true;
        } else {
            return has_digit ? text : NULL;
        }
    }
}

/* value 10^exponent. What is a double, as 0.25 is, is exact, so that x^0.5 is known to be a root. */
static struct ball scaled_by_tens(struct ball value, int exponent)
{
    enum { STEP = 300, EXACT = 22 };
    const bool divides = exponent < 0;
    int left = divides ? -exponent : exponent;
    const struct ball digits = value;
    if (left <= EXACT && digits.rad == 0) {
        const double tens = ball_power(ball_of(10), left).mid.hi;
        const double result = divides ? digits.mid.hi / tens : digits.mid.hi * tens;
        const struct dd product = dd_product(divides ? result : digits.mid.hi, tens);
        if (product.lo == 0 && product.hi == (divides ? digits.mid.hi : result))
            return ball_of(result);
    }
    for (int step; left > 0 && value.mid.hi != 0 && isfinite(value.mid.hi); left -= step) {
        step = left < STEP ? left : STEP;
        const struct ball tens = ball_power(ball_of(10), step);
        value = divides ? ball_div(value, tens) : ball_mul(value, tens);
    }
    return value;
}

/* A decimal number as it is written, to 100 bits and more; 0 where it is below 10^-308 or so. */
static const char *read_number(const char *text, struct ball *value)
{
    enum { FAR = 10000 };
    int exponent, given = 0;
    const char *end = read_digits(text, value, &exponent);
    if (end == NULL)
        return NULL;
    if (*end == 'e' || *end == 'E') {
        const bool negative = end[1] == '-';
        const char *digit = end + 1 + (end[1] == '-' || end[1] == '+');
        if (is_digit(*digit)) {
            for (end = digit; is_digit(*end); end++)
                given = given < FAR ? 10 * given + *end - '0' : given;
            exponent += negative ? -given : given;
        }
    }
    *value = scaled_by_tens(*value, exponent);
    return end;
}

static bool parse_number(struct parser *parser)
{
    struct ball value;
    const char *const from = parser->at, *const end = read_number(from, &value);
    if (end == NULL)
        return refuse_at(parser, from);
    if (!isfinite(value.mid.hi))
        return refuse(parser, "the number at character %d is too large, must be below 1e308", character(parser, from));
    parser->at = end;
    return add_constant(parser, value);
}

static bool parse_expression(struct parser *parser);

/* What follows a number on the stack with a constant. */
static bool add_with(struct parser *parser, enum operation operation, const char *constant)
{
    struct ball value;
    read_number(constant, &value);
    return add_constant(parser, value) && add_operation(parser, operation, 0, 2);
}

/* min(max((x + 3) / 6, 0), 1) */
static bool add_hard_sigmoid(struct parser *parser)
{
    return add_with(parser, OP_ADD, "3") && add_with(parser, OP_DIVIDE, "6") && add_with(parser, OP_MAX, "0") &&
           add_with(parser, OP_MIN, "1");
}

static bool add_copy(struct parser *parser)
{
    return add_instruction(parser, (struct instruction){.operation = OP_COPY}, 0);
}

static bool add_inverse(struct parser *parser)
{
    return add_constant(parser, ball_of(-1)) && add_operation(parser, OP_POWER, 0, 2);
}

/* The built-in functions that are not ball.h's, by their formulas; of those with a parameter it is on the stack, too.
 */
static bool add_formula(struct parser *parser, const char *name)
{
    const bool is_hard_swish = strcmp(name, "hard_swish") == 0;
    if (strcmp(name, "leaky_relu") == 0)
        return add_operation(parser, OP_LEAKY, 0, 2);
    if (strcmp(name, "elu") == 0)
        return add_operation(parser, OP_ELU, 0, 2);
    if (strcmp(name, "selu") == 0)
        return add_with(parser, OP_ELU, "1.6732632423543772848170429916717") &&
               add_with(parser, OP_MULTIPLY, "1.0507009873554804934193349852946");
    if (strcmp(name, "relu") == 0)
        return add_with(parser, OP_MAX, "0");
    if (strcmp(name, "relu6") == 0)
        return add_with(parser, OP_MAX, "0") && add_with(parser, OP_MIN, "6");
    if (strcmp(name, "reciprocal") == 0)
        return add_inverse(parser);
    if (strcmp(name, "rsqrt") == 0)
        return add_operation(parser, OP_FUNCTION, BALL_SQRT, 1) && add_inverse(parser);
    if (strcmp(name, "softsign") == 0)
        return add_copy(parser) && add_operation(parser, OP_ABS, 0, 1) && add_with(parser, OP_ADD, "1") &&
               add_operation(parser, OP_DIVIDE, 0, 2);
    if (is_hard_swish && !add_copy(parser))
        return false;
    return add_hard_sigmoid(parser) && (!is_hard_swish || add_operation(parser, OP_MULTIPLY, 0, 2));
}

static int parameters_of(const struct function_info *info)
{
    int count = 0;
    while (info != NULL && info->parameters[count].name != NULL)
        count++;
    return count;
}

/* The arguments, from "(" to ")": of a function that joins them, joined. Of the parameters of a built-in function those
 * left out have their initial values. */
static bool parse_arguments(struct parser *parser, const struct known_function *known, const struct function_info *info,
                            int *count)
{
    const bool joins = known && known->joins;
    const int most = 1 + parameters_of(info);
    parser->at++;
    for (*count = 1;; ++*count) {
        if (!parse_expression(parser))
            return false;
        if (*count > 1 && joins && !add_operation(parser, known->operation, 0, 2))
            return false;
        if (take(parser, ')'))
            break;
        if (*parser->at != ',')
            return refuse_at(parser, parser->at);
        if (*count == most && !joins)
            return refuse(parser, "too many arguments of %s, which takes %s%s, at character %d",
                          known ? known->name : info->name, most > 1 ? "x and " : "one",
                          most > 1 ? info->parameters[0].name : "", character(parser, parser->at));
        parser->at++;
    }
    for (int i = *count; i < most; i++)
        if (!add_constant(parser, ball_of(info->parameters[i - 1].initial)))
            return false;
    return true;
}

static bool parse_call(struct parser *parser, const char *name, const char *from)
{
    int count;
    const struct function_info *const info = function_find_by_any_name(name);
    const struct known_function *const known = known_function_find(info ? info->name : name);
    if ((known == NULL && info == NULL) || *skip_blanks(parser) != '(')
        return refuse_at(parser, from);
    if (!parse_arguments(parser, known, known ? NULL : info, &count))
        return false;
    if (known == NULL)
        return add_formula(parser, info->name);
    if (known->joins)
        return strcmp(name, "avg") != 0 ||
               (add_constant(parser, ball_of(count)) && add_operation(parser, OP_DIVIDE, 0, 2));
    if (!add_operation(parser, known->operation, known->argument, 1))
        return false;
    if (strcmp(name, "log2") != 0 && strcmp(name, "log10") != 0)
        return true;
    return add_constant(parser, strcmp(name, "log2") == 0 ? (struct ball){dd_log2_e, 0x1p-106} : log10_of_e) &&
           add_operation(parser, OP_MULTIPLY, 0, 2);
}

static bool parse_name(struct parser *parser)
{
    const char *const from = parser->at;
    char name[NAME_SIZE];
    parser->at += name_read(from, name);
    if (strcmp(name, "x") == 0) {
        parser->has_x = true;
        return add_instruction(parser, (struct instruction){.operation = OP_X}, 0);
    }
    if (strcmp(name, "_pi") == 0 || strcmp(name, "_e") == 0)
        return add_constant(parser, name[1] == 'p' ? pi : e);
    return parse_call(parser, name, from);
}

static bool parse_primary(struct parser *parser)
{
    if (take(parser, '('))
        return parse_expression(parser) && (take(parser, ')') || refuse_at(parser, parser->at));
    return is_letter(*parser->at) ? parse_name(parser) : parse_number(parser);
}

static bool parse_signed(struct parser *parser)
{
    const char sign = *skip_blanks(parser);
    if (++parser->depth > MOST_DEEP)
        return refuse_depth(parser);
    if (sign == '-' || sign == '+' || sign == '!')
        parser->at++;
    if (!parse_primary(parser))
        return false;
    if (take(parser, '^') && !(parse_signed(parser) && add_operation(parser, OP_POWER, 0, 2)))
        return false;
    parser->depth--;
    if (sign != '-' && sign != '!')
        return true;
    return add_operation(parser, sign == '-' ? OP_NEGATE : OP_NOT, 0, 1);
}

struct level {
    char text[3];
    int level;
    enum operation operation;
};

static const struct level *find_operator(const char *text)
{
    static const struct level levels[] = {
        {"||", 1, OP_OR},    {"&&", 2, OP_AND},       {"<=", 3, OP_LESS_EQUAL}, {">=", 3, OP_GREATER_EQUAL},
        {"==", 3, OP_EQUAL}, {"!=", 3, OP_NOT_EQUAL}, {"<", 3, OP_LESS},        {">", 3, OP_GREATER},
        {"+", 4, OP_ADD},    {"-", 4, OP_SUBTRACT},   {"*", 5, OP_MULTIPLY},    {"/", 5, OP_DIVIDE},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strncmp(text, levels[i].text, strlen(levels[i].text)) == 0)
            return &levels[i];
    return NULL;
}

/* Operators of `least` and what binds more. */
static bool parse_value(struct parser *parser, int least)
{
    if (!parse_signed(parser))
        return false;
    for (;;) {
        const struct level *const found = find_operator(skip_blanks(parser));
        if (found == NULL || found->level < least)
            return true;
        parser->at += strlen(found->text);
        if (!parse_value(parser, found->level + 1) || !add_operation(parser, found->operation, 0, 2))
            return false;
    }
}

/* Jumps over what was added since. */
static void set_jump(struct parser *parser, int from)
{
    parser->engine->code[from].argument = parser->engine->count - 1 - from;
}

static bool parse_expression(struct parser *parser)
{
    if (!parse_value(parser, 1))
        return false;
    if (!take(parser, '?'))
        return true;
    const int condition = parser->engine->count;
    if (!add_instruction(parser, (struct instruction){.operation = OP_IF}, 1) || !parse_expression(parser))
        return false;
    if (!take(parser, ':'))
        return refuse_at(parser, parser->at);
    const int otherwise = parser->engine->count;
    if (!add_instruction(parser, (struct instruction){.operation = OP_ELSE}, 1))
        return false;
    set_jump(parser, condition);
    if (!parse_expression(parser) || !add_instruction(parser, (struct instruction){.operation = OP_END}, 3))
        return false;
    set_jump(parser, otherwise);
    return true;
}

/* Values between commas, as many as there are. */
static bool parse_values(struct parser *parser, int *count)
{
    for (*count = 1;; ++*count) {
        parser->on_stack = 0;
        if (!parse_expression(parser))
            return false;
        if (!take(parser, ','))
            return *skip_blanks(parser) == '\0' || refuse_at(parser, parser->at);
    }
}

int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag)
{
    int values = 0;
    struct parser parser = {
        .text = text, .at = text, .engine = calloc(1, sizeof *parser.engine), .field = field, .diag = diag};
    *engine = NULL;
    if (parser.engine == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for an expression");
    const bool is_good = parse_values(&parser, &values) &&
                         (values == 1 || refuse(&parser, "has %d values, must have one", values)) &&
                         (parser.has_x || refuse(&parser, "does not depend on x"));
    if (!is_good) {
        engine_free(parser.engine);
        return diag->code;
    }
    *engine = parser.engine;
    return EXIT_DONE;
}
