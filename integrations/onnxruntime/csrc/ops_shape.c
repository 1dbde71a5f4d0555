/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that give elements other places: shapes, parts, orders.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

static int64_t product(unsigned count, const int64_t *of) {
  int64_t result = 1;
  for (unsigned i = 0; i < count; ++i) result *= of[i];
  return result;
}

bool op_reshape(run *run) {
  const value *x = run_input(run, 0);
  const bool zeros = node_int(run->node, "allowzero", 0);
  int64_t rest = 1;
  int open = -1;
  ints shape;
  run_ints_or(run, 1, &shape, (int64_t[]){-1}, 1);
  if (!x || run->failed) return false;
  if (shape.count > KW_MAX_RANK) return run_refuse(run, "rank %u", shape.count);
  for (unsigned d = 0; d < shape.count; ++d) {
    if (shape.at[d] == 0 && !zeros && d < x->ref.rank) shape.at[d] = x->ref.shape[d];
    if (shape.at[d] < 0) open = (int)d;
    if (shape.at[d] >= 0) rest *= shape.at[d];
  }
  if (open >= 0) shape.at[open] = rest ? product(x->ref.rank, x->ref.shape) / rest : 0;
  if (run_asks(run) && run->guessed) return run_put(run, 0, x);
  return run_put_as(run, 0, x, shape.count, shape.at);
}

bool op_flatten(run *run) {
  const value *x = run_input(run, 0);
  const int64_t axis = node_int(run->node, "axis", 1);
  int64_t shape[2];
  unsigned at;
  if (!x) return false;
  at = (unsigned)(axis < 0 ? axis + x->ref.rank : axis);
  if (at > x->ref.rank) return run_refuse(run, "axis %lld of rank %u", (long long)axis, x->ref.rank);
  shape[0] = product(at, x->ref.shape);
  shape[1] = product(x->ref.rank - at, x->ref.shape + at);
  return run_put_as(run, 0, x, 2, shape);
}

/* Which dimensions of a rank `axes` names, as bits. */
static bool named(run *run, const ints *axes, unsigned rank, uint32_t *out_bits) {
  unsigned axis;
  *out_bits = 0;
  for (unsigned i = 0; i < axes->count; ++i) {
    if (!run_axis(run, axes->at[i], rank, &axis)) return false;
    *out_bits |= 1u << axis;
  }
  return true;
}

/* Numbers of input 1, or before it became one, of an attribute. False without either. */
static bool input_or_attribute(run *run, const char *name, ints *out_ints) {
  const int64_t *given = node_ints(run->node, name, &out_ints->count);
  if (given) {
    memcpy(out_ints->at, given, out_ints->count * sizeof *given);
    return true;
  }
  if (!run_has_ints(run, 1)) return false;
  run_ints_or(run, 1, out_ints, (int64_t[]){0}, 1);
  return !run->failed;
}

bool op_squeeze(run *run) {
  const value *x = run_input(run, 0);
  int64_t shape[KW_MAX_RANK];
  uint32_t gone = 0;
  unsigned rank = 0;
  ints axes;
  if (!x) return false;
  if (input_or_attribute(run, "axes", &axes)) {
    if (!named(run, &axes, x->ref.rank, &gone)) return false;
  } else {
    for (unsigned d = 0; d < x->ref.rank; ++d) gone |= (uint32_t)(x->ref.shape[d] == 1) << d;
  }
  for (unsigned d = 0; d < x->ref.rank; ++d)
    if (!(gone >> d & 1)) shape[rank++] = x->ref.shape[d];
  if (run_asks(run) && run->guessed) return run_put(run, 0, x);
  return run_put_as(run, 0, x, rank, shape);
}

bool op_unsqueeze(run *run) {
  const value *x = run_input(run, 0);
  int64_t shape[KW_MAX_RANK];
  uint32_t added = 0;
  unsigned from = 0;
  ints axes;
  if (!x || !input_or_attribute(run, "axes", &axes)) return false;
  if (x->ref.rank + axes.count > KW_MAX_RANK) return run_refuse(run, "rank %u", x->ref.rank + axes.count);
  if (!named(run, &axes, x->ref.rank + axes.count, &added)) return false;
  for (unsigned d = 0; d < x->ref.rank + axes.count; ++d) shape[d] = added >> d & 1 ? 1 : x->ref.shape[from++];
  return run_put_as(run, 0, x, x->ref.rank + axes.count, shape);
}

