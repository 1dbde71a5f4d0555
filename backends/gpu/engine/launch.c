/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: groups one after the other. The first item of a group runs as a fiber. When it ends without a barrier no
 * item meets one (all do or none does), and the others run straight through; otherwise each gets a fiber, and all go on
 * from barrier to barrier in turn.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ITEM_LIMIT 1024 /* of a group */
#define STACK_BYTES (256 << 10)

struct kw_engine_launch {
  const kw_engine_kernel *kernel;
  uint32_t local[2];
  uint64_t groups[2];
  uint32_t arg_count;
  void *args[32];        /* entry i points to argument i */
  kw_mem buffers[32];    /* of arguments that are pointers */
  unsigned char bytes[]; /* of the others */
};

kw_engine_launch *kw_engine_launch_copy(const kw_gpu_launch *launch) {
  size_t size = 0;
  for (uint32_t i = 0; i < launch->arg_count; ++i) size += (launch->args[i].size + 15) / 16 * 16;
  kw_engine_launch *copy = malloc(sizeof *copy + size + 16);
  if (!copy) return NULL;
  copy->kernel = launch->kernel;
  memcpy(copy->local, launch->local, sizeof copy->local);
  memcpy(copy->groups, launch->groups, sizeof copy->groups);
  copy->arg_count = launch->arg_count;
  unsigned char *at = (unsigned char *)(((uintptr_t)copy->bytes + 15) / 16 * 16);
  for (uint32_t i = 0; i < launch->arg_count; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    copy->buffers[i] = arg->mem;
    copy->args[i] = arg->data ? (void *)at : (void *)&copy->buffers[i];
    if (!arg->data) continue;
    memcpy(at, arg->data, arg->size);
    at += (arg->size + 15) / 16 * 16;
  }
  return copy;
}

void kw_engine_launch_free(kw_engine_launch *launch) {
  free(launch);
}

/* ---- Fibers ------------------------------------------------------------------------------------------------------ */

typedef struct fiber {
  ucontext_t context;
  int32_t local[2];
  bool ended;
} fiber;

/* What runs on this thread. Stacks are kept for its next groups. */
typedef struct scheduler {
  ucontext_t back;
  fiber *fibers;
  char *stacks;
  fiber *current;
  const kw_engine_launch *launch;
  kw_engine_item item;
} scheduler;

static _Thread_local scheduler *here;

static void barrier(void) {
  fiber *self = here->current;
  swapcontext(&self->context, &here->back);
}

static void fiber_main(void) {
  here->launch->kernel->run(here->launch->args);
  here->current->ended = true;
  swapcontext(&here->current->context, &here->back);
}

static void fiber_start(scheduler *s, uint32_t index) {
  fiber *f = &s->fibers[index];
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = s->stacks + (size_t)index * STACK_BYTES;
  f->context.uc_stack.ss_size = STACK_BYTES;
  f->context.uc_link = NULL;
  f->local[0] = (int32_t)(index % s->launch->local[0]);
  f->local[1] = (int32_t)(index / s->launch->local[0]);
  f->ended = false;
  makecontext(&f->context, fiber_main, 0);
}

/* Up to the fiber's next barrier, or its end. */
static void fiber_resume(scheduler *s, uint32_t index) {
  s->current = &s->fibers[index];
  memcpy(s->item.local, s->current->local, sizeof s->item.local);
  swapcontext(&s->back, &s->current->context);
}

static void run_group(scheduler *s) {
  const uint32_t count = s->launch->local[0] * s->launch->local[1];
  fiber_start(s, 0);
  fiber_resume(s, 0);
  if (s->fibers[0].ended) {
    for (uint32_t i = 1; i < count; ++i) {
      s->item.local[0] = (int32_t)(i % s->launch->local[0]);
      s->item.local[1] = (int32_t)(i / s->launch->local[0]);
      s->launch->kernel->run(s->launch->args);
    }
    return;
  }
  for (uint32_t i = 1; i < count; ++i) {
    fiber_start(s, i);
    fiber_resume(s, i);
  }
  for (uint32_t running = count; running > 0;) {
    running = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (s->fibers[i].ended) continue;
      fiber_resume(s, i);
      running += !s->fibers[i].ended;
    }
  }
}

void kw_engine_launch_run(const kw_engine_launch *launch) {
  scheduler s = {.launch = launch, .item.size = (int32_t)launch->local[0]};
  const uint32_t count = launch->local[0] * launch->local[1];
  const size_t stack_bytes = (size_t)count * STACK_BYTES;
  s.fibers = calloc(count, sizeof *s.fibers);
  s.stacks = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!s.fibers || s.stacks == MAP_FAILED || count > ITEM_LIMIT) abort(); /* a test's machine without memory */
  here = &s;
  launch->kernel->bind(&s.item, barrier);
  for (s.item.group[1] = 0; s.item.group[1] < (int64_t)launch->groups[1]; ++s.item.group[1])
    for (s.item.group[0] = 0; s.item.group[0] < (int64_t)launch->groups[0]; ++s.item.group[0]) run_group(&s);
  here = NULL;
  munmap(s.stacks, stack_bytes);
  free(s.fibers);
}
