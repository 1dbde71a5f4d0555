/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by the vendor's library, cuBLASLt or hipBLASLt.
 *
 * It has matrices by columns: a tensor is to it the transpose of what it is here. So it is asked for the
 * transpose of the result, which is the product of the transposes the other way round: its A is our b, its B our a.
 */
#include "product.h"

#include <stdlib.h>
#include <string.h>

kw_rt_product_calls kw_rt_product;

static const kw_rt_product_library *const numbers = &kw_rt_backend_products;

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* Two dimensions, of which one is contiguous, and perhaps one of matrices before them. */
typedef struct matrix {
  const kw_tensor_ref *ref;
  bool transposed; /* columns are contiguous, and not rows */
  int64_t rows, cols, ld, count, step;
} matrix;

/* out = alpha a b + beta self; self is out where there is none or it is not read. In f8 also times both scales, and
 * plus a bias for each column. */
typedef struct product {
  matrix a, b, self, out;
  double alpha, beta;
  const kw_tensor_ref *scale_a, *scale_b, *bias; /* NULL: none */
  bool outer;                                    /* scales are one for each row of a and column of b */
} product;

/* False when the library has no words for it. `turned`: the tensor's transpose. Strides of dimensions of one element
 * may be any number. */
static bool read_matrix(const kw_tensor_ref *ref, bool turned, matrix *out) {
  if (ref->rank < 2 || ref->numel == 0) return false;
  const int row = ref->rank - (turned ? 1 : 2), col = ref->rank - (turned ? 2 : 1);
  const int64_t rows = ref->shape[row], cols = ref->shape[col];
  const int64_t row_stride = ref->strides[row], col_stride = ref->strides[col];
  *out = (matrix){.ref = ref, .rows = rows, .cols = cols, .count = 1};
  if (ref->rank == 3) {
    out->count = ref->shape[0];
    out->step = ref->strides[0];
  }
  if (out->count > INT32_MAX) return false;
  if ((cols == 1 || col_stride == 1) && (rows == 1 || row_stride >= cols)) {
    out->ld = rows == 1 ? cols : row_stride;
    return true;
  }
  out->transposed = true;
  out->ld = cols == 1 ? rows : col_stride;
  return (rows == 1 || row_stride == 1) && (cols == 1 || col_stride >= rows);
}

static bool read_scalar(const kw_value *value, double *out) {
  if (value->kind == KW_SCALAR_C128) return false;
  *out = value->kind == KW_SCALAR_F64 ? value->u.f : value->kind == KW_SCALAR_I64 ? (double)value->u.i : value->u.b;
  return true;
}

static bool read_addend(const kw_call *call, product *out) {
  if (!read_scalar(&call->args[3], &out->beta) || !read_scalar(&call->args[4], &out->alpha)) return false;
  if (out->beta == 0) return true;
  return read_matrix(call->args[0].u.tensor, false, &out->self) && !out->self.transposed &&
         out->self.rows == out->out.rows && out->self.cols == out->out.cols;
}

/* `count` numbers behind each other. */
static bool is_vector(const kw_tensor_ref *ref, int64_t count) {
  return ref->numel == count && (count == 1 || ref->strides[0] == 1);
}

/* Both scales are one number, or both one for each. */
static bool read_scales(const kw_call *call, product *out) {
  const kw_tensor_ref *bias = call->args[4].tag == KW_TAG_TENSOR ? call->args[4].u.tensor : NULL;
  out->scale_a = call->args[2].u.tensor;
  out->scale_b = call->args[3].u.tensor;
  out->bias = bias;
  out->outer = out->scale_a->numel != 1 || out->scale_b->numel != 1;
  if (out->outer && !(is_vector(out->scale_a, out->a.rows) && is_vector(out->scale_b, out->b.cols))) return false;
  return !bias || is_vector(bias, out->b.cols);
}