bool op_transpose(run *run) {
  const value *x = run_input(run, 0);
  unsigned count;
  const int64_t *perm = node_ints(run->node, "perm", &count);
  int64_t reversed[KW_MAX_RANK];
  if (!x) return false;
  for (unsigned d = 0; d < x->ref.rank; ++d) reversed[d] = x->ref.rank - 1 - d;
  return run_put(run, 0, run_permute(run, x, perm ? perm : reversed));
}

bool op_expand(run *run) {
  const value *x = run_input(run, 0);
  int64_t shape[KW_MAX_RANK];
  unsigned rank;
  ints wanted;
  run_ints_or(run, 1, &wanted, NULL, 0);
  if (!x || run->failed) return false;
  rank = wanted.count > x->ref.rank ? wanted.count : x->ref.rank;
  if (rank > KW_MAX_RANK) return run_refuse(run, "rank %u", rank);
  for (unsigned d = 0; d < rank; ++d) {
    const int own = (int)d - (int)(rank - x->ref.rank), given = (int)d - (int)(rank - wanted.count);
    const int64_t size = given >= 0 ? wanted.at[given] : 1;
    shape[d] = own >= 0 && (size == 1 || run_asks(run)) ? x->ref.shape[own] : size;
    if (own >= 0 && x->ref.shape[own] == 1) shape[d] = size;
  }
  return run_put(run, 0, run_expand(run, x, rank, shape));
}

bool op_tile(run *run) {
  const value *x = run_input(run, 0);
  int64_t once[KW_MAX_RANK];
  ints repeats;
  for (unsigned d = 0; d < KW_MAX_RANK; ++d) once[d] = 1;
  run_ints_or(run, 1, &repeats, once, x ? x->ref.rank : 0);
  return !run->failed && CALL_TO(run, 0, "repeat", arg(x), kw_arg_int_list(repeats.at, repeats.count));
}

bool op_concat(run *run) {
  value *parts[RUN_MAX_INPUTS];
  const kw_tensor_ref *refs[RUN_MAX_INPUTS];
  unsigned axis;
  for (unsigned i = 0; i < run->input_count; ++i) {
    parts[i] = run_input(run, i);
    if (!parts[i]) return run_refuse(run, "input %u is missing", i);
  }
  if (!run_axis(run, node_int(run->node, "axis", 0), parts[0]->ref.rank, &axis)) return false;
  return CALL_TO(run, 0, "cat", run_list(run, parts, run->input_count, refs), kw_arg_int(axis));
}

bool op_split(run *run) {
  const value *x = run_input(run, 0);
  const unsigned outputs = run->node->output_count;
  int64_t start = 0, size;
  unsigned axis;
  ints sizes = {.count = 0};
  if (!x || !run_axis(run, node_int(run->node, "axis", 0), x->ref.rank, &axis)) return false;
  size = (x->ref.shape[axis] + outputs - 1) / outputs;
  input_or_attribute(run, "split", &sizes);
  for (unsigned i = 0; i < outputs && !run->failed; ++i) {
    int64_t count = i < sizes.count ? sizes.at[i] : size;
    if (start + count > x->ref.shape[axis]) count = x->ref.shape[axis] - start;
    if (count < 0) count = 0;
    run_put(run, i, run_slice(run, x, axis, start, count, 1));
    start += count;
  }
  return !run->failed;
}

static int64_t clamp(int64_t x, int64_t least, int64_t most) {
  return x < least ? least : x > most ? most : x;
}

/* Along one dimension as NumPy's x[start:end:step]. */
static value *slice_one(run *run, const value *x, unsigned axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x->ref.shape[axis];
  const value *from = x;
  if (step == 0) return run_refuse(run, "a step of 0"), NULL;
  if (start < 0) start += size;
  if (end < 0) end = end < -size ? -1 : end + size;
  if (step < 0) { /* backwards: forwards over the dimension turned round */
    start = clamp(start, -1, size - 1);
    end = clamp(end, -1, size - 1);
    from = CALL(run, "flip", arg(x), kw_arg_int_list((int64_t[]){axis}, 1));
    start = size - 1 - start;
    end = size - 1 - end;
    step = -step;
  } else {
    start = clamp(start, 0, size);
    end = clamp(end, 0, size);
  }
  return run_slice(run, from, axis, start, end > start ? (end - start + step - 1) / step : 0, step);
}

static bool put_slice(run *run, const ints *starts, const ints *ends, const ints *axes, const ints *steps) {
  const value *x = run_input(run, 0);
  for (unsigned i = 0; x && i < starts->count && !run->failed; ++i) {
    const int64_t named = i < axes->count ? axes->at[i] : (int64_t)i;
    unsigned axis;
    if (!run_axis(run, named, x->ref.rank, &axis)) return false;
    /* "from the end back past the start" is INT64_MIN or any number below -size: slice_one takes them as -1. */
    x = slice_one(run, x, axis, starts->at[i], i < ends->count ? ends->at[i] : INT64_MAX,
                  i < steps->count ? steps->at[i] : 1);
  }
  return x && run_put(run, 0, x);
}

