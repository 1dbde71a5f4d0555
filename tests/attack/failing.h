/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libc that fail when they are told to: a library that comes before libc. Only calls from Keyway's own
 * files count: the library, its helpers, plugins. What a driver or libc does by itself goes well.
 *
 * A program that is linked with it says what fails by failing_arm. Others get it by LD_PRELOAD, and in the environment
 *
 *   KEYWAY_FAILING=PROGRAM:FUNCTION:N    in processes of that name the N-th call of the function fails
 *   KEYWAY_FAILING_LOG=FILE              gets a line when it has
 */
#ifndef KEYWAY_ATTACK_FAILING_H
#define KEYWAY_ATTACK_FAILING_H

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

#endif /* KEYWAY_ATTACK_FAILING_H */
