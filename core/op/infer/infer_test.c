/* SPDX-License-Identifier: Apache-2.0
 *
 * Inference as a whole: normalisation of arguments, elementwise and reducing ops, vendors' callbacks.
 */
#include "testing/test_infer.h"

static const test_infer_row accepted[] = {
    /* broadcasting */
    {"add.Tensor f32[2,3] f32[2,3]", "f32: f32[2,3]"},
    {"add.Tensor f32[2,3] f32[3]", "f32: f32[2,3] expand"},
    {"add.Tensor f32[3] f32[2,1]", "f32: f32[2,3] expand"},
    {"add.Tensor f32[] f32[4]", "f32: f32[4] expand"},
    {"add.Tensor f32[] f32[]", "f32: f32[]"},
    {"add.Tensor f32[0] f32[1]", "f32: f32[0] expand"},
    {"add.Tensor f32[2,0,1] f32[5]", "f32: f32[2,0,5] expand"},
    {"add.Tensor f32[1,1] f32[1]", "f32: f32[1,1] expand"},
    {"clamp.Tensor f32[3] f32[2,1] f32[4,1,1]", "f32: f32[4,2,3] expand"},
    {"clamp.Tensor f32[3] - f32[2,3]", "f32: f32[2,3] expand"},
    {"where.self bool[2,1] f32[3] f32[]", "f32: f32[2,3] expand"},
    /* promotion */
    {"add.Tensor f32[2] i32[2]", "f32: f32[2] cast 1"},
    {"add.Tensor u8[2] i8[2]", "i16: i16[2] cast 0 1"},
    {"add.Tensor f16[2] bf16[2]", "f32: f32[2] cast 0 1"},
    {"add.Tensor f32[2] f64[]", "f32: f32[2] cast 1 expand"},
    {"add.Tensor i32[2] f64[]", "f64: f64[2] cast 0 expand"},
    {"add.Tensor bool[2] bool[2]", "bool: bool[2]"},
    {"add.Tensor i32[2] i32[2] i:3", "i32: i32[2]"},
    {"add.Tensor f16[2] f16[2] f:0.5", "f16: f16[2]"},
    {"add.Tensor bool[2] bool[2] b:1", "bool: bool[2]"},
    {"add.Scalar i32[2] f:1.5", "f32: f32[2] cast 0"},
    {"add.Scalar f16[2] f:1.5", "f16: f16[2]"},
    {"add.Scalar bool[2] i:1", "i64: i64[2] cast 0"},
    {"add.Scalar u8[2] b:1", "u8: u8[2]"},
    {"mul.Scalar i8[] f:2", "f32: f32[] cast 0"},
    {"pow.Scalar f:2 i32[3]", "f32: f32[3] cast 1"},
    {"pow.Scalar i:2 i32[3]", "i32: i32[3]"},
    {"pow.Tensor_Scalar i32[3] i:0", "i32: i32[3]"},
    {"pow.Tensor_Scalar i32[3] f:-1", "f32: f32[3] cast 0"},
    {"pow.Tensor_Scalar f32[3] i:-2", "f32: f32[3]"},
    {"clamp i32[3] i:0", "i32: i32[3]"},
    {"clamp i32[3] - f:1.5", "f32: f32[3] cast 0"},
    {"where.self bool[2] i32[2] f16[2]", "f16: f16[2] cast 1"},
    {"where.self u8[2] f32[2] f32[2]", "f32: f32[2]"},
    {"bitwise_and.Scalar bool[2] b:1", "bool: bool[2]"},
    {"bitwise_or.Scalar bool[2] i:2", "i64: i64[2] cast 0"},
    {"gelu bf16[2]", "bf16: bf16[2]"},
    {"hardtanh i32[2] i:-1 i:1", "i32: i32[2]"},
    {"hardtanh f16[2]", "f16: f16[2]"},
    {"threshold u8[2] i:1 i:2", "u8: u8[2]"},
    {"addcmul f32[2] i32[2,1] f16[]", "f32: f32[2,2] cast 1 2 expand"},
    {"addcmul i8[2] i8[2] i16[2] i:3", "i16: i16[2] cast 0 1"},
    {"lerp.Scalar f16[2] f16[2,1] f:0.25", "f16: f16[2,2] expand"},
    {"threshold_backward f16[2] f32[2] f:0.5", "f32: f32[2] cast 0"},
    {"elu_backward f32[2] f:1 f:1 f:1 b:1 f32[2]", "f32: f32[2]"},
    {"elu_backward f32[2] f:-1 f:1 f:1 b:0 f32[2]", "f32: f32[2]"},
    {"masked_fill.Scalar i32[3] bool[2,1] f:2.5", "i32: i32[2,3] expand"},
    {"masked_fill.Tensor f16[3] bool[3] f64[]", "f16: f16[3] cast 2 expand"},
    {"full_like f32[2,3] c:1 d:c64", "f32: c64[2,3]"},
    {"full_like u8[2] f:2.5", "u8: u8[2]"},
    {"fill.Scalar i8[2] f:1.5", "i8: i8[2]"},
    {"clone f8e5m2[2]", "f8e5m2: f8e5m2[2]"},
    {"copy i32[2,3] f16[3]", "f16: i32[2,3] expand"},
    {"round.decimals f64[2] i:-308", "f64: f64[2]"},
    {"bitwise_left_shift.Tensor_Scalar u8[2] i:300", "u8: u8[2]"},
    {"remainder.Scalar_Tensor f:2.5 i32[2]", "f32: f32[2] cast 1"},
    {"gelu f32[2] s:tanh", "f32: f32[2]"},
    /* integers to float */
    {"sqrt i32[2]", "f32: f32[2] cast 0"},
    {"sqrt bool[2]", "f32: f32[2] cast 0"},
    {"sqrt f16[2]", "f16: f16[2]"},
    {"div.Tensor i32[2] i32[2]", "f32: f32[2] cast 0 1"},
    {"div.Tensor f64[2] i32[2]", "f64: f64[2] cast 1"},
    {"div.Scalar i64[2] i:2", "f32: f32[2] cast 0"},
    {"div.Tensor_mode i32[2] i32[2] -", "f32: f32[2] cast 0 1"},
    {"div.Tensor_mode i32[2] i32[2] s:floor", "i32: i32[2]"},
    {"div.Scalar_mode i32[2] f:2 s:trunc", "f32: f32[2] cast 0"},
    /* comparisons */
    {"eq.Tensor i8[2] i8[2]", "i8: bool[2]"},
    {"lt.Tensor i32[2] f16[2]", "f16: bool[2] cast 0"},
    {"eq.Scalar i32[2] f:2.5", "f32: bool[2] cast 0"},
    {"logical_not f16[2]", "f16: bool[2]"},
    {"isnan i32[2]", "i32: bool[2]"},
    /* in place */
    {"fill_.Scalar f32[2,3] f:1", "f32: f32[2,3]"},
    {"fill_.Scalar i32[2] f:1.5", "i32: i32[2]"},
    {"fill_.Scalar c64[2] c:1", "c64: c64[2]"},
    {"fill_.Tensor f16[2] i64[]", "f16: f16[2] cast 1 expand"},
    {"fill_.Tensor f8e5m2[] f32[]", "f8e5m2: f8e5m2[] cast 1"},
    {"copy_ f32[2,3] i32[3]", "i32: f32[2,3] expand"},
    {"copy_ f8e4m3fn[2] f64[2] b:1", "f64: f8e4m3fn[2]"},
    {"copy_ c128[2] bool[]", "bool: c128[2] expand"},
    /* reductions */
    {"sum f32[2,3]", "f32: f32[]"},
    {"sum i8[2,3]", "i64: i64[] cast 0"},
    {"sum bool[]", "i64: i64[] cast 0"},
    {"sum i8[2] d:i16", "i16: i16[] cast 0"},
    {"sum f32[0]", "f32: f32[]"},
    {"sum i64[3] d:f16", "f16: f16[] cast 0"},
    {"sum.dim_IntList f32[2,3,4] l:1", "f32: f32[2,4]"},
    {"sum.dim_IntList f32[2,3,4] i:1", "f32: f32[2,4]"},
    {"sum.dim_IntList f32[2,3,4] l:-1,0 b:1", "f32: f32[1,3,1]"},
    {"sum.dim_IntList f32[2,3,4] -", "f32: f32[]"},
    {"sum.dim_IntList f32[2,3,4] l: b:1", "f32: f32[1,1,1]"},
    {"sum.dim_IntList f32[2,0] l:1", "f32: f32[2]"},
    {"sum.dim_IntList f32[] l:-1", "f32: f32[]"},
    {"sum.dim_IntList i32[2,3] l:0 b:0 d:f64", "f64: f64[3] cast 0"},
    {"amax f32[2,3]", "f32: f32[]"},
    {"amax bool[2,3] l:0 b:1", "bool: bool[1,3]"},
    {"amax f32[0,3] l:1", "f32: f32[0]"},
    {"argmax f16[2,3]", "f16: i64[]"},
    {"argmax f16[2,3] i:-2", "f16: i64[3]"},
    {"argmax f16[2,3] i:1 b:1", "f16: i64[2,1]"},
    {"argmax i32[2,3] - b:1", "i32: i64[1,1]"},
    {"argmax f32[] i:0", "f32: i64[]"},
    /* mm */
    {"mm f32[2,3] f32[3,4]", "f32: f32[2,4]"},
    {"mm i32[2,0] i32[0,4]", "i32: i32[2,4]"},
    {"mm f32[2,3] f16[3,4]", "f32: f32[2,4] cast 1"},
    {"bmm f32[5,2,3] f32[5,3,4]", "f32: f32[5,2,4]"},
    {"bmm i8[0,2,3] i16[0,3,4]", "i16: i16[0,2,4] cast 0"},
    {"addmm f32[4] f32[2,3] f32[3,4]", "f32: f32[2,4]"},
    {"addmm f64[] f16[2,3] f16[3,4] f:2 f:3", "f16: f16[2,4] cast 0"},
    {"addmm i32[2,1] i32[2,0] i32[0,4] i:0 i:-1", "i32: i32[2,4]"},
    {"_int_mm i8[2,3] i8[3,4]", "i8: i32[2,4]"},
    /* factories */
    {"full l:2,3 i:1", "i64: i64[2,3]"},
    {"full l: b:1", "bool: bool[]"},
    {"full l:0 f:1.5", "f32: f32[0]"},
    {"full l:2 c:1", "c64: c64[2]"},
    {"full l:2 f:1.5 d:u8", "u8: u8[2]"},
    {"arange.start_step i:0 i:5", "i64: i64[5]"},
    {"arange.start_step i:0 i:5 i:2", "i64: i64[3]"},
    {"arange.start_step i:5 i:0 i:-2 d:f16", "f16: f16[3]"},
    {"arange.start_step b:0 b:1 b:1", "i64: i64[1]"},
    {"arange.start_step i:3 i:3 i:-1", "i64: i64[0]"},
    {"arange.start_step i:0 f:2.5", "f32: f32[3]"},
    {"arange.start_step i:0 f:2.5 f:0.5 d:i32", "i32: i32[5]"},
    {"arange.start_step i:-9223372036854775807 i:9223372036854775807 i:9223372036854775807", "i64: i64[2]"},
    {"arange.start_step i:0 i:-9223372036854775807 i:-9223372036854775807", "i64: i64[1]"},
    /* reductions and scans with result rules of their own */
    {"mean f16[2,3]", "f16: f16[]"},
    {"mean i32[2,3] d:f64", "f64: f64[] cast 0"},
    {"mean.dim f32[2,0,3] l:1 b:1", "f32: f32[2,1,3]"},
    {"mean.dim bool[2,3] - b:0 d:bf16", "bf16: bf16[] cast 0"},
    {"amin f32[0,3] l:1", "f32: f32[0]"},
    {"argmin i8[2,3] i:1", "i8: i64[2]"},
    {"prod i8[2,3]", "i64: i64[] cast 0"},
    {"prod.dim_int f32[2,0] i:-1", "f32: f32[2]"},
    {"prod.dim_int bool[2,3] i:0 b:1 d:i32", "i32: i32[1,3] cast 0"},
    {"any f32[2,3]", "f32: bool[]"},
    {"any u8[0]", "u8: u8[]"},
    {"any.dim i64[2,3] i:0 b:1", "i64: bool[1,3]"},
    {"any.dims u8[2,3] l:0,-1", "u8: u8[]"},
    {"any.dims f32[2,3] l:", "f32: bool[2,3]"},
    {"any.dims f32[2,3] - b:1", "f32: bool[1,1]"},
    {"cumsum f16[2,3] i:-2", "f16: f16[2,3]"},
    {"cumsum bool[2,0] i:1", "i64: i64[2,0] cast 0"},
    {"cumsum f32[] i:-1 d:f64", "f64: f64[] cast 0"},
    {"_to_copy f32[2,3]", "f32: f32[2,3]"},
    {"_to_copy c64[2,3] d:f8e5m2 b:1", "c64: f8e5m2[2,3]"},
};

