/* SPDX-License-Identifier: Apache-2.0 */
#include "test_infer.h"

static const test_infer_row accepted[] = {
    /* joining */
    {"cat t:f32[2,3],f32[4,3]", "f32: f32[6,3]"},
    {"cat t:f32[2,3] i:1", "f32: f32[2,3]"},
    {"cat t:f32[2,3],f32[2,1],f32[2,0] i:-1", "f32: f32[2,4]"},
    {"cat t:f32[0],i64[2,3],f32[0] i:1", "f32: f32[2,3] cast 0"}, /* [0] joins anything, and has a say in the dtype */
    {"cat t:f32[0],f32[0] i:3", "f32: f32[0]"},
    {"cat t:f32[0],f32[5]", "f32: f32[5]"},
    {"cat t:f32[0,3],f32[2,3]", "f32: f32[2,3]"},
    {"cat t:i8[2],u8[3]", "i16: i16[5] cast 0"},
    {"cat t:i32[2],f16[3],bool[1]", "f16: f16[6] cast 0"},
    {"cat t:f8e5m2[2],f8e5m2[3]", "f8e5m2: f8e5m2[5]"},
    {"cat t:c64[2],f64[3]", "c128: c128[5] cast 0"},
    /* rows of a table */
    {"embedding_dense_backward f32[4,5] i64[4] i:7 i:-1 b:0", "f32: f32[7,5]"},
    {"embedding_dense_backward f16[2,3,5] i32[2,3] i:7 i:0 b:1", "f16: f16[7,5]"},
    {"embedding_dense_backward f32[5] i64[] i:7 i:0 b:0", "f32: f32[7,5]"},
    {"embedding_dense_backward f32[0,5] i64[0] i:0 i:0 b:0", "f32: f32[0,5]"},
    {"embedding f32[5,3] i64[2,4]", "f32: f32[2,4,3]"},
    {"embedding i8[5,3] i32[] i:77 b:1 b:1", "i8: i8[3]"},
    {"embedding f16[0,3] i64[0]", "f16: f16[0,3]"},
    {"embedding f16[5,0] i64[2]", "f16: f16[2,0]"},
    {"index_select f32[2,3,4] i:1 i64[7]", "f32: f32[2,7,4]"},
    {"index_select f32[2,3,4] i:-1 i32[]", "f32: f32[2,3,1]"},
    {"index_select f32[2,0,4] i:1 i32[0]", "f32: f32[2,0,4]"},
    {"index_select bool[] i:-1 i64[1]", "bool: bool[]"},
    /* along lines */
    {"gather f32[2,3,4] i:0 i64[7,3,1]", "f32: f32[7,3,1]"},
    {"gather f32[2,3,4] i:-2 i32[2,9,4]", "f32: f32[2,9,4]"},
    {"gather f32[] i:0 i64[5]", "f32: f32[5]"},
    {"gather c64[3] i:0 i64[]", "c64: c64[]"},
    {"gather f32[2,3] i:0 i64[0]", "f32: f32[0]"}, /* no indices: any shape */
    {"gather f32[0,3] i:0 i64[0,3]", "f32: f32[0,3]"},
    {"scatter.src f32[2,3] i:0 i64[5,2] f32[6,2]", "f32: f32[2,3]"},
    {"scatter.src f32[] i:0 i32[1] f32[5]", "f32: f32[]"},
    {"scatter.src f32[3] i:0 i64[0,2] f32[1,3]", "f32: f32[3]"},
    {"scatter.value i32[2,3] i:-1 i64[1,9] f:2.7", "i32: i32[2,3]"},
    {"scatter.value c64[2] i:0 i64[1] c:2", "c64: c64[2]"},
    /* advanced indexing */
    {"index.Tensor f32[2,3,4] t:i64[5]", "f32: f32[5,3,4]"},
    {"index.Tensor f32[2,3,4] t:i64[]", "f32: f32[3,4]"},
    {"index.Tensor f32[2,3,4] t:-,i32[5,6]", "f32: f32[2,5,6,4]"},
    {"index.Tensor f32[2,3,4] t:-,i64[5],i32[6,1]", "f32: f32[2,6,5]"},
    {"index.Tensor f32[2,3,4] t:i64[5],-,i64[5]", "f32: f32[5,3]"}, /* apart: first */
    {"index.Tensor f32[2,3,4,5] t:-,i64[6],-,i64[7,1]", "f32: f32[7,6,2,4]"},
    {"index.Tensor f32[2,3,4] t:i64[5],i64[5],-", "f32: f32[5,4]"},
    {"index.Tensor f32[2,3,4] t:-,-,i64[0]", "f32: f32[2,3,0]"},
    {"index.Tensor f32[0,3] t:-,i64[2]", "f32: f32[0,2]"},
    {"index.Tensor f32[0,3] t:i64[0]", "f32: f32[0,3]"},
    {"index.Tensor f32[0,3] t:i64[2,1],i64[0]", "f32: f32[2,0]"},
    {"index_put f32[2,3,4] t:i64[5] f32[]", "f32: f32[2,3,4]"},
    {"index_put f32[2,3,4] t:-,i64[5],i64[] f32[2,1] b:1", "f32: f32[2,3,4]"},
    {"index_put f32[2,3,4] t:i64[5],-,i64[1] f32[5,3]", "f32: f32[2,3,4]"},
    {"index_put bool[2] t:i64[2] bool[2] b:1", "bool: bool[2]"},
    {"index_put c64[2] t:i64[2] c64[2]", "c64: c64[2]"},
    {"scatter_add f32[3,5] i:1 i64[2,4] f32[2,6]", "f32: f32[3,5]"},
    {"scatter_reduce.two f32[3] i:0 i32[5] f32[5] s:amax b:0", "f32: f32[3]"},
    {"index_add f32[3,5] i:-1 i64[2] f32[3,2]", "f32: f32[3,5]"},
    {"index_add i32[] i:0 i64[] i32[] i:3", "i32: i32[]"},
};

