/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Derivatives go along with values: of f(u) they are f' u' and f'' u'^2 + f' u'', of u v u' v + u v' and
 * u'' v + 2 u' v' + u v''. `order` 0 leaves them alone.
 */
#include "engine.h"

#include <stdlib.h>

#include "engine_program.h"

/* Over an interval a comparison is decided when the sides are further apart than their enclosures, and than this share
 * of them, which is more than values at points err by. */
#define DECIDED 0x1p-60

struct run {
    struct ball x;
    int order; /* 0 or 2 */
    bool wide; /* x is an interval */
};

static const struct ball unknown = {{0, 0}, INFINITY};

enum comparison { BELOW = -1, SAME, ABOVE, UNDECIDED, NO_NUMBER };

static enum comparison compare(const struct run *run, struct ball a, struct ball b)
{
    const double difference = a.mid.hi == b.mid.hi && isinf(a.mid.hi) ? 0 : dd_sub(a.mid, b.mid).hi;
    double apart = ball_up(a.rad + b.rad);
    if (run->wide && apart > 0)
        apart += DECIDED * (fabs(a.mid.hi) + fabs(b.mid.hi));
    else if (isinf(apart))
        apart = 0;
    if (isnan(difference))
        return run->wide ? UNDECIDED : NO_NUMBER;
    if (difference > apart)
        return ABOVE;
    if (difference < -apart)
        return BELOW;
    return run->wide && apart > 0 ? UNDECIDED : SAME;
}

/* Whether a number is not 0: ABOVE; 0: SAME; or UNDECIDED. */
static enum comparison truth(const struct run *run, struct ball a)
{
    const enum comparison side = compare(run, a, ball_of(0));
    return side == SAME || side == UNDECIDED ? side : ABOVE;
}

static void set_constant(const struct run *run, struct jet *a, struct ball value)
{
    a->at[0] = value;
    for (int i = 1; i <= run->order; i++)
        a->at[i] = ball_of(0);
}

/* Between two numbers without a slope. */
static void set_undecided(const struct run *run, struct jet *a, double low, double high)
{
    a->at[0] = ball_hull(ball_of(low), ball_of(high));
    for (int i = 1; i <= run->order; i++)
        a->at[i] = unknown;
}

static void set_truth(const struct run *run, struct jet *a, enum comparison truth)
{
    if (truth == UNDECIDED)
        set_undecided(run, a, 0, 1);
    else
        set_constant(run, a, ball_of(truth != SAME));
}

static void negate(const struct run *run, struct jet *a)
{
    for (int i = 0; i <= run->order; i++)
        a->at[i] = ball_neg(a->at[i]);
}

static void add(const struct run *run, struct jet *a, const struct jet *b)
{
    for (int i = 0; i <= run->order; i++)
        a->at[i] = ball_add(a->at[i], b->at[i]);
}

static void subtract(const struct run *run, struct jet *a, const struct jet *b)
{
    for (int i = 0; i <= run->order; i++)
        a->at[i] = ball_sub(a->at[i], b->at[i]);
}

static void multiply(const struct run *run, struct jet *a, const struct jet *b)
{
    const struct ball *const u = a->at, *const v = b->at;
    if (run->order > 0) {
        const struct ball cross = ball_times(ball_mul(u[1], v[1]), 2);
        a->at[2] = ball_add(ball_add(ball_mul(u[2], v[0]), cross), ball_mul(u[0], v[2]));
        a->at[1] = ball_add(ball_mul(u[1], v[0]), ball_mul(u[0], v[1]));
    }
    a->at[0] = ball_mul(u[0], v[0]);
}

/* w = u / v: w' = (u' - w v') / v, w'' = (u'' - 2 w' v' - w v'') / v */
static void divide(const struct run *run, struct jet *a, const struct jet *b)
{
    struct ball *const u = a->at;
    const struct ball *const v = b->at;
    u[0] = ball_div(u[0], v[0]);
    if (run->order == 0)
        return;
    u[1] = ball_div(ball_sub(u[1], ball_mul(u[0], v[1])), v[0]);
    const struct ball more = ball_add(ball_times(ball_mul(u[1], v[1]), 2), ball_mul(u[0], v[2]));
    u[2] = ball_div(ball_sub(u[2], more), v[0]);
}

/* f(a) of f's value and derivatives at a */
static void chain(const struct run *run, struct jet *a, const struct ball f[3])
{
    if (run->order > 0) {
        a->at[2] = ball_add(ball_mul(f[2], ball_mul(a->at[1], a->at[1])), ball_mul(f[1], a->at[2]));
        a->at[1] = ball_mul(f[1], a->at[1]);
    }
    a->at[0] = f[0];
}