bool op_slice(run *run) {
  static const int64_t nothing[] = {0}, all[] = {INT64_MAX}, one[] = {1};
  ints starts, ends, axes = {.count = 0}, steps = {.count = 0};
  run_ints_or(run, 1, &starts, nothing, 1);
  run_ints_or(run, 2, &ends, all, 1);
  if (run_has_ints(run, 3)) run_ints_or(run, 3, &axes, nothing, 1);
  if (run_has_ints(run, 4)) run_ints_or(run, 4, &steps, one, 1);
  /* Steps that only the run shows may go backwards. */
  const value *x = run_input(run, 0);
  if (run_asks(run) && run->guessed && x && x->ref.rank > 0) CALL(run, "flip", arg(x), kw_arg_int_list(nothing, 1));
  return !run->failed && put_slice(run, &starts, &ends, &axes, &steps);
}

/* Before these became inputs. */
bool op_old_slice(run *run) {
  static const char *const names[] = {"starts", "ends", "axes"};
  ints read[3] = {{.count = 0}, {.count = 0}, {.count = 0}}, steps = {.count = 0};
  for (unsigned i = 0; i < 3; ++i) {
    const int64_t *given = node_ints(run->node, names[i], &read[i].count);
    if (given) memcpy(read[i].at, given, read[i].count * sizeof *given);
  }
  return put_slice(run, &read[0], &read[1], &read[2], &steps);
}

bool op_shape(run *run) {
  const value *x = run_input(run, 0);
  const int64_t rank = x ? x->ref.rank : 0;
  int64_t start = node_int(run->node, "start", 0), end = node_int(run->node, "end", rank);
  start = clamp(start < 0 ? start + rank : start, 0, rank);
  end = clamp(end < 0 ? end + rank : end, start, rank);
  return x && run_put_ints(run, 0, 1, (int64_t[]){end - start}, x->ref.shape + start);
}

bool op_size(run *run) {
  const value *x = run_input(run, 0);
  return x && run_put_ints(run, 0, 0, NULL, (int64_t[]){product(x->ref.rank, x->ref.shape)});
}

/* blocks[0..1] are pieces of the channels, blocks[2..3] of the height and width. */
bool op_depth_to_space(run *run) {
  const value *x = run_input(run, 0);
  const int64_t size = node_int(run->node, "blocksize", 1);
  const bool crd = strcmp(node_text(run->node, "mode", "DCR"), "CRD") == 0;
  const int64_t dcr_order[] = {0, 3, 4, 1, 5, 2}, crd_order[] = {0, 1, 4, 2, 5, 3};
  if (!x) return false;
  if (x->ref.rank != 4 || size < 1) return run_refuse(run, "rank %u", x->ref.rank);
  const int64_t n = x->ref.shape[0], c = x->ref.shape[1] / (size * size), h = x->ref.shape[2], w = x->ref.shape[3];
  const int64_t dcr_shape[] = {n, size, size, c, h, w}, crd_shape[] = {n, c, size, size, h, w};
  x = run_permute(run, run_reshape(run, x, 6, crd ? crd_shape : dcr_shape), crd ? crd_order : dcr_order);
  return run_put_as(run, 0, x, 4, (int64_t[]){n, c, h * size, w * size});
}

bool op_space_to_depth(run *run) {
  const value *x = run_input(run, 0);
  const int64_t size = node_int(run->node, "blocksize", 1);
  if (!x) return false;
  if (x->ref.rank != 4 || size < 1) return run_refuse(run, "rank %u", x->ref.rank);
  const int64_t n = x->ref.shape[0], c = x->ref.shape[1], h = x->ref.shape[2] / size, w = x->ref.shape[3] / size;
  const bool crd = strcmp(node_text(run->node, "mode", "DCR"), "CRD") == 0;
  const int64_t dcr[] = {0, 3, 5, 1, 2, 4}, crd_order[] = {0, 1, 3, 5, 2, 4};
  x = run_permute(run, run_reshape(run, x, 6, (int64_t[]){n, c, h, size, w, size}), crd ? crd_order : dcr);
  return run_put_as(run, 0, x, 4, (int64_t[]){n, c * size * size, h, w});
}

