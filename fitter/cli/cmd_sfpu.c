/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/half.h>

#include "base/number.h"
#include "base/suggest.h"
#include "command.h"
#include "sfpu/emit.h"
#include "sfpu_report.h"

/* Places in the table of options. */
enum option_at {
    LAYOUT,
    MEASURE,
    RANGE,
    KEEP_ZERO,
    KEEP_ENDS,
    SIGN,
    ADD,
    STORE,
    CHIP,
    PARAMETER,
    WORDS,
    FORMAT,
    ALL,
    SEARCH,
    OUTPUT,
    OPTION_COUNT
};

static const struct option_info options[] = {
    {"--layout", SFPU_LAYOUTS, "fit, import: coefficients and segments (default fp16x6-3, whose last break is at 3)"},
    {"--measure", SFPU_MEASURES, "fit, import: what the largest error is counted in (default abs)"},
    {"--range", "LO:HI", "fit, import: the x that count; an end may be left out (default all finite x)"},
    {"--keep-zero", NULL, "fit: f(0) is met exactly"},
    {"--keep-ends", NULL, "fit: f at the largest finite |x| is met exactly, so that results saturate where f does"},
    {"--sign", SFPU_SIGNS, "fit, import: of a|x| + b: replaced by that of x, or not (default as f is symmetric)"},
    {"--add", "none|x/2|C", "fit, import: what the kernel adds to the line (default as f is symmetric)"},
    {"--store", SFPU_STORES, "fit, import: how a result becomes bf16 (default truncate)"},
    {"--chip", SFPU_CHIPS, "fit, import: whose arithmetic (default wormhole)"},
    {"--param", "NAME=VALUE...", "fit, import: a parameter of the function"},
    {"--words", "W,W,...", "import: what LREG0, LREG1, LREG2 (and LREG4, LREG5, LREG6) hold"},
    {"--format", SFPU_FORMATS, "emit: C++ for a kernel of tt-metal, or C for the host"},
    {"--all", NULL, "eval: all 65,536 codes, a line each: the code of x and the result's"},
    {"--search", NULL, "verify: search anew as well, and compare the least error"},
    {"-o", "FILE", "fit, import, emit: where to write (default standard output)"},
    {NULL, NULL, NULL},
};

struct request {
    const struct action *action;
    const char *subject;               /* the function, or the file */
    const char *values[OPTION_COUNT];  /* null where a flag is not given; "" of a switch that is */
    const char **parameters, **inputs; /* as many as there are arguments would fit */
    int parameter_count, input_count;
};

struct action {
    const char *name, *subject; /* what it needs; null for nothing */
    unsigned flags;             /* that go with it, as bits */
    int (*run)(const struct request *request, struct diag *diag);
};

#define FLAG(at) (1u << (at))
#define KERNEL_FLAGS                                                                                                   \
    (FLAG(LAYOUT) | FLAG(MEASURE) | FLAG(RANGE) | FLAG(SIGN) | FLAG(ADD) | FLAG(STORE) | FLAG(CHIP) |                  \
     FLAG(PARAMETER) | FLAG(OUTPUT))

/* The place of a value among "a|b|c"; it is one of them. */
static int place(const char *choices, const char *value)
{
    int at = 0;
    const size_t length = strlen(value);
    while (strncmp(choices, value, length) != 0 || (choices[length] != '|' && choices[length] != '\0')) {
        choices = strchr(choices, '|') + 1;
        at++;
    }
    return at;
}

/* The value of a flag of choices, or what holds without it. */
static int choice(const struct request *request, enum option_at at, int otherwise)
{
    const char *const value = request->values[at];
    return value ? place(options[at].argument, value) : otherwise;
}

static int set_function(const struct request *request, struct function *function, struct diag *diag)
{
    if (function_init(function, request->subject, diag))
        return diag->code;
    for (int k = 0; k < request->parameter_count; k++)
        if (function_set_parameter(function, request->parameters[k], diag))
            return diag->code;
    return EXIT_DONE;
}

