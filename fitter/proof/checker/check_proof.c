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

/* How far L may be below E. */
static i128 slack(i128 largest)
{
    return larger(larger(ONE / 100000000, largest / 100000000000),
                  larger(magnitude(y.qmin), magnitude(y.qmax)) * (ONE >> 48));
}

static void follows_for_max(i64 number, i128 limit, i128 largest)
{
    i64 asked = flag_number("--segments", "16");
    REQUIRE(number >= asked && number >= count && is_equal_count(asked), "impossible: S is too small");
    REQUIRE(!said.optimal || largest - limit <= slack(largest), "optimal: L is too far below E");
    REQUIRE(said.lower_bound == 0 || said.lower_bound <= in_steps(limit) * 1.000001 ||
                (said.optimal && agrees(said.lower_bound, in_steps(largest), 0)),
            "lower_bound_lsb is above the error of impossible");
}

/* How far below the table's sum of squares B may be, or the least sum that outputs can have. */
static double slack_of_squares(void)
{
    return fmax(squares / 1e9, ldexp((double)codes, -30));
}

static bool is_bound_of_squares(double least)
{
    return said.lower_bound * said.lower_bound * (double)codes <= least * 1.000002;
}

static void follows_for_squares(void)
{
    i64 asked = flag_number("--segments", "16");
    double least = ldexp((double)claim.squares, (int)-claim.unit);
    REQUIRE(codes <= 1 << 12 && !weights, "squares are of 2^12 codes, without weights");
    REQUIRE(claim.segments >= asked && claim.segments >= count && is_equal_count(asked), "impossible: S is too small");
    REQUIRE(!said.optimal || squares - least <= slack_of_squares(), "optimal: B is too far below the table's squares");
    REQUIRE(!said.optimal || agrees(said.lower_bound, said.rms, 0), "lower_bound_lsb is not rms_err_lsb");
    REQUIRE(said.optimal || is_bound_of_squares(least), "lower_bound_lsb is above the squares of impossible");
}

/* Returns how many smaller numbers of equal segments are left open. */
static i64 follows_for_segments(i64 number, i128 limit, i128 largest)
{
    i64 all = x.qmax + 1 - d0, left = 0;
    REQUIRE(!said.has_bound, "a claim that the certificate has not");
    decimal(at, one_flag("--max-err", "none"));
    REQUIRE(mpfr_cmp(asked_error, at) >= 0, "impossible: --max-err allows a larger error");
    REQUIRE(largest <= limit || agrees(in_steps(limit), in_steps(largest), 0), "the table is not within L");
    REQUIRE(!said.optimal || rules.equal || number == count - 1,
            "optimal: S is not one less than the table's segments");
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
    i64 most = 0, left = 0;
    i128 limit = 0;
    bool rms = is_objective("rms");
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
    for (size_t i = 0; i < length(rules.equal); i++)
        most = (i64)larger(most, element(rules.equal, i));
    REQUIRE(!rules.equal || claim.segments == most, "segments are not the largest number of equal ones");
    if (is_objective("max"))
        follows_for_max(claim.segments, limit, largest);
    else if (rms)
        follows_for_squares();
    else
        left = follows_for_segments(claim.segments, limit, largest);
    if (rms)
        find_floors(claim.unit);
    else
        find_bands(limit + 1);
    check_chains(chains);
    return left;
}

/* What the certificate says of other tables, and no claim bears out. */
static void tell_unproven(i128 largest)
{
    i128 small = is_objective("max") ? slack(largest) : 0;
    bool open = is_objective("segments") ? count > 1 : largest > small, high = said.lower_bound > in_steps(small);
    if (is_objective("rms")) {
        open = squares - nearest > slack_of_squares() || !agrees(said.lower_bound, said.rms, 0);
        high = !is_bound_of_squares(nearest) && (open || !said.optimal);
    }
    if (said.optimal && (open || weights))
        printf("; not proven: optimal");
    if (high)
        printf("; not proven: lower_bound_lsb");
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
    printf("%s: accepted: largest error %.10g LSB, %lld segments", file_name, in_steps(largest), count);
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
