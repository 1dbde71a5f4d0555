/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plugin must leave alone in the process that loads it, taken before and after.
 */
#ifndef KEYWAY_CONTRACT_SURROUNDINGS_H
#define KEYWAY_CONTRACT_SURROUNDINGS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Floating point of the calling thread: rounding, flushing and trapping. Not the exception flags: arithmetic raises
 * them. */
uint64_t kw_float_control(void);
/* The same as it is in a fresh process: round to nearest, subnormals kept, nothing traps. */
uint64_t kw_float_control_default(void);
/* "flush-to-zero (FTZ) is on", "rounding is not to nearest", ...: the first oddity of a control state, or NULL. */
const char *kw_float_oddity(uint64_t control);

/* Chooses for the process what hardly anybody chooses, so that who sets the usual changes something: a umask with which
 * files and folders are of use to their owner; the locale "C", with one of UTF-8 for numbers and times, in which
 * nothing reads otherwise; and for the calling thread, all exception flags of floating point raised. */
void kw_surroundings_choose(void);
/* The same of the working directory: for when the plugin is loaded, since libraries may have been named from where the
 * process began. */
void kw_surroundings_choose_directory(void);

typedef struct kw_surroundings {
  uint64_t float_control; /* of the thread, as the signal mask and the locale below */
  int raised;             /* exception flags */
  sigset_t blocked;
  uintptr_t thread_locale;
  struct sigaction handlers[65];
  char locale[512];
  char directory[4096];
  char *environment; /* all variables, NUL between them; owned */
  size_t environment_size;
  mode_t mask;
} kw_surroundings;

void kw_surroundings_take(kw_surroundings *out_surroundings);
/* True when `after` differs from `before`; then out_text says in what. Exception flags may have been raised, but none
 * cleared. */
bool kw_surroundings_differ(const kw_surroundings *before, const kw_surroundings *after, char *out_text, size_t size);
void kw_surroundings_free(kw_surroundings *surroundings);

#endif /* KEYWAY_CONTRACT_SURROUNDINGS_H */
