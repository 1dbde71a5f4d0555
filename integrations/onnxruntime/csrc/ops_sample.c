/* SPDX-License-Identifier: Apache-2.0
 *
 * Images read between their elements: GridSample, the grids of AffineGrid, and DeformConv, whose windows have their
 * elements anywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "window.h"

#define DIMS_AT_MOST 3

typedef struct samples {
  const value *x;                /* [n, channels, all of space] */
  const value *at[DIMS_AT_MOST]; /* of each dimension of space the places, in elements: [n, count] */
  int64_t size[DIMS_AT_MOST];
  unsigned dims;
} samples;

static value *added(run *run, const value *of, double number) {
  return CALL(run, "add.Scalar", arg(of), kw_arg_scalar_f64(number));
}

static value *scaled(run *run, const value *of, double number) {
  return CALL(run, "mul.Scalar", arg(of), kw_arg_scalar_f64(number));
}

static value *times(run *run, const value *a, const value *b) {
  return a && b ? CALL(run, "mul.Tensor", arg(a), arg(b)) : (value *)(uintptr_t)(a ? a : b);
}

/* The elements at whole places, each times its weight; outside of the image there is nothing. */
static value *pick(run *run, const samples *s, const value *const *places, const value *weight) {
  const value *flat = NULL;
  for (unsigned d = 0; d < s->dims; ++d) {
    const value *inside = CALL(run, "ge.Scalar", arg(places[d]), kw_arg_scalar_f64(0)), *one;
    inside = CALL(run, "logical_and", arg(inside),
                  arg(CALL(run, "le.Scalar", arg(places[d]), kw_arg_scalar_f64((double)(s->size[d] - 1)))));
    weight = times(run, run_cast(run, inside, s->x->ref.dtype), weight);
    one = CALL(run, "clamp", arg(places[d]), kw_arg_scalar_f64(0), kw_arg_scalar_f64((double)(s->size[d] - 1)));
    one = run_cast(run, one, KW_I64);
    if (flat)
      one = CALL(run, "add.Tensor", arg(CALL(run, "mul.Scalar", arg(flat), kw_arg_scalar_i64(s->size[d]))), arg(one));
    flat = one;
  }
  if (!flat || !weight) return NULL;
  const int64_t whole[] = {s->x->ref.shape[0], s->x->ref.shape[1], flat->ref.shape[1]};
  flat = run_contiguous(run, run_expand(run, run_unsqueeze(run, flat, 1), 3, whole));
  return times(run, CALL(run, "gather", arg(s->x), kw_arg_int(2), arg(flat)), run_unsqueeze(run, weight, 1));
}

/* Between the elements around each place, by how near they are: [n, channels, count]. */
static value *between(run *run, const samples *s) {
  const value *low[DIMS_AT_MOST], *near[DIMS_AT_MOST], *sum = NULL, *none = NULL;
  for (unsigned d = 0; d < s->dims; ++d) {
    low[d] = CALL(run, "floor", arg(s->at[d]));
    near[d] = CALL(run, "sub.Tensor", arg(s->at[d]), arg(low[d]));
  }
  for (unsigned corner = 0; corner < 1u << s->dims && !run->failed; ++corner) {
    const unsigned mark = run->value_count;
    const value *places[DIMS_AT_MOST], *weight = NULL, *part;
    for (unsigned d = 0; d < s->dims; ++d) {
      const bool high = corner >> d & 1;
      places[d] = high ? added(run, low[d], 1) : low[d];
      weight = times(run, weight, high ? near[d] : added(run, CALL(run, "neg", arg(near[d])), 1));
    }
    part = pick(run, s, places, weight);
    sum = sum && part ? CALL(run, "add.Tensor", arg(sum), arg(part)) : part;
    run_forget(run, mark, &sum, &none);
  }
  return (value *)(uintptr_t)sum;
}

static value *nearest(run *run, const samples *s) {
  const value *places[DIMS_AT_MOST], *ones;
  for (unsigned d = 0; d < s->dims; ++d) places[d] = CALL(run, "round", arg(s->at[d]));
  ones = CALL(run, "full_like", arg(s->at[0]), kw_arg_scalar_f64(1));
  return pick(run, s, places, ones);
}

/* ---- GridSample -------------------------------------------------------------------------------------------------- */

/* Numbers from -1 to 1 as places in a dimension; what lies outside is moved in as the padding says. */
static value *place_in(run *run, const value *of, int64_t size, const char *padding) {
  const bool corners = node_int(run->node, "align_corners", 0);
  const double last = (double)(size - 1), low = corners ? 0 : -0.5, span = corners ? last : (double)size;
  of = corners ? scaled(run, added(run, of, 1), last / 2)
               : added(run, scaled(run, added(run, of, 1), (double)size / 2), -0.5);
  if (strcmp(padding, "zeros") == 0) return (value *)(uintptr_t)of;
  if (strcmp(padding, "reflection") == 0 && span > 0) {
    of = CALL(run, "remainder.Scalar", arg(added(run, of, -low)), kw_arg_scalar_f64(2 * span));
    of = CALL(run, "neg", arg(CALL(run, "abs", arg(added(run, of, -span)))));
    of = added(run, of, span + low);
  }
  return CALL(run, "clamp", arg(of), kw_arg_scalar_f64(0), kw_arg_scalar_f64(last));
}

