/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of gated units and rotary positions: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"glu f32[2,6]", "f32: f32[2,3]"},
    {"glu f16[4,3] i:0", "f16: f16[2,3]"},
    {"glu f64[0]", "f64: f64[0]"},
    {"glu_backward bf16[2,3] bf16[2,6] i:-1", "bf16: bf16[2,6]"},
    {"keyway::swiglu f16[2,3] f32[3]", "f32: f32[2,3] cast 0 expand"},
    {"keyway::swiglu_backward f32[2,3] f32[2,3] f32[2,3]", "f32: f32[2,3] f32[2,3]"},
    {"keyway::rope f32[5,8] f32[5,4] f32[5,4]", "f32: f32[5,8]"},
    {"keyway::rope bf16[2,4,5,8] f32[9,3] bf16[9,3] i32[2,1,5] b:1", "bf16: bf16[2,4,5,8]"},
    {"keyway::rope f32[2,5,8] f32[9,4] f32[9,4] i64[]", "f32: f32[2,5,8]"},
    {"keyway::rope f64[0,8] f64[0,4] f64[0,4]", "f64: f64[0,8]"},
};

static const test_infer_row refused[] = {
    {"glu f32[2,5]", "glu: argument 'self': dimension 1 has size 5, which does not halve"},
    {"glu f32[] i:0", "glu: argument 'self': a tensor of rank 0 has no halves"},
    {"glu f32[2,6] i:2", "argument 'dim': dimension 2 is outside [-2, 1]"},
    {"glu i32[2,6]", "argument 'self': dtype i32 is not"},
    {"glu_backward f32[2,6] f32[2,6] i:1",
     "argument 'grad_output': expected shape [2, 3], that of a half of 'self', got"},
    {"glu_backward f16[2,3] f32[2,6] i:1", "argument 'self': expected f16"},
    {"keyway::swiglu_backward f32[2,3] f32[2,3] f32[3]",
     "argument 'up': expected shape [2, 3], that of 'grad_output', got [3]"},
    {"keyway::rope f32[8] f32[5,4] f32[5,4]", "argument 'self': expected rows and a width at least, got shape [8]"},
    {"keyway::rope f32[5,8] f32[5] f32[5,4]", "argument 'cos': expected [positions, pairs], got shape [5]"},
    {"keyway::rope f32[5,8] f32[5,5] f32[5,5]",
     "argument 'cos': its 5 pairs do not fit into rows of 'self' of width 8"},
    {"keyway::rope f32[5,8] f32[5,4] f32[4,4]", "argument 'sin': expected shape [5, 4], that of 'cos', got [4, 4]"},
    {"keyway::rope f32[5,8] f32[4,4] f32[4,4]", "argument 'cos': it has 4 positions, fewer than 'self' has rows: 5"},
    {"keyway::rope f32[5,8] f32[0,4] f32[0,4] i64[5]", "argument 'cos': it has no positions"},
    {"keyway::rope f32[5,8] f64[5,4] f32[5,4]", "argument 'cos': expected f32, got f64"},
    {"keyway::rope f16[5,8] f16[5,4] f16[5,4] f16[5]", "argument 'positions': expected i64 or i32, got f16"},
    {"keyway::rope f32[2,5,8] f32[5,4] f32[5,4] i64[3,5]",
     "argument 'positions': shape [3, 5] does not broadcast to [2, 5], the shape of 'rows'"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
