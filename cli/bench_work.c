/* SPDX-License-Identifier: Apache-2.0
 *
 * The workloads of `keyway bench` as a table, and calls made from it.
 *
 * Arguments are words, one for each of the op's first arguments. A tensor is its dtype and its shape: t[n,1024], where
 * t is the dtype that is measured. Behind that ' exchanges the last two dimensions in memory, <m says what integers are
 * less than, =m what all of them are, *m that they are the multiples of m, and last ! that the tensor is constant.
 * (t[n];t[n]) is a list of tensors. In
 * shapes, integers, lists of integers and as a scalar n stands for the size; in all but the last w for the length of
 * its rows, at most 1024, r for their number, and b for 65536 / n; * and / go from left to right. What stands behind |
 * tells people which of several workloads of an op it is.
 */
#include "bench_work.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW 1024
#define CACHED 65536 /* tokens of all sequences of KW_BENCH_CACHE */

#define ELEMENTS KW_BENCH_ELEMENTS
#define FEWER KW_BENCH_FEWER
#define SQUARE KW_BENCH_SQUARE
#define SEQUENCE KW_BENCH_SEQUENCE
#define CHANNELS KW_BENCH_CHANNELS
#define CACHE KW_BENCH_CACHE
#define POINTS KW_BENCH_POINTS
#define ONCE KW_BENCH_ONCE

