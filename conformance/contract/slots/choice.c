/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels answer when they are asked about a call, without Keyway between, which keeps their answers: the same
 * each time, whatever memory is in use, on any thread. For suite launch.
 */
#include "bare_call.h"
#include "bench.h"

#include "base/host_memory.h"
#include "contract/scenarios.h"

#include <pthread.h>
#include <stdio.h>

enum { EDGE = 17, ALIGNMENT = 64, PIECES = 16, PAGE = 4096, QUESTIONS = 3 };

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* What a kernel has said of its call. */
typedef struct answer {
  kw_status taken, sized;
  uint64_t size;
} answer;

/* A kernel's question, and what it has answered first. */
typedef struct question {
  const kw_kernel_desc *kernel;
  uint32_t number; /* of the attempt that is a call of it */
  answer first;
} question;

static question *questions;
static uint32_t question_count;

static answer ask(const kw_kernel_desc *kernel, const kw_call *call) {
  answer a = {.taken = KW_OK, .sized = KW_OK};
  if (kernel->can_implement) a.taken = kernel->can_implement(call);
  if (a.taken == KW_OK && kernel->workspace_size) a.sized = kernel->workspace_size(call, &a.size);
  if (a.sized != KW_OK) a.size = 0; /* as it was, or anything */
  return a;
}

static bool is_same(const answer *a, const answer *b) {
  return a->taken == b->taken && a->sized == b->sized && a->size == b->size;
}

static void describe(const answer *a, char *out_text, size_t size) {
  if (a->taken != KW_OK) {
    snprintf(out_text, size, "%s (can_implement)", kw_status_name(a->taken));
  } else if (a->sized != KW_OK) {
    snprintf(out_text, size, "%s (workspace_size)", kw_status_name(a->sized));
  } else {
    snprintf(out_text, size, "KW_OK and a workspace of %llu bytes", (unsigned long long)a->size);
  }
}

/* Each question several times in a row. The first answer that differs is in `text`, which is "" without one. */
static void ask_all(const char *when, char *text, size_t size) {
  static kw_bare_call call;
  for (uint32_t i = 0; i < question_count && !*text; i++) {
    const question *q = &questions[i];
    if (!kw_bare_call_make(&call, q->kernel, kw_bench.device, EDGE, q->number, ALIGNMENT)) continue;
    for (int n = 0; n < QUESTIONS && !*text; n++) {
      char first[64], now[64];
      const answer a = ask(q->kernel, &call.call);
      if (is_same(&a, &q->first)) continue;
      describe(&q->first, first, sizeof first);
      describe(&a, now, sizeof now);
      snprintf(text, size,
               "kernel %s of %s first answered %s to a call, and %s to the same call %s: hosts keep the first answer; "
               "let can_implement and workspace_size look at dtypes, shapes, strides, alignment and attributes alone",
               q->kernel->name, q->kernel->op, first, now, when);
    }
  }
}

static void expect_same(const char *when) {
  char text[512] = "";
  ask_all(when, text, sizeof text);
  KW_CHECK(!*text, "%s", text);
}

/* Those kernels that have something to say of a call which this suite can make. */
static void make_questions(void) {
  static kw_bare_call call;
  questions = kw_test_memory((kw_guest_kernel_count + 1) * sizeof *questions);
  for (uint32_t i = 0; i < kw_guest_kernel_count; i++) {
    const kw_kernel_desc *kernel = &kw_guest_kernels[i];
    uint32_t number = 0;
    if (!kernel->can_implement && !kernel->workspace_size) continue;
    while (number < KW_TEST_ATTEMPTS && !kw_bare_call_make(&call, kernel, kw_bench.device, EDGE, number, ALIGNMENT)) {
      number++;
    }
    if (number == KW_TEST_ATTEMPTS) continue;
    questions[question_count++] = (question){.kernel = kernel, .number = number, .first = ask(kernel, &call.call)};
  }
}

/* ---- Meanwhile --------------------------------------------------------------------------------------------------- */

static kw_mem held[PIECES];

/* A third of what is free, or of what the host can spare: it may be the host's memory. As much as can be had. */
static void hold_memory(void) {
  uint64_t unused = kw_bench.info.total_memory, total = 0, sum = 0;
  if (kw_bench.guest.memory->usage) KW_SLOT_OK(memory, usage, &unused, &total);
  const uint64_t spare = kw_host_memory_available() / 8, most = kw_bench.info.max_alloc;
  const uint64_t wanted = unused / 3 < spare ? unused / 3 : spare;
  uint64_t piece = wanted / 2;
  if (most > 0 && piece > most) piece = most;
  piece = piece / PAGE * PAGE;
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = piece, .alignment = 1};
  for (int i = 0; i < PIECES && piece > 0 && sum + piece <= wanted; i++, sum += piece) {
    kw_test_calls(__FILE__, __LINE__, "memory.alloc");
    if (KW_SLOT(memory, alloc, &info, &held[i]) != KW_OK) break; /* others may have taken it */
  }
}

static void give_back(void) {
  for (int i = 0; i < PIECES; i++) {
    if (held[i]) kw_bench_free(held[i]);
    held[i] = NULL;
  }
}

static void *ask_main(void *text) {
  ask_all("on another thread", text, 512);
  return NULL;
}

static void expect_same_elsewhere(void) {
  static char text[512];
  pthread_t thread;
  KW_NEED(pthread_create(&thread, NULL, ask_main, text) == 0, "threads");
  pthread_join(thread, NULL);
  KW_CHECK(!*text, "%s", text);
}

int kw_child_launch_choice(void) {
  kw_bench_open();
  make_questions();
  expect_same("again");
  hold_memory();
  expect_same("while much of its memory was in use");
  expect_same_elsewhere();
  give_back();
  expect_same("after memory had come and gone");
  kw_bench_close();
  return 0;
}
