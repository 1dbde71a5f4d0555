/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of attention: results of those that are accepted, messages of those that are refused.
 */
#include "testing/test_infer.h"

#define SDPA "scaled_dot_product_attention"

static const test_infer_row accepted[] = {
    {SDPA " f32[3,4] f32[5,4] f32[5,2]", "f32: f32[3,2]"},
    {SDPA " f16[2,1,3,4] f16[1,6,5,4] f16[6,5,7]", "f16: f16[2,6,3,7]"},
    {SDPA " f32[2,6,3,4] f32[2,2,5,4] f32[2,3,5,4] - f:0 b:0 - b:1", "f32: f32[2,6,3,4]"},
    {SDPA " f32[2,3,4] f32[2,5,4] f32[2,5,4] bool[3,5]", "f32: f32[2,3,4]"},
    {SDPA " bf16[2,3,4] bf16[2,5,4] bf16[2,5,4] f32[2,1,5]", "bf16: bf16[2,3,4]"},
    {SDPA " f64[3,4] f64[0,4] f64[0,4] - f:0 b:1", "f64: f64[3,4]"},
    {"keyway::attention f16[2,6,3,4] f16[2,2,5,4] f16[2,2,5,7]", "f16: f16[2,6,3,7] f32[2,6,3]"},
    {"keyway::attention f64[1,1,3,4] f64[1,1,5,4] f64[1,1,5,4] bool[] - f:30 i:2 i:0", "f64: f64[1,1,3,4] f64[1,1,3]"},
    {"keyway::attention_decode f32[2,4,1,8] f32[2,2,9,8] f32[2,2,9,8] i32[2]", "f32: f32[2,4,1,8] f32[2,4,1]"},
    {"keyway::attention_varlen f32[7,4,8] f32[9,2,8] f32[9,2,3] i32[4] i64[4]", "f32: f32[7,4,3] f32[7,4]"},
    {"keyway::attention_paged bf16[2,4,3,8] bf16[5,16,2,8] bf16[5,16,2,6] i32[2,3] i64[2] bool[3,48]",
     "bf16: bf16[2,4,3,6] f32[2,4,3]"},
    {"keyway::attention_backward f16[2,6,3,7] f16[2,6,3,4] f16[2,2,5,4] f16[2,2,5,7] f16[2,6,3,7] f32[2,6,3]",
     "f16: f16[2,6,3,4] f16[2,2,5,4] f16[2,2,5,7]"},
};

#define QKV " f32[2,6,3,4] f32[2,2,5,4] f32[2,2,5,7]"

