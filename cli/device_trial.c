/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial's two sides: the process that does what it says it does, and the one that listens.
 *
 * The first writes a line for each step, "next opening it", before it takes it, "remark TEXT" and "failed TEXT", and
 * "end, and it works" or "does not work" when nothing follows but its exit.
 */
#include "device_trial.h"

#include "args.h"
#include "number.h"

#include <errno.h>
#include <fcntl.h>
#include <keyway/keyway.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_LIMIT_MS = 10000, SLICE_MS = 20, STEP_LIMIT = 32, WORK_LIMIT = 6, ARGUMENT_LIMIT = 64 };

extern char **environ;

/* ---- The process that tries -------------------------------------------------------------------------------------- */

static void next(const char *step) {
  printf("next %s\n", step);
  fflush(stdout);
}

/* Adds 1 and 2 on the device, where it has a kernel for that. */
static kw_status compute(kw_tensor *x, kw_tensor *y) {
  kw_tensor *sum = NULL;
  float result = 0;
  next("in the launch of a kernel");
  const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  kw_status status = kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1);
  if (status == KW_ERR_NOT_IMPLEMENTED) {
    printf("remark it has no kernel for add.Tensor: nothing was computed\n");
    return KW_OK;
  }
  next("in a copy from the device");
  if (status == KW_OK) status = kw_tensor_read(sum, &result);
  if (status == KW_OK && result != 3) {
    printf("failed 1 + 2 is %g on it\n", (double)result);
    status = KW_ERR_INTERNAL;
  } else if (status != KW_OK) {
    printf("failed %s\n", kw_error_message());
  }
  if (sum != NULL) kw_tensor_release(sum);
  return status;
}

static kw_status copy_and_compute(kw_device *device) {
  kw_tensor *x = NULL, *y = NULL;
  next("while it allocated memory");
  kw_status status = kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &x);
  if (status == KW_OK) status = kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &y);
  next("in a copy to the device");
  if (status == KW_OK) status = kw_tensor_write(x, (const float[]){1});
  if (status == KW_OK) status = kw_tensor_write(y, (const float[]){2});
  if (status == KW_OK) {
    status = compute(x, y);
  } else {
    printf("failed %s\n", kw_error_message());
  }
  if (x != NULL) kw_tensor_release(x);
  if (y != NULL) kw_tensor_release(y);
  return status;
}

/* A crash is a crash, whatever handlers a sanitizer installed; no core file of it; no life after the listener's. */
static void prepare_process(void) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  const struct rlimit no_core = {0, 0};
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) signal(crashes[i], SIG_DFL);
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int kw_device_trial_run_here(const char *name) {
  kw_device *device = NULL;
  prepare_process();
  next("while it was opened");
  kw_status status = kw_device_open(name, &device);
  if (status != KW_OK) {
    printf("failed %s\n", kw_error_message());
  } else {
    status = copy_and_compute(device);
    next("while it was closed");
    const kw_status closed = kw_device_close(device);
    if (status == KW_OK && closed != KW_OK) printf("failed %s\n", kw_error_message());
    if (status == KW_OK) status = closed;
  }
  next("while the process ended");
  printf("end, and it %s\n", status == KW_OK ? "works" : "does not work");
  fflush(stdout);
  return status == KW_OK ? KW_CLI_OK : KW_CLI_FAILED;
}

