/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the normalisations of channels and the backwards of all: results of those that are accepted, messages of
 * those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"_native_batch_norm_legit bf16[2,3,4] - - f32[3] bf16[3] b:1 f:0.1 f:1e-5",
     "bf16: bf16[2,3,4] f32[3] f32[3] f32[3] bf16[3]"},
    {"_native_batch_norm_legit f32[2,3] - - f32[3] f32[3] b:0 f:0.1 f:1e-5",
     "f32: f32[2,3] f32[0] f32[0] f32[3] f32[3]"},
    {"_native_batch_norm_legit.no_stats f32[2,3,4] - - b:1 f:0.1 f:1e-5", "f32: f32[2,3,4] f32[3] f32[3]"},
    {"_native_batch_norm_legit.no_stats bf16[2,3] f32[3] bf16[3] b:1 f:0.1 f:1e-5", "bf16: bf16[2,3] f32[3] f32[3]"},
    {"_native_batch_norm_legit_no_training f64[2,3,4] - f64[3] f64[3] f64[3] f:0.1 f:1e-5",
     "f64: f64[2,3,4] f64[0] f64[0]"},
    {"native_group_norm f16[2,6,4,5] f16[6] f32[6] i:2 i:6 i:20 i:3 f:1e-5", "f16: f16[2,6,4,5] f32[2,3] f32[2,3]"},
    {"native_group_norm f32[2,6] - - i:2 i:6 i:1 i:6 f:1e-5", "f32: f32[2,6] f32[2,6] f32[2,6]"},
    {"_fused_rms_norm f16[2,3] l:3 f16[3] -", "f16: f16[2,3] f32[2,1]"},
    {"native_layer_norm_backward f32[2,3] f32[2,3] l:3 f32[2,1] f32[2,1] f32[3] - l:1,1,1",
     "f32: f32[2,3] f32[3] f32[3]"},
    {"native_layer_norm_backward bf16[2,3] bf16[2,3] l:2,3 f32[1,1] f32[1,1] f32[2,3] - l:1,1,1",
     "bf16: bf16[2,3] f32[2,3] f32[2,3]"},
    {"_fused_rms_norm_backward f16[2,3] f16[2,3] l:3 f32[2,1] - l:1,1", "f16: f16[2,3] f16[3]"},
    {"native_group_norm_backward f32[2,4,3] f32[2,4,3] f32[2,2] f32[2,2] f32[4] i:2 i:4 i:3 i:2 l:1,1,1",
     "f32: f32[2,4,3] f32[4] f32[4]"},
    {"native_batch_norm_backward f32[2,4,3] f32[2,4,3] - - - f32[4] f32[4] b:1 f:1e-5 l:1,1,1",
     "f32: f32[2,4,3] f32[4] f32[4]"},
    {"native_batch_norm_backward f32[2,4,3] f32[2,4,3] - f32[4] f32[4] - - b:0 f:1e-5 l:1,1,1",
     "f32: f32[2,4,3] f32[4] f32[4]"},
    {"native_batch_norm_backward f32[2,4,3] f32[2,4,3] - f32[4] f32[4] f32[0] f32[0] b:0 f:1e-5 l:1,1,1",
     "f32: f32[2,4,3] f32[4] f32[4]"},
};

