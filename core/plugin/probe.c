/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's side of keyway-probe: starting helpers, listening to them, and saying how each ended.
 */
#include "plugin/probe.h"

#include "base/array.h"
#include "base/cpu_wait.h"
#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "plugin/option.h"

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
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS 10000
#define SLICE_MS 20 /* how often a helper that left its pipe open is looked after */

extern char **environ;

#define TOGETHER 32 /* helpers at a time */
#define LINE_LIMIT (8u << 20)
#define STEP_LIMIT 32u /* more than a helper takes: who goes on telling of new ones gets no more time for them */

typedef struct helper {
  kw_probe *probe; /* NULL: none runs here */
  pid_t pid;
  int facts;  /* what it writes to KW_PROBE_FD; -1 when that has ended */
  int errors; /* its stderr; -1 as well */
  char *line; /* as far as it has come */
  uint32_t line_length;
  char doing[64];
  unsigned steps;       /* that it has told of */
  uint64_t waited;      /* for a CPU: base/cpu_wait.h */
  char last_error[512]; /* the tail of stderr */
  size_t error_length;
  bool ended;   /* the "end" line came */
  bool lost;    /* the last facts could not be read ... */
  bool starved; /* ... or a line not be kept, for want of memory */
} helper;

/* All of a call. */
typedef struct crowd {
  const char *program;
  char **environment; /* of the helpers */
  int limit;          /* milliseconds */
  int64_t deadline;
  helper helpers[TOGETHER];
} crowd;

static int64_t now_ms(void) {
  return (int64_t)(kw_trace_now() / 1000000);
}

