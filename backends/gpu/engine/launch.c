/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: the groups are handed out to a team of threads. A group runs on one thread, its items as fibers: the first
 * fiber runs the first item; when that ends without a barrier, none of the group meets one, and the same fiber runs the
 * others one after the other. Otherwise each item gets a fiber, and all go on from barrier to barrier in turn.
 */
#include "internal.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool kw_engine_launch_add(kw_engine_launch *launch, const void *data, size_t size) {
  if (launch->arg_count == KW_ENGINE_ARG_LIMIT || size > KW_ENGINE_ARG_BYTES - launch->byte_count) return false;
  launch->places[launch->arg_count++] = launch->byte_count;
  memcpy(launch->bytes + launch->byte_count, data, size);
  launch->byte_count += (uint32_t)(size + 15) / 16 * 16;
  return true;
}

bool kw_engine_launch_add_all(kw_engine_launch *launch, void *const *params) {
  const kw_engine_kernel *kernel = launch->kernel;
  for (uint32_t i = 0; i < kernel->param_count; ++i)
    if (!kw_engine_launch_add(launch, params[i], kernel->param_sizes[i])) return false;
  return true;
}

/* ---- Switching stacks -------------------------------------------------------------------------------------------- */

/* Saves the registers that a call preserves on the stack, the stack's place in *save, and goes on where `to` was saved.
 * (swapcontext would also save the signal mask: a system call each time.) */
void kw_engine_switch(void **save, void *to);

#if defined __x86_64__
__asm__(
    ".text\n"
    ".globl kw_engine_switch\n"
    ".hidden kw_engine_switch\n"
    ".type kw_engine_switch, @function\n"
    "kw_engine_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size kw_engine_switch, .-kw_engine_switch\n");
enum { SAVED_WORDS = 8, START_WORD = 6 }; /* six registers, where to go on, and no caller */
#elif defined __aarch64__
__asm__(
    ".text\n"
    ".globl kw_engine_switch\n"
    ".hidden kw_engine_switch\n"
    ".type kw_engine_switch, %function\n"
    "kw_engine_switch:\n"
    "  stp x19, x20, [sp, #-160]!\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp d14, d15, [sp, #144]\n  ldp d12, d13, [sp, #128]\n  ldp d10, d11, [sp, #112]\n  ldp d8, d9, [sp, #96]\n"
    "  ldp x29, x30, [sp, #80]\n  ldp x27, x28, [sp, #64]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x23, x24, [sp, #32]\n  ldp x21, x22, [sp, #16]\n  ldp x19, x20, [sp], #160\n"
    "  ret\n"
    ".size kw_engine_switch, .-kw_engine_switch\n");
enum { SAVED_WORDS = 20, START_WORD = 11 };
#else
#error "the engine lacks kw_engine_switch for this processor: leave it out of the build"
#endif

/* ---- One group --------------------------------------------------------------------------------------------------- */

#define STACK_BYTES (256 << 10)

/* What a thread needs to run groups. */
typedef struct runner {
  kw_engine_item item; /* first: kernels hand it to their barrier */
  const kw_engine_launch *launch;
  void *args[KW_ENGINE_ARG_LIMIT];
  void *back;       /* the thread's own stack, while a fiber runs */
  uint32_t items;   /* of a group */
  uint32_t fiber;   /* that runs, */
  uint32_t current; /* and its item */
  uint32_t ended;   /* items of this group */
  bool broke_rule;  /* some items of this group met a barrier that others did not */
  char *stacks;     /* STACK_BYTES for each item; kept from launch to launch */
  uint32_t stack_count;
  int32_t size[3];                          /* of the groups that `locals` is for */
  int32_t locals[KW_ENGINE_GROUP_ITEMS][3]; /* each item's place in its group */
  void *saved[KW_ENGINE_GROUP_ITEMS];       /* each fiber's stack, while another runs */
} runner;

static _Thread_local runner *here; /* for fiber_main, which has no arguments */

static void set_item(runner *r, uint32_t index) {
  r->current = index;
  memcpy(r->item.local, r->locals[index], sizeof r->item.local);
}

