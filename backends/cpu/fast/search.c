/* SPDX-License-Identifier: Apache-2.0
 *
 * Where values have to stand in lines in ascending order.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "walk.h"

#include <string.h>

#define GRAIN 2048 /* values: the fewest that a thread is woken for */

typedef struct search_plan {
  kw_loop loop;  /* operands: the result, the values, the lines' first elements */
  int32_t count; /* elements of a line */
  kw_port values;
  kw_dtype result;
} search_plan;

/* Lines lie as lanes. A sorter is the reference's, which looks at all of it first. */
static kw_status plan_search(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *sequence = call->args[0].u.tensor, *self = call->args[1].u.tensor, *out = call->outs[0];
  const uint32_t last = sequence->rank - 1u;
  search_plan *plan = out_plan;
  (void)kernel;
  if (call->args[5].tag == KW_TAG_TENSOR || self->dtype != sequence->dtype) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_lane_is_native(self->dtype) || (out->dtype != KW_I64 && out->dtype != KW_I32)) return KW_ERR_NOT_IMPLEMENTED;
  if (sequence->shape[last] > INT32_MAX) return KW_ERR_NOT_IMPLEMENTED;
  if (sequence->strides[last] != 1 && sequence->shape[last] > 1) return KW_ERR_NOT_IMPLEMENTED;
  plan->count = (int32_t)sequence->shape[last];
  plan->result = out->dtype;
  kw_tensor_ref starts = *sequence;
  starts.shape[last] = 1;
  kw_loop_begin(&plan->loop, out);
  kw_loop_add(&plan->loop, self);
  if (sequence->rank == 1) {
    kw_loop_add_constant(&plan->loop);
  } else {
    kw_loop_add(&plan->loop, &starts);
  }
  kw_loop_make_in_order(&plan->loop);
  return kw_port_open(&plan->values, self->dtype, kw_lane_of(self->dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct search_run {
  const search_plan *plan;
  bool right; /* behind equals */
  char *base[3];
} search_run;

static void write_places(const search_plan *plan, char *to, int64_t step, const int32_t *places, int64_t n) {
  if (plan->result == KW_I32) {
    for (int64_t i = 0; i < n; i++) memcpy(to + i * step, &places[i], sizeof *places);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t place = places[i];
    memcpy(to + i * step, &place, sizeof place);
  }
}

/* Values that lie in a row belong to one line, unless rows of one value were left out. */
static void search_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const search_run *run = context;
  const search_plan *plan = run->plan;
  const int64_t block = step[2] == 0 ? KW_LANE_BLOCK : 1;
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
  int32_t places[KW_LANE_BLOCK];
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = n - i < block ? n - i : block;
    const void *values = kw_port_lanes(&plan->values, at[1] + i * step[1], step[1], count, lanes);
    kw_fast_isa()->search[plan->values.lane](places, at[2] + i * step[2], plan->count, values, count, run->right);
    write_places(plan, at[0] + i * step[0], step[0], places, count);
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  const search_run *run = user;
  kw_loop_run(&run->plan->loop, run->base, begin, end, search_row, user);
}

static kw_status run_search(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const kw_value *side = &call->args[4];
  search_run run = {.plan = the_plan};
  run.right = call->args[3].u.b || (side->tag == KW_TAG_STRING && strcmp(side->u.s, "right") == 0);
  run.base[0] = kw_walk_base(call->outs[0]);
  run.base[1] = kw_walk_base(call->args[1].u.tensor);
  run.base[2] = kw_walk_base(call->args[0].u.tensor);
  return host->parallel_for(host->ctx, run.plan->loop.numel, GRAIN, run_piece, &run);
}

static const kw_fast_kernel kernels[] = {
    {.op = "searchsorted.Tensor",
     .dtypes = KW_DTYPES_NUM,
     .flags = KW_KERNEL_DATA_ERRORS,
     .plan_size = sizeof(search_plan),
     .make_plan = plan_search,
     .run = run_search},
};

kw_fast_family kw_fast_search(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
