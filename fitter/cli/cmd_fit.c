/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/note.h"
#include "base/number.h"
#include "command.h"
#include "fit/choice_costs.h"
#include "fit/fit.h"
#include "fit_for.h"
#include "fit_result.h"
#include "fit_notes.h"
#include "jobs/share.h"
#include "proof/proof.h"

#include "reply.h"
#include "row_operator.h"
#include "spec/flags.h"
#include "spec/spec.h"

#define MOST_SECONDS 1e6 /* of --time-limit */

#define SPEC_OPTION(key, name, argument, set, help) {name, argument, help},

static const struct option_info options[] = {
    /* clang-format off */
    SPEC_FLAGS(SPEC_OPTION)
    /* clang-format on */
    {"--spec", "FILE", "fit every job of a JSON list, in parallel; -o then names a directory, made when missing"},
    {"--for", COST_TARGETS,
     "of the tables within --max-err the one whose module or code is the cheapest there, see below"},
    SHARE_OPTIONS,
    {"--jobs", "N", "how many jobs of --spec run at once (default: one a core)"},
    {"--rows", "N", "of softmax, logsoftmax and weigh the longest row, of norms the channels: 1 to 65536 places"},
    {"--gamma", "FILE", "layernorm, rmsnorm: a .npy file, a factor for each channel (default 1)"},
    {"--beta", "FILE", "layernorm, rmsnorm: a .npy file, an addend for each channel, in real units (default 0)"},
    {"--eps", "E", "layernorm, rmsnorm (default 1e-5), l2norm (default 0): what is added under the root"},
    {"--in-b", "TYPE", "add: the type of the second input; weigh: of the values"},
    {"--fraction", "F", "softmax, logsoftmax, weigh: fraction bits of the exponentials, 8 to 30 (default 30)"},
    {"--time-limit", "SECONDS",
     "end the search of a table after so long, with the best one found; without it the same flags give the same table"},
    {"-o", "FILE", "write the table there instead of standard output"},
    {"--proof", "FILE", "write a proof of the certificate there, as `pwlc prove` makes it"},

    {"--reply", NULL,
     "for programs: write JSON, the text of the table as \"result\" and what is noted on it as \"notes\""},
    {NULL, NULL, NULL},
};

static void note_types(const struct spec *spec)
{
    char in[80], out[80];
    tensor_format(&spec->in, in, sizeof in);
    tensor_format(&spec->out, out, sizeof out);
    note("fit", "the types are --in %s --out %s", in, out);
}

/* Fits a table, in so many seconds if they are finite. */
static int fit_within(struct spec *spec, double seconds, struct time_limit *limit, struct table *table,
                      struct diag *diag)
{
    time_limit_begin(limit, seconds);
    spec->time_limit = isfinite(seconds) ? limit : NULL;
    if (fit(spec, table, diag) == EXIT_REQUIREMENT && limit->cut) {
        char message[sizeof diag->text];
        snprintf(message, sizeof message, "%s", diag->text);
        diag_set(diag, EXIT_REQUIREMENT, "%s; --time-limit ended the search", message);
    }
    return diag->code;
}

/* What the command line says. */
struct request {
    struct spec spec;    /* of one table */
    struct given *given; /* flags of the spec, or of a row operator; malloc'd */
    int given_count;
    const char *first_flag; /* first flag that belongs to one table, null when none */
    const char *output, *proof, *spec_path, *jobs_text;

    const struct cost_target *target; /* of --for; null without */
    int jobs;
    double seconds; /* of --time-limit; INFINITY without */
    bool is_reply, is_operator;
};