static bool read_product(const kw_call *call, product *out) {
  const bool adds = strcmp(call->op, "addmm") == 0, linear = strcmp(call->op, "keyway::f8_linear") == 0;
  const kw_value *factors = call->args + (adds ? 1 : 0);
  *out = (product){.alpha = 1};
  if (!read_matrix(factors[0].u.tensor, false, &out->a) || !read_matrix(factors[1].u.tensor, linear, &out->b) ||
      !read_matrix(call->outs[0], false, &out->out) || out->out.transposed)
    return false;
  out->self = out->out;
  return adds ? read_addend(call, out) : !linear || read_scales(call, out);
}

kw_status kw_rt_product_can_implement(const kw_call *call) {
  product of;
  kw_status status = kw_rt_library_find(numbers->library, call);
  if (status != KW_OK) return status;
  return read_product(call, &of) ? KW_OK
                                 : kw_rt_library_refuse(numbers->library, call,
                                                        "wants matrices with contiguous rows or columns, of the result "
                                                        "and of what is added to it rows, and two scales of one kind");
}

/* ---- What the library is told ------------------------------------------------------------------------------------ */

/* Types of elements, and how scales are taken: the same in both libraries. */
enum { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, BF16 = 14, F8E4M3 = 28, F8E5M2 = 29 };
enum { DESC_SCALE_MODE_A = 31, DESC_SCALE_MODE_B = 32, OUTER = 3 };

static int32_t type_of(kw_dtype dtype) {
  static const int32_t types[] = {[KW_F32] = F32, [KW_F64] = F64,   [KW_F16] = F16,         [KW_I8] = I8,
                                  [KW_I32] = I32, [KW_BF16] = BF16, [KW_F8E4M3FN] = F8E4M3, [KW_F8E5M2] = F8E5M2};
  return types[dtype];
}

/* What is computed in, of which alpha and beta are too. */
static int32_t wide_type(const product *of) {
  const kw_dtype dtype = of->a.ref->dtype;
  return dtype == KW_F64 ? F64 : dtype == KW_I8 ? I32 : F32;
}

typedef union number {
  float f;
  double d;
  int32_t i;
} number;

static number number_of(const product *of, double value) {
  switch (wide_type(of)) {
    case F64:
      return (number){.d = value};
    case I32:
      return (number){.i = (int32_t)value};
    default:
      return (number){.f = (float)value};
  }
}

static int set_int(void *desc, int attribute, int32_t value) {
  return kw_rt_product.desc_set(desc, attribute, &value, sizeof value);
}

/* Ahead of the launch the library looks only at how an address is aligned. */
static int set_address(void *desc, int attribute, const kw_tensor_ref *ref) {
  const void *address = ref->mem ? kw_rt_address(ref) : (const void *)(uintptr_t)ref->alignment;
  return kw_rt_product.desc_set(desc, attribute, &address, sizeof address);
}

static int describe_scales(void *desc, const product *of) {
  int error = set_address(desc, numbers->scale_a, of->scale_b);
  if (!error) error = set_address(desc, numbers->scale_b, of->scale_a);
  if (error || !of->outer) return error;
  /* A library that does not know the attribute is too old for it. */
  error = set_int(desc, DESC_SCALE_MODE_A, OUTER);
  if (!error) error = set_int(desc, DESC_SCALE_MODE_B, OUTER);
  return error ? numbers->not_supported : 0;
}

static int describe_bias(void *desc, const product *of) {
  int error = set_int(desc, numbers->epilogue, numbers->add_bias);
  if (!error) error = set_int(desc, numbers->bias_type, type_of(of->bias->dtype));
  if (!error) error = set_address(desc, numbers->bias, of->bias);
  return error;
}

/* A product, but for its matrices. It holds addresses, and so is one call's. */
static int make_desc(const kw_call *call, const product *of, void **out) {
  const int32_t wide = wide_type(of),
                as_f32 = call->user == numbers->tf32_kernel ? numbers->compute_tf32 : numbers->compute_f32;
  int error = kw_rt_product.desc_create(out,
                                        wide == F64   ? numbers->compute_f64
                                        : wide == I32 ? numbers->compute_i32
                                                      : as_f32,
                                        wide);
  if (!error && of->b.transposed) error = set_int(*out, numbers->transpose_a, numbers->transposed);
  if (!error && of->a.transposed) error = set_int(*out, numbers->transpose_b, numbers->transposed);
  if (!error && of->scale_a) error = describe_scales(*out, of);
  if (!error && of->bias) error = describe_bias(*out, of);
  return error;
}

