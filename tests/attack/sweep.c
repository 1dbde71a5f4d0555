/* SPDX-License-Identifier: Apache-2.0
 *
 * Every allocation, and every function of libc that asks the kernel for something, fails once in each step of an
 * application: the step says so with a documented status, loses nothing, and goes well at the next try.
 */
#include "failing.h"
#include "steps.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: attack_sweep --device NAME --plugin FILE --other FILE [OPTION]...\n"
    "\n"
    "Makes calls of libc fail one after the other while steps of an application run on a device.\n"
    "\n"
    "  --device NAME     \"npu:0\"\n"
    "  --plugin FILE     its plugin\n"
    "  --host FILE       the plugin of cpu:0, which stands in for ops that the device lacks\n"
    "  --other FILE      a plugin that the step \"load\" loads\n"
    "  --memory          only allocations\n"
    "  --calls           only the functions of failing_functions.def\n"
    "  --function NAME   only this one; `memory`: what allocates\n"
    "  --step NAME       only this step\n"
    "  --way WAY         only this way, see below\n"
    "  --at N            only the N-th call, and say what came of it\n"
    "  --share K/M       of all that there is to try every M-th, beginning with the K-th\n"
    "\n"
    "Ways: cold, in a process of its own for each call, where all is done for the first time; warm, in one where the\n"
    "step has been done before; cold+ and warm+, where all allocations from that one on fail until the step has "
    "ended.\n";

#define TIME_LIMIT 120   /* seconds for a process, in which nothing should take one */
#define FINDINGS_MOST 20 /* of one step, function and way */

typedef enum way { COLD, COLD_LASTING, WARM, WARM_LASTING, WAYS } way;
static const char *const way_names[WAYS] = {"cold", "cold+", "warm", "warm+"};

typedef struct attack {
  const attack_step *step;
  unsigned function;
  way way;
  bool single; /* one call, not those behind it */
} attack;

static struct {
  const char *function, *step, *way;
  bool memory, calls;
  long at, first, stride;
} only = {.at = 0, .first = 1, .stride = 1};

/* What a child tells the parent. */
#define FUNCTIONS_MOST 128
static struct {
  long at;   /* the call that it is about */
  long live; /* blocks that are left when nothing failed */
  long calls[FUNCTIONS_MOST];
} * shared;

static char scratch[] = P_tmpdir "/keyway-attack-XXXXXX";

/* ---- One call ---------------------------------------------------------------------------------------------------- */

/* How a child ends. */
enum { HELD = 0, FOUND = 1, NOT_REACHED = 3 };

static void say(const attack *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const attack *a, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "  %s, %s, call %ld of %s: ", a->step->name, way_names[a->way], shared->at,
          failing_function(a->function));
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

static bool is_lasting(way way) {
  return way == COLD_LASTING || way == WARM_LASTING;
}

/* Whether a step may end like this when memory, or something else that the kernel gives, is short. */
static bool is_right(const attack *a, kw_status status) {
  if (status == KW_OK || status == KW_ERR_OUT_OF_MEMORY) return true;
  return a->function != 0 && (status == KW_ERR_IO || status == KW_ERR_UNSUPPORTED || status == KW_ERR_NOT_FOUND);
}

/* In a thread of its own, since a thread keeps things until it ends. */
static const char *device;
static char where[sizeof step_where], message[sizeof step_message]; /* of the last step */

static void *run_in_thread(void *user) {
  const attack_step *step = user;
  step_device = device;
  kw_status status = step->run();
  memcpy(where, step_where, sizeof where);
  memcpy(message, step_message, sizeof message);
  return (void *)(intptr_t)status;
}

static kw_status run_step(const attack_step *step) {
  pthread_t thread;
  void *status;
  if (pthread_create(&thread, NULL, run_in_thread, (void *)(uintptr_t)step) != 0 ||
      pthread_join(thread, &status) != 0) {
    perror("attack_sweep");
    exit(2);
  }
  return (kw_status)(intptr_t)status;
}

