/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that choose elements by what a tensor holds: nonzero, masked_select, masked_scatter. Pieces of the tensor are
 * counted first, all at once; then each knows where what it chooses begins.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "selection.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

#define PIECE 16384 /* elements, the same for any number of threads */

/* The loop is in row-major order; operand 0 is the tensor that says which elements are chosen. */
typedef struct mask_plan {
  kw_loop loop;
  kw_port port;  /* of operand 0 */
  bool is_bytes; /* it holds bools */
  uint32_t move; /* kw_strided_size of what is moved */
} mask_plan;
_Static_assert(sizeof(mask_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

typedef struct mask_run {
  const mask_plan *plan;
  const kw_call *call;
  char *base[KW_LOOP_OPERANDS];
  kw_row_fn row;   /* what is done with the elements of a piece */
  int64_t *chosen; /* by piece: how many, and then how many before it; behind the last one all */
  char *line;      /* where chosen elements lie side by side, line_step bytes apart: there is room for so many */
  int64_t line_step, room;
} mask_run;

/* A thread's place in a piece: the next element, the next that is chosen, where that lies in the line, and for how many
 * of the piece there is room. */
typedef struct mask_place {
  const mask_run *run;
  int64_t element, chosen;
  char *next;
  int64_t left;
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
  uint8_t unset[KW_LANE_BLOCK];
} mask_place;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* For each of n elements of operand 0, at most a block of them, whether it is zero. */
static const uint8_t *read_unset(mask_place *place, const char *at, int64_t step, int64_t n) {
  const mask_plan *plan = place->run->plan;
  if (plan->is_bytes && step == 1) {
    const void *bytes = at;
    kw_fast_isa()->pointwise[KW_POINTWISE_LOGICAL_NOT][KW_LANE_BYTE](place->unset, &bytes, n);
  } else if (plan->is_bytes) {
    for (int64_t i = 0; i < n; i++) place->unset[i] = at[i * step] == 0;
  } else {
    const void *lanes = kw_port_lanes(&plan->port, at, step, n, place->lanes);
    kw_fast_isa()->pointwise[KW_POINTWISE_LOGICAL_NOT][plan->port.lane](place->unset, &lanes, n);
  }
  return place->unset;
}

static void count_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  mask_place *place = context;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const uint8_t *unset = read_unset(place, at[0] + i * step[0], step[0], count);
    uint32_t zeroes = 0;
    for (int64_t k = 0; k < count; k++) zeroes += unset[k];
    place->chosen += count - zeroes;
  }
}

static int64_t piece_end(const mask_plan *plan, int64_t piece) {
  const int64_t end = (piece + 1) * PIECE;
  return end < plan->loop.numel ? end : plan->loop.numel;
}

static void count_pieces(void *user, int64_t begin, int64_t end) {
  const mask_run *run = user;
  kw_loop mask = run->plan->loop;
  mask.operands = 1;
  for (int64_t piece = begin; piece < end; piece++) {
    mask_place place;
    place.run = run;
    place.chosen = 0;
    kw_loop_run(&mask, run->base, piece * PIECE, piece_end(run->plan, piece), count_row, &place);
    run->chosen[piece] = place.chosen;
  }
}

static void run_pieces(void *user, int64_t begin, int64_t end) {
  const mask_run *run = user;
  for (int64_t piece = begin; piece < end; piece++) {
    mask_place place;
    place.run = run;
    place.element = piece * PIECE;
    place.chosen = run->chosen[piece];
    place.next = run->line + place.chosen * run->line_step;
    place.left = kw_least(run->chosen[piece + 1], run->room) - place.chosen;
    kw_loop_run(&run->plan->loop, run->base, piece * PIECE, piece_end(run->plan, piece), run->row, &place);
  }
}

/* Counts, and then does what run->row does with all elements. */
static kw_status choose(const kw_host_api *host, mask_run *run, int64_t *out_total) {
  const int64_t pieces = (run->plan->loop.numel + PIECE - 1) / PIECE;
  void *room;
  *out_total = 0;
  if (pieces == 0) return KW_OK;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)(pieces + 1) * sizeof(int64_t), sizeof(int64_t), &room);
  if (status != KW_OK) return status;
  run->chosen = room;
  status = host->parallel_for(host->ctx, pieces, 1, count_pieces, run);
  for (int64_t piece = 0; piece < pieces; piece++) {
    const int64_t count = run->chosen[piece];
    run->chosen[piece] = *out_total;
    *out_total += count;
  }
  run->chosen[pieces] = *out_total;
  if (status == KW_OK) status = host->parallel_for(host->ctx, pieces, 1, run_pieces, run);
  host->host_free(host->ctx, room);
  return status;
}

