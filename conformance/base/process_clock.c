/* SPDX-License-Identifier: Apache-2.0
 *
 * The time that a process had, from what the system shows under /proc.
 */
#include "base/process_clock.h"

#include "base/need.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_LIMIT 1.0
#define QUIET_SHARE 0.1 /* of a step: drivers look after their devices now and then */

struct kw_clock_thread {
  pid_t pid, tid;
  bool compiler;
  uint64_t ran_ns, waited_ns;
};

typedef struct process {
  pid_t pid, parent;
  bool mine; /* the clock's process, or a descendant of it */
} process;

/* What happened in a step, in seconds. */
typedef struct sums {
  double ran, waited, busiest; /* of the program's own threads; the one that ran most */
  double compilers;
} sums;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t length = fread(text, 1, size - 1, file);
  fclose(file);
  text[length] = 0;
  return length > 0;
}

static bool is_number(const char *name) {
  return name[0] >= '1' && name[0] <= '9';
}

/* The parent of a process; 0 when it has gone, or is dead and not yet waited for. */
static pid_t parent_of(const char *proc, pid_t pid) {
  char path[PATH_MAX], text[512], state;
  int parent;
  snprintf(path, sizeof path, "%s/%d/stat", proc, (int)pid);
  if (!read_file(path, text, sizeof text)) return 0;
  const char *after = strrchr(text, ')'); /* the name may contain anything */
  return after && sscanf(after + 1, " %c %d", &state, &parent) == 2 && state != 'Z' ? (pid_t)parent : 0;
}

/* All processes of the system, those of the clock marked; the caller frees them. */
static process *list_processes(const kw_process_clock *clock, uint32_t *out_count) {
  uint32_t count = 0, capacity = 64;
  process *list = malloc(capacity * sizeof *list);
  if (!list) kw_out_of_memory();
  DIR *folder = opendir(clock->proc);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (!is_number(entry->d_name)) continue;
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent = parent_of(clock->proc, pid);
    if (parent == 0 && pid != clock->pid) continue;
    if (count == capacity) {
      capacity *= 2;
      list = realloc(list, capacity * sizeof *list);
      if (!list) kw_out_of_memory();
    }
    list[count++] = (process){pid, parent, pid == clock->pid};
  }
  if (folder) closedir(folder);
  for (bool more = true; more;) { /* a child may stand before its parent */
    more = false;
    for (uint32_t i = 0; i < count; i++) {
      for (uint32_t p = 0; p < count && !list[i].mine; p++) {
        if (list[p].mine && list[p].pid == list[i].parent) list[i].mine = more = true;
      }
    }
  }
  *out_count = count;
  return list;
}

static void read_program(const char *proc, pid_t pid, char *out, size_t size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%d/exe", proc, (int)pid);
  ssize_t length = readlink(path, out, size - 1);
  out[length > 0 ? length : 0] = 0;
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static const kw_clock_thread *find_before(const kw_process_clock *clock, const kw_clock_thread *thread) {
  for (uint32_t i = 0; i < clock->thread_count; i++) {
    const kw_clock_thread *before = &clock->threads[i];
    if (before->pid == thread->pid && before->tid == thread->tid && before->ran_ns <= thread->ran_ns &&
        before->waited_ns <= thread->waited_ns)
      return before;
  }
  return NULL; /* a new one, also where it has the number of one that ended */
}

static void add_thread(const kw_process_clock *clock, const kw_clock_thread *thread, sums *step) {
  const kw_clock_thread none = {0}, *found = find_before(clock, thread), *before = found ? found : &none;
  double ran = 1e-9 * (double)(thread->ran_ns - before->ran_ns);
  double waited = 1e-9 * (double)(thread->waited_ns - before->waited_ns);
  if (thread->compiler) {
    step->compilers += ran + waited;
    return;
  }
  step->ran += ran;
  step->waited += waited;
  if (ran > step->busiest) step->busiest = ran;
}

/* The threads of one process, added to `list`. False: the system does not tell how long they waited. */
static bool list_threads(const kw_process_clock *clock, pid_t pid, bool compiler, kw_clock_thread **list,
                         uint32_t *count) {
  char path[PATH_MAX], text[96];
  bool told = true;
  snprintf(path, sizeof path, "%s/%d/task", clock->proc, (int)pid);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (!is_number(entry->d_name)) continue;
    if (pid == getpid() && strtol(entry->d_name, NULL, 10) == gettid()) continue; /* who asks */
    kw_clock_thread thread = {.pid = pid, .tid = (pid_t)strtol(entry->d_name, NULL, 10), .compiler = compiler};
    snprintf(path, sizeof path, "%s/%d/task/%d/schedstat", clock->proc, (int)pid, (int)thread.tid);
    if (!read_file(path, text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &thread.ran_ns, &thread.waited_ns) != 2) {
      snprintf(path, sizeof path, "%s/%d/task/%d", clock->proc, (int)pid, (int)thread.tid);
      told &= access(path, F_OK) != 0; /* it has ended meanwhile */
      continue;
    }
    kw_clock_thread *longer = realloc(*list, (*count + 1u) * sizeof **list);
    if (!longer) kw_out_of_memory();
    *list = longer;
    longer[(*count)++] = thread;
  }
  if (folder) closedir(folder);
  return told;
}

