/* SPDX-License-Identifier: Apache-2.0
 *
 * Worker processes: starting, stopping, and how one ended.
 */
#include "run/process.h"

#include "base/clock.h"
#include "base/host_memory.h"
#include "run/installed.h"
#include "run/stop.h"
#include "run/strays.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define START_LIMIT 120  /* seconds: a driver may compile its kernels at start */
#define STEP_MS 250      /* of the clock while nothing comes */
#define FIRST_FREE_FD 16 /* above those that a worker has */

/* The environment of the number-th worker: a trace goes to a file of its own, and what it starts is known by a mark.
 * NULL when memory ran out. */
static char **make_environment(uint32_t number) {
  static const char name[] = "KEYWAY_TRACE=";
  size_t count = 0, room = 16 + KW_STRAYS_MARK;
  while (environ[count]) count++;
  const char *trace = getenv("KEYWAY_TRACE");
  if (trace) room += sizeof name + strlen(trace) + sizeof ".worker";
  char **copy = malloc((count + 2) * sizeof *copy + room); /* the new entries lie behind the list */
  if (!copy) return NULL;
  char *mark = (char *)(copy + count + 2), *own = mark + KW_STRAYS_MARK;
  for (size_t i = 0; i < count; i++) {
    bool replaced = trace && *trace && strncmp(environ[i], name, sizeof name - 1) == 0;
    copy[i] = replaced ? own : environ[i];
    if (replaced) snprintf(own, room - KW_STRAYS_MARK, "%s%s.worker%" PRIu32, name, trace, number);
  }
  kw_strays_take_in(mark);
  copy[count] = mark;
  copy[count + 1] = NULL;
  return copy;
}

/* The worker's ends of what it shares with its coordinator; but for the socket and the crash file -1 where there is
 * none. */
typedef struct worker_ends {
  int socket, crash, note, said, leash;
} worker_ends;

/* Nothing else is to lie where a worker looks for it. Returns 0 or an errno, as those below. */
static int give(posix_spawn_file_actions_t *actions, int fd, int number) {
  return fd >= 0 ? posix_spawn_file_actions_adddup2(actions, fd, number)
                 : posix_spawn_file_actions_addclose(actions, number);
}

static int give_all(posix_spawn_file_actions_t *actions, const worker_ends *ends) {
  int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!error) error = give(actions, ends->socket, KW_WORKER_SOCKET);
  if (!error) error = give(actions, ends->crash, KW_WORKER_CRASH);
  if (!error) error = give(actions, ends->note, KW_WORKER_NOTE);
  if (!error) error = give(actions, ends->leash, KW_WORKER_LEASH);
  if (!error && ends->said >= 0) error = give(actions, ends->said, STDERR_FILENO);
  return error;
}

static int start_in_group(const char *const *argv, const posix_spawn_file_actions_t *actions, char **environment,
                          pid_t *out_pid) {
  posix_spawnattr_t attributes;
  int error = posix_spawnattr_init(&attributes);
  if (error) return error;
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  error = posix_spawn(out_pid, argv[0], actions, &attributes, (char **)argv, environment);
  posix_spawnattr_destroy(&attributes);
  return error;
}

static bool spawn(const kw_run_options *options, const char *path, const worker_ends *ends, pid_t *out_pid) {
  static atomic_uint started;
  char seed[32];
  snprintf(seed, sizeof seed, "%" PRIu64, options->seed);
  const char *argv[4 + 16] = {path, seed, options->device};
  for (uint32_t i = 0; i < options->plugin_count; i++) argv[3 + i] = options->plugins[i];
  char **environment = make_environment(1 + atomic_fetch_add(&started, 1));
  posix_spawn_file_actions_t actions;
  int error = environment ? posix_spawn_file_actions_init(&actions) : ENOMEM;
  if (!error) {
    error = give_all(&actions, ends);
    if (!error) error = start_in_group(argv, &actions, environment, out_pid);
    posix_spawn_file_actions_destroy(&actions);
  }
  free(environment);
  errno = error;
  return error == 0;
}

/* The same file out of the way of the descriptors that a worker is given. */
static int move_up(int low) {
  int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (low >= 0) close(low);
  return fd;
}

static void close_files(kw_process *process) {
  if (process->crash >= 0) close(process->crash);
  if (process->said >= 0) close(process->said);
  if (process->leash >= 0) close(process->leash);
  process->crash = process->said = process->leash = -1;
}

/* Returns the worker's end of the leash. */
static int make_leash(kw_process *process) {
  int ends[2];
  process->leash = -1;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  process->leash = ends[1];
  return move_up(ends[0]);
}

/* ---- What a worker says on stderr -------------------------------------------------------------------------------- */

