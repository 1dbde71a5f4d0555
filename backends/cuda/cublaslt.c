/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by cuBLASLt, which is opened when first asked for. They have not run on hardware yet and are off
 * (docs/hardware-pending.md): KEYWAY_KERNELS=mm=cublaslt. Sums are taken in f32, without TF32.
 *
 * cuBLASLt has matrices by columns: a tensor is to it the transpose of what it is here. So it is asked for the
 * transpose of the result, which is the product of the transposes the other way round.
 */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- The library ------------------------------------------------------------------------------------------------- */

enum { COMPUTE_F32 = 68, TYPE_F32 = 0, TYPE_F16 = 2, TYPE_BF16 = 14, TRANSPOSED = 1 };
enum { DESC_TRANSPOSE_A = 3, DESC_TRANSPOSE_B = 4, LAYOUT_BATCH_COUNT = 5, LAYOUT_BATCH_STEP = 6 };
enum { PREFER_WORKSPACE = 1, PREFER_REDUCTIONS = 3, PREFER_ALIGNMENT_A = 5 /* those of B, C and D follow */ };
#define REPEATABLE_REDUCTIONS 6u /* parts added up behind each other, not as they come */

typedef struct lt_algorithm {
  struct {
    uint64_t data[8];
  } algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
} lt_algorithm;

static struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*desc_create)(void **desc, int compute, int scale);
  int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
  int (*desc_destroy)(void *desc);
  int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
  int (*layout_set)(void *layout, int attribute, const void *value, size_t size);
  int (*layout_destroy)(void *layout);
  int (*preference_create)(void **preference);
  int (*preference_set)(void *preference, int attribute, const void *value, size_t size);
  int (*preference_destroy)(void *preference);
  int (*choose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int limit,
                lt_algorithm *found, int *count);
  int (*multiply)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                  void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                  const void *algorithm, void *workspace, size_t workspace_size, void *stream);
  const char *(*error_text)(int error);
} lt;

static const kw_rt_own_call calls[] = {
    {"cublasLtCreate", &lt.create},
    {"cublasLtDestroy", &lt.destroy},
    {"cublasLtMatmulDescCreate", &lt.desc_create},
    {"cublasLtMatmulDescSetAttribute", &lt.desc_set},
    {"cublasLtMatmulDescDestroy", &lt.desc_destroy},
    {"cublasLtMatrixLayoutCreate", &lt.layout_create},
    {"cublasLtMatrixLayoutSetAttribute", &lt.layout_set},
    {"cublasLtMatrixLayoutDestroy", &lt.layout_destroy},
    {"cublasLtMatmulPreferenceCreate", &lt.preference_create},
    {"cublasLtMatmulPreferenceSetAttribute", &lt.preference_set},
    {"cublasLtMatmulPreferenceDestroy", &lt.preference_destroy},
    {"cublasLtMatmulAlgoGetHeuristic", &lt.choose},
    {"cublasLtMatmul", &lt.multiply},
    {"cublasLtGetStatusString", &lt.error_text},
    {NULL, NULL},
};

static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                    "/usr/local/cuda/lib64/libcublasLt.so", NULL};
static kw_rt_library library = {.name = "cuBLASLt",
                                .files = files,
                                .calls = calls,
                                .create = &lt.create,
                                .destroy = &lt.destroy,
                                .error_text = &lt.error_text};

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* Two dimensions, of which one is contiguous, and perhaps one of matrices before them. */
typedef struct matrix {
  const kw_tensor_ref *ref;
  bool transposed; /* columns are contiguous, and not rows */
  int64_t rows, cols, ld, count, step;
} matrix;

/* out = alpha a b + beta self; self is out where there is none or it is not read. */
typedef struct product {
  matrix a, b, self, out;
  float alpha, beta;
} product;