static const test_infer_row refused[] = {
    {SDPA " i32[3,4] i32[5,4] i32[5,4]", SDPA ": argument 'query': dtype i32 is not"},
    {SDPA " f32[3,4] f16[5,4] f32[5,4]", "argument 'key': expected f32, the dtype of 'query', got f16"},
    {SDPA " f32[3,4] f32[5,4] f32[5,4] f64[3,5]", "argument 'attn_mask': expected bool or f32, got f64"},
    {SDPA " f32[4] f32[5,4] f32[5,4]", "argument 'query': expected rows and a width at least, got shape [4]"},
    {SDPA " f32[3,4] f32[5,3] f32[5,4]", "argument 'key': keys are as wide as queries: dimension 1 has size 3"},
    {SDPA " f32[3,4] f32[5,4] f32[6,4]", "argument 'value': there is a value a key: dimension 0 has size 6"},
    {SDPA " f32[2,3,4] f32[3,5,4] f32[3,5,4]", "argument 'key': shapes [2] and [3] do not broadcast"},
    {SDPA " f32[3,4] f32[5,4] f32[5,4] - f:0 b:0 - b:1",
     "'enable_gqa' needs heads, rows and a width, got shape [3, 4]"},
    {SDPA " f32[4,3,4] f32[3,5,4] f32[3,5,4] - f:0 b:0 - b:1",
     "argument 'key': 3 heads cannot serve 4 heads of queries evenly"},
    {SDPA " f32[3,4] f32[5,4] f32[5,4] - f:0.1", "argument 'dropout_p': 0.1; there is no dropout here"},
    {SDPA " f32[3,4] f32[5,4] f32[5,4] bool[3,5] f:0 b:1", "argument 'is_causal': it goes without 'attn_mask'"},
    {SDPA " f32[3,4] f32[5,4] f32[5,4] bool[3,4]", "argument 'attn_mask': shape [3, 4] does not broadcast to [3, 5]"},
    {"keyway::attention f32[6,3,4] f32[2,2,5,4] f32[2,2,5,7]", "argument 'query': expected rank 4, [batch, heads"},
    {"keyway::attention f32[2,6,3,4] f32[1,2,5,4] f32[2,2,5,7]", "argument 'key': the batch: dimension 0 has size 1"},
    {"keyway::attention f32[2,6,3,4] f32[2,4,5,4] f32[2,4,5,7]", "argument 'key': 4 heads cannot serve 6 heads"},
    {"keyway::attention f32[2,6,3,4] f32[2,2,5,4] f32[2,1,5,7]", "argument 'value': values have the heads of keys"},
    {"keyway::attention" QKV " bool[4,5]", "argument 'attn_mask': shape [4, 5] does not broadcast to [2, 6, 3, 5]"},
    {"keyway::attention" QKV " - - f:-1", "argument 'softcap': -1; it is 0 for no cap, or positive and finite"},
    {"keyway::attention" QKV " - - f:inf", "argument 'softcap': inf"},
    {"keyway::attention_decode" QKV " f32[2]", "argument 'lengths': expected i64 or i32, got f32"},
    {"keyway::attention_decode" QKV " i64[3]",
     "argument 'lengths': a length for each sequence: dimension 0 has size 3"},
    {"keyway::attention_decode" QKV " i64[2,1]", "argument 'lengths': expected rank 1, [batch], got shape [2, 1]"},
    {"keyway::attention_varlen f32[7,4,8] f32[9,2,8] f32[9,2,3] i32[1] i32[1]",
     "argument 'cu_seqlens_q': it has fewer than 2 numbers"},
    {"keyway::attention_varlen f32[7,4,8] f32[9,2,8] f32[9,2,3] i32[3] i32[2]",
     "argument 'cu_seqlens_k': as many sequences of keys as of queries"},
    {"keyway::attention_varlen f32[7,4,8] f32[9,3,8] f32[9,3,3] i32[3] i32[3]", "3 heads cannot serve 4 heads"},
    {"keyway::attention_paged f32[2,4,3,8] f32[5,16,2,8] f32[5,15,2,6] i32[2,3] i64[2]",
     "argument 'value': values lie in pages as keys do: dimension 1 has size 15"},
    {"keyway::attention_paged f32[2,4,3,8] f32[5,16,2,8] f32[5,16,2,6] i32[3,3] i64[2]",
     "argument 'block_table': a row of pages for each sequence: dimension 0 has size 3"},
    {"keyway::attention_paged f32[2,4,3,8] f32[5,16,2,8] f32[5,16,2,6] i32[2,3] i64[2] bool[47]",
     "argument 'attn_mask': shape [47] does not broadcast to [2, 4, 3, 48]"},
    {"keyway::attention_backward f32[2,6,3,7]" QKV " f32[2,6,3,7] f64[2,6,3]",
     "argument 'logsumexp': expected f32, as the forward op gives it, got f64"},
    {"keyway::attention_backward f32[2,6,3,4]" QKV " f32[2,6,3,7] f32[2,6,3]",
     "argument 'grad_out': a row a query, as wide as values: dimension 3 has size 4"},
    {"keyway::attention_backward f32[2,6,3,7]" QKV " f32[2,6,3,7] f32[2,6]", "argument 'logsumexp': expected rank 3"},
};

int main(void) {
  const struct CMUnitTest tests[] = {TEST_INFER_TABLES(accepted, refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
