/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way of the runtime gives the codes of pwl_eval(), and they are the same on every platform. Writes one line for
 * each table and pair of array types, with a hash of the codes; hashes.txt is what it writes. Needs the runtime's
 * sources and say.h alone; with -DFEW it visits the tables marked "few", for small and slow platforms, and with
 * -DLEVELS=... it fails where the machine's levels are others.
 *
 * Tables: those in luts/, and drawn ones of each storage, form, rounding and fold, at the limits of the proof too.
 * Codes: all of 8- and 16-bit arrays; of 32-bit ones those around each start and its mirror image, the ends of ranges,
 * and RANDOM_CODES others.
 */
#ifdef FEW
#define MADE_MAX_SEGMENTS 64 /* more than any of the few has */
#else
#define MADE_MAX_SEGMENTS 256
#endif
#include <pwl/eval.h>
#include <pwl/plan.h>

#include "../../runtime/ways.h"
#include "../kernels/map/tables.h"
#include "../support/extreme_table.h"
#include "../support/typed_array.h"
#include "luts.h"
#include "network_equivalence.h"
#include "row_equivalence.h"
#include "say.h"
#include "text.h"

/* Storages, forms, roundings and folds make a round; each round's tables have more lines than those before. */
enum { STORAGES = 3, FORMS = 3, ROUNDINGS = 4, FOLDS = 2, ROUND = STORAGES * FORMS * ROUNDINGS * FOLDS };
enum { ROUNDS = 3, FEW_ROUNDS = 2, MIXED_ROUND = 1 };

/* For what a way prepares; one that takes more is left out. */
#ifndef MEMORY_BYTES
#define MEMORY_BYTES (300 << 10)
#endif

/* Codes at a time: odd, so that parts of vectors are left over, and arrays begin everywhere. */
enum { PART = 251, RANDOM_CODES = 2000, AROUND = 5 };

/* Longest of the arrays of every length, and what lies around them. */
enum { SHORT = 130, LENGTH_STEP = 13, GUARD = 90 };

static struct made_table made;
static uint32_t x[PART + 1], y[PART + 1];
static uint8_t memory[MEMORY_BYTES];
static int failed;

static void add_hash(struct text *text, uint64_t hash)
{
    for (int shift = 60; shift >= 0; shift -= 4) {
        const char digit[] = {"0123456789abcdef"[hash >> shift & 15], '\0'};
        add(text, digit);
    }
}

static void add_types(struct text *text, pwl_type in, pwl_type out)
{
#define NAME(name, type, min, max) #name,
    static const char *const names[] = {PWL_MAP_TYPES(NAME)};
    add(text, " ");
    add(text, names[in]);
    add(text, " ");
    add(text, names[out]);
}

/* The codes to visit, by number. */
struct visit {
    const pwl_table *table;
    pwl_type in, out;
    uint32_t count;
};

static struct visit visit_of(const pwl_table *table, pwl_type in, pwl_type out)
{
    const uint32_t bits = 8u << (in >> 1);
    const struct visit visit = {table, in, out,
                                bits < 32 ? (uint32_t)1 << bits : 2 * AROUND * (table->segments + 3u) + RANDOM_CODES};
    return visit;
}

static int64_t code_at(const struct visit *visit, uint32_t k)
{
    const pwl_table *const table = visit->table;
    const int64_t min = limits[visit->in].min, max = limits[visit->in].max;
    const int32_t place = (int32_t)(k / (2 * AROUND));
    uint64_t state = k;
    int64_t q;
    if (BYTES(visit->in) < 4)
        return min + k;
    if (place < table->segments + 3) {
        q = place < table->segments        ? pwl_element_start(table, place)
            : place == table->segments     ? table->qmin_x
            : place == table->segments + 1 ? table->qmax_x
                                           : table->zp_x;
        q += (int64_t)(k % AROUND) - AROUND / 2;
        if (k % (2 * AROUND) >= AROUND)
            q = (int64_t)(2 * (uint64_t)table->zp_x - (uint64_t)q); /* modulo 2^64, as zero points may lie far off */
    } else if (k % 2)
        q = random_in(&state, table->qmin_x, table->qmax_x);
    else
        q = random_in(&state, min, max);
    return q < min ? min : q > max ? max : q;
}

/* FNV-1a over values, not over their bytes in memory: those depend on the platform. */
static uint64_t hashed(uint64_t hash, int64_t value)
{
    return (hash ^ (uint64_t)value) * UINT64_C(0x100000001b3);
}

#define HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)

static uint64_t hash_of_eval(const struct visit *visit)
{
    uint64_t hash = HASH_OF_NOTHING;
    for (uint32_t k = 0; k < visit->count; k++)
        hash = hashed(hash, pwl_eval(visit->table, code_at(visit, k)));
    return hash;
}

