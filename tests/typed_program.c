/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed calls in each way that they may be written, as C11 and as C++17: tests/typed_header.sh compiles it as both and
 * runs it on cpu:0. Exit status 0: every number is right.
 */
#include <keyway/ops.h>

#include <stdio.h>

static kw_device *device;

static bool is(const kw_tensor *tensor, const char *text) {
  char shown[256] = "";
  if (kw_tensor_format(tensor, shown, sizeof shown) != KW_OK) snprintf(shown, sizeof shown, "%s", kw_error_message());
  for (size_t i = 0; shown[i] == text[i]; ++i) {
    if (text[i] == '\0') return true;
  }
  fprintf(stderr, "%s, and not %s\n", shown, text);
  return false;
}

static bool expressions(void) {
  kw_tensor *x = kwx_arange_start_step(0, 4), *f = kwx_to_copy(x, KW_F32);
  kw_tensor *m = kwx_repeat(f, KW_INTS(2, 1)), *values = NULL, *indices = NULL;
  const int64_t two = 2;
  return is(kwx_mul_scalar(x, two), "tensor([0, 2, 4, 6], i64, cpu:0)") &&
         is(kwx_mul_scalar(x, 0.5f), "tensor([0, 0.5, 1, 1.5], f32, cpu:0)") &&
         is(kwx_where_self(kwx_gt_scalar(f, 1), f, kwx_neg(f)), "tensor([-0, -1, 2, 3], f32, cpu:0)") &&
         is(kwx_sum_dim_intlist(m, KW_INTS(0, 1), false, KW_F64), "tensor(12, f64, cpu:0)") &&
         is(kwx_addmm(m, m, kwx_full(KW_INTS(4, 4), 1.0), 0, 0.5),
            "tensor([[3, 3, 3, 3], [3, 3, 3, 3]], f32, cpu:0)") &&
         is(kwx_clamp(f, kw_arg_none(), 2.5), "tensor([0, 1, 2, 2.5], f32, cpu:0)") &&
         is(kwx_cat(KW_TENSORS(f, kwx_neg(f)), 0), "tensor([0, 1, 2, 3, -0, -1, -2, -3], f32, cpu:0)") &&
         is(kwx_var_correction(f, KW_NO_INTS, 1), "tensor(1.6666666, f32, cpu:0)") &&
         is(kwx_argmax(m, 1, true), "tensor([[3], [3]], i64, cpu:0)") &&
         is(kwx_avg_pool1d(m, KW_INTS(2)), "tensor([[0.5, 2.5], [0.5, 2.5]], f32, cpu:0)") &&
         is(kwx_gelu(kwx_full(KW_INTS(1), 0.0), "tanh"), "tensor([0], f32, cpu:0)") &&
         kw_topk(f, 1, &values, &indices) == KW_OK && is(values, "tensor([3], f32, cpu:0)") &&
         kw_copy_(values, indices) == KW_OK;
}

int main(void) {
  kw_scope *scope = NULL;
  if (kw_device_open("cpu:0", &device) != KW_OK || kw_scope_begin(kw_stream_default(device), &scope) != KW_OK) {
    fprintf(stderr, "%s\n", kw_error_message());
    return 1;
  }
  const bool good = expressions();
  const kw_status status = kw_scope_end(scope);
  if (status != KW_OK) fprintf(stderr, "%s\n", kw_error_message());
  return kw_device_close(device) == KW_OK && good && status == KW_OK ? 0 : 1;
}
