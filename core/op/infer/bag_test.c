/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of embedding bags: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    {"_embedding_bag f32[10,3] i64[8] i64[2]", "f32: f32[2,3] i64[8] i64[2] i64[2]"},
    {"_embedding_bag f16[10,3] i32[8] i32[3] b:0 i:2 b:0 - b:1 i:9", "f16: f16[2,3] i64[8] i64[2] i64[2,3]"},
    {"_embedding_bag f64[10,3] i64[8] i64[2] b:0 i:0 b:0 f64[8]", "f64: f64[2,3] i64[8] i64[2] i64[2]"},
    {"_embedding_bag f32[0,3] i64[0] i64[0]", "f32: f32[0,3] i64[0] i64[0] i64[0]"},
};

#define BAG "_embedding_bag f32[10,3] i64[8] i64[2]"

static const test_infer_row refused[] = {
    {"_embedding_bag i32[10,3] i64[8] i64[2]", "argument 'weight': dtype i32 is not"},
    {"_embedding_bag f32[10] i64[8] i64[2]", "argument 'weight': expected a matrix, got shape [10]"},
    {"_embedding_bag f32[10,3] i64[2,4] i64[2]", "argument 'indices': expected rank 1, got shape [2, 4]"},
    {"_embedding_bag f32[10,3] i16[8] i64[2]", "argument 'indices': expected i64 or i32, got i16"},
    {"_embedding_bag f32[10,3] i64[8] f32[2]", "argument 'offsets': expected i64 or i32, got f32"},
    {"_embedding_bag f32[10,3] i64[8] i64[0]", "argument 'offsets': it is empty"},
    {"_embedding_bag f32[0,3] i64[8] i64[2]", "argument 'indices': 'weight' has no rows"},
    {BAG " b:0 i:3", "argument 'mode': 3 is none"},
    {BAG " b:0 i:1 b:0 f32[8]", "argument 'per_sample_weights': it goes with 'mode' 0"},
    {BAG " b:0 i:0 b:0 f32[7]",
     "argument 'per_sample_weights': expected one number for each of 8 indices, got shape [7]"},
    {BAG " b:0 i:0 b:0 f16[8]", "argument 'per_sample_weights': expected f32"},
    {BAG " b:0 i:0 b:0 - b:0 i:10", "argument 'padding_idx': 10 is outside [-1, 9]"},
    {BAG " b:0 i:0 b:0 - b:0 i:-2", "argument 'padding_idx': -2 is outside [-1, 9]"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