bool op_trilu(run *run) {
  int64_t k = 0;
  ints diagonal;
  if (run_has_ints(run, 1)) {
    run_ints_or(run, 1, &diagonal, &k, 1);
    if (diagonal.count) k = clamp(diagonal.at[0], INT32_MIN, INT32_MAX);
  }
  return CALL_TO(run, 0, node_int(run->node, "upper", 1) ? "triu" : "tril", arg(run_input(run, 0)), kw_arg_int(k));
}

/* ---- Pads: (before, after) of every dimension -------------------------------------------------------------------- */

/* Along one dimension by a list of places: what no op of Keyway's pads at once. */
static value *pad_by_places(run *run, const value *x, unsigned axis, int64_t before, int64_t after, const char *mode) {
  const int64_t size = x->ref.shape[axis], count = size + before + after;
  value *places = CALL(run, "arange.start_step", kw_arg_scalar_i64(-before), kw_arg_scalar_i64(size + after),
                       kw_arg_scalar_i64(1), kw_arg_dtype(KW_I64));
  if (count <= 0) return run_refuse(run, "a pad that cuts everything off"), NULL;
  if (strcmp(mode, "edge") == 0) {
    places = CALL(run, "clamp", arg(places), kw_arg_scalar_i64(0), kw_arg_scalar_i64(size - 1));
  } else if (strcmp(mode, "wrap") == 0) {
    places = CALL(run, "remainder.Scalar", arg(places), kw_arg_scalar_i64(size));
  } else { /* reflect: a triangle wave with a period of 2 (size - 1) */
    const int64_t top = size > 1 ? size - 1 : 1;
    places = CALL(run, "remainder.Scalar", arg(places), kw_arg_scalar_i64(2 * top));
    places = CALL(run, "sub.Scalar", arg(places), kw_arg_scalar_i64(top));
    places = CALL(run, "neg", arg(CALL(run, "abs", arg(places))));
    places = CALL(run, "add.Scalar", arg(places), kw_arg_scalar_i64(top));
    if (size == 1) places = CALL(run, "mul.Scalar", arg(places), kw_arg_scalar_i64(0));
  }
  return CALL(run, "index_select", arg(x), kw_arg_int(axis), arg(places));
}

static kw_value pad_value(run *run, kw_dtype dtype) {
  double number = node_float(run->node, "value", 0);
  if (run_has_ints(run, 2) && !run_number(run, 2, &number)) run->guessed = true;
  return dtype >= KW_F16 && dtype <= KW_F64 ? kw_arg_scalar_f64(number) : kw_arg_scalar_i64((int64_t)number);
}

bool op_pad(run *run) {
  const value *x = run_input(run, 0);
  const char *mode = node_text(run->node, "mode", "constant");
  int64_t before[KW_MAX_RANK] = {0}, after[KW_MAX_RANK] = {0}, pairs[2 * KW_MAX_RANK];
  ints pads, axes = {.count = 0};
  unsigned axis, count;
  if (!x || !input_or_attribute(run, "pads", &pads)) return false;
  if (run_has_ints(run, 3)) run_ints_or(run, 3, &axes, NULL, 0);
  if (!x || run->failed) return false;
  count = axes.count ? axes.count : x->ref.rank;
  if (count > x->ref.rank) return run_refuse(run, "%u axes of rank %u", count, x->ref.rank);
  if (run->guessed && run_asks(run) && pads.count < 2 * count) /* some, so that what pads is asked about */
    for (pads.count = 0; pads.count < 2 * count; ++pads.count) pads.at[pads.count] = 1;
  if (pads.count < 2 * count) return run_refuse(run, "%u pads for %u dimensions", pads.count, count);
  for (unsigned i = 0; i < count; ++i) {
    if (!run_axis(run, axes.count ? axes.at[i] : (int64_t)i, x->ref.rank, &axis)) return false;
    before[axis] = pads.at[i];
    after[axis] = pads.at[count + i];
  }
  for (unsigned d = 0; d < x->ref.rank; ++d) {
    pairs[2 * (x->ref.rank - 1 - d)] = before[d];
    pairs[2 * (x->ref.rank - 1 - d) + 1] = after[d];
  }
  if (strcmp(mode, "constant") == 0)
    return CALL_TO(run, 0, "constant_pad_nd", arg(x), kw_arg_int_list(pairs, 2u * x->ref.rank),
                   pad_value(run, x->ref.dtype));
  for (unsigned d = 0; x && d < x->ref.rank; ++d)
    if (before[d] || after[d]) x = pad_by_places(run, x, d, before[d], after[d], mode);
  return x && run_put(run, 0, x);
}