static const test_infer_row refused[] = {
    {"embedding_dense_backward f32[4,5] i64[3] i:7 i:-1 b:0",
     "argument 'grad_output': shape [4, 5] does not begin with [3], that of 'indices', or does not go on for one"},
    {"embedding_dense_backward f32[4] i64[4] i:7 i:-1 b:0", "argument 'grad_output': shape [4] does not begin with"},
    {"embedding_dense_backward f32[4,5] i64[4] i:-7 i:-1 b:0", "argument 'num_weights': a table of -7 rows"},
    {"embedding_dense_backward f32[4,5] i64[4] i:0 i:-1 b:0", "argument 'num_weights': of 0 rows none can be named"},
    {"embedding_dense_backward f32[4,5] bool[4] i:7 i:-1 b:0", "argument 'indices': indices are i64 or i32, not bool"},
    {"embedding_dense_backward i32[4,5] i64[4] i:7 i:-1 b:0", "dtype i32 is not"},
    {"cat t:", "cat: argument 'tensors': there is no tensor; give at least one"},
    {"cat t:f32[2],f32[]", "entry 1 has rank 0"},
    {"cat t:f32[2],-", "argument 'tensors': the tensor is NULL"},
    {"cat t:f32[2],f32[2,3]", "entry 0 has shape [2], entry 1 has [2, 3]"},
    {"cat t:f32[0,3],f32[0],f32[2,3] i:1", "entry 0 has shape [0, 3], entry 2 has [2, 3]"},
    {"cat t:f32[0],f32[2,3] i:2", "argument 'dim': dimension 2 is outside [-2, 1]"},
    {"cat t:f32[2],f32[2] i:-2", "argument 'dim': dimension -2"},
    {"cat t:u8[5000000000000000000],u8[5000000000000000000]", "more than 2^63"},
    {"cat t:f8e4m3fn[2],f32[2]", "f8e4m3fn and f32 do not promote"},
    {"cat f32[2]", "expected Tensor[], got Tensor"},
    {"embedding f32[5] i64[2]", "argument 'weight': expected a matrix, got shape [5]"},
    {"embedding f32[5,2,2] i64[2]", "argument 'weight': expected a matrix"},
    {"embedding f32[5,3] f32[2]", "argument 'indices': indices are i64 or i32, not f32"},
    {"embedding f32[0,3] i64[2]", "argument 'indices': the dimension of 'weight' that is indexed has no elements"},
    {"embedding f32[5,3] i64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "argument 'indices': rank 16 leaves no room"},
    {"index_select f32[2,3] i:2 i64[2]", "argument 'dim': dimension 2"},
    {"index_select f32[2,3] i:0 i16[2]", "argument 'index': indices are i64 or i32, not i16"},
    {"index_select f32[2,3] i:0 i64[2,1]", "argument 'index': expected rank 1 (or 0, for one index), got rank 2"},
    {"index_select f32[] i:0 i64[2]", "argument 'index': a tensor of rank 0 takes one index, not 2"},
    {"index_select f32[2,0] i:1 i64[2]", "'self' that is indexed has no elements"},
    {"gather f32[2,3] i:0 i64[2]", "argument 'index': shape [2] and shape [2, 3] of 'self' differ in rank"},
    {"gather f32[2,3] i:0 i64[2,4]",
     "argument 'index': shape [2, 4] is larger than shape [2, 3] of 'self' in dimension 1"},
    {"gather f32[2,3] i:0 bool[2,3]", "argument 'index': indices are i64 or i32, not bool"},
    {"gather f32[2,3] i:-3 i64[2,3]", "argument 'dim'"},
    {"gather f32[0,3] i:0 i64[2,3]", "has no elements"},
    {"scatter.src f32[2,3] i:0 i64[2,3] f32[2]",
     "argument 'index': shape [2, 3] and shape [2] of 'src' differ in rank"},
    {"scatter.src f32[2,3] i:0 i64[5,3] f32[4,3]", "larger than shape [4, 3] of 'src' in dimension 0"},
    {"scatter.src f32[2,3] i:0 i64[1,4] f32[4,4]", "larger than shape [2, 3] of 'self' in dimension 1"},
    {"scatter.src f32[2] i:0 i64[1] i32[1]", "argument 'src': expected f32, the dtype of 'self', got i32"},
    {"scatter.src f32[0] i:0 i64[1] f32[1]", "has no elements"},
    {"scatter.value f32[2] i:0 i64[1] c:1", "argument 'value': a complex number does not fit"},
    {"scatter.value f32[2] i:0 u8[1] i:1", "argument 'index': indices are i64 or i32, not u8"},
    {"index.Tensor f32[2] t:", "argument 'indices': there is no tensor in it"},
    {"index.Tensor f32[2] t:-", "argument 'indices': there is no tensor in it"},
    {"index.Tensor f32[] t:i64[1]", "argument 'indices': 1 entries for a tensor of rank 0"},
    {"index.Tensor f32[2,3] t:i64[1],i64[1],-", "argument 'indices': 3 entries for a tensor of rank 2"},
    {"index.Tensor f32[2,3] t:-,bool[3]",
     "argument 'indices': entry 1 is a mask of bool, and no plan can be made for one; turn it into indices first, with "
     "nonzero"},
    {"index.Tensor f32[2,3] t:u8[3]", "entry 0 is a mask of u8"},
    {"index.Tensor f32[2,3] t:f32[3]", "argument 'indices': indices are i64 or i32, not f32"},
    {"index.Tensor f32[2,3] t:i64[3],i64[2]", "argument 'indices': shapes [3] and [2] do not broadcast"},
    {"index.Tensor f32[0,3] t:i64[1]", "argument 'indices': the dimension of 'self' that is indexed has no elements"},
    {"index.Tensor f32[2,3] t:i64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "self[indices] would have rank 17"},
    {"index_put f32[2,3] t:i64[4] f32[2]",
     "argument 'values': shape [2] does not broadcast to [4, 3], the shape of 'self[indices]'"},
    {"index_put f32[2,3] t:i64[1] f32[1,1,3]", "argument 'values': shape [1, 1, 3] does not broadcast"},
    {"index_put f32[2,3] t:i64[0] f32[5]", "argument 'values'"},
    {"index_put f32[2] t:i64[1] i32[]", "argument 'values': expected f32, the dtype of 'self', got i32"},
    {"index_put c64[2] t:i64[1] c64[] b:1", "argument 'accumulate': sums are not defined for c64"},
    {"index_put f8e5m2[2] t:i64[1] f8e5m2[] b:1", "argument 'accumulate': sums are not defined for f8e5m2"},
    {"scatter_add f32[3,5] i:1 i64[4,4] f32[4,4]",
     "argument 'index': shape [4, 4] is larger than shape [3, 5] of 'self'"},
    {"scatter_add f32[3,5] i:1 i64[2,4] f32[2,3]",
     "argument 'index': shape [2, 4] is larger than shape [2, 3] of 'src'"},
    {"scatter_add f32[3] i:0 i64[3] f16[3]", "argument 'src': expected f32, the dtype of 'self', got f16"},
    {"scatter_add c64[3] i:0 i64[3] c64[3]", "argument 'self': dtype c64 is not"},
    {"scatter_reduce.two f32[3] i:0 i64[3] f32[3] s:max", "argument 'reduce': 'max' is not known"},
    {"scatter_reduce.two bool[3] i:0 i64[3] bool[3] s:mean", "argument 'reduce': there is no mean of bool"},
    {"scatter_reduce.two f32[0] i:0 i64[3] f32[3] s:sum",
     "argument 'index': the dimension of 'self' that is indexed has"},
    {"index_add f32[3,5] i:1 i64[2] f32[3,5]", "argument 'source': expected shape [3, 2], that of 'self' with a slice"},
    {"index_add f32[3,5] i:1 i64[2,1] f32[3,2]", "argument 'index': expected rank 1"},
    {"index_add f32[] i:0 i64[2] f32[]", "argument 'index': a tensor of rank 0 takes one index, not 2"},
    {"index_add f32[3] i:0 f32[3] f32[3]", "argument 'index': indices are i64 or i32"},
    {"index_add i32[3] i:0 i64[3] i32[3] f:0.5", "argument 'alpha': results of i32 need an integer"},
};

static void accepted_calls_infer(void **state) {
  (void)state;
  test_infer_check(accepted, sizeof accepted / sizeof accepted[0], KW_OK);
}

static void refused_calls_say_why(void **state) {
  (void)state;
  test_infer_check(refused, sizeof refused / sizeof refused[0], KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_calls_infer),
      cmocka_unit_test(refused_calls_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