static const test_infer_row refused[] = {
    {"add.Tensor f32[2,3] f32[4]", "add.Tensor: argument 'other': shapes [2, 3] and [4] do not broadcast"},
    {"add.Tensor f32[0] f32[2]", "0 and 2 differ"},
    {"clamp.Tensor f32[3] f32[2,3] f32[5,1]", "argument 'max': shapes [2, 3] and [5, 1] do not broadcast"},
    {"add.Tensor f32[2]", "add.Tensor: argument 'other' is missing: add.Tensor(Tensor self"},
    {"add.Tensor f32[2] f32[2] i:1 i:2", "4 arguments given, it takes at most 3"},
    {"add.Tensor f32[2] i:1", "argument 'other': expected Tensor, got int"},
    {"add.Tensor f32[2] -", "argument 'other': expected Tensor, got none"},
    {"add.Tensor f32[2] f32[2] -", "argument 'alpha': expected Scalar, got none"},
    {"add.Tensor f32[2] f32[2] s:x", "argument 'alpha': expected Scalar, got str"},
    {"copy_ f32[2] f32[2] i:1", "argument 'non_blocking': expected bool, got int"},
    {"sum f32[2] i:3", "argument 'dtype': expected ScalarType or none, got int"},
    {"argmax f32[2] l:0", "argument 'dim': expected int or none, got int[]"},
    {"add.Tensor i32[2] i32[2] f:0.5", "argument 'alpha': results of i32 need an integer, not 0.5"},
    {"add.Tensor i32[2] i32[2] b:1", "argument 'alpha': a bool goes with bool results only"},
    {"add.Tensor f32[2] f32[2] c:1", "argument 'alpha': a complex number"},
    {"add.Scalar f32[2] c:1",
     "dtype c64, which tensors and Scalars promote to, is not one the op is defined for: bool"},
    {"add.Tensor c64[2] c64[2]",
     "dtype c64 is not one the op is defined for: bool, u8, i8, i16, i32, i64, f16, bf16, "
     "f32, f64"},
    {"add.Tensor f8e5m2[2] f8e5m2[2]", "dtype f8e5m2 is not"},
    {"add.Tensor f8e5m2[2] f32[2]", "f8e5m2 and f32 do not promote to a common dtype"},
    {"sub.Tensor bool[2] bool[2]", "dtype bool is not one the op is defined for: u8, i8"},
    {"sub.Scalar bool[2] i:1", "dtype bool is not"},
    {"bitwise_and.Scalar i32[2] f:1", "dtype f32, which tensors and Scalars promote to, is not"},
    {"bitwise_not f32[2]", "dtype f32 is not"},
    {"gelu i32[2]", "dtype i32 is not one the op is defined for: f16, bf16, f32, f64"},
    {"gelu f32[2] s:fast", "argument 'approximate': 'fast' is not known; it is 'none' or 'tanh'"},
    {"div.Tensor_mode i32[2] i32[2] s:ceil", "argument 'rounding_mode': 'ceil' is not known"},
    {"div.Tensor_mode i32[2] i32[2]", "argument 'rounding_mode' is missing"},
    {"pow.Tensor_Scalar i32[3] i:-1", "argument 'exponent': -1 is negative"},
    {"round.decimals f16[3] i:39", "argument 'decimals': 39 is outside [-38, 38]"},
    {"round.decimals f64[3] i:-309", "argument 'decimals': -309 is outside [-308, 308]"},
    {"round.decimals i32[3] i:1", "argument 'self': dtype i32 is not one"},
    {"bitwise_left_shift.Tensor bool[3] bool[3]", "argument 'self': dtype bool is not one"},
    {"hardtanh i32[2] f:-1.5 f:1.5", "argument 'min_val': results of i32 need an integer, not -1.5"},
    {"threshold i32[2] i:1 f:2.5", "argument 'value': results of i32 need an integer, not 2.5"},
    {"addcmul i32[2] i32[2] i32[2] f:2.5", "argument 'value': results of i32 need an integer"},
    {"addcmul f32[2] f32[2] f32[2] c:1", "argument 'value': a complex number"},
    {"addcdiv i32[2] i32[2] i32[2]", "argument 'self': dtype i32 is not one"},
    {"lerp.Scalar f32[2] f64[2] f:1", "argument 'end': expected f32, the dtype of 'self', got f64"},
    {"lerp.Scalar f32[2] f32[2] c:1", "argument 'weight': a complex number"},
    {"leaky_relu_backward f32[2] f32[2] f:-0.5 b:1", "argument 'negative_slope': -0.5 is negative, and with"},
    {"elu_backward f32[2] f:-1 f:1 f:1 b:1 f32[2]", "argument 'alpha': -1 is negative, and with 'is_result'"},
    {"masked_fill.Scalar f32[2] u8[2] f:1", "argument 'mask': expected bool, got u8"},
    {"masked_fill.Tensor f32[2] bool[2] f32[1]", "argument 'value': expected a tensor of rank 0"},
    {"masked_fill.Scalar f32[2] bool[2] c:1", "argument 'value': a complex number"},
    {"copy f32[3] f32[2,3]", "argument 'src': shape [2, 3] does not broadcast to [3], the shape of 'self'"},
    {"ceil bool[3]", "argument 'self': dtype bool is not one"},
    {"clamp f32[2]", "clamp: both 'min' and 'max' are none"},
    {"clamp.Tensor f32[2] - -", "clamp.Tensor: both 'min' and 'max' are none"},
    {"where.self f32[2] f32[2] f32[2]", "argument 'condition': expected bool or u8, got f32"},
    {"fill_.Scalar f32[2] c:1", "argument 'value': a complex number does not fit a tensor of f32"},
    {"fill_.Tensor f32[2] c64[]", "argument 'value': a complex number does not fit a tensor of f32"},
    {"fill_.Tensor f32[2] f32[1]", "argument 'value': expected a tensor of rank 0, got rank 1"},
    {"copy_ f32[3] f32[2,3]", "argument 'src': shape [2, 3] does not broadcast to [3], the shape of 'self'"},
    {"copy_ f32[1] f32[3]", "shape [3] does not broadcast to [1]"},
    {"copy_ f32[2] f32[3]", "shape [3] does not broadcast to [2], the shape of 'self'"},
    {"sum.dim_IntList f32[2,3] l:2", "argument 'dim': dimension 2 is outside [-2, 1] of a tensor of rank 2"},
    {"sum.dim_IntList f32[2,3] l:0,-2", "argument 'dim': dimension 0 appears twice"},
    {"sum.dim_IntList f32[] l:1", "dimension 1 is outside [-1, 0]"},
    {"sum f8e5m2[2]", "dtype f8e5m2 is not"},
    {"add.Tensor f32[2] c64[2]", "argument 'other': dtype c64 is not"},
    {"sum f32[2] d:c64", "argument 'dtype': dtype c64 is not"},
    {"amax f32[0]", "argument 'self': shape [0] has no elements along dimension 0"},
    {"amax f32[2,0] l:1", "no elements along dimension 1"},
    {"argmax f32[0,3]", "no elements along dimension 0"},
    {"argmax f32[0,3] i:0", "no elements along dimension 0"},
    {"argmax bool[2]", "dtype bool is not"},
    {"argmax f32[2,3] i:2", "argument 'dim': dimension 2 is outside"},
    {"mm f32[2,3] f32[4,3]", "argument 'mat2': shapes [2, 3] and [4, 3] cannot be multiplied: 3 columns meet 4 rows"},
    {"mm f32[2] f32[2,3]", "argument 'self': expected a matrix, got shape [2]"},
    {"mm f32[2,3] f32[2,3,4]", "argument 'mat2': expected a matrix"},
    {"mm f32[4000000000,0] f32[0,4000000000]", "mm: result 0"},
    {"full l:2,-1 i:1", "full: argument 'size': size -1 of dimension 1 is negative"},
    {"full l:4611686018427387904,4 i:1", "full: argument 'size': the tensor would have more than 2^63 - 1 bytes"},
    {"full l:2 c:1 d:f32", "argument 'fill_value': a complex number does not fit a tensor of f32"},
    {"full l:2", "argument 'fill_value' is missing"},
    {"arange.start_step i:0 i:5 i:0", "argument 'step': the step is 0"},
    {"arange.start_step i:0 i:5 f:0", "argument 'step': the step is 0"},
    {"arange.start_step i:0 i:5 i:-1", "argument 'step': steps of -1 do not lead from 0 to 5"},
    {"arange.start_step f:0.5 i:0 f:0.1", "argument 'step': steps of 0.1 do not lead from 0.5 to 0"},
    {"arange.start_step i:0 f:inf", "argument 'end': inf is not finite"},
    {"arange.start_step f:nan i:0 i:1 d:i64", "argument 'start': nan is not finite"},
    {"arange.start_step i:0 f:73786976294838206464", "there would be more than 2^63 - 1 elements"},
    {"arange.start_step i:0 i:3 f:1e-300",
     "argument 'end': in steps of 'step' there would be more than 2^63 - 1 elements"},
    {"arange.start_step i:-9223372036854775807 i:9223372036854775807", "more than 2^63 - 1 elements"},
    {"arange.start_step i:0 i:3 c:1", "dtype c64, which the arguments promote to, is not"},
    {"arange.start_step i:0 i:3 c:1 d:f32", "argument 'step': a complex number has no order"},
    {"arange.start_step i:0 i:3 i:1 d:bool", "argument 'dtype': dtype bool is not one the op is defined for: u8"},
    {"bmm f32[2,3] f32[3,4]", "argument 'self': expected rank 3, matrices one after the other, got shape [2, 3]"},
    {"bmm f32[5,2,3] f32[3,3,4]",
     "argument 'mat2': shapes [5, 2, 3] and [3, 3, 4] cannot be multiplied: 5 matrices meet 3"},
    {"bmm f32[5,2,3] f32[5,2,3]",
     "argument 'mat2': shapes [5, 2, 3] and [5, 2, 3] cannot be multiplied: 3 columns meet 2"},
    {"addmm f32[3] f32[2,3] f32[3,4]", "argument 'self': shape [3] does not broadcast to [2, 4]"},
    {"addmm f32[3,2,4] f32[2,3] f32[3,4]", "shape [3, 2, 4] does not broadcast to [2, 4], the shape of 'mat1 @ mat2'"},
    {"addmm f32[4] f32[2,3] f32[2,4]", "argument 'mat2': shapes [2, 3] and [2, 4] cannot be multiplied"},
    {"addmm f32[4] f32[2,3,1] f32[3,4]", "argument 'mat1': expected a matrix"},
    {"addmm i32[] i32[2,3] i32[3,4] f:0.5", "argument 'beta': results of i32 need an integer, not 0.5"},
    {"addmm i32[] i32[2,3] i32[3,4] i:1 f:0.5", "argument 'alpha': results of i32 need an integer, not 0.5"},
    {"_int_mm i8[2,3] i32[3,4]", "_int_mm: argument 'mat2': dtype i32 is not one the op is defined for: i8"},
    {"_int_mm u8[2,3] i8[3,4]", "_int_mm: argument 'self': dtype u8 is not"},
    {"mean i32[2]",
     "mean: argument 'self': dtype i32, without a float as 'dtype', is not one the op is defined for: f16"},
    {"mean f32[2] d:i32", "mean: argument 'dtype': dtype i32 is not"},
    {"mean f8e5m2[2] d:f32", "mean: argument 'self': dtype f8e5m2 is not"},
    {"amin f32[2,0] l:1", "no elements along dimension 1"},
    {"argmin f32[0,3]", "no elements along dimension 0"},
    {"any.dim f32[2,3] i:2", "argument 'dim': dimension 2 is outside"},
    {"any.dims f32[2,3] l:0,-2", "dimension 0 appears twice"},
    {"cumsum f32[2,3] i:2", "argument 'dim': dimension 2 is outside [-2, 1]"},
    {"cumsum f32[] i:1", "dimension 1 is outside [-1, 0]"},
};

