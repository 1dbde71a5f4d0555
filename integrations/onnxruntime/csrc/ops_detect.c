/* SPDX-License-Identifier: Apache-2.0
 *
 * Detection: which boxes stay, and what lies in them.
 */
#include <string.h>

#include "ops.h"

/* Corners (low, low, high, high) of boxes [batch, n, 4], which are two corners, or a middle and a size. */
static value *corners(run *run, const value *boxes) {
  const value *a = run_slice(run, boxes, 2, 0, 2, 1), *b = run_slice(run, boxes, 2, 2, 2, 1);
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (node_int(run->node, "center_point_box", 0)) {
    const value *half = CALL(run, "mul.Scalar", arg(b), kw_arg_scalar_f64(0.5));
    parts[0] = CALL(run, "sub.Tensor", arg(a), arg(half));
    parts[1] = CALL(run, "add.Tensor", arg(a), arg(half));
  } else {
    parts[0] = CALL(run, "minimum", arg(a), arg(b));
    parts[1] = CALL(run, "maximum", arg(a), arg(b));
  }
  if (!parts[0] || !parts[1]) return NULL;
  return CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(2));
}

/* [m, 3]: batch, class, box, of those that stay of one class: scores [n], boxes [n, 4]. */
static value *one_class(run *run, const value *scores, const value *boxes, int64_t batch, int64_t class, double overlap,
                        int64_t most) {
  const value *places = NULL, *kept;
  value *parts[3];
  const kw_tensor_ref *refs[3];
  double least = 0;
  int64_t shape[] = {0, 1};
  if (run_has_ints(run, 4) && (run_number(run, 4, &least) || run_asks(run))) {
    places = COUNTED(run, "nonzero", arg(CALL(run, "gt.Scalar", arg(scores), kw_arg_scalar_f64(least))));
    places = places ? run_reshape(run, places, 1, places->ref.shape) : NULL;
    scores = CALL(run, "index_select", arg(scores), kw_arg_int(0), arg(places));
    boxes = CALL(run, "index_select", arg(boxes), kw_arg_int(0), arg(places));
  }
  kept = COUNTED(run, "torchvision::nms", arg(boxes), arg(scores), kw_arg_float(overlap));
  if (kept && kept->ref.shape[0] > most) kept = run_slice(run, kept, 0, 0, most, 1);
  if (places) kept = CALL(run, "index_select", arg(places), kw_arg_int(0), arg(kept));
  if (!kept) return NULL;
  shape[0] = kept->ref.shape[0];
  parts[0] = CALL(run, "full", kw_arg_int_list(shape, 2), kw_arg_scalar_i64(batch), kw_arg_dtype(KW_I64));
  parts[1] = CALL(run, "full", kw_arg_int_list(shape, 2), kw_arg_scalar_i64(class), kw_arg_dtype(KW_I64));
  parts[2] = run_reshape(run, kept, 2, shape);
  return run->failed ? NULL : CALL(run, "cat", run_list(run, parts, 3, refs), kw_arg_int(1));
}

/* Part `i` of the first dimension, without it. */
static value *part(run *run, const value *of, int64_t i) {
  const value *one = of ? run_slice(run, of, 0, i, 1, 1) : NULL;
  return one ? run_reshape(run, one, one->ref.rank - 1u, one->ref.shape + 1) : NULL;
}

bool op_non_max_suppression(run *run) {
  const value *boxes = run_input(run, 0), *scores = run_input(run, 1), *all = NULL, *none = NULL;
  double overlap = 0;
  ints most = {.count = 0};
  if (!boxes || !scores || boxes->ref.rank != 3 || scores->ref.rank != 3)
    return run_refuse(run, "boxes of another rank");
  if (run_has_ints(run, 2)) run_ints_or(run, 2, &most, (int64_t[]){1}, 1);
  run_number(run, 3, &overlap);
  if (run->failed) return false;
  const bool nothing = most.count == 0 || most.at[0] <= 0 || run_numel(scores) == 0;
  boxes = corners(run, boxes);
  for (int64_t i = 0; !nothing && i < scores->ref.shape[0] * scores->ref.shape[1] && !run->failed; ++i) {
    const int64_t batch = i / scores->ref.shape[1], class = i % scores->ref.shape[1];
    const unsigned mark = run->value_count;
    value *parts[2] = {(value *)(uintptr_t)all};
    const kw_tensor_ref *refs[2];
    parts[1] = one_class(run, part(run, part(run, scores, batch), class), part(run, boxes, batch), batch, class,
                         overlap, most.at[0]);
    all = all && parts[1] ? CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(0)) : parts[1];
    run_forget(run, mark, &all, &none);
    if (run_asks(run)) break; /* every class is the same */
  }
  if (run->failed) return false;
  if (all) return run_put(run, 0, all);
  run_output(run, 0, KW_I64, 2, (int64_t[]){0, 3});
  return !run->failed;
}

/* Rois [n, 4] and the image of each, as Keyway has them: [n, 5]. */
static bool roi_align(run *run, bool half_pixel) {
  const value *x = run_input(run, 0), *rois = run_input(run, 1), *images = run_input(run, 2);
  value *parts[2];
  const kw_tensor_ref *refs[2];
  if (!x || !rois || !images) return run_refuse(run, "an input is missing");
  if (strcmp(node_text(run->node, "mode", "avg"), "avg") != 0) return run_refuse(run, "mode max");
  parts[0] = run_cast(run, images, rois->ref.dtype);
  parts[0] = parts[0] ? run_unsqueeze(run, parts[0], 1) : NULL;
  parts[1] = (value *)(uintptr_t)rois;
  if (!parts[0]) return false;
  return CALL_TO(
      run, 0, "torchvision::roi_align", arg(x), arg(CALL(run, "cat", run_list(run, parts, 2, refs), kw_arg_int(1))),
      kw_arg_float(node_float(run->node, "spatial_scale", 1)), kw_arg_int(node_int(run->node, "output_height", 1)),
      kw_arg_int(node_int(run->node, "output_width", 1)), kw_arg_int(node_int(run->node, "sampling_ratio", 0)),
      kw_arg_bool(half_pixel));
}

bool op_roi_align(run *run) {
  return roi_align(run,
                   strcmp(node_text(run->node, "coordinate_transformation_mode", "half_pixel"), "half_pixel") == 0);
}

bool op_old_roi_align(run *run) {
  return roi_align(run, false);
}
