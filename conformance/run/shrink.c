/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for the smallest variant of a failing case.
 */
#include "run/shrink.h"

#include "case/make.h"
#include "run/worker_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 60 /* 2^16 elements in each of three dimensions */

typedef struct shrinker {
  kw_run run; /* counters of its own: a report's count the cases only */
  const kw_run_case *failed;
  kw_case original;
  kw_process process;
  kw_message message;
  uint32_t tries;
  bool given_up; /* no more tries, or a hang */
} shrinker;

/* Both runs of a case. NONE when there is no worker. */
static kw_outcome outcome_of(shrinker *s, kw_run_case *probe) {
  char text[512];
  for (uint32_t case_run = 0; case_run < 2 && probe->result.outcome != KW_OUTCOME_CRASH; case_run++) {
    if (!kw_worker_client_start(&s->run, &s->process, text, sizeof text)) return KW_OUTCOME_NONE;
    kw_worker_client_send(&s->run, &s->process, probe, case_run, &s->message);
    kw_read read = kw_worker_client_receive(&s->run, &s->process, probe, case_run, &s->message);
    if (read == KW_READ_OK) continue;
    kw_worker_client_blame(&s->run, &s->process, probe, read);
    if (read == KW_READ_TIMEOUT) break;
  }
  return probe->result.outcome;
}

/* Whether the case of these sizes fails, and in the way of the original: wrong, or by a crash. */
static bool fails(shrinker *s, const kw_shape *sizes) {
  kw_case c;
  if (s->given_up || !kw_case_shrink(&s->original, sizes, &c)) return false;
  kw_run_case probe = {.id = c.id, .op = s->failed->op, .dtype = s->failed->dtype};
  kw_outcome outcome = outcome_of(s, &probe);
  s->given_up = ++s->tries == TRIES || outcome == KW_OUTCOME_TIMEOUT || outcome == KW_OUTCOME_NONE;
  kw_case_result_free(&probe.result);
  return outcome == s->failed->result.outcome;
}

/* The smallest size in one dimension; *io_sizes fails, and does so afterwards. */
static void shrink_dimension(shrinker *s, uint32_t d, kw_shape *io_sizes) {
  kw_shape sizes = *io_sizes;
  int64_t passes = 0, step = 1;
  while (io_sizes->dims[d] - passes > 1 && !s->given_up) {
    sizes.dims[d] = passes + step; /* small ones first: most defects show in them */
    if (sizes.dims[d] >= io_sizes->dims[d]) sizes.dims[d] = passes + (io_sizes->dims[d] - passes) / 2;
    if (fails(s, &sizes)) {
      io_sizes->dims[d] = sizes.dims[d];
      step = 1;
    } else {
      passes = sizes.dims[d];
      step *= 2;
    }
  }
}

static int64_t product_of(const kw_shape *sizes) {
  int64_t product = 1;
  for (uint32_t d = 0; d < sizes->rank; d++) product *= sizes->dims[d];
  return product;
}

/* "f32 [2, 1], f32 [1]" */
static char *describe(const kw_case *c) {
  char text[1024] = "", one[320];
  size_t used = 0;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && used < sizeof text; i++) {
    const kw_case_tensor *tensor = &c->tensors[i];
    if (!tensor->given) continue;
    kw_case_print_shape(tensor->dtype, tensor->rank, tensor->shape, one, sizeof one);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", one);
  }
  return strdup(text);
}

void kw_shrink_case(const kw_run *run, kw_run_case *failed) {
  shrinker s = {.run = {.options = run->options, .facts = run->facts}, .failed = failed};
  if (!kw_case_from_id(failed->id, &failed->op->op, 1, &s.original)) return;
  if (!s.original.resizable || s.original.shrunk || s.original.sizes.rank == 0) return;
  kw_shape sizes = s.original.sizes;
  for (uint32_t d = 0; d < sizes.rank; d++) shrink_dimension(&s, d, &sizes);
  kw_process_stop(&s.process); /* the last word has a process that has seen nothing else */
  s.given_up = false;
  kw_case smallest;
  if (product_of(&sizes) < product_of(&s.original.sizes) && fails(&s, &sizes) &&
      kw_case_shrink(&s.original, &sizes, &smallest)) {
    failed->smallest = strdup(smallest.id);
    failed->smallest_tensors = describe(&smallest);
  }
  kw_process_stop(&s.process);
  kw_message_free(&s.message);
}
