/* SPDX-License-Identifier: Apache-2.0
 *
 * The library starts once per process, so each case runs in a child of the test program.
 */
#ifndef KEYWAY_TESTS_CHILD_H
#define KEYWAY_TESTS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* In the child: says what was expected, and leaves with code 1. */
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
/* The text contains the words; both are printed when not. */
#define CHECK_CONTAINS(text, words) check_contains(text, words, __FILE__, __LINE__)
/* A kw_status is KW_OK; its message is printed when not. */
#define CHECK_OK(status) check_ok(status, #status, __FILE__, __LINE__)

void check(bool condition, const char *text, const char *file, int line);
void check_contains(const char *text, const char *words, const char *file, int line);
void check_ok(int status, const char *text, const char *file, int line);

/* A fresh empty directory of the test program, removed with all it holds at the end. */
const char *scratch_directory(void);
void remove_scratch(void);

/* A path below the scratch directory, in a static buffer of which there are eight. */
const char *scratch_path(const char *name) __attribute__((returns_nonnull));

/* Runs body in a child whose home and cache are in the scratch directory, and fails the cmocka test unless it leaves
 * with code 0. What it writes to stderr is in scratch_path("stderr") afterwards, and shown when it failed. */
void run_child(void (*body)(void));

/* The path of a file in the folder whose text has these words, in a static buffer; NULL when there is none. */
const char *find_file_with(const char *folder, const char *words);

/* A user, and a group, that this process is not one of. */
enum { OTHER = 12345 };
/* Whether it could be that user, and give it files: as root, unless of a user namespace without it. */
bool may_be_other(void);

/* The whole file as text, in a static buffer; "" when it cannot be read. */
const char *read_text(const char *path);
void write_text(const char *path, const char *text);
void copy_file(const char *from, const char *to);

/* "DIRECTORY/keyway_fixture_NAME.so", in a static buffer of which there are eight. */
const char *fixture_path(const char *name) __attribute__((returns_nonnull));

#endif /* KEYWAY_TESTS_CHILD_H */
