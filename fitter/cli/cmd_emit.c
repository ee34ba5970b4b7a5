/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/note.h"
#include "base/number.h"
#include "base/process.h"
#include "command.h"
#include "cost/cost.h"
#include "network.h"
#include "row_operator.h"
#include "emit/emit.h"
#include "emit/rtl/rtl.h"
#include "measure/claim.h"
#include "network/network.h"
#include "profile/profile.h"
#include "rtl_flags.h"
#include "operator/operator.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"--format", EMIT_FORMATS,
     "headers, hardware, arrays: `pwlc list formats`; by default what the ending of -o names, as .sv, else c"},
    {"--profile", "P[:NOTATION]",
     "instead of --format: the table of a chip or library, as tosa16 or tosa16:mlir; `pwlc list profiles`"},
    {"--standalone", NULL,
     "c: a header with its own evaluation, NAME_eval and NAME_map or NAME_row, and no runtime; cuda always has it"},
    {"--prefix", "P", "c, cuda, sv: begins every identifier, P + function + types; pwl_ by default"},
    {"--name", "N", "c, cuda, sv: the identifier of a single table, instead of the derived one"},
    {"--attribute", "A",
     "c: behind the name of each array, to place it: __attribute__((section(\".tables\"))); --standalone: or __flash"},
    {"--rtl-style", RTL_STYLES,
     "sv: all outputs in a ROM; segments with one shift, or a shift each; auto takes the smallest"},
    {"--stages", "N", "sv: registers from input to output, 0 to 24; 1 by default"},
    {"--rtl-handshake", "valid|ready",
     "sv: valid alone (default), or with ready, by which a receiver holds codes back"},
    {"--rom", "inline|mem", "sv: the words in the module (default), or in a file NAME.mem beside it"},
    {"--loadable", "N",
     "sv, sv-tb, mem, loader: a module of N segments whose table is written at run time, or read from a file"},
    {"--target-mhz", "F", "sv: instead of --stages: the fewest with which the tools of --target reach so many MHz"},
    {"--target", "ice40|ice40-dsp|ecp5|ecp5-nodsp", "of --target-mhz: the device, as for cost"},
    {"--clock", "NS", "sdc, core: the clock's period in nanoseconds"},
    {"--lanes", "N", "sv, sv-tb of a row operator: places of a beat, 1 to 64; 1 by default"},
    {"--size", "NAME=VALUE...", "of a network: a size at which it runs; the longest by default"},
    {"-o", "FILE", "write FILE, whole or not at all, and leave it untouched when nothing changes"},
    {"--check", NULL, "write nothing; exit 3 when FILE is not what would be written"},
    {"-MD", NULL, "also write a make rule, FILE: TABLE..., to FILE.d"},
    {"-MF", "DEPFILE", "with -MD: write the make rule to DEPFILE"},
    {NULL, NULL, NULL},
};

struct request {
    const char **paths;
    int count;
    const struct emitter *emitter; /* null with --profile */
    const struct profile *profile;
    const struct notation *notation;
    struct emit_options emit;
    const char *output, *depfile;
    const char *hardware; /* a flag of hardware alone, if one was given; --rtl-style only where no other was */
    const char *stages;   /* of --stages; null: not given */
    const struct cost_target *target;
    double mhz;         /* to be reached there; 0: not given */
    const char **sizes; /* of --size */
    int size_count;
    bool check, depend;
};

static void set_loadable(const char *value, int *loadable, struct diag *diag)
{
    int64_t words;
    if (number_integer(value, strlen(value), &words) != NUMBER_OK || words < 2 || words > RTL_MAX_LOADABLE ||
        (words & (words - 1)) != 0)
        diag_set(diag, EXIT_USAGE, "--loadable %.40s: must be a number of segments, a power of two from 2 to %d", value,
                 RTL_MAX_LOADABLE);
    else
        *loadable = (int)words;
}

static void set_mhz(struct request *request, const char *value, struct diag *diag)
{
    request->hardware = "--target-mhz";
    if (number_real(value, strlen(value), &request->mhz) != NUMBER_OK || !(request->mhz >= 0.1 && request->mhz <= 1e4))
        diag_set(diag, EXIT_USAGE, "--target-mhz %.40s: must be MHz, 0.1 to 10000", value);
}

