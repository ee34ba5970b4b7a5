/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a proof of what a table's certificate says: check_proof.py in C, for speed, and a program of its own.
 *
 *     check_proof FILE
 *
 * It prints "accepted" and what is proven, or the first thing that fails. Exit status 0: accepted; 1: something does
 * not hold; 2: the file is not of the format. docs/proofs.md has the format and the theorems. It reads well from its
 * end. Trusted are jansson, which reads the file, and MPFR's functions at 200 bits with a margin of 2^-140. Nothing of
 * pwlc is included. */
#include "checker.h"

/* ---- The second claim: no allowed table of so many segments is within the error ---- */

static struct {
    i64 segments, squares, unit; /* the squares in units of 2^-unit */
    const char *error;           /* or NULL: the claim is one of squares */
} claim;

/* For each number of equal segments, or 0, and each shift from -63 to 63, whether a chain is about it. */
static bool covered[MOST_SEGMENTS + 1][127];
static i64 *group_of; /* of each stored code: the last group that excludes lines which start there alone */
static i64 groups;    /* that were looked at, in all chains */

static bool is_excluded(i64 place, i64 reach)
{
    return place <= reach || group_of[place - d0] == groups || place != last_place(place + 1);
}

/* Checks a group, and returns the b of its exclusions; reach is the largest a of those that exclude any line from
 * there. */
static i64 check_group(const i64 shifts[2], const json_t *rows, i64 *reach)
{
    i64 b = 0;
    groups++;
    *reach = d0 - 1;
    for (size_t k = 0; k < length(rows); k++) {
        struct exclusion e = check_exclusion(shifts, json_array_get(rows, k));
        REQUIRE(!b || b == e.b || k == 0, "a group's exclusions do not end together");
        b = e.b;
        if (e.any_start)
            *reach = (i64)larger(*reach, e.a);
        group_of[e.a - d0] = groups;
    }
    if (!length(rows))
        fail(2, "a group has no exclusions");
    return b;
}

/* One exclusion of a segment of `equal` ones. */
static void check_equal(const i64 shifts[2], const json_t *rows, i64 equal)
{
    bool found = false;
    REQUIRE(length(rows) == 1 && length(json_array_get(rows, 0)) == 1, "a chain of equal segments has one exclusion");
    struct exclusion e = check_exclusion(shifts, json_array_get(json_array_get(rows, 0), 0));
    for (i64 m = 0; m < equal; m++)
        found |= (equal_start(m, equal) == e.a || (equal_start(m, equal) < e.a && e.any_start)) &&
                 e.b <= equal_start(m + 1, equal);
    REQUIRE(found, "its exclusion is not one of a segment");
}

/* F(m), here `place`, is the last place where segment m of a table of these shifts can start: it cannot hold the range
 * of an exclusion that begins there or later. */
static void check_groups(const i64 shifts[2], json_t *rows, i64 number)
{
    i64 before = d0 - 1, place = d0, reach, made = (i64)length(rows);
    for (i64 m = 0; m < made; m++) {
        i64 b = check_group(shifts, json_array_get(rows, (size_t)m), &reach);
        /* In the anchored form starts up to `before` are excluded by the groups before. */
        for (i64 p = form == ANCHORED ? before + 1 : place; p <= place; p++)
            REQUIRE(is_excluded(p, reach), "group %lld does not exclude a segment from %lld on", m, p);
        before = place;
        place = last_place(b);
    }
    REQUIRE(made == number || (made && made < number && place <= before), "a chain ends too early");
}

