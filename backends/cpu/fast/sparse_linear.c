/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers whose weights are sparse: two of every four, or blocks. The input is turned, so that a weight meets an
 * element of every row at once, and one that is not there meets none.
 */
#include "fast.h"

#include "index.h"
#include "loop.h"
#include "number.h"
#include "selection.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

#define TERMS 1024      /* of a sum, before a double takes it */
#define GRAIN (1 << 17) /* products: the fewest that a thread is woken for */

typedef struct sparse_run sparse_run;
typedef struct sparse_room sparse_room;

typedef struct sparse_op {
  uint32_t values; /* the argument; behind the last one of the weights stands the bias */
  uint32_t bias;
  void (*row)(sparse_room *room, int64_t j); /* takes the terms of row j of the weights */
} sparse_op;

typedef struct sparse_plan {
  kw_port values, out;
} sparse_plan;

struct sparse_run {
  const kw_host_api *host;
  const kw_call *call;
  const sparse_op *op;
  const sparse_plan *plan;
  const float *inputs; /* [k][m] */
  int64_t m, k;
  atomic_int status;
};

/* Of a thread: terms that wait, and sums for each row of the input. */
struct sparse_room {
  const sparse_run *of;
  float *sums;
  double *totals;
  int64_t count;
  const void *lines[TERMS]; /* of the inputs */
  _Alignas(64) float weights[TERMS];
  _Alignas(64) float values[TERMS];
};

/* ---- Terms ------------------------------------------------------------------------------------------------------- */

/* Adds what waits. */
static void flush(sparse_room *room) {
  const int64_t m = room->of->m, whole = room->count / KW_PRODUCT_LINES * KW_PRODUCT_LINES;
  const kw_product *product = &kw_fast_isa()->product[KW_LANE_F32];
  memset(room->sums, 0, (size_t)m * sizeof(float));
  for (int64_t t = 0; t < whole; t += KW_PRODUCT_LINES) {
    product->add_lines(room->sums, room->weights + t, room->lines + t, m);
  }
  for (int64_t t = whole; t < room->count; t++) {
    const float *line = room->lines[t], weight = room->weights[t];
    for (int64_t i = 0; i < m; i++) room->sums[i] += weight * line[i];
  }
  for (int64_t i = 0; i < m; i++) room->totals[i] += room->sums[i];
  room->count = 0;
}

static void take(sparse_room *room, int64_t column, float weight) {
  if (room->count == TERMS) flush(room);
  room->lines[room->count] = room->of->inputs + column * room->of->m;
  room->weights[room->count++] = weight;
}

static const kw_tensor_ref *tensor_of(const sparse_room *room, uint32_t argument) {
  return room->of->call->args[argument].u.tensor;
}

/* Arguments 1 and 2: two values of every four, and a nibble for each four: their places, the first one lower. */
static void take_sparse24(sparse_room *room, int64_t j) {
  const kw_tensor_ref *values = tensor_of(room, 1), *meta = tensor_of(room, 2);
  const int64_t step = kw_loop_step(values, 1), count = room->of->k / 2, meta_step = kw_loop_step(meta, 1);
  const char *from = kw_walk_base(values) + j * kw_loop_step(values, 0);
  const uint8_t *bytes = (const uint8_t *)kw_walk_base(meta) + j * kw_loop_step(meta, 0);
  for (int64_t first = 0; first < count; first += TERMS) {
    const int64_t n = kw_least(TERMS, count - first);
    kw_port_read(&room->of->plan->values, room->values, from + first * step, step, n);
    for (int64_t v = first; v < first + n; v++) {
      const int place = bytes[v / 4 * meta_step] >> (v % 4 * 2) & 3;
      take(room, v / 2 * 4 + place, room->values[v - first]);
    }
  }
}

static int64_t index_at(const kw_tensor_ref *tensor, int64_t i) {
  return kw_number_load_int(tensor->dtype, kw_walk_base(tensor) + i * kw_loop_step(tensor, 0));
}

/* Arguments 1 to 3: where the blocks of each row of blocks begin, and end; their columns, in blocks; the blocks.
 * Nothing is read for an index that is out of range. */
static void take_blocks(sparse_room *room, int64_t j) {
  const kw_tensor_ref *rows = tensor_of(room, 1), *columns = tensor_of(room, 2), *values = tensor_of(room, 3);
  const int64_t height = values->shape[1], width = values->shape[2], step = kw_loop_step(values, 2);
  const int64_t first = index_at(rows, j / height), last = index_at(rows, j / height + 1);
  if (first < 0 || last > values->shape[0]) return;
  for (int64_t b = first; b < last; b++) {
    const int64_t column = index_at(columns, b);
    if (column < 0 || column >= room->of->k / width) continue;
    const char *from = kw_walk_base(values) + b * kw_loop_step(values, 0) + j % height * kw_loop_step(values, 1);
    for (int64_t p = 0; p < width; p += TERMS) {
      const int64_t n = kw_least(TERMS, width - p);
      kw_port_read(&room->of->plan->values, room->values, from + p * step, step, n);
      for (int64_t i = 0; i < n; i++) take(room, column * width + p + i, room->values[i]);
    }
  }
}