/* ---- Made from nothing ------------------------------------------------------------------------------------------- */

bool op_constant_of_shape(run *run) {
  const OrtValue *fill = node_tensor(run->node, "value");
  kw_dtype dtype = KW_F32;
  double number = 0;
  ints shape;
  run_ints_or(run, 0, &shape, (int64_t[]){1}, 1);
  if (run->failed) return false;
  if (fill && !run_host_number(run, fill, &number, &dtype)) return false;
  return CALL_TO(run, 0, "full", kw_arg_int_list(shape.at, shape.count),
                 dtype == KW_F32 || dtype == KW_F64 || dtype == KW_F16 || dtype == KW_BF16
                     ? kw_arg_scalar_f64(number)
                     : kw_arg_scalar_i64((int64_t)number),
                 kw_arg_dtype(dtype));
}

bool op_eye_like(run *run) {
  const value *x = run_input(run, 0), *rows, *columns;
  const int64_t k = node_int(run->node, "k", 0), to = node_int(run->node, "dtype", 0);
  const kw_dtype dtype = to ? node_dtype_of((ONNXTensorElementDataType)to) : x ? x->ref.dtype : KW_F32;
  if (!x || x->ref.rank != 2) return run_refuse(run, "it is no matrix");
  rows = run_reshape(run, run_range(run, x->ref.shape[0]), 2, (int64_t[]){x->ref.shape[0], 1});
  columns = run_reshape(run, run_range(run, x->ref.shape[1]), 2, (int64_t[]){1, x->ref.shape[1]});
  rows = CALL(run, "add.Scalar", arg(rows), kw_arg_scalar_i64(k));
  return CALL_TO(run, 0, "_to_copy", arg(CALL(run, "eq.Tensor", arg(columns), arg(rows))), kw_arg_dtype(dtype));
}

bool op_range(run *run) {
  const value *like = run_asks(run) ? run_input(run, 0) : NULL;
  double start = 0, end = 1, step = 1;
  kw_dtype dtype = KW_I64;
  if (run_asks(run)) {
    dtype = like ? like->ref.dtype : KW_I64;
    run->guessed = true;
  } else if (!run_host_dtype(run, 0, &dtype) || !run_number(run, 0, &start) || !run_number(run, 1, &end) ||
             !run_number(run, 2, &step)) {
    return run_refuse(run, "its numbers cannot be read");
  }
  if (step == 0) return run_refuse(run, "a step of 0");
  if (dtype >= KW_F16 && dtype <= KW_F64)
    return CALL_TO(run, 0, "arange.start_step", kw_arg_scalar_f64(start),
                   kw_arg_scalar_f64((end - start) / step < 0 ? start : end), kw_arg_scalar_f64(step),
                   kw_arg_dtype(dtype));
  return CALL_TO(run, 0, "arange.start_step", kw_arg_scalar_i64((int64_t)start),
                 kw_arg_scalar_i64((end - start) / step < 0 ? (int64_t)start : (int64_t)end),
                 kw_arg_scalar_i64((int64_t)step), kw_arg_dtype(dtype));
}

/* Windows of signals: a - b cos(x) + c cos(2 x) over one turn, whose end a periodic one leaves out. */
static bool signal_window(run *run, double a, double b, double c) {
  const kw_dtype dtype = node_dtype_of(
      (ONNXTensorElementDataType)node_int(run->node, "output_datatype", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
  const double turn = 2 * acos(-1.0);
  ints size;
  float *numbers;
  value *made;
  run_ints_or(run, 0, &size, (int64_t[]){1}, 1);
  if (run->failed || size.count != 1 || size.at[0] < 0) return run_refuse(run, "a window of no size");
  numbers = calloc((size_t)size.at[0] + 1, sizeof *numbers);
  if (!numbers) return run_refuse(run, "no memory for a window of %lld", (long long)size.at[0]);
  for (int64_t i = 0; i < size.at[0]; ++i) {
    const double x = turn * (double)i / (double)(size.at[0] - !node_int(run->node, "periodic", 1));
    numbers[i] = (float)(a - b * cos(x) + c * cos(2 * x));
  }
  made = run_from_host(run, KW_F32, 1, size.at, numbers);
  free(numbers);
  return run_put(run, 0, run_cast(run, made, dtype));
}

bool op_hann_window(run *run) {
  return signal_window(run, 0.5, 0.5, 0);
}

bool op_hamming_window(run *run) {
  return signal_window(run, 25.0 / 46, 21.0 / 46, 0);
}

bool op_blackman_window(run *run) {
  return signal_window(run, 0.42, 0.5, 0.08);
}