/* A file rather than a pipe: nobody has to read it for the worker to go on, and its end is there when the worker died.
 * -1: it says it on our own stderr. */
static int make_said(void) {
  const int fd = move_up(memfd_create("stderr", MFD_CLOEXEC));
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

/* Says what it has said since, and gives the memory of what is long past back. */
static void pass_on(kw_process *process) {
  enum { KEPT = 1 << 16, GIVEN_BACK = 1 << 20 };
  char bytes[4096];
  ssize_t length;
  while (process->said >= 0 && (length = pread(process->said, bytes, sizeof bytes, process->passed_on)) > 0) {
    const off_t before = process->passed_on;
    if (fwrite(bytes, 1, (size_t)length, stderr) != (size_t)length) return;
    process->passed_on += length;
    if (before / GIVEN_BACK == process->passed_on / GIVEN_BACK || before < KEPT) continue;
    fallocate(process->said, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, before - KEPT);
  }
}

/* Sanitizers begin lines with the number of their process, another one in each run: a report does without. */
static void leave_number_out(char *line, pid_t pid) {
  char number[32];
  const int length = snprintf(number, sizeof number, "==%ld==", (long)pid);
  if (strncmp(line, number, (size_t)length) == 0) memmove(line, line + length, strlen(line + length) + 1);
}

/* The last lines of what it said about the case that it died in, but those of the test's frame. */
static void last_lines(const kw_process *process, pid_t pid, unsigned long long since, char *out, size_t size) {
  enum { LINES = 3 };
  char bytes[1024], *lines[LINES] = {NULL};
  const off_t from = process->passed_on - (off_t)sizeof bytes + 1;
  const off_t begin = from > (off_t)since ? from : (off_t)since;
  const ssize_t length = process->said < 0 ? 0 : pread(process->said, bytes, sizeof bytes - 1, begin);
  bytes[length > 0 ? length : 0] = 0;
  uint32_t count = 0;
  char *rest = NULL;
  for (char *line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (*line == '[') continue;
    leave_number_out(line, pid);
    lines[count++ % LINES] = line;
  }
  size_t used = 0;
  out[0] = 0;
  for (uint32_t i = count > LINES ? count - LINES : 0; i < count && used < size; i++) {
    used += (size_t)snprintf(out + used, size - used, "%s%s",
                             used ? " | " : "; the last lines of stderr: ", lines[i % LINES]);
  }
}

/* Once in a run is enough. */
static void say_blind(void) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&said)) return;
  fprintf(stderr,
          "keyway conform: /proc/PID/task/TID/schedstat does not tell how long threads wait for a processor: time "
          "limits are wall time, and a loaded machine may reach them; --timeout-scale gives more time\n");
}

kw_read kw_process_receive(kw_process *process, double limit, double build_limit, kw_frame *out_type,
                           kw_message *message) {
  kw_frame_part part = {.length = 0};
  kw_read read = kw_frame_receive_more(&part, process->fd, process->life, STEP_MS, out_type, message);
  pass_on(process);
  if (read != KW_READ_TIMEOUT) return read;
  kw_wait wait;
  kw_wait_begin(&wait, NULL, process->pid, process->note, limit, build_limit, kw_clock_seconds() - STEP_MS / 1000.0);
  while (read == KW_READ_TIMEOUT && !kw_stop_signal() && kw_wait_goes_on(&wait, kw_clock_seconds())) {
    if (wait.clock.blind) say_blind();
    read = kw_frame_receive_more(&part, process->fd, process->life, STEP_MS, out_type, message);
    pass_on(process);
  }
  if (read == KW_READ_TIMEOUT) process->wait_end = kw_wait_describe(&wait, kw_clock_seconds());
  kw_wait_free(&wait);
  return read == KW_READ_TIMEOUT && kw_stop_signal() ? KW_READ_STOPPED : read;
}

static bool read_hello(kw_process *process, const kw_run_options *options, kw_device_facts *facts, char *text,
                       size_t size) {
  kw_message message = {0};
  kw_frame type = 0;
  double limit = START_LIMIT * options->timeout_scale;
  kw_read result = kw_process_receive(process, limit, limit, &type, &message);
  bool read = result == KW_READ_OK && type == KW_FRAME_HELLO && kw_device_facts_read(&message, facts);
  kw_message_free(&message);
  if (read && facts->status == KW_OK) return true;
  if (read) {
    snprintf(text, size, "%s", facts->text);
    kw_process_stop(process);
  } else if (result == KW_READ_STOPPED) {
    kw_process_kill(process);
  } else if (result == KW_READ_TIMEOUT) {
    snprintf(text, size,
             "the worker did not get as far as opening the device in %.0f s; --timeout-scale gives more time", limit);
    kw_process_kill(process);
  } else {
    char end[1200];
    kw_process_describe_end(process, end, sizeof end);
    snprintf(text, size, "the worker ended with %s while it opened the device; `keyway doctor` may tell more", end);
  }
  return false;
}

