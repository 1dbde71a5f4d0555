/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a process that a plugin has to leave alone: taken before, compared after.
 */
#include "surroundings.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define FLUSH_TO_ZERO 0x8000u
#define DENORMALS_ARE_ZERO 0x0040u
#define ROUNDING 0x6000u
#define MASKS 0x1f80u /* a set bit: does not trap */

uint64_t kw_float_control(void) {
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(&environment); /* glibc's fegetenv masks the x87 exceptions */
  return (environment.__mxcsr & ~0x3fu) | (uint64_t)environment.__control_word << 32;
}

uint64_t kw_float_control_default(void) {
  return 0x1f80u | UINT64_C(0x037f) << 32;
}

const char *kw_float_oddity(uint64_t control) {
  if (control & FLUSH_TO_ZERO) return "flush-to-zero (FTZ) is on";
  if (control & DENORMALS_ARE_ZERO) return "denormals-are-zero (DAZ) is on";
  if (control & ROUNDING) return "rounding is not to nearest";
  if ((control & MASKS) != MASKS) return "a floating-point exception traps";
  return control == kw_float_control_default() ? NULL : "the x87 control word is not the default";
}
#elif defined(__aarch64__)
uint64_t kw_float_control(void) {
  fenv_t environment;
  fegetenv(&environment);
  return environment.__fpcr;
}

uint64_t kw_float_control_default(void) {
  return 0;
}

const char *kw_float_oddity(uint64_t control) {
  if (control & UINT64_C(0x1080000)) return "flush-to-zero (FZ) is on";
  if (control & UINT64_C(0xc00000)) return "rounding is not to nearest";
  return control == 0 ? NULL : "the control register FPCR is not 0";
}
#else
uint64_t kw_float_control(void) {
  return (uint64_t)fegetround();
}

uint64_t kw_float_control_default(void) {
  return FE_TONEAREST;
}

const char *kw_float_oddity(uint64_t control) {
  return control == FE_TONEAREST ? NULL : "rounding is not to nearest";
}
#endif

/* ---- The rest of the process ------------------------------------------------------------------------------------- */

static void take_environment(kw_surroundings *s) {
  for (char **variable = environ; variable && *variable; variable++) s->environment_size += strlen(*variable) + 1;
  char *end = s->environment = malloc(s->environment_size + 1);
  if (!end) abort();
  for (char **variable = environ; variable && *variable; variable++) end = stpcpy(end, *variable) + 1;
}

/* Without setting it, as umask(2) would: other threads may be looking. */
static mode_t current_umask(void) {
  unsigned mask = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "re");
  while (status && fgets(line, sizeof line, status) && sscanf(line, "Umask: %o", &mask) != 1) continue;
  if (status) fclose(status);
  return (mode_t)mask;
}

void kw_surroundings_choose(void) {
  umask(026);
  setlocale(LC_ALL, "C"); /* and so it stays where the system has none of UTF-8 */
  setlocale(LC_NUMERIC, "C.UTF-8");
  setlocale(LC_TIME, "C.UTF-8");
  feraiseexcept(FE_ALL_EXCEPT);
}

void kw_surroundings_choose_directory(void) {
  if (chdir("/dev") != 0) return; /* where there is none, it stays what it is */
}

void kw_surroundings_take(kw_surroundings *s) {
  memset(s, 0, sizeof *s);
  s->float_control = kw_float_control();
  s->raised = fetestexcept(FE_ALL_EXCEPT);
  pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
  s->thread_locale = (uintptr_t)uselocale((locale_t)0);
  for (int i = 1; i <= 64; i++) sigaction(i, NULL, &s->handlers[i]);
  snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
  if (!getcwd(s->directory, sizeof s->directory)) s->directory[0] = 0;
  take_environment(s);
  s->mask = current_umask();
}

static bool same_handler(const struct sigaction *a, const struct sigaction *b) {
  const int restorer = 0x04000000; /* libc's own, on every handler that was ever set */
  return a->sa_handler == b->sa_handler && ((a->sa_flags ^ b->sa_flags) & ~restorer) == 0;
}

static bool signals_differ(const kw_surroundings *before, const kw_surroundings *after, char *text, size_t size) {
  for (int i = 1; i <= 64; i++) {
    if (!same_handler(&before->handlers[i], &after->handlers[i])) {
      snprintf(text, size, "the handler of signal %d (%s)", i, strsignal(i));
      return true;
    }
    if (sigismember(&before->blocked, i) != sigismember(&after->blocked, i)) {
      snprintf(text, size, "whether signal %d (%s) is blocked", i, strsignal(i));
      return true;
    }
  }
  return false;
}

bool kw_surroundings_differ(const kw_surroundings *before, const kw_surroundings *after, char *text, size_t size) {
  if (before->float_control != after->float_control) {
    const char *oddity = kw_float_oddity(after->float_control);
    snprintf(text, size, "the floating-point environment, from 0x%llx to 0x%llx%s%s",
             (unsigned long long)before->float_control, (unsigned long long)after->float_control, oddity ? ": " : "",
             oddity ? oddity : "");
  } else if (before->raised & ~after->raised) {
    snprintf(text, size, "floating-point exception flags 0x%x, which it cleared", before->raised & ~after->raised);
  } else if (signals_differ(before, after, text, size)) {
    return true;
  } else if (strcmp(before->locale, after->locale) != 0 || before->thread_locale != after->thread_locale) {
    snprintf(text, size, "the locale, from %s to %s", before->locale, after->locale);
  } else if (strcmp(before->directory, after->directory) != 0) {
    snprintf(text, size, "the working directory, from %s to %s", before->directory, after->directory);
  } else if (before->environment_size != after->environment_size ||
             memcmp(before->environment, after->environment, before->environment_size) != 0) {
    snprintf(text, size, "an environment variable");
  } else if (before->mask != after->mask) {
    snprintf(text, size, "the umask, from %03o to %03o", (unsigned)before->mask, (unsigned)after->mask);
  } else {
    return false;
  }
  return true;
}

void kw_surroundings_free(kw_surroundings *s) {
  free(s->environment);
  s->environment = NULL;
}
