/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers: elements take the words that the reference gives them (words.h), by their place in row-major order,
 * whatever the strides and the threads.
 */
#include "fast.h"

#include "loop.h"
#include "operand.h"
#include "walk.h"
#include "words.h"

#include <string.h>

#define GRAIN 4096         /* the fewest elements that a thread is woken for */
#define ROOM KW_LANE_BLOCK /* elements whose numbers are made at once: whole blocks of words */

struct random_run;

/* The numbers of up to ROOM elements that follow each other, the first of which has a block's first word. */
typedef struct numbers {
  const struct random_run *run;
  int64_t begin, end; /* of the elements */
  int64_t next;       /* the element that is written next, */
  int64_t last;       /* and the end of the thread's */
  uint32_t words[2][ROOM];
  _Alignas(64) char lanes[ROOM * KW_LANE_BYTES];
  _Alignas(64) char read[ROOM * KW_LANE_BYTES], written[ROOM * KW_LANE_BYTES];
} numbers;

/* How an op makes its numbers. */
typedef struct random_op {
  /* `count` lanes of n->lanes from n->words. */
  void (*make)(numbers *n, int64_t count);
  /* What is written from lanes and from arguments at at[1] ... for `count` elements; NULL: the lanes. */
  void (*put)(numbers *n, char *const *at, const int64_t *step, const char *lanes, int64_t count);
} random_op;

typedef struct random_plan {
  kw_loop loop;             /* operand 0 is the result, the others follow as `put` knows them */
  kw_lane numbers, results; /* lanes: what is made, and what is read and written by `put` */
  kw_port port;             /* between results and elements */
  int cut;                  /* the lowest bits of a word that numbers have no room for */
} random_plan;

typedef struct random_run {
  const random_plan *plan;
  const random_op *op;
  const kw_isa *isa;
  kw_words words;
  bool pairs; /* a number takes 64 bits */
  char *base[KW_LOOP_OPERANDS];
  double x0, x1; /* what the op is given */
  int64_t first; /* of integers, */
  uint64_t range;
  bool draws; /* dropout's mask; otherwise it is true everywhere */
} random_run;

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

/* Makes the numbers from the next element's block on. */
static void refill(numbers *n) {
  const random_run *run = n->run;
  n->begin = n->next & ~INT64_C(3);
  n->end = n->last - n->begin < ROOM ? n->last : n->begin + ROOM;
  const int64_t blocks = (n->end - n->begin + 3) / 4;
  const uint64_t first = run->words.offset + (uint64_t)n->begin / 4;
  run->isa->philox(n->words[0], run->words.seed, first, 0, blocks);
  if (run->pairs) run->isa->philox(n->words[1], run->words.seed, first, 1, blocks);
  run->op->make(n, 4 * blocks);
}

