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
#include <stdlib.h>
#include <string.h>

#include "elementary.h"
#include "engine_program.h"
#include "function.h"

#define SHOWN 40     /* characters of the user's text that a message repeats */
#define MOST_DEEP 90 /* parentheses and powers inside each other */

struct parser {
    const char *text, *at;
    struct engine *engine;
    int depth;    /* of the text */
    int on_stack; /* numbers */
    bool has_x;
    const char *refused; /* the first place that is not understood; null while there is none */
    const struct function_info *miscalled;
    const char *of_one; /* a function that was given more than one argument */
    bool too_deep, too_large, out_of_memory;
};

static const struct ball pi = {{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, 0x1p-106};
static const struct ball e = {{0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53}, 0x1p-106};
static const struct ball log10_of_e = {{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, 0x1p-106};

static bool refuse(struct parser *parser, const char *at)
{
    if (parser->refused == NULL)
        parser->refused = at;
    return false;
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
            parser->out_of_memory = true;
            return refuse(parser, parser->at);
        }
        engine->code = code;
        engine->capacity = capacity;
    }
    engine->code[engine->count++] = instruction;
    parser->on_stack += 1 - operands;
    if (parser->on_stack > ENGINE_STACK - 2) {
        parser->too_deep = true;
        return refuse(parser, parser->at);
    }
    return true;
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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
    parser->too_large = end != NULL && !isfinite(value.mid.hi);
    if (end == NULL || parser->too_large)
        return refuse(parser, from);
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

/* A function of the language: of any number of arguments, each joined to those before by an operation; or of one. */
struct known_function {
    const char *name;
    enum operation operation;
    int argument;
    bool joins;
};

static const struct known_function known_functions[] = {
    {"sin", OP_FUNCTION, BALL_SIN, false},
    {"cos", OP_FUNCTION, BALL_COS, false},
    {"tan", OP_FUNCTION, BALL_TAN, false},
    {"asin", OP_FUNCTION, BALL_ASIN, false},
    {"acos", OP_FUNCTION, BALL_ACOS, false},
    {"atan", OP_FUNCTION, BALL_ATAN, false},
    {"sinh", OP_FUNCTION, BALL_SINH, false},
    {"cosh", OP_FUNCTION, BALL_COSH, false},
    {"tanh", OP_FUNCTION, BALL_TANH, false},
    {"asinh", OP_FUNCTION, BALL_ASINH, false},
    {"acosh", OP_FUNCTION, BALL_ACOSH, false},
    {"atanh", OP_FUNCTION, BALL_ATANH, false},
    {"exp", OP_FUNCTION, BALL_EXP, false},
    {"expm1", OP_FUNCTION, BALL_EXPM1, false},
    {"log", OP_FUNCTION, BALL_LOG, false},
    {"ln", OP_FUNCTION, BALL_LOG, false},
    {"log2", OP_FUNCTION, BALL_LOG, false},
    {"log10", OP_FUNCTION, BALL_LOG, false},
    {"log1p", OP_FUNCTION, BALL_LOG1P, false},
    {"sqrt", OP_FUNCTION, BALL_SQRT, false},
    {"erf", OP_FUNCTION, BALL_ERF, false},
    {"erfc", OP_FUNCTION, BALL_ERFC, false},
    {"sigmoid", OP_FUNCTION, BALL_SIGMOID, false},
    {"gelu", OP_FUNCTION, BALL_GELU, false},
    {"gelu_tanh", OP_FUNCTION, BALL_GELU_TANH, false},
    {"quick_gelu", OP_FUNCTION, BALL_QUICK_GELU, false},
    {"silu", OP_FUNCTION, BALL_SILU, false},
    {"softplus", OP_FUNCTION, BALL_SOFTPLUS, false},
    {"mish", OP_FUNCTION, BALL_MISH, false},
    {"logsigmoid", OP_FUNCTION, BALL_LOGSIGMOID, false},
    {"abs", OP_ABS, 0, false},
    {"sign", OP_SIGN, 0, false},
    {"rint", OP_RINT, 0, false},
    {"floor", OP_FLOOR, 0, false},
    {"ceil", OP_CEIL, 0, false},
    {"min", OP_MIN, 0, true},
    {"max", OP_MAX, 0, true},
    {"sum", OP_ADD, 0, true},
    {"avg", OP_ADD, 0, true},
};

static const struct known_function *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_functions / sizeof *known_functions; i++)
        if (strcmp(known_functions[i].name, name) == 0)
            return &known_functions[i];
    return NULL;
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
    const int most = 1 + parameters_of(info);
    parser->at++;
    for (*count = 0;;) {
        if (!parse_expression(parser))
            return false;
        if (++*count > most && !(known && known->joins) && most > 1)
            parser->miscalled = info;
        if (*count > 1 && known && known->joins && !add_operation(parser, known->operation, 0, 2))
            return false;
        if (*skip_blanks(parser) == ')')
            break;
        if (*parser->at == ',' && most == 1 && !(known && known->joins))
            parser->of_one = known ? known->name : info->name;
        if (*parser->at != ',' || parser->of_one != NULL)
            return refuse(parser, parser->at);
        parser->at++;
    }
    parser->at++;
    for (int i = *count; i < most; i++)
        if (!add_constant(parser, ball_of(info->parameters[i - 1].initial)))
            return false;
    return parser->miscalled == NULL || refuse(parser, parser->at);
}

