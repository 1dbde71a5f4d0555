/* SPDX-License-Identifier: Apache-2.0
 *
 * RNN, GRU, LSTM and linear attention: a loop over time, in each step products of matrices and the gates' functions.
 */
#include <math.h>
#include <string.h>

#include "ops.h"

typedef struct cell {
  int64_t steps, batch, hidden, directions;
  unsigned gates, states;               /* per unit: 1, 3, 4 gates; LSTM has a second state */
  const value *x, *w, *r, *b, *lengths; /* of the direction: w [gates * hidden, in], r [gates * hidden, hidden] */
  const value *peep;                    /* [3 * hidden] */
  const value *h, *c;                   /* states, [batch, hidden] */
  const char *f, *g;                    /* functions of gates and of what is new */
  bool reset_after;                     /* GRU's linear_before_reset */
} cell;

static value *times(run *run, const value *a, const value *b) {
  return CALL(run, "mul.Tensor", arg(a), arg(b));
}

static value *plus(run *run, const value *a, const value *b) {
  return a && b ? CALL(run, "add.Tensor", arg(a), arg(b)) : (value *)(uintptr_t)(a ? a : b);
}

/* Part `i` of what has parts of `hidden` in its last dimension. */
static value *part(run *run, const cell *cell, const value *of, unsigned i) {
  return of ? run_slice(run, of, of->ref.rank - 1u, (int64_t)i * cell->hidden, cell->hidden, 1) : NULL;
}

/* 1 - a. */
static value *rest_of(run *run, const value *a) {
  return CALL(run, "add.Scalar", arg(CALL(run, "neg", arg(a))), kw_arg_scalar_i64(1));
}

/* a [batch, n] and a matrix [m, n]: [batch, m]. */
static value *through(run *run, const value *a, const value *matrix) {
  return matrix ? CALL(run, "mm", arg(a), arg(PERMUTE(run, matrix, 1, 0))) : NULL;
}

static void step_rnn(run *run, cell *cell, const value *in) {
  in = plus(run, in, through(run, cell->h, cell->r));
  if (cell->b) in = plus(run, in, part(run, cell, cell->b, 1));
  cell->h = CALL(run, cell->f, arg(in));
}

/* Gates z (keep), r (reset), h (new). */
static void step_gru(run *run, cell *cell, const value *in) {
  const int64_t hidden = cell->hidden;
  const value *two = run_slice(run, cell->r, 0, 0, 2 * hidden, 1),
              *last = run_slice(run, cell->r, 0, 2 * hidden, hidden, 1);
  const value *gates = plus(run, run_slice(run, in, 1, 0, 2 * hidden, 1), through(run, cell->h, two)), *z, *r, *fresh;
  const value *bias = cell->b ? run_slice(run, cell->b, 0, 3 * hidden, 3 * hidden, 1) : NULL;
  if (bias) gates = plus(run, gates, run_slice(run, bias, 0, 0, 2 * hidden, 1));
  gates = CALL(run, cell->f, arg(gates));
  z = part(run, cell, gates, 0);
  r = part(run, cell, gates, 1);
  if (cell->reset_after) {
    fresh = plus(run, through(run, cell->h, last), bias ? part(run, cell, bias, 2) : NULL);
    fresh = times(run, r, fresh);
  } else {
    fresh = plus(run, through(run, times(run, r, cell->h), last), bias ? part(run, cell, bias, 2) : NULL);
  }
  fresh = CALL(run, cell->g, arg(plus(run, part(run, cell, in, 2), fresh)));
  cell->h = plus(run, times(run, rest_of(run, z), fresh), times(run, z, cell->h));
}

/* Gates i (in), o (out), f (forget), c (new). */
static void step_lstm(run *run, cell *cell, const value *in) {
  const value *all = plus(run, in, through(run, cell->h, cell->r)), *i, *o, *f, *c;
  if (cell->b) all = plus(run, all, run_slice(run, cell->b, 0, 4 * cell->hidden, 4 * cell->hidden, 1));
  i = part(run, cell, all, 0);
  o = part(run, cell, all, 1);
  f = part(run, cell, all, 2);
  if (cell->peep) {
    i = plus(run, i, times(run, part(run, cell, cell->peep, 0), cell->c));
    f = plus(run, f, times(run, part(run, cell, cell->peep, 2), cell->c));
  }
  c = CALL(run, cell->g, arg(part(run, cell, all, 3)));
  cell->c = plus(run, times(run, CALL(run, cell->f, arg(f)), cell->c), times(run, CALL(run, cell->f, arg(i)), c));
  if (cell->peep) o = plus(run, o, times(run, part(run, cell, cell->peep, 1), cell->c));
  cell->h = times(run, CALL(run, cell->f, arg(o)), CALL(run, "tanh", arg(cell->c)));
}