/* Broadcasting of two random shapes agrees with a definition by dimension, and does not depend on the order. */
static void broadcast_is_symmetric(void **state) {
  (void)state;
  uint32_t random = 12345;
  for (int round = 0; round < 2000; ++round) {
    char shapes[2][96];
    int64_t sizes[2][4], want[4];
    for (int t = 0; t < 2; ++t) {
      random = random * 1664525u + 1013904223u;
      uint32_t rank = (random >> 24) % 5, bits = random >> 8;
      size_t n = (size_t)sprintf(shapes[t], "f32[");
      for (uint32_t i = 0; i < 4; ++i) sizes[t][i] = 1;
      for (uint32_t i = 0; i < rank; ++i, bits >>= 2) {
        int64_t size = (int64_t[]){1, 2, 3, 1}[bits & 3];
        sizes[t][4 - rank + i] = size;
        n += (size_t)sprintf(shapes[t] + n, i ? ",%d" : "%d", (int)size);
      }
      sprintf(shapes[t] + n, "]");
    }
    bool fits = true;
    for (int i = 0; i < 4; ++i) {
      want[i] = sizes[0][i] > sizes[1][i] ? sizes[0][i] : sizes[1][i];
      fits = fits && (sizes[0][i] == 1 || sizes[1][i] == 1 || sizes[0][i] == sizes[1][i]);
    }
    char call[2][512], text[2][1024];
    for (int t = 0; t < 2; ++t) {
      snprintf(call[t], sizeof call[t], "add.Tensor %s %s", shapes[t], shapes[!t]);
      assert_int_equal(test_infer_run(call[t], text[t]), fits ? KW_OK : KW_ERR_INVALID_ARGUMENT);
    }
    if (!fits) continue;
    assert_string_equal(text[0], text[1]);
    int64_t got[8] = {0};
    uint32_t rank = test_infer_read_ints(strchr(text[0], '[') + 1, got);
    for (uint32_t i = 0; i < rank; ++i) assert_int_equal(got[i], want[4 - rank + i]);
    for (uint32_t i = 0; i < 4 - rank; ++i) assert_int_equal(want[i], 1);
  }
}