/* The call fails in the step, which then goes well, `again` times. */
static int fail_once(const attack *a, int again) {
  failing_arm(failing_function(a->function), shared->at, is_lasting(a->way));
  kw_status status = run_step(a->step);
  const long failed = failing_disarm();
  if (failed == 0 && status == KW_OK) return NOT_REACHED;
  if (only.at != 0) say(a, "status %d at %s: %s", status, status == KW_OK ? "the end" : where, message);
  if (failed == 0 || !is_right(a, status) || (status != KW_OK && message[0] == '\0')) {
    say(a, "%s at %s: %s", status == STEP_WRONG ? "wrong" : kw_status_name(status), where, message);
    return FOUND;
  }
  for (int i = 0; i < again; i++) {
    status = run_step(a->step);
    if (status == KW_OK) continue;
    say(a, "afterwards %s at %s: %s", status == STEP_WRONG ? "wrong" : kw_status_name(status), where, message);
    return FOUND;
  }
  return HELD;
}

/* The same, and nothing is lost by it: what is held afterwards grows at most once, as pools do. */
static int fail_without_loss(const attack *a, int again) {
  int end = fail_once(a, again);
  for (int grown = 0; end == HELD && failing_live() > shared->live; grown++) {
    if (grown == 2) {
      say(a, "blocks are lost, %ld now", failing_live() - shared->live);
      return FOUND;
    }
    shared->live = failing_live();
    const unsigned long made = failing_made();
    end = fail_once(a, again);
    if (end == NOT_REACHED) end = HELD; /* once only */
    if (grown == 1 && failing_live() > shared->live) failing_show_live(made);
  }
  return end;
}

static void prepare(const attack *a) {
  if (a->step->starts) return;
  for (const attack_step *step = attack_steps; step->name != NULL; step++) {
    if (strcmp(step->name, "start-alone") != 0 || run_step(step) == KW_OK) continue;
    say(a, "the library does not start: %s", message);
    exit(FOUND);
  }
}

/* In a process of its own: one call. */
static int run_cold(const attack *a) {
  prepare(a);
  return fail_without_loss(a, 2);
}

/* Three times without a failure: how many calls there are, and what is held afterwards. */
static int run_reference(const attack *a) {
  prepare(a);
  for (int i = 0; i < 3; i++) {
    if (i == 0) failing_arm("", 0, false);
    kw_status status = run_step(a->step);
    if (i == 0) failing_disarm();
    if (status == KW_OK) continue;
    fprintf(stderr, "  %s is not for this device: %s: %s\n", a->step->name, where, message);
    return FOUND;
  }
  shared->live = failing_live();
  for (unsigned i = 0; failing_function(i) != NULL; i++) shared->calls[i] = failing_calls(i);
  return HELD;
}

/* In one process: all of them from shared->at on. */
static int run_warm(const attack *a) {
  prepare(a);
  for (int i = 0; i < 3; i++) {
    if (run_step(a->step) != KW_OK) return FOUND;
  }
  shared->live = failing_live();
  for (;; shared->at++) {
    alarm(TIME_LIMIT);
    const int end = fail_without_loss(a, 1);
    if (end != HELD || a->single) return end == NOT_REACHED && !a->single ? HELD : end;
  }
}

/* ---- Many -------------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

/* Runs it in a child, where the library has not started and nothing is cached on disk. How it ended. */
static int run_child(const attack *a, int (*run)(const attack *)) {
  char home[PATH_MAX];
  snprintf(home, sizeof home, "%s/home", scratch);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    setenv("HOME", home, 1);
    setenv("XDG_CACHE_HOME", home, 1);
    alarm(TIME_LIMIT);
    exit(run(a)); /* with all handlers */
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    perror("attack_sweep");
    exit(2);
  }
  nftw(home, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    say(a, number == SIGALRM ? "hangs" : "crashes (SIG%s)", sigabbrev_np(number));
    return FOUND;
  }
  return WEXITSTATUS(status);
}

static unsigned long calls_failed, findings;

static bool is_mine(void) {
  static long turn;
  return turn++ % only.stride == only.first - 1;
}