/* Of three dimensions of space; Keyway's own op has two. */
static bool grid_sample_3d(run *run, const value *x, const value *grid) {
  const char *mode = node_text(run->node, "mode", "linear"), *padding = node_text(run->node, "padding_mode", "zeros");
  const int64_t n = x->ref.shape[0], count = run_numel(grid) / 3 / (n ? n : 1);
  samples s = {.dims = 3};
  const value *y;
  int64_t shape[5];
  if (grid->ref.rank != 5 || grid->ref.shape[4] != 3 || grid->ref.shape[0] != n)
    return run_refuse(run, "a grid of another shape");
  if (strstr(mode, "cubic")) return run_refuse(run, "mode cubic of three dimensions");
  for (unsigned d = 0; d < 3; ++d) {
    const value *one = run_reshape(run, run_slice(run, grid, 4, 2 - (int64_t)d, 1, 1), 2, (int64_t[]){n, count});
    s.size[d] = x->ref.shape[2 + d];
    s.at[d] = place_in(run, run_cast(run, one, x->ref.dtype), s.size[d], padding);
  }
  s.x = run_reshape(run, x, 3, (int64_t[]){n, x->ref.shape[1], run_numel_from(x, 2)});
  if (run->failed) return false;
  y = strcmp(mode, "nearest") == 0 ? nearest(run, &s) : between(run, &s);
  memcpy(shape, x->ref.shape, 2 * sizeof *shape);
  memcpy(shape + 2, grid->ref.shape + 1, 3 * sizeof *shape);
  return run_put_as(run, 0, y, 5, shape);
}

bool op_grid_sample(run *run) {
  static const char *const paddings[] = {"zeros", "border", "reflection"};
  const char *mode = node_text(run->node, "mode", "linear"), *padding = node_text(run->node, "padding_mode", "zeros");
  const int64_t which = strstr(mode, "linear") ? 0 : strcmp(mode, "nearest") == 0 ? 1 : 2;
  const value *x = run_input(run, 0), *grid = run_input(run, 1);
  int64_t outside = 0;
  if (!x || !grid) return run_refuse(run, "an input is missing");
  if (x->ref.rank == 5) return grid_sample_3d(run, x, grid);
  for (int64_t i = 0; i < 3; ++i)
    if (strcmp(padding, paddings[i]) == 0) outside = i;
  return CALL_TO(run, 0, "grid_sampler_2d", arg(x), arg(grid), kw_arg_int(which), kw_arg_int(outside),
                 kw_arg_bool(node_int(run->node, "align_corners", 0)));
}

/* ---- AffineGrid: the places for GridSample -------------------------------------------------------------------------
 */

/* Where the samples of an image lie along one dimension, from -1 to 1: in the middle of each element, or with the outer
 * ones at the ends. */
static float sample_at(int64_t i, int64_t size, bool corners) {
  if (corners) return size > 1 ? (float)(2 * (double)i / (double)(size - 1) - 1) : -1;
  return (float)((2 * (double)i + 1) / (double)size - 1);
}

/* A matrix times each place of an image and 1: (x, y, z, 1), the last dimension of space first. */
bool op_affine_grid(run *run) {
  static const int64_t guess[] = {1, 1, 4, 4, 4};
  const value *theta = run_input(run, 0), *places;
  const bool corners = node_int(run->node, "align_corners", 0);
  int64_t count = 1, shape[5];
  ints size;
  float *numbers;
  if (!theta || theta->ref.rank != 3) return run_refuse(run, "no matrices");
  const int64_t dims = theta->ref.shape[1];
  run_ints_or(run, 1, &size, guess, dims == 2 ? 4 : 5);
  if (run->failed) return false;
  if ((dims != 2 && dims != 3) || theta->ref.shape[2] != dims + 1 || size.count != dims + 2)
    return run_refuse(run, "%lld dimensions of space", (long long)dims);
  for (int64_t d = 0; d < dims; ++d) count *= size.at[2 + d];
  numbers = calloc((size_t)(count * (dims + 1)) + 1, sizeof *numbers);
  if (!numbers) return run_refuse(run, "no memory for %lld places", (long long)count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    numbers[i * (dims + 1) + dims] = 1;
    for (int64_t d = dims; d-- > 0; rest /= size.at[2 + d])
      numbers[i * (dims + 1) + dims - 1 - d] = sample_at(rest % size.at[2 + d], size.at[2 + d], corners);
  }
  places = run_from_host(run, KW_F32, 2, (int64_t[]){count, dims + 1}, numbers);
  free(numbers);
  places = run_matmul(run, run_cast(run, places, theta->ref.dtype), PERMUTE(run, theta, 0, 2, 1), -1);
  shape[0] = theta->ref.shape[0];
  memcpy(shape + 1, size.at + 2, (size_t)dims * sizeof *shape);
  shape[dims + 1] = dims;
  return run_put_as(run, 0, places, (unsigned)dims + 2, shape);
}