/* What threads did since the last step; takes them over for the next one. */
static sums look(kw_process_clock *clock) {
  char own[PATH_MAX], other[PATH_MAX];
  sums step = {0};
  uint32_t process_count, count = 0;
  kw_clock_thread *threads = NULL;
  process *processes = list_processes(clock, &process_count);
  read_program(clock->proc, clock->pid, own, sizeof own);
  clock->blind = true;
  for (uint32_t i = 0; i < process_count; i++) {
    if (!processes[i].mine) continue;
    read_program(clock->proc, processes[i].pid, other, sizeof other);
    bool told = list_threads(clock, processes[i].pid, strcmp(own, other) != 0, &threads, &count);
    if (processes[i].pid == clock->pid) clock->blind = !told;
  }
  for (uint32_t i = 0; i < count && clock->steps > 0; i++) add_thread(clock, &threads[i], &step);
  free(processes);
  free(clock->threads);
  clock->threads = threads;
  clock->thread_count = count;
  return step;
}

void kw_process_clock_begin(kw_process_clock *clock, const char *proc, pid_t pid, double compile_limit, double now) {
  *clock = (kw_process_clock){.proc = proc ? proc : "/proc", .pid = pid, .compile_limit = compile_limit, .last = now};
}

void kw_process_clock_step(kw_process_clock *clock, double now) {
  double wall = now - clock->last > STEP_LIMIT ? STEP_LIMIT : now - clock->last;
  sums step = look(clock);
  double left = clock->compile_limit - clock->compiled; /* that may be taken off for compilers */
  double compilers = step.compilers < left ? step.compilers : left;
  if (compilers > wall) compilers = wall;
  double passed = wall - step.waited - compilers;
  if (passed < step.busiest) passed = step.busiest;
  clock->passed += passed < 0 ? 0 : passed < wall ? passed : wall;
  clock->compiled += compilers;
  bool busy = clock->steps == 0 || step.ran + step.waited + step.compilers > QUIET_SHARE * wall;
  clock->quiet = busy || clock->blind ? 0 : clock->quiet + wall;
  clock->last = now;
  clock->steps++;
}

void kw_process_clock_free(kw_process_clock *clock) {
  free(clock->threads);
  clock->threads = NULL;
  clock->thread_count = 0;
}

double kw_cpu_pressure(const char *proc) {
  char path[PATH_MAX], text[512];
  uint64_t microseconds;
  snprintf(path, sizeof path, "%s/pressure/cpu", proc ? proc : "/proc");
  if (!read_file(path, text, sizeof text)) return -1;
  const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;
  if (!total || sscanf(total, "total=%" SCNu64, &microseconds) != 1) return -1;
  return 1e-6 * (double)microseconds;
}