/* The flags beside --for that say something else about the same. */
static int check_for(const struct request *request, struct diag *diag)
{
    static const char *const others[] = {"--profile", "--segments"};
    if (isnan(request->spec.max_err))
        return diag_set(diag, EXIT_USAGE, "--for %s: needs --max-err L, the error that its table keeps to",
                        cost_target_name(request->target));
    if (isfinite(request->seconds))
        return diag_set(diag, EXIT_USAGE, "--for with --time-limit: one table is searched at a time; leave one out");
    for (int k = 0; k < request->given_count; k++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (!strcmp(request->given[k].flag, others[i]))
                return diag_set(diag, EXIT_USAGE,
                                "--for with %s: which table it is follows from the cost; leave one out", others[i]);
    return EXIT_DONE;
}

/* Both files get their places, or none does. The table then names its proof. */
static int write_proof(const char *path, struct table *table, struct diag *diag)
{
    struct diag missing;
    char *text = NULL;
    if (!path)
        return EXIT_DONE;
    if (proof_make(table, &text, &missing, diag))
        return diag_prefix(diag, "--proof");
    note_no_proof("fit", &missing);
    file_write(path, text, strlen(text), diag);
    free(text);
    return diag->code;
}

static int fit_one(struct request *request, struct diag *diag)

{
    struct spec *const spec = &request->spec;
    struct time_limit limit = {.cut = false};
    struct table table;
    char *text = NULL;
    const bool found = spec->in_lacks_scale || spec->out_lacks_scale || spec->has_model_type;
    if ((request->target && check_for(request, diag)) || spec_resolve(spec, diag))
        return diag->code;
    if (request->target ? spec_check(spec, diag) ||
                              fit_for(spec, request->given, request->given_count, request->target, &table, diag)
                        : fit_within(spec, request->seconds, &limit, &table, diag))
        return diag->code;
    const bool cut = limit.cut; /* by what the table is, and not by notes on it */
    if (found)
        note_types(spec);
    if (!write_proof(request->proof, &table, diag) && !table_to_json(&table, &text, diag) &&
        (request->is_reply || !reply_write(false, request->output, text, diag))) {
        fit_notes(spec, &table, "");
        if (cut)
            fit_note_cut(request->seconds, "");
        if (!request->target) /* else they were chosen */
            print_choice_costs(spec, &table);
        if (request->is_reply)
            reply_write(true, request->output, text, diag);
    }
    free(text);
    table_free(&table);
    return diag->code;
}

struct batch {
    struct job *jobs;
    double seconds;            /* for each */
    struct time_limit *limits; /* of each */
    char **texts;              /* table JSON of each job */
    struct table *tables;
    struct diag *diags;
    int count;
};

static void fit_job(void *context, int k)
{
    struct batch *batch = context;
    const struct job *const job = &batch->jobs[k];
    if (job->given)
        row_operator_text(job->given, job->given_count, &batch->texts[k], &batch->diags[k]);
    else if (!fit_within(&batch->jobs[k].spec, batch->seconds, &batch->limits[k], &batch->tables[k], &batch->diags[k]))
        table_to_json(&batch->tables[k], &batch->texts[k], &batch->diags[k]);
}

static bool save_job(void *context, int k, struct text *record)
{
    const struct batch *batch = context;
    record_add_integer(record, batch->limits[k].cut);
    if (!batch->jobs[k].given)
        return fit_result_save(&batch->tables[k], &batch->diags[k], record);
    const char *const text = batch->texts[k] ? batch->texts[k] : "";
    record_add_diag(record, &batch->diags[k]);
    record_add_string(record, text, strlen(text));
    return batch->diags[k].code == EXIT_DONE;
}

static bool load_job(void *context, int k, struct record *record)
{
    struct batch *batch = context;
    struct diag *const diag = &batch->diags[k];
    size_t size;
    batch->limits[k].cut = record_integer(record) != 0;
    if (batch->jobs[k].given) {
        record_diag(record, diag);
        batch->texts[k] = record_string(record, &size);
        return batch->texts[k] != NULL;
    }
    if (!fit_result_load(&batch->tables[k], diag, record))
        return false;
    if (!diag->code)
        table_to_json(&batch->tables[k], &batch->texts[k], diag);
    return true;
}

static void describe_job(void *context, int k, char name[SHARE_NAME_SIZE])
{
    const struct batch *batch = context;
    snprintf(name, SHARE_NAME_SIZE, "%s", batch->jobs[k].name);
}

static int run_batch(struct batch *batch, int workers, bool *goes_on, struct diag *diag)
{
    const struct shared_jobs jobs = {batch->count, workers, "tables", batch, fit_job, save_job, load_job, describe_job};
    if (share_run(&jobs, goes_on, diag) || !*goes_on)
        return diag->code;
    for (int k = 0; k < batch->count; k++)
        if (batch->diags[k].code) {
            *diag = batch->diags[k];
            return diag_prefix(diag, batch->jobs[k].name);
        }
    return EXIT_DONE;
}

/* Every job is fitted before the first file is written. */
static int write_batch(const struct batch *batch, const char *directory, struct diag *diag)
{
    for (int k = 0; k < batch->count; k++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s.json", directory, batch->jobs[k].name);
        if (length < 0 || (size_t)length >= sizeof path)
            return diag_set(diag, EXIT_USAGE, "-o %.80s...: the path is too long", directory);
        if (file_write(path, batch->texts[k], strlen(batch->texts[k]), diag))
            return diag->code;
        if (!batch->jobs[k].given)
            fit_notes(&batch->jobs[k].spec, &batch->tables[k], batch->jobs[k].name);
        if (batch->limits[k].cut)
            fit_note_cut(batch->seconds, batch->jobs[k].name);
    }
    return EXIT_DONE;
}

static int fit_batch(const char *spec_path, const char *directory, int workers, double seconds, struct diag *diag)
{
    unsigned char *bytes = NULL;
    size_t size;
    struct job *jobs = NULL;
    struct batch batch = {.seconds = seconds};
    const struct other_jobs others = {row_operator_is_named, row_operator_flags};
    bool made = false, goes_on = true;
    if (!directory)
        return diag_set(diag, EXIT_USAGE, "--spec: -o DIRECTORY is needed, to hold a NAME.json for each job");
    if (file_read(spec_path, SPEC_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (spec_list_parse((const char *)bytes, size, &others, &jobs, &batch.count, diag)) {
        diag_prefix(diag, spec_path);
        goto done;
    }
    batch.jobs = jobs;
    batch.texts = calloc((size_t)batch.count, sizeof *batch.texts);
    batch.tables = calloc((size_t)batch.count, sizeof *batch.tables);
    batch.diags = calloc((size_t)batch.count, sizeof *batch.diags);
    batch.limits = calloc((size_t)batch.count, sizeof *batch.limits);
    if (!batch.limits || !batch.texts || !batch.tables || !batch.diags)
        diag_set(diag, EXIT_IO, "out of memory for %d jobs", batch.count);
    else if (!folder_expect(directory, diag) && !run_batch(&batch, workers, &goes_on, diag) && goes_on &&
             !folder_make(directory, &made, diag))
        write_batch(&batch, directory, diag);
    if (diag->code && made)
        (void)rmdir(directory);
done:
    for (int k = 0; batch.texts && batch.tables && k < batch.count; k++) {
        free(batch.texts[k]);
        table_free(&batch.tables[k]);
    }
    free(batch.texts);
    free(batch.tables);
    free(batch.diags);
    free(batch.limits);
    spec_list_free(jobs, batch.count);
    free(bytes);
    return diag->code;
}

/* A profile first, whose flags others take the place of; parameters last, as the function may be named after them. */
static int set_in_order(struct spec *spec, const struct given *given, int count, struct diag *diag)
{
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < count; k++) {
            const int turn = !strcmp(given[k].flag, "--profile") ? 0 : !strcmp(given[k].flag, "--param") ? 2 : 1;
            if (turn == round && spec_set(spec, given[k].flag, given[k].value, diag))
                return diag->code;
        }
    return EXIT_DONE;
}

/* The value of --time-limit. */
static int parse_seconds(const char *value, double *seconds, struct diag *diag)
{
    if (number_real(value, strlen(value), seconds) != NUMBER_OK || !(*seconds > 0 && *seconds <= MOST_SECONDS))
        return diag_set(diag, EXIT_USAGE, "--time-limit %s: must be seconds, more than 0 and at most %g", value,
                        MOST_SECONDS);
    return EXIT_DONE;
}

/* Whether the function is a row operator; else no flag is of these alone. */
static bool is_operator(struct request *request, struct diag *diag)
{
    const struct given *const given = request->given;
    for (int k = 0; k < request->given_count; k++)
        if (!strcmp(given[k].flag, "FUNCTION") && row_operator_is_named(given[k].value))
            request->is_operator = true;
    for (int k = 0; k < request->given_count && !request->is_operator; k++)
        if (row_operator_has_flag(given[k].flag)) {
            diag_set(diag, EXIT_USAGE, "%s: of %s alone", given[k].flag, OPERATOR_NAMES);
            break;
        }
    return request->is_operator;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_fit, .argc = argc, .argv = argv, .index = 1};
    const struct option_info *option;
    const char *value;
    int more;
    while ((more = argument_next(&walk, &option, &value, diag)) > 0) {
        const char *flag = option ? option->name : "FUNCTION";
        if (!strcmp(flag, "-o")) {
            request->output = value;
        } else if (!strcmp(flag, "--proof")) {
            request->proof = value;
        } else if (!strcmp(flag, "--spec")) {

            request->spec_path = value;
        } else if (!strcmp(flag, "--reply")) {
            request->is_reply = true;
            notes_keep();
        } else if (!strcmp(flag, "--for")) {
            request->target = cost_target_find(value);
        } else if (!strcmp(flag, "--jobs")) {
            request->jobs_text = value;
            if (jobs_parse(value, &request->jobs, diag))
                return diag->code;
        } else if (!strcmp(flag, "--time-limit")) {
            if (parse_seconds(value, &request->seconds, diag))
                return diag->code;
        } else {
            if (!request->first_flag)
                request->first_flag = flag;
            request->given[request->given_count++] = (struct given){flag, value};
        }
    }
    if (more < 0 || is_operator(request, diag))
        return diag->code;
    return diag->code ? diag->code : set_in_order(&request->spec, request->given, request->given_count, diag);
}

/* Of one table, and not where that goes. */
static int check_proof_flag(const struct request *request, struct diag *diag)
{
    if (request->is_operator)
        return diag_set(diag, EXIT_USAGE, "--proof: row operators have no proof yet");
    if (file_is_standard_output(request->proof) && file_is_standard_output(request->output))
        return diag_set(diag, EXIT_USAGE, "--proof %s: the table goes to standard output; give -o", request->proof);
    return file_expect(request->proof, diag);
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {

        .jobs = jobs_default(), .seconds = INFINITY, .given = malloc((size_t)argc * sizeof *request.given)};
    diag->code = EXIT_DONE;
    spec_init(&request.spec);
    bool goes_on = true;
    if (!request.given)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (share_take(&argc, argv, diag) || parse(argc, argv, &request, diag))
        ;
    else if (request.spec_path && request.first_flag)
        diag_set(diag, EXIT_USAGE, "--spec with %s: the jobs in the file say it; give one or the other",
                 request.first_flag);
    else if (request.target && (request.spec_path || request.is_operator))
        diag_set(diag, EXIT_USAGE, "--for: of one table; not with --spec, nor of %s", OPERATOR_NAMES);
    else if (request.spec_path && request.proof)
        diag_set(diag, EXIT_USAGE, "--proof: of one table; `pwlc prove` makes one of each that --spec has written");
    else if (request.spec_path && request.is_reply)

        diag_set(diag, EXIT_USAGE, "--reply: of one table; --spec writes a file for each");
    else if (request.spec_path)
        fit_batch(request.spec_path, request.output, request.jobs, request.seconds, diag);
    else if (request.jobs_text)
        diag_set(diag, EXIT_USAGE, "--jobs %s: only with --spec", request.jobs_text);
    else if (request.is_operator && isfinite(request.seconds))
        diag_set(diag, EXIT_USAGE, "--time-limit: not of a row operator, which takes no search");
    else if (request.proof && check_proof_flag(&request, diag))
        ;
    else if (file_expect(request.output, diag) || share_nothing("--spec", &goes_on, diag) || !goes_on)
        ;
    else if (request.is_operator)
        row_operator_fit(request.given, request.given_count, request.is_reply, request.output, diag);
    else
        fit_one(&request, diag);
    spec_free(&request.spec);
    free(request.given);
    return diag->code;
}

const struct command command_fit = {
    .name = "fit",
    .synopsis = "pwlc fit FUNCTION --in TYPE --out TYPE [flags] | pwlc fit --spec FILE -o DIRECTORY",
    .summary = "Compile a function into a table, and certify its errors.",
    .details =
        "Types from a range. A type without a scale, s8 or u16, has it found: --in from --range or --calibrate, --out "
        "from the smallest and the largest value of the function over the codes of --in in that range, or over all of "
        "them. For a range lo to hi:\n"
        "  scale = (hi - lo) / (qmax - qmin), zero point = round(qmin - lo / scale)\n"
        "so that lo and hi are the ends of the codes but for half a scale, and 0, when inside the range, is a code. "
        "For signed codes and hi = -lo: scale = hi / qmax, zero point 0. --pow2-scales takes the next power of two. "
        "The table holds the types that were found, not the range or the data.\n"
        "  --calibrate-by percentile=P cuts (100 - P) / 2 percent of the values at each side.\n"
        "  --calibrate-by mse searches the range whose type has the least mean squared error, clipping included.\n"
        "\n"
        "Types from a model. FILE:TENSOR is the type of a quantised tensor of a TFLite or ONNX model, by its name or "
        "by its index in what `pwlc tensors` lists. The table holds that type, and not where it came from.\n"
        "\n"
        "Row operators. softmax, logsoftmax, layernorm, rmsnorm and l2norm work on rows of codes of 8 or 16 bits, and "
        "take "
        "--in, --out, --rows, --gamma, --beta, --eps and --fraction alone: what they make is no table, but an operator "
        "with its constants and a bound on the error of every row. requantise, of inputs of s32 too, and add work on "
        "elements, and take --in, --in-b and --out. weigh sums values of --in-b by the softmax of rows of --in, and "
        "takes "
        "--rows and --fraction too. show, certify, sweep, eval and emit take their files.\n"
        "\n"

        "\n"
        "What is made least. lsq: the RMS error; minimax: the largest error, and among tables of the least one a small "
        "RMS error; --max-err: the number of segments, then a small RMS error; with --knots pow2 the number of "
        "segments, then that of top bits. The certificate names both objectives.\n"
        "\n"
        "Points. --knots points:K makes tables for hardware that interpolates: integers T, one every 2^K codes from "
        "the "
        "lowest on, the last one code beyond the highest, and for i and f, quotient and rest of (q_x - qmin_x) / 2^K,\n"
        "  q_y = sat(shr(T[i] * 2^K + (T[i+1] - T[i]) * f, K))\n"
        "Values are searched, and the certificate is about all values of these points: codes of "
        "--offset-type, wider than --out or narrower; without it all that the fields hold. In the table "
        "q_b is T[i+1] - T[i] and n_BX_total K; under floor and half_up the form is anchored and y is T[i], under "
        "others it is biased. --segments N, a power of two, gives K, too; --max-err alone takes the "
        "largest K that serves. Inputs of up to 16 bits.\n"
        "  --knots points:K:half_down rounds halves down, points:K:toward_left lines towards T[i]. steps:K: "
        "q_y = sat(T[shr(q_x - qmin_x, K)]), slopes of 0.\n"
        "\n"
        "Shifts. --shift-multiple N is for hardware that shifts by N, 2 N, ... alone, 32 at most. A slope q_b * 2^-n "
        "is stored there as q_b * 2^(s - n) with the shift s, the least of these that is at least n. What is stored "
        "has the bits of --slope-bits, more than N; they may be more than a slope of the table has. The table itself "
        "holds q_b and n.\n"
        "\n"
        "Weights. --weights takes counts or shares, one for each code from the lowest on (a column of text, or a .npy "
        "array of any type), or rows q_x,weight (text, or .npy of shape (n, 2)), where codes not listed weigh 0. The "
        "sum of squared errors that lsq, uniform and document minimise counts each code so often, and so do the RMS "
        "error, the mean error and the share of correctly rounded codes; the largest error is that of any code. A "
        "code of weight 0 may come out as anything: add a little to every count where such codes matter.\n"
        "\n"
        "Expressions. --expr takes + - * / ^, comparisons, && || ! and c ? a : b; the variable x, numbers, _pi and _e; "
        "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log (natural) ln log2 log10 log1p sqrt "
        "abs sign rint (halves to even) floor ceil erf erfc min max sum avg; and the functions that `pwlc list` shows, "
        "as sigmoid(2*x) or x*tanh(softplus(x)), elu(x, alpha) with its parameter. Values are as exact "
        "as those of built-in functions; numbers that are not told apart count as equal. It must be finite at every "
        "code.",
    .example = "pwlc fit sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 -o sigmoid.json",
    .options = options,
    .run = run,
};
