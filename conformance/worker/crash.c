/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker that crashes writes down about it.
 */
#include "worker/crash.h"

#include <keyway/keyway.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 16
#define OWN_FRAMES 2 /* the handler, and what the kernel returns through */

static int report_fd;
static int say_from = -1, say_to = -1;
static pid_t owner;
static volatile sig_atomic_t fatal; /* the signal being reported */
static _Alignas(16) char stack[1 << 16];

/* What a handler may use: no printf, no malloc. */
static size_t append(char *text, size_t used, size_t size, const char *more) {
  for (; *more && used < size; more++) text[used++] = *more;
  return used;
}

static size_t append_hex(char *text, size_t used, size_t size, uintptr_t value) {
  char digits[2 * sizeof value + 1];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value);
  return append(text, append(text, used, size, "0x"), size, digits + at);
}

static size_t append_file(char *text, size_t used, size_t size, const Dl_info *info) {
  const char *slash = strrchr(info->dli_fname, '/');
  return append(text, used, size, slash ? slash + 1 : info->dli_fname);
}

/* "my_npu.so+0x1b2c"; "?" for code that belongs to no file. */
static size_t append_frame(char *text, size_t used, size_t size, void *address, const Dl_info *info) {
  if (!info->dli_fname) return append(text, used, size, "?");
  used = append(text, append_file(text, used, size, info), size, "+");
  return append_hex(text, used, size, (uintptr_t)address - (uintptr_t)info->dli_fbase);
}

/* Down to the library, or the worker's own program: what called that says nothing. Nor does where in the library it was
 * called, which depends on the plans that are remembered there. */
static void write_frames(void *const *frames, int count) {
  static char text[2048];
  size_t used = 0;
  Dl_info own = {0}, library = {0}, info = {0};
  dladdr(stack, &own);
  dladdr((void *)(uintptr_t)kw_op_call, &library);
  for (int i = 0; i < count && (i == 0 || info.dli_fbase != own.dli_fbase); i++) {
    if (!dladdr(frames[i], &info)) info = (Dl_info){0};
    if (i > 0) used = append(text, used, sizeof text, " < ");
    if (i > 0 && info.dli_fbase == library.dli_fbase) {
      used = append_file(text, used, sizeof text, &info);
      break;
    }
    used = append_frame(text, used, sizeof text, frames[i], &info);
  }
  if (write(report_fd, text, used) < 0) return; /* the reader has gone */
}

/* By the signal that came first, whatever went wrong while it was reported. */
static void die(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, fatal);
  signal(fatal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  raise(fatal);
}

void kw_crash_say_from(int from, int to) {
  say_from = from;
  say_to = to;
}

static void say(void) {
  static char bytes[1024];
  const off_t end = say_from < 0 ? 0 : lseek(say_from, 0, SEEK_END), begin = end - (off_t)sizeof bytes;
  const ssize_t length = end <= 0 ? 0 : pread(say_from, bytes, sizeof bytes, begin > 0 ? begin : 0);
  if (length > 0 && write(say_to, bytes, (size_t)length) < 0) return;
}

static void report(int signal_number) {
  void *frames[FRAMES];
  bool first = !fatal;
  if (first) fatal = signal_number;
  if (first && getpid() == owner) {
    say();
    int count = backtrace(frames, FRAMES);
    if (count > OWN_FRAMES) write_frames(frames + OWN_FRAMES, count - OWN_FRAMES);
  }
  die();
}

void kw_crash_report_to(int fd) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  void *first[1];
  backtrace(first, 1); /* loads what it needs now, not in the handler */
  report_fd = fd;
  owner = getpid();
  stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternative, NULL); /* for a stack that has overflowed */
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK}, old;
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL);
  }
}