static int set_kernel(const struct request *request, const struct function *function, struct sfpu_kernel *kernel,
                      struct diag *diag)
{
    const bool is_told = request->values[SIGN] && request->values[ADD];
    if (!sfpu_kernel_suits(function, kernel) && !is_told)
        return diag_set(
            diag, EXIT_USAGE,
            "%s is neither odd nor even, nor is f(x) + f(-x) = 1 or f(x) - f(-x) = x: --sign and --add must "
            "say what its kernel computes",
            function_name(function));
    kernel->layout = &sfpu_layouts[choice(request, LAYOUT, 2)];
    kernel->chip = (enum sfpu_chip)choice(request, CHIP, SFPU_WORMHOLE);
    kernel->store = (enum sfpu_store)choice(request, STORE, SFPU_TRUNCATE);
    kernel->sign = (enum sfpu_sign)choice(request, SIGN, (int)kernel->sign);
    if (request->values[ADD] && !sfpu_add_parse(request->values[ADD], kernel))
        return diag_set(diag, EXIT_USAGE, "--add %s: must be none, x/2 or a number other than 0 that bf16 has",
                        request->values[ADD]);
    return EXIT_DONE;
}

static int set_document(const struct request *request, struct sfpu_document *of, struct diag *diag)
{
    *of = (struct sfpu_document){.demand = {.low = -INFINITY, .high = INFINITY}};
    of->demand.measure = (enum sfpu_measure)choice(request, MEASURE, SFPU_ABS);
    of->demand.keep_zero = request->values[KEEP_ZERO] != NULL;
    of->demand.keep_ends = request->values[KEEP_ENDS] != NULL;
    if (request->values[RANGE] && !sfpu_range_parse(request->values[RANGE], &of->demand))
        return diag_set(diag, EXIT_USAGE, "--range %s: must be LO:HI, two numbers, LO not above HI",
                        request->values[RANGE]);
    if (set_function(request, &of->function, diag))
        return diag->code;
    return set_kernel(request, &of->function, &of->table.kernel, diag);
}

static int write_text(const struct request *request, int code, char *text, struct diag *diag)
{
    if (code == EXIT_DONE)
        code = file_write(request->values[OUTPUT], text, strlen(text), diag);
    free(text);
    return code;
}

static int write_document(const struct request *request, const struct sfpu_document *of, struct diag *diag)
{
    char *text;
    const int code = sfpu_document_write(of, &text, diag);
    return write_text(request, code, text, diag);
}

static int run_fit(const struct request *request, struct diag *diag)
{
    struct sfpu_document of;
    if (set_document(request, &of, diag) || sfpu_document_fit(&of, diag))
        return diag->code;
    return write_document(request, &of, diag);
}

static int take_words(const char *list, struct sfpu_table *table, struct diag *diag)
{
    const struct sfpu_layout *const layout = table->kernel.layout;
    const uint32_t most = layout->bits == 8 ? 0xffff : UINT32_MAX;
    uint32_t words[SFPU_MAX_WORDS] = {0};
    const char *left = list;
    char word[32];
    int count = 0;
    while (choice_next(&left, word, sizeof word))
        if (count == layout->words || !sfpu_number_parse(word, most, &words[count++]))
            return diag_set(diag, EXIT_USAGE, "--words %s: must be %d numbers from 0 to 0x%x, with commas between them",
                            list, layout->words, most);
    if (count != layout->words)
        return diag_set(diag, EXIT_USAGE, "--words %s: %d words, and %s has %d", list, count, layout->name,
                        layout->words);
    sfpu_words_take(words, table);
    return EXIT_DONE;
}

static int run_import(const struct request *request, struct diag *diag)
{
    struct sfpu_document of;
    if (!request->values[WORDS])
        return diag_set(diag, EXIT_USAGE, "--words is needed: what the kernel loads into LREG0, LREG1, ...");
    if (set_document(request, &of, diag) || take_words(request->values[WORDS], &of.table, diag) ||
        sfpu_document_certify(&of, diag))
        return diag->code;
    return write_document(request, &of, diag);
}

static int run_list(const struct request *request, struct diag *diag)
{
    (void)request;
    return sfpu_shipped_print(diag);
}

static int run_show(const struct request *request, struct diag *diag)
{
    struct sfpu_document of;
    if (sfpu_document_read(request->subject, &of, diag))
        return diag->code;
    return sfpu_report_print(&of, diag);
}

/* "0x3f80" is a code, and other numbers are rounded to bf16. */
static int input_code(const char *text, uint16_t *code, struct diag *diag)
{
    uint32_t number;
    double value;
    if (strncmp(text, "0x", 2) == 0 && sfpu_number_parse(text, 0xffff, &number)) {
        *code = (uint16_t)number;
        return EXIT_DONE;
    }
    if (number_real(text, strlen(text), &value) != NUMBER_OK)
        return diag_set(diag, EXIT_USAGE, "\"%s\" is neither a number nor a code of bf16 from 0x0000 to 0xffff", text);
    *code = pwl_bf16_from_f32((float)value);
    return EXIT_DONE;
}

