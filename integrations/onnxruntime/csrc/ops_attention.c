/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention, step by step: the scores of every query with every key, what is masked of them, weights, and the values'
 * sum.
 */
#include <math.h>
#include <string.h>

#include "ops.h"

typedef struct heads {
  const value *q, *k, *v; /* [batch, heads, length, size], in f32 or f64 */
  int64_t batch, queries, keys, past, q_heads, k_heads;
  bool flat;      /* inputs and output are [batch, length, heads * size] */
  kw_dtype dtype; /* of the inputs */
} heads;

/* [batch, length, heads * size] as [batch, heads, length, size]. */
static value *apart(run *run, const value *of, int64_t count) {
  int64_t shape[4];
  if (!of || of->ref.rank != 3) return (value *)(uintptr_t)of;
  if (count <= 0) return run_refuse(run, "it does not say how many heads there are"), NULL;
  shape[0] = of->ref.shape[0], shape[1] = of->ref.shape[1], shape[2] = count, shape[3] = of->ref.shape[2] / count;
  return PERMUTE(run, run_reshape(run, of, 4, shape), 0, 2, 1, 3);
}

static value *joined(run *run, const value *past, const value *now, unsigned output) {
  value *both[2] = {(value *)(uintptr_t)past, (value *)(uintptr_t)now}, *present = both[1];
  const kw_tensor_ref *refs[2];
  if (past && now) present = CALL(run, "cat", run_list(run, both, 2, refs), kw_arg_int(2));
  if (present && run_wants(run, output)) run_put(run, output, present);
  return present;
}

/* Every key head for the query heads that share it. */
static value *repeated(run *run, const value *of, int64_t times) {
  int64_t shape[5], whole[4];
  if (!of || times == 1) return (value *)(uintptr_t)of;
  memcpy(whole, of->ref.shape, sizeof whole);
  whole[1] *= times;
  of = run_unsqueeze(run, of, 2);
  if (!of) return NULL;
  memcpy(shape, of->ref.shape, sizeof shape);
  shape[2] = times;
  return run_reshape(run, run_expand(run, of, 5, shape), 4, whole);
}

static bool read_heads(run *run, heads *h) {
  const value *q = run_input(run, 0), *k = run_input(run, 1), *v = run_input(run, 2), *past = run_input(run, 4);
  kw_dtype wide;
  if (!q || !k || !v) return run_refuse(run, "an input is missing");
  h->dtype = q->ref.dtype;
  h->flat = q->ref.rank == 3;
  wide = h->dtype == KW_F64 ? KW_F64 : KW_F32;
  q = apart(run, q, node_int(run->node, "q_num_heads", 0));
  k = joined(run, past, apart(run, k, node_int(run->node, "kv_num_heads", 0)), 1);
  v = joined(run, run_input(run, 5), apart(run, v, node_int(run->node, "kv_num_heads", 0)), 2);
  if (!q || !k || !v) return false;
  if (q->ref.rank != 4 || k->ref.rank != 4 || v->ref.rank != 4) return run_refuse(run, "rank %u", q->ref.rank);
  h->batch = q->ref.shape[0], h->q_heads = q->ref.shape[1], h->queries = q->ref.shape[2];
  h->k_heads = k->ref.shape[1], h->keys = k->ref.shape[2], h->past = past ? past->ref.shape[2] : 0;
  if (h->k_heads == 0 || h->q_heads % h->k_heads != 0) return run_refuse(run, "heads that do not divide");
  h->q = run_cast(run, q, wide);
  h->k = repeated(run, run_cast(run, k, wide), h->q_heads / h->k_heads);
  h->v = repeated(run, run_cast(run, v, wide), h->q_heads / h->k_heads);
  return h->q && h->k && h->v;
}

static value *both(run *run, const value *a, const value *b) {
  return a && b ? CALL(run, "logical_and", arg(a), arg(b)) : (value *)(uintptr_t)(a ? a : b);
}