static void check_chain(json_t *chain)
{
    i64 shifts[2], equal = 0;
    json_t *rows;
    read_json(chain, "chain", "{s[II] s?I so}", "shifts", shifts, shifts + 1, "equal", &equal,
              claim.error ? "groups" : "least", &rows);
    REQUIRE(rules.shifts[0] <= shifts[0] && shifts[0] <= shifts[1] && shifts[1] <= rules.shifts[1],
            "a chain's shifts are not among those of the rules");
    REQUIRE(rules.one_shift || (shifts[0] == rules.shifts[0] && shifts[1] == rules.shifts[1]),
            "a chain has not all shifts");
    REQUIRE(rules.equal ? equal && is_equal_count(equal) : !equal, "a chain is not of the rules' equal segments");
    if (!claim.error)
        check_costs(shifts, equal, rows, claim.segments, claim.squares);
    else if (equal)
        check_equal(shifts, rows, equal);
    else
        check_groups(shifts, rows, claim.segments);
    for (i64 n = shifts[0]; n <= shifts[1]; n++)
        covered[equal][n + 63] = true;
}

static void check_chains(json_t *chains)
{
    group_of = get(d1 - d0, sizeof *group_of);
    for (size_t k = 0; k < length(chains); k++)
        check_chain(json_array_get(chains, k));
    for (i64 equal = 0; equal <= MOST_SEGMENTS; equal++)
        for (i64 n = rules.shifts[0]; n <= rules.shifts[1]; n++)
            REQUIRE(covered[equal][n + 63] || (rules.equal ? !equal || !is_equal_count(equal) : equal),
                    "no chain has the shift %lld", n);
}

/* ---- What follows for the certificate ---- */

/* Which of optimal and lower_bound_lsb the certificate says though they do not follow: no table of so many segments has
 * a smaller error, or costs less than least; of the equal ones that are asked for, where the number is negative. */
static void find_open(bool open[2], i64 number, i128 limit, double least, i128 largest)
{
    bool best, low;
    double bound = said.lower_bound;
    if (is_objective("rms")) {
        best = squares - least <= fmax(squares / 1e9, ldexp((double)codes, -30)) && !weights;
        best = best && (bound == 0 || agrees(bound, said.rms, 0));
        low = (best && said.optimal) || bound * bound * (double)codes <= least * 1.000002;
    } else if (is_objective("max")) {
        i128 slack = larger(ONE / 100000000, largest / 100000000000);
        slack = larger(slack, larger(magnitude(y.qmin), magnitude(y.qmax)) * (ONE >> 48));
        best = largest - limit <= slack;
        low = bound <= fmax(in_steps(limit) * 1.000001, in_steps(slack));
        low |= best && said.optimal && agrees(bound, in_steps(largest), 0);
    } else {
        best = number < 0 || number == count - 1;
        low = bound == 0;
    }
    open[0] = said.optimal && !best;
    open[1] = !low;
}

/* The claim is one of the table: of its error and its segments. Returns how many smaller numbers of equal segments are
 * left open. */
static i64 check_claim(i128 limit, i128 largest)
{
    i64 most = 0, all = x.qmax + 1 - d0, left = 0;
    for (size_t i = 0; i < length(rules.equal); i++)
        most = (i64)larger(most, element(rules.equal, i));
    REQUIRE(!rules.equal || claim.segments == most, "segments are not the largest number of equal ones");
    if (!is_objective("segments")) {
        i64 asked = flag_number("--segments", "16");
        REQUIRE(claim.segments >= asked && claim.segments >= count && is_equal_count(asked), "S is too small");
        return 0;
    }
    decimal(at, one_flag("--max-err", "none"));
    REQUIRE(mpfr_cmp(asked_error, at) >= 0, "impossible: --max-err allows a larger error");
    REQUIRE(largest <= limit || agrees(in_steps(limit), in_steps(largest), 0), "the table is not within L");
    for (i64 k = 1; k < count; k++) {
        bool power = all % k == 0 && ((all / k) & (all / k - 1)) == 0;
        REQUIRE(!said.optimal || !power || is_equal_count(k), "optimal: %lld equal segments are left out", k);
        left += !is_equal_count(k);
    }
    return left;
}

