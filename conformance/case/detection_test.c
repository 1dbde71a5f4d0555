/* SPDX-License-Identifier: Apache-2.0
 *
 * No case of detection asks for a decision that a rounding could turn: not whether a box goes, nor how many samples a
 * region takes.
 */
#include "case/make.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAFE 1e-6 /* more than f32 may be off: 20 ULP of a quotient below 1, and the threshold's rounding */

static const kw_suite_op *find_op(const char *name) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  }
  fail_msg("there is no op %s", name);
  return NULL;
}

/* ---- Suppression ------------------------------------------------------------------------------------------------- */

static double area(const double box[4]) {
  return fmax(box[2] - box[0], 0) * fmax(box[3] - box[1], 0);
}

/* Quotients that are met exactly are of powers of two. */
static bool is_power(double x) {
  int exponent;
  return frexp(x, &exponent) == 0.5;
}

static bool is_certain(const double a[4], const double b[4], double threshold) {
  const double inner[4] = {fmax(a[0], b[0]), fmax(a[1], b[1]), fmin(a[2], b[2]), fmin(a[3], b[3])};
  const double common = area(inner), whole = area(a) + area(b) - common, iou = whole == 0 ? 0 : common / whole;
  if (isnan(iou) || common == 0) return true;
  if (iou == threshold) return is_power(common) && is_power(whole);
  return fabs(iou - threshold) > SAFE;
}

/* The boxes of a case, four numbers each; the caller frees them. */
static double *read_boxes(const kw_case *c, uint32_t run) {
  const kw_case_tensor *dets = &c->tensors[0];
  const size_t size = kw_element_size(dets->dtype);
  char *storage = calloc(dets->extent + 1, size);
  double *out = calloc((size_t)dets->numel + 1, sizeof *out);
  assert_non_null(storage);
  assert_non_null(out);
  kw_case_fill(c, 0, 1, run, false, storage);
  for (int64_t i = 0; i < dets->numel; i++) {
    out[i] = kw_element_load(dets->dtype, storage + (size_t)kw_case_tensor_at(dets, i) * size);
  }
  free(storage);
  return out;
}

static void check_boxes(const kw_case *c, uint32_t run) {
  const double threshold = kw_case_arg_value(c, 2).u.f;
  const int64_t n = c->tensors[0].shape[0], most = n < 300 ? n : 300;
  double *boxes = read_boxes(c, run);
  for (int64_t i = 0; i < most; i++) {
    for (int64_t j = 0; j < i; j++) {
      if (is_certain(boxes + 4 * i, boxes + 4 * j, threshold)) continue;
      fail_msg("%s, run %u: boxes %lld and %lld are at the threshold", c->id, run, (long long)i, (long long)j);
    }
  }
  free(boxes);
}

static void suppressions_are_certain(void **state) {
  (void)state;
  const kw_suite_op *op = find_op("torchvision::nms");
  uint32_t checked = 0;
  kw_case c;
  for (kw_dtype key = 0; key < KW_KEY_DTYPE_COUNT; key++) {
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      for (uint32_t n = 0; kw_case_make(op, key, (kw_case_class) class, n, &c); n++, checked++) {
        for (uint32_t run = 0; run < 2; run++) check_boxes(&c, run);
      }
    }
  }
  assert_true(checked > 100);
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static void check_samples(const kw_case *c, uint32_t last) {
  if (kw_case_arg_value(c, last).u.i > 0) return;
  bool exact = is_power(kw_case_arg_value(c, 2).u.f); /* corners are multiples of 1/4 */
  for (uint32_t i = 3; i < 5; i++) exact = exact && is_power((double)kw_case_arg_value(c, i).u.i);
  if (!exact) fail_msg("%s: a bin's size is rounded before its samples are counted", c->id);
}

static void samples_are_certain(void **state) {
  (void)state;
  static const char *const names[] = {"torchvision::roi_align", "torchvision::_roi_align_backward"};
  uint32_t checked = 0;
  kw_case c;
  for (size_t i = 0; i < 2; i++) {
    const kw_suite_op *op = find_op(names[i]);
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      for (uint32_t n = 0; kw_case_make(op, KW_F32, (kw_case_class) class, n, &c); n++, checked++) {
        check_samples(&c, (uint32_t)kw_suite_op_find_arg(op, "sampling_ratio"));
      }
    }
  }
  assert_true(checked > 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(suppressions_are_certain),
      cmocka_unit_test(samples_are_certain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