const kw_bench_work kw_bench_works[] = {
    {"copy_", "moves", ELEMENTS, "t[n] t[n]"},
    {"copy_", "moves", ELEMENTS, "t[r,w] t[r,w]' | exchanged"},
    {"fill_.Scalar", "moves", ELEMENTS, "t[n] 0.5"},
    {"clone", "moves", ELEMENTS, "t[r,w]' | exchanged"},
    {"_to_copy", "moves", ELEMENTS, "f32[n] bf16 | to bf16"},
    {"_to_copy", "moves", ELEMENTS, "f32[n] f16 | to f16"},
    {"_to_copy", "moves", ELEMENTS, "bf16[n] f32 | of bf16 to f32"},
    {"_to_copy", "moves", ELEMENTS, "f16[n] f32 | of f16 to f32"},
    {"_to_copy", "moves", ELEMENTS, "f32[n] i64 | to i64"},
    {"cat", "moves", ELEMENTS, "(t[n/2];t[n/2]) 0"},
    {"cat", "moves", ELEMENTS, "(t[r,w/2];t[r,w/2]) 1 | of rows"},
    {"repeat", "moves", ELEMENTS, "t[r,w/4] 1,4"},
    {"flip", "moves", ELEMENTS, "t[r,w] 1"},
    {"roll", "moves", ELEMENTS, "t[r,w] 3 1"},
    {"triu", "moves", ELEMENTS, "t[r,w] 0"},
    {"constant_pad_nd", "moves", ELEMENTS, "t[r,w] 1,1,1,1 0"},
    {"slice_scatter", "moves", ELEMENTS, "t[r,w] t[r,w/2] 1 0 w/2 1"},
    {"fill_.Tensor", "moves", ELEMENTS, "t[n] t[]"},
    {"full", "moves", ELEMENTS, "n 0.5"},
    {"full_like", "moves", ELEMENTS, "t[n] 0.5"},
    {"fill.Scalar", "moves", ELEMENTS, "t[n] 0.5"},
    {"copy", "moves", ELEMENTS, "t[n] t[n]"},
    {"arange.start_step", "moves", ELEMENTS, "0 n 1"},
    {"tril", "moves", ELEMENTS, "t[r,w] 0"},
    {"select_scatter", "moves", ELEMENTS, "t[r,w] t[w] 0 0"},
    {"reflection_pad1d", "moves", FEWER, "t[r,w] 4,4"},
    {"reflection_pad2d", "moves", CHANNELS, "t[1,n,28,28] 1,1,1,1"},
    {"reflection_pad3d", "moves", CHANNELS, "t[1,n,7,28,28] 1,1,1,1,1,1"},
    {"replication_pad1d", "moves", FEWER, "t[r,w] 4,4"},
    {"replication_pad2d", "moves", CHANNELS, "t[1,n,28,28] 1,1,1,1"},
    {"replication_pad3d", "moves", CHANNELS, "t[1,n,7,28,28] 1,1,1,1,1,1"},
    {"keyway::int4_pack", "moves", FEWER, "u8[n]<16"},

    {"add.Tensor", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"add.Tensor", "pointwise", ELEMENTS, "t[r,w] t[w] | and a row"},
    {"add.Tensor", "pointwise", ELEMENTS, "t[r,w] t[r,1] | and a column"},
    {"add.Scalar", "pointwise", ELEMENTS, "t[n] 0.5"},
    {"sub.Tensor", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"mul.Tensor", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"div.Tensor", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"maximum", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"clamp", "pointwise", ELEMENTS, "t[n] 0.25 0.75"},
    {"abs", "pointwise", ELEMENTS, "t[n]"},
    {"neg", "pointwise", ELEMENTS, "t[n]"},
    {"relu", "pointwise", ELEMENTS, "t[n]"},
    {"leaky_relu", "pointwise", ELEMENTS, "t[n] 0.01"},
    {"elu", "pointwise", ELEMENTS, "t[n]"},
    {"hardtanh", "pointwise", ELEMENTS, "t[n]"},
    {"sqrt", "pointwise", ELEMENTS, "t[n]"},
    {"rsqrt", "pointwise", ELEMENTS, "t[n]"},
    {"reciprocal", "pointwise", ELEMENTS, "t[n]"},
    {"exp", "pointwise", ELEMENTS, "t[n]"},
    {"log", "pointwise", ELEMENTS, "t[n]"},
    {"log1p", "pointwise", ELEMENTS, "t[n]"},
    {"expm1", "pointwise", ELEMENTS, "t[n]"},
    {"sin", "pointwise", ELEMENTS, "t[n]"},
    {"cos", "pointwise", ELEMENTS, "t[n]"},
    {"tan", "pointwise", FEWER, "t[n]"},
    {"asin", "pointwise", FEWER, "t[n]"},
    {"atan", "pointwise", FEWER, "t[n]"},
    {"sinh", "pointwise", FEWER, "t[n]"},
    {"tanh", "pointwise", ELEMENTS, "t[n]"},
    {"sigmoid", "pointwise", ELEMENTS, "t[n]"},
    {"erf", "pointwise", ELEMENTS, "t[n]"},
    {"gelu", "pointwise", ELEMENTS, "t[n]"},
    {"silu", "pointwise", ELEMENTS, "t[n]"},
    {"softplus", "pointwise", FEWER, "t[n]"},
    {"pow.Tensor_Scalar", "pointwise", ELEMENTS, "t[n] 2"},
    {"pow.Tensor_Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"atan2", "pointwise", FEWER, "t[n] t[n]"},
    {"fmod.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"remainder.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"floor", "pointwise", ELEMENTS, "t[n]"},
    {"round", "pointwise", ELEMENTS, "t[n]"},
    {"sign", "pointwise", ELEMENTS, "t[n]"},
    {"isnan", "pointwise", ELEMENTS, "t[n]"},
    {"gt.Tensor", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"logical_and", "pointwise", ELEMENTS, "bool[n] bool[n]"},
    {"bitwise_and.Tensor", "pointwise", ELEMENTS, "i32[n]<100 i32[n]<100"},
    {"where.self", "pointwise", ELEMENTS, "bool[n] t[n] t[n]"},
    {"masked_fill.Scalar", "pointwise", ELEMENTS, "t[n] bool[n] 0"},
    {"addcmul", "pointwise", ELEMENTS, "t[n] t[n] t[n]"},
    {"glu", "pointwise", ELEMENTS, "t[r,w] 1"},
    {"keyway::swiglu", "pointwise", ELEMENTS, "t[n] t[n]"},
    {"sub.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"mul.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"div.Scalar", "pointwise", FEWER, "t[n] 3"},
    {"div.Tensor_mode", "pointwise", FEWER, "t[n] t[n] floor"},
    {"div.Scalar_mode", "pointwise", FEWER, "t[n] 3 trunc"},
    {"pow.Scalar", "pointwise", FEWER, "2 t[n]"},
    {"minimum", "pointwise", FEWER, "t[n] t[n]"},
    {"clamp.Tensor", "pointwise", FEWER, "t[n] t[n] t[n]"},
    {"eq.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"eq.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"ne.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"ne.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"lt.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"lt.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"le.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"le.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"gt.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"ge.Tensor", "pointwise", FEWER, "t[n] t[n]"},
    {"ge.Scalar", "pointwise", FEWER, "t[n] 0.5"},
    {"logical_or", "pointwise", FEWER, "bool[n] bool[n]"},
    {"logical_xor", "pointwise", FEWER, "bool[n] bool[n]"},
    {"logical_not", "pointwise", FEWER, "bool[n]"},
    {"bitwise_and.Scalar", "pointwise", FEWER, "i32[n]<100 5"},
    {"bitwise_or.Tensor", "pointwise", FEWER, "i32[n]<100 i32[n]<100"},
    {"bitwise_or.Scalar", "pointwise", FEWER, "i32[n]<100 5"},
    {"bitwise_xor.Tensor", "pointwise", FEWER, "i32[n]<100 i32[n]<100"},
    {"bitwise_xor.Scalar", "pointwise", FEWER, "i32[n]<100 5"},
    {"bitwise_not", "pointwise", FEWER, "i32[n]<100"},
    {"bitwise_left_shift.Tensor", "pointwise", FEWER, "i32[n]<100 i32[n]<9"},
    {"bitwise_left_shift.Tensor_Scalar", "pointwise", FEWER, "i32[n]<100 5"},
    {"bitwise_right_shift.Tensor", "pointwise", FEWER, "i32[n]<100 i32[n]<9"},
    {"bitwise_right_shift.Tensor_Scalar", "pointwise", FEWER, "i32[n]<100 5"},
    {"acos", "pointwise", FEWER, "t[n]"},
    {"acosh", "pointwise", FEWER, "t[n]<100"},
    {"asinh", "pointwise", FEWER, "t[n]"},
    {"atanh", "pointwise", FEWER, "t[n]"},
    {"cosh", "pointwise", FEWER, "t[n]"},
    {"log2", "pointwise", FEWER, "t[n]"},
    {"log10", "pointwise", FEWER, "t[n]"},
    {"exp2", "pointwise", FEWER, "t[n]"},
    {"ceil", "pointwise", FEWER, "t[n]"},
    {"trunc", "pointwise", FEWER, "t[n]"},
    {"round.decimals", "pointwise", FEWER, "t[n] 2"},
    {"isinf", "pointwise", FEWER, "t[n]"},
    {"fmod.Scalar", "pointwise", FEWER, "t[n] 0.3"},
    {"remainder.Scalar", "pointwise", FEWER, "t[n] 0.3"},
    {"remainder.Scalar_Tensor", "pointwise", FEWER, "3 t[n]"},
    {"hardswish", "pointwise", FEWER, "t[n]"},
    {"threshold", "pointwise", FEWER, "t[n] 0.5 0"},
    {"addcdiv", "pointwise", FEWER, "t[n] t[n] t[n]"},
    {"lerp.Scalar", "pointwise", FEWER, "t[n] t[n] 0.3"},
    {"lerp.Tensor", "pointwise", FEWER, "t[n] t[n] t[n]"},
    {"masked_fill.Tensor", "pointwise", FEWER, "t[n] bool[n] t[]"},
    {"quantized_decomposed::quantize_per_tensor", "pointwise", FEWER, "t[n] 0.05 0 -128 127 i8"},
    {"quantized_decomposed::quantize_per_tensor.tensor", "pointwise", FEWER, "t[n] f32[] i64[]<9 -128 127 i8"},
    {"quantized_decomposed::quantize_per_channel", "pointwise", FEWER, "t[r,w] f32[w] i64[w]<9 1 -128 127 i8"},
    {"quantized_decomposed::dequantize_per_tensor", "pointwise", FEWER, "i8[n]<100 0.05 0 -128 127 i8"},
    {"quantized_decomposed::dequantize_per_tensor.tensor", "pointwise", FEWER, "i8[n]<100 f32[] i64[]<9 -128 127 i8"},
    {"quantized_decomposed::dequantize_per_channel", "pointwise", FEWER, "i8[r,w]<100 f32[w] i64[w]<9 1 -128 127 i8"},

    {"sum", "reductions", ELEMENTS, "t[n]"},
    {"mean", "reductions", ELEMENTS, "t[n]"},
    {"amax", "reductions", ELEMENTS, "t[n]"},
    {"prod", "reductions", ELEMENTS, "t[n]"},
    {"any", "reductions", ELEMENTS, "bool[n]<1"},
    {"argmax", "reductions", ELEMENTS, "t[n]"},
    {"sum.dim_IntList", "reductions", ELEMENTS, "t[r,w] 1 | of rows"},
    {"sum.dim_IntList", "reductions", ELEMENTS, "t[r,w] 0 | of columns"},
    {"sum.dim_IntList", "reductions", ELEMENTS, "t[1,n] 0 | of columns"},
    {"mean.dim", "reductions", ELEMENTS, "t[r,w] 1"},
    {"amax", "reductions", ELEMENTS, "t[r,w] 1 | of rows"},
    {"argmax", "reductions", ELEMENTS, "t[r,w] 1 | of rows"},
    {"max.dim", "reductions", ELEMENTS, "t[r,w] 1"},
    {"var.correction", "reductions", ELEMENTS, "t[r,w] 1"},
    {"logsumexp", "reductions", FEWER, "t[r,w] 1"},
    {"cumsum", "reductions", ELEMENTS, "t[r,w] 1"},
    {"amin", "reductions", FEWER, "t[r,w] 1"},
    {"max", "reductions", FEWER, "t[n]"},
    {"min", "reductions", FEWER, "t[n]"},
    {"min.dim", "reductions", FEWER, "t[r,w] 1"},
    {"argmin", "reductions", FEWER, "t[n]"},
    {"all", "reductions", FEWER, "bool[n]<2"},
    {"all.dim", "reductions", FEWER, "bool[r,w]<2 1"},
    {"all.dims", "reductions", FEWER, "bool[r,w]<2 1"},
    {"any.dim", "reductions", FEWER, "bool[r,w]<1 1"},
    {"any.dims", "reductions", FEWER, "bool[r,w]<1 1"},
    {"prod.dim_int", "reductions", FEWER, "t[r,w] 1"},
    {"var.dim", "reductions", FEWER, "t[r,w] 1"},
    {"var_mean.correction", "reductions", FEWER, "t[r,w] 1"},
    {"cumprod", "reductions", FEWER, "t[r,w] 1"},

    {"_softmax", "softmax and norms", ELEMENTS, "t[r,w] 1 false"},
    {"_log_softmax", "softmax and norms", ELEMENTS, "t[r,w] 1 false"},
    {"native_layer_norm", "softmax and norms", ELEMENTS, "t[r,w] w t[w] t[w] 1e-5"},
    {"rms_norm", "softmax and norms", ELEMENTS, "t[r,w] w t[w] 1e-5"},
    {"native_group_norm", "softmax and norms", CHANNELS, "t[2,n,28,28] t[n] t[n] 2 n 784 8 1e-5"},
    {"_native_batch_norm_legit_no_training", "softmax and norms", CHANNELS,
     "t[2,n,28,28] t[n] t[n] t[n] t[n] 0.1 1e-5"},
    {"_native_batch_norm_legit", "softmax and norms", CHANNELS, "t[2,n,28,28] t[n] t[n] t[n] t[n] true 0.1 1e-5"},
    {"_native_batch_norm_legit.no_stats", "softmax and norms", CHANNELS, "t[2,n,28,28] t[n] t[n] true 0.1 1e-5"},

    {"mm", "products", SQUARE, "t[n,n] t[n,n]"},
    {"mm", "products", SQUARE, "t[n,n] t[n,n]' | and columns"},
    {"mm", "products", SQUARE, "t[1,n] t[n,n]' | and columns"},
    {"mm", "products", SQUARE, "t[16,n] t[n,n]' | of 16 rows and columns"},
    {"mm", "products", SQUARE, "t[16,n] t[n,n]'! | of 16 rows and constant columns"},
    {"addmm", "products", SQUARE, "t[n] t[128,n] t[n,n]' | and 128 rows"},
    {"bmm", "products", SEQUENCE, "t[12,n,64] t[12,64,n]"},
    {"_cdist_forward", "products", SEQUENCE, "t[n,64] t[n,64] 2 none"},
    {"_pdist_forward", "products", SEQUENCE, "t[n,64] 2"},
    {"keyway::sparse24_linear", "products", SQUARE, "t[128,n] t[n,n/2] u8[n,n/8]=68 | of 128 rows"},
    {"_int_mm", "products", SQUARE, "i8[n,n]<100 i8[n,n]<100"},

    {"convolution", "convolutions", CHANNELS, "t[1,n,28,28] t[n,n,3,3] none 1,1 1,1 1,1 false 0,0 1 | 3 x 3"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,7,7] t[n,n,3,3] none 1,1 1,1 1,1 false 0,0 1 | 3 x 3"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,7,7] t[n,n,3,3]! none 1,1 1,1 1,1 false 0,0 1 | 3 x 3, constant"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,28,28] t[n,n,1,1] t[n] 1,1 0,0 1,1 false 0,0 1 | 1 x 1"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,28,28] t[n,1,3,3] t[n] 1,1 1,1 1,1 false 0,0 n | depthwise"},
    {"convolution", "convolutions", CHANNELS, "t[1,3,112,112] t[n,3,7,7] none 2,2 3,3 1,1 false 0,0 1 | 7 x 7 to n"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,14,14] t[n,n,2,2] none 2,2 0,0 1,1 true 0,0 1 | transposed"},
    {"convolution", "convolutions", CHANNELS, "t[1,n,1024] t[n,n,3] t[n] 1 1 1 false 0 1"},
    {"max_pool2d_with_indices", "convolutions", CHANNELS, "t[1,n,56,56] 3,3 2,2 1,1"},
    {"avg_pool2d", "convolutions", CHANNELS, "t[1,n,56,56] 2,2 2,2"},
    {"_adaptive_avg_pool2d", "convolutions", CHANNELS, "t[1,n,28,28] 7,7"},
    {"avg_pool1d", "convolutions", CHANNELS, "t[1,n,1024] 2 2"},
    {"avg_pool3d", "convolutions", CHANNELS, "t[1,n,8,28,28] 2,2,2 2,2,2"},
    {"max_pool1d_with_indices", "convolutions", CHANNELS, "t[1,n,1024] 3 2 1"},
    {"max_pool3d_with_indices", "convolutions", CHANNELS, "t[1,n,8,28,28] 2,2,2 2,2,2"},
    {"adaptive_avg_pool1d", "convolutions", CHANNELS, "t[1,n,1024] 64"},
    {"_adaptive_avg_pool3d", "convolutions", CHANNELS, "t[1,n,8,28,28] 4,7,7"},
    {"adaptive_max_pool1d", "convolutions", CHANNELS, "t[1,n,1024] 64"},
    {"adaptive_max_pool2d", "convolutions", CHANNELS, "t[1,n,28,28] 7,7"},
    {"adaptive_max_pool3d", "convolutions", CHANNELS, "t[1,n,8,28,28] 4,7,7"},
    {"upsample_nearest2d", "convolutions", CHANNELS, "t[1,n,28,28] 56,56"},
    {"upsample_bilinear2d", "convolutions", CHANNELS, "t[1,n,28,28] 56,56 false"},
    {"upsample_nearest1d", "convolutions", CHANNELS, "t[1,n,1024] 2048"},
    {"upsample_nearest3d", "convolutions", CHANNELS, "t[1,n,7,28,28] 14,56,56"},
    {"_upsample_nearest_exact2d", "convolutions", CHANNELS, "t[1,n,28,28] 56,56"},
    {"upsample_linear1d", "convolutions", CHANNELS, "t[1,n,1024] 2048 false"},
    {"upsample_trilinear3d", "convolutions", CHANNELS, "t[1,n,7,28,28] 14,56,56 false"},
    {"upsample_bicubic2d", "convolutions", CHANNELS, "t[1,n,28,28] 56,56 false"},
    {"grid_sampler_2d", "convolutions", CHANNELS, "t[1,n,28,28] t[1,28,28,2] 0 0 false"},
    {"keyway::box_iou", "convolutions", CHANNELS, "t[n,4] t[1024,4]"},
    {"torchvision::nms", "convolutions", CHANNELS, "t[n*16,4] t[n*16] 0.5"},
    {"im2col", "convolutions", CHANNELS, "t[1,n,28,28] 3,3 1,1 1,1 1,1"},
    {"col2im", "convolutions", CHANNELS, "t[1,n*9,784] 28,28 3,3 1,1 1,1 1,1"},
    {"_fft_r2c", "convolutions", FEWER, "f32[r,w] 1 0 true"},
    {"_fft_c2r", "convolutions", FEWER, "c64[r,513] 1 2 1024"},
    {"_fft_c2c", "convolutions", FEWER, "c64[r,w] 1 0 true"},

    {"embedding", "indexing", ELEMENTS, "t[10000,64] i64[n/64]<10000"},
    {"index_select", "indexing", ELEMENTS, "t[10000,64] 0 i64[n/64]<10000"},
    {"index.Tensor", "indexing", ELEMENTS, "t[10000,64] (i64[n/64]<10000)"},
    {"index_put", "indexing", ELEMENTS, "t[10000,64] (i64[n/64]<10000) t[n/64,64] true"},
    {"gather", "indexing", ELEMENTS, "t[r,w] 1 i64[r,w]<w"},
    {"scatter.src", "indexing", ELEMENTS, "t[r,w] 1 i64[r,w]<w t[r,w]"},
    {"scatter_add", "indexing", ELEMENTS, "t[r,w] 1 i64[r,w]<w t[r,w]"},
    {"scatter.value", "indexing", FEWER, "t[r,w] 1 i64[r,w]<w 0.5"},
    {"scatter_reduce.two", "indexing", FEWER, "t[r,w] 1 i64[r,w]<w t[r,w] sum | by sums"},
    {"scatter_reduce.two", "indexing", FEWER, "t[r,w] 1 i64[r,w]<w t[r,w] amax | by amax"},
    {"_embedding_bag", "indexing", FEWER, "t[10000,64] i64[n/64]<10000 i64[n/1024]*16 false 0"},
    {"masked_select", "indexing", FEWER, "t[n] bool[n]"},
    {"masked_scatter", "indexing", FEWER, "t[n] bool[n] t[n]"},
    {"index_add", "indexing", ELEMENTS, "t[10000,64] 0 i64[n/64]<10000 t[n/64,64]"},
    {"nonzero", "indexing", FEWER, "bool[n]"},

    {"uniform_", "random", ELEMENTS, "t[n]"},
    {"normal_", "random", ELEMENTS, "t[n]"},
    {"bernoulli_.float", "random", ELEMENTS, "t[n] 0.5"},
    {"native_dropout", "random", ELEMENTS, "t[n] 0.1 true"},
    {"rand", "random", FEWER, "n"},
    {"randn", "random", FEWER, "n"},
    {"randint", "random", FEWER, "1000 n"},
    {"randint.low", "random", FEWER, "5 1000 n"},
    {"bernoulli", "random", FEWER, "t[n]"},
    {"random_.from", "random", FEWER, "i64[n]<100 0 1000"},
    {"multinomial", "random", FEWER, "t[n] 16 true"},

    {"sort", "sort", FEWER, "t[n]"},
    {"sort", "sort", FEWER, "t[r,w]"},
    {"sort", "sort", FEWER, "i64[n]<1000000"},
    {"sort.stable", "sort", FEWER, "t[r,w] true"},
    {"topk", "sort", FEWER, "t[r,w] 16"},
    {"searchsorted.Tensor", "sort", FEWER, "t[1000] t[n]"},

    {"scaled_dot_product_attention", "attention", SEQUENCE, "t[1,8,n,64] t[1,8,n,64] t[1,8,n,64]"},
    {"scaled_dot_product_attention", "attention", SEQUENCE, "t[1,8,n,64] t[1,8,n,64] t[1,8,n,64] none 0 true | causal"},
    {"scaled_dot_product_attention", "attention", SEQUENCE, "t[1,16,1,64] t[1,16,n,64] t[1,16,n,64] | of n"},
    {"keyway::attention_decode", "attention", CACHE, "t[b,16,1,128] t[b,2,n,128] t[b,2,n,128] i64[b]=n"},
    {"keyway::rope", "attention", SEQUENCE, "t[1,8,n,64] t[n,32] t[n,32]"},

    {"threshold_backward", "gradients", ELEMENTS, "t[n] t[n] 0"},
    {"gelu_backward", "gradients", ELEMENTS, "t[n] t[n]"},
    {"_softmax_backward_data", "gradients", ELEMENTS, "t[r,w] t[r,w] 1 t"},
    {"native_layer_norm_backward", "gradients", ELEMENTS, "t[r,w] t[r,w] w t[r,1] t[r,1] t[w] t[w] 1,1,1"},
    {"native_batch_norm_backward", "gradients", CHANNELS,
     "t[2,n,28,28] t[2,n,28,28] t[n] t[n] t[n] t[n] t[n] true 1e-5 1,1,1"},
    {"grid_sampler_2d_backward", "gradients", CHANNELS, "t[1,n,28,28] t[1,n,28,28] t[1,28,28,2] 0 0 false 1,1"},
    {"convolution_backward", "gradients", CHANNELS,
     "t[1,n,28,28] t[1,n,28,28] t[n,n,3,3] none 1,1 1,1 1,1 false 0,0 1 1,1,0"},
    {"max_pool2d_with_indices_backward", "gradients", CHANNELS,
     "t[1,n,28,28] t[1,n,56,56] 2,2 2,2 0,0 1,1 false i64[1,n,28,28]<3136"},
    {"embedding_dense_backward", "gradients", ELEMENTS, "t[n/64,64] i64[n/64]<10000 10000 -1 false"},
    {"reflection_pad2d_backward", "gradients", CHANNELS, "t[1,n,30,30] t[1,n,28,28] 1,1,1,1"},
    {"replication_pad2d_backward", "gradients", CHANNELS, "t[1,n,30,30] t[1,n,28,28] 1,1,1,1"},
    {"upsample_nearest2d_backward", "gradients", CHANNELS, "t[1,n,56,56] 56,56 1,n,28,28"},
    {"upsample_bilinear2d_backward", "gradients", CHANNELS, "t[1,n,56,56] 56,56 1,n,28,28 false"},
    {"nll_loss_forward", "gradients", ELEMENTS, "t[r,w] i64[r]<w none 1 -100"},
    {"nll_loss_backward", "gradients", ELEMENTS, "t[] t[r,w] i64[r]<w none 1 -100 t[]"},
    {"nll_loss2d_forward", "gradients", CHANNELS, "t[1,n,28,28] i64[1,28,28]<n none 1 -100"},
    {"cross_entropy_loss", "gradients", ELEMENTS, "t[r,w] i64[r]<w none 1 -100 0.0"},

    {"kmeans", "programs", POINTS, NULL},
    {"chain", "programs", ELEMENTS, NULL},
    {"chain_graph", "programs", ELEMENTS, NULL},
    {"minilm", "models", ONCE, NULL},
    {"gpt2", "models", ONCE, NULL},
    {"resnet18", "models", ONCE, NULL},
    {"decode", "models", ONCE, NULL},
    {"sentence", "models", ONCE, NULL},
    {"sentence_constant", "models", ONCE, NULL},
    {"image", "models", ONCE, NULL},
    {"image_constant", "models", ONCE, NULL},
};
const uint32_t kw_bench_work_count = sizeof kw_bench_works / sizeof kw_bench_works[0];