static int timeout_ms(void) {
  const char *text = secure_getenv("KEYWAY_PROBE_TIMEOUT_MS");
  if (text == NULL || text[0] == '\0') return DEFAULT_TIMEOUT_MS;
  char *end;
  long value = strtol(text, &end, 10);
  if (end != text && *end == '\0' && value > 0 && value <= 3600 * 1000) return (int)value;
  kw_log_misset("KEYWAY_PROBE_TIMEOUT_MS", text, "what it is by default", "a number of milliseconds from 1 to 3600000");
  return DEFAULT_TIMEOUT_MS;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* The helper gets its own process group (so that a hang is ended with all its children), default signals, and no
 * descriptors but 0 to 3. Returns 0 or an errno. */
static int spawn_helper(const crowd *c, const char *path, int facts_end, int errors_end, pid_t *out_pid) {
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
  if (error == 0) error = posix_spawn(out_pid, c->program, &actions, &attributes, arguments, c->environment);
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

static int start(const crowd *c, helper *h, kw_probe *probe) {
  int facts[2], errors[2];
  *h = (helper){.doing = "before it was opened"};
  int error = open_pipe(facts);
  if (error != 0) return error;
  error = open_pipe(errors);
  if (error != 0) {
    close(facts[0]);
    close(facts[1]);
    return error;
  }
  error = spawn_helper(c, probe->path, facts[1], errors[1], &h->pid);
  close(facts[1]);
  close(errors[1]);
  if (error != 0) {
    close(facts[0]);
    close(errors[0]);
    return error;
  }
  h->probe = probe;
  h->facts = facts[0];
  h->errors = errors[0];
  fcntl(h->facts, F_SETFL, O_NONBLOCK);
  fcntl(h->errors, F_SETFL, O_NONBLOCK);
  return 0;
}

/* This process's environment, and what is the helper's own. NULL when memory is out. */
static char **make_environment(void) {
  const kw_options *options = kw_options_given_at_start();
  uint32_t count = 0, used = 0;
  while (environ != NULL && environ[count] != NULL) count++;
  char **made = calloc((size_t)count + options->count + 2, sizeof *made);
  if (made == NULL) return NULL;
  for (uint32_t i = 0; i < count; i++)
    if (strncmp(environ[i], KW_PROBE_VARIABLE, strlen(KW_PROBE_VARIABLE)) != 0) made[used++] = environ[i];
  made[used++] = (char *)KW_PROBE_VARIABLE "=1";
  for (uint32_t i = 0; i < options->count; i++) {
    const kw_option *option = &options->items[i];
    if (asprintf(&made[used], KW_PROBE_OPTION_VARIABLE "%u=%s=%s", i, option->key, option->value) > 0) {
      used++;
      continue;
    }
    made[used] = NULL;
    while (i-- > 0) free(made[--used]);
    free(made);
    return NULL;
  }
  return made;
}

static void free_environment(char **environment) {
  const uint32_t options = kw_options_given_at_start()->count;
  uint32_t count = 0;
  while (environment[count] != NULL) count++;
  for (uint32_t i = 0; i < options; i++) free(environment[count - 1 - i]);
  free(environment);
}

/* ---- Listening --------------------------------------------------------------------------------------------------- */

static void take_line(helper *h) {
  static const char facts[] = "facts ", doing[] = "doing ";
  if (strncmp(h->line, facts, strlen(facts)) == 0) {
    errno = 0;
    kw_plugin_facts *read = kw_facts_read(h->line + strlen(facts), h->line_length - strlen(facts));
    h->lost = read == NULL;
    h->starved = h->starved || (read == NULL && errno == ENOMEM);
    if (read == NULL) return;
    kw_facts_free(h->probe->facts);
    h->probe->facts = read;
  } else if (strncmp(h->line, doing, strlen(doing)) == 0) {
    kw_utf8_mend(h->doing, sizeof h->doing, h->line + strlen(doing));
    h->steps++;
  } else if (strcmp(h->line, "end") == 0) {
    h->ended = true;
  }
}

/* A line that is too long is cut, and then no facts. */
static void take_byte(helper *h, char byte) {
  if (h->line_length == LINE_LIMIT && byte != '\n') {
    h->lost = true;
    return;
  }
  char *grown = kw_array_grow(h->line, h->line_length, 1);
  h->starved = h->starved || grown == NULL;
  if (grown == NULL) return;
  h->line = grown;
  h->line[h->line_length++] = byte == '\n' ? '\0' : byte;
  if (byte != '\n') return;
  h->line_length--;
  take_line(h);
  h->line_length = 0;
}

/* read, however often a signal comes: what a helper said before it died is read now or never. */
static ssize_t read_some(int pipe, char *bytes, size_t size) {
  ssize_t count;
  do {
    count = read(pipe, bytes, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

/* Closes a pipe that has come to its end, so that poll asks it no more. */
static void leave_ended(int *pipe, ssize_t last_count) {
  if (last_count < 0 && errno == EAGAIN) return;
  close(*pipe);
  *pipe = -1;
}

/* Whether the helper has come a step further. */
static bool read_facts(helper *h) {
  char bytes[4096];
  ssize_t count = 0;
  const unsigned before = h->steps;
  if (h->facts < 0) return false;
  for (unsigned n = 0; n < 64 && (count = read_some(h->facts, bytes, sizeof bytes)) > 0; n++)
    for (ssize_t i = 0; i < count && !h->ended; i++) take_byte(h, bytes[i]);
  if (count <= 0) leave_ended(&h->facts, count);
  return h->steps > before && h->steps <= STEP_LIMIT;
}

/* Keeps the tail. */
static void read_errors(helper *h) {
  char bytes[sizeof h->last_error / 2];
  ssize_t count = 0;
  if (h->errors < 0) return;
  for (unsigned n = 0; n < 64 && (count = read_some(h->errors, bytes, sizeof bytes)) > 0; n++) {
    size_t room = sizeof h->last_error - 1 - h->error_length;
    if (room < (size_t)count) {
      size_t drop = (size_t)count - room;
      memmove(h->last_error, h->last_error + drop, h->error_length - drop);
      h->error_length -= drop;
    }
    memcpy(h->last_error + h->error_length, bytes, (size_t)count);
    h->error_length += (size_t)count;
  }
  if (count <= 0) leave_ended(&h->errors, count);
}

/* The last line that is not empty. */
static const char *last_error_line(helper *h) {
  size_t length = h->error_length;
  while (length > 0 && (h->last_error[length - 1] == '\n' || h->last_error[length - 1] == ' ')) length--;
  h->last_error[length] = '\0';
  char *line = strrchr(h->last_error, '\n');
  return line != NULL ? line + 1 : h->last_error;
}

/* Ends the helper and all it left behind, then collects it. The group goes first: while the helper is uncollected its
 * number cannot be another process's. */
static void finish(helper *h, int *out_status) {
  kill(-h->pid, SIGKILL);
  while (waitpid(h->pid, out_status, 0) < 0 && errno == EINTR) continue;
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static void refuse(kw_probe *probe, kw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void refuse(kw_probe *probe, kw_status status, const char *format, ...) {
  char text[1024], reason[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  kw_utf8_mend(reason, sizeof reason, text);
  for (char *c = reason; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
  if (probe->facts == NULL) probe->facts = kw_facts_of_stage(KW_STAGE_FOUND);
  if (probe->facts == NULL || kw_facts_refuse(probe->facts, status, reason)) return;
  kw_facts_free(probe->facts);
  probe->facts = NULL;
}

static void explain_death(helper *h, int wait_status) {
  const char *line = last_error_line(h);
  const char *separator = line[0] != '\0' ? ": " : "";
  if (WIFSIGNALED(wait_status)) {
    const char *name = sigabbrev_np(WTERMSIG(wait_status));
    refuse(h->probe, KW_ERR_INTERNAL, "crashed (SIG%s) %s%s%s", name != NULL ? name : "?", h->doing, separator, line);
  } else {
    refuse(h->probe, KW_ERR_INTERNAL, "ended the process with code %d %s%s%s", WEXITSTATUS(wait_status), h->doing,
           separator, line);
  }
}

static void release(helper *h) {
  if (h->facts >= 0) close(h->facts);
  if (h->errors >= 0) close(h->errors);
  free(h->line);
  *h = (helper){0};
}

/* Looks after one helper: takes in what it says, and collects it when it has ended, is dead or out of time. The pipes
 * alone would not do: a child that the plugin left behind may hold them open. Whether there was news. */
static bool look_after(const crowd *c, helper *h, bool late) {
  siginfo_t info = {0};
  const bool collected = waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
  const bool dead = info.si_pid == h->pid;
  /* Read after the look: what a dead helper had to say is in the pipes by now. */
  const bool news = read_facts(h);
  read_errors(h);
  if (!collected && !h->ended && !dead && !late) return news;
  int wait_status = 0;
  if (!collected) finish(h, &wait_status);
  if (h->starved) {
    kw_facts_free(h->probe->facts);
    h->probe->facts = NULL;
  } else if (h->ended && h->lost) {
    refuse(h->probe, KW_ERR_INTERNAL, "its process said what cannot be understood %s", h->doing);
  } else if (h->ended && h->probe->facts != NULL) {
    /* the facts say it all */
  } else if (collected || h->ended) { /* collected by the application's own handling of SIGCHLD */
    refuse(h->probe, KW_ERR_INTERNAL, "its process ended %s", h->doing);
  } else if (dead) {
    explain_death(h, wait_status);
  } else {
    refuse(h->probe, KW_ERR_TIMEOUT, "did not answer within %d ms %s; KEYWAY_PROBE_TIMEOUT_MS sets the limit", c->limit,
           h->doing);
  }
  release(h);
  return true;
}

/* Whether time is up, but for what the helpers had to wait for a CPU: that is added to the deadline. */
static bool is_late(crowd *c) {
  if (c->deadline > now_ms()) return false;
  uint64_t longest = 0;
  for (uint32_t i = 0; i < TOGETHER; i++) {
    helper *h = &c->helpers[i];
    const uint64_t its = h->probe != NULL ? kw_cpu_wait_since(h->pid, &h->waited) : 0;
    if (its > longest) longest = its;
  }
  c->deadline += (int64_t)(longest / 1000000);
  return c->deadline <= now_ms();
}

/* Waits until one of them has something to say, or for a slice of time. */
static void wait_for_news(const crowd *c) {
  struct pollfd fds[2 * TOGETHER];
  nfds_t count = 0;
  for (uint32_t i = 0; i < TOGETHER; i++) {
    if (c->helpers[i].probe == NULL) continue;
    fds[count++] = (struct pollfd){.fd = c->helpers[i].facts, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = c->helpers[i].errors, .events = POLLIN};
  }
  poll(fds, count, SLICE_MS);
}

/* Starts the next helper in a free place. Nothing is started for want of something: starved, and so are all behind. */
static bool start_next(crowd *c, helper *h, kw_probe *probe) {
  const int error = start(c, h, probe);
  if (error == 0) return true;
  h->probe = NULL;
  if (kw_errno_is_shortage(error)) {
    probe->starved = true;
    snprintf(probe->reason, sizeof probe->reason, "not opened: the helper did not start (%s)", strerror(error));
  } else {
    refuse(probe, KW_ERR_IO, "not opened: the helper %s did not start (%s)", c->program, strerror(error));
  }
  return false;
}

static void run_all(crowd *c, kw_probe *probes, uint32_t count) {
  uint32_t next = 0, running = 0;
  c->deadline = now_ms() + c->limit;
  while (running > 0 || next < count) {
    bool news = false;
    const bool late = is_late(c);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      helper *h = &c->helpers[i];
      if (h->probe == NULL && next < count) {
        running += start_next(c, h, &probes[next]);
        next++;
        news = true;
      } else if (h->probe != NULL) {
        news = look_after(c, h, late) || news;
        running -= h->probe == NULL;
      }
    }
    if (news) {
      c->deadline = now_ms() + c->limit;
    } else {
      wait_for_news(c);
    }
  }
}

void kw_probe_run(const char *program, kw_probe *probes, uint32_t count) {
  crowd c = {.program = program, .limit = timeout_ms()};
  const int error = access(program, X_OK) != 0 ? errno : 0;
  if (error == 0) c.environment = make_environment();
  if (c.environment != NULL) {
    run_all(&c, probes, count);
    free_environment(c.environment);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    probes[i].starved = error == 0 || kw_errno_is_shortage(error);
    snprintf(probes[i].reason, sizeof probes[i].reason, "not opened: no memory for its helper");
    if (probes[i].starved) continue;
    refuse(&probes[i], KW_ERR_NOT_FOUND,
           "not opened: the helper %s that tries plugins first cannot be run (%s); reinstall Keyway", program,
           strerror(error));
  }
}