/* Which keys (last dimension) a query (the one before) may see: causal, windows, and what is no padding. NULL: all. */
static value *allowed_keys(run *run, const heads *h) {
  const bool causal = node_int(run->node, "is_causal", 0);
  const int64_t left = node_int(run->node, "left_window_size", -1),
                right = node_int(run->node, "right_window_size", -1);
  const value *valid = run_input(run, 6), *allowed = NULL, *keys, *distance;
  if (!causal && left < 0 && right < 0 && !valid) return NULL;
  keys = run_reshape(run, run_range(run, h->keys), 2, (int64_t[]){1, h->keys});
  distance = run_reshape(run, run_range(run, h->queries), 2, (int64_t[]){h->queries, 1});
  distance = CALL(run, "sub.Tensor", arg(keys), arg(distance));
  if (valid) {
    valid = run_reshape(run, run_cast(run, valid, KW_I64), 4, (int64_t[]){h->batch, 1, 1, 1});
    allowed = CALL(run, "lt.Tensor", arg(keys), arg(valid));
    distance =
        CALL(run, "sub.Tensor", arg(distance), arg(CALL(run, "sub.Scalar", arg(valid), kw_arg_scalar_i64(h->queries))));
  } else if (h->past) {
    distance = CALL(run, "sub.Scalar", arg(distance), kw_arg_scalar_i64(h->past));
  }
  if (causal) allowed = both(run, allowed, CALL(run, "le.Scalar", arg(distance), kw_arg_scalar_i64(0)));
  if (left >= 0) allowed = both(run, allowed, CALL(run, "ge.Scalar", arg(distance), kw_arg_scalar_i64(-left)));
  if (right >= 0) allowed = both(run, allowed, CALL(run, "le.Scalar", arg(distance), kw_arg_scalar_i64(right)));
  return (value *)(uintptr_t)allowed;
}

static value *masked(run *run, const heads *h, const value *scores) {
  const value *mask = run_input(run, 3), *allowed = allowed_keys(run, h);
  if (mask) {
    const int64_t missing = mask->ref.rank ? h->keys - mask->ref.shape[mask->ref.rank - 1] : 0;
    const bool boolean = mask->ref.dtype == KW_BOOL;
    if (!boolean && mask->ref.dtype < KW_F16) return run_refuse(run, "a mask of whole numbers"), NULL;
    if (!boolean) mask = run_cast(run, mask, scores ? scores->ref.dtype : KW_F32);
    if (!mask) return NULL;
    if (missing > 0 && mask->ref.shape[mask->ref.rank - 1] != 1)
      mask = CALL(run, "constant_pad_nd", arg(mask), kw_arg_int_list((int64_t[]){0, missing}, 2),
                  boolean ? kw_arg_scalar_bool(false) : kw_arg_scalar_f64((double)-INFINITY));
    if (boolean) {
      allowed = both(run, allowed, mask);
    } else {
      scores = CALL(run, "add.Tensor", arg(scores), arg(mask));
    }
  }
  if (allowed)
    scores = CALL(run, "masked_fill.Scalar", arg(scores), arg(CALL(run, "logical_not", arg(allowed))),
                  kw_arg_scalar_f64((double)-INFINITY));
  return (value *)(uintptr_t)scores;
}

/* A row of which no key is seen is 0. */
static value *weights_of(run *run, const value *scores) {
  const value *weights = CALL(run, "_softmax", arg(scores), kw_arg_int(-1), kw_arg_bool(false)), *unseen;
  unseen = CALL(run, "amax", arg(scores), kw_arg_int_list((int64_t[]){-1}, 1), kw_arg_bool(true));
  unseen = CALL(run, "eq.Scalar", arg(unseen), kw_arg_scalar_f64((double)-INFINITY));
  return CALL(run, "masked_fill.Scalar", arg(weights), arg(unseen), kw_arg_scalar_i64(0));
}

static void show(run *run, const heads *h, int64_t mode, const value *scores) {
  if (run_wants(run, 3) && node_int(run->node, "qk_matmul_output_mode", 0) == mode)
    run_put(run, 3, run_cast(run, scores, h->dtype));
}

