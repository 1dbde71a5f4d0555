/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs, calls and outputs of a run.
 */
#include "run.h"

#include <keyway/interop.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"

run *run_make(void) {
  run *made = malloc(sizeof *made);
  if (made) memset(made, 0, offsetof(run, why));
  return made;
}

bool run_refuse(run *run, const char *format, ...) {
  va_list arguments;
  if (run->failed) return false;
  run->failed = true;
  run->status = KW_ERR_UNSUPPORTED;
  va_start(arguments, format);
  vsnprintf(run->why, sizeof run->why, format, arguments);
  va_end(arguments);
  return false;
}

bool run_fail(run *run, kw_status status, const char *what) {
  if (run->failed) return false;
  run->failed = true;
  run->status = status;
  snprintf(run->why, sizeof run->why, "%s: %s", what, kw_error_message());
  return false;
}

/* ONNX Runtime refused something. */
static bool fail_ort(run *run, OrtStatus *status) {
  if (!run->failed) {
    run->failed = true;
    run->status = KW_ERR_INTERNAL;
    snprintf(run->why, sizeof run->why, "%s", kw_ort->GetErrorMessage(status));
  }
  kw_ort->ReleaseStatus(status);
  return false;
}

bool run_asks(const run *run) {
  return run->context == NULL;
}

void run_end(run *run) {
  for (unsigned i = 0; i < run->value_count; ++i) kw_tensor_release(run->values[i].tensor);
  for (unsigned i = 0; i < run->host_output_count; ++i) kw_tensor_release(run->host_outputs[i].tensor);
  run->value_count = run->host_output_count = 0;
}

void run_forget(run *run, unsigned mark, const value **first, const value **second) {
  const value **kept[] = {first, second};
  value moved[2];
  unsigned count = 0;
  if (run->failed) return;
  for (unsigned i = 0; i < 2; ++i) {
    if (!*kept[i] || *kept[i] < &run->values[mark]) continue;
    moved[count] = **kept[i];
    if (moved[count].tensor) kw_tensor_retain(moved[count].tensor);
    *kept[i] = &run->values[mark + count++];
  }
  for (unsigned i = mark; i < run->value_count; ++i) kw_tensor_release(run->values[i].tensor);
  memcpy(&run->values[mark], moved, count * sizeof *moved);
  run->value_count = mark + count;
}

static value *new_value(run *run) {
  value *made = run->value_count < RUN_MAX_VALUES ? &run->values[run->value_count] : NULL;
  if (!made) {
    run_refuse(run, "its mapping needs more than %d values", RUN_MAX_VALUES);
    return NULL;
  }
  memset(made, 0, sizeof *made);
  ++run->value_count;
  return made;
}

/* Takes the reference. */
static value *keep(run *run, kw_tensor *tensor) {
  value *made = new_value(run);
  if (!made) {
    kw_tensor_release(tensor);
    return NULL;
  }
  made->tensor = tensor;
  made->ref = *kw_tensor_describe(tensor);
  return made;
}

/* A tensor in place of an output that is bound in host memory; the same one again. */
static kw_status stand_in_for_output(run *run, const kw_tensor_ref *meta, void *address, kw_tensor **out_tensor) {
  kw_status status;
  for (unsigned i = 0; i < run->host_output_count; ++i)
    if (run->host_outputs[i].host == address) {
      kw_tensor_retain(*out_tensor = run->host_outputs[i].tensor);
      return KW_OK;
    }
  if (run->host_output_count == RUN_MAX_INPUTS)
    return run_refuse(run, "more than %d outputs in host memory", RUN_MAX_INPUTS), KW_ERR_UNSUPPORTED;
  status = kw_tensor_create_on(run->stream, meta->dtype, meta->rank, meta->shape, out_tensor);
  if (status != KW_OK) return status;
  kw_tensor_retain(*out_tensor);
  run->host_outputs[run->host_output_count].tensor = *out_tensor;
  run->host_outputs[run->host_output_count++].host = address;
  return KW_OK;
}

