/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's side of keyway-probe: starting it, listening to it, and saying how it ended.
 */
#include "plugin/probe.h"

#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS 10000
#define SLICE_MS 20 /* how often a helper that left its pipe open is looked after */

extern char **environ;

typedef struct helper {
  pid_t pid;
  int facts;  /* what it writes to KW_PROBE_FD */
  int errors; /* its stderr */
  char line[1280];
  size_t line_length;
  char last_error[512]; /* the tail of stderr */
  size_t error_length;
  bool ended; /* the "end" line came */
} helper;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int timeout_ms(void) {
  const char *text = secure_getenv("KEYWAY_PROBE_TIMEOUT_MS");
  if (text == NULL) return DEFAULT_TIMEOUT_MS;
  char *end;
  long value = strtol(text, &end, 10);
  return end != text && *end == '\0' && value > 0 && value <= 3600 * 1000 ? (int)value : DEFAULT_TIMEOUT_MS;
}

static void refuse(kw_probe_result *result, kw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(kw_probe_result *result, kw_status status, const char *format, ...) {
  result->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(result->reason, sizeof result->reason, format, arguments);
  va_end(arguments);
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* The helper gets its own process group (so that a hang is ended with all its children), default signals, and no
 * descriptors but 0 to 3. Returns 0 or an errno. */
static int spawn_helper(const char *program, const char *path, int facts_end, int errors_end, pid_t *out_pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, errors_end, STDERR_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, facts_end, KW_PROBE_FD);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, KW_PROBE_FD + 1);
  char *const arguments[] = {(char *)KW_PROBE_PROGRAM, (char *)path, NULL};
  if (error == 0) error = posix_spawn(out_pid, program, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* A pipe whose ends lie above the descriptors that the helper's are moved to. */
static int open_pipe(int ends[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) return errno;
  for (int i = 0; i < 2; i++) ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, KW_PROBE_FD + 1);
  int error = errno;
  close(low[0]);
  close(low[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return 0;
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return error;
}

static int start(helper *h, const char *program, const char *path) {
  int facts[2], errors[2];
  int error = open_pipe(facts);
  if (error != 0) return error;
  error = open_pipe(errors);
  if (error != 0) {
    close(facts[0]);
    close(facts[1]);
    return error;
  }
  error = spawn_helper(program, path, facts[1], errors[1], &h->pid);
  close(facts[1]);
  close(errors[1]);
  if (error != 0) {
    close(facts[0]);
    close(errors[0]);
    return error;
  }
  h->facts = facts[0];
  h->errors = errors[0];
  fcntl(h->facts, F_SETFL, O_NONBLOCK);
  fcntl(h->errors, F_SETFL, O_NONBLOCK);
  return 0;
}

/* ---- Listening --------------------------------------------------------------------------------------------------- */

static void take_line(helper *h, kw_probe_result *result) {
  char *text = strchr(h->line, ' ');
  if (text == NULL) {
    h->ended = strcmp(h->line, "end") == 0;
    return;
  }
  *text++ = '\0';
  const struct {
    const char *word;
    char *to;
    size_t size;
  } texts[] = {{"key", result->key, sizeof result->key},
               {"vendor", result->vendor, sizeof result->vendor},
               {"version", result->version, sizeof result->version},
               {"description", result->description, sizeof result->description},
               {"build", result->build, sizeof result->build},
               {"sanitizer", result->sanitizer, sizeof result->sanitizer},
               {"reason", result->reason, sizeof result->reason},
               {"remark", result->reason, sizeof result->reason}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(h->line, texts[i].word) == 0) kw_utf8_mend(texts[i].to, texts[i].size, text);
  }
  unsigned long number = strtoul(text, NULL, 10);
  if (strcmp(h->line, "reached") == 0 && number <= KW_STAGE_PROBE) result->reached = (kw_stage)number;
  if (strcmp(h->line, "abi") == 0) result->abi_version = (uint32_t)number;
  if (strcmp(h->line, "status") == 0 && kw_status_canonical((kw_status)number) == (kw_status)number)
    result->status = (kw_status)number;
}

/* False at the end of the pipe. */
static bool read_facts(helper *h, kw_probe_result *result) {
  char bytes[1024];
  ssize_t count;
  while ((count = read(h->facts, bytes, sizeof bytes)) > 0) {
    for (ssize_t i = 0; i < count && !h->ended; i++) {
      if (bytes[i] != '\n') {
        if (h->line_length < sizeof h->line - 1) h->line[h->line_length++] = bytes[i];
        continue;
      }
      h->line[h->line_length] = '\0';
      h->line_length = 0;
      take_line(h, result);
    }
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Keeps the tail. */
static bool read_errors(helper *h) {
  char bytes[sizeof h->last_error / 2];
  ssize_t count;
  while ((count = read(h->errors, bytes, sizeof bytes)) > 0) {
    size_t room = sizeof h->last_error - 1 - h->error_length;
    if (room < (size_t)count) {
      size_t drop = (size_t)count - room;
      memmove(h->last_error, h->last_error + drop, h->error_length - drop);
      h->error_length -= drop;
    }
    memcpy(h->last_error + h->error_length, bytes, (size_t)count);
    h->error_length += (size_t)count;
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The last line that is not empty. */
static const char *last_error_line(helper *h) {
  size_t length = h->error_length;
  while (length > 0 && (h->last_error[length - 1] == '\n' || h->last_error[length - 1] == ' ')) length--;
  h->last_error[length] = '\0';
  char *line = strrchr(h->last_error, '\n');
  return line != NULL ? line + 1 : h->last_error;
}

typedef enum helper_end { HELPER_ENDED, HELPER_TIMED_OUT, HELPER_DIED, HELPER_UNKNOWN } helper_end;

/* Ends the helper and all it left behind, then collects it. The group goes first: while the helper is uncollected its
 * number cannot be another process's. */
static void finish(helper *h, int *out_status) {
  kill(-h->pid, SIGKILL);
  while (waitpid(h->pid, out_status, 0) < 0 && errno == EINTR) continue;
}

/* Until the verdict, the helper's death (then *out_status is waitpid's) or the deadline. The pipes alone would not do:
 * a child that the plugin left behind may hold them open. */
static helper_end listen_to(helper *h, kw_probe_result *result, int64_t deadline, int *out_status) {
  struct pollfd fds[2] = {{.fd = h->facts, .events = POLLIN}, {.fd = h->errors, .events = POLLIN}};
  for (;;) {
    siginfo_t info = {0};
    bool collected = waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
    bool dead = info.si_pid == h->pid;
    /* Read after the look: what a dead helper had to say is in the pipes by now. */
    if (fds[0].fd >= 0 && !read_facts(h, result)) fds[0].fd = -1;
    if (fds[1].fd >= 0 && !read_errors(h)) fds[1].fd = -1;
    if (collected) return h->ended ? HELPER_ENDED : HELPER_UNKNOWN; /* by the application's own SIGCHLD handling */
    int64_t left = deadline - now_ms();
    if (h->ended || dead || left <= 0) {
      finish(h, out_status);
      return h->ended ? HELPER_ENDED : dead ? HELPER_DIED : HELPER_TIMED_OUT;
    }
    poll(fds, 2, left < SLICE_MS ? (int)left : SLICE_MS);
  }
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static const char *doing(kw_stage reached) {
  switch (reached) {
    case KW_STAGE_FOUND:
      return "while its constructors ran (dlopen)";
    case KW_STAGE_OPENED:
      return "while its query symbol was looked up";
    case KW_STAGE_SYMBOL:
      return "in its query";
    case KW_STAGE_VERSION:
      return "in its probe";
    default:
      return "after its probe";
  }
}

static void explain_death(helper *h, kw_probe_result *result, int wait_status) {
  const char *line = last_error_line(h);
  const char *separator = line[0] != '\0' ? ": " : "";
  if (WIFSIGNALED(wait_status)) {
    const char *name = sigabbrev_np(WTERMSIG(wait_status));
    refuse(result, KW_ERR_INTERNAL, "crashed (SIG%s) %s%s%s", name != NULL ? name : "?", doing(result->reached),
           separator, line);
  } else {
    refuse(result, KW_ERR_INTERNAL, "ended the process with code %d %s%s%s", WEXITSTATUS(wait_status),
           doing(result->reached), separator, line);
  }
}

void kw_probe_run(const char *program, const char *path, kw_probe_result *out_result) {
  memset(out_result, 0, sizeof *out_result);
  out_result->status = KW_ERR_INTERNAL;
  if (access(program, X_OK) != 0) {
    out_result->starved = kw_errno_is_shortage(errno);
    refuse(out_result, KW_ERR_NOT_FOUND,
           "not opened: the helper %s that tries plugins first cannot be run (%s); reinstall Keyway", program,
           strerror(errno));
    return;
  }
  helper h = {.pid = -1};
  int error = start(&h, program, path);
  if (error != 0) {
    out_result->starved = kw_errno_is_shortage(error);
    refuse(out_result, KW_ERR_IO, "not opened: the helper %s did not start (%s)", program, strerror(error));
    return;
  }
  int limit = timeout_ms();
  int wait_status = 0;
  switch (listen_to(&h, out_result, now_ms() + limit, &wait_status)) {
    case HELPER_ENDED:
      if (out_result->status == KW_OK && out_result->reached != KW_STAGE_PROBE) {
        refuse(out_result, KW_ERR_INTERNAL, "its process ended %s", doing(out_result->reached));
      }
      break;
    case HELPER_TIMED_OUT:
      refuse(out_result, KW_ERR_TIMEOUT, "did not answer within %d ms %s; KEYWAY_PROBE_TIMEOUT_MS sets the limit",
             limit, doing(out_result->reached));
      break;
    case HELPER_DIED:
      explain_death(&h, out_result, wait_status);
      break;
    case HELPER_UNKNOWN:
      refuse(out_result, KW_ERR_INTERNAL, "its process ended %s", doing(out_result->reached));
      break;
  }
  close(h.facts);
  close(h.errors);
}
