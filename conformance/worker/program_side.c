/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's two runs, and what of them is sent.
 */
#include "worker/program_side.h"

#include "base/clock.h"
#include "worker/execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Free first: what the waited run leaves in memory would be the right answers. */
typedef struct runs {
  kw_program program;
  kw_program_order order;
  kw_execution free, waited;
  kw_program_seen seen[KW_PROGRAM_ACTS + KW_PROGRAM_STORAGES];
  kw_program_judged judged[KW_PROGRAM_CALLS];
  void *gathered[KW_PROGRAM_CALLS * KW_SUITE_RESULTS];
  uint32_t gathered_count;
} runs;

/* Where something was not read in one of the runs, the failure says why. */
static void add_seen(kw_program_run *run, uint32_t act, uint32_t storage, const void *free_run, const void *waited,
                     size_t size) {
  if (!free_run || !waited) return;
  run->seen[run->seen_count++] = (kw_program_seen){act, storage, {free_run, size}, {waited, size}};
}

/* Everything that the host saw, of storages whose bits are defined. */
static void list_seen(runs *r, kw_program_run *run) {
  for (uint32_t a = 0; a < r->program.act_count; a++) {
    const kw_program_act *act = &r->program.acts[a];
    const size_t item = act->kind == KW_ACT_READ ? kw_element_size(r->program.storages[act->index].dtype) : 0;
    if (item > 0) add_seen(run, a, act->index, r->free.read[a], r->waited.read[a], (size_t)act->count * item);
  }
  for (uint32_t s = 0; s < r->program.storage_count; s++) {
    const kw_program_storage *storage = &r->program.storages[s];
    if (!storage->leaf) add_seen(run, KW_SEEN_AT_END, s, r->free.held[s], r->waited.held[s], storage->size);
  }
}

static kw_program_bytes gather(runs *r, const kw_case_tensor *tensor, const void *storage) {
  if (!storage) return (kw_program_bytes){NULL, 0};
  void *dense = kw_program_gather(tensor, storage);
  r->gathered[r->gathered_count++] = dense;
  return (kw_program_bytes){dense, kw_program_dense_size(tensor)};
}

static void list_judged(runs *r, kw_program_run *run) {
  for (uint32_t c = 0; c < r->program.call_count; c++) {
    const kw_program_call *call = &r->program.calls[c];
    if (call->loose || !call->made || r->free.refused[c] || r->waited.refused[c]) continue;
    kw_program_judged *one = &run->judged[run->judged_count++];
    *one = (kw_program_judged){.call = c};
    for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) {
      void *input = r->waited.inputs[c][t];
      if (input) one->inputs[t] = (kw_program_bytes){input, kw_program_dense_size(&call->c.tensors[t])};
    }
    for (uint32_t o = 0; o < call->c.result_count; o++) {
      if (call->outs[o] < 0) continue;
      one->waited[o] = (kw_program_bytes){r->waited.results[c][o], kw_program_dense_size(&call->c.outs[o])};
      if (call->leaf) one->free[o] = gather(r, &call->c.outs[o], r->free.held[call->outs[o]]);
    }
  }
}

static void run_twice(kw_worker *w, runs *r, kw_program_run *run, char *text, size_t size) {
  kw_program_order_make(&r->program, &r->order);
  kw_math_mode_set(KW_MATH_HIGHEST);
  kw_execute(w->device, w->facts.second, &r->program, &r->order, false, &r->free);
  run->untried = r->free.untried;
  if (*run->untried) return;
  if (*r->free.failure) {
    snprintf(text, size, "%s", r->free.failure);
    return;
  }
  kw_execute(w->device, w->facts.second, &r->program, &r->order, true, &r->waited);
  if (*r->waited.failure) {
    snprintf(text, size, "%s", r->waited.failure);
    return;
  }
  for (uint32_t c = 0; c < r->program.call_count; c++) {
    run->refused += r->waited.refused[c];
    if (r->free.refused[c] == r->waited.refused[c]) continue;
    snprintf(text, size, "%s was taken in one of two runs and not in the other", r->program.calls[c].c.id);
  }
  list_seen(r, run);
  list_judged(r, run);
}

void kw_worker_program(kw_worker *w, const char *id, kw_message *out_message) {
  runs *r = calloc(1, sizeof *r);
  if (!r) abort();
  char text[1300] = "";
  const double start = kw_clock_seconds();
  kw_program_run run = {.id = id, .failure = text, .untried = "", .seen = r->seen, .judged = r->judged};
  if (kw_program_make(id, w->seed, &w->facts, &r->program)) {
    run_twice(w, r, &run, text, sizeof text);
  } else {
    snprintf(text, sizeof text, "there is no such program");
  }
  run.seconds = kw_clock_seconds() - start;
  kw_program_run_write(&run, out_message);
  kw_execution_free(&r->free);
  kw_execution_free(&r->waited);
  for (uint32_t g = 0; g < r->gathered_count; g++) free(r->gathered[g]);
  kw_program_free(&r->program);
  free(r);
}
