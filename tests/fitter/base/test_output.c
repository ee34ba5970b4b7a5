/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of one command: all or none of them, none that the command reads, and nothing behind a descriptor is
 * replaced. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/output.h"

#include "../../support/suite.h"

static char directory[64];

/* The tests' own, so that names are short. */
static void enter_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/test_output_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
}

/* Entries, and the name of a temporary file where there is one. */
static int count_entries(char temporary[300])
{
    int count = 0;
    DIR *stream = opendir(".");
    ck_assert_ptr_nonnull(stream);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        if (temporary && strncmp(entry->d_name, ".pwlc-", 6) == 0)
            snprintf(temporary, 300, "%s", entry->d_name);
    }
    closedir(stream);
    return count;
}

static void leave_directory(void)
{
    outputs_drop();
    DIR *stream = opendir(".");
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(entry->d_name) != 0)
            rmdir(entry->d_name);
    closedir(stream);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

/* Without the functions under test. */
static void put(const char *path, const char *content)
{
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void expect_content(const char *path, const char *content)
{
    char bytes[200] = {0};
    FILE *const file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is missing", path);
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes - 1, file), strlen(content));
    ck_assert_str_eq(bytes, content);
    fclose(file);
}

static void expect_refusal(const char *path, const char *words)
{
    struct diag diag = {0};
    ck_assert_msg(file_write(path, "new", 3, &diag) == EXIT_USAGE, "%s: %d", path, diag.code);
    ck_assert_msg(strstr(diag.text, path) != NULL && strstr(diag.text, words) != NULL, "%s", diag.text);
}

static void keep(const char *path, const char *content)
{
    struct diag diag = {0};
    ck_assert_msg(file_write(path, content, strlen(content), &diag) == EXIT_DONE, "%s", diag.text);
}

static void read_input(const char *path)
{
    struct diag diag = {0};
    unsigned char *bytes;
    size_t size;
    ck_assert_msg(file_read(path, 1000, &bytes, &size, &diag) == EXIT_DONE, "%s", diag.text);
    free(bytes);
}

START_TEST(files_get_their_places_together)
{
    struct diag diag = {0};
    put("old", "old");
    keep("new", "1");
    keep("old", "2");
    ck_assert_int_eq(count_entries(NULL), 3); /* old, and two that wait */
    expect_content("old", "old");
    ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE);
    expect_content("new", "1");
    expect_content("old", "2");
    ck_assert_int_eq(count_entries(NULL), 2);
    keep("new", "3");
    keep("newer", "4");
    outputs_drop();
    ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE);
    expect_content("new", "1");
    ck_assert_int_eq(count_entries(NULL), 2);
}
END_TEST

/* A file of two pieces; with a failure between them. */
static int keep_pieces(const char *path, int failure, struct diag *diag)
{
    struct file_output file;
    int code = file_begin(path, &file, diag);
    if (code == EXIT_DONE)
        code = file_add(&file, "one, ", 5, diag);
    if (code == EXIT_DONE && failure != EXIT_DONE)
        code = diag_set(diag, failure, "no second piece");
    if (code == EXIT_DONE)
        code = file_add(&file, "two", 3, diag);
    return file_end(&file, code, diag);
}

