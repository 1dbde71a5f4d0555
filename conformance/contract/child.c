/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests in a process of their own: how one is started, and what is said about its end.
 */
#include "child.h"

#include "base/worker_note.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void describe_end(int status, char *text, size_t size) {
  if (WIFSIGNALED(status)) {
    snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    snprintf(text, size, "ended with exit code %d", WEXITSTATUS(status));
  }
}

/* Tests pass on what begins with KEYWAY_. The others are of libraries beneath a driver, which set them for themselves
 * when they are loaded; a plugin has no say in that. */
static bool is_passed_on(const char *variable) {
  static const char *const beginnings[] = {"KEYWAY_", "HWLOC_"};
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
    if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0) return true;
  }
  return false;
}

/* Whether this process was started with the variable: what the plugin has set here since is not handed on, so that a
 * scenario sees it set. */
static bool was_given(const char *variable) {
  FILE *given = fopen("/proc/self/environ", "re");
  char *entry = NULL;
  size_t room = 0;
  bool found = !given || is_passed_on(variable);
  while (!found && getdelim(&entry, &room, 0, given) > 0) found = strcmp(entry, variable) == 0;
  free(entry);
  if (given) fclose(given);
  return found;
}

/* environ, and in it that ThreadSanitizer shall not report threads that run when a process ends: scenarios leave some
 * on purpose. The caller frees the array; the text is static. */
static char **child_environment(void) {
  static char options[512];
  const char *before = getenv("TSAN_OPTIONS");
  snprintf(options, sizeof options, "TSAN_OPTIONS=%s:report_thread_leaks=0", before ? before : "");
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **copy = calloc(count + 2, sizeof *copy);
  if (!copy) KW_FAIL("out of host memory");
  for (size_t i = 0; i < count; i++) {
    if (strncmp(environ[i], "TSAN_OPTIONS=", 13) != 0 && was_given(environ[i])) copy[kept++] = environ[i];
  }
  copy[kept] = options;
  return copy;
}

/* No signal is blocked or ignored, whatever the plugin has done to this process: a scenario sees it done. */
static void begin_as_usual(posix_spawnattr_t *out_attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(out_attributes);
  posix_spawnattr_setsigmask(out_attributes, &none);
  posix_spawnattr_setsigdefault(out_attributes, &all);
  posix_spawnattr_setflags(out_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

void kw_child_command_make(const char *scenario, pid_t parent, kw_child_command *out_command) {
  kw_child_command *c = out_command;
  snprintf(c->seed, sizeof c->seed, "%" PRIu64, kw_contract.seed);
  snprintf(c->patience, sizeof c->patience, "%g", kw_contract.patience);
  snprintf(c->effort, sizeof c->effort, "%d", (int)kw_contract.effort);
  snprintf(c->parent, sizeof c->parent, "%ld", (long)parent);
  const char *argv[] = {"keyway-worker",         "child",     scenario,  c->seed,   kw_contract.device_name,
                        kw_contract.plugin_path, c->patience, c->effort, c->parent, NULL};
  memcpy(c->argv, argv, sizeof argv);
}

/* What it wrote is in `output`. */
static void run_child(const char *scenario, char *output, size_t size) {
  if (!*kw_contract.plugin_path) kw_test_skip("the file of this device's plugin is not known");
  char end[96];
  kw_child_command command;
  kw_child_command_make(scenario, getpid(), &command);
  int caught = memfd_create("child", MFD_CLOEXEC);
  KW_NEED(caught >= 0, "descriptors");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, caught, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, caught, STDERR_FILENO);
  posix_spawnattr_t as_usual;
  begin_as_usual(&as_usual);
  char **environment = child_environment();
  pid_t pid;
  int error = posix_spawn(&pid, "/proc/self/exe", &actions, &as_usual, (char **)command.argv, environment), status = 0;
  free(environment);
  posix_spawnattr_destroy(&as_usual);
  posix_spawn_file_actions_destroy(&actions);
  KW_NEED(error == 0, "processes");
  char waits[96];
  snprintf(waits, sizeof waits, "the end of a process of its own, scenario %s", scenario);
  kw_worker_note_set(KW_WORKER_CALLS, waits); /* it may compile */
  pid_t ended;
  while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) continue;
  KW_CHECK(ended == pid, "a process of this test cannot be waited for");
  ssize_t length = pread(caught, output, size - 1, 0);
  output[length > 0 ? length : 0] = 0;
  close(caught);
  if (WIFEXITED(status) && WEXITSTATUS(status) == KW_CHILD_SKIPS) kw_test_skip("%s", output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == KW_CHILD_NOT_TRIED) kw_contract_not_tried("%s", output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == KW_CHILD_WAITED) kw_contract_time_out(output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && *output) KW_FAIL("%s", output);
  describe_end(status, end, sizeof end);
  KW_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process that did this and nothing else %s%s%s", end,
           *output ? ": " : "", output);
}

void kw_test_child(const char *scenario) {
  char output[1024];
  run_child(scenario, output, sizeof output);
}

void kw_test_quiet_child(const char *scenario) {
  char output[1024];
  run_child(scenario, output, sizeof output);
  KW_CHECK(
      !*output,
      "a process that loaded the plugin, used it and shut it down has on stdout or stderr: \"%.200s\". Nothing else "
      "writes there; use host->log",
      output);
}

static void load_plugin(uint64_t flags) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | flags};
  KW_CHECK_OK(kw_init(&options));
  KW_CHECK_OK(kw_plugin_load(kw_contract.plugin_path));
}

void kw_child_load_plugin(void) {
  load_plugin(0);
}

void kw_child_open_device(void) {
  kw_child_open_device_with(0);
}

void kw_child_open_device_with(uint64_t flags) {
  load_plugin(flags);
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
}