/* False when cuBLASLt has no words for it. Strides of dimensions of one element may be any number. */
static bool read_matrix(const kw_tensor_ref *ref, matrix *out) {
  if (ref->rank < 2 || ref->numel == 0) return false;
  const int64_t *shape = ref->shape + ref->rank - 2, *strides = ref->strides + ref->rank - 2;
  const int64_t rows = shape[0], cols = shape[1];
  *out = (matrix){.ref = ref, .rows = rows, .cols = cols, .count = 1};
  if (ref->rank == 3) {
    out->count = ref->shape[0];
    out->step = ref->strides[0];
  }
  if (out->count > INT32_MAX) return false;
  if ((cols == 1 || strides[1] == 1) && (rows == 1 || strides[0] >= cols)) {
    out->ld = rows == 1 ? cols : strides[0];
    return true;
  }
  out->transposed = true;
  out->ld = cols == 1 ? rows : strides[1];
  return (rows == 1 || strides[0] == 1) && (cols == 1 || strides[1] >= rows);
}

static bool read_scalar(const kw_value *value, float *out) {
  if (value->kind == KW_SCALAR_C128) return false;
  *out = value->kind == KW_SCALAR_F64   ? (float)value->u.f
         : value->kind == KW_SCALAR_I64 ? (float)value->u.i
                                        : (float)value->u.b;
  return true;
}

static bool read_product(const kw_call *call, product *out) {
  const bool adds = strcmp(call->op, "addmm") == 0;
  const kw_value *factors = call->args + (adds ? 1 : 0);
  *out = (product){.alpha = 1, .beta = 0};
  if (!read_matrix(factors[0].u.tensor, &out->a) || !read_matrix(factors[1].u.tensor, &out->b) ||
      !read_matrix(call->outs[0], &out->out) || out->out.transposed)
    return false;
  out->self = out->out;
  if (!adds) return true;
  if (!read_scalar(&call->args[3], &out->beta) || !read_scalar(&call->args[4], &out->alpha)) return false;
  if (out->beta == 0) return true;
  return read_matrix(call->args[0].u.tensor, &out->self) && !out->self.transposed && out->self.rows == out->out.rows &&
         out->self.cols == out->out.cols;
}

static kw_status can_implement(const kw_call *call) {
  product p;
  kw_status status = kw_rt_library_find(&library, call);
  if (status != KW_OK) return status;
  return read_product(call, &p) ? KW_OK
                                : kw_rt_library_refuse(&library, call,
                                                       "wants matrices with contiguous rows or columns, of the result "
                                                       "and of what is added to it rows");
}

/* ---- Ahead of the launch ----------------------------------------------------------------------------------------- */

#define WORKSPACE (UINT64_C(32) << 20) /* what NVIDIA advises for its newest GPUs */

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  (void)call;
  *out_size = WORKSPACE + KW_RT_WORKSPACE_ALIGNMENT;
  return KW_OK;
}

typedef struct prepared {
  void *handle, *desc;
  void *layouts[4]; /* of its A, B, C, D: our b, a, self, out */
  lt_algorithm algorithm;
} prepared;

static void discard(prepared *p) {
  for (int i = 0; i < 4; ++i)
    if (p->layouts[i]) lt.layout_destroy(p->layouts[i]);
  if (p->desc) lt.desc_destroy(p->desc);
  free(p);
}