/* Sequences that have ended keep their state; what a step gives of them is 0. */
static value *held(run *run, const cell *cell, const value *fresh, const value *before, int64_t t) {
  const value *runs;
  if (!cell->lengths) return (value *)(uintptr_t)fresh;
  runs = CALL(run, "gt.Scalar", arg(cell->lengths), kw_arg_scalar_i64(t));
  return before ? CALL(run, "where.self", arg(runs), arg(fresh), arg(before))
                : times(run, fresh, run_cast(run, runs, fresh ? fresh->ref.dtype : KW_F32));
}

/* One direction; its steps' results are written to `all` [steps, batch, hidden]. */
static void one_direction(run *run, cell *cell, bool backwards, const value *all) {
  for (int64_t i = 0; i < cell->steps && !run->failed; ++i) {
    const int64_t t = backwards ? cell->steps - 1 - i : i;
    const unsigned mark = run->value_count;
    const value *h = cell->h, *c = cell->c, *x = run_slice(run, cell->x, 0, t, 1, 1), *in;
    x = x ? run_reshape(run, x, 2, x->ref.shape + 1) : NULL;
    in = through(run, x, cell->w);
    if (cell->b) in = plus(run, in, run_slice(run, cell->b, 0, 0, (int64_t)cell->gates * cell->hidden, 1));
    if (cell->gates == 1) step_rnn(run, cell, in);
    if (cell->gates == 3) step_gru(run, cell, in);
    if (cell->gates == 4) step_lstm(run, cell, in);
    if (all) run_copy(run, run_slice(run, all, 0, t, 1, 1), held(run, cell, cell->h, NULL, t));
    cell->h = held(run, cell, cell->h, h, t);
    if (cell->states == 2) cell->c = held(run, cell, cell->c, c, t);
    run_forget(run, mark, &cell->h, &cell->c);
    if (run_asks(run)) return; /* every step is the same */
  }
}

/* Slice `direction` of an input's first dimension, without that dimension. */
static value *of_direction(run *run, const value *from, int64_t direction) {
  const value *one = from ? run_slice(run, from, 0, direction, 1, 1) : NULL;
  return one ? run_reshape(run, one, one->ref.rank - 1u, one->ref.shape + 1) : NULL;
}

static value *state(run *run, const cell *cell, const value *from, int64_t direction) {
  if (from) return of_direction(run, from, direction);
  return CALL(run, "full", kw_arg_int_list((int64_t[]){cell->batch, cell->hidden}, 2), kw_arg_scalar_f64(0),
              kw_arg_dtype(cell->x->ref.dtype));
}