static int run_eval(const struct request *request, struct diag *diag)
{
    struct sfpu_document of;
    const bool all = request->values[ALL] != NULL;
    if (all == (request->input_count > 0))
        return diag_set(diag, EXIT_USAGE, "numbers or --all are needed: pwlc sfpu eval FILE X...");
    if (sfpu_document_read(request->subject, &of, diag))
        return diag->code;
    for (int code = 0; all && code < SFPU_CODES; code++)
        printf("0x%04x 0x%04x\n", code, sfpu_result(&of.table, (uint16_t)code));
    for (int k = 0; k < request->input_count; k++) {
        uint16_t x = 0;
        if (input_code(request->inputs[k], &x, diag))
            return diag->code;
        const uint16_t y = sfpu_result(&of.table, x);
        printf("0x%04x %.8g 0x%04x %.8g\n", x, sfpu_real(x), y, sfpu_real(y));
    }
    return EXIT_DONE;
}

static int run_emit(const struct request *request, struct diag *diag)
{
    struct sfpu_document of;
    char *text = NULL;
    if (!request->values[FORMAT])
        return diag_set(diag, EXIT_USAGE, "--format is needed, " SFPU_FORMATS);
    if (sfpu_document_read(request->subject, &of, diag))
        return diag->code;
    const bool is_c = strcmp(request->values[FORMAT], "c") == 0;
    const int code = is_c ? sfpu_emit_c(&of, &text, diag) : sfpu_emit_llk(&of, &text, diag);
    return write_text(request, code, text, diag);
}

/* Whether both would be the same file. */
static int compare(const char *path, const struct sfpu_document *one, const struct sfpu_document *other,
                   const char *what, struct diag *diag)
{
    char *text = NULL, *anew = NULL;
    if (sfpu_document_write(one, &text, diag) == EXIT_DONE && sfpu_document_write(other, &anew, diag) == EXIT_DONE &&
        strcmp(text, anew) != 0)
        diag_set(diag, EXIT_REQUIREMENT, "%s: certificate: %s; pwlc sfpu show prints what the table attains", path,
                 what);
    free(text);
    free(anew);
    return diag->code;
}

/* A search from nothing must come to the largest error that the certificate calls least. */
static int search_again(const char *path, const struct sfpu_document *of, struct diag *diag)
{
    struct sfpu_document found = *of;
    if (sfpu_document_fit(&found, diag))
        return diag->code;
    const bool in_ulp = of->demand.measure == SFPU_ULP;
    const double claimed = in_ulp ? of->errors.ulp.largest : of->errors.abs.largest,
                 least = in_ulp ? found.errors.ulp.largest : found.errors.abs.largest;
    if (of->is_optimal && claimed <= least)
        return EXIT_DONE;
    return diag_set(diag, EXIT_REQUIREMENT, "%s: the largest error is %.6g, and %.6g is attainable%s", path, claimed,
                    least, of->is_optimal ? "" : ": not called optimal");
}

static int run_verify(const struct request *request, struct diag *diag)
{
    struct sfpu_document of, anew;
    if (sfpu_document_read(request->subject, &of, diag))
        return diag->code;
    if (of.standing != CERTIFICATE_OWN)
        return diag_set(diag, EXIT_REQUIREMENT, "%s: certificate: %s", request->subject,
                        of.standing == CERTIFICATE_ABSENT ? "there is none" : "it is not of this table, by its hash");
    anew = of;
    if (sfpu_document_certify(&anew, diag))
        return diag->code;
    const struct sfpu_document measured = anew;
    anew.is_optimal = of.is_optimal;
    anew.is_least_mean = of.is_least_mean;
    if (compare(request->subject, &of, &anew, "not what the codes of bf16 give", diag))
        return diag->code;
    of.errors = measured.errors;
    if (request->values[SEARCH] && search_again(request->subject, &of, diag))
        return diag->code;
    printf("%s: %d codes agree with the certificate%s\n", request->subject, of.errors.codes,
           request->values[SEARCH] ? ", and no table has a smaller largest error" : "");
    return EXIT_DONE;
}

static const struct action actions[] = {
    {"list", NULL, 0, run_list},
    {"fit", "FUNCTION", KERNEL_FLAGS | FLAG(KEEP_ZERO) | FLAG(KEEP_ENDS), run_fit},
    {"import", "FUNCTION", KERNEL_FLAGS | FLAG(WORDS), run_import},
    {"show", "FILE", 0, run_show},
    {"eval", "FILE", FLAG(ALL), run_eval},
    {"emit", "FILE", FLAG(FORMAT) | FLAG(OUTPUT), run_emit},
    {"verify", "FILE", FLAG(SEARCH), run_verify},
};
#define ACTION_COUNT ((int)(sizeof actions / sizeof *actions))