static bool parse_call(struct parser *parser, const char *name, const char *from)
{
    int count;
    const struct function_info *const info = function_find_by_any_name(name);
    const struct known_function *const known = find_known(info ? info->name : name);
    if ((known == NULL && info == NULL) || *skip_blanks(parser) != '(')
        return refuse(parser, from);
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
    char name[32];
    size_t length = 0;
    while (is_letter(from[length]) || is_digit(from[length]))
        length++;
    if (length >= sizeof name)
        return refuse(parser, from);
    memcpy(name, from, length);
    name[length] = '\0';
    parser->at += length;
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
    const char next = *skip_blanks(parser);
    if (take(parser, '('))
        return parse_expression(parser) && (take(parser, ')') || refuse(parser, parser->at));
    return is_letter(next) ? parse_name(parser) : parse_number(parser);
}

static bool parse_signed(struct parser *parser)
{
    const char sign = *skip_blanks(parser);
    if (++parser->depth > MOST_DEEP) {
        parser->too_deep = true;
        return refuse(parser, parser->at);
    }
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
        return refuse(parser, parser->at);
    const int otherwise = parser->engine->count;
    if (!add_instruction(parser, (struct instruction){.operation = OP_ELSE}, 1))
        return false;
    set_jump(parser, condition);
    if (!parse_expression(parser) || !add_instruction(parser, (struct instruction){.operation = OP_END}, 3))
        return false;
    set_jump(parser, otherwise);
    return true;
}

static int say(const struct parser *parser, const char *field, struct diag *diag)
{
    const char *const text = parser->text, *const at = parser->refused;
    if (parser->out_of_memory)
        return diag_set(diag, EXIT_IO, "out of memory for an expression");
    if (parser->miscalled != NULL)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': too many arguments of %s, which takes x and %s", field, SHOWN,
                        text, parser->miscalled->name, parser->miscalled->parameters[0].name);
    if (parser->of_one != NULL)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': too many arguments of %s, which takes one, at character %d",
                        field, SHOWN, text, parser->of_one, (int)(at - text) + 1);
    if (parser->too_large)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': the number at character %d is too large, must be below 1e308",
                        field, SHOWN, text, (int)(at - text) + 1);
    if (parser->too_deep)
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': nested too deeply at character %d", field, SHOWN, text,
                        (int)(at - text) + 1);
    if (*at == '\0')
        return diag_set(diag, EXIT_USAGE, "%s '%.*s': the expression is not complete at its end", field, SHOWN, text);
    return diag_set(diag, EXIT_USAGE,
                    "%s '%.*s': not understood from character %d on, '%.*s'; the variable is x, and names are those "
                    "that `pwlc fit --help` lists",
                    field, SHOWN, text, (int)(at - text) + 1, SHOWN, at);
}

/* Values between commas, as many as there are. */
static bool parse_values(struct parser *parser, int *count)
{
    for (*count = 1;; ++*count) {
        parser->on_stack = 0;
        if (!parse_expression(parser))
            return false;
        if (!take(parser, ','))
            return *skip_blanks(parser) == '\0' || refuse(parser, parser->at);
    }
}

int engine_create(const char *text, const char *field, struct engine **engine, struct diag *diag)
{
    int values = 0;
    struct parser parser = {.text = text, .at = text, .engine = calloc(1, sizeof *parser.engine)};
    *engine = NULL;
    if (parser.engine == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for an expression");
    int code = EXIT_DONE;
    if (!parse_values(&parser, &values))
        code = say(&parser, field, diag);
    else if (values != 1)
        code = diag_set(diag, EXIT_USAGE, "%s '%.*s': has %d values, must have one", field, SHOWN, text, values);
    else if (!parser.has_x)
        code = diag_set(diag, EXIT_USAGE, "%s '%.*s': does not depend on x", field, SHOWN, text);
    if (code != EXIT_DONE) {
        engine_free(parser.engine);
        return code;
    }
    *engine = parser.engine;
    return EXIT_DONE;
}
