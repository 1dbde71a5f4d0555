/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the thread is read by few instructions, that of the process by system calls.
 */
#include "base/process_state.h"

#include "base/hash.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static uint64_t float_control(void) {
#if defined(__x86_64__)
  uint16_t x87; /* not by fegetenv, which sets it anew */
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return (__builtin_ia32_stmxcsr() & ~0x3fu) | (uint64_t)x87 << 32;
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return (uint64_t)fegetround();
#endif
}

/* Without setting it, as umask(2) would: other threads may make files. */
static mode_t current_umask(void) {
  char text[256] = ""; /* the name, of 64 bytes at most, and the umask are the first lines */
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size < 0) return 0;
  const char *line = strstr(text, "\nUmask:");
  return line != NULL ? (mode_t)strtoul(line + strlen("\nUmask:"), NULL, 8) : 0;
}

static uint32_t hash_environment(void) {
  uint32_t hash = KW_HASH_INIT;
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
    hash = kw_hash_text(kw_hash_text(hash, *variable), "\n");
  }
  return hash;
}

void kw_process_state_take(kw_process_state *state, bool whole) {
  state->float_control = float_control();
  state->thread_locale = uselocale((locale_t)0);
  state->whole = whole;
  if (!whole) return;
  pthread_sigmask(SIG_SETMASK, NULL, &state->blocked);
  for (int i = 1; i <= 64; i++) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(i, NULL, &action);
    state->handlers[i] = action.sa_handler;
  }
  struct stat directory = {0};
  if (stat(".", &directory) != 0) directory = (struct stat){0};
  state->directory_device = directory.st_dev;
  state->directory = directory.st_ino;
  state->mask = current_umask();
  state->locale = kw_hash_text(KW_HASH_INIT, setlocale(LC_ALL, NULL));
  state->environment = hash_environment();
}

kw_process_part kw_process_state_change(const kw_process_state *before, const kw_process_state *after) {
  if (before->float_control != after->float_control) return KW_PROCESS_FLOAT;
  if (before->thread_locale != after->thread_locale) return KW_PROCESS_THREAD_LOCALE;
  if (!before->whole) return KW_PROCESS_SAME;
  for (int i = 1; i <= 64; i++) {
    if (sigismember(&before->blocked, i) != sigismember(&after->blocked, i)) return KW_PROCESS_BLOCKED;
    if (before->handlers[i] != after->handlers[i]) return KW_PROCESS_HANDLER;
  }
  if (before->locale != after->locale) return KW_PROCESS_LOCALE;
  if (before->directory != after->directory || before->directory_device != after->directory_device) {
    return KW_PROCESS_DIRECTORY;
  }
  if (before->mask != after->mask) return KW_PROCESS_UMASK;
  return before->environment != after->environment ? KW_PROCESS_ENVIRONMENT : KW_PROCESS_SAME;
}

const char *kw_process_part_text(kw_process_part part) {
  static const char *const texts[] = {
      [KW_PROCESS_SAME] = "nothing",
      [KW_PROCESS_FLOAT] = "the floating-point state of the thread (linked with -ffast-math?)",
      [KW_PROCESS_THREAD_LOCALE] = "the thread's locale",
      [KW_PROCESS_BLOCKED] = "which signals the thread blocks",
      [KW_PROCESS_HANDLER] = "a handler of a signal",
      [KW_PROCESS_LOCALE] = "the locale",
      [KW_PROCESS_DIRECTORY] = "the working directory",
      [KW_PROCESS_UMASK] = "the umask",
      [KW_PROCESS_ENVIRONMENT] = "environment variables",
  };
  return texts[part];
}