static int find_action(const char *name, const struct action **action, struct diag *diag)
{
    const char *names[ACTION_COUNT + 1] = {NULL};
    char meant[SUGGESTION_SIZE];
    for (int k = 0; k < ACTION_COUNT; k++) {
        names[k] = actions[k].name;
        if (strcmp(name, names[k]) == 0) {
            *action = &actions[k];
            return EXIT_DONE;
        }
    }
    return diag_set(diag, EXIT_USAGE,
                    "\"%s\" is not an action%s the actions are list, fit, import, show, eval, emit and "
                    "verify",
                    name, suggestion(name, names, ";", meant));
}

static int run(int argc, char **argv, struct diag *diag);

const struct command command_sfpu = {
    .name = "sfpu",
    .synopsis = "pwlc sfpu list | fit FUNCTION [flags] | import FUNCTION --words W,... | show FILE | eval FILE X... | "
                "emit FILE | verify FILE",
    .summary = "Fit, measure and emit tables of Tenstorrent's SFPLUT and SFPLUTFP32, in float.",
    .details =
        "fit finds, for each segment of |x|, the slope and offset whose largest error over all bf16 inputs is least, "
        "and proves that no other pair of coefficients has less; of the tables with the least largest error it takes "
        "the one with the least mean. import takes the words that a kernel loads. show prints errors, beside those of "
        "the tables that tt-metal ships, which list prints; verify measures all codes anew. docs/sfpu.md has the "
        "arithmetic.",
    .example = "pwlc sfpu fit tanh --layout fp8x3 --measure ulp -o tanh.json\n"
               "pwlc sfpu show tanh.json\n"
               "pwlc sfpu emit tanh.json --format llk -o tanh_lut.h",
    .options = options,
    .run = run,
};

static int take_flag(struct request *request, const struct option_info *option, const char *value, struct diag *diag)
{
    const int at = (int)(option - options);
    if (at == PARAMETER)
        request->parameters[request->parameter_count++] = value;
    else if (option->argument && choice_is_closed(option->argument) &&
             choice_check(option->name, option->argument, value, diag))
        return diag->code;
    request->values[at] = value ? value : "";
    return EXIT_DONE;
}

static int take_word(struct request *request, const char *word, struct diag *diag)
{
    if (!request->action)
        return find_action(word, &request->action, diag);
    if (!request->subject && request->action->subject) {
        request->subject = word;
        return EXIT_DONE;
    }
    if (request->action->run != run_eval)
        return diag_set(diag, EXIT_USAGE, "\"%s\" is one argument too many", word);
    request->inputs[request->input_count++] = word;
    return EXIT_DONE;
}

static int check_request(const struct request *request, struct diag *diag)
{
    const struct action *const action = request->action;
    if (!action)
        return diag_set(diag, EXIT_USAGE, "an action is needed: pwlc sfpu fit FUNCTION, or pwlc sfpu list");
    if (action->subject && !request->subject)
        return diag_set(diag, EXIT_USAGE, "a %s is needed: pwlc sfpu %s %s",
                        strcmp(action->subject, "FILE") == 0 ? "file" : "function", action->name, action->subject);
    for (int at = 0; at < OPTION_COUNT; at++)
        if (request->values[at] && !(action->flags & FLAG(at)))
            return diag_set(diag, EXIT_USAGE, "%s does not go with %s", options[at].name, action->name);
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_sfpu, .argc = argc, .argv = argv};
    struct request request = {0};
    const struct option_info *option;
    const char *value;
    int next, code = EXIT_DONE;
    request.parameters = calloc((size_t)argc, sizeof *request.parameters);
    request.inputs = calloc((size_t)argc, sizeof *request.inputs);
    if (!request.parameters || !request.inputs)
        code = diag_set(diag, EXIT_IO, "out of memory for %d arguments", argc);
    while (code == EXIT_DONE && (next = argument_next(&walk, &option, &value, diag)) != 0)
        code = next < 0 ? diag->code
               : option ? take_flag(&request, option, value, diag)
                        : take_word(&request, value, diag);
    if (code == EXIT_DONE && check_request(&request, diag) == EXIT_DONE)
        request.action->run(&request, diag);
    free(request.parameters);
    free(request.inputs);
    return diag->code;
}