/* From the running fiber to another, or back to the thread. */
static void go_to(runner *r, uint32_t index) {
  void **const from = &r->saved[r->fiber];
  r->fiber = index;
  set_item(r, index);
  kw_engine_switch(from, r->saved[index]);
}

static void go_back(runner *r) {
  kw_engine_switch(&r->saved[r->fiber], r->back);
}

static void fiber_main(void) {
  runner *r = here;
  r->launch->kernel->run(r->args);
  ++r->ended;
  /* While the others have no stacks yet, no item has met a barrier. */
  while (!r->saved[1] && r->ended < r->items) {
    set_item(r, r->ended);
    r->launch->kernel->run(r->args);
    ++r->ended;
  }
  if (r->ended != r->current + 1) r->broke_rule = true; /* one before has met a barrier since */
  if (r->broke_rule || r->ended == r->items) go_back(r);
  go_to(r, r->fiber + 1);
  __builtin_unreachable(); /* a fiber that has ended is not resumed */
}

/* The fiber's stack, such that it begins when it is first switched to. It does not begin where the others do: they
 * would all want the same few places in the caches. */
static void prepare_fiber(runner *r, uint32_t index) {
  char *end = r->stacks + (size_t)(index + 1) * STACK_BYTES - index % 128 * 512;
  void **top = (void **)end - SAVED_WORDS;
  void (*start)(void) = fiber_main;
  memset(top, 0, SAVED_WORDS * sizeof *top);
  memcpy(&top[START_WORD], &start, sizeof start);
  r->saved[index] = top;
}

/* Each fiber goes on to the next; the last, which has seen all meet the barrier, to the first. */
static void barrier(const kw_engine_item *item) {
  runner *r = (runner *)(uintptr_t)item;
  if (r->ended > 0) {
    r->broke_rule = true;
    go_back(r);
  }
  if (r->items == 1) return;
  if (!r->saved[1])
    for (uint32_t i = 1; i < r->items; ++i) prepare_fiber(r, i);
  go_to(r, r->fiber + 1 < r->items ? r->fiber + 1 : 0);
}

/* False: some items met a barrier that others did not. */
static bool run_group(runner *r) {
  r->ended = 0;
  r->fiber = 0;
  r->saved[1] = NULL;
  prepare_fiber(r, 0);
  set_item(r, 0);
  kw_engine_switch(&r->back, r->saved[0]);
  return !r->broke_rule;
}

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

#define HELPER_LIMIT 7

struct kw_engine_team {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  const kw_engine_launch *launch; /* with groups left; NULL: none */
  uint64_t group_count;
  _Atomic uint64_t next; /* group */
  _Atomic bool broke_rule;
  uint32_t active; /* helpers that run groups */
  bool stop;
  uint32_t helper_count;
  pthread_t helpers[HELPER_LIMIT];
  runner *runner; /* the caller's */
};

static void place_items(runner *r) {
  const int32_t *size = r->item.size;
  if (memcmp(r->size, size, sizeof r->size) == 0) return;
  for (int32_t i = 0; i < (int32_t)r->items; ++i) {
    r->locals[i][0] = i % size[0];
    r->locals[i][1] = i / size[0] % size[1];
    r->locals[i][2] = i / size[0] / size[1];
  }
  memcpy(r->size, size, sizeof r->size);
}

