/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for libFuzzer: feeds every file of the given directories to the target once, in TAP. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

#define REPLAY_MAX_BYTES ((size_t)1 << 24)
#define REPLAY_MAX_FILES 100000

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    unsigned char *bytes = malloc(REPLAY_MAX_BYTES);
    *size = bytes == NULL ? 0 : fread(bytes, 1, REPLAY_MAX_BYTES, file);
    const int bad = bytes == NULL || ferror(file) || !feof(file);
    fclose(file);
    if (bad) {
        free(bytes);
        return NULL;
    }
    /* The copy is exactly as long as the file, so that a sanitizer sees a read past the end. */
    unsigned char *exact = malloc(*size == 0 ? 1 : *size);
    if (exact != NULL)
        memcpy(exact, bytes, *size);
    free(bytes);
    return exact;
}

static int replay_file(const char *directory, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    size_t size = 0;
    unsigned char *bytes = length > 0 && (size_t)length < sizeof path ? read_whole(path, &size) : NULL;
    if (bytes == NULL)
        return -1;
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 0;
}

static int list_files(const char *directory, char **names)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return -1;
    int count = 0;
    for (const struct dirent *entry; count < REPLAY_MAX_FILES && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && (names[count] = strdup(entry->d_name)) != NULL)
            count++;
    closedir(entries);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

int main(int argc, char **argv)
{
    char **names = calloc(REPLAY_MAX_FILES, sizeof *names);
    if (argc < 2 || names == NULL) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY...\n", argv[0]);
        return EXIT_USAGE;
    }
    int number = 0, failures = 0;
    for (int a = 1; a < argc; a++) {
        const int count = list_files(argv[a], names);
        if (count <= 0) {
            fprintf(stderr, "%s: no corpus files; a directory with at least one is needed\n", argv[a]);
            failures++;
        }
        for (int i = 0; i < count; i++) {
            const int bad = replay_file(argv[a], names[i]) != 0;
            printf("%s %d - %s\n", bad ? "not ok" : "ok", ++number, names[i]);
            fflush(stdout);
            failures += bad;
            free(names[i]);
        }
    }
    printf("1..%d\n", number);
    free(names);
    return failures == 0 ? EXIT_DONE : EXIT_IO;
}