/* Whether a number is known not to change. */
static bool is_level(const struct run *run, const struct jet *a)
{
    return run->order > 0 && ball_is(a->at[1], 0) && ball_is(a->at[2], 0);
}

static void apply(const struct run *run, struct jet *a, enum ball_function function)
{
    struct ball f[3];
    ball_function(function, a->at[0], run->order, f);
    /* Of what does not change over an interval f has no slope, though f' be infinite there, as of sqrt(max(x, 0)). */
    if (run->wide && is_level(run, a))
        set_constant(run, a, f[0]);
    else
        chain(run, a, f);
}

static void power_of_whole(const struct run *run, struct jet *a, double n)
{
    struct ball f[3] = {ball_power(a->at[0], n), ball_of(0), ball_of(0)};
    if (run->order > 0 && n != 0)
        f[1] = ball_times(ball_power(a->at[0], n - 1), n);
    if (run->order > 0 && n != 0 && n != 1)
        f[2] = ball_times(ball_power(a->at[0], n - 2), n * (n - 1));
    chain(run, a, f);
}

static bool is_whole(double value)
{
    return fabs(value) < 0x1p52 && rint(value) == value;
}

/* What is not told apart from an integer, or half of one, is that: x^(6/2) has values below 0, too. Above 0 the
 * exponent's own enclosure does as well; 0 itself is another thing than what is near it. */
static struct ball exponent_of(const struct run *run, struct ball base, const struct jet *b)
{
    const struct ball own = b->at[0];
    const double half = rint(2 * own.mid.hi) / 2;
    const bool is_half = half != 0 && own.rad < 0x1p-90 && fabs(dd_plus(own.mid, -half).hi) <= ball_up(own.rad);
    return is_half && !(base.mid.hi > base.rad) && (!run->wide || is_level(run, b)) ? ball_of(half) : own;
}

/* By products where the exponent is an integer, of a root where it is half of one, else e^(b log(a)). */
static void power(const struct run *run, struct jet *a, const struct jet *b)
{
    const struct ball exponent = exponent_of(run, a->at[0], b);
    const bool exact = ball_is(exponent, exponent.mid.hi), fixed = exact && (run->order == 0 || is_level(run, b));
    if (fixed && is_whole(exponent.mid.hi)) {
        power_of_whole(run, a, exponent.mid.hi);
        return;
    }
    if (fixed && fabs(exponent.mid.hi) < 32 && is_whole(2 * exponent.mid.hi)) {
        apply(run, a, BALL_SQRT);
        power_of_whole(run, a, 2 * exponent.mid.hi);
        return;
    }
    const struct ball base = a->at[0];
    apply(run, a, BALL_LOG);
    multiply(run, a, b);
    apply(run, a, BALL_EXP);
    if (exact && is_whole(exponent.mid.hi))
        a->at[0] = ball_power(base, exponent.mid.hi);
    else if (ball_is(base, 0) && exponent.mid.hi > 0 && ball_least(exponent) > 0)
        a->at[0] = ball_of(0);
}

/* What is of one side, or of the other: continuous, with a kink where they meet. */
static void join(struct jet *a, const struct jet *b)
{
    a->at[0] = ball_hull(a->at[0], b->at[0]);
    a->at[1] = ball_hull(a->at[1], b->at[1]);
    a->at[2] = unknown;
}

/* At a point where it is not told which of two numbers counts, and neither is exact, the slope may be the other's. */
static void widen(struct jet *a, struct ball value, struct ball slope)
{
    if (value.rad == 0)
        return;
    const double apart = fabs(dd_sub(a->at[1].mid, slope.mid).hi);
    a->at[1].rad = ball_up(apart + a->at[1].rad + slope.rad);
    a->at[2].rad = (double)INFINITY;
}

static void absolute(const struct run *run, struct jet *a)
{
    const enum comparison side = compare(run, a->at[0], ball_of(0));
    if (side == UNDECIDED && run->order > 0) {
        struct jet other = *a;
        negate(run, &other);
        other.at[0] = ball_of(0);
        const double most = ball_most(a->at[0]);
        join(a, &other);
        a->at[0] = ball_hull(ball_of(0), ball_of(most));
    } else if (side == BELOW || (side == SAME && run->order > 0 && a->at[1].mid.hi < 0)) {
        negate(run, a);
    }
    if (side == SAME && run->order > 0)
        widen(a, a->at[0], ball_neg(a->at[1]));
    a->at[0].mid = dd_abs(a->at[0].mid);
}

/* The larger of two, or by sign -1 the smaller. Where they are not told apart, its value is as near as that of either.
 */