static bool runner_prepare(runner *r, const kw_engine_launch *launch) {
  r->launch = launch;
  r->items = launch->local[0] * launch->local[1] * launch->local[2];
  r->broke_rule = false;
  for (uint32_t i = 0; i < launch->arg_count; ++i) r->args[i] = (void *)&launch->bytes[launch->places[i]];
  for (int d = 0; d < 3; ++d) {
    r->item.size[d] = (int32_t)launch->local[d];
    r->item.groups[d] = (int64_t)launch->groups[d];
  }
  place_items(r);
  if (r->items <= r->stack_count) return true;
  if (r->stacks) munmap(r->stacks, (size_t)r->stack_count * STACK_BYTES);
  r->stacks = mmap(NULL, (size_t)r->items * STACK_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (r->stacks == MAP_FAILED) r->stacks = NULL;
  r->stack_count = r->stacks ? r->items : 0;
  return r->stacks;
}

static void runner_free(runner *r) {
  if (r && r->stacks) munmap(r->stacks, (size_t)r->stack_count * STACK_BYTES);
  free(r);
}

/* Groups until none is left. */
static void run_groups(kw_engine_team *team, runner *r, const kw_engine_launch *launch) {
  if (!runner_prepare(r, launch)) abort(); /* a test's machine without memory */
  here = r;
  launch->kernel->bind(&r->item, barrier);
  for (uint64_t index; (index = atomic_fetch_add(&team->next, 1)) < team->group_count;) {
    r->item.group[0] = (int64_t)(index % launch->groups[0]);
    r->item.group[1] = (int64_t)(index / launch->groups[0] % launch->groups[1]);
    r->item.group[2] = (int64_t)(index / launch->groups[0] / launch->groups[1]);
    if (run_group(r)) continue;
    team->broke_rule = true;
    break;
  }
}

static void *helper_main(void *argument) {
  kw_engine_team *team = argument;
  runner *r = calloc(1, sizeof *r);
  if (!r) abort(); /* as above */
  fesetenv(FE_DFL_ENV);
  pthread_mutex_lock(&team->lock);
  while (!team->stop) {
    const kw_engine_launch *launch = team->launch;
    if (!launch) {
      pthread_cond_wait(&team->work, &team->lock);
      continue;
    }
    ++team->active;
    pthread_mutex_unlock(&team->lock);
    run_groups(team, r, launch);
    pthread_mutex_lock(&team->lock);
    team->launch = NULL;
    if (--team->active == 0) pthread_cond_signal(&team->done);
  }
  pthread_mutex_unlock(&team->lock);
  runner_free(r);
  return NULL;
}

/* As many threads as processors, two at least: groups of one launch run at the same time everywhere. */
static void start_helpers(kw_engine_team *team) {
  long wanted = sysconf(_SC_NPROCESSORS_ONLN) - 1;
  if (wanted < 1) wanted = 1;
  if (wanted > HELPER_LIMIT) wanted = HELPER_LIMIT;
  while (team->helper_count < wanted &&
         pthread_create(&team->helpers[team->helper_count], NULL, helper_main, team) == 0)
    ++team->helper_count;
}

kw_engine_team *kw_engine_team_create(void) {
  kw_engine_team *team = calloc(1, sizeof *team);
  if (team) team->runner = calloc(1, sizeof *team->runner);
  if (!team || !team->runner) {
    free(team);
    return NULL;
  }
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->work, NULL);
  pthread_cond_init(&team->done, NULL);
  return team;
}

void kw_engine_team_destroy(kw_engine_team *team) {
  pthread_mutex_lock(&team->lock);
  team->stop = true;
  pthread_cond_broadcast(&team->work);
  pthread_mutex_unlock(&team->lock);
  for (uint32_t i = 0; i < team->helper_count; ++i) pthread_join(team->helpers[i], NULL);
  pthread_cond_destroy(&team->done);
  pthread_cond_destroy(&team->work);
  pthread_mutex_destroy(&team->lock);
  runner_free(team->runner);
  free(team);
}

kw_engine_status kw_engine_team_run(kw_engine_team *team, const kw_engine_launch *launch) {
  team->group_count = launch->groups[0] * launch->groups[1] * launch->groups[2];
  team->next = 0;
  team->broke_rule = false;
  bool many = team->group_count > 1;
  if (many) {
    if (team->helper_count == 0) start_helpers(team);
    pthread_mutex_lock(&team->lock);
    team->launch = launch;
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
  }
  run_groups(team, team->runner, launch);
  if (many) {
    pthread_mutex_lock(&team->lock);
    team->launch = NULL;
    while (team->active > 0) pthread_cond_wait(&team->done, &team->lock);
    pthread_mutex_unlock(&team->lock);
  }
  if (!team->broke_rule) return KW_ENGINE_OK;
  return kw_engine_fail(KW_ENGINE_FAILED, "%s: some items of a group met a barrier that others did not",
                        launch->kernel->name);
}
