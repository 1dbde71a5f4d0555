/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of optimisers and metrics: results of those that are accepted, messages of those that are refused.
 */
#include "base/error.h"
#include "testing/test_infer.h"

#define ADAM "f:0.1 f:0.9 f:0.99 f:0 f:0.1"

static const test_infer_row accepted[] = {
    {"_fused_sgd_ t:f16[2,3] t:f16[2,3] t:f16[2,3] f:0 f:0.9 f:0.1 f:0 b:0 b:0 b:0", "f16:"},
    {"_fused_sgd_ t:f64[2] t:f64[2] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0 f32[] f32[1]", "f64:"},
    {"_fused_sgd_ t: t: t: f:0 f:0.9 f:0.1 f:0 b:0 b:0 b:0", "f32:"},
    {"_fused_adam_ t:f32[2] t:f32[2] t:f32[2] t:f32[2] t: t:f32[] " ADAM " b:0 b:0", "f32:"},
    {"_fused_adamw_ t:bf16[2] t:bf16[2] t:bf16[2] t:bf16[2] t:bf16[2] t:f32[1] " ADAM " b:1 b:0", "bf16:"},
    {"_amp_foreach_non_finite_check_and_unscale_ t:f16[3],f16[] f32[] f32[1,1]", "f16:"},
    {"_amp_update_scale_ f32[] i32[1] f32[] f:2 f:0.5 i:1", "f32: f32[]"},
    {"keyway::clip_grad_norm_ t:bf16[3],bf16[2,2] f:1", "bf16: f32[]"},
    {"keyway::clip_grad_norm_ t:f64[3] i:0 f:inf", "f64: f64[]"},
    {"keyway::accumulate_mean_ f64[1] i64[] bool[3,4]", "f64:"},
    {"keyway::accumulate_confusion_ i64[3,3] i32[4,5] i64[4,5]", "i64:"},
    {"keyway::accumulate_confusion_ i64[0,0] i32[0] i64[0] i:1", "i64:"},
};

static const test_infer_row refused[] = {
    {"_fused_sgd_ t:f32[2] t: t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0", "argument 'grads': 0 entries for 1 of 'self'"},
    {"_fused_sgd_ t:f32[2] t:f32[2] t: f:0 f:0.9 f:0.1 f:0 b:0 b:0 b:0",
     "argument 'momentum_buffer_list': 0 entries for 1 of 'self'"},
    {"_fused_sgd_ t:f32[2] t:f32[3] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0",
     "argument 'grads': entry 0: expected shape [2], as in 'self', got [3]"},
    {"_fused_sgd_ t:f32[2] t:f16[2] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0",
     "argument 'grads': entry 0: expected f32, got f16; cast it first"},
    {"_fused_sgd_ t:i32[2] t:i32[2] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0", "argument 'self': dtype i32 is not one"},
    {"_fused_sgd_ t:f16[2] t:f16[2] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0 f16[]",
     "argument 'grad_scale': expected f32, got f16"},
    {"_fused_sgd_ t:f16[2] t:f16[2] t: f:0 f:0 f:0.1 f:0 b:0 b:0 b:0 - f32[2]",
     "argument 'found_inf': expected one element, got shape [2]"},
    {"_fused_adam_ t:f32[2] t:f32[2] t:f32[2] t:f32[2] t: t:f32[] " ADAM " b:1 b:0",
     "argument 'max_exp_avg_sqs': 0 entries for 1 of 'self'"},
    {"_fused_adam_ t:f32[2] t:f32[2] t:f32[2] t:f32[2] t: t:f32[2] " ADAM " b:0 b:0",
     "argument 'state_steps': entry 0: expected one element, got shape [2]"},
    {"_fused_adamw_ t:f64[2] t:f64[2] t:f64[2] t:f64[2] t: t:f64[] " ADAM " b:0 b:0",
     "argument 'state_steps': entry 0: expected f32, got f64"},
    {"_amp_foreach_non_finite_check_and_unscale_ t:f16[3],f32[] f32[] f32[]", "argument 'self': entry 1: expected f16"},
    {"_amp_update_scale_ f32[] f32[] f32[] f:2 f:0.5 i:1", "argument 'growth_tracker': expected i32, got f32"},
    {"_amp_update_scale_ f64[] i32[] f32[] f:2 f:0.5 i:1", "argument 'self': dtype f64 is not one"},
    {"_amp_update_scale_ f32[] i32[] f32[] f:2 f:0.5 i:0", "argument 'growth_interval': 0 is less than 1"},
    {"keyway::clip_grad_norm_ t:f32[3] f:-1", "argument 'max_norm': -1 is no norm"},
    {"keyway::clip_grad_norm_ t:f32[3] f:1 f:0", "argument 'norm_type': 0 is not greater than 0"},
    {"keyway::clip_grad_norm_ t:f32[3] f:1 f:nan", "argument 'norm_type': nan is not greater than 0"},
    {"keyway::accumulate_mean_ f32[2] i64[] f32[3]", "argument 'sum': expected one element, got shape [2]"},
    {"keyway::accumulate_mean_ f32[] i32[] f32[3]", "argument 'count': expected i64, got i32"},
    {"keyway::accumulate_mean_ f16[] i64[] f32[3]", "argument 'sum': dtype f16 is not one"},
    {"keyway::accumulate_mean_ f32[] i64[] c64[3]", "argument 'values': there is no sum of c64"},
    {"keyway::accumulate_confusion_ i64[3,2] i64[4] i64[4]", "argument 'counts': expected shape [classes, classes]"},
    {"keyway::accumulate_confusion_ i64[3,3] f32[4] i64[4]", "argument 'prediction': classes are i64 or i32, not f32"},
    {"keyway::accumulate_confusion_ i64[3,3] i64[4] i64[5]", "argument 'target': expected shape [4], one class for"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