/* ---- DeformConv -------------------------------------------------------------------------------------------------- */

/* Where the elements of every window lie in dimension d, without offsets: [1, elements of the kernel * windows]. */
static value *regular(run *run, const window *w, unsigned d) {
  const int64_t count = w->kernel[0] * w->kernel[1] * w->out[0] * w->out[1];
  float *numbers = calloc((size_t)count + 1, sizeof *numbers);
  value *made;
  if (!numbers) return run_refuse(run, "no memory for %lld places", (long long)count), NULL;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = i % (w->out[0] * w->out[1]), element = i / (w->out[0] * w->out[1]);
    const int64_t in_kernel = d == 0 ? element / w->kernel[1] : element % w->kernel[1];
    const int64_t in_image = d == 0 ? place / w->out[1] : place % w->out[1];
    numbers[i] = (float)(in_image * w->stride[d] - w->before[d] + in_kernel * w->dilation[d]);
  }
  made = run_from_host(run, KW_F32, 2, (int64_t[]){1, count}, numbers);
  free(numbers);
  return made;
}

/* What every window reads, [batch, channels * elements of the kernel, windows]. */
static value *deformed_columns(run *run, const value *x, const value *offset, const value *mask, const window *w) {
  const int64_t groups = node_int(run->node, "offset_group", 1), n = x->ref.shape[0] * groups;
  const int64_t elements = w->kernel[0] * w->kernel[1], windows = w->out[0] * w->out[1];
  samples s = {.dims = 2, .size = {w->size[0], w->size[1]}};
  const value *columns;
  if (groups < 1 || x->ref.shape[1] % groups != 0) return run_refuse(run, "groups that do not divide"), NULL;
  offset = run_reshape(run, offset, 4, (int64_t[]){n, elements, 2, windows});
  for (unsigned d = 0; d < 2 && offset; ++d) {
    const value *own = run_reshape(run, run_slice(run, offset, 2, d, 1, 1), 2, (int64_t[]){n, elements * windows});
    s.at[d] = CALL(run, "add.Tensor", arg(own), arg(run_cast(run, regular(run, w, d), x->ref.dtype)));
  }
  s.x = run_reshape(run, x, 3, (int64_t[]){n, x->ref.shape[1] / groups, w->size[0] * w->size[1]});
  if (run->failed) return NULL;
  columns = between(run, &s);
  if (mask) columns = times(run, columns, run_reshape(run, mask, 3, (int64_t[]){n, 1, elements * windows}));
  return run_reshape(run, columns, 3, (int64_t[]){x->ref.shape[0], x->ref.shape[1] * elements, windows});
}

bool op_deform_conv(run *run) {
  const value *x = run_input(run, 0), *weight = run_input(run, 1), *offset = run_input(run, 2),
              *bias = run_input(run, 3);
  const int64_t groups = node_int(run->node, "group", 1);
  const value *y;
  window w;
  if (!x || !weight || !offset || !window_read(run, x, weight->ref.shape + 2, &w)) return false;
  if (w.dims != 2) return run_refuse(run, "%u dimensions of space", w.dims);
  if (groups < 1 || weight->ref.shape[0] % groups != 0) return run_refuse(run, "groups that do not divide");
  const int64_t n = x->ref.shape[0], out = weight->ref.shape[0], inner = run_numel_from(weight, 1);
  const int64_t all[] = {n, groups, out / groups, inner};
  y = deformed_columns(run, x, offset, run_input(run, 4), &w);
  y = run_reshape(run, y, 3, (int64_t[]){n * groups, inner, w.out[0] * w.out[1]});
  weight = run_reshape(run, weight, 4, (int64_t[]){1, groups, out / groups, inner});
  weight = run_reshape(run, run_expand(run, weight, 4, all), 3, (int64_t[]){n * groups, out / groups, inner});
  y = CALL(run, "bmm", arg(weight), arg(y));
  if (!bias) return run_put_as(run, 0, y, 4, (int64_t[]){n, out, w.out[0], w.out[1]});
  y = run_reshape(run, y, 4, (int64_t[]){n, out, w.out[0], w.out[1]});
  return CALL_TO(run, 0, "add.Tensor", arg(y), arg(run_reshape(run, bias, 4, (int64_t[]){1, out, 1, 1})));
}