bool op_attention(run *run) {
  const double cap = node_float(run->node, "softcap", 0);
  double scale = node_float(run->node, "scale", 0);
  const value *scores, *y;
  heads h = {0};
  if (!read_heads(run, &h)) return false;
  if (scale == 0) scale = 1 / sqrt((double)h.q->ref.shape[3]);
  scores =
      run_matmul(run, CALL(run, "mul.Scalar", arg(h.q), kw_arg_scalar_f64(scale)), PERMUTE(run, h.k, 0, 1, 3, 2), -1);
  show(run, &h, 0, scores);
  if (cap > 0) {
    scores = CALL(run, "tanh", arg(CALL(run, "div.Scalar", arg(scores), kw_arg_scalar_f64(cap))));
    scores = CALL(run, "mul.Scalar", arg(scores), kw_arg_scalar_f64(cap));
  }
  show(run, &h, 1, scores);
  scores = masked(run, &h, scores);
  show(run, &h, 2, scores);
  scores = weights_of(run, scores);
  show(run, &h, 3, scores);
  y = run_cast(run, run_matmul(run, scores, h.v, -1), h.dtype);
  if (!y || !h.flat) return y && run_put(run, 0, y);
  y = PERMUTE(run, y, 0, 2, 1, 3);
  if (!y) return false;
  return run_put_as(run, 0, y, 3, (int64_t[]){h.batch, h.queries, y->ref.shape[2] * y->ref.shape[3]});
}

/* ---- Rotary positions -------------------------------------------------------------------------------------------- */

/* cos and sin of every place, [batch or 1, 1, length, half]: caches [length, half] looked up, or given for each place.
 */
static value *of_places(run *run, const value *cache, const value *places, int64_t half) {
  const value *found = cache;
  int64_t shape[4] = {1, 1, 1, half};
  if (!cache) return run_refuse(run, "a cache is missing"), NULL;
  if (places) {
    int64_t count = run_numel(places);
    found = CALL(run, "index_select", arg(cache), kw_arg_int(0), arg(run_reshape(run, places, 1, &count)));
    shape[0] = places->ref.shape[0], shape[2] = places->ref.shape[1];
  } else {
    shape[0] = cache->ref.shape[0], shape[2] = cache->ref.shape[1];
  }
  return run_reshape(run, found, 4, shape);
}

/* Half `i` of the pairs in the last dimension: one after the other, or every second. */
static value *half_of(run *run, const value *x, int64_t half, int64_t i, bool interleaved) {
  return x ? run_slice(run, x, x->ref.rank - 1u, interleaved ? i : i * half, half, interleaved ? 2 : 1) : NULL;
}

bool op_rotary_embedding(run *run) {
  const bool interleaved = node_int(run->node, "interleaved", 0);
  const value *x = run_input(run, 0), *places = run_input(run, 3), *a, *b, *cos, *sin, *turned, *whole;
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (!x) return false;
  const unsigned rank = x->ref.rank;
  int64_t shape[4], dims = node_int(run->node, "rotary_embedding_dim", 0);
  memcpy(shape, x->ref.shape, sizeof shape);
  whole = apart(run, x, node_int(run->node, "num_heads", 0));
  if (!whole || whole->ref.rank != 4) return run_refuse(run, "rank %u", rank);
  const int64_t size = whole->ref.shape[3];
  if (dims == 0) dims = size;
  if (dims % 2 != 0 || dims > size) return run_refuse(run, "%lld numbers to turn in pairs", (long long)dims);
  cos = of_places(run, run_input(run, 1), places, dims / 2);
  sin = of_places(run, run_input(run, 2), places, dims / 2);
  x = run_slice(run, whole, 3, 0, dims, 1);
  a = half_of(run, x, dims / 2, 0, interleaved);
  b = half_of(run, x, dims / 2, 1, interleaved);
  parts[0] = CALL(run, "sub.Tensor", arg(CALL(run, "mul.Tensor", arg(a), arg(cos))),
                  arg(CALL(run, "mul.Tensor", arg(b), arg(sin))));
  parts[1] = CALL(run, "add.Tensor", arg(CALL(run, "mul.Tensor", arg(a), arg(sin))),
                  arg(CALL(run, "mul.Tensor", arg(b), arg(cos))));
  if (interleaved)
    for (unsigned i = 0; i < 2; ++i) parts[i] = parts[i] ? run_unsqueeze(run, parts[i], 4) : NULL;
  if (!parts[0] || !parts[1]) return false;
  turned = CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(interleaved ? 4 : 3));
  if (interleaved) turned = run_reshape(run, turned, 4, x->ref.shape);
  if (dims < size && turned) {
    parts[0] = (value *)(uintptr_t)turned;
    parts[1] = run_slice(run, whole, 3, dims, size - dims, 1);
    turned = CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(3));
  }
  if (rank == 4) return turned && run_put(run, 0, turned);
  return run_put_as(run, 0, PERMUTE(run, turned, 0, 2, 1, 3), 3, shape);
}