static void random_row(void *context, char *const *at, const int64_t *step, int64_t count) {
  numbers *n = context;
  const random_run *run = n->run;
  const int64_t lane_size = run->plan->numbers == KW_LANE_F32 ? 4 : 8;
  char *now[KW_LOOP_OPERANDS];
  for (uint32_t k = 0; k < run->plan->loop.operands; k++) now[k] = at[k];
  while (count > 0) {
    if (n->next >= n->end) refill(n);
    const int64_t part = n->end - n->next < count ? n->end - n->next : count;
    const char *lanes = n->lanes + (n->next - n->begin) * lane_size;
    if (run->op->put) {
      run->op->put(n, now, step, lanes, part);
    } else {
      kw_port_write(&run->plan->port, now[0], step[0], lanes, part);
    }
    for (uint32_t k = 0; k < run->plan->loop.operands; k++) now[k] += part * step[k];
    n->next += part;
    count -= part;
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  const random_run *run = user;
  numbers n;
  n.run = run;
  n.begin = n.end = n.next = begin;
  n.last = end;
  kw_loop_run(&run->plan->loop, run->base, begin, end, random_row, &n);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static void make_uniform(numbers *n, int64_t count) {
  const random_run *run = n->run;
  if (run->plan->numbers == KW_LANE_F64) {
    run->isa->uniform_f64((double *)(void *)n->lanes, n->words[0], n->words[1], count);
  } else {
    run->isa->uniform_f32((float *)(void *)n->lanes, n->words[0], run->plan->cut, count);
  }
}

static void make_uniform_between(numbers *n, int64_t count) {
  const random_run *run = n->run;
  make_uniform(n, count);
  if (run->plan->numbers == KW_LANE_F64) {
    double *lanes = (double *)(void *)n->lanes;
    for (int64_t i = 0; i < count; i++) lanes[i] = run->x0 + lanes[i] * (run->x1 - run->x0);
  } else {
    float *lanes = (float *)(void *)n->lanes;
    const float from = (float)run->x0, to = (float)run->x1;
    for (int64_t i = 0; i < count; i++) lanes[i] = from + lanes[i] * (to - from);
  }
}

/* Box and Muller's, from pairs of elements: the radius by the first one's word, the angle by the second one's. */
#define MAKE_NORMAL(name, T, LANE, step)                                                       \
  static void name(numbers *n, int64_t count) {                                                \
    const random_run *run = n->run;                                                            \
    const T mean = (T)run->x0, std = (T)run->x1;                                               \
    T *lanes = (T *)(void *)n->lanes, radius[ROOM / 2], angle[ROOM / 2], cosine[ROOM / 2];     \
    make_uniform(n, count);                                                                    \
    for (int64_t i = 0; i < count / 2; i++) {                                                  \
      radius[i] = lanes[2 * i] + (T)(step);                                                    \
      angle[i] = (T)6.283185307179586476925286766559 * lanes[2 * i + 1];                       \
    }                                                                                          \
    run->isa->pointwise[KW_POINTWISE_LOG][LANE](radius, (const void *[]){radius}, count / 2);  \
    for (int64_t i = 0; i < count / 2; i++) radius[i] *= -2;                                   \
    run->isa->pointwise[KW_POINTWISE_SQRT][LANE](radius, (const void *[]){radius}, count / 2); \
    run->isa->pointwise[KW_POINTWISE_COS][LANE](cosine, (const void *[]){angle}, count / 2);   \
    run->isa->pointwise[KW_POINTWISE_SIN][LANE](angle, (const void *[]){angle}, count / 2);    \
    for (int64_t i = 0; i < count / 2; i++) {                                                  \
      lanes[2 * i] = mean + std * (radius[i] * cosine[i]);                                     \
      lanes[2 * i + 1] = mean + std * (radius[i] * angle[i]);                                  \
    }                                                                                          \
  }
MAKE_NORMAL(make_normal_f32, float, KW_LANE_F32, 0x1p-24)
MAKE_NORMAL(make_normal_f64, double, KW_LANE_F64, 0x1p-53)

static void make_normal(numbers *n, int64_t count) {
  if (n->run->plan->numbers == KW_LANE_F64) {
    make_normal_f64(n, count);
  } else {
    make_normal_f32(n, count);
  }
}

/* 1 where a number is below the probability, otherwise 0. */
static void make_bernoulli(numbers *n, int64_t count) {
  float *lanes = (float *)(void *)n->lanes;
  const float p = (float)n->run->x0;
  make_uniform(n, count);
  for (int64_t i = 0; i < count; i++) lanes[i] = lanes[i] < p ? 1 : 0;
}

static void make_integers(numbers *n, int64_t count) {
  const random_run *run = n->run;
  int64_t *lanes = (int64_t *)(void *)n->lanes;
  const uint32_t narrow = run->range <= UINT32_MAX ? (uint32_t)run->range : 0;
  for (int64_t i = 0; i < count; i++) {
    uint64_t step = n->words[0][i];
    if (run->pairs) {
      step = step << 32 | n->words[1][i];
      if (run->range > 0) step %= run->range;
    } else if (narrow > 0) {
      step = (uint32_t)step % narrow;
    }
    lanes[i] = (int64_t)((uint64_t)run->first + step);
  }
}

/* ---- With arguments ---------------------------------------------------------------------------------------------- */

/* Argument 0 holds the probabilities. */
static void put_bernoulli(numbers *n, char *const *at, const int64_t *step, const char *lanes, int64_t count) {
  const random_plan *plan = n->run->plan;
  kw_port_read(&plan->port, n->read, at[1], step[1], count);
  if (plan->results == KW_LANE_F64) {
    const double *p = (const double *)(const void *)n->read, *x = (const double *)(const void *)lanes;
    double *out = (double *)(void *)n->written;
    for (int64_t i = 0; i < count; i++) out[i] = x[i] < p[i] ? 1 : 0;
  } else {
    const float *p = (const float *)(const void *)n->read, *x = (const float *)(const void *)lanes;
    float *out = (float *)(void *)n->written;
    for (int64_t i = 0; i < count; i++) out[i] = x[i] < p[i] ? 1 : 0;
  }
  kw_port_write(&plan->port, at[0], step[0], n->written, count);
}

/* Argument 0, scaled where a number is below x0, and 0 elsewhere; at[2] is the mask. */
#define PUT_DROPOUT(name, T)                                                                             \
  static void name(numbers *n, char *const *at, const int64_t *step, const char *lanes, int64_t count) { \
    const random_run *run = n->run;                                                                      \
    const float *x = (const float *)(const void *)lanes, kept = (float)run->x0;                          \
    const T scale = (T)run->x1, *in = (const T *)(const void *)n->read;                                  \
    T *out = (T *)(void *)n->written;                                                                    \
    kw_port_read(&run->plan->port, n->read, at[1], step[1], count);                                      \
    for (int64_t i = 0; i < count; i++) {                                                                \
      const bool mask = !run->draws || x[i] < kept;                                                      \
      at[2][i * step[2]] = (char)mask;                                                                   \
      out[i] = in[i] * (mask ? scale : 0);                                                               \
    }                                                                                                    \
    kw_port_write(&run->plan->port, at[0], step[0], n->written, count);                                  \
  }
PUT_DROPOUT(put_dropout_f32, float)
PUT_DROPOUT(put_dropout_f64, double)

static void put_dropout(numbers *n, char *const *at, const int64_t *step, const char *lanes, int64_t count) {
  if (n->run->plan->results == KW_LANE_F64) {
    put_dropout_f64(n, at, step, lanes, count);
  } else {
    put_dropout_f32(n, at, step, lanes, count);
  }
}

/* ---- Plan and run ------------------------------------------------------------------------------------------------ */

static const random_op uniform = {.make = make_uniform_between}, normal = {.make = make_normal},
                       bernoulli = {.make = make_uniform, .put = put_bernoulli},
                       bernoulli_float = {.make = make_bernoulli}, integers = {.make = make_integers},
                       dropout = {.make = make_uniform, .put = put_dropout};

#define CUT_OF_F32 8

static int cut_of(kw_dtype dtype) {
  return dtype == KW_F16 ? 21 : dtype == KW_BF16 ? 24 : CUT_OF_F32;
}

static kw_status plan_random(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *out = call->outs[0];
  const random_op *op = kernel->family;
  random_plan *plan = out_plan;
  const bool is_wide = out->dtype == KW_F64, has_input = op == &bernoulli || op == &dropout;
  if (op == &integers) {
    plan->numbers = KW_LANE_I64;
  } else if (op == &dropout || op == &bernoulli_float || !is_wide) {
    plan->numbers = KW_LANE_F32;
  } else {
    plan->numbers = KW_LANE_F64;
  }
  plan->results = op == &dropout && is_wide ? KW_LANE_F64 : plan->numbers;
  plan->cut = op == &uniform ? cut_of(out->dtype) : CUT_OF_F32;
  if (has_input && call->args[0].u.tensor->dtype != out->dtype) return KW_ERR_NOT_IMPLEMENTED;
  kw_loop_begin(&plan->loop, out);
  if (has_input) kw_loop_add(&plan->loop, call->args[0].u.tensor);
  if (op == &dropout) kw_loop_add(&plan->loop, call->outs[1]);
  kw_loop_make_in_order(&plan->loop);
  return kw_port_open_out(&plan->port, out->dtype, plan->results) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static double number_of(const kw_value *value) {
  const kw_element element = kw_operand_scalar(value);
  return kw_number_load(element.dtype, element.bytes);
}

static kw_status run_random(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const kw_fast_kernel *kernel = call->user;
  const random_plan *plan = the_plan;
  random_run run = {.plan = plan, .op = kernel->family, .isa = kw_fast_isa(), .words = kw_words_of(call)};
  run.base[0] = kw_walk_base(call->outs[0]);
  run.pairs = plan->numbers == KW_LANE_F64;
  if (run.op == &integers) {
    run.first = kw_words_range(call, &run.range);
    run.pairs = run.range == 0 || run.range - 1 > UINT32_MAX;
  } else if (run.op == &dropout) {
    const double p = call->args[1].u.f;
    run.x0 = 1 - p;
    run.draws = call->args[2].tag == KW_TAG_NONE || call->args[2].u.b;
    run.x1 = !run.draws ? 1 : p < 1 ? 1 / (1 - p) : 0;
    run.base[1] = kw_walk_base(call->args[0].u.tensor);
    run.base[2] = kw_walk_base(call->outs[1]);
  } else if (run.op == &bernoulli) {
    run.base[1] = kw_walk_base(call->args[0].u.tensor);
  } else {
    run.x0 = number_of(&call->args[1]);
    if (run.op != &bernoulli_float) run.x1 = number_of(&call->args[2]);
  }
  return host->parallel_for(host->ctx, plan->loop.numel, GRAIN, run_piece, &run);
}

#define KERNEL(name, keys, which)                                                                               \
  {                                                                                                             \
    .op = name, .dtypes = keys, .plan_size = sizeof(random_plan), .family = &(which), .make_plan = plan_random, \
    .run = run_random                                                                                           \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("uniform_", KW_DTYPES_FLOAT, uniform),
    KERNEL("normal_", KW_DTYPES_FLOAT, normal),
    KERNEL("bernoulli", KW_DTYPES_FLOAT, bernoulli),
    KERNEL("bernoulli_.float", KW_DTYPES_REAL, bernoulli_float),
    KERNEL("random_.from", KW_DTYPES_INTEGRAL | KW_DTYPES_WIDE_FLOAT, integers),
    KERNEL("native_dropout", KW_DTYPES_FLOAT, dropout),
};

kw_fast_family kw_fast_random(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