const kw_bench_sizes *kw_bench_usual_sizes(kw_bench_scale scale) {
  static const kw_bench_sizes usual[KW_BENCH_SCALES] = {[KW_BENCH_ELEMENTS] = {3, {1 << 10, 1 << 18, 1 << 24}},
                                                        [KW_BENCH_FEWER] = {3, {1 << 10, 1 << 14, 1 << 20}},
                                                        [KW_BENCH_SQUARE] = {3, {256, 1024, 2048}},
                                                        [KW_BENCH_SEQUENCE] = {3, {64, 256, 1024}},
                                                        [KW_BENCH_CHANNELS] = {3, {16, 64, 256}},
                                                        [KW_BENCH_CACHE] = {3, {256, 4096, 65536}},
                                                        [KW_BENCH_POINTS] = {1, {20000000}},
                                                        [KW_BENCH_ONCE] = {1, {1}}};
  return &usual[scale];
}

const kw_dtype kw_bench_dtypes[KW_BENCH_DTYPES] = {KW_F32, KW_F64, KW_F16, KW_BF16};

bool kw_bench_take_dtypes(const kw_cli_args *args, kw_dtype out_dtypes[KW_BENCH_DTYPES], uint32_t *out_count) {
  uint32_t cursor = 0;
  *out_count = 0;
  for (const char *text; (text = kw_cli_args_next(args, "--dtype", &cursor)) != NULL;) {
    const kw_dtype dtype = kw_dtype_from_name(text);
    bool known = false;
    for (uint32_t i = 0; i < KW_BENCH_DTYPES; ++i) known |= kw_bench_dtypes[i] == dtype;
    if (!known || *out_count == KW_BENCH_DTYPES) {
      kw_cli_complain(kw_cli_args_command(args), "--dtype wants f32, f64, f16 or bf16, not '%s'", text);
      return false;
    }
    out_dtypes[(*out_count)++] = dtype;
  }
  return true;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* A number at *text, which moves behind it. False where there is none. */
static bool parse_number(const char **text, int64_t n, int64_t *out) {
  const int64_t row = n < ROW ? n : ROW;
  char *end;
  switch (**text) {
    case 'n':
      *out = n;
      break;
    case 'w':
      *out = row;
      break;
    case 'r':
      *out = n / row;
      break;
    case 'b':
      *out = n < CACHED ? CACHED / n : 1;
      break;
    default:
      *out = strtoll(*text, &end, 10);
      if (end == *text) return false;
      *text = end;
      return true;
  }
  ++*text;
  return true;
}

/* Numbers joined by * and /; what is divided is at least 1. */
static bool parse_term(const char **text, int64_t n, int64_t *out) {
  bool fine = parse_number(text, n, out);
  while (fine && (**text == '*' || **text == '/')) {
    const char joint = *(*text)++;
    int64_t next;
    fine = parse_number(text, n, &next) && next > 0;
    if (fine) *out = joint == '*' ? *out * next : *out / next > 0 ? *out / next : 1;
  }
  return fine;
}

static bool parse_terms(const char **text, int64_t n, uint32_t limit, int64_t *items, uint32_t *out_count) {
  *out_count = 0;
  if (!isalnum((unsigned char)**text) && **text != '-') return true;
  do {
    if (*out_count == limit || !parse_term(text, n, &items[(*out_count)++])) return false;
  } while (**text == ',' && ++*text);
  return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* Numbers that take turns, in steps that no power of two divides, so that indices jump. */
static double number_at(int64_t i, kw_dtype dtype, int64_t below) {
  if (below > 0) return (double)(i * 7919 % below);
  return dtype == KW_BOOL ? (double)(i % 3 == 0) : (double)(i % 251 + 1) / 252;
}

typedef struct filling {
  int64_t below, same; /* all are `same`, unless it is negative */
  int64_t step;        /* they are multiples of it, unless it is 0 */
} filling;

/* A tensor of `shape`, made in i64 or f32 and converted by the device. */
static kw_status make_filled(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape, filling with,
                             kw_tensor **out_tensor) {
  const bool whole = with.below > 0 || with.same >= 0 || with.step > 0;
  kw_tensor *made = NULL;
  kw_status status = kw_tensor_create(device, whole ? KW_I64 : KW_F32, rank, shape, &made);
  if (status != KW_OK) return status;
  const int64_t numel = kw_tensor_describe(made)->numel;
  void *numbers = malloc((size_t)(numel > 0 ? numel : 1) * sizeof(int64_t));
  for (int64_t i = 0; numbers && i < numel; ++i) {
    const double number = with.same >= 0  ? (double)with.same
                          : with.step > 0 ? (double)(i * with.step)
                                          : number_at(i, dtype, with.below);
    if (whole) {
      ((int64_t *)numbers)[i] = (int64_t)number;
    } else {
      ((float *)numbers)[i] = (float)number;
    }
  }
  status = numbers ? kw_tensor_write(made, numbers) : KW_ERR_OUT_OF_MEMORY;
  free(numbers);
  if (status == KW_OK && dtype != kw_tensor_describe(made)->dtype) {
    const kw_value args[] = {kw_arg_tensor(made), kw_arg_dtype(dtype)};
    kw_tensor *converted = NULL;
    status = kw_op_call(kw_op_find("_to_copy"), NULL, args, 2, &converted, 1);
    kw_tensor_release(made);
    made = converted;
  }
  if (status != KW_OK) {
    kw_tensor_release(made);
    return status;
  }
  *out_tensor = made;
  return KW_OK;
}

static kw_status malformed(const kw_bench_work *work) {
  fprintf(stderr, "keyway bench: the arguments of %s make no sense: %s\n", work->name, work->args);
  abort();
}

/* The tensor at *text, which moves behind it. */
static kw_status add_tensor(kw_device *device, kw_bench_call *call, const char **text) {
  char name[16] = "";
  int64_t shape[KW_MAX_RANK];
  uint32_t rank;
  filling with = {.same = -1};
  const size_t length = strcspn(*text, "[");
  if (length >= sizeof name || call->tensor_count == KW_BENCH_TENSORS) return malformed(call->work);
  memcpy(name, *text, length);
  *text += length + 1;
  const kw_dtype dtype = strcmp(name, "t") == 0 ? call->dtype : kw_dtype_from_name(name);
  if (dtype == KW_DTYPE_NONE || !parse_terms(text, call->size, KW_MAX_RANK, shape, &rank) || *(*text)++ != ']')
    return malformed(call->work);
  const bool exchanged = **text == '\'' && ++*text;
  if (**text == '<' && ++*text && !parse_term(text, call->size, &with.below)) return malformed(call->work);
  if (**text == '=' && ++*text && !parse_term(text, call->size, &with.same)) return malformed(call->work);
  if (**text == '*' && ++*text && !parse_term(text, call->size, &with.step)) return malformed(call->work);
  if (exchanged) {
    const int64_t last = shape[rank - 1];
    shape[rank - 1] = shape[rank - 2];
    shape[rank - 2] = last;
  }
  kw_tensor *made = NULL;
  kw_status status = make_filled(device, dtype, rank, shape, with, &made);
  if (status == KW_OK && exchanged) {
    kw_tensor *view = NULL;
    status = kw_tensor_transpose(made, (int64_t)rank - 2, (int64_t)rank - 1, &view);
    kw_tensor_release(made);
    made = view;
  }
  if (status == KW_OK && **text == '!' && ++*text) status = kw_tensor_set_constant(made, true);
  if (status != KW_OK) return status;
  call->below[call->tensor_count] = with.same >= 0 ? with.same + 1 : with.below;
  call->steps[call->tensor_count] = with.step;
  call->tensors[call->tensor_count++] = made;
  return KW_OK;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static kw_status add_list(kw_device *device, kw_bench_call *call, const char *word, kw_value *value) {
  const uint32_t first = call->tensor_count;
  kw_status status = KW_OK;
  do {
    ++word; /* the parenthesis, or what parts two */
    status = add_tensor(device, call, &word);
  } while (status == KW_OK && *word == ';');
  if (status != KW_OK) return status;
  for (uint32_t i = first; i < call->tensor_count; ++i) call->lists[i] = kw_tensor_describe(call->tensors[i]);
  *value = (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = call->tensor_count - first, .u.tensors = &call->lists[first]};
  return *word == ')' ? KW_OK : malformed(call->work);
}

static kw_status add_argument(kw_device *device, kw_bench_call *call, const char *word) {
  const uint32_t index = call->arg_count++;
  kw_value *value = &call->args[index];
  kw_arg_info info = {.struct_size = sizeof info};
  if (index == KW_BENCH_ARGS) return malformed(call->work);
  kw_status status = kw_op_get_arg(call->op, index, &info);
  if (status != KW_OK) return malformed(call->work);
  if (strcmp(word, "none") == 0) return KW_OK;
  if (info.tag == KW_TAG_TENSOR) {
    status = add_tensor(device, call, &word);
    if (status == KW_OK) *value = kw_arg_tensor(call->tensors[call->tensor_count - 1]);
    return status;
  }
  if (info.tag == KW_TAG_TENSOR_LIST) return add_list(device, call, word, value);
  if (info.tag == KW_TAG_INT || info.tag == KW_TAG_INT_LIST) {
    kw_cli_storage *storage = &call->storage[index];
    uint32_t count;
    if (!parse_terms(&word, call->size, KW_CLI_MAX_INTS, storage->ints, &count)) return malformed(call->work);
    *value = info.tag == KW_TAG_INT ? kw_arg_int(storage->ints[0]) : kw_arg_int_list(storage->ints, count);
    return KW_OK;
  }
  if (info.tag == KW_TAG_SCALAR && strcmp(word, "n") == 0) {
    *value = kw_arg_scalar_i64(call->size);
    return KW_OK;
  }
  if (info.tag == KW_TAG_DTYPE && strcmp(word, "t") == 0) {
    *value = kw_arg_dtype(call->dtype);
    return KW_OK;
  }
  return kw_cli_value_parse(&info, word, &call->storage[index], value) ? KW_OK : malformed(call->work);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Whether the arguments speak of the dtype that is measured: t, alone or before a bracket. */
static bool has_dtype(const char *args) {
  for (const char *at = args; (at = strchr(at, 't')) != NULL; ++at)
    if (at[1] == '[' && (at == args || !isalnum((unsigned char)at[-1]))) return true;
  return false;
}

kw_status kw_bench_call_make(kw_device *device, const kw_bench_work *work, int64_t size, kw_dtype dtype,
                             kw_bench_call *out_call) {
  char words[256];
  memset(out_call, 0, sizeof *out_call);
  out_call->work = work;
  out_call->size = size;
  out_call->dtype = dtype;
  out_call->stream = kw_stream_default(device);
  if (!work->args) return dtype == KW_F32 ? KW_OK : KW_ERR_UNSUPPORTED;
  kw_op_info info = {.struct_size = sizeof info};
  out_call->op = kw_op_find(work->name);
  if (!out_call->op) return KW_ERR_NOT_FOUND;
  kw_op_get_info(out_call->op, &info);
  if (has_dtype(work->args) ? !kw_dtype_mask_has(info.dtypes, dtype) : dtype != KW_F32) return KW_ERR_UNSUPPORTED;
  out_call->out_count = info.result_count;
  kw_status status = KW_OK;
  snprintf(words, sizeof words, "%s", work->args);
  char *rest = words;
  for (char *word; status == KW_OK && (word = strtok_r(rest, " ", &rest)) != NULL && *word != '|';)
    status = add_argument(device, out_call, word);
  if (status != KW_OK) kw_bench_call_release(out_call);
  return status;
}

void kw_bench_call_release(kw_bench_call *call) {
  for (uint32_t i = 0; i < KW_BENCH_TENSORS; ++i) kw_tensor_release(call->tensors[i]);
  for (uint32_t i = 0; i < KW_BENCH_RESULTS; ++i) kw_tensor_release(call->outs[i]);
  memset(call->tensors, 0, sizeof call->tensors);
  memset(call->outs, 0, sizeof call->outs);
}

kw_status kw_bench_call_run(kw_bench_call *call) {
  return kw_op_call(call->op, call->stream, call->args, call->arg_count, call->outs, call->out_count);
}

/* ---- What it takes ----------------------------------------------------------------------------------------------- */

static const kw_tensor_ref *argument(const kw_bench_call *call, uint32_t index) {
  return call->args[index].u.tensor;
}

double kw_bench_call_flops(const kw_bench_call *call) {
  const char *name = call->work->name;
  const kw_tensor_ref *out = call->outs[0] ? kw_tensor_describe(call->outs[0]) : NULL;
  if (!out) return 0;
  if (strcmp(name, "mm") == 0 || strcmp(name, "bmm") == 0 || strcmp(name, "addmm") == 0) {
    const kw_tensor_ref *left = argument(call, strcmp(name, "addmm") == 0 ? 1 : 0);
    return 2.0 * (double)out->numel * (double)left->shape[left->rank - 1];
  }
  if (strcmp(name, "convolution") == 0) {
    const kw_tensor_ref *weight = argument(call, 1);
    const bool transposed = call->args[6].u.b; /* then each element of the field meets each tap */
    const int64_t places = transposed ? argument(call, 0)->numel : out->numel;
    return 2.0 * (double)places * (double)weight->numel / (double)weight->shape[0];
  }
  if (strcmp(call->work->family, "attention") == 0 && call->tensor_count >= 3 && strstr(name, "attention")) {
    const bool causal = call->arg_count > 5 && call->args[5].u.b;
    return (causal ? 2.0 : 4.0) * (double)argument(call, 0)->numel * (double)argument(call, 1)->shape[2];
  }
  return 0;
}

static double bytes_of(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  return (double)ref->numel * (double)kw_dtype_size(ref->dtype);
}

double kw_bench_call_bytes(const kw_bench_call *call) {
  if (strcmp(call->work->family, "indexing") == 0 || !call->work->args) return 0;
  double bytes = 0;
  for (uint32_t i = 0; i < call->tensor_count; ++i) bytes += bytes_of(call->tensors[i]);
  for (uint32_t i = 0; i < call->out_count; ++i)
    if (call->outs[i]) bytes += bytes_of(call->outs[i]);
  return bytes;
}

const kw_tensor_ref *kw_bench_call_shape(const kw_bench_call *call) {
  for (uint32_t i = 0; i < call->tensor_count; ++i) {
    const kw_tensor_ref *ref = kw_tensor_describe(call->tensors[i]);
    if (ref->rank > 0) return ref;
  }
  return NULL;
}

void kw_bench_call_describe(const kw_bench_call *call, char *text, size_t size) {
  const char *note = call->work->args ? strchr(call->work->args, '|') : NULL;
  size_t used = 0;
  *text = '\0';
  const kw_tensor_ref *ref = kw_bench_call_shape(call);
  if (ref) {
    used = (size_t)snprintf(text, size, "[");
    for (uint32_t d = 0; d < ref->rank && used < size; ++d)
      used += (size_t)snprintf(text + used, size - used, "%s%lld", d > 0 ? ", " : "", (long long)ref->shape[d]);
    if (used < size) used += (size_t)snprintf(text + used, size - used, "]");
  } else if (call->work->scale != KW_BENCH_ONCE) {
    used = (size_t)snprintf(text, size, "%lld", (long long)call->size);
  }
  if (!note || used >= size) return;
  const char *n = strstr(note, " n"); /* a number that the shape does not show */
  if (n && n[2] == '\0') {
    snprintf(text + used, size - used, "%.*s %lld", (int)(n - note - 1), note + 1, (long long)call->size);
  } else {
    snprintf(text + used, size - used, "%s", note + 1);
  }
}