static kw_status stand_in_for_input(run *run, const kw_tensor_ref *meta, const void *address, kw_tensor **out_tensor) {
  kw_status status = kw_tensor_create_on(run->stream, meta->dtype, meta->rank, meta->shape, out_tensor);
  if (status == KW_OK) status = kw_tensor_write_async(*out_tensor, address, run->stream);
  return status == KW_OK ? kw_stream_synchronize(run->stream) : status;
}

bool run_write_back(run *run) {
  kw_status status = KW_OK;
  for (unsigned i = 0; i < run->host_output_count && status == KW_OK; ++i)
    status = kw_tensor_read_async(run->host_outputs[i].tensor, run->host_outputs[i].host, run->stream);
  if (run->host_output_count && status == KW_OK) status = kw_stream_synchronize(run->stream);
  return status == KW_OK || run_fail(run, status, "an output in host memory");
}

/* A tensor in place of a value that lies in host memory, or, without elements, anywhere. */
static kw_status stand_in(run *run, const kw_tensor_ref *meta, void *address, bool is_output, kw_tensor **out_tensor) {
  OrtStatus *refused;
  for (unsigned d = 0; d < meta->rank; ++d)
    if (meta->shape[d] == 0) return kw_tensor_create_on(run->stream, meta->dtype, meta->rank, meta->shape, out_tensor);
  if (!address) {
    run_refuse(run, "no memory for an input or output: %s", kw_error_message());
    return KW_ERR_OUT_OF_MEMORY;
  }
  refused = capture_copy();
  if (refused) {
    fail_ort(run, refused);
    return KW_ERR_BUSY;
  }
  return is_output ? stand_in_for_output(run, meta, address, out_tensor)
                   : stand_in_for_input(run, meta, address, out_tensor);
}

/* A copy of an input that lies on another device: between devices that are of one type to ONNX Runtime it makes none.
 */
static kw_status bring(run *run, const kw_tensor_ref *meta, const void *address, kw_tensor **out_tensor) {
  kw_stream *from_stream = NULL;
  kw_tensor *from = NULL;
  kw_status status = kw_ort_stream_behind(run->handle, kw_address_device(address), &from_stream);
  if (status == KW_OK) status = kw_tensor_at(address, meta->dtype, meta->rank, meta->shape, meta->strides, &from);
  if (status == KW_OK) status = kw_tensor_create_on(run->stream, meta->dtype, meta->rank, meta->shape, out_tensor);
  if (status == KW_OK) status = kw_tensor_copy_async(*out_tensor, run->stream, from, from_stream);
  kw_tensor_release(from);
  return status;
}

/* The tensor of a value of ONNX Runtime's. */
static value *wrap(run *run, const OrtValue *from, bool is_output) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  int64_t shape[KW_MAX_RANK];
  kw_tensor_ref meta;
  size_t rank = 0;
  void *address = NULL;
  kw_tensor *tensor = NULL;
  value *wrapped;
  kw_status made;
  OrtStatus *status = kw_ort->GetTensorTypeAndShape(from, &info);
  if (!status) status = kw_ort->GetTensorElementType(info, &type);
  if (!status) status = kw_ort->GetDimensionsCount(info, &rank);
  if (!status && rank <= KW_MAX_RANK) status = kw_ort->GetDimensions(info, shape, rank);
  if (!status) status = kw_ort->GetTensorMutableData((OrtValue *)(uintptr_t)from, &address);
  if (info) kw_ort->ReleaseTensorTypeAndShapeInfo(info);
  if (status) {
    fail_ort(run, status);
    return NULL;
  }
  if (rank > KW_MAX_RANK) {
    run_refuse(run, "rank %zu", rank);
    return NULL;
  }
  meta = kw_meta(node_dtype_of(type), (uint32_t)rank, shape);
  const kw_device *lies_on = kw_address_device(address);
  const bool on_device = lies_on == run->device;
  if (lies_on && !on_device && !is_output)
    made = bring(run, &meta, address, &tensor);
  else if (lies_on)
    made = kw_tensor_at(address, meta.dtype, meta.rank, meta.shape, meta.strides, &tensor);
  else
    made = stand_in(run, &meta, address, is_output, &tensor);
  if (made != KW_OK) {
    kw_tensor_release(tensor);
    return run_fail(run, made, "an input or output"), NULL;
  }
  wrapped = keep(run, tensor);
  if (wrapped && on_device) wrapped->address = address;
  return wrapped;
}