static int set_option(struct request *request, const char *name, const char *value, struct diag *diag)
{
    if (strcmp(name, "--stages") == 0)
        request->stages = value;
    if (rtl_flag_set(name, value, &request->emit.rtl, diag)) {
        if (!request->hardware || strcmp(request->hardware, "--rtl-style") == 0)
            request->hardware = name;
    } else if (strcmp(name, "--loadable") == 0)
        set_loadable(value, &request->emit.rtl.loadable, diag);
    else if (strcmp(name, "--target-mhz") == 0)
        set_mhz(request, value, diag);
    else if (strcmp(name, "--target") == 0)
        request->target = cost_target_find(value);
    else if (strcmp(name, "--lanes") == 0)
        return rtl_lanes_set(value, &request->emit.rtl, diag);
    else if (strcmp(name, "--format") == 0)
        request->emitter = emitter_find(value);
    else if (strcmp(name, "--profile") == 0)
        return profile_find(name, value, &request->profile, &request->notation, diag);
    else if (strcmp(name, "--standalone") == 0)
        request->emit.standalone = true;
    else if (strcmp(name, "--prefix") == 0)
        request->emit.prefix = value;
    else if (strcmp(name, "--attribute") == 0)
        request->emit.attribute = value;
    else if (strcmp(name, "--name") == 0)
        request->emit.name = value;
    else if (strcmp(name, "--size") == 0)
        request->sizes[request->size_count++] = value;
    else if (strcmp(name, "-o") == 0)
        request->output = value;
    else if (strcmp(name, "--check") == 0)
        request->check = true;
    else if (strcmp(name, "-MD") == 0)
        request->depend = true;
    else
        request->depfile = value;
    return diag->code;
}

static int check_profile(const struct request *request, struct diag *diag)
{
    const struct emit_options *emit = &request->emit;
    const char *flag = request->emitter     ? "--format"
                       : emit->standalone   ? "--standalone"
                       : emit->prefix       ? "--prefix"
                       : emit->name         ? "--name"
                       : emit->attribute    ? "--attribute"
                       : emit->rtl.loadable ? "--loadable"
                                            : request->hardware;
    if (flag)
        return diag_set(diag, EXIT_USAGE, "%s with --profile %s, which is a format of its own; leave one out", flag,
                        request->profile->name);
    if (request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--profile %s takes one table, not %d; emit them one by one",
                        request->profile->name, request->count);
    if (request->notation->folder && !request->output)
        return diag_set(diag, EXIT_USAGE, "--profile %s:%s needs -o FOLDER, for its files", request->profile->name,
                        request->notation->name);
    if (request->notation->folder && request->depend)
        return diag_set(diag, EXIT_USAGE, "-MD with --profile %s:%s, which writes several files; leave one out",
                        request->profile->name, request->notation->name);
    return EXIT_DONE;
}

/* What no make reads as itself within a name, though a backslash be before it: a semicolon begins a recipe, a dollar
 * and a parenthesis are expanded where .SECONDEXPANSION is on, however many dollars there are. Null: nothing. */
static const char *unfit_in_rule(const char *path)
{
    static const char *const words[] = {";", ":", "|", "=", "%", "*", "?", "[", "$(", "${"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(path, words[i]))
            return words[i];
    return NULL;
}

/* The last character, where make takes it for another than itself: "&:" groups targets, a backslash goes on in the next
 * line, a space is dropped, and what ends with parentheses is in an archive. 0: none. */
static char unfit_at_end(const char *path)
{
    const size_t length = strlen(path);
    const char last = length ? path[length - 1] : '\0';
    return (last && strchr("&\\ ", last)) || (last == ')' && strchr(path + 1, '(')) ? last : '\0';
}