bool kw_process_start(const kw_run_options *options, kw_process *out_process, kw_device_facts *out_facts,
                      char *out_text, size_t size) {
  memset(out_facts, 0, sizeof *out_facts);
  out_process->unborn = true;
  char path[PATH_MAX];
  if (!kw_installed_find("keyway-worker", X_OK, path, sizeof path)) {
    snprintf(out_text, size, "keyway-worker is missing: it belongs in lib/keyway beside this program's folder");
    return false;
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    snprintf(out_text, size, "no socket for a worker: %s", strerror(errno));
    return false;
  }
  worker_ends ends = {.socket = pair[1]};
  out_process->said = make_said();
  out_process->passed_on = 0;
  out_process->crash = move_up(memfd_create("crash", MFD_CLOEXEC));
  out_process->note = kw_worker_note_make(&ends.note);
  out_process->kills = kw_host_memory_kills();
  ends.note = move_up(ends.note);
  ends.leash = make_leash(out_process);
  ends.crash = out_process->crash;
  ends.said = out_process->said;
  out_process->unborn = ends.crash < 0 || !spawn(options, path, &ends, &out_process->pid);
  if (out_process->unborn) snprintf(out_text, size, "starting %s failed: %s", path, strerror(errno));
  close(pair[1]);
  if (ends.note >= 0) close(ends.note);
  if (ends.leash >= 0) close(ends.leash);
  if (out_process->unborn) {
    close(pair[0]);
    close_files(out_process);
    kw_worker_note_unmap(out_process->note);
    out_process->note = NULL;
    out_process->pid = 0;
    return false;
  }
  out_process->fd = pair[0];
  out_process->life = pidfd_open(out_process->pid, 0);
  return read_hello(out_process, options, out_facts, out_text, size);
}

/* The worker, also where it has left its group, and every process that a plugin has started from it. */
static void kill_all(const kw_process *process) {
  kill(process->pid, SIGKILL);
  kill(-process->pid, SIGKILL);
}

/* Waits for the process, at most two seconds before it is killed; nothing that it started outlives it. */
static int reap(kw_process *process) {
  bool ended = false;
  siginfo_t info = {0};
  for (int i = 0; i < 200 && !ended; i++) {
    struct timespec pause = {0, 10000000};
    ended = waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process->pid;
    if (!ended) nanosleep(&pause, NULL);
  }
  process->killed = ended && info.si_code == CLD_KILLED && info.si_status == SIGKILL;
  kill_all(process); /* its id is not free for others before it is waited for */
  int status = 0;
  waitpid(process->pid, &status, 0);
  return status;
}

static int close_and_reap(kw_process *process) {
  close(process->fd);
  if (process->life >= 0) close(process->life);
  kw_worker_note_unmap(process->note);
  process->note = NULL;
  int status = reap(process);
  pass_on(process);
  process->pid = 0;
  return status;
}

void kw_process_describe_end(kw_process *process, char *out_text, size_t size) {
  const unsigned long long since = kw_worker_note_said(process->note);
  const pid_t pid = process->pid;
  char lines[400];
  int status = close_and_reap(process);
  last_lines(process, pid, since, lines, sizeof lines);
  if (WIFSIGNALED(status)) {
    const char *name = sigabbrev_np(WTERMSIG(status));
    char frames[1024];
    ssize_t length = pread(process->crash, frames, sizeof frames - 1, 0);
    frames[length > 0 ? length : 0] = 0;
    snprintf(out_text, size, "signal %d (SIG%s)%s%s%s", WTERMSIG(status), name ? name : "?", length > 0 ? " in " : "",
             frames, lines);
  } else {
    snprintf(out_text, size, "exit code %d%s", WEXITSTATUS(status), lines);
  }
  close_files(process);
}

void kw_process_stop(kw_process *process) {
  if (process->pid == 0) return;
  close_and_reap(process);
  close_files(process);
}

void kw_process_kill(kw_process *process) {
  if (process->pid == 0) return;
  kill_all(process);
  kw_process_stop(process);
}

bool kw_process_ask(const kw_run_options *options, kw_device_facts *out_facts, char *out_text, size_t size) {
  kw_process process = {0};
  if (!kw_process_start(options, &process, out_facts, out_text, size)) return false;
  kw_process_stop(&process);
  kw_strays_end();
  return true;
}