static int make_layout(const matrix *m, void **out) {
  const int64_t rows = m->transposed ? m->rows : m->cols, cols = m->transposed ? m->cols : m->rows;
  const int32_t count = (int32_t)m->count;
  int error = kw_rt_product.layout_create(out, type_of(m->ref->dtype), (uint64_t)rows, (uint64_t)cols, m->ld);
  if (!error) error = kw_rt_product.layout_set(*out, numbers->batch_count, &count, sizeof count);
  if (!error) error = kw_rt_product.layout_set(*out, numbers->batch_step, &m->step, sizeof m->step);
  return error;
}

/* ---- Ahead of the launch ----------------------------------------------------------------------------------------- */

#define REPEATABLE_REDUCTIONS 6u /* parts added up behind each other, not as they come */

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  (void)call;
  *out_size = KW_RT_PRODUCT_WORKSPACE + KW_RT_WORKSPACE_ALIGNMENT;
  return KW_OK;
}

typedef struct prepared {
  void *handle;
  void *layouts[4];       /* of its A, B, C, D: our b, a, self, out */
  uint64_t algorithm[16]; /* begins what the library answers, which is at most as long */
} prepared;

static void discard(prepared *p) {
  for (int i = 0; i < 4; ++i)
    if (p->layouts[i]) kw_rt_product.layout_destroy(p->layouts[i]);
  free(p);
}

static int prefer(void *preference, const matrix *const operands[4]) {
  const uint64_t workspace = KW_RT_PRODUCT_WORKSPACE;
  const uint32_t reductions = REPEATABLE_REDUCTIONS;
  int error = kw_rt_product.preference_set(preference, numbers->workspace, &workspace, sizeof workspace);
  if (!error && numbers->reductions != KW_RT_PRODUCT_NONE)
    error = kw_rt_product.preference_set(preference, numbers->reductions, &reductions, sizeof reductions);
  for (int i = 0; i < 4 && !error && numbers->alignment_a != KW_RT_PRODUCT_NONE; ++i) {
    const uint32_t alignment = operands[i]->ref->alignment < 256 ? operands[i]->ref->alignment : 256;
    error = kw_rt_product.preference_set(preference, numbers->alignment_a + i, &alignment, sizeof alignment);
  }
  return error;
}

/* Finds an algorithm, or is not supported. */
static int choose(prepared *p, void *desc, const matrix *const operands[4]) {
  void *preference = NULL;
  int count = 0, error = kw_rt_product.preference_create(&preference);
  if (error) return error;
  error = prefer(preference, operands);
  if (!error)
    error = kw_rt_product.choose(p->handle, desc, p->layouts[0], p->layouts[1], p->layouts[2], p->layouts[3],
                                 preference, 1, p->algorithm, &count);
  kw_rt_product.preference_destroy(preference);
  return error || count > 0 ? error : numbers->not_supported;
}

static int fill(prepared *p, const kw_call *call) {
  product of;
  void *desc = NULL;
  read_product(call, &of); /* can_implement has seen it */
  const matrix *const operands[4] = {&of.b, &of.a, &of.self, &of.out};
  int error = make_desc(call, &of, &desc);
  for (int i = 0; i < 4 && !error; ++i) error = make_layout(operands[i], &p->layouts[i]);
  if (!error) error = choose(p, desc, operands);
  if (desc) kw_rt_product.desc_destroy(desc);
  return error;
}