/* Such names as .PHONY and .DELETE_ON_ERROR. */
static bool is_special_target(const char *path)
{
    return path[0] == '.' && path[1] && path[1 + strspn(path + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';
}

static int check_make_path(const char *path, struct diag *diag)
{
    const char *const word = unfit_in_rule(path);
    const char last = unfit_at_end(path);
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return diag_set(diag, EXIT_USAGE, "-MD: %s: a make rule cannot hold control characters; rename the file",
                            path);
    if (word)
        return diag_set(diag, EXIT_USAGE, "-MD: %s: a make rule cannot hold a name with '%s'; rename it", path, word);
    if (path[0] == '~')
        return diag_set(diag, EXIT_USAGE, "-MD: %s: a make rule cannot hold a name with '~' first; give it as ./%s",
                        path, path);
    if (last)
        return diag_set(diag, EXIT_USAGE, "-MD: %s: a make rule cannot hold a name with '%c' last; rename it", path,
                        last);
    if (is_special_target(path))
        return diag_set(diag, EXIT_USAGE, "-MD: %s: make takes this name for itself; rename it", path);
    return EXIT_DONE;
}

static int check_rule(const struct request *request, struct diag *diag)
{
    int code = check_make_path(request->output, diag);
    for (int i = 0; i < request->count && code == EXIT_DONE; i++)
        code = check_make_path(request->paths[i], diag);
    return code;
}

static int check_output(const struct request *request, struct diag *diag)
{
    if (request->check && !request->output)
        return diag_set(diag, EXIT_USAGE, "--check needs -o FILE, the file to compare");
    if (request->check && request->depend)
        return diag_set(diag, EXIT_USAGE, "--check writes nothing; leave out -MD");
    if (request->depend && !request->output)
        return diag_set(diag, EXIT_USAGE, "-MD needs -o FILE, the target of the rule");
    if (request->depfile && !request->depend)
        return diag_set(diag, EXIT_USAGE, "-MF needs -MD");
    return request->depend ? check_rule(request, diag) : EXIT_DONE;
}

static int check_target(const struct request *request, struct diag *diag)
{
    if (request->target && !request->mhz)
        return diag_set(diag, EXIT_USAGE, "--target %s: says where --target-mhz is measured; give that too",
                        cost_target_name(request->target));
    if (request->mhz && !request->target)
        return diag_set(diag, EXIT_USAGE, "--target-mhz %g: needs --target, the device that is to reach it",
                        request->mhz);
    if (request->mhz && request->stages)
        return diag_set(diag, EXIT_USAGE, "--stages %s with --target-mhz %g, which finds them; leave one out",
                        request->stages, request->mhz);
    return EXIT_DONE;
}

/* What one flag alone cannot tell. */
static int check_request(const struct request *request, struct diag *diag)
{
    const struct emit_options *emit = &request->emit;
    if (request->count == 0)
        return diag_set(diag, EXIT_USAGE, "a table is needed: pwlc emit TABLE.json");
    if (request->profile)
        return check_profile(request, diag) ? diag->code : check_output(request, diag);
    if (request->count > 1 && !(request->emitter->takes & EMIT_MANY))
        return diag_set(diag, EXIT_USAGE, "--format %s takes one table, not %d; emit them one by one",
                        request->emitter->name, request->count);
    if (emit->standalone && strcmp(request->emitter->name, "c") != 0)
        return diag_set(diag, EXIT_USAGE, "--standalone needs --format c; --format %s %s", request->emitter->name,
                        request->emitter->takes & EMIT_NAMES ? "has its own evaluation without it" : "has no code");
    if ((emit->prefix || emit->name) && !(request->emitter->takes & EMIT_NAMES))
        return diag_set(diag, EXIT_USAGE,
                        "%s needs --format c, cuda or one of hardware; --format %s has no identifiers",
                        emit->prefix ? "--prefix" : "--name", request->emitter->name);
    if (emit->attribute && strcmp(request->emitter->name, "c") != 0)
        return diag_set(diag, EXIT_USAGE, "--attribute needs --format c; --format %s has no arrays to place",
                        request->emitter->name);
    if (emit->attribute && emit_is_address_space(emit->attribute) && !emit->standalone)
        return diag_set(diag, EXIT_USAGE, "--attribute %s needs --standalone: the runtime reads plain memory alone",
                        emit->attribute);
    if (emit->rtl.loadable && !(request->emitter->takes & EMIT_LOADABLE))
        return diag_set(diag, EXIT_USAGE, "--loadable needs --format sv, sv-tb, mem or loader, not %s",
                        request->emitter->name);
    if (emit->rtl.loadable && request->hardware)
        return diag_set(diag, EXIT_USAGE, "%s with --loadable, whose module is of one kind; leave one out",
                        request->hardware);
    if (request->hardware && (request->emitter->takes & EMIT_STYLE) && strcmp(request->hardware, "--rtl-style") != 0)
        return diag_set(diag, EXIT_USAGE, "%s with --format %s: its tool places registers and ports; leave it out",
                        request->hardware, request->emitter->name);
    if (request->hardware && !(request->emitter->takes & (EMIT_HARDWARE | EMIT_STYLE)))
        return diag_set(diag, EXIT_USAGE, "%s needs --format sv or another of hardware, not %s", request->hardware,
                        request->emitter->name);
    if (emit->rtl.rom_in_file && (request->emitter->takes & EMIT_ROM_FILE) && !request->output)
        return diag_set(diag, EXIT_USAGE, "--rom mem needs -o FILE, beside which the words are written");
    if (emit->attribute && emit_check_attribute(emit->attribute, diag))
        return diag->code;
    if (emit->name && emit->prefix)
        return diag_set(diag, EXIT_USAGE, "--name is the whole identifier; leave out --prefix");
    if (emit->name && request->count > 1)
        return diag_set(diag, EXIT_USAGE, "--name names one table, not %d; use --prefix", request->count);
    return check_target(request, diag) ? diag->code : check_output(request, diag);
}

/* The format that the ending of -o names: NAME.sv is sv, NAME.vhd vhdl; a C header for all others. */
static const struct emitter *format_of_output(const char *output)
{
    const char *const slash = output ? strrchr(output, '/') : NULL;
    const char *const dot = output ? strrchr(slash ? slash : output, '.') : NULL;
    const struct emitter *named = NULL;
    if (dot)
        named = emitter_find(strcmp(dot, ".vhd") == 0 ? "vhdl" : dot + 1);
    return named ? named : &emitters[0];
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_emit, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next, standard_input = 0;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (option) {
            if (set_option(request, option->name, value, diag))
                return diag->code;
        } else {
            standard_input += strcmp(value, "-") == 0;
            request->paths[request->count++] = value;
        }
    }
    if (next < 0)
        return diag->code;
    if (standard_input > 1)
        return diag_set(diag, EXIT_USAGE, "- is given more than once; standard input can be read once");
    if (request->output && strcmp(request->output, "-") == 0)
        request->output = NULL;
    if (!request->emitter && !request->profile)
        request->emitter = format_of_output(request->output);
    const int code = check_request(request, diag);
    if (!request->emit.prefix)
        request->emit.prefix = "pwl_";
    request->emit.paths = request->paths;
    return code;
}

/* A path in a make rule. A backslash is itself unless it stands before a space or #, and is doubled there. */
static void add_make_path(struct text *rule, const char *path)
{
    for (size_t i = 0; path[i]; i++) {
        if (path[i] == ' ' || path[i] == '#') {
            for (size_t k = i; k > 0 && path[k - 1] == '\\'; k--)
                text_add(rule, "\\");
            text_add(rule, "\\");
        } else if (path[i] == '$') {
            text_add(rule, "$");
        }
        text_add(rule, "%c", path[i]);
    }
}

static int write_rule(const struct request *request, const char *path, struct diag *diag)
{
    struct text rule = {0};
    int code;
    add_make_path(&rule, request->output);
    text_add(&rule, ":");
    for (int i = 0; i < request->count; i++) {
        if (strcmp(request->paths[i], "-") == 0)
            continue;
        text_add(&rule, " ");
        add_make_path(&rule, request->paths[i]);
    }
    text_add(&rule, "\n");
    if (rule.failed)
        code = diag_set(diag, EXIT_IO, "out of memory while writing %s", path);
    else
        code = file_write(path, rule.bytes, rule.size, diag);
    text_free(&rule);
    return code;
}

/* The words of a module's ROM, beside the module; nothing where there are none. */
static int write_rom_file(const struct request *request, const struct rom_file *rom, struct diag *diag)
{
    struct text path = {0};
    int code = EXIT_DONE;
    if (!rom->name[0])
        return EXIT_DONE;
    const char *slash = strrchr(request->output, '/');
    text_add(&path, "%.*s%s", slash ? (int)(slash + 1 - request->output) : 0, request->output, rom->name);
    if (rom->words.failed || path.failed)
        code = diag_set(diag, EXIT_IO, "out of memory while writing %s", rom->name);
    else
        code = request->check ? file_check(path.bytes, rom->words.bytes, rom->words.size, diag)
                              : file_write(path.bytes, rom->words.bytes, rom->words.size, diag);
    text_free(&path);
    return code;
}

/* The rule goes first: an output without its rule would look up to date to make for ever. */
static int write_all(const struct request *request, const struct text *out, struct diag *diag)
{
    struct text default_depfile = {0};
    const char *depfile = request->depfile;
    int code = EXIT_DONE;

    if (request->check)
        return file_check(request->output, out->bytes, out->size, diag);
    if (!request->depend)
        return file_write(request->output, out->bytes, out->size, diag);
    if (!depfile) {
        text_add(&default_depfile, "%s.d", request->output);
        if (default_depfile.failed)
            return diag_set(diag, EXIT_IO, "out of memory while writing %s", request->output);
        depfile = default_depfile.bytes;
    }
    code = write_rule(request, depfile, diag);
    if (code == EXIT_DONE)
        code = file_write(request->output, out->bytes, out->size, diag);
    text_free(&default_depfile);
    return code;
}

/* Parts of a table, each a file of the folder that -o names. */
static int write_parts(const struct request *request, const struct text *parts, int count, struct diag *diag)
{
    struct text path = {0};
    bool made = false;
    if (!request->check && folder_make(request->output, &made, diag))
        return diag->code;
    for (int k = 0; k < count && diag->code == EXIT_DONE; k++) {
        char name[PART_NAME_SIZE];
        request->notation->folder->part_name(k, name);
        text_free(&path);
        text_add(&path, "%s/%s", request->output, name);
        if (path.failed)
            diag_set(diag, EXIT_IO, "out of memory while writing %s", name);
        else if (request->check)
            file_check(path.bytes, parts[k].bytes, parts[k].size, diag);
        else
            file_write(path.bytes, parts[k].bytes, parts[k].size, diag);
    }
    text_free(&path);
    return diag->code;
}

/* The one file of a table into *out; the several of a folder are written at once. */
static int emit_profile(const struct request *request, const struct table *table, struct text *out, struct diag *diag)
{
    struct text parts[FOLDER_MAX_PARTS] = {{0}};
    int count;
    if (profile_write(request->profile, request->notation, table, parts, &count, diag))
        diag_prefix(diag, request->paths[0]);
    else if (request->notation->folder)
        write_parts(request, parts, count, diag);
    else {
        *out = parts[0];
        parts[0] = (struct text){0};
    }
    for (int k = 0; k < FOLDER_MAX_PARTS; k++)
        text_free(&parts[k]);
    return diag->code;
}

/* Exit 3 where no number of stages reaches the clock. */
static int find_stages(struct request *request, const struct table *table, struct diag *diag)
{
    struct costing costing = {.table = table, .rtl = request->emit.rtl, .limit_s = PROCESS_LIMIT_S};
    double best = 0;
    int best_stages = 0;
    for (int stages = 1; stages <= RTL_MAX_STAGES; stages++) {
        struct cost cost;
        costing.rtl.stages = stages;
        if (cost_measure(request->target, &costing, &cost, diag))
            return diag->code;
        const double mhz = cost.figure[COST_FMAX];
        if (isnan(mhz))
            return diag_set(diag, EXIT_MISSING, "--target-mhz: %s", cost.note);
        if (mhz >= request->mhz) {
            request->emit.rtl.stages = stages;
            note("emit", "--stages %d: %g MHz on %s, at least %g", stages, mhz, cost_target_name(request->target),
                 request->mhz);
            return EXIT_DONE;
        }
        if (mhz > best) {
            best = mhz;
            best_stages = stages;
        }
    }
    return diag_set(diag, EXIT_REQUIREMENT,
                    "--target-mhz %g: up to %d stages reach at most %g MHz on %s, with --stages %d", request->mhz,
                    RTL_MAX_STAGES, best, cost_target_name(request->target), best_stages);
}

static int emit_files(struct request *request, struct diag *diag)
{
    const size_t count = (unsigned)request->count; /* never negative; keeps the product below SIZE_MAX in gcc's eyes */
    struct table *tables = calloc(count, sizeof *tables);
    const struct table **list = calloc(count, sizeof *list);
    struct text out = {0};
    struct rom_file rom = {0};
    int code = EXIT_DONE;

    request->emit.rom = &rom;
    if (request->emit.rtl.lanes)
        code = diag_set(diag, EXIT_USAGE, "--lanes needs a row operator: tables map codes one by one");
    else if (!tables || !list)
        code = diag_set(diag, EXIT_IO, "out of memory for %zu tables", count);
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        list[i] = &tables[i];
        code = table_read(request->paths[i], &tables[i], diag);
        if (code == EXIT_DONE && claim_check(&tables[i], NULL, NULL, diag))
            code = diag_prefix(diag, request->paths[i]);
    }
    if (code == EXIT_DONE && request->mhz)
        code = find_stages(request, list[0], diag);
    if (code == EXIT_DONE && request->profile) {
        code = emit_profile(request, list[0], &out, diag);
    } else if (code == EXIT_DONE) {
        code = request->emitter->emit(list, request->count, &request->emit, &out, diag);
    }
    if (code == EXIT_DONE)
        code = write_rom_file(request, &rom, diag);
    if (code == EXIT_DONE && !(request->notation && request->notation->folder))
        code = write_all(request, &out, diag);

    text_free(&out);
    text_free(&rom.words);
    for (size_t i = 0; tables && i < count; i++)
        table_free(&tables[i]);
    free(list);
    free(tables);
    return code;
}