static kw_status choose_counted(const kw_host_api *host, mask_run *run) {
  int64_t total;
  const kw_status status = choose(host, run, &total);
  if (status == KW_OK) kw_number_store_int(KW_I64, kw_walk_base(run->call->outs[1]), total);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* The indices of a chosen element, from its number in row-major order. */
static void write_indices(const kw_call *call, int64_t row, int64_t element) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  int64_t *indices = (int64_t *)(void *)kw_walk_base(out) + row * out->strides[0];
  for (uint32_t d = self->rank; d-- > 1; element /= self->shape[d]) {
    indices[d * out->strides[1]] = element % self->shape[d];
  }
  if (self->rank > 0) indices[0] = element;
}

static void nonzero_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  mask_place *place = context;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const uint8_t *unset = read_unset(place, at[0] + i * step[0], step[0], count);
    for (int64_t k = 0; k < count; k++, place->element++) {
      if (!unset[k]) write_indices(place->run->call, place->chosen++, place->element);
    }
  }
}

/* The same of a tensor of rank 1. Each element takes the next place of the line, which is another's if it is not
 * chosen: so there is no branch, which a processor could not foresee. */
static void nonzero_line(void *context, char *const *at, const int64_t *step, int64_t n) {
  mask_place *place = context;
  const int64_t line_step = place->run->line_step;
  char *to = place->next;
  int64_t left = place->left;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const uint8_t *unset = read_unset(place, at[0] + i * step[0], step[0], count);
    for (int64_t k = 0; k < count && left > 0; k++) {
      *(int64_t *)(void *)to = place->element + i + k;
      to += unset[k] ? 0 : line_step;
      left -= !unset[k];
    }
  }
  place->element += n;
  place->next = to;
  place->left = left;
}

/* Operands: mask, self. As nonzero_line. */
#define SELECT(name, type)                                                           \
  static void name(void *context, char *const *at, const int64_t *step, int64_t n) { \
    mask_place *place = context;                                                     \
    const char *mask = at[0], *from = at[1];                                         \
    const int64_t line_step = place->run->line_step;                                 \
    char *to = place->next;                                                          \
    int64_t left = place->left;                                                      \
    for (int64_t i = 0; i < n && left > 0; i++, mask += step[0], from += step[1]) {  \
      const bool is_set = *mask != 0;                                                \
      *(type *)(void *)to = *(const type *)(const void *)from;                       \
      to += is_set ? line_step : 0;                                                  \
      left -= is_set;                                                                \
    }                                                                                \
    place->next = to;                                                                \
    place->left = left;                                                              \
  }
SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)
SELECT(select_16, kw_pair)

/* Operands: mask, the result, self. The same from the line, as long as it has elements; the rest is self's. */
#define SCATTER(name, type, number)                                                   \
  static void name(void *context, char *const *at, const int64_t *step, int64_t n) {  \
    mask_place *place = context;                                                      \
    const char *mask = at[0], *kept = at[2], *from = place->next;                     \
    char *to = at[1];                                                                 \
    int64_t left = place->left, i = 0;                                                \
    for (; i < n && left > 0; i++, mask += step[0], to += step[1], kept += step[2]) { \
      const bool is_set = *mask != 0;                                                 \
      const char *source = is_set ? from : kept;                                      \
      *(type *)(void *)to = *(const type *)(const void *)source;                      \
      from += is_set ? sizeof(type) : 0;                                              \
      left -= is_set;                                                                 \
    }                                                                                 \
    kw_fast_isa()->move[number](to, step[1], kept, step[2], n - i);                   \
    place->next = (char *)(uintptr_t)from;                                            \
    place->left = left;                                                               \
  }
SCATTER(scatter_1, uint8_t, 0)
SCATTER(scatter_2, uint16_t, 1)
SCATTER(scatter_4, uint32_t, 2)
SCATTER(scatter_8, uint64_t, 3)
SCATTER(scatter_16, kw_pair, 4)

static const kw_row_fn select_rows[KW_MOVE_SIZES] = {select_1, select_2, select_4, select_8, select_16};
static const kw_row_fn scatter_rows[KW_MOVE_SIZES] = {scatter_1, scatter_2, scatter_4, scatter_8, scatter_16};

