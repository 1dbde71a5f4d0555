/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimisers, scaled gradients and metrics: numbers worked out by hand.
 */
#include "test_call.h"

#include <float.h>
#include <math.h>

#define N(array) (sizeof(array) / sizeof(array)[0])

static kw_value flag(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static kw_value real(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value whole(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

/* An op without results. */
static kw_status change(test_table table, const char *op, uint32_t count, const kw_value *args) {
  const kw_call call = {.struct_size = sizeof call, .arg_count = count, .op = op, .args = args, .extra = TEST_EXTRA};
  return test_call(table, &call);
}

#define CHANGE(table, op, ...)                                                                                         \
  assert_int_equal(change(table, op, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value), (kw_value[]){__VA_ARGS__}), \
                   KW_OK)

/* A list of one tensor of one f64. */
typedef struct single {
  double value;
  kw_tensor_ref ref;
  const kw_tensor_ref *list[1];
} single;

static kw_value list_of(single *s, double value) {
  s->value = value;
  s->ref = TENSOR(KW_F64, &s->value, 1);
  s->list[0] = &s->ref;
  return test_list(s->list, 1);
}

static void near(double got, double want) {
  if (!(fabs(got - want) <= 1e-15 * fabs(want))) fail_msg("%.17g, expected %.17g", got, want);
}

static void sgd_steps(void **state) {
  (void)state;
  single p, g, b;
  CHANGE(kw_reference_f64, "_fused_sgd_", list_of(&p, 2), list_of(&g, 3), test_list(NULL, 0), real(0.5), real(0),
         real(0.25), real(0), flag(false), flag(false), flag(false), test_none(), test_none());
  assert_true(p.value == 2 - 0.25 * (3 + 1) && g.value == 3);
  /* b = 0.5 * 4 + 0.75 * 3 = 4.25; nesterov: 3 + 0.5 * 4.25 = 5.125 */
  CHANGE(kw_reference_f64, "_fused_sgd_", list_of(&p, 2), list_of(&g, 3), list_of(&b, 4), real(0), real(0.5), real(0.5),
         real(0.25), flag(true), flag(false), flag(false), test_none(), test_none());
  assert_true(b.value == 4.25 && p.value == 2 - 0.5 * 5.125);
  /* The first step takes the gradient, of 12 scaled by 4, and turns it round; the buffer is not read. */
  const float four = 4;
  const kw_tensor_ref scale = RANK0(KW_F32, &four);
  CHANGE(kw_reference_f64, "_fused_sgd_", list_of(&p, 2), list_of(&g, 12), list_of(&b, NAN), real(0), real(0.5),
         real(0.5), real(0.25), flag(false), flag(true), flag(true), test_arg(&scale), test_none());
  assert_true(g.value == 3 && b.value == -3 && p.value == 3.5);
}

static void nothing_changes_where_infinity_was_found(void **state) {
  (void)state;
  const float flags[] = {1, NAN, 0};
  for (int i = 0; i < 3; i++) {
    single p, g, b;
    const kw_tensor_ref found = RANK0(KW_F32, &flags[i]);
    CHANGE(kw_reference_f64, "_fused_sgd_", list_of(&p, 2), list_of(&g, 12), list_of(&b, 1), real(0), real(0.5),
           real(0.5), real(0), flag(false), flag(false), flag(false), test_arg(&found), test_arg(&found));
    assert_int_equal(p.value == 2 && g.value == 12 && b.value == 1, i < 2);
  }
}

static void adam_steps(void **state) {
  (void)state;
  const float second = 2;
  const kw_tensor_ref step = RANK0(KW_F32, &second), *steps[] = {&step};
  for (int decoupled = 0; decoupled < 2; decoupled++) {
    for (int amsgrad = 0; amsgrad < 2; amsgrad++) {
      single p, g, m, v, w;
      CHANGE(kw_reference_f64, decoupled ? "_fused_adamw_" : "_fused_adam_", list_of(&p, 4), list_of(&g, 2),
             list_of(&m, 1), list_of(&v, 8), list_of(&w, 100), test_list(steps, 1), real(0.125), real(0.5), real(0.75),
             real(0.5), real(0.25), flag(amsgrad), flag(false), test_none(), test_none());
      /* Bias corrections: 1 - 0.5^2 = 0.75, 1 - 0.75^2 = 0.4375. */
      const double before = decoupled ? 4 - 0.125 * 0.5 * 4 : 4, gradient = decoupled ? 2 : 4;
      const double mean = (1 + gradient) / 2, square = 6 + gradient * gradient / 4, largest = amsgrad ? 100 : square;
      near(m.value, mean);
      near(v.value, square);
      assert_true(w.value == 100 && g.value == 2);
      near(p.value, before - 0.125 / 0.75 * mean / (sqrt(largest) / sqrt(0.4375) + 0.25));
    }
  }
}

/* 1 - 0.999^2 is (1 - 0.999) (1 + 0.999): the difference of the powers would be off by 65 eps. */
static void bias_corrections_keep_their_digits(void **state) {
  (void)state;
  const float second = 2;
  const kw_tensor_ref step = RANK0(KW_F32, &second), *steps[] = {&step};
  single p, g, m, v, w;
  CHANGE(kw_reference_f64, "_fused_adam_", list_of(&p, 0), list_of(&g, 1), list_of(&m, 1), list_of(&v, 1),
         list_of(&w, 0), test_list(steps, 1), real(1), real(0.999), real(0), real(0), real(0), flag(false), flag(false),
         test_none(), test_none());
  const double want = -1 / ((1 - 0.999) * (1 + 0.999));
  assert_true(fabs(p.value - want) <= 4 * DBL_EPSILON * fabs(want));
}

static void the_largest_square_is_kept(void **state) {
  (void)state;
  const float first = 1;
  const kw_tensor_ref step = RANK0(KW_F32, &first), *steps[] = {&step};
  const double before[] = {0.5, 0.125, NAN}, after[] = {0.5, 0.25, NAN};
  for (int i = 0; i < 3; i++) {
    single p, g, m, v, w;
    CHANGE(kw_reference_f64, "_fused_adam_", list_of(&p, 0), list_of(&g, 1), list_of(&m, 0), list_of(&v, 0),
           list_of(&w, before[i]), test_list(steps, 1), real(1), real(0), real(0.75), real(0), real(0), flag(true),
           flag(true), test_none(), test_none());
    assert_true(i == 2 ? isnan(w.value) && isnan(p.value) : w.value == after[i]);
    if (i < 2) near(p.value, 1 / (sqrt(after[i]) / sqrt(0.25))); /* maximize: uphill */
  }
}

static void unscaling_notes_what_is_not_finite(void **state) {
  (void)state;
  const struct {
    double value;
    float before, after;
  } rows[] = {{3, 0, 0}, {INFINITY, 0, 1}, {NAN, 0, 1}, {3, 1, 1}, {1e308, 0, 0}};
  const float four = 4;
  const kw_tensor_ref factor = RANK0(KW_F32, &four);
  for (size_t i = 0; i < N(rows); i++) {
    single x;
    float found = rows[i].before;
    const kw_tensor_ref flagged = RANK0(KW_F32, &found);
    CHANGE(kw_reference_f64, "_amp_foreach_non_finite_check_and_unscale_", list_of(&x, rows[i].value),
           test_arg(&flagged), test_arg(&factor));
    assert_true(found == rows[i].after);
    assert_true(isnan(rows[i].value) ? isnan(x.value) : x.value == rows[i].value * 4);
  }
}

static void the_scale_grows_and_backs_off(void **state) {
  (void)state;
  const struct {
    float scale;
    int32_t steps;
    float found, after;
    int32_t counted;
  } rows[] = {{8, 0, 0, 8, 1},
              {8, 2, 0, 16, 0},
              {8, 2, 1, 4, 0},
              {8, 1, NAN, 4, 0},
              {8, 3, 0, 8, 4},
              {3e38f, 2, 0, 3e38f, 0},
              {8, INT32_MAX, 0, 8, INT32_MIN}};
  const test_table tables[] = {kw_reference_f32, kw_reference_f64};
  for (size_t i = 0; i < 2 * N(rows); i++) {
    float scale = rows[i / 2].scale, found = rows[i / 2].found;
    int32_t steps = rows[i / 2].steps;
    const kw_tensor_ref self = RANK0(KW_F32, &scale), tracker = RANK0(KW_I32, &steps), flagged = RANK0(KW_F32, &found);
    RUN(tables[i % 2], "_amp_update_scale_", &self, test_arg(&self), test_arg(&tracker), test_arg(&flagged), real(2),
        real(0.5), whole(3));
    assert_true(scale == rows[i / 2].after);
    assert_int_equal(steps, rows[i / 2].counted);
  }
}

static void gradients_are_clipped_by_the_norm_of_all(void **state) {
  (void)state;
  const struct {
    double limit, type, norm, factor;
  } rows[] = {{1, 2, 13, 1 / (13 + 1e-6)},
              {1, 1, 19, 1 / (19 + 1e-6)},
              {1, INFINITY, 12, 1 / (12 + 1e-6)},
              {14, 2, 13, 1},
              {0, 2, 13, 0}};
  for (size_t i = 0; i < N(rows); i++) {
    double a[] = {3, -4}, b = 12, norm = 0;
    const kw_tensor_ref first = TENSOR(KW_F64, a, 2), second = RANK0(KW_F64, &b), *list[] = {&first, &second};
    const kw_tensor_ref out = RANK0(KW_F64, &norm);
    RUN(kw_reference_f64, "keyway::clip_grad_norm_", &out, test_list(list, 2), real(rows[i].limit), real(rows[i].type));
    near(norm, rows[i].norm);
    near(a[1], -4 * rows[i].factor);
    near(b, 12 * rows[i].factor);
  }
  double x = INFINITY, y = 1, norm = 0;
  const kw_tensor_ref first = RANK0(KW_F64, &x), second = RANK0(KW_F64, &y), *list[] = {&first, &second};
  const kw_tensor_ref out = RANK0(KW_F64, &norm);
  RUN(kw_reference_f64, "keyway::clip_grad_norm_", &out, test_list(list, 2), real(1), real(2));
  assert_true(isinf(norm) && isnan(x) && y == 0);
}

/* Written by a device that computes in float, all numbers lie within the magnitude of the exact ones. */
static void magnitudes_hold_in_float(void **state) {
  (void)state;
  const float third = 3;
  const kw_tensor_ref step = RANK0(KW_F32, &third), *steps[] = {&step};
  for (int i = 0; i < 200; i++) {
    const float start[] = {(float)sin(i), (float)cos(3 * i), (float)sin(7 * i), (float)fabs(cos(5 * i))};
    float single[4];
    double exact[4], bound[4];
    const kw_dtype dtypes[] = {KW_F32, KW_F64, KW_F64};
    const char *const ops[] = {"_fused_adamw_", "_fused_adamw_", "_fused_adamw_/magnitude"};
    const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f64};
    void *const memory[] = {single, exact, bound};
    for (int form = 0; form < 3; form++) {
      kw_tensor_ref refs[4];
      const kw_tensor_ref *lists[4];
      kw_value args[15] = {[4] = test_list(NULL, 0),
                           [5] = test_list(steps, 1),
                           real(0.01),
                           real(0.9),
                           real(0.999),
                           real(0.1),
                           real(1e-8),
                           flag(false),
                           flag(i % 2)};
      for (int k = 0; k < 4; k++) {
        char *at = (char *)memory[form] + (size_t)k * kw_number_size(dtypes[form]);
        kw_number_store(dtypes[form], at, start[k]);
        refs[k] = RANK0(dtypes[form], at);
        lists[k] = &refs[k];
        args[k] = test_list(&lists[k], 1);
      }
      assert_int_equal(change(tables[form], ops[form], N(args), args), KW_OK);
    }
    for (int k = 0; k < 4; k++) {
      assert_true(fabs(single[k] - exact[k]) <= 0x1p-23 * bound[k]);
      if (k != 1) assert_true(bound[k] < 200); /* and it is not far from the numbers themselves */
      if (k == 1) assert_true(bound[k] == 0);
    }
  }
}

static void means_add_up(void **state) {
  (void)state;
  float sum = 1.5f, values[] = {1, 2, -0.5f};
  int64_t count = 4;
  uint8_t hits[] = {1, 0, 1, 1};
  const kw_tensor_ref s = RANK0(KW_F32, &sum), n = TENSOR(KW_I64, &count, 1);
  const kw_tensor_ref floats = TENSOR(KW_F32, values, 3), bools = TENSOR(KW_BOOL, hits, 2, 2);
  CHANGE(kw_reference_f32, "keyway::accumulate_mean_", test_arg(&s), test_arg(&n), test_arg(&floats));
  assert_true(sum == 4 && count == 7);
  CHANGE(kw_reference_f32, "keyway::accumulate_mean_", test_arg(&s), test_arg(&n), test_arg(&bools));
  assert_true(sum == 7 && count == 11);
}

static void confusions_are_counted(void **state) {
  (void)state;
  int64_t counts[4] = {0, 0, 0, 10}, target[] = {0, 1, 1, 1, 0, -100};
  int32_t prediction[] = {0, 1, 0, 1, 0, 7};
  const kw_tensor_ref table = TENSOR(KW_I64, counts, 2, 2);
  kw_tensor_ref p = TENSOR(KW_I32, prediction, 6), t = TENSOR(KW_I64, target, 6);
  uint32_t error = 0;
  test_error = &error;
  CHANGE(kw_reference_f32, "keyway::accumulate_confusion_", test_arg(&table), test_arg(&p), test_arg(&t), whole(-100));
  assert_int_equal(error, 0); /* the last place is ignored, whatever was predicted */
  assert_true(counts[0] == 2 && counts[1] == 0 && counts[2] == 1 && counts[3] == 12);
  CHANGE(kw_reference_f32, "keyway::accumulate_confusion_", test_arg(&table), test_arg(&p), test_arg(&t), whole(1));
  assert_int_equal(error, TEST_ERROR_CODE + 2);
  assert_true(counts[0] == 4 && counts[3] == 12);
  error = 0;
  target[5] = 0;
  CHANGE(kw_reference_f32, "keyway::accumulate_confusion_", test_arg(&table), test_arg(&p), test_arg(&t), whole(1));
  assert_int_equal(error, TEST_ERROR_CODE + 1);
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sgd_steps),
      cmocka_unit_test(nothing_changes_where_infinity_was_found),
      cmocka_unit_test(adam_steps),
      cmocka_unit_test(bias_corrections_keep_their_digits),
      cmocka_unit_test(the_largest_square_is_kept),
      cmocka_unit_test(unscaling_notes_what_is_not_finite),
      cmocka_unit_test(the_scale_grows_and_backs_off),
      cmocka_unit_test(gradients_are_clipped_by_the_norm_of_all),
      cmocka_unit_test(magnitudes_hold_in_float),
      cmocka_unit_test(means_add_up),
      cmocka_unit_test(confusions_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
