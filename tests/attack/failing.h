/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libc that fail when they are told to: a library that comes before libc. Only calls from Keyway's own
 * files count: the library, its helpers, plugins. What a driver or libc does by itself goes well.
 *
 * A program that is linked with it says what fails by failing_arm. Others get it by LD_PRELOAD, and in the environment
 *
 *   KEYWAY_FAILING_FILE=FILE               a failing_file, zeroes at first: processes count their calls there
 *   KEYWAY_FAILING=PROGRAM:K:FUNCTION:N    in the K-th process of that name the N-th call of the function fails
 */
#ifndef KEYWAY_ATTACK_FAILING_H
#define KEYWAY_ATTACK_FAILING_H

#include <stdatomic.h>
#include <stdbool.h>

#define FAILING_API __attribute__((visibility("default")))

/* All functions that allocate, as one. */
#define FAILING_MEMORY "memory"

/* From here on the `at`-th call of `function`, a name in failing_functions.def or FAILING_MEMORY, fails; with `lasting`
 * those after it, too. */
FAILING_API void failing_arm(const char *function, long at, bool lasting);
/* Lifts it. How many calls failed. */
FAILING_API long failing_disarm(void);

/* The names, NULL past the end, and how many calls of each there were since the last failing_arm. The first is
 * FAILING_MEMORY. */
FAILING_API const char *failing_function(unsigned index);
FAILING_API long failing_calls(unsigned index);

/* How many blocks of memory that Keyway's files have allocated are not freed; who allocated some of those that came
 * since `from` such blocks were made, to stderr. */
FAILING_API long failing_live(void);
FAILING_API unsigned long failing_made(void);
FAILING_API void failing_show_live(unsigned long from);

/* What processes share that got the library by LD_PRELOAD. commands.py reads it. */
#define FAILING_FUNCTIONS 128
#define FAILING_PROCESSES 512

typedef struct failing_process {
  char program[32];
  atomic_long calls[FAILING_FUNCTIONS];
} failing_process;

typedef struct failing_file {
  atomic_uint failed; /* 1: the call has failed */
  atomic_uint count;
  failing_process processes[FAILING_PROCESSES]; /* in the order in which they began */
} failing_file;

#endif /* KEYWAY_ATTACK_FAILING_H */
