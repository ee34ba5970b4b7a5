/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole files: limits, atomic replacement, and failures that leave nothing behind. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"

#include "../../support/suite.h"

static char directory[64];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/test_file_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static int count_entries(void)
{
    int count = 0;
    DIR *stream = opendir(directory);
    ck_assert_ptr_nonnull(stream);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static void remove_directory(void)
{
    ck_assert_int_eq(chmod(directory, 0700), 0);
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(path) != 0)
            rmdir(path);
    }
    closedir(stream);
    ck_assert_int_eq(rmdir(directory), 0);
}

static const char *in_directory(const char *name)
{
    static char path[8][160]; /* as many as one test holds at a time */
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

static void expect_content(const char *path, const char *content)
{
    unsigned char *bytes;
    size_t size;
    struct diag diag = {0};
    ck_assert_msg(file_read(path, 1000, &bytes, &size, &diag) == EXIT_DONE, "%s", diag.text);
    ck_assert_uint_eq(size, strlen(content));
    ck_assert_str_eq((const char *)bytes, content);
    free(bytes);
}

/* As one command does it. */
static int write_now(const char *path, const void *bytes, size_t size, struct diag *diag)
{
    outputs_drop();
    const int code = file_write(path, bytes, size, diag);
    if (code == EXIT_DONE)
        return outputs_commit(diag);
    outputs_drop();
    return code;
}

static void write_done(const char *path, const char *content)
{
    struct diag diag = {0};
    ck_assert_msg(write_now(path, content, strlen(content), &diag) == EXIT_DONE, "%s", diag.text);
}

static void expect_failure(int got, int code, const struct diag *diag, const char *start, const char *text)
{
    ck_assert_int_eq(got, code);
    ck_assert_int_eq(diag->code, code);
    ck_assert_msg(strncmp(diag->text, start, strlen(start)) == 0, "%s", diag->text);
    ck_assert_msg(strstr(diag->text, text) != NULL, "'%s' lacks '%s'", diag->text, text);
}

START_TEST(reads_up_to_the_limit)
{
    unsigned char *bytes;
    size_t size;
    struct diag diag = {0};
    const char *path = in_directory("in");
    write_done(path, "0123456789");
    for (size_t limit = 0; limit < 20; limit++) {
        const int code = file_read(path, limit, &bytes, &size, &diag);
        if (limit >= 10) {
            ck_assert_int_eq(code, EXIT_DONE);
            ck_assert_uint_eq(size, 10);
            ck_assert_int_eq(bytes[10], 0);
            free(bytes);
        } else {
            expect_failure(code, EXIT_USAGE, &diag, path, "larger than the limit");
            ck_assert_ptr_null(bytes);
        }
    }
    write_done(path, "");
    ck_assert_int_eq(file_read(path, 0, &bytes, &size, &diag), EXIT_DONE);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(bytes[0], 0);
    free(bytes);
    /* no end, and no size to know before */
    expect_failure(file_read("/dev/zero", 100000, &bytes, &size, &diag), EXIT_USAGE, &diag, "/dev/zero", "larger than");
    ck_assert_int_eq(file_read("/dev/null", SIZE_MAX, &bytes, &size, &diag), EXIT_DONE);
    ck_assert_uint_eq(size, 0);
    free(bytes);
}
END_TEST

START_TEST(what_cannot_be_read_is_named)
{
    unsigned char *bytes;
    size_t size;
    struct diag diag = {0};
    const char *path = in_directory("absent");
    expect_failure(file_read(path, 100, &bytes, &size, &diag), EXIT_IO, &diag, path, "No such file");
    ck_assert_ptr_null(bytes);
    expect_failure(file_read(directory, 100, &bytes, &size, &diag), EXIT_IO, &diag, directory, "is a directory");
    write_done(in_directory("file"), "x");
    path = in_directory("file/inside");
    expect_failure(file_read(path, 100, &bytes, &size, &diag), EXIT_IO, &diag, path, "Not a directory");
}
END_TEST

START_TEST(a_dash_reads_standard_input)
{
    unsigned char *bytes;
    size_t size;
    struct diag diag = {0};
    int ends[2];
    const int saved = dup(STDIN_FILENO);
    for (int limit = 5; limit <= 6; limit++) {
        ck_assert_int_eq(pipe(ends), 0);
        ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        ck_assert_int_eq(write(ends[1], "abcdef", 6), 6);
        close(ends[0]);
        close(ends[1]);
        const int code = file_read("-", (size_t)limit, &bytes, &size, &diag);
        if (limit == 5) {
            expect_failure(code, EXIT_USAGE, &diag, "standard input: ", "larger than");
            continue;
        }
        ck_assert_int_eq(code, EXIT_DONE);
        ck_assert_uint_eq(size, 6);
        ck_assert_str_eq((const char *)bytes, "abcdef");
        free(bytes);
    }
    /* a descriptor that cannot be read */
    const int writable = open("/dev/null", O_WRONLY);
    ck_assert_int_eq(dup2(writable, STDIN_FILENO), STDIN_FILENO);
    close(writable);
    expect_failure(file_read("-", 100, &bytes, &size, &diag), EXIT_IO, &diag, "standard input: ", "cannot read");
    ck_assert_int_eq(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}
END_TEST

START_TEST(large_files_come_back_whole)
{
    const size_t size = 3 * 1024 * 1024 + 17;
    unsigned char *bytes = malloc(size), *back;
    size_t back_size;
    struct diag diag = {0};
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    const char *path = in_directory("large");
    ck_assert_int_eq(write_now(path, bytes, size, &diag), EXIT_DONE);
    ck_assert_int_eq(file_read(path, FILE_MAX_BYTES, &back, &back_size, &diag), EXIT_DONE);
    ck_assert_uint_eq(back_size, size);
    ck_assert_mem_eq(back, bytes, size);
    free(back);
    ck_assert_int_eq(file_check(path, bytes, size, &diag), EXIT_DONE);
    free(bytes);
}
END_TEST

START_TEST(new_files_follow_umask_and_old_ones_keep_their_mode)
{
    struct stat status;
    const mode_t old_mask = umask(027);
    write_done(in_directory("new"), "1");
    ck_assert_int_eq(stat(in_directory("new"), &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0640);
    ck_assert_int_eq(chmod(in_directory("new"), 0606), 0);
    write_done(in_directory("new"), "2");
    ck_assert_int_eq(stat(in_directory("new"), &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0606);
    umask(old_mask);
    expect_content(in_directory("new"), "2");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

START_TEST(unchanged_files_are_not_touched)
{
    const char *path = in_directory("same");
    const struct timespec past[2] = {{1000000000, 5}, {1000000000, 5}};
    struct stat before, after;
    write_done(path, "content");
    ck_assert_int_eq(utimensat(AT_FDCWD, path, past, 0), 0);
    ck_assert_int_eq(stat(path, &before), 0);
    write_done(path, "content");
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(after.st_mtim.tv_sec == 1000000000 && after.st_ino == before.st_ino);
    write_done(path, "CONTENT"); /* as long, but different */
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(after.st_mtim.tv_sec != 1000000000);
    expect_content(path, "CONTENT");
    write_done(path, "");
    expect_content(path, "");
}
END_TEST

START_TEST(a_link_stays_a_link)
{
    struct stat status;
    write_done(in_directory("target"), "old");
    ck_assert_int_eq(symlink("target", in_directory("link")), 0);
    write_done(in_directory("link"), "new");
    expect_content(in_directory("target"), "new");
    ck_assert_int_eq(lstat(in_directory("link"), &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert_int_eq(count_entries(), 2);
}
END_TEST

START_TEST(a_link_to_nothing_stays_a_link)
{
    struct diag diag = {0};
    struct stat status;
    const char *chain = in_directory("chain"), *far = in_directory("far"), *lost = in_directory("lost");
    ck_assert_int_eq(mkdir(in_directory("folder"), 0700), 0);
    ck_assert_int_eq(symlink("folder/step", chain), 0);
    ck_assert_int_eq(symlink("../made", in_directory("folder/step")), 0);
    write_done(chain, "new");
    expect_content(in_directory("made"), "new");
    ck_assert_int_eq(lstat(chain, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert_int_eq(lstat(in_directory("folder/step"), &status), 0);
    ck_assert(S_ISLNK(status.st_mode));

    ck_assert_int_eq(symlink(in_directory("absolute"), far), 0);
    write_done(far, "far");
    expect_content(in_directory("absolute"), "far");

    ck_assert_int_eq(symlink("absent/file", lost), 0);
    expect_failure(file_expect(lost, &diag), EXIT_IO, &diag, lost, "No such file");
    expect_failure(write_now(lost, "x", 1, &diag), EXIT_IO, &diag, lost, "No such file");
    ck_assert_int_eq(count_entries(), 6);
    ck_assert_int_eq(unlink(in_directory("folder/step")), 0);
}
END_TEST

START_TEST(missing_directories_are_reported)
{
    struct diag diag = {0};
    const char *path = in_directory("absent/out");
    expect_failure(write_now(path, "x", 1, &diag), EXIT_IO, &diag, path, "No such file");
    expect_failure(write_now(directory, "x", 1, &diag), EXIT_IO, &diag, directory, "is a directory");
    write_done(in_directory("file"), "x");
    path = in_directory("file/out");
    expect_failure(write_now(path, "x", 1, &diag), EXIT_IO, &diag, path, "Not a directory");
    expect_failure(write_now("", "x", 1, &diag), EXIT_IO, &diag, "", "cannot write");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

/* Runs body in a child without root's power to write anywhere; its exit code is 0 when all was as expected. */
static int run_as_nobody(int (*body)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        _exit(body());
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int write_into_read_only_directory(void)
{
    struct diag diag = {0};
    if (write_now(in_directory("new"), "x", 1, &diag) != EXIT_IO || strstr(diag.text, "Permission denied") == NULL)
        return 1;
    if (write_now(in_directory("old"), "x", 1, &diag) != EXIT_IO || strstr(diag.text, "Permission denied") == NULL)
        return 2;
    return write_now(in_directory("old"), "old", 3, &diag) == EXIT_DONE ? 0 : 3; /* nothing to change */
}

START_TEST(read_only_directories_are_reported)
{
    write_done(in_directory("old"), "old");
    ck_assert_int_eq(chmod(in_directory("old"), 0666), 0);
    ck_assert_int_eq(chmod(directory, 0555), 0);
    ck_assert_int_eq(run_as_nobody(write_into_read_only_directory), 0);
    expect_content(in_directory("old"), "old");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

static int write_over_read_only_file(void)
{
    struct diag diag = {0};
    return write_now(in_directory("kept"), "x", 1, &diag) == EXIT_IO && strstr(diag.text, "Permission denied") ? 0 : 1;
}

START_TEST(read_only_files_are_kept)
{
    write_done(in_directory("kept"), "kept");
    ck_assert_int_eq(chmod(in_directory("kept"), 0444), 0);
    ck_assert_int_eq(chmod(directory, 0777), 0);
    ck_assert_int_eq(run_as_nobody(write_over_read_only_file), 0);
    expect_content(in_directory("kept"), "kept");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

/* A file size limit stops the write half way, as a full disk does. */
START_TEST(a_failed_write_leaves_nothing_behind)
{
    static char content[5000];
    struct diag diag = {0};
    struct rlimit old, small;
    const char *path = in_directory("new");
    memset(content, 'x', sizeof content);
    write_done(in_directory("old"), "old");
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int fresh = write_now(path, content, sizeof content, &diag);
    struct diag second = {0};
    const int replacing = write_now(in_directory("old"), content, sizeof content, &second);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    expect_failure(fresh, EXIT_IO, &diag, path, "File too large");
    expect_failure(replacing, EXIT_IO, &second, directory, "File too large");
    expect_content(in_directory("old"), "old");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

START_TEST(devices_and_pipes_are_written_into)
{
    struct diag diag = {0};
    struct stat status;
    /* through links, so that a rename gone wrong replaces a link and not the machine's device */
    const char *full = in_directory("full"), *null = in_directory("null");
    ck_assert_int_eq(symlink("/dev/full", full), 0);
    ck_assert_int_eq(symlink("/dev/null", null), 0);
    expect_failure(write_now(full, "x", 1, &diag), EXIT_IO, &diag, full, "No space left");
    write_done(null, "x");
    ck_assert_int_eq(stat(full, &status), 0);
    ck_assert(S_ISCHR(status.st_mode));
    ck_assert_int_eq(stat(null, &status), 0);
    ck_assert(S_ISCHR(status.st_mode));

    const char *path = in_directory("pipe");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    write_done(path, "through");
    char bytes[20] = {0};
    ck_assert_int_eq(read(reader, bytes, sizeof bytes), 7);
    ck_assert_str_eq(bytes, "through");
    close(reader);
    ck_assert_int_eq(count_entries(), 3);
}
END_TEST

/* Standard output goes to path meanwhile; returns write_now's code. */
static int write_redirected(const char *path, const char *to, const char *content, struct diag *diag)
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ck_assert_int_ge(fd, 0);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    const int code = write_now(to, content, strlen(content), diag);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    clearerr(stdout);
    return code;
}

START_TEST(standard_output_is_flushed_and_checked)
{
    static const char *const names[] = {"-", NULL, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    struct diag diag = {0};
    const char *path = in_directory("out");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_int_eq(write_redirected(path, names[i], "ab", &diag), EXIT_DONE);
    expect_content(path, "ababababab");
    ck_assert_int_eq(write_redirected(path, "-", "", &diag), EXIT_DONE);
    for (size_t i = 0; i < 2; i++)
        expect_failure(write_redirected("/dev/full", names[i], "x", &diag), EXIT_IO, &diag,
                       "standard output: ", "No space left");
}
END_TEST

START_TEST(a_check_tells_what_differs)
{
    struct diag diag = {0};
    const char *path = in_directory("checked");
    expect_failure(file_check(path, "x", 1, &diag), EXIT_REQUIREMENT, &diag, path, "is missing");
    write_done(path, "one\ntwo\nthree\n");
    ck_assert_int_eq(file_check(path, "one\ntwo\nthree\n", 14, &diag), EXIT_DONE);
    expect_failure(file_check(path, "one\ntwO\nthree\n", 14, &diag), EXIT_REQUIREMENT, &diag, path,
                   "first at byte 6 (line 2)");
    expect_failure(file_check(path, "one\ntwo\nthree", 13, &diag), EXIT_REQUIREMENT, &diag, path,
                   "at byte 13 (line 3)");
    expect_failure(file_check(path, "one\ntwo\nthree\n.", 15, &diag), EXIT_REQUIREMENT, &diag, path,
                   "at byte 14 (line 4)");
    expect_failure(file_check(path, "", 0, &diag), EXIT_REQUIREMENT, &diag, path, "at byte 0 (line 1)");
    expect_failure(file_check(directory, "x", 1, &diag), EXIT_IO, &diag, directory, "is a directory");
    expect_failure(file_check("-", "x", 1, &diag), EXIT_USAGE, &diag, "", "needs the name of a file");
    expect_failure(file_check(NULL, "x", 1, &diag), EXIT_USAGE, &diag, "", "needs the name of a file");
    ck_assert_int_eq(count_entries(), 1);
}
END_TEST

START_TEST(text_grows)
{
    struct text text = {0};
    for (int i = 0; i < 3000; i++)
        text_add(&text, "%d,", i % 10);
    ck_assert(!text.failed);
    ck_assert_uint_eq(text.size, 6000);
    ck_assert_uint_eq(strlen(text.bytes), 6000);
    ck_assert_mem_eq(text.bytes, "0,1,2,3,4,5,6,7,8,9,0,", 22);
    ck_assert_str_eq(text.bytes + 5996, "8,9,");
    text_free(&text);
    ck_assert(text.bytes == NULL && text.size == 0 && text.capacity == 0);
    text_add(&text, "%s", "");
    ck_assert_str_eq(text.bytes, "");
    text_free(&text);

    struct text endless = {.size = SIZE_MAX / 4};
    text_add(&endless, "x");
    ck_assert(endless.failed);
    text_add(&endless, "x"); /* stays failed */
    ck_assert(endless.failed && endless.bytes == NULL);
}
END_TEST

/* FIPS 180-4 examples */
START_TEST(sha256_of_known_texts)
{
    char hex[65];
    sha256_hex("abc", 3, hex);
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *file = tcase_create("file");
    tcase_add_checked_fixture(file, make_directory, remove_directory);
    tcase_add_test(file, reads_up_to_the_limit);
    tcase_add_test(file, what_cannot_be_read_is_named);
    tcase_add_test(file, a_dash_reads_standard_input);
    tcase_add_test(file, large_files_come_back_whole);
    tcase_add_test(file, new_files_follow_umask_and_old_ones_keep_their_mode);
    tcase_add_test(file, unchanged_files_are_not_touched);
    tcase_add_test(file, a_link_stays_a_link);
    tcase_add_test(file, a_link_to_nothing_stays_a_link);
    tcase_add_test(file, missing_directories_are_reported);
    tcase_add_test(file, read_only_directories_are_reported);
    tcase_add_test(file, read_only_files_are_kept);
    tcase_add_test(file, a_failed_write_leaves_nothing_behind);
    tcase_add_test(file, devices_and_pipes_are_written_into);
    tcase_add_test(file, standard_output_is_flushed_and_checked);
    tcase_add_test(file, a_check_tells_what_differs);
    suite_add_tcase(suite, file);
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, text_grows);
    tcase_add_test(memory, sha256_of_known_texts);
    suite_add_tcase(suite, memory);
    return run_suite(suite);
}