static const OrtValue *input_value(run *run, unsigned index) {
  const OrtValue *found = NULL;
  OrtStatus *status;
  if (index >= run->input_count) return NULL;
  if (run_asks(run)) return run->constants[index];
  status = kw_ort->KernelContext_GetInput(run->context, index, &found);
  if (status) fail_ort(run, status);
  return found;
}

kw_dtype run_widened(kw_dtype dtype) {
  return dtype == KW_U16 ? KW_I32 : dtype == KW_U32 || dtype == KW_U64 ? KW_I64 : dtype;
}

static value *widen(run *run, value *of) {
  const kw_dtype dtype = of ? of->ref.dtype : KW_F32, wide = run_widened(dtype);
  if (dtype == wide) return of;
  if (dtype == KW_U64 && !run->bits64) return run_refuse(run, "u64, of which Keyway knows the bits alone"), NULL;
  run->widens = true;
  of = run_cast(run, run_bits(run, of), wide);
  if (dtype == KW_U64) return of;
  return CALL(run, "bitwise_and.Scalar", arg(of), kw_arg_scalar_i64(dtype == KW_U16 ? 0xffff : 0xffffffff));
}

value *run_raw_input(run *run, unsigned index) {
  const OrtValue *found;
  if (index >= run->input_count) return NULL;
  if (run->inputs[index] || run_asks(run)) return run->inputs[index];
  found = input_value(run, index);
  if (found) run->inputs[index] = wrap(run, found, false);
  return run->inputs[index];
}

value *run_input(run *run, unsigned index) {
  value *raw = run_raw_input(run, index);
  if (raw) run->inputs[index] = raw = widen(run, raw);
  return raw;
}