/* One step, one function, one way: each call in a process of its own, or all in one as long as they go well. */
static void sweep(attack *a) {
  if (only.way != NULL && strcmp(only.way, way_names[a->way]) != 0) return;
  long held = 0, tried = 0;
  a->single = only.at != 0 || only.stride > 1 || a->way == COLD || a->way == COLD_LASTING;
  int end = HELD;
  for (shared->at = only.at != 0 ? only.at : 1; end != NOT_REACHED && tried - held < FINDINGS_MOST; shared->at++) {
    if (only.stride > 1 && shared->at > shared->calls[a->function]) break;
    if (!is_mine()) continue;
    const long from = shared->at;
    end = run_child(a, a->way == COLD || a->way == COLD_LASTING ? run_cold : run_warm);
    const long passed = shared->at - from + (a->single && end == HELD);
    held += passed;
    tried += passed + (end == FOUND);
    if (only.at != 0 || (!a->single && end == HELD)) break;
  }
  if (tried - held >= FINDINGS_MOST) fprintf(stderr, "  ... and so on: it stops after %d\n", FINDINGS_MOST);
  calls_failed += (unsigned long)tried;
  findings += (unsigned long)(tried - held);
  if (tried == 0) return;
  printf("  %-12s %-6s %-16s %ld of %ld\n", a->step->name, way_names[a->way], failing_function(a->function), held,
         tried);
}

static bool is_wanted(unsigned function) {
  if (only.function != NULL) return strcmp(only.function, failing_function(function)) == 0;
  return function == 0 ? !only.calls : !only.memory;
}

static void sweep_step(const attack_step *step) {
  if (only.step != NULL && strcmp(only.step, step->name) != 0) return;
  attack a = {.step = step};
  shared->at = 0;
  if (run_child(&a, run_reference) != HELD) return;
  for (a.function = 0; failing_function(a.function) != NULL; a.function++) {
    if (!is_wanted(a.function) || shared->calls[a.function] == 0) continue;
    const long live = shared->live;
    for (a.way = COLD; a.way < WAYS; a.way++) {
      if (step->starts && (a.way == WARM || a.way == WARM_LASTING)) continue; /* it starts once */
      if (a.function != 0 && is_lasting(a.way)) continue;                     /* only memory is short for long */
      shared->live = live;
      sweep(&a);
    }
  }
}

static void parse(int argc, char **argv) {
  static const struct option options[] = {{"device", 1, NULL, 'd'},   {"plugin", 1, NULL, 'p'}, {"host", 1, NULL, 'H'},
                                          {"other", 1, NULL, 'o'},    {"memory", 0, NULL, 'm'}, {"calls", 0, NULL, 'c'},
                                          {"function", 1, NULL, 'f'}, {"step", 1, NULL, 's'},   {"way", 1, NULL, 'w'},
                                          {"at", 1, NULL, 'a'},       {"share", 1, NULL, 'x'},  {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (option == 'd') device = optarg;
    if (option == 'p') step_plugin = optarg;
    if (option == 'H') step_host = optarg;
    if (option == 'o') step_other = optarg;
    if (option == 'm') only.memory = true;
    if (option == 'c') only.calls = true;
    if (option == 'f') only.function = optarg;
    if (option == 's') only.step = optarg;
    if (option == 'w') only.way = optarg;
    if (option == 'a') only.at = atol(optarg);
    if (option == 'x' && sscanf(optarg, "%ld/%ld", &only.first, &only.stride) != 2) option = '?';
    if (option == 'h' || option == '?') {
      fputs(usage, option == 'h' ? stdout : stderr);
      exit(option == 'h' ? 0 : 2);
    }
  }
  if (device != NULL && step_plugin != NULL && step_other != NULL && only.first > 0 && only.stride > 0) return;
  fputs(usage, stderr);
  exit(2);
}

int main(int argc, char **argv) {
  parse(argc, argv);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || mkdtemp(scratch) == NULL) {
    perror("attack_sweep");
    return 2;
  }
  setenv("KEYWAY_LOG", "error", 0);
  setenv("KEYWAY_FALLBACK", "allow", 0);
  for (const attack_step *step = attack_steps; step->name != NULL; step++) sweep_step(step);
  rmdir(scratch);
  printf("%s: %lu of %lu calls that failed were taken as they should be\n", device, calls_failed - findings,
         calls_failed);
  return findings == 0 && calls_failed > 0 ? 0 : 1;
}