/* A row operator, which must be the only file. */
static int emit_row_operator(const struct request *request, const char *path, struct diag *diag)
{
    struct text out = {0};
    if (request->profile)
        return diag_set(diag, EXIT_USAGE, "%s: a row operator, which no profile holds; leave out --profile", path);
    if (request->count > 1)
        return diag_set(diag, EXIT_USAGE, "%s: a row operator, which is emitted alone", path);
    if (request->mhz)
        return diag_set(diag, EXIT_USAGE, "--target-mhz: of the module of a table; %s is a row operator", path);
    if (request->hardware)
        return diag_set(diag, EXIT_USAGE, "%s: not of a row operator's unit, which takes --lanes", request->hardware);
    if (request->emit.rtl.lanes && !(request->emitter->takes & EMIT_HARDWARE))
        return diag_set(diag, EXIT_USAGE, "--lanes needs --format sv or sv-tb, not %s", request->emitter->name);
    if (row_operator_emit(path, request->emitter->name, &request->emit, &out, diag) == EXIT_DONE)
        write_all(request, &out, diag);
    text_free(&out);
    return diag->code;
}

/* A network, which must be the only file. */
static int emit_network(const struct request *request, const char *path, struct diag *diag)
{
    struct text out = {0};
    if (request->profile)
        return diag_set(diag, EXIT_USAGE, "%s: a network, which no profile holds; leave out --profile", path);
    if (request->count > 1)
        return diag_set(diag, EXIT_USAGE, "%s: a network, which is emitted alone", path);
    if (strcmp(request->emitter->name, "c") != 0 || request->emit.standalone)
        return diag_set(diag, EXIT_USAGE, "%s: a network, which is a header for the runtime; leave out %s", path,
                        request->emit.standalone ? "--standalone" : "--format, and name -o FILE.h");
    if (network_emit(path, request->sizes, request->size_count, &request->emit, &out, diag) == EXIT_DONE)
        write_all(request, &out, diag);
    text_free(&out);
    return diag->code;
}