static void results_are_contiguous_and_empty_of_memory(void **state) {
  (void)state;
  test_infer_call c;
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  test_infer_read_call("add.Tensor f32[2,3] f32[2,3]", &c);
  c.tensors[0].mem = &c;
  c.tensors[0].offset = 64;
  assert_int_equal(kw_op_normalize(c.op, c.args, c.arg_count, normal, scratch), KW_OK);
  assert_int_equal(normal[2].tag, KW_TAG_SCALAR);
  assert_int_equal(normal[2].u.i, 1);
  assert_int_equal(kw_infer(c.op, normal, &inference), KW_OK);
  const kw_tensor_ref *result = &inference.results[0];
  assert_null(result->mem);
  assert_true(result->offset == 0 && result->numel == 6 && result->strides[0] == 3 && result->strides[1] == 1);
  assert_int_equal(result->struct_size, sizeof *result);

  /* A result marked (a!) is the argument, memory and strides included. */
  test_infer_read_call("fill_.Scalar f32[2,3] i:1", &c);
  c.tensors[0].mem = &c;
  c.tensors[0].strides[0] = 30;
  assert_int_equal(kw_op_normalize(c.op, c.args, c.arg_count, normal, scratch), KW_OK);
  assert_int_equal(kw_infer(c.op, normal, &inference), KW_OK);
  assert_memory_equal(&inference.results[0], &c.tensors[0], sizeof c.tensors[0]);
}