/* ---- The one that listens ---------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t limit_ms(void) {
  const char *text = getenv("KEYWAY_PROBE_TIMEOUT_MS");
  uint64_t limit = DEFAULT_LIMIT_MS;
  if (text != NULL) kw_cli_parse_u64(text, 1, 3600 * 1000, &limit);
  return (int64_t)limit;
}

/* Its own group, so that it is ended with all its children. */
static bool start(kw_device_trial *trial, const char *const *plugins) {
  const char *arguments[ARGUMENT_LIMIT] = {"keyway", "doctor", "--device", trial->name};
  int count = 4, ends[2];
  for (uint32_t i = 0; plugins[i] != NULL && count < ARGUMENT_LIMIT - 2; i++) {
    arguments[count++] = "--plugin";
    arguments[count++] = plugins[i];
  }
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error =
      posix_spawn(&trial->pid, "/proc/self/exe", &actions, &attributes, (char *const *)arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  trial->out = ends[0];
  if (error == 0) return true;
  close(ends[0]);
  trial->pid = 0;
  return false;
}

/* The last line that begins so, without that; NULL where there is none. Its end is cut off in `said`. */
static const char *last_line(char *said, const char *word) {
  const size_t length = strlen(word);
  const char *found = NULL;
  for (char *line = said; line != NULL && *line != '\0';) {
    char *end = strchr(line, '\n');
    if (strncmp(line, word, length) == 0) found = line + length;
    if (end == NULL) break;
    line = end + 1;
  }
  return found;
}

static void copy_line(char *to, size_t size, const char *line) {
  snprintf(to, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* What a trial whose process has ended comes to. */
static void judge(kw_device_trial *trial, int wait_status, bool late, int64_t limit) {
  char step[128] = "";
  const char *at = last_line(trial->said, "next "), *failed = last_line(trial->said, "failed ");
  const char *remark = last_line(trial->said, "remark ");
  if (at != NULL) copy_line(step, sizeof step, at);
  if (late) {
    snprintf(trial->text, sizeof trial->text, "did not come further for %lld ms %s", (long long)limit, step);
  } else if (WIFSIGNALED(wait_status)) {
    const char *name = sigabbrev_np(WTERMSIG(wait_status));
    snprintf(trial->text, sizeof trial->text, "crashed (SIG%s) %s", name != NULL ? name : "?", step);
  } else if (failed != NULL) {
    copy_line(trial->text, sizeof trial->text, failed);
  } else if (WEXITSTATUS(wait_status) != KW_CLI_OK || last_line(trial->said, "end") == NULL) {
    snprintf(trial->text, sizeof trial->text, "ended the process with code %d %s", WEXITSTATUS(wait_status), step);
  } else {
    trial->passed = true;
    if (remark != NULL) copy_line(trial->text, sizeof trial->text, remark);
  }
}

/* Whether the process has come a step further. */
static bool listen_to(kw_device_trial *trial) {
  const uint32_t room = sizeof trial->said - 1 - trial->said_length;
  if (room == 0 || trial->out < 0) return false;
  const ssize_t count = read(trial->out, trial->said + trial->said_length, room);
  if (count <= 0) return false;
  trial->said_length += (uint32_t)count;
  return ++trial->steps < STEP_LIMIT;
}

/* Whether the process has used a CPU since it was last asked: what computes or compiles is at work. But not for ever:
 * at most WORK_LIMIT times as long as one that stands still may. */
static bool is_at_work(kw_device_trial *trial, int64_t limit) {
  struct timespec used;
  clockid_t clock;
  if (clock_getcpuclockid(trial->pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return false;
  const int64_t ms = (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
  const bool more = ms > trial->cpu_ms;
  trial->cpu_ms = ms;
  return more && ms < WORK_LIMIT * limit;
}

/* Takes in what it says; collects it when it is dead or late. Whether there was news. */
static bool look_after(kw_device_trial *trial, bool late, int64_t limit) {
  siginfo_t info = {0};
  const bool dead = waitid(P_PID, (id_t)trial->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  const bool news = listen_to(trial) || is_at_work(trial, limit);
  if (!dead && !late) return news;
  while (listen_to(trial)) continue;
  int wait_status = 0;
  kill(-trial->pid, SIGKILL);
  while (waitpid(trial->pid, &wait_status, 0) < 0 && errno == EINTR) continue;
  judge(trial, wait_status, !dead, limit);
  close(trial->out);
  trial->pid = 0;
  return true;
}

static void wait_for_news(const kw_device_trial *trials, uint32_t count) {
  struct pollfd *fds = calloc(count, sizeof *fds);
  for (uint32_t i = 0; fds != NULL && i < count; i++)
    fds[i] = (struct pollfd){.fd = trials[i].pid != 0 ? trials[i].out : -1, .events = POLLIN};
  poll(fds, fds != NULL ? count : 0, SLICE_MS);
  free(fds);
}

void kw_device_trials_run(kw_device_trial *trials, uint32_t count, const char *const *plugins) {
  const int64_t limit = limit_ms();
  uint32_t running = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (trials[i].text[0] != '\0') continue;
    if (start(&trials[i], plugins)) {
      fcntl(trials[i].out, F_SETFL, O_NONBLOCK);
      running++;
    } else {
      snprintf(trials[i].text, sizeof trials[i].text, "no process could be started for it: %s", strerror(errno));
    }
  }
  int64_t deadline = now_ms() + limit;
  while (running > 0) {
    bool news = false;
    const bool late = now_ms() > deadline;
    for (uint32_t i = 0; i < count; i++) {
      if (trials[i].pid == 0) continue;
      news = look_after(&trials[i], late, limit) || news;
      running -= trials[i].pid == 0;
    }
    if (news) deadline = now_ms() + limit;
    if (!news) wait_for_news(trials, count);
  }
}