static int emit_any(struct request *request, struct diag *diag)
{
    for (int i = 0; i < request->count; i++)
        if (network_recognise(request->paths[i]))
            return emit_network(request, request->paths[i], diag);
    if (request->size_count)
        return diag_set(diag, EXIT_USAGE, "--size %s: of a network alone", request->sizes[0]);
    for (int i = 0; i < request->count; i++)
        if (operator_recognise(request->paths[i]))
            return emit_row_operator(request, request->paths[i], diag);
    return emit_files(request, diag);
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.paths = malloc((size_t)argc * sizeof *request.paths),
                              .sizes = malloc((size_t)argc * sizeof *request.sizes),
                              .emit.rtl.stages = RTL_DEFAULT_STAGES};
    if (!request.paths || !request.sizes)
        diag_set(diag, EXIT_IO, "out of memory");
    else if (parse(argc, argv, &request, diag) == EXIT_DONE)
        emit_any(&request, diag);
    free(request.paths);
    free(request.sizes);
    return diag->code;
}

const struct command command_emit = {
    .name = "emit",
    .synopsis = "pwlc emit TABLE.json... [--format F] [--profile P[:NOTATION]] [flags]",
    .summary =
        "Write tables for their consumers: C and CUDA headers, SystemVerilog, JSON, CSV, NumPy; or a network as C.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json\n"
               "pwlc emit tanh.json -o tanh.h -MD -MF tanh.h.d\n"
               "pwlc emit tanh.json --standalone --name my_tanh -o my_tanh.h\n"
               "pwlc emit tanh.json --format cuda -o tanh.cuh\n"
               "pwlc emit tanh.json --format sv -o pwl_tanh_s8.sv\n"
               "pwlc emit tanh.json --format csv",
    .options = options,
    .run = run,
};
