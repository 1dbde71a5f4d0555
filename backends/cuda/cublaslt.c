/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by cuBLASLt: its names and numbers. They have not run on hardware yet and are off
 * (docs/hardware-pending.md): KEYWAY_KERNELS=mm=cublaslt. Sums of f32 are taken without TF32, which is a kernel of its
 * own: KEYWAY_KERNELS=mm=cublaslt_tf32 KEYWAY_MATH=tf32.
 */
#include "product.h"

static const char *(*error_text)(int error);

#define CALL(field, parameters, name) {"cublasLt" name, &kw_rt_product.field},
static const kw_rt_own_call calls[] = {KW_RT_PRODUCT_CALLS(CALL){"cublasLtGetStatusString", &error_text}, {NULL, NULL}};
static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                    "/usr/local/cuda/lib64/libcublasLt.so", NULL};

static kw_rt_library library = {.name = "cuBLASLt",
                                .files = files,
                                .calls = calls,
                                .create = &kw_rt_product.create,
                                .destroy = &kw_rt_product.destroy,
                                .error_text = &error_text};

const kw_rt_product_library kw_rt_backend_products = {
    .library = &library,
    .kernel = "cublaslt",
    .tf32_kernel = "cublaslt_tf32",
    .flags = KW_KERNEL_DETERMINISTIC,
    .compute_f32 = 68,
    .compute_tf32 = 77,
    .compute_f64 = 70,
    .compute_i32 = 72,
    .transposed = 1,
    .transpose_a = 3,
    .transpose_b = 4,
    .scale_a = 17,
    .scale_b = 18,
    .epilogue = 7,
    .bias = 8,
    .bias_type = 26,
    .add_bias = 4,
    .batch_count = 5,
    .batch_step = 6,
    .workspace = 1,
    .reductions = 3,
    .alignment_a = 5,
    .not_supported = 15,
};
