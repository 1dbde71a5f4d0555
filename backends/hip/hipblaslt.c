/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by hipBLASLt: its names and numbers. They have not run on hardware yet and are off
 * (docs/hardware-pending.md): KEYWAY_KERNELS=mm=hipblaslt. It does not promise the same bits every time.
 */
#include "product.h"

#define CALL(field, parameters, name) {"hipblasLt" name, &kw_rt_product.field},
static const kw_rt_own_call calls[] = {KW_RT_PRODUCT_CALLS(CALL){NULL, NULL}};
static const char *const files[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so",
                                    "/opt/rocm/lib/libhipblaslt.so", NULL};

static kw_rt_library library = {.name = "hipBLASLt",
                                .files = files,
                                .calls = calls,
                                .create = &kw_rt_product.create,
                                .destroy = &kw_rt_product.destroy};

const kw_rt_product_library kw_rt_backend_products = {
    .library = &library,
    .kernel = "hipblaslt",
    .tf32_kernel = "hipblaslt_tf32",
    .compute_f32 = 2,
    .compute_tf32 = 6,
    .compute_f64 = 7,
    .compute_i32 = 9,
    .transposed = 112,
    .transpose_a = 0,
    .transpose_b = 1,
    .scale_a = 5,
    .scale_b = 6,
    .epilogue = 2,
    .bias = 3,
    .bias_type = 4,
    .add_bias = 4,
    .batch_count = 0,
    .batch_step = 1,
    .workspace = 1,
    .reductions = KW_RT_PRODUCT_NONE,
    .alignment_a = KW_RT_PRODUCT_NONE,
    .not_supported = 7,
};