kw_status kw_rt_product_prepare(const kw_call *call, void **out_prepared) {
  const kw_rt_device *device = call->device;
  prepared *p = calloc(1, sizeof *p);
  if (!p) return kw_rt_no_memory(device->base.host, "a matrix product");
  kw_status status = kw_rt_library_handle(numbers->library, call, &p->handle);
  if (status == KW_OK) {
    void *before = kw_rt_backend_runtime.enter(device);
    const int error = fill(p, call);
    kw_rt_backend_runtime.leave(before);
    if (error == numbers->not_supported) {
      status = kw_rt_library_refuse(numbers->library, call, "has no algorithm for this product");
    } else if (error) {
      status = kw_rt_library_fail(numbers->library, call, "making a matrix product", error);
    }
  }
  if (status == KW_OK) {
    *out_prepared = p;
  } else {
    discard(p);
  }
  return status;
}

kw_status kw_rt_product_release(void *user, void *state) {
  (void)user;
  discard(state);
  return KW_OK;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static int run(const prepared *p, const kw_call *call) {
  product of;
  void *desc = NULL;
  read_product(call, &of);
  const number alpha = number_of(&of, of.alpha), beta = number_of(&of, of.beta);
  int error = make_desc(call, &of, &desc);
  if (!error)
    error = kw_rt_product.multiply(
        p->handle, desc, &alpha, kw_rt_address(of.b.ref), p->layouts[0], kw_rt_address(of.a.ref), p->layouts[1], &beta,
        kw_rt_address(of.self.ref), p->layouts[2], kw_rt_address(of.out.ref), p->layouts[3], p->algorithm,
        kw_rt_workspace(call), KW_RT_PRODUCT_WORKSPACE, ((kw_gpu_stream *)call->stream)->handle);
  if (desc) kw_rt_product.desc_destroy(desc);
  return error;
}

kw_status kw_rt_product_launch(const kw_call *call) {
  const kw_rt_device *device = call->device;
  void *before = kw_rt_backend_runtime.enter(device);
  const kw_rt_span span = kw_rt_span_begin(call->stream);
  const int error = run(call->prepared, call);
  kw_rt_span_end(&span, KW_ACTIVITY_LAUNCH, call->call_id, error);
  kw_rt_backend_runtime.leave(before);
  if (error) return kw_rt_library_fail(numbers->library, call, "running a matrix product", error);
  atomic_store(&((kw_rt_stream *)call->stream)->last_call, call->call_id);
  return KW_OK;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static kw_status register_kernel(const kw_host_api *host, const char *op, const char *name, uint64_t dtypes,
                                 uint32_t known_args, kw_math_mode needs) {
  const kw_kernel_desc desc = {.math_needs = needs,
                               .flags = numbers->flags,
                               .op = op,
                               .name = name,
                               .dtypes = {{dtypes, 0}},
                               .known_args = known_args,
                               .user = (void *)(uintptr_t)name,
                               .can_implement = kw_rt_product_can_implement,
                               .workspace_size = workspace_size,
                               .prepare = kw_rt_product_prepare,
                               .launch = kw_rt_product_launch,
                               .release = kw_rt_product_release};
  return kw_rt_library_register(host, desc);
}

kw_status kw_rt_products_register(const kw_host_api *host) {
  static const struct {
    const char *op;
    uint64_t dtypes;
    uint32_t known_args;
  } ops[] = {{"mm", KW_DTYPES_FLOAT, 2},
             {"bmm", KW_DTYPES_FLOAT, 2},
             {"addmm", KW_DTYPES_FLOAT, 5},
             {"_int_mm", KW_DTYPE_BIT(KW_I8), 2},
             {"keyway::f8_linear", KW_DTYPES_F8, 6}};
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0] && status == KW_OK; ++i) {
    status = register_kernel(host, ops[i].op, numbers->kernel, ops[i].dtypes, ops[i].known_args, KW_MATH_HIGHEST);
    if (status == KW_OK && ops[i].dtypes & KW_DTYPE_BIT(KW_F32))
      status =
          register_kernel(host, ops[i].op, numbers->tf32_kernel, KW_DTYPE_BIT(KW_F32), ops[i].known_args, KW_MATH_TF32);
  }
  return status;
}