static bool recurrent(run *run, cell cell) {
  const value *x = run_input(run, 0), *w = run_input(run, 1), *r = run_input(run, 2), *lengths = run_input(run, 4);
  const char *direction = node_text(run->node, "direction", "forward");
  const bool batch_first = node_int(run->node, "layout", 0);
  value *all, *finals[2] = {NULL};
  int64_t shape[4];
  if (!x || !w || !r) return run_refuse(run, "an input is missing");
  if (node_has(run->node, "clip") || node_has(run->node, "activations") || node_int(run->node, "input_forget", 0))
    return run_refuse(run, "clip, activations of its own or input_forget");
  if (batch_first) return run_refuse(run, "layout 1");
  cell.x = x, cell.directions = w->ref.shape[0], cell.hidden = r->ref.shape[2];
  cell.steps = x->ref.shape[0], cell.batch = x->ref.shape[1];
  if (lengths) cell.lengths = run_reshape(run, lengths, 2, (int64_t[]){cell.batch, 1});
  shape[0] = cell.steps, shape[1] = cell.directions, shape[2] = cell.batch, shape[3] = cell.hidden;
  all = run_output(run, 0, x->ref.dtype, 4, shape);
  for (unsigned i = 0; i < cell.states; ++i) finals[i] = run_output(run, 1 + i, x->ref.dtype, 3, shape + 1);
  for (int64_t d = 0; d < cell.directions && !run->failed; ++d) {
    cell.w = of_direction(run, w, d);
    cell.r = of_direction(run, r, d);
    cell.b = of_direction(run, run_input(run, 3), d);
    cell.peep = cell.states == 2 ? of_direction(run, run_input(run, 7), d) : NULL;
    cell.h = state(run, &cell, run_input(run, 5), d);
    cell.c = cell.states == 2 ? state(run, &cell, run_input(run, 6), d) : NULL;
    const value *mine = all ? run_slice(run, all, 1, d, 1, 1) : NULL;
    if (mine)
      mine = run_view(run, mine, 3, (int64_t[]){shape[0], shape[2], shape[3]},
                      (int64_t[]){mine->ref.strides[0], mine->ref.strides[2], mine->ref.strides[3]}, 0);
    one_direction(run, &cell, strcmp(direction, "reverse") == 0 || d == 1, mine);
    if (finals[0]) run_copy(run, of_direction(run, finals[0], d), cell.h);
    if (finals[1]) run_copy(run, of_direction(run, finals[1], d), cell.c);
  }
  return !run->failed;
}

bool op_rnn(run *run) {
  return recurrent(run, (cell){.gates = 1, .states = 1, .f = "tanh"});
}

bool op_gru(run *run) {
  return recurrent(run, (cell){.gates = 3,
                               .states = 1,
                               .f = "sigmoid",
                               .g = "tanh",
                               .reset_after = node_int(run->node, "linear_before_reset", 0)});
}

bool op_lstm(run *run) {
  return recurrent(run, (cell){.gates = 4, .states = 2, .f = "sigmoid", .g = "tanh"});
}

/* ---- Linear attention: a matrix for each head is what it knows --------------------------------------------------- */

typedef struct memory {
  const value *q, *k, *v, *decay, *beta; /* [batch, steps, ...], in f32; the last two may be NULL */
  const value *state;                    /* [batch * heads, keys, values], in f32 */
  int64_t batch, steps, heads, group, keys, values;
} memory;

/* Step t of an input, [batch * heads, a, b]; what all heads have in common is spread. */
static value *at_step(run *run, const memory *m, const value *of, int64_t t, int64_t a, int64_t b) {
  const value *one = of ? run_slice(run, of, 1, t, 1, 1) : NULL;
  const int64_t wide[] = {m->batch, 1, m->heads};
  if (one && one->ref.shape[2] == 1) one = run_expand(run, one, 3, wide);
  return one ? run_reshape(run, one, 3, (int64_t[]){m->batch * m->heads, a, b}) : NULL;
}

/* What is known decays, what is kept of the key is corrected or added to, and the queries read. Returns what they read.
 */
static value *step_memory(run *run, memory *m, int64_t t) {
  const value *k = at_step(run, m, m->k, t, m->keys, 1), *v = at_step(run, m, m->v, t, 1, m->values);
  if (m->decay) {
    const int64_t each = m->decay->ref.shape[2] == m->heads * m->keys ? m->keys : 1;
    m->state = times(run, m->state, CALL(run, "exp", arg(at_step(run, m, m->decay, t, each, 1))));
  }
  if (m->beta) {
    const value *known = CALL(run, "bmm", arg(at_step(run, m, m->k, t, 1, m->keys)), arg(m->state));
    v = times(run, at_step(run, m, m->beta, t, 1, 1), CALL(run, "sub.Tensor", arg(v), arg(known)));
  }
  m->state = plus(run, m->state, times(run, k, v));
  return CALL(run, "bmm", arg(at_step(run, m, m->q, t, m->group, m->keys)), arg(m->state));
}