static void extreme(const struct run *run, struct jet *a, const struct jet *b, int sign)
{
    const enum comparison side = compare(run, a->at[0], b->at[0]);
    const bool is_decided = side == BELOW || side == ABOVE, wants_b = dd_less(a->at[0].mid, b->at[0].mid) == (sign > 0);
    const struct ball value = {wants_b ? b->at[0].mid : a->at[0].mid, fmax(a->at[0].rad, b->at[0].rad)};
    if (isnan(a->at[0].mid.hi) || isnan(b->at[0].mid.hi)) {
        set_undecided(run, a, (double)NAN, (double)NAN);
        return;
    }
    if (side == UNDECIDED && run->order > 0)
        join(a, b);
    else if (is_decided && wants_b)
        *a = *b;
    else if (side == SAME && run->order > 0) {
        const struct jet own = *a;
        const bool takes_b = dd_less(own.at[1].mid, b->at[1].mid) == (sign > 0);
        if (takes_b)
            *a = *b;
        widen(a, value, takes_b ? own.at[1] : b->at[1]);
    }
    if (!is_decided)
        a->at[0] = value;
}

/* a, or what is in its place below 0; continuous. `steepness` bounds the slope of that at 0. */
static void bent(const struct run *run, struct jet *a, const struct jet *below, double steepness)
{
    const enum comparison side = compare(run, a->at[0], ball_of(0));
    const bool is_tied = side == SAME,
               takes_below = side == BELOW || (is_tied && run->order > 0 && a->at[1].mid.hi < 0);
    const struct ball value = a->at[0], slope = run->order > 0 ? a->at[1] : ball_of(0);
    if (takes_below)
        *a = *below;
    else if (side == UNDECIDED && run->order > 0)
        join(a, below);
    else if (side == UNDECIDED)
        a->at[0] = ball_hull(a->at[0], below->at[0]);
    if (is_tied && run->order > 0)
        widen(a, value, takes_below ? slope : below->at[1]);
    if (is_tied && value.rad > 0)
        a->at[0].rad = ball_up(fmax(value.rad, a->at[0].rad) * (2 + 2 * steepness));
}

static struct dd whole_below(struct dd a)
{
    const double high = floor(a.hi), low = high == a.hi ? floor(a.lo) : 0;
    return dd_sum(high, low);
}

/* floor(a + shift), of what may be an integer that integer; rint takes the even one of two, half way between them. */
static void round_down(const struct run *run, struct jet *a, double shift, bool to_even)
{
    const struct dd mid = dd_plus(a->at[0].mid, shift);
    double rad = isfinite(a->at[0].rad) || run->wide ? a->at[0].rad : 0;
    if (run->wide && rad > 0)
        rad += DECIDED * (fabs(mid.hi) + 1);
    const struct dd low = whole_below(dd_plus(mid, -rad)), high = whole_below(dd_plus(mid, rad));
    struct dd value = high;
    if (!isfinite(rad) || isnan(mid.hi)) {
        set_undecided(run, a, -(double)INFINITY, (double)INFINITY);
        return;
    }
    if (run->wide && (low.hi != high.hi || low.lo != high.lo)) {
        set_undecided(run, a, low.hi - 1, high.hi);
        return;
    }
    if (to_even && fabs(dd_sub(mid, high).hi) <= rad && whole_below(dd_scaled(high, 0.5)).hi * 2 != high.hi)
        value = dd_plus(high, -1);
    set_constant(run, a, (struct ball){value, 0});
}

static void sign_of(const struct run *run, struct jet *a)
{
    const enum comparison side = compare(run, a->at[0], ball_of(0));
    if (side == UNDECIDED)
        set_undecided(run, a, -1, 1);
    else
        set_constant(run, a, ball_of(side == NO_NUMBER ? (double)NAN : (double)side));
}

static void compare_by(const struct run *run, struct jet *a, const struct jet *b, enum operation operation)
{
    const enum comparison side = compare(run, a->at[0], b->at[0]);
    const bool less = side == BELOW, same = side == SAME, greater = side == ABOVE;
    const bool result = operation == OP_LESS            ? less
                        : operation == OP_GREATER       ? greater
                        : operation == OP_LESS_EQUAL    ? less || same
                        : operation == OP_GREATER_EQUAL ? greater || same
                        : operation == OP_EQUAL         ? same
                                                        : !same;
    set_truth(run, a, side == UNDECIDED ? UNDECIDED : result ? ABOVE : SAME);
}

static void combine(const struct run *run, struct jet *a, const struct jet *b, enum operation operation)
{
    const enum comparison first = truth(run, a->at[0]), second = truth(run, b->at[0]),
                          decides = operation == OP_AND ? SAME : ABOVE;
    if (first == decides || second == decides)
        set_truth(run, a, decides);
    else
        set_truth(run, a, first == UNDECIDED || second == UNDECIDED ? UNDECIDED : first);
}

