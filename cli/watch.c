/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits on three descriptors at once: the folders of the plugins (inotify), the run (a pidfd), and signals.
 */
#include "watch.h"

#include "file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 16 };

typedef struct watch {
  const kw_cli_command *command;
  char **arguments; /* of the program, without --watch; NULL-terminated */
  uint32_t file_count;
  const char *names[FILES]; /* of the files, without their folders */
  int folders[FILES];       /* inotify's */
  int changes, signals;     /* descriptors */
  pid_t run;                /* 0: none */
  int run_ends;             /* -1: none */
} watch;

extern char **environ;

/* ---- What is watched --------------------------------------------------------------------------------------------- */

/* A linker may write the file in place, or move a new one there: its folder tells of both. */
static bool watch_file(watch *w, const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const int length = slash ? (int)(slash - path) + (slash == path) : 1;
  if (snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".") >= (int)sizeof folder) return false;
  w->names[w->file_count] = slash ? slash + 1 : path;
  w->folders[w->file_count] = inotify_add_watch(w->changes, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR);
  if (w->folders[w->file_count] >= 0) {
    w->file_count++;
    return true;
  }
  kw_cli_complain(w->command, "cannot watch %s: %s", folder, strerror(errno));
  return false;
}

static bool watch_files(watch *w, const kw_cli_args *args) {
  uint32_t cursor = 0;
  for (const char *path; (path = kw_cli_args_next(args, "--plugin", &cursor)) != NULL;) {
    if (w->file_count == FILES) {
      kw_cli_complain(w->command, "--watch looks after %d plugins at most", FILES);
      return false;
    }
    if (!watch_file(w, path)) return false;
  }
  if (w->file_count > 0) return true;
  kw_cli_complain(w->command, "--watch has nothing to watch: name the plugin's file with --plugin FILE");
  return false;
}

/* Whether one of the files is among what has changed. */
static bool take_changes(watch *w) {
  _Alignas(struct inotify_event) char bytes[16 << 10];
  bool found = false;
  for (ssize_t size; (size = read(w->changes, bytes, sizeof bytes)) > 0;) {
    for (const char *at = bytes; at < bytes + size;) {
      const struct inotify_event *event = (const void *)at;
      for (uint32_t i = 0; i < w->file_count; ++i)
        found = found || (event->wd == w->folders[i] && event->len > 0 && strcmp(event->name, w->names[i]) == 0);
      at += sizeof *event + event->len;
    }
  }
  return found;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* The program's command line as the kernel has it. `text` is what the arguments point into. */
static bool take_arguments(watch *w, char **out_text) {
  uint8_t *bytes = NULL;
  size_t size = 0, count = 0;
  const bool known = kw_file_bytes_read("/proc/self/cmdline", &bytes, &size);
  *out_text = (char *)bytes;
  w->arguments = known ? calloc(size + 1, sizeof *w->arguments) : NULL;
  if (!w->arguments) {
    kw_cli_complain(w->command, "cannot read its own command line: %s", strerror(errno));
    return false;
  }
  for (char *argument = *out_text; argument < *out_text + size; argument += strlen(argument) + 1)
    if (strcmp(argument, "--watch") != 0) w->arguments[count++] = argument;
  return true;
}

/* In a group of its own: what a terminal sends to this one, it passes on. */
static bool start_run(watch *w) {
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  int error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    error = posix_spawn(&w->run, "/proc/self/exe", NULL, &attributes, w->arguments, environ);
    posix_spawnattr_destroy(&attributes);
  }
  w->run_ends = error == 0 ? pidfd_open(w->run, 0) : -1;
  if (error == 0 && w->run_ends >= 0) return true;
  kw_cli_complain(w->command, "cannot start a run: %s", strerror(error != 0 ? error : errno));
  return false;
}

static void collect_run(watch *w) {
  while (waitpid(w->run, NULL, 0) < 0 && errno == EINTR) continue;
  close(w->run_ends);
  w->run = 0;
  w->run_ends = -1;
}

static void stop_run(watch *w, int signal_number) {
  if (w->run == 0) return;
  kill(w->run, signal_number);
  collect_run(w);
}

/* Runs, again and again. Returns the signal that ended it, or 0 when no run could be started. */
static int keep_running(watch *w) {
  for (bool again = true;;) {
    if (again && !start_run(w)) return 0;
    again = false;
    struct pollfd fds[] = {{.fd = w->changes, .events = POLLIN},
                           {.fd = w->signals, .events = POLLIN},
                           {.fd = w->run_ends, .events = POLLIN}};
    if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0) continue;
    struct signalfd_siginfo info;
    if (fds[1].revents != 0 && read(w->signals, &info, sizeof info) == (ssize_t)sizeof info) {
      stop_run(w, (int)info.ssi_signo);
      return (int)info.ssi_signo;
    }
    if (fds[2].revents != 0) {
      collect_run(w);
      printf("\nwaiting for %s to be built\n", w->names[0]);
      fflush(stdout);
    }
    if (fds[0].revents != 0 && take_changes(w)) {
      stop_run(w, SIGTERM);
      again = true;
    }
  }
}

int kw_cli_watch(const kw_cli_args *args) {
  watch w = {.command = kw_cli_args_command(args), .run_ends = -1};
  char *text = NULL;
  sigset_t signals;
  int ended = 0;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  w.changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  w.signals = signalfd(-1, &signals, SFD_CLOEXEC);
  if (w.changes < 0 || w.signals < 0) {
    kw_cli_complain(w.command, "cannot watch files here: %s", strerror(errno));
  } else if (watch_files(&w, args) && take_arguments(&w, &text)) {
    ended = keep_running(&w);
  }
  if (w.changes >= 0) close(w.changes);
  if (w.signals >= 0) close(w.signals);
  free(w.arguments);
  free(text);
  return ended != 0 ? 128 + ended : KW_CLI_USAGE;
}
