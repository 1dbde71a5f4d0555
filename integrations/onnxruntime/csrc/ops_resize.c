/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizing: dimension by dimension, a matrix product with the weights that each new place has of the old ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

typedef struct axis_resize {
  int64_t in, out;
  double scale;
  double roi[2]; /* begin and end, of tf_crop_and_resize */
} axis_resize;

typedef struct manner {
  const char *coordinates, *mode, *nearest;
  double cubic;
  bool exclude, antialias;
  double outside; /* extrapolation_value */
} manner;

/* The old place of a new one. */
static double place_of(const manner *m, const axis_resize *a, int64_t i) {
  const double x = (double)i;
  if (strcmp(m->coordinates, "asymmetric") == 0) return x / a->scale;
  if (strcmp(m->coordinates, "align_corners") == 0)
    return a->out == 1 ? 0 : x * (double)(a->in - 1) / (double)(a->out - 1);
  if (strcmp(m->coordinates, "pytorch_half_pixel") == 0) return a->out > 1 ? (x + 0.5) / a->scale - 0.5 : 0;
  if (strcmp(m->coordinates, "half_pixel_symmetric") == 0) {
    const double adjusted = (double)a->out / (a->scale * (double)a->in), middle = (double)a->in / 2;
    return middle * (1 - adjusted) + (x + 0.5) / a->scale - 0.5;
  }
  if (strcmp(m->coordinates, "tf_crop_and_resize") == 0) {
    /* As floats, of which the region is: places half way between two elements are such by their last bit alone. */
    const float top = (float)(a->in - 1), begin = (float)a->roi[0], end = (float)a->roi[1];
    if (a->out == 1) return (double)(0.5F * (begin + end) * top);
    return (double)(begin * top + (float)i * (end - begin) * top / (float)(a->out - 1));
  }
  return (x + 0.5) / a->scale - 0.5;
}

static int64_t nearest(const manner *m, double x) {
  if (strcmp(m->nearest, "floor") == 0) return (int64_t)floor(x);
  if (strcmp(m->nearest, "ceil") == 0) return (int64_t)ceil(x);
  if (strcmp(m->nearest, "round_prefer_ceil") == 0) return (int64_t)floor(x + 0.5);
  return (int64_t)ceil(x - 0.5);
}

