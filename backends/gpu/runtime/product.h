/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by a library with cuBLASLt's interface: cuBLASLt, or hipBLASLt, which has the same under names and
 * numbers of its own. A backend gives those, and registers the kernels. They are off: docs/hardware-pending.md.
 */
#ifndef KEYWAY_GPU_PRODUCT_H
#define KEYWAY_GPU_PRODUCT_H

#include "vendor_library.h"

/* What it is called here, its parameters, its name behind "cublasLt" and "hipblasLt". Two lack `const` that is there.
 */
#define KW_RT_PRODUCT_CALLS(X)                                                                                         \
  X(create, (void **handle), "Create")                                                                                 \
  X(destroy, (void *handle), "Destroy")                                                                                \
  X(desc_create, (void **desc, int compute, int scale), "MatmulDescCreate")                                            \
  X(desc_set, (void *desc, int attribute, const void *value, size_t size), "MatmulDescSetAttribute")                   \
  X(desc_destroy, (void *desc), "MatmulDescDestroy")                                                                   \
  X(layout_create, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld), "MatrixLayoutCreate")          \
  X(layout_set, (void *layout, int attribute, const void *value, size_t size), "MatrixLayoutSetAttribute")             \
  X(layout_destroy, (void *layout), "MatrixLayoutDestroy")                                                             \
  X(preference_create, (void **preference), "MatmulPreferenceCreate")                                                  \
  X(preference_set, (void *preference, int attribute, const void *value, size_t size), "MatmulPreferenceSetAttribute") \
  X(preference_destroy, (void *preference), "MatmulPreferenceDestroy")                                                 \
  X(choose,                                                                                                            \
    (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int limit, void *found,           \
     int *count),                                                                                                      \
    "MatmulAlgoGetHeuristic")                                                                                          \
  X(multiply,                                                                                                          \
    (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, void *b_layout,        \
     const void *beta, const void *c, void *c_layout, void *d, void *d_layout, const void *algorithm, void *workspace, \
     size_t workspace_size, void *stream),                                                                             \
    "Matmul")

#define KW_RT_PRODUCT_FIELD(field, parameters, name) int(*field) parameters;
typedef struct kw_rt_product_calls {
  KW_RT_PRODUCT_CALLS(KW_RT_PRODUCT_FIELD)
} kw_rt_product_calls;

/* Set when the library is opened: the backend's table of calls points here. */
extern kw_rt_product_calls kw_rt_product;

#define KW_RT_PRODUCT_NONE (-1) /* a number that the library does not have */

typedef struct kw_rt_product_library {
  kw_rt_library *library;
  const char *kernel, *tf32_kernel; /* what kernels are called */
  uint64_t flags;                   /* of kernels: KW_KERNEL_DETERMINISTIC or 0 */

  /* Its numbers; others are the same in all. */
  int compute_f32, compute_tf32, compute_f64, compute_i32; /* what sums are in, and how factors may be rounded */
  int transposed;                                          /* of a factor */
  int transpose_a, transpose_b; /* attributes of a product; A, B, C and D as the library has it */
  int scale_a, scale_b;
  int epilogue, bias, bias_type, add_bias; /* `add_bias`: an epilogue */
  int batch_count, batch_step;             /* attributes of a layout */
  int workspace, reductions, alignment_a;  /* attributes of a preference; of B, C and D the alignment follows */
  int not_supported;                       /* an error */
} kw_rt_product_library;

/* The backend's. */
extern const kw_rt_product_library kw_rt_backend_products;

kw_status kw_rt_products_register(const kw_host_api *host);
kw_status kw_rt_linear_register(const kw_host_api *host); /* a product and a kernel of the pack behind it: linear.c */

/* The slots of a kernel that is one product. Of its workspace the library gets so much, from kw_rt_workspace on. */
#define KW_RT_PRODUCT_WORKSPACE (UINT64_C(32) << 20) /* what NVIDIA advises for its newest GPUs */
kw_status kw_rt_product_can_implement(const kw_call *call);
kw_status kw_rt_product_prepare(const kw_call *call, void **out_prepared);
kw_status kw_rt_product_launch(const kw_call *call);
kw_status kw_rt_product_release(void *user, void *prepared);

#endif /* KEYWAY_GPU_PRODUCT_H */