/* Checks the second claim; returns how many smaller numbers of equal segments it leaves open. */
static i64 check_impossible(json_t *impossible, json_t *rule, json_t *chains, i128 largest)
{
    i128 limit = 0;
    bool rms = is_objective("rms"), open[2];
    read_json(impossible, "impossible", rms ? "{sI sI sI}" : "{sI ss}", "segments", &claim.segments,
              rms ? "squares" : "error", rms ? (void *)&claim.squares : (void *)&claim.error, "unit", &claim.unit);
    REQUIRE(claim.segments >= 1 && claim.segments <= MOST_SEGMENTS && claim.unit >= 0 && claim.unit <= 60,
            "impossible: is out of range");
    if (!rms) {
        decimal(asked_error, claim.error);
        limit = in_units(asked_error);
    }
    read_rules(rule);
    check_allowed();
    REQUIRE(!rms || (codes <= 1 << 12 && !weights), "squares are of 2^12 codes, without weights");
    i64 left = check_claim(limit, largest);
    find_open(open, rules.equal ? -1 : claim.segments, limit, ldexp((double)claim.squares, (int)-claim.unit), largest);
    REQUIRE(!open[0] && !open[1], "%s: the claim does not bear it out", open[0] ? "optimal" : "lower_bound_lsb");
    if (rms)
        find_floors(claim.unit);
    else
        find_bands(limit + 1);
    check_chains(chains);
    return left;
}

/* What the certificate says of other tables, and no claim bears out, or needs to: no table has less than no segments,
 * an error of less than 0, or outputs nearer than the nearest. */
static void tell_unproven(i128 largest)
{
    bool open[2];
    find_open(open, 0, 0, nearest, largest);
    if (said.optimal && !open[0])
        printf("; no table has %s", is_objective("rms")   ? "a smaller RMS error, for each output is the nearest code"
                                    : is_objective("max") ? "a smaller error"
                                                          : "fewer segments");
    printf("%s%s", open[0] ? "; not proven: optimal" : "", open[1] ? "; not proven: lower_bound_lsb" : "");
}

int main(int arguments, char **argument)
{
    json_error_t problem;
    json_t *table, *impossible = NULL, *rule = NULL, *chains = NULL;
    i64 version;
    if (arguments != 2) {
        fprintf(stderr, "Usage: check_proof FILE\n");
        return 2;
    }
    file_name = argument[1];
    mpfr_inits2(PRECISION, at, alpha, far, asked_error, whole, rest, NULL);
    for (size_t i = 0; i < sizeof stack / sizeof *stack; i++)
        mpfr_init2(stack[i], PRECISION);
    json_t *proof = json_load_file(file_name, JSON_REJECT_DUPLICATES, &problem);
    if (!proof)
        fail(2, "no JSON: %s", problem.text);
    read_json(proof, "proof", "{sI so s?o s?o s?o}", "pwl_proof", &version, "table", &table, "impossible", &impossible,
              "rules", &rule, "chains", &chains);
    REQUIRE(version == 1, "the proof's version is not 1");
    read_table(table);
    read_certificate(certificate);
    check_name(proof);
    find_function();
    if (codes > MOST_CODES) {
        REQUIRE(!impossible && !rule && !chains, "impossible: nothing is proven of more than 2^20 codes");
        check_wide();
        json_decref(proof);
        return 0;
    }
    enclose();
    find_outputs();
    i128 largest = check_certificate() - unit;
    REQUIRE(impossible || (!rule && !chains), "rules or chains, and no claim");
    i64 left = impossible ? check_impossible(impossible, rule, chains, largest) : 0;
    printf("%s: accepted: largest error %.10g LSB, %lld segments", file_name, in_steps(larger(largest, 0)), count);
    const char *kind = rules.equal ? "equal " : "";
    if (impossible && claim.error)
        printf("; no allowed table of at most %lld %ssegments is within %s LSB", claim.segments, kind, claim.error);
    else if (impossible)
        printf("; no allowed table of at most %lld %ssegments has an RMS error of less than %.10g LSB", claim.segments,
               kind, sqrt(ldexp((double)claim.squares, (int)-claim.unit) / (double)codes));
    else
        tell_unproven(largest);
    if (left)
        printf("; not proven: that %lld smaller numbers of equal segments, of no 2^k codes, do not do", left);
    if (weights)
        printf("; not proven: the averages (their weights are needed)");
    printf("\n");
    json_decref(proof);
    return 0;
}