static void report(const struct visit *visit, const char *way, int64_t code, int64_t value)
{
    struct text text = {.length = 0};
    add(&text, way);
    add_types(&text, visit->in, visit->out);
    add(&text, ": code ");
    add_number(&text, code);
    add(&text, " gives ");
    add_number(&text, value);
    add(&text, ", not ");
    add_number(&text, pwl_eval(visit->table, code));
    add(&text, "\n");
    say(text.characters);
    failed = 1;
}

/* Of what a plan maps; reports the first wrong code when it is asked to look for one. */
static uint64_t hash_of_plan(const struct visit *visit, const pwl_plan *plan, int look)
{
    uint64_t hash = HASH_OF_NOTHING;
    for (uint32_t first = 0; first < visit->count; first += PART) {
        const uint32_t count = visit->count - first < PART ? visit->count - first : PART, shift = first % 2;
        uint8_t *const in = (uint8_t *)x + shift * BYTES(visit->in), *const out =
                                                                         (uint8_t *)y + shift * BYTES(visit->out);
        for (uint32_t k = 0; k < count; k++)
            pwl_set_element_of(visit->in, in, k, code_at(visit, first + k));
        pwl_run(plan, in, out, count);
        for (uint32_t k = 0; k < count; k++) {
            const int64_t value = pwl_element_of(visit->out, out, k);
            hash = hashed(hash, value);
            if (look && value != pwl_eval(visit->table, pwl_element_of(visit->in, in, k))) {
                report(visit, pwl_plan_way(plan), pwl_element_of(visit->in, in, k), value);
                return hash;
            }
        }
    }
    return hash;
}

/* The code of element k in arrays of every length. */
static int64_t scattered(const struct visit *visit, uint32_t k)
{
    return code_at(visit, k * 40503 % visit->count);
}

/* Arrays of lengths from 0 to SHORT, one or two elements behind where any vector may lie, are mapped as `expected`
 * says, in place too, and nothing around them is written. One length of LENGTH_STEP: the tables take turns. */
static void check_lengths(const struct visit *visit, const pwl_plan *plan, const int64_t *expected)
{
    static uint32_t turn;
    const uint32_t in = BYTES(visit->in), out = BYTES(visit->out);
    for (uint32_t pass = turn++ % LENGTH_STEP; pass < (in == out ? 2 : 1) * (SHORT + 1); pass += LENGTH_STEP) {
        const uint32_t count = pass % (SHORT + 1);
        uint8_t *const from = (uint8_t *)x + in * (1 + count % 2);
        uint8_t *const to = pass > SHORT ? from : (uint8_t *)y + out * (1 + count / 2 % 2);
        uint8_t *const around = to - out;
        for (uint32_t k = 0; k < count + 2; k++)
            pwl_set_element_of(visit->out, around, k, GUARD);
        for (uint32_t k = 0; k < count; k++)
            pwl_set_element_of(visit->in, from, k, scattered(visit, k));
        pwl_run(plan, from, to, count);
        for (uint32_t k = 0; k < count; k++)
            if (pwl_element_of(visit->out, to, k) != expected[k]) {
                report(visit, pwl_plan_way(plan), scattered(visit, k), pwl_element_of(visit->out, to, k));
                return;
            }
        if (pwl_element_of(visit->out, around, 0) != GUARD || pwl_element_of(visit->out, around, count + 1) != GUARD) {
            say(pwl_plan_way(plan));
            say(" writes around the array\n");
            failed = 1;
            return;
        }
    }
}

static void check_plan(const struct visit *visit, const pwl_plan *plan, uint64_t hash, const int64_t *expected)
{
    if (hash_of_plan(visit, plan, 0) != hash)
        hash_of_plan(visit, plan, 1);
    check_lengths(visit, plan, expected);
}

/* pwl_map_*(), and each way that this machine has and this table takes. */
static void check_visit(const struct visit *visit, int number, const char *name)
{
    /* All codes of a 16-bit array take long. */
    const int few = number < FEW_ROUNDS * ROUND && (BYTES(visit->in) != 2 || number % 7 == 0);
#ifdef FEW
    if (!few)
        return;
#endif
    static int64_t expected[SHORT];
    const uint64_t hash = hash_of_eval(visit);
    const pwl_source source = pwl_source_of(visit->table);
    struct text text = {.length = 0};
    pwl_plan plan;

    add(&text, few ? "few " : "all ");
    add(&text, name);
    add_types(&text, visit->in, visit->out);
    add(&text, " ");
    add_hash(&text, hash);
    add(&text, "\n");
    say(text.characters);

    for (uint32_t k = 0; k < SHORT; k++)
        expected[k] = pwl_eval(visit->table, scattered(visit, k));
    if (pwl_plan_init(&plan, NULL, 0, visit->table, visit->in, visit->out, 0) == PWL_OK)
        check_plan(visit, &plan, hash, expected);
    else
        failed = 1;
    for (size_t w = 0; w < pwl_way_count; w++) {
        const pwl_way *const way = &pwl_ways[w];
        const size_t bytes = pwl_way_bytes(way, &source, visit->in, visit->out);
        if (!bytes || bytes > MEMORY_BYTES || (way->level & pwl_levels()) != way->level)
            continue;
        pwl_way_prepare(way, &plan, memory, &source, visit->in, visit->out);
        check_plan(visit, &plan, hash, expected);
    }
}