static bool read_memory(run *run, memory *m) {
  const value *q = run_input(run, 0), *k = run_input(run, 1), *v = run_input(run, 2), *past = run_input(run, 3);
  const char *rule = node_text(run->node, "update_rule", "gated_delta");
  const int64_t q_heads = node_int(run->node, "q_num_heads", 0);
  m->heads = node_int(run->node, "kv_num_heads", 0);
  if (!q || !k || !v || q->ref.rank != 3 || v->ref.rank != 3)
    return run_refuse(run, "an input is missing, or no [batch, steps, ...]");
  if (m->heads < 1 || q_heads < 1 || q_heads % m->heads != 0) return run_refuse(run, "heads that do not divide");
  m->batch = q->ref.shape[0], m->steps = q->ref.shape[1], m->group = q_heads / m->heads;
  m->keys = q->ref.shape[2] / q_heads, m->values = v->ref.shape[2] / m->heads;
  m->q = run_cast(run, q, KW_F32), m->k = run_cast(run, k, KW_F32), m->v = run_cast(run, v, KW_F32);
  if (strstr(rule, "gated")) m->decay = run_cast(run, run_input(run, 4), KW_F32);
  if (strstr(rule, "delta")) m->beta = run_cast(run, run_input(run, 5), KW_F32);
  if ((strstr(rule, "gated") && !m->decay) || (strstr(rule, "delta") && !m->beta))
    return run_refuse(run, "%s without its decay or rate", rule);
  const int64_t shape[] = {m->batch * m->heads, m->keys, m->values};
  m->state = past ? run_reshape(run, run_cast(run, past, KW_F32), 3, shape)
                  : CALL(run, "full", kw_arg_int_list(shape, 3), kw_arg_scalar_f64(0), kw_arg_dtype(KW_F32));
  return !run->failed;
}

bool op_linear_attention(run *run) {
  double scale = node_float(run->node, "scale", 0);
  const value *none = NULL, *q = run_input(run, 0), *past = run_input(run, 3);
  value *all;
  memory m = {0};
  if (!read_memory(run, &m)) return false;
  const kw_dtype dtype = q->ref.dtype;
  const int64_t whole[] = {m.batch, m.steps, m.heads * m.group * m.values}, one[] = {m.batch, 1, whole[2]};
  if (scale == 0) scale = 1 / sqrt((double)m.keys);
  all = run_output(run, 0, dtype, 3, whole);
  for (int64_t t = 0; t < m.steps && !run->failed; ++t) {
    const unsigned mark = run->value_count;
    const value *y = CALL(run, "mul.Scalar", arg(step_memory(run, &m, t)), kw_arg_scalar_f64(scale));
    if (all) run_copy(run, run_slice(run, all, 1, t, 1, 1), run_reshape(run, y, 3, one));
    run_forget(run, mark, &m.state, &none);
    if (run_asks(run)) break; /* every step is the same */
  }
  if (!run_wants(run, 1) || run->failed) return !run->failed;
  return run_put_as(run, 1, run_cast(run, m.state, past ? past->ref.dtype : dtype), 4,
                    (int64_t[]){m.batch, m.heads, m.keys, m.values});
}

/* A convolution of each channel over what came before: the last places of what went in are kept for the next run. */
bool op_causal_conv(run *run) {
  const value *x = run_input(run, 0), *weight = run_input(run, 1), *past = run_input(run, 3), *y;
  const char *activation = node_text(run->node, "activation", "none");
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (!x || !weight || x->ref.rank != 3 || weight->ref.rank != 3)
    return run_refuse(run, "an input is missing, or of another rank");
  const int64_t kept = weight->ref.shape[2] - 1, length = x->ref.shape[2], one[] = {1}, nothing[] = {0};
  const value *longer = x;
  if (kept > 0 && past) {
    parts[0] = (value *)(uintptr_t)past, parts[1] = (value *)(uintptr_t)x;
    longer = CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(2));
  } else if (kept > 0) {
    longer = CALL(run, "constant_pad_nd", arg(x), kw_arg_int_list((int64_t[]){kept, 0}, 2), kw_arg_scalar_i64(0));
  }
  y = CALL(run, "convolution", arg(longer), arg(weight), arg(run_input(run, 2)), kw_arg_int_list(one, 1),
           kw_arg_int_list(nothing, 1), kw_arg_int_list(one, 1), kw_arg_bool(false), kw_arg_int_list(nothing, 1),
           kw_arg_int(x->ref.shape[1]));
  if (strcmp(activation, "none") != 0) y = CALL(run, "silu", arg(y));
  if (!y || !run_put(run, 0, y)) return false;
  return !run_wants(run, 1) || run_put(run, 1, run_slice(run, longer, 2, length, kept, 1));
}
