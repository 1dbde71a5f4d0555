/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of losses: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"mse_loss f32[2,3] f32[3] i:0", "f32: f32[2,3]"},
    {"mse_loss f32[2,3] f32[3]", "f32: f32[]"},
    {"mse_loss f16[2,3] f32[] i:2", "f16: f16[] cast 1"},
    {"mse_loss i64[2] f32[2] i:1", "f32: f32[] cast 0"},
    {"mse_loss f32[0,3] f32[3] i:0", "f32: f32[0,3]"},
    {"mse_loss_backward f32[] f32[2,3] f32[3] i:1", "f32: f32[2,3]"},
    {"mse_loss_backward f32[2,3] f32[2,3] f64[2,3] i:0", "f64: f64[2,3] cast 0 1"},
    {"huber_loss bf16[4] bf16[4] i:0 f:2", "bf16: bf16[4]"},
    {"binary_cross_entropy_with_logits f32[2,3] f32[2,1] - f32[3] i:0", "f32: f32[2,3]"},
    {"binary_cross_entropy_with_logits f32[2,1] f32[1] f32[4,1,3] - i:2", "f32: f32[]"},
    {"nll_loss_forward f32[4,3] i64[4] f32[3] i:0 i:-100", "f32: f32[4] f32[]"},
    {"nll_loss_forward bf16[4,3] i32[4] - i:1 i:-100", "bf16: bf16[] bf16[]"},
    {"nll_loss_forward f32[3] i64[] - i:0 i:-100", "f32: f32[] f32[]"},
    {"nll_loss_forward f32[0,3] i64[0] - i:0 i:0", "f32: f32[0] f32[]"},
    {"nll_loss2d_forward f64[2,3,4,5] i64[2,4,5] - i:0 i:-100", "f64: f64[2,4,5] f64[]"},
    {"nll_loss_backward f32[4] f32[4,3] i64[4] - i:0 i:-100 f32[]", "f32: f32[4,3]"},
    {"nll_loss_backward f32[] f32[4,3] i64[4] f32[3] i:1 i:-100 f32[]", "f32: f32[4,3]"},
    {"nll_loss2d_backward f32[2,4,5] f32[2,3,4,5] i64[2,4,5] - i:0 i:-100 f32[]", "f32: f32[2,3,4,5]"},
    {"cross_entropy_loss f32[4,3] i64[4]", "f32: f32[]"},
    {"cross_entropy_loss f32[4,3] f32[4,3] - i:0", "f32: f32[4]"},
    {"cross_entropy_loss f16[2,3,5] i32[2,5] f16[3] i:0 i:1 f:0.5", "f16: f16[2,5]"},
    {"cross_entropy_loss f32[3] f32[3] - i:0", "f32: f32[]"},
};

static const test_infer_row refused[] = {
    {"mse_loss f32[2,3] f32[2]", "mse_loss: argument 'target': shapes [2, 3] and [2] do not broadcast"},
    {"mse_loss f32[2] f32[2] i:3", "mse_loss: argument 'reduction': 3 is not known; it is 0 (none), 1 (mean) or 2"},
    {"mse_loss f32[2] f32[2] i:-1", "argument 'reduction': -1 is not known"},
    {"mse_loss i32[2] i64[2]", "mse_loss: argument 'target': dtype i64 is not"},
    {"mse_loss_backward f32[] f32[2,1] f32[3] i:1",
     "argument 'target': shape [3] does not broadcast to [2, 1], the shape of 'self'"},
    {"mse_loss_backward f32[4] f32[3] f32[3] i:0", "argument 'grad_output': shape [4] does not broadcast to [3]"},
    {"mse_loss_backward f32[3] f32[3] f32[3] i:7", "argument 'reduction': 7 is not known"},
    {"huber_loss f32[3] f32[3] i:1 f:0", "huber_loss: argument 'delta': 0 is not greater than 0"},
    {"huber_loss f32[3] f32[3] i:1 f:nan", "argument 'delta': nan is not greater than 0"},
    {"binary_cross_entropy_with_logits f32[2,3] f32[2,3] f32[2]", "argument 'weight': shapes [2, 3] and [2]"},
    {"nll_loss_forward f32[4,3,2] i64[4] - i:0 i:0",
     "nll_loss_forward: argument 'self': expected [n, classes] or [classes], got shape [4, 3, 2]"},
    {"nll_loss_forward f32[] i64[] - i:0 i:0", "argument 'self': expected [n, classes] or [classes], got shape []"},
    {"nll_loss_forward f32[4,0] i64[4] - i:0 i:0", "argument 'self': dimension 1, that of the classes, is empty"},
    {"nll_loss_forward f32[4,3] i64[3] - i:0 i:0",
     "argument 'target': expected shape [4], that of 'self' without its classes, got [3]"},
    {"nll_loss_forward f32[4,3] f32[4] - i:0 i:0", "argument 'target': classes are i64 or i32, not f32; cast them"},
    {"nll_loss_forward f32[4,3] u8[4] - i:0 i:0", "argument 'target': classes are i64 or i32, not u8"},
    {"nll_loss_forward f32[4,3] i64[4] f32[4] i:0 i:0",
     "argument 'weight': expected shape [3], one number for each class, got [4]"},
    {"nll_loss_forward f32[4,3] i64[4] f64[3] i:0 i:0", "argument 'weight': expected f32, the dtype of 'self'"},
    {"nll_loss_forward f32[4,3] i64[4] - i:9 i:0", "argument 'reduction': 9 is not known"},
    {"nll_loss2d_forward f32[4,3] i64[4] - i:0 i:0", "argument 'self': expected [n, classes, height, width], got"},
    {"nll_loss_backward f32[4] f32[4,3] i64[4] - i:1 i:0 f32[]",
     "argument 'grad_output': expected shape [], for the gradient of one loss, got [4]"},
    {"nll_loss_backward f32[] f32[4,3] i64[4] - i:0 i:0 f32[]",
     "argument 'grad_output': expected shape [4], one number for each target, got []"},
    {"nll_loss_backward f32[] f32[4,3] i64[4] - i:1 i:0 f32[1]", "argument 'total_weight': expected shape []"},
    {"cross_entropy_loss f32[4,3] f32[4,2]", "argument 'target': expected shape [4, 3], that of 'self', for prob"},
    {"cross_entropy_loss f32[4,3] f64[4,3]",
     "'target': expected classes, i64 or i32, or probabilities in f32, got f64"},
    {"cross_entropy_loss f32[4,3] f32[4,3] - i:1 i:0", "argument 'ignore_index': 0 names a class, but 'target' holds"},
    {"cross_entropy_loss f32[4,3] i64[4] - i:1 i:0 f:1.5", "argument 'label_smoothing': 1.5 is outside [0, 1]"},
    {"cross_entropy_loss f32[4,3] i64[4] - i:1 i:0 f:nan", "argument 'label_smoothing': nan is outside [0, 1]"},
    {"cross_entropy_loss f32[] i64[]", "argument 'self': expected at least a dimension of classes, got shape []"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