static void unary(const struct run *run, struct jet *a, const struct instruction *instruction)
{
    enum comparison side;
    switch (instruction->operation) {
    case OP_NEGATE:
        negate(run, a);
        break;
    case OP_NOT:
        side = truth(run, a->at[0]);
        set_truth(run, a, side == UNDECIDED ? UNDECIDED : side == SAME ? ABOVE : SAME);
        break;
    case OP_ABS:
        absolute(run, a);
        break;
    case OP_SIGN:
        sign_of(run, a);
        break;
    case OP_RINT:
        round_down(run, a, 0.5, true);
        break;
    case OP_FLOOR:
        round_down(run, a, 0, false);
        break;
    case OP_CEIL:
        negate(run, a);
        round_down(run, a, 0, false);
        negate(run, a);
        break;
    default:
        apply(run, a, (enum ball_function)instruction->argument);
        break;
    }
}

/* b a, or b expm1(a), below 0 */
static void bend_below(const struct run *run, struct jet *a, const struct jet *b, enum operation operation)
{
    struct jet below = *a;
    if (operation == OP_ELU)
        apply(run, &below, BALL_EXPM1);
    multiply(run, &below, b);
    bent(run, a, &below, ball_most(b->at[0]));
}

static void binary(const struct run *run, struct jet *a, const struct jet *b, enum operation operation)
{
    switch (operation) {
    case OP_ADD:
        add(run, a, b);
        break;
    case OP_SUBTRACT:
        subtract(run, a, b);
        break;
    case OP_MULTIPLY:
        multiply(run, a, b);
        break;
    case OP_DIVIDE:
        divide(run, a, b);
        break;
    case OP_POWER:
        power(run, a, b);
        break;
    case OP_AND:
    case OP_OR:
        combine(run, a, b, operation);
        break;
    case OP_MIN:
        extreme(run, a, b, -1);
        break;
    case OP_MAX:
        extreme(run, a, b, 1);
        break;
    case OP_ELU:
    case OP_LEAKY:
        bend_below(run, a, b, operation);
        break;
    default:
        compare_by(run, a, b, operation);
        break;
    }
}

/* Of an undecided condition both branches: it may jump. */
static void either(const struct run *run, struct jet *a, const struct jet *b)
{
    a->at[0] = ball_hull(a->at[0], b->at[0]);
    for (int i = 1; i <= run->order; i++)
        a->at[i] = unknown;
}

/* [code, code + count), which leaves one number. */
static struct jet result_of(const struct run *run, const struct instruction *code, int count)
{
    struct jet stack[ENGINE_STACK];
    struct jet *top = stack; /* the first that is free */
    for (int i = 0; i < count; i++) {
        const struct instruction *instruction = &code[i];
        switch (instruction->operation) {
        case OP_CONSTANT:
            set_constant(run, top++, instruction->constant);
            break;
        case OP_X:
            set_constant(run, top, run->x);
            if (run->order > 0)
                top->at[1] = ball_of(1);
            top++;
            break;
        case OP_COPY:
            top[0] = top[-1];
            top++;
            break;
        case OP_IF:
            if (truth(run, top[-1].at[0]) == SAME) {
                set_constant(run, top++, ball_of(0)); /* in the place of a */
                i += instruction->argument;
            }
            break;
        case OP_ELSE:
            if (truth(run, top[-2].at[0]) == ABOVE) {
                top[-2] = top[-1];
                top--;
                i += instruction->argument;
            }
            break;
        case OP_END:
            if (truth(run, top[-3].at[0]) == UNDECIDED)
                either(run, &top[-1], &top[-2]);
            top[-3] = top[-1];
            top -= 2;
            break;
        case OP_NEGATE:
        case OP_NOT:
        case OP_ABS:
        case OP_SIGN:
        case OP_RINT:
        case OP_FLOOR:
        case OP_CEIL:
        case OP_FUNCTION:
            unary(run, &top[-1], instruction);
            break;
        default:
            binary(run, &top[-2], &top[-1], instruction->operation);
            top--;
            break;
        }
    }
    return stack[0];
}

struct ball program_value(const struct instruction *code, int count, struct dd x)
{
    const struct run run = {.x = {x, 0}};
    return result_of(&run, code, count).at[0];
}

struct ball engine_value(const struct engine *engine, struct dd x)
{
    return program_value(engine->code, engine->count, x);
}

struct jet engine_jet(const struct engine *engine, struct dd x)
{
    const struct run run = {.x = {x, 0}, .order = 2};
    return result_of(&run, engine->code, engine->count);
}

struct jet engine_enclosure(const struct engine *engine, struct dd middle, double radius)
{
    const struct run run = {.x = {middle, radius}, .order = 2, .wide = true};
    return result_of(&run, engine->code, engine->count);
}

void engine_free(struct engine *engine)
{
    if (engine == NULL)
        return;
    free(engine->code);
    free(engine);
}