static int64_t int_at(const void *data, ONNXTensorElementDataType type, size_t i) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return ((const int64_t *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return ((const int32_t *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      return ((const int16_t *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return ((const int8_t *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return (int64_t)((const uint64_t *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return ((const uint8_t *)data)[i];
    default:
      return 0;
  }
}

/* IEEE's binary16. */
static double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

static double brain(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float number;
  memcpy(&number, &wide, sizeof number);
  return (double)number;
}

static double float_at(const void *data, ONNXTensorElementDataType type, size_t i) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return half(((const uint16_t *)data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return brain(((const uint16_t *)data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return (double)((const float *)data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return ((const double *)data)[i];
    default:
      return (double)int_at(data, type, i);
  }
}

/* ONNX Runtime leaves some inputs on the device that were asked for in host memory: in subgraphs. */
static const void *fetch(run *run, const void *address, size_t bytes) {
  const int64_t shape[] = {(int64_t)bytes}, strides[] = {1};
  kw_stream *stream = NULL;
  kw_tensor *tensor = NULL;
  kw_status status;
  if (bytes > sizeof run->host) return run_refuse(run, "%zu bytes of numbers on the device", bytes), NULL;
  status = kw_ort_stream_behind(run->handle, kw_address_device(address), &stream);
  if (status == KW_OK) status = kw_tensor_at(address, KW_U8, 1, shape, strides, &tensor);
  if (status == KW_OK) status = kw_tensor_read_async(tensor, run->host, stream);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  kw_tensor_release(tensor);
  return status == KW_OK ? run->host : (run_fail(run, status, "numbers of an input"), NULL);
}

/* The elements of a value in host memory. */
static const void *host_data(run *run, const OrtValue *from, ONNXTensorElementDataType *out_type, size_t *out_count) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  void *data = NULL;
  OrtStatus *status = kw_ort->GetTensorTypeAndShape(from, &info);
  *out_count = 0;
  if (!status) status = kw_ort->GetTensorElementType(info, out_type);
  if (!status) status = kw_ort->GetTensorShapeElementCount(info, out_count);
  if (!status) status = kw_ort->GetTensorMutableData((OrtValue *)(uintptr_t)from, &data);
  if (info) kw_ort->ReleaseTensorTypeAndShapeInfo(info);
  if (status) {
    fail_ort(run, status);
    return NULL;
  }
  return kw_address_device(data) ? fetch(run, data, *out_count * kw_dtype_size(node_dtype_of(*out_type))) : data;
}

bool run_has_ints(run *run, unsigned index) {
  if (index >= run->input_count) return false;
  if (run_asks(run)) return run->inputs[index] || run->constants[index];
  return input_value(run, index) != NULL;
}

bool run_ints(run *run, unsigned index, ints *out_ints) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const OrtValue *from = input_value(run, index);
  size_t count = 0;
  const void *data = from ? host_data(run, from, &type, &count) : NULL;
  out_ints->count = 0;
  if (!from || run->failed) return false;
  if (count > RUN_MAX_INTS) return run_refuse(run, "input %u has more than %d numbers", index, RUN_MAX_INTS);
  for (size_t i = 0; i < count; ++i) out_ints->at[i] = int_at(data, type, i);
  out_ints->count = (unsigned)count;
  return true;
}

void run_ints_or(run *run, unsigned index, ints *out_ints, const int64_t *guess, unsigned count) {
  if (run_ints(run, index, out_ints) || run->failed) return;
  if (!run_asks(run)) {
    run_refuse(run, "it has no input %u", index);
    return;
  }
  run->guessed = true;
  for (unsigned i = 0; i < count; ++i) out_ints->at[i] = guess[i];
  out_ints->count = count;
}

bool run_host_number(run *run, const OrtValue *from, double *out_number, kw_dtype *out_dtype) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t count = 0;
  const void *data = host_data(run, from, &type, &count);
  if (!data || count == 0) return false;
  *out_number = float_at(data, type, 0);
  *out_dtype = node_dtype_of(type);
  return true;
}

bool run_host_dtype(run *run, unsigned index, kw_dtype *out_dtype) {
  double number;
  const OrtValue *from = input_value(run, index);
  return from && run_host_number(run, from, &number, out_dtype);
}

int64_t run_numel(const value *of) {
  return run_numel_from(of, 0);
}

int64_t run_numel_from(const value *of, unsigned dim) {
  int64_t count = 1;
  for (unsigned d = dim; d < of->ref.rank; ++d) count *= of->ref.shape[d];
  return count;
}

unsigned run_numbers(run *run, unsigned index, double *out_numbers, unsigned most) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const OrtValue *from = input_value(run, index);
  size_t count = 0;
  const void *data = from ? host_data(run, from, &type, &count) : NULL;
  for (size_t i = 0; data && i < count && i < most; ++i) out_numbers[i] = float_at(data, type, i);
  return data ? (unsigned)count : 0;
}

bool run_number(run *run, unsigned index, double *out_number) {
  return run_numbers(run, index, out_number, 1) > 0;
}

bool run_wants(const run *run, unsigned output) {
  return output < run->node->output_count;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

kw_value arg(const value *value) {
  if (!value) return kw_arg_none();
  return value->tensor ? kw_arg_tensor(value->tensor) : kw_arg_meta(&value->ref);
}

kw_value run_list(const run *run, value *const *values, unsigned count, const kw_tensor_ref **refs) {
  kw_value list = kw_arg_meta_list(refs, count);
  for (unsigned i = 0; i < count; ++i)
    refs[i] = !values[i] ? NULL : values[i]->tensor ? kw_tensor_describe(values[i]->tensor) : &values[i]->ref;
  if (!run_asks(run)) list.tag = KW_TAG_TENSOR_LIST;
  return list;
}

static bool ask(run *run, const kw_op *op, const char *name, const kw_value *args, unsigned count, value **results,
                unsigned result_count) {
  kw_tensor_ref *refs[RUN_MAX_RESULTS];
  kw_status status;
  for (unsigned i = 0; i < result_count; ++i) {
    results[i] = new_value(run);
    if (!results[i]) return false;
    results[i]->ref.struct_size = sizeof results[i]->ref;
    refs[i] = &results[i]->ref;
  }
  status = kw_op_infer(op, args, count, refs, result_count);
  if (status == KW_OK) status = kw_op_can_run(op, run->device, args, count, NULL);
  return status == KW_OK || run_fail(run, status, name);
}

static bool infer(run *run, const kw_op *op, const char *name, const kw_value *args, unsigned count,
                  unsigned result_count, kw_tensor_ref *refs) {
  kw_tensor_ref *pointers[RUN_MAX_RESULTS];
  kw_status status;
  for (unsigned i = 0; i < result_count; ++i) {
    refs[i].struct_size = sizeof refs[i];
    pointers[i] = &refs[i];
  }
  status = kw_op_infer(op, args, count, pointers, result_count);
  return status == KW_OK || run_fail(run, status, name);
}

static bool call(run *run, const kw_op *op, const char *name, const kw_value *args, unsigned count, value **results,
                 unsigned result_count, const int *to) {
  kw_tensor_ref refs[RUN_MAX_RESULTS];
  kw_tensor *outs[RUN_MAX_RESULTS] = {NULL};
  kw_status status;
  bool given = false;
  for (unsigned i = 0; to && !run->widens && i < result_count; ++i) given = given || to[i] >= 0;
  if (given && !infer(run, op, name, args, count, result_count, refs)) return false;
  for (unsigned i = 0; given && i < result_count; ++i) {
    if (to[i] < 0) continue;
    results[i] = run_output(run, (unsigned)to[i], refs[i].dtype, refs[i].rank, refs[i].shape);
    if (results[i]) outs[i] = results[i]->tensor;
    if (run->failed) return false;
  }
  status = kw_op_call(op, run->stream, args, count, outs, result_count);
  if (status != KW_OK) return run_fail(run, status, name);
  for (unsigned i = 0; i < result_count; ++i)
    if (!results[i] && outs[i]) results[i] = keep(run, outs[i]);
  return !run->failed;
}

static bool put_dtype(run *run, unsigned output, kw_dtype dtype) {
  const kw_dtype wanted = run_asks(run) && output < RUN_MAX_RESULTS ? run->output_dtypes[output] : KW_DTYPE_NONE;
  if (wanted == KW_DTYPE_NONE || wanted == dtype || run_widened(wanted) == dtype) return true;
  return run_refuse(run, "output %u would be %s, not %s", output, kw_dtype_name(dtype), kw_dtype_name(wanted));
}

bool run_op(run *run, const char *name, const kw_value *args, unsigned count, value **out_results, const int *to) {
  kw_op_info info = {.struct_size = sizeof info};
  value *results[RUN_MAX_RESULTS] = {NULL};
  const kw_op *op;
  if (run->failed) return false;
  op = kw_op_find(name);
  if (!op || kw_op_get_info(op, &info) != KW_OK) return run_fail(run, KW_ERR_NOT_FOUND, name);
  if (info.result_count > RUN_MAX_RESULTS) return run_refuse(run, "%s has too many results", name);
  if (run_asks(run)) {
    if (!ask(run, op, name, args, count, results, info.result_count)) return false;
    for (unsigned i = 0; to && i < info.result_count; ++i)
      if (to[i] >= 0 && run_wants(run, (unsigned)to[i]) && !put_dtype(run, (unsigned)to[i], results[i]->ref.dtype))
        return false;
  } else if (!call(run, op, name, args, count, results, info.result_count, to)) {
    return false;
  }
  for (unsigned i = 0; out_results && i < info.result_count; ++i) out_results[i] = results[i];
  for (unsigned i = 0; run->widens && to && i < info.result_count; ++i)
    if (to[i] >= 0 && run_wants(run, (unsigned)to[i]) && !run_put(run, (unsigned)to[i], results[i])) return false;
  return true;
}

value *run_call(run *run, const char *op, const kw_value *args, unsigned count) {
  value *results[RUN_MAX_RESULTS] = {NULL};
  return run_op(run, op, args, count, results, NULL) ? results[0] : NULL;
}

value *run_counted(run *run, const char *op, const kw_value *args, unsigned count) {
  kw_tensor *out = NULL;
  kw_status status;
  if (run->failed) return NULL;
  if (run_asks(run)) return run_call(run, op, args, count);
  status = kw_op_call(kw_op_find(op), run->stream, args, count, &out, 1);
  if (status == KW_OK) return keep(run, out);
  run_fail(run, status, op);
  return NULL;
}

bool run_call_to(run *run, unsigned output, const char *op, const kw_value *args, unsigned count) {
  const int to[RUN_MAX_RESULTS] = {(int)output, -1, -1, -1};
  return run_op(run, op, args, count, NULL, to);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

value *run_output(run *run, unsigned output, kw_dtype dtype, unsigned rank, const int64_t *shape) {
  OrtValue *made = NULL;
  OrtStatus *status;
  value *wrapped;
  if (run->failed || !run_wants(run, output)) return NULL;
  if (run_asks(run)) {
    wrapped = new_value(run);
    if (!wrapped || !put_dtype(run, output, dtype)) return NULL;
    if (rank > KW_MAX_RANK) return run_refuse(run, "output %u of rank %u", output, rank), NULL;
    wrapped->ref = kw_meta(
        output < RUN_MAX_RESULTS && run->output_dtypes[output] != KW_DTYPE_NONE ? run->output_dtypes[output] : dtype,
        rank, shape);
    return wrapped;
  }
  status = kw_ort->KernelContext_GetOutput(run->context, output, shape, rank, &made);
  if (status) return fail_ort(run, status), NULL;
  if (!made) return NULL;
  wrapped = wrap(run, made, true);
  if (!wrapped || wrapped->ref.dtype == dtype || run_widened(wrapped->ref.dtype) == dtype) return wrapped;
  return run_refuse(run, "output %u is %s, not %s", output, kw_dtype_name(wrapped->ref.dtype), kw_dtype_name(dtype)),
         NULL;
}

bool run_put_as(run *run, unsigned output, const value *from, unsigned rank, const int64_t *shape) {
  value *to;
  if (run->failed || !from) return false;
  if (!run_wants(run, output)) return true;
  to = run_output(run, output, from->ref.dtype, rank, shape);
  if (!to) return !run->failed;
  if (to->address && to->address == from->address) return true; /* they lie in one place: registry.c */
  to = run_view(run, to, from->ref.rank, from->ref.shape, NULL, 0);
  if (to && to->ref.dtype >= KW_U16) to = run_bits(run, to);
  if (from->ref.dtype >= KW_U16) from = run_bits(run, from);
  return run_copy(run, to, from);
}

bool run_copy(run *run, const value *to, const value *from) {
  if (run->failed || !to || !from) return false;
  if (!run_asks(run) && to->ref.numel == 0) return true;
  return run_op(run, "copy_", (kw_value[]){arg(to), arg(from)}, 2, NULL, NULL);
}

bool run_call_as(run *run, unsigned output, unsigned rank, const int64_t *shape, const char *name, const kw_value *args,
                 unsigned count) {
  const kw_op *op;
  const value *to;
  kw_tensor_ref ref;
  kw_status status;
  if (run->failed) return false;
  if (run_asks(run) || run->widens || !run_wants(run, output))
    return run_put_as(run, output, run_call(run, name, args, count), rank, shape);
  op = kw_op_find(name);
  if (!op) return run_fail(run, KW_ERR_NOT_FOUND, name);
  if (!infer(run, op, name, args, count, 1, &ref)) return false;
  to = run_view(run, run_output(run, output, ref.dtype, rank, shape), ref.rank, ref.shape, NULL, 0);
  if (!to) return !run->failed;
  status = kw_op_call(op, run->stream, args, count, (kw_tensor *[]){to->tensor}, 1);
  return status == KW_OK || run_fail(run, status, name);
}

bool run_put(run *run, unsigned output, const value *from) {
  return from && run_put_as(run, output, from, from->ref.rank, from->ref.shape);
}

bool run_put_ints(run *run, unsigned output, unsigned rank, const int64_t *shape, const int64_t *numbers) {
  OrtValue *made = NULL;
  void *data = NULL;
  size_t bytes = sizeof *numbers;
  OrtStatus *status;
  if (run->failed) return false;
  if (run_asks(run)) return put_dtype(run, output, KW_I64);
  status = kw_ort->KernelContext_GetOutput(run->context, output, shape, rank, &made);
  if (!status) status = kw_ort->GetTensorMutableData(made, &data);
  if (status) return fail_ort(run, status);
  for (unsigned d = 0; d < rank; ++d) bytes *= (size_t)shape[d];
  if (bytes) memcpy(data, numbers, bytes);
  return true;
}