/* The narrowest type of output at or after `out`, beginning again after the last. */
static pwl_type fitting(const pwl_table *table, int out)
{
    while (!pwl_fits(table, (pwl_type)(out % 6)))
        out++;
    return (pwl_type)(out % 6);
}

static pwl_type own_type(const pwl_table *table)
{
    return (pwl_type)(2 * table->storage + (table->flags & PWL_FLAG_UNSIGNED_X ? 1 : 0));
}

static void check_luts(void)
{
    for (int k = 0; luts[k].table; k++) {
        const struct visit visit = visit_of(luts[k].table, own_type(luts[k].table), fitting(luts[k].table, 0));
        check_visit(&visit, k, luts[k].name);
    }
}

static const char *const forms[] = {"absolute", "biased", "anchored"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
static const char *const storages[] = {"int8", "int16", "int32"};

/* Lines of the made table whose values seldom saturate and are often halfway between two codes, and whose slopes every
 * way takes: elsewhere most codes of 32 bits have the value of an end. */
static void flatten(uint64_t *state)
{
    const struct type_limits all = limits[2 * made.table.storage + (made.table.qmin_y >= 0)];
    made.table.qmin_y = all.min;
    made.table.qmax_y = all.max;
    for (int i = 0; i < made.table.segments; i++) {
        made.n[i] = (int)random_in(state, 1, 16);
        made.q_b[i] = random_in(state, -1, 1) * ((int64_t)1 << made.n[i]) + random_in(state, -9, 9);
        made.offset[i] = random_in(state, INT16_MIN, INT16_MAX);
    }
    made_pack(&made);
}

static void add_kind(struct text *name, int storage, int form, int rounding, int fold)
{
    add(name, storages[storage]);
    add(name, " ");
    add(name, forms[form]);
    add(name, " ");
    add(name, roundings[rounding]);
    add(name, fold ? " folded " : " whole ");
}

/* Table `number` of all; those of one round are mapped from another type too. */
static void check_drawn(int number)
{
    static const int most_lines[ROUNDS] = {8, 32, 200};
    const int rounding = number % ROUNDINGS, form = number / ROUNDINGS % FORMS,
              storage = number / (ROUNDINGS * FORMS) % STORAGES, fold = number / (ROUNDINGS * FORMS * STORAGES) % FOLDS,
              round = number / ROUND;
    const int most = most_lines[round];
    const int64_t codes = round == 0 ? 600 : (int64_t)1 << (8 << storage);
    uint64_t state = (uint64_t)number;
    struct text name = {.length = 0};
    const pwl_table *const table = &made.table;
    struct visit visit;
    do {
        draw_table(&made, &state, (pwl_storage)storage, (pwl_form)form, (pwl_rounding)rounding, fold, codes,
                   1 + codes * 2 / most, most / 8);
        if (round == MIXED_ROUND && storage == PWL_INT32)
            flatten(&state);
    } while (pwl_table_check(table, NULL) != PWL_OK);
    visit = visit_of(table, own_type(table), fitting(table, 0));
    add_kind(&name, storage, form, rounding, fold);
    add_number(&name, table->segments);
    check_visit(&visit, number, name.characters);
    if (round == MIXED_ROUND) {
        visit = visit_of(table, (pwl_type)(number % 6), fitting(table, number / 6));
        check_visit(&visit, number, name.characters);
    }
}

/* Table `number` of a round at the limits of the proof. */
static void check_extreme(int number)
{
    const int rounding = number % ROUNDINGS, form = number / ROUNDINGS % FORMS,
              storage = number / (ROUNDINGS * FORMS) % STORAGES, fold = number / (ROUNDINGS * FORMS * STORAGES);
    uint64_t state = (uint64_t)number;
    struct text name = {.length = 0};
    struct visit visit;
    draw_extreme(&made, &state, (pwl_storage)storage, (pwl_form)form, (pwl_rounding)rounding, fold,
                 (int64_t)1 << (8 << storage));
    visit = visit_of(&made.table, own_type(&made.table), fitting(&made.table, 0));
    add_kind(&name, storage, form, rounding, fold);
    add(&name, "extreme");
    check_visit(&visit, number, name.characters);
}

int main(void)
{
#ifdef FEW
    const int tables = FEW_ROUNDS * ROUND;
#else
    const int tables = ROUNDS * ROUND;
#endif
#ifdef LEVELS
    if (pwl_levels() != (LEVELS)) {
        say("pwl_levels() finds others than this machine has\n");
        failed = 1;
    }
#endif
    check_luts();
    for (int number = 0; number < tables; number++)
        check_drawn(number);
    for (int number = 0; number < ROUND; number++)
        check_extreme(number);
    failed |= check_rows();
    failed |= check_networks(&made, sizeof made);
    say(failed ? "FAILED\n" : "done\n");
    return failed;
}