static kw_status plan_nonzero(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  mask_plan *plan = out_plan;
  (void)kernel;
  plan->is_bytes = self->dtype == KW_BOOL;
  if (call->outs[0]->dtype != KW_I64 || call->outs[1]->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_port_open(&plan->port, self->dtype, kw_lane_of(self->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  kw_loop_begin(&plan->loop, self);
  kw_loop_make_in_order(&plan->loop);
  return KW_OK;
}

static kw_status run_nonzero(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  mask_run run = {.plan = plan,
                  .call = call,
                  .row = self->rank == 1 ? nonzero_line : nonzero_row,
                  .line = kw_walk_base(out),
                  .line_step = kw_loop_step(out, 0),
                  .room = INT64_MAX,
                  .base = {kw_walk_base(self)}};
  return choose_counted(host, &run);
}

/* `shape` has the shape to which mask, self and the result, where it is one of them, broadcast. */
static kw_status plan_masked(const kw_call *call, const kw_tensor_ref *shape, const kw_tensor_ref *to,
                             mask_plan *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *mask = call->args[1].u.tensor;
  if (mask->dtype != KW_BOOL || call->outs[0]->dtype != self->dtype) return KW_ERR_NOT_IMPLEMENTED;
  plan->is_bytes = true;
  plan->move = kw_strided_size(self->dtype);
  kw_loop_begin(&plan->loop, shape);
  plan->loop.operands = 0; /* what has the shape is added in its turn */
  memset(plan->loop.step[0], 0, sizeof plan->loop.step[0]);
  kw_loop_add(&plan->loop, mask);
  if (to) kw_loop_add(&plan->loop, to);
  kw_loop_add(&plan->loop, self);
  kw_loop_make_in_order(&plan->loop);
  return KW_OK;
}

/* Only where self or the mask has the shape that both broadcast to. */
static kw_status plan_select(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *mask = call->args[1].u.tensor;
  const kw_tensor_ref *shape =
      self->rank > mask->rank || (self->rank == mask->rank && self->numel >= mask->numel) ? self : mask;
  const kw_tensor_ref *other = shape == self ? mask : self;
  (void)kernel;
  if (call->outs[1]->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t d = 0; d < other->rank; d++) {
    const int64_t size = other->shape[d], of_shape = shape->shape[shape->rank - other->rank + d];
    if (size != 1 && size != of_shape) return KW_ERR_NOT_IMPLEMENTED;
  }
  return plan_masked(call, shape, NULL, plan);
}

static kw_status run_select(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const mask_plan *plan = the_plan;
  const kw_tensor_ref *out = call->outs[0];
  mask_run run = {.plan = plan,
                  .call = call,
                  .row = select_rows[plan->move],
                  .line = kw_walk_base(out),
                  .line_step = kw_loop_step(out, 0),
                  .room = INT64_MAX,
                  .base = {kw_walk_base(call->args[1].u.tensor), kw_walk_base(call->args[0].u.tensor)}};
  return choose_counted(host, &run);
}

static kw_status plan_scatter(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref *source = call->args[2].u.tensor, *out = call->outs[0];
  (void)kernel;
  if (source->dtype != out->dtype || !kw_strided_is_dense(source)) return KW_ERR_NOT_IMPLEMENTED;
  return plan_masked(call, out, out, plan);
}

static kw_status run_scatter(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const mask_plan *plan = the_plan;
  const kw_tensor_ref *source = call->args[2].u.tensor;
  mask_run run = {.plan = plan,
                  .call = call,
                  .row = scatter_rows[plan->move],
                  .line = kw_walk_base(source),
                  .line_step = INT64_C(1) << plan->move,
                  .room = source->numel,
                  .base = {kw_walk_base(call->args[1].u.tensor), kw_walk_base(call->outs[0]),
                           kw_walk_base(call->args[0].u.tensor)}};
  int64_t total;
  const kw_status status = choose(host, &run, &total);
  if (status == KW_OK && total > source->numel) kw_selection_blame(call, 2);
  return status;
}

#define KERNEL(name, keys, also, noun)                                                                   \
  {                                                                                                      \
    .op = name, .dtypes = keys, .flags = also, .plan_size = sizeof(mask_plan), .make_plan = plan_##noun, \
    .run = run_##noun                                                                                    \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("nonzero", KW_DTYPES_REAL, 0, nonzero),
    KERNEL("masked_select", KW_DTYPES_ANY, 0, select),
    KERNEL("masked_scatter", KW_DTYPES_ANY, KW_KERNEL_DATA_ERRORS, scatter),
};

kw_fast_family kw_fast_masks(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