/* Rows of blocks follow each other and are all the blocks there are; their columns are in the input. */
static void check_blocks(const kw_call *call) {
  const kw_tensor_ref *rows = call->args[1].u.tensor, *columns = call->args[2].u.tensor;
  const int64_t count = columns->shape[0], across = call->args[0].u.tensor->shape[1] / call->args[3].u.tensor->shape[2];
  int64_t before = 0;
  for (int64_t r = 0; r < rows->shape[0]; r++) {
    const int64_t start = index_at(rows, r);
    const bool is_wrong_end = (r == 0 && start != 0) || (r + 1 == rows->shape[0] && start != count);
    if (is_wrong_end || start < before || start > count) kw_selection_blame(call, 1);
    before = start;
  }
  for (int64_t b = 0; b < count; b++) {
    const int64_t column = index_at(columns, b);
    if (column < 0 || column >= across) kw_selection_blame(call, 2);
  }
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void run_rows(void *user, int64_t begin, int64_t end) {
  sparse_run *run = user;
  const kw_tensor_ref *out = run->call->outs[0];
  const kw_value *bias = &run->call->args[run->op->bias];
  const uint64_t sums = (uint64_t)run->m * (sizeof(double) + sizeof(float));
  sparse_room *room = kw_fast_room(run->host, sizeof *room + sums, &run->status);
  if (!room) return;
  room->of = run;
  room->totals = (double *)(void *)(room + 1);
  room->sums = (float *)(void *)(room->totals + run->m);
  for (int64_t j = begin; j < end; j++) {
    room->count = 0;
    memset(room->totals, 0, (size_t)run->m * sizeof(double));
    run->op->row(room, j);
    flush(room);
    float added = -0.0f; /* x + -0.0 is x */
    if (bias->tag == KW_TAG_TENSOR) {
      const kw_tensor_ref *all = bias->u.tensor;
      added = (float)kw_number_load(all->dtype, kw_walk_base(all) + j * kw_loop_step(all, 0));
    }
    for (int64_t i = 0; i < run->m; i++) room->sums[i] = (float)room->totals[i] + added;
    char *to = kw_walk_base(out) + j * kw_loop_step(out, 1);
    kw_port_write(&run->plan->out, to, kw_loop_step(out, 0), room->sums, run->m);
  }
  run->host->host_free(run->host->ctx, room);
}

static kw_status plan_sparse(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const sparse_op *op = kernel->family;
  const kw_tensor_ref *values = call->args[op->values].u.tensor, *out = call->outs[0];
  sparse_plan *plan = out_plan;
  bool serves = kw_port_open(&plan->values, values->dtype, KW_LANE_F32) &&
                kw_port_open(&plan->out, out->dtype, KW_LANE_F32) &&
                kw_strided_serves(KW_F32, call->args[0].u.tensor->dtype);
  if (op->row == take_sparse24) {
    serves = serves && call->args[2].u.tensor->dtype == KW_U8;
  } else {
    serves = serves && kw_index_is_index(call, 1) && kw_index_is_index(call, 2);
  }
  return serves ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_sparse(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const kw_tensor_ref *input = call->args[0].u.tensor, *out = call->outs[0];
  sparse_run run = {.host = host, .call = call, .op = kernel->family, .plan = plan};
  run.m = out->shape[0];
  run.k = input->shape[1];
  if (run.op->row == take_blocks) check_blocks(call);
  if (out->numel == 0) return KW_OK;
  void *inputs;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)(run.m * run.k) * sizeof(float) + 1, 64, &inputs);
  if (status != KW_OK) return status;
  kw_tensor_ref turned = kw_strided_dense_like(input, KW_F32);
  turned.mem = inputs;
  turned.strides[0] = 1;
  turned.strides[1] = run.m;
  if (input->numel > 0) status = kw_strided_copy(host, &turned, input);
  run.inputs = inputs;
  if (status == KW_OK) {
    status = host->parallel_for(host->ctx, out->shape[1], 1 + GRAIN / (out->shape[0] * (run.k + 1)), run_rows, &run);
  }
  host->host_free(host->ctx, inputs);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

#define KERNEL(name, also, ...)                                                               \
  {                                                                                           \
    .op = name, .dtypes = KW_DTYPES_FLOAT32, .flags = also, .plan_size = sizeof(sparse_plan), \
    .family = &(const sparse_op){__VA_ARGS__}, .make_plan = plan_sparse, .run = run_sparse    \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("keyway::sparse24_linear", 0, 1, 3, take_sparse24),
    KERNEL("keyway::bsr_linear", KW_KERNEL_DATA_ERRORS, 3, 4, take_blocks),
};

kw_fast_family kw_fast_sparse_linear(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