static int make_layout(const matrix *m, void **out) {
  const int type = m->ref->dtype == KW_F16 ? TYPE_F16 : m->ref->dtype == KW_BF16 ? TYPE_BF16 : TYPE_F32;
  const int64_t rows = m->transposed ? m->rows : m->cols, cols = m->transposed ? m->cols : m->rows;
  const int32_t count = (int32_t)m->count;
  int error = lt.layout_create(out, type, (uint64_t)rows, (uint64_t)cols, m->ld);
  if (!error) error = lt.layout_set(*out, LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (!error) error = lt.layout_set(*out, LAYOUT_BATCH_STEP, &m->step, sizeof m->step);
  return error;
}

/* *out_count is 0 when it has no algorithm. */
static int choose(prepared *p, const matrix *const operands[4], int *out_count) {
  const uint64_t workspace = WORKSPACE;
  const uint32_t reductions = REPEATABLE_REDUCTIONS;
  void *preference = NULL;
  int error = lt.preference_create(&preference);
  if (error) return error;
  error = lt.preference_set(preference, PREFER_WORKSPACE, &workspace, sizeof workspace);
  if (!error) error = lt.preference_set(preference, PREFER_REDUCTIONS, &reductions, sizeof reductions);
  for (int i = 0; i < 4 && !error; ++i) {
    const uint32_t alignment = operands[i]->ref->alignment < 256 ? operands[i]->ref->alignment : 256;
    error = lt.preference_set(preference, PREFER_ALIGNMENT_A + i, &alignment, sizeof alignment);
  }
  if (!error)
    error = lt.choose(p->handle, p->desc, p->layouts[0], p->layouts[1], p->layouts[2], p->layouts[3], preference, 1,
                      &p->algorithm, out_count);
  lt.preference_destroy(preference);
  return error;
}

static int fill(prepared *p, const product *of, int *out_count) {
  const matrix *const operands[4] = {&of->b, &of->a, &of->self, &of->out};
  int error = lt.desc_create(&p->desc, COMPUTE_F32, TYPE_F32);
  for (int i = 0; i < 2 && !error; ++i) {
    const int32_t transpose = operands[i]->transposed ? TRANSPOSED : 0;
    error = lt.desc_set(p->desc, i == 0 ? DESC_TRANSPOSE_A : DESC_TRANSPOSE_B, &transpose, sizeof transpose);
  }
  for (int i = 0; i < 4 && !error; ++i) error = make_layout(operands[i], &p->layouts[i]);
  return error ? error : choose(p, operands, out_count);
}

#define NOT_SUPPORTED 15

static kw_status prepare(const kw_call *call, void **out_prepared) {
  const kw_rt_device *device = call->device;
  product of;
  prepared *p = calloc(1, sizeof *p);
  if (!p) return kw_rt_no_memory(device->base.host, "a matrix product");
  read_product(call, &of); /* can_implement has seen it */
  kw_status status = kw_rt_library_handle(&library, call, &p->handle);
  if (status == KW_OK) {
    int count = 0;
    void *before = kw_rt_runtime_here.enter(device);
    const int error = fill(p, &of, &count);
    kw_rt_runtime_here.leave(before);
    if (error == NOT_SUPPORTED || (!error && count == 0)) {
      status = kw_rt_library_refuse(&library, call, "has no algorithm for this product");
    } else if (error) {
      status = kw_rt_library_fail(&library, call, "making a matrix product", error);
    }
  }
  if (status == KW_OK) {
    *out_prepared = p;
  } else {
    discard(p);
  }
  return status;
}

static kw_status release(void *user, void *state) {
  (void)user;
  discard(state);
  return KW_OK;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static kw_status launch(const kw_call *call) {
  const kw_rt_device *device = call->device;
  const prepared *p = call->prepared;
  kw_rt_stream *stream = call->stream;
  product of;
  read_product(call, &of);
  void *before = kw_rt_runtime_here.enter(device);
  int error =
      lt.multiply(p->handle, p->desc, &of.alpha, kw_rt_address(of.b.ref), p->layouts[0], kw_rt_address(of.a.ref),
                  p->layouts[1], &of.beta, kw_rt_address(of.self.ref), p->layouts[2], kw_rt_address(of.out.ref),
                  p->layouts[3], &p->algorithm.algorithm, kw_rt_workspace(call), WORKSPACE, stream->handle);
  kw_rt_runtime_here.leave(before);
  if (error) return kw_rt_library_fail(&library, call, "running a matrix product", error);
  atomic_store(&stream->last_call, call->call_id);
  return KW_OK;
}

kw_status cuda_cublaslt_register(const kw_host_api *host) {
  static const struct {
    const char *op;
    uint32_t known_args;
  } ops[] = {{"mm", 2}, {"bmm", 2}, {"addmm", 5}};
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0] && status == KW_OK; ++i) {
    const kw_kernel_desc desc = {.struct_size = sizeof desc,
                                 .flags = KW_KERNEL_DETERMINISTIC | KW_KERNEL_CAPTURABLE,
                                 .op = ops[i].op,
                                 .name = "cublaslt",
                                 .dtypes = {{KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16), 0}},
                                 .priority = KW_PRIORITY_OFF,
                                 .known_args = ops[i].known_args,
                                 .can_implement = can_implement,
                                 .workspace_size = workspace_size,
                                 .prepare = prepare,
                                 .launch = launch,
                                 .release = release};
    status = host->register_kernel(host->ctx, &desc);
  }
  return status;
}