START_TEST(files_are_written_in_pieces)
{
    struct diag diag = {0};
    put("old", "one, two");
    put("input", "read");
    read_input("input");
    ck_assert_int_eq(chmod("old", 0640), 0);
    for (int round = 0; round < 2; round++) {
        ck_assert_msg(keep_pieces("new", EXIT_DONE, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_msg(keep_pieces("old", EXIT_DONE, &diag) == EXIT_DONE, "%s", diag.text);
        ck_assert_int_eq(count_entries(NULL), 4 + round);
        ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE);
        expect_content("new", "one, two");
        expect_content("old", "one, two");
        ck_assert_int_eq(count_entries(NULL), 3);
        put("old", "another");
    }
    struct stat status;
    ck_assert_int_eq(stat("old", &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0640);
    /* a failure is passed on, and all that waits goes */
    ck_assert_int_eq(keep_pieces("new", EXIT_DONE, &diag), EXIT_DONE);
    ck_assert_int_eq(count_entries(NULL), 4);
    ck_assert_int_eq(keep_pieces("old", EXIT_USAGE, &diag), EXIT_USAGE);
    ck_assert_str_eq(diag.text, "no second piece");
    ck_assert_int_eq(count_entries(NULL), 3);
    ck_assert_int_eq(keep_pieces("new", EXIT_DONE, &diag), EXIT_DONE);
    ck_assert_int_eq(keep_pieces("new", EXIT_DONE, &diag), EXIT_USAGE); /* two outputs */
    expect_content("old", "another");
    ck_assert_int_eq(count_entries(NULL), 3);
    read_input("input");
    ck_assert_int_eq(keep_pieces("input", EXIT_DONE, &diag), EXIT_USAGE);
    ck_assert_int_eq(keep_pieces("nowhere/file", EXIT_DONE, &diag), EXIT_IO);
    ck_assert_int_eq(keep_pieces("/dev/full", EXIT_DONE, &diag), EXIT_IO);
    ck_assert_str_eq(diag.text, "/dev/full: cannot write: No space left on device");
    expect_content("input", "read");
}
END_TEST

START_TEST(what_the_file_system_refuses_is_said)
{
    struct diag diag = {0};
    keep("a", "1");
    keep("b", "2");
    keep("c", "3");
    ck_assert_int_eq(mkdir("b", 0700), 0); /* meanwhile */
    ck_assert_int_eq(outputs_commit(&diag), EXIT_IO);
    ck_assert_msg(strncmp(diag.text, "b: cannot write: ", 17) == 0, "%s", diag.text);
    ck_assert_int_eq(count_entries(NULL), 2); /* a and the folder: in order, and nothing is left behind */
    expect_content("a", "1");
}
END_TEST

START_TEST(one_path_takes_one_output)
{
    struct diag diag = {0};
    put("old", "old");
    ck_assert_int_eq(symlink("old", "link"), 0);
    ck_assert_int_eq(symlink(".", "here"), 0);
    keep("fresh", "1");
    expect_refusal("./fresh", "two outputs");
    ck_assert_int_eq(count_entries(NULL), 3); /* after a failure nothing waits */
    keep("fresh", "1");
    expect_refusal("here/fresh", "two outputs");
    keep("link", "2");
    expect_refusal("old", "two outputs");
    put("same", "4");
    keep("same", "4");
    expect_refusal("same", "two outputs");
    ck_assert_int_eq(symlink("here/fresh", "dangling"), 0);
    keep("dangling", "1");
    expect_refusal("fresh", "two outputs");
    keep("link", "2");
    ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE);
    expect_content("old", "2");
    keep("old", "again, by the next command");
}
END_TEST

START_TEST(inputs_are_not_written)
{
    struct diag diag = {0};
    put("in", "in");
    ck_assert_int_eq(symlink("in", "soft"), 0);
    ck_assert_int_eq(link("in", "hard"), 0);
    keep("other", "1");
    read_input("soft");
    static const char *const names[] = {"in", "./in", "soft", "hard"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_refusal(names[i], "is an input of this command too");
    const int fd = open("in", O_WRONLY | O_APPEND);
    char path[40];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    expect_refusal(path, "is an input of this command too");
    close(fd);
    expect_content("in", "in");
    ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE); /* the next command may, and another did not wait in vain */
    ck_assert_int_ne(access("other", F_OK), 0);
    keep("in", "new");
}
END_TEST

/* What would be refused after all the work is refused before it. */
START_TEST(what_to_expect_is_said_at_once)
{
    struct diag diag = {0};
    put("in", "in");
    read_input("in");
    ck_assert_int_eq(file_expect("in", &diag), EXIT_USAGE);
    ck_assert_int_eq(file_expect(".", &diag), EXIT_IO);
    ck_assert_int_eq(file_expect("absent/out", &diag), EXIT_IO);
    ck_assert_msg(strstr(diag.text, "No such file") != NULL, "%s", diag.text);
    ck_assert_int_eq(file_expect("in/out", &diag), EXIT_IO);
    ck_assert_int_eq(file_expect("", &diag), EXIT_IO);
    ck_assert_int_eq(file_expect("out", &diag), EXIT_DONE);
    ck_assert_int_eq(file_expect(NULL, &diag), EXIT_DONE);
    ck_assert_int_eq(file_expect("/dev/full", &diag), EXIT_DONE);
    ck_assert_int_eq(count_entries(NULL), 1);
}
END_TEST

START_TEST(a_large_input_counts_too)
{
    struct diag diag = {0};
    int fd;
    uint64_t size;
    char bytes[8];
    put("in", "0123456789");
    ck_assert_int_eq(file_open("in", &fd, &size, &diag), EXIT_DONE);
    ck_assert_uint_eq(size, 10);
    expect_refusal("in", "is an input of this command too");
    ck_assert_int_eq(file_read_at(fd, "in", 3, bytes, 4, &diag), EXIT_DONE);
    ck_assert_mem_eq(bytes, "3456", 4);
    ck_assert_int_eq(truncate("in", 5), 0);
    ck_assert_int_eq(file_read_at(fd, "in", 3, bytes, 4, &diag), EXIT_IO);
    ck_assert_str_eq(diag.text, "in: became shorter while it was read");
    close(fd);
    ck_assert_int_eq(file_open(".", &fd, &size, &diag), EXIT_USAGE);
    ck_assert_int_eq(file_open("absent", &fd, &size, &diag), EXIT_IO);
}
END_TEST

/* With `path` as standard input or output, the code of reading "-" or "in". */
static int read_redirected(int which, const char *path, const char *input, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    fflush(stdout);
    const int saved = dup(which), fd = open(path, O_RDWR | O_APPEND);
    ck_assert_int_ge(fd, 0);
    dup2(fd, which);
    close(fd);
    const int code = file_read(input, 1000, &bytes, &size, diag);
    dup2(saved, which);
    close(saved);
    if (code == EXIT_DONE)
        free(bytes);
    return code;
}

START_TEST(standard_streams_count_too)
{
    struct diag diag = {0};
    put("in", "in");
    ck_assert_int_eq(read_redirected(STDIN_FILENO, "in", "-", &diag), EXIT_DONE);
    expect_refusal("in", "is an input of this command too");
    outputs_drop();
    ck_assert_int_eq(read_redirected(STDOUT_FILENO, "in", "in", &diag), EXIT_USAGE);
    ck_assert_str_eq(diag.text, "in: standard output goes into this file too; write to another one");
    ck_assert_int_eq(read_redirected(STDOUT_FILENO, "/dev/null", "/dev/null", &diag), EXIT_DONE);
}
END_TEST

START_TEST(descriptors_are_written_into)
{
    struct stat before, after;
    char path[4][60];
    put("log", "a");
    const int fd = open("log", O_WRONLY | O_APPEND);
    snprintf(path[0], sizeof path[0], "/dev/fd/%d", fd);
    snprintf(path[1], sizeof path[1], "/proc/self/fd/%d", fd);
    snprintf(path[2], sizeof path[2], "/proc/%ld/fd/%d", (long)getpid(), fd);
    snprintf(path[3], sizeof path[3], "link");
    ck_assert_int_eq(symlink(path[0], path[3]), 0);
    ck_assert_int_eq(fstat(fd, &before), 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(descriptor_of(path[i]), fd);
        keep(path[i], "b");
    }
    ck_assert_int_eq(stat("log", &after), 0);
    ck_assert(before.st_ino == after.st_ino);
    expect_content("log", "abbbb");
    close(fd);

    struct diag diag = {0};
    ck_assert_int_eq(file_write(path[0], "x", 1, &diag), EXIT_IO);
    ck_assert_int_eq(descriptor_of("/dev/stderr"), 2);
    ck_assert_int_eq(descriptor_of("/dev/stdout"), 1);
    ck_assert_int_eq(descriptor_of("log"), -1);
    ck_assert_int_eq(descriptor_of("/dev/fd/1x"), -1);
    ck_assert_int_eq(descriptor_of("/dev/fd/99999999999"), -1);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    ck_assert_int_eq(descriptor_of("loop"), -1);
}
END_TEST

/* A file of bits that only its owner should see, and of set-user-ID bits that nobody should get. */
START_TEST(modes_are_kept_but_not_powers)
{
    struct diag diag = {0};
    struct stat status;
    char temporary[300] = "";
    const mode_t old_mask = umask(022);
    put("secret", "old");
    ck_assert_int_eq(chmod("secret", 0600), 0);
    keep("secret", "new");
    count_entries(temporary);
    ck_assert_int_eq(stat(temporary, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
    put("power", "old");
    ck_assert_int_eq(chmod("power", 06757), 0);
    keep("power", "new");
    ck_assert_int_eq(outputs_commit(&diag), EXIT_DONE);
    ck_assert_int_eq(stat("secret", &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(stat("power", &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0757);
    umask(old_mask);
}
END_TEST

static int die_of(int number, bool ignored)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        struct diag diag = {0};
        signal(number, ignored ? SIG_IGN : SIG_DFL); /* Check has handlers of its own */
        outputs_guard();
        if (file_write("a", "1", 1, &diag) != EXIT_DONE || file_write("b", "2", 1, &diag) != EXIT_DONE)
            _exit(99);
        raise(number);
        _exit(outputs_commit(&diag));
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

START_TEST(signals_leave_nothing_behind)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const int status = die_of(numbers[i], false);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
        ck_assert_int_eq(count_entries(NULL), 0);
    }
    /* a write beyond the limit fails by itself */
    ck_assert_int_eq(die_of(SIGXFSZ, false), 0);
    expect_content("b", "2");
    /* as under nohup */
    ck_assert_int_eq(die_of(SIGHUP, true), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *cases = tcase_create("output");
    tcase_add_checked_fixture(cases, enter_directory, leave_directory);
    tcase_add_test(cases, files_are_written_in_pieces);
    tcase_add_test(cases, files_get_their_places_together);
    tcase_add_test(cases, what_the_file_system_refuses_is_said);
    tcase_add_test(cases, one_path_takes_one_output);
    tcase_add_test(cases, inputs_are_not_written);
    tcase_add_test(cases, what_to_expect_is_said_at_once);
    tcase_add_test(cases, a_large_input_counts_too);
    tcase_add_test(cases, standard_streams_count_too);
    tcase_add_test(cases, descriptors_are_written_into);
    tcase_add_test(cases, modes_are_kept_but_not_powers);
    tcase_add_test(cases, signals_leave_nothing_behind);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
