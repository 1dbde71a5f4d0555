/* SPDX-License-Identifier: Apache-2.0
 *
 * No case of resampling comes near a jump of its result.
 */
#include "case/make.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const kw_suite_op *find_op(const char *name) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  }
  fail_msg("there is no op %s", name);
  return NULL;
}

static int64_t at_most(double place, int64_t size) {
  return place < (double)size ? (int64_t)place : size - 1;
}

/* Element i of `out` from `in`: the same by the definition and by what f32 makes of it in one order or another. */
static void assert_one_choice(const char *id, int64_t in, int64_t out, double scale, double middle) {
  const float f_scale = scale > 0 ? (float)scale : (float)out / (float)in;
  const float step = scale > 0 ? 1 / f_scale : (float)in / (float)out;
  for (int64_t i = 0; i < out; i++) {
    const float place = (float)i + (float)middle;
    const int64_t twice = 2 * i + (middle > 0);
    const int64_t want = scale > 0 ? at_most(((double)i + middle) / scale, in) : twice * in / (2 * out);
    const float ways[] = {place * step, place / f_scale, scale > 0 ? place * step : place * (float)in / (float)out};
    for (int w = 0; w < 3; w++) {
      if (at_most(ways[w], in) == want) continue;
      fail_msg("%s: element %lld of %lld from %lld is at a jump", id, (long long)i, (long long)out, (long long)in);
    }
  }
}

static void nearest_elements_are_certain(void **state) {
  (void)state;
  static const char *const names[] = {"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
                                      "_upsample_nearest_exact2d", "upsample_nearest2d_backward"};
  uint32_t checked = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const kw_suite_op *op = find_op(names[i]);
    const uint32_t first = kw_suite_op_find_arg(op, "input_size") >= 0 ? 3 : 2;
    kw_case c;
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      for (uint32_t n = 0; kw_case_make(op, KW_F32, (kw_case_class) class, n, &c); n++, checked++) {
        const kw_case_tensor *small = first == 3 ? &c.outs[0] : &c.tensors[0];
        const kw_case_tensor *large = first == 3 ? &c.tensors[0] : &c.outs[0];
        for (uint32_t d = 2; d < small->rank; d++) {
          const kw_value scale = kw_case_arg_value(&c, first + d - 2);
          assert_one_choice(c.id, small->shape[d], large->shape[d], scale.tag == KW_TAG_FLOAT ? scale.u.f : 0,
                            strstr(names[i], "exact") ? 0.5 : 0);
        }
      }
    }
  }
  assert_true(checked > 300);
}

/* A quarter of what a unit is to the grid's sixteenths, at least: coordinates are off integers and halves. */
static void assert_off_jumps(const kw_case *c, uint32_t grid, int64_t size, bool align) {
  kw_value_key key = kw_case_value_key(c, grid, 1, 0);
  for (uint64_t i = 0; i < 64; i++) {
    float x;
    kw_value_make(&key, KW_F32, i, &x);
    const double at = align ? (x + 1.) / 2 * (double)(size - 1) : ((x + 1.) * (double)size - 1) / 2;
    const double distance = fabs(2 * at - rint(2 * at)) / 2;
    if (size == 1 && align) continue; /* always at 0, and no slope */
    if (distance < 1. / 64) fail_msg("%s: %g over %lld elements is at a jump", c->id, (double)x, (long long)size);
  }
}

static void grids_are_off_integers_and_halves(void **state) {
  (void)state;
  static const char *const names[] = {"grid_sampler_2d", "grid_sampler_2d_backward"};
  for (uint32_t first = 0; first < 2; first++) {
    const kw_suite_op *op = find_op(names[first]);
    kw_case c;
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      for (uint32_t n = 0; kw_case_make(op, KW_F32, (kw_case_class) class, n, &c); n++) {
        const bool nearest = kw_case_arg_value(&c, first + 2).u.i == 1, align = kw_case_arg_value(&c, first + 4).u.b;
        for (int d = 2; d < 4 && (nearest || first == 1); d++) {
          assert_off_jumps(&c, first + 1, c.tensors[first].shape[d], align);
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_elements_are_certain),
      cmocka_unit_test(grids_are_off_integers_and_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
