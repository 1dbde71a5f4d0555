/* SPDX-License-Identifier: Apache-2.0
 *
 * CLBlast's matrix product as a kernel of mm. It has run on PoCL only: right in every case of the suite, but a third as
 * fast as the pack's, and its first launch compiles for more than ten seconds (bench/results). So PoCL is refused, and
 * elsewhere it stands behind the pack's until it has been measured on hardware: KEYWAY_KERNELS=mm=clblast.
 *
 * The other products are the pack's alone. Of addmm, CLBlast adds to what the result holds already: the matrix to add
 * would have to be copied there first, and a launch that fails between the two must not have written anything.
 */
#include "opencl.h"

#include <clblast_c.h>

/* A matrix as BLAS has it: rows of contiguous elements, `ld` apart, or its transpose so. */
typedef struct blas_matrix {
  CLBlastTranspose transpose;
  size_t offset, ld; /* elements */
  cl_mem buffer;
} blas_matrix;

typedef struct blas_call {
  size_t rows, cols, depth;
  blas_matrix a, b, out;
} blas_call;

/* False when BLAS has no words for it. Strides of dimensions of one element may be any number. */
static bool read_matrix(const kw_tensor_ref *ref, blas_matrix *out) {
  const int64_t rows = ref->shape[0], cols = ref->shape[1], row_step = ref->strides[0], col_step = ref->strides[1];
  const size_t element = ref->dtype == KW_F64 ? sizeof(double) : sizeof(float);
  if (rows == 0 || cols == 0 || ref->alignment < element) return false;
  if ((cols == 1 || col_step == 1) && (rows == 1 || row_step >= cols)) {
    out->transpose = CLBlastTransposeNo;
    out->ld = (size_t)(rows == 1 ? cols : row_step);
  } else if ((rows == 1 || row_step == 1) && (cols == 1 || col_step >= rows)) {
    out->transpose = CLBlastTransposeYes;
    out->ld = (size_t)(cols == 1 ? rows : col_step);
  } else {
    return false;
  }
  out->offset = ref->offset / element;
  out->buffer = ref->mem ? ((const ocl_mem *)ref->mem)->buffer : NULL;
  return true;
}

static kw_status read_call(const kw_call *call, blas_call *out) {
  const kw_host_api *host = ((const ocl_device *)call->device)->base.host;
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *result = call->outs[0];
  out->rows = (size_t)result->shape[0];
  out->cols = (size_t)result->shape[1];
  out->depth = (size_t)a->shape[1];
  if (read_matrix(a, &out->a) && read_matrix(b, &out->b) && read_matrix(result, &out->out) &&
      out->out.transpose == CLBlastTransposeNo)
    return KW_OK;
  return kw_gpu_error(host, KW_ERR_NOT_IMPLEMENTED,
                      "CLBlast wants matrices with contiguous rows or columns, and of the result contiguous rows");
}

static kw_status can_implement(const kw_call *call) {
  blas_call blas;
  const ocl_device *device = call->device;
  if (device->quirks & OCL_SLOW_CLBLAST)
    return kw_gpu_error(device->base.host, KW_ERR_NOT_IMPLEMENTED,
                        "with this driver CLBlast is slower than the portable kernel");
  return read_call(call, &blas);
}

static kw_status launch(const kw_call *call) {
  blas_call blas;
  kw_status readable = read_call(call, &blas);
  if (readable != KW_OK) return readable;
  const blas_matrix *a = &blas.a, *b = &blas.b, *out = &blas.out;
  cl_event event = NULL;
  cl_command_queue queue = ocl_stream_begin(call->stream);
#define PRODUCT(T)                                                                                                    \
  CLBlast##T##gemm(CLBlastLayoutRowMajor, a->transpose, b->transpose, blas.rows, blas.cols, blas.depth, 1, a->buffer, \
                   a->offset, a->ld, b->buffer, b->offset, b->ld, 0, out->buffer, out->offset, out->ld, &queue,       \
                   &event)
  CLBlastStatusCode status = call->outs[0]->dtype == KW_F64 ? PRODUCT(D) : PRODUCT(S);
#undef PRODUCT
  ocl_activity_note(call->stream, event, KW_ACTIVITY_LAUNCH, call->call_id);
  return ocl_stream_end(call->stream, (cl_int)status, event, call->call_id, "CLBlast's GEMM");
}

kw_status ocl_clblast_register(const kw_host_api *host, bool has_f64) {
  const kw_kernel_desc desc = {.struct_size = sizeof desc,
                               .flags = KW_KERNEL_DETERMINISTIC,
                               .op = "mm",
                               .name = "clblast",
                               .dtypes = {{KW_DTYPE_BIT(KW_F32) | (has_f64 ? KW_DTYPE_BIT(KW_F64) : 0), 0}},
                               .priority = -1,
                               .known_args = 2,
                               .can_implement = can_implement,
                               .launch = launch};
  return host->register_kernel(host->ctx, &desc);
}

void ocl_clblast_forget(void) {
  CLBlastClearCache();
}