/* Of a sample at a distance. */
static double kernel(const manner *m, double distance) {
  const double t = fabs(distance), a = m->cubic;
  if (strcmp(m->mode, "linear") == 0) return t < 1 ? 1 - t : 0;
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* One row: the weights of all old places for a new one. What lies outside is the edge's, or with exclude_outside
 * nobody's. */
static void row_of(const manner *m, const axis_resize *a, double x, float *row) {
  const double reach = strcmp(m->mode, "linear") == 0 ? 1 : 2;
  const double stretch = m->antialias && a->scale < 1 ? 1 / a->scale : 1;
  const int64_t first = (int64_t)floor(x - reach * stretch), last = (int64_t)ceil(x + reach * stretch);
  double sum = 0;
  for (int64_t j = first; j <= last; ++j) {
    const double weight = kernel(m, ((double)j - x) / stretch);
    const int64_t at = j < 0 ? 0 : j >= a->in ? a->in - 1 : j;
    if (weight == 0 || (m->exclude && at != j)) continue;
    row[at] += (float)weight;
    sum += weight;
  }
  for (int64_t j = 0; sum != 0 && sum != 1 && j < a->in; ++j) row[j] /= (float)sum;
}

static void fill(const manner *m, const axis_resize *a, float *rows) {
  for (int64_t i = 0; i < a->out; ++i) {
    const double x = place_of(m, a, i);
    if (strcmp(m->mode, "nearest") == 0) {
      const int64_t at = nearest(m, x);
      rows[i * a->in + (at < 0 ? 0 : at >= a->in ? a->in - 1 : at)] = 1;
    } else {
      row_of(m, a, x, rows + i * a->in);
    }
  }
}

/* New places outside of the old ones get a number instead: 1 there, 0 elsewhere. */
static value *outside(run *run, const manner *m, const axis_resize *a, unsigned rank, unsigned dim) {
  int64_t shape[KW_MAX_RANK];
  float *flags = calloc((size_t)a->out + 1, sizeof *flags);
  value *made;
  if (!flags) return run_refuse(run, "no memory"), NULL;
  for (int64_t i = 0; i < a->out; ++i) {
    const double x = place_of(m, a, i);
    flags[i] = x < 0 || x > (double)(a->in - 1);
  }
  for (unsigned d = 0; d < rank; ++d) shape[d] = d == dim ? a->out : 1;
  made = run_from_host(run, KW_F32, rank, shape, flags);
  free(flags);
  return CALL(run, "gt.Scalar", arg(made), kw_arg_scalar_f64(0.5));
}

static value *resize_one(run *run, const manner *m, const value *x, unsigned dim, const axis_resize *a) {
  const int64_t last = x->ref.rank - 1;
  float *rows = calloc((size_t)(a->in * a->out) + 1, sizeof *rows);
  int64_t order[KW_MAX_RANK], shape[KW_MAX_RANK];
  value *weights, *result;
  if (!rows) return run_refuse(run, "no memory for %lld weights", (long long)(a->in * a->out)), NULL;
  fill(m, a, rows);
  weights = run_from_host(run, KW_F32, 2, (int64_t[]){a->out, a->in}, rows);
  free(rows);
  for (unsigned d = 0; d < x->ref.rank; ++d) order[d] = d;
  order[dim] = last;
  order[last] = dim;
  result = run_permute(run, x, order);
  if (!result) return NULL;
  memcpy(shape, result->ref.shape, sizeof shape);
  result = run_reshape(run, result, 2, (int64_t[]){run_numel(x) / a->in, a->in});
  result = CALL(run, "mm", arg(result), arg(PERMUTE(run, run_cast(run, weights, x->ref.dtype), 1, 0)));
  shape[last] = a->out;
  result = run_permute(run, run_reshape(run, result, x->ref.rank, shape), order);
  if (strcmp(m->coordinates, "tf_crop_and_resize") != 0) return result;
  return CALL(run, "masked_fill.Scalar", arg(result), arg(outside(run, m, a, x->ref.rank, dim)),
              kw_arg_scalar_f64(m->outside));
}

/* The axes that are named, or all. */
static bool read_axes(run *run, unsigned rank, unsigned *axes, unsigned *out_count) {
  const int64_t *named = node_ints(run->node, "axes", out_count);
  if (!named) *out_count = rank;
  if (*out_count > rank) return run_refuse(run, "%u axes of rank %u", *out_count, rank);
  for (unsigned i = 0; i < *out_count; ++i)
    if (!run_axis(run, named ? named[i] : (int64_t)i, rank, &axes[i])) return false;
  return true;
}

/* One scale for all axes: the smallest, or the largest, of those that the sizes ask for. */
static void keep_ratio(const char *policy, axis_resize *all, const unsigned *axes, unsigned count) {
  const bool larger = strcmp(policy, "not_smaller") == 0;
  double scale = 0;
  if (strcmp(policy, "stretch") == 0) return;
  for (unsigned i = 0; i < count; ++i) {
    const double own = (double)all[axes[i]].out / (double)all[axes[i]].in;
    if (i == 0 || (larger ? own > scale : own < scale)) scale = own;
  }
  for (unsigned i = 0; i < count; ++i) {
    all[axes[i]].scale = scale;
    all[axes[i]].out = (int64_t)floor(scale * (double)all[axes[i]].in + 0.5);
  }
}

static bool read_sizes(run *run, const value *x, unsigned scales_at, axis_resize *all) {
  unsigned axes[KW_MAX_RANK], count = 0;
  ints sizes = {.count = 0};
  double numbers[KW_MAX_RANK], roi[2 * KW_MAX_RANK];
  if (!read_axes(run, x->ref.rank, axes, &count)) return false;
  for (unsigned d = 0; d < x->ref.rank; ++d) all[d] = (axis_resize){x->ref.shape[d], x->ref.shape[d], 1, {0, 1}};
  if (run_numbers(run, scales_at, numbers, count) == count && count > 0) {
    for (unsigned i = 0; i < count; ++i) {
      all[axes[i]].scale = numbers[i];
      all[axes[i]].out = (int64_t)floor(numbers[i] * (double)all[axes[i]].in);
    }
  } else if (run_ints(run, scales_at + 1, &sizes) && sizes.count == count) {
    for (unsigned i = 0; i < count; ++i) {
      all[axes[i]].out = sizes.at[i];
      all[axes[i]].scale = (double)sizes.at[i] / (double)all[axes[i]].in;
    }
    keep_ratio(node_text(run->node, "keep_aspect_ratio_policy", "stretch"), all, axes, count);
  } else if (run_asks(run)) {
    run->guessed = true;
    for (unsigned i = 0; i < count; ++i) all[axes[i]].out = 2 * all[axes[i]].in, all[axes[i]].scale = 2;
  } else {
    return run->failed ? false : run_refuse(run, "it has neither scales nor sizes");
  }
  if (scales_at == 2 && run_numbers(run, 1, roi, 2 * count) == 2 * count)
    for (unsigned i = 0; i < count; ++i) all[axes[i]].roi[0] = roi[i], all[axes[i]].roi[1] = roi[count + i];
  return true;
}

static bool resize(run *run, unsigned scales_at, const manner *m) {
  const value *x = run_input(run, 0);
  axis_resize all[KW_MAX_RANK];
  kw_dtype dtype;
  if (!x || !read_sizes(run, x, scales_at, all)) return false;
  dtype = x->ref.dtype;
  if (dtype != KW_F32 && dtype != KW_F64) x = run_cast(run, x, KW_F32);
  for (unsigned d = 0; x && d < x->ref.rank; ++d)
    if (all[d].out != all[d].in || all[d].scale != 1 || all[d].roi[0] != 0 || all[d].roi[1] != 1)
      x = resize_one(run, m, x, d, &all[d]);
  if (x && dtype < KW_F16) x = CALL(run, "round", arg(x));
  return x && run_put(run, 0, run_cast(run, x, dtype));
}

bool op_resize(run *run) {
  const manner m = {.coordinates = node_text(run->node, "coordinate_transformation_mode", "half_pixel"),
                    .mode = node_text(run->node, "mode", "nearest"),
                    .nearest = node_text(run->node, "nearest_mode", "round_prefer_floor"),
                    .cubic = node_float(run->node, "cubic_coeff_a", -0.75),
                    .exclude = node_int(run->node, "exclude_outside", 0),
                    .antialias = node_int(run->node, "antialias", 0),
                    .outside = node_float(run->node, "extrapolation_value", 0)};
  return resize(run, 2, &m);
}

bool op_upsample(run *run) {
  const manner m = {.coordinates = "asymmetric", .mode = node_text(run->node, "mode", "nearest"), .nearest = "floor"};
  return resize(run, 1, &m);
}