static const test_infer_row refused[] = {
    {"_native_batch_norm_legit f32[2,3] - - f32[3] f32[2] b:1 f:0.1 f:1e-5",
     "argument 'running_var': expected shape [3]"},
    {"_native_batch_norm_legit f32[2,3] - - f64[3] f32[3] b:1 f:0.1 f:1e-5", "argument 'running_mean': expected f32"},
    {"_native_batch_norm_legit.no_stats f32[3] - - b:1 f:0.1 f:1e-5",
     "argument 'input': expected [n, channels, ...], got shape [3]"},
    {"_native_batch_norm_legit.no_stats f32[2,3] f32[2] - b:1 f:0.1 f:1e-5",
     "argument 'weight': expected shape [3], one number for each channel, got [2]"},
    {"_native_batch_norm_legit.no_stats f32[2,3] - f32[3,1] b:1 f:0.1 f:1e-5", "argument 'bias': expected shape [3]"},
    {"_native_batch_norm_legit.no_stats f32[2,3] - - b:0 f:0.1 f:1e-5",
     "argument 'training': it is false, and there are no running statistics"},
    {"_native_batch_norm_legit.no_stats f32[2,3] f16[3] - b:1 f:0.1 f:1e-5",
     "argument 'weight': expected f32, the dtype of 'input', got f16; cast it first"},
    {"_native_batch_norm_legit.no_stats f16[2,3] f64[3] - b:1 f:0.1 f:1e-5",
     "argument 'weight': expected f16, the dtype of 'input', or f32, got f64"},
    {"_native_batch_norm_legit.no_stats i32[2,3] - - b:1 f:0.1 f:1e-5", "argument 'input': dtype i32 is not"},
    {"_native_batch_norm_legit_no_training f32[2,3] - - f32[2] f32[3] f:0.1 f:1e-5",
     "argument 'running_mean': expected shape [3]"},
    {"_native_batch_norm_legit_no_training f32[2,3] - - f32[3] f32[] f:0.1 f:1e-5",
     "argument 'running_var': expected shape [3]"},
    {"native_group_norm f32[2,6,4] - - i:3 i:6 i:4 i:2 f:1e-5", "argument 'N': 3 given, but 'input' has 2"},
    {"native_group_norm f32[2,6,4] - - i:2 i:5 i:4 i:2 f:1e-5", "argument 'C': 5 given, but 'input' has 6"},
    {"native_group_norm f32[2,6,4] - - i:2 i:6 i:5 i:2 f:1e-5", "argument 'HxW': 5 given, but 'input' has 4"},
    {"native_group_norm f32[2,6,4] - - i:2 i:6 i:4 i:4 f:1e-5",
     "argument 'group': 6 channels do not fall into 4 groups of equal size"},
    {"native_group_norm f32[2,6,4] - - i:2 i:6 i:4 i:0 f:1e-5", "argument 'group': 6 channels do not fall into 0"},
    {"native_group_norm f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] - - i:1 i:1 i:1 i:1 f:1e-5",
     "argument 'input': expected [n, channels, ...] with room for the groups' dimension"},
    {"_fused_rms_norm f32[2,3] l:2 - -", "argument 'normalized_shape': [2] does not match"},
    {"native_layer_norm_backward f32[2,3] f32[2,4] l:4 f32[2,1] f32[2,1] - - l:1,1,1",
     "argument 'grad_out': expected shape [2, 4], that of 'input', got [2, 3]"},
    {"native_layer_norm_backward f32[2,3] f32[2,3] l:2 f32[2,1] f32[2,1] - - l:1,1,1",
     "argument 'normalized_shape': [2] does not match"},
    {"native_layer_norm_backward f32[2,3] f32[2,3] l:3 f32[2] f32[2,1] - - l:1,1,1",
     "argument 'mean': expected shape [2, 1], one number for each row, got [2]"},
    {"native_layer_norm_backward f32[2,3] f32[2,3] l:3 f32[2,1] f32[1,1] - - l:1,1,1", "argument 'rstd': expected"},
    {"native_layer_norm_backward f32[2,3] f32[2,3] l:3 f32[2,1] f32[2,1] f32[2] - l:1,1,1",
     "argument 'weight': expected shape [3], as normalized_shape says, got [2]"},
    {"_fused_rms_norm_backward f32[2,3] f32[2,3] l:3 f32[2] - l:1,1", "argument 'rstd': expected shape [2, 1]"},
    {"native_group_norm_backward f32[2,4] f32[2,4] f32[2,4] f32[2,2] - i:2 i:4 i:1 i:2 l:1,1,1",
     "argument 'mean': expected shape [2, 2], one number for each group, got [2, 4]"},
    {"native_batch_norm_backward f32[2,4] f32[2,4] - f32[4] f32[4] f32[4] - b:1 f:1e-5 l:1,1,1",
     "argument 'save_invstd': it is none; with 'train' true it is needed"},
    {"native_batch_norm_backward f32[2,4] f32[2,4] - f32[4] f32[4] f32[0] f32[0] b:1 f:1e-5 l:1,1,1",
     "argument 'save_mean': expected shape [4], one number for each channel, got [0]"},
    {"native_batch_norm_backward f32[2,4] f32[2,4] - - f32[4] f32[4] f32[4] b:0 f:1e-5 l:1,1,1",
     "argument 'running_mean': it is none; with 'train' false it is needed"},
    {"native_batch_norm_backward f32[2,4] f32[2,4,1] - - - f32[4] f32[4] b:1 f:1e-5 l:1,1,1",
     "argument 'grad_out': expected shape [2, 4, 1], that of 'input', got [2, 4]"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