static void broken_values_are_refused(void **state) {
  (void)state;
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_tensor_ref good = {.dtype = KW_F32}, bad_dtype = {.dtype = 99}, bad_rank = {.dtype = KW_F32, .rank = 17};
  const kw_op *add = kw_op_find("add.Tensor"), *sum = kw_op_find("sum.dim_IntList"), *gelu = kw_op_find("gelu");
  kw_value args[4] = {kw_arg_none(), {.tag = KW_TAG_TENSOR, .u.tensor = &good}, kw_arg_int(1), kw_arg_none()};
  const kw_tensor_ref *broken[] = {NULL, &bad_dtype, &bad_rank};
  for (size_t i = 0; i < 3; ++i) {
    args[0] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = broken[i]};
    assert_int_equal(kw_op_normalize(add, args, 2, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  }
  args[0].u.tensor = &good;
  args[1] = kw_arg_int_list(NULL, 2);
  assert_int_equal(kw_op_normalize(sum, args, 2, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  args[1] = kw_arg_string(NULL);
  assert_int_equal(kw_op_normalize(gelu, args, 2, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  args[1] = (kw_value){.tag = 77};
  assert_int_equal(kw_op_normalize(gelu, args, 2, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  args[1].tag = KW_TAG_TENSOR;
  args[1].u.tensor = &good;
  args[2] = (kw_value){.tag = KW_TAG_SCALAR, .kind = 9};
  assert_int_equal(kw_op_normalize(add, args, 3, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  args[1] = kw_arg_none();
  args[2] = kw_arg_bool(false);
  args[3] = kw_arg_dtype(99);
  assert_int_equal(kw_op_normalize(sum, args, 4, normal, scratch), KW_ERR_INVALID_ARGUMENT);
  args[3] = kw_arg_dtype(KW_DTYPE_NONE); /* "not given" */
  assert_int_equal(kw_op_normalize(sum, args, 4, normal, scratch), KW_OK);
  assert_int_equal(normal[3].tag, KW_TAG_NONE);
}

/* ---- Vendors' ops ------------------------------------------------------------------------------------------------ */

static kw_status infer_pair(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                            uint32_t out_count) {
  (void)user;
  if (arg_count != 3 || out_count != 2) return KW_ERR_INTERNAL;
  switch (args[2].u.i) {
    case 0: /* one result the shape of the list's first tensor, the other a scalar */
      *outs[0] = *args[1].u.tensors[0];
      outs[1]->dtype = KW_I64;
      return KW_OK;
    case 1: /* forgets the second */
      outs[0]->dtype = KW_F32;
      return KW_OK;
    case 2:
      outs[0]->dtype = outs[1]->dtype = KW_F32;
      outs[1]->rank = 200;
      return KW_OK;
    case 3:
      outs[0]->dtype = outs[1]->dtype = KW_F32;
      outs[1]->rank = 1;
      outs[1]->shape[0] = -4;
      return KW_OK;
    case 4:
      return 1234;
    default:
      outs[0]->dtype = outs[1]->dtype = KW_I16;
      return KW_OK;
  }
}

/* A plugin of a later minor version: its descriptors are longer than the host's. */
typedef struct longer_ref {
  kw_tensor_ref ref;
  uint64_t later;
} longer_ref;

static kw_status infer_longer(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                              uint32_t out_count) {
  longer_ref *const *results = (longer_ref *const *)(const void *)outs;
  (void)args;
  if (arg_count != 1 || out_count != 3) return KW_ERR_INTERNAL;
  for (uint32_t i = 0; i < out_count; ++i) {
    if (results[i]->ref.struct_size != sizeof(kw_tensor_ref)) return KW_ERR_ABI_MISMATCH;
    results[i]->ref.dtype = KW_F32;
    results[i]->ref.rank = 1;
    results[i]->ref.shape[0] = *(const int64_t *)user + i;
  }
  return KW_OK;
}

static void vendor_inference_with_longer_descriptors(void **state) {
  (void)state;
  static int64_t first = 5;
  kw_op_desc desc = {.struct_size = sizeof desc,
                     .schema = "acme::longer(Tensor a) -> (Tensor, Tensor, Tensor)",
                     .user = &first,
                     .infer = infer_longer};
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  const kw_tensor_ref a = {.struct_size = sizeof a, .dtype = KW_F32, .numel = 1};
  const kw_value arg = {.tag = KW_TAG_TENSOR, .u.tensor = &a};
  kw_inference inference;
  assert_int_equal(kw_infer(kw_op_find("acme::longer"), &arg, &inference), KW_OK);
  for (int64_t i = 0; i < 3; ++i) {
    assert_true(inference.results[i].dtype == KW_F32 && inference.results[i].rank == 1);
    assert_int_equal(inference.results[i].numel, first + i);
  }
}

static void vendor_inference(void **state) {
  (void)state;
  kw_op_desc desc = {.struct_size = sizeof desc,
                     .schema = "acme::pair(Tensor? a, Tensor?[] list, int mode) -> (Tensor, Tensor)",
                     .infer = infer_pair};
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  const kw_op *op = kw_op_find("acme::pair");
  kw_tensor_ref data = {.dtype = KW_F8E4M3FN, .rank = 1, .shape = {3}, .mem = &desc, .offset = 8},
                scales = {.dtype = KW_F32, .rank = 1, .shape = {3}},
                integers = {.dtype = KW_I32, .rank = 1, .shape = {3}};
  const kw_tensor_ref *list[] = {&data, NULL, &scales};
  kw_value args[3] = {kw_arg_none(), {.tag = KW_TAG_TENSOR_LIST, .count = 3, .u.tensors = list}, kw_arg_int(0)};
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  assert_int_equal(kw_op_normalize(op, args, 3, normal, scratch), KW_OK);
  assert_int_equal(kw_infer(op, normal, &inference), KW_OK);
  assert_int_equal(inference.key, KW_F8E4M3FN); /* f8 and f32 do not promote: the first one's */
  assert_true(inference.cast == 0 && !inference.broadcast);
  assert_null(inference.results[0].mem);
  assert_true(inference.results[0].offset == 0 && inference.results[0].numel == 3 &&
              inference.results[0].strides[0] == 1);
  assert_true(inference.results[1].dtype == KW_I64 && inference.results[1].numel == 1);

  normal[2].u.i = 5;
  list[0] = &scales;
  normal[0] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = &integers};
  assert_int_equal(kw_infer(op, normal, &inference), KW_OK);
  assert_true(inference.key == KW_F32 && inference.cast == 0); /* a vendor's kernel sees what was passed */
  normal[0] = kw_arg_none();
  normal[1].count = 0; /* no tensors at all: the first result's dtype */
  assert_int_equal(kw_infer(op, normal, &inference), KW_OK);
  assert_int_equal(inference.key, KW_I16);
  static const kw_status statuses[] = {KW_ERR_INTERNAL, KW_ERR_INTERNAL, KW_ERR_INVALID_ARGUMENT, KW_ERR_INTERNAL};
  for (int64_t mode = 1; mode <= 4; ++mode) {
    normal[2].u.i = mode;
    assert_int_equal(kw_infer(op, normal, &inference), statuses[mode - 1]);
    assert_non_null(strstr(kw_error_message(), "acme::pair"));
  }

  /* Without a callback: broadcast and promote. */
  desc =
      (kw_op_desc){.struct_size = sizeof desc, .schema = "acme::blend(Tensor alpha, Tensor src, Scalar s) -> Tensor"};
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  desc.schema = "acme::accumulate_(Tensor(a!) self, Tensor other, float by=1.0) -> Tensor(a!)";
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  static const test_infer_row rows[] = {
      {"acme::blend i32[2,1] u8[3] f:1.5", "f32: f32[2,3] cast 0 1 expand"},
      {"acme::blend i32[3] i32[3] i:2", "i32: i32[3]"},
      {"acme::accumulate_ f16[2,3] f32[3]", "f16: f16[2,3] cast 1 expand"},
      {"acme::accumulate_ f16[3] f16[3] i:2", "f16: f16[3]"},
  };
  test_infer_check(rows, sizeof rows / sizeof rows[0], KW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST_INFER_TABLES(accepted, refused),
      cmocka_unit_test(broadcast_is_symmetric),
      cmocka_unit_test(results_are_contiguous_and_empty_of_memory),
      cmocka_unit_test(broken_values_are_refused),
      cmocka_unit_test(vendor_inference),
      cmocka_unit_test(vendor_inference_with_longer_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
