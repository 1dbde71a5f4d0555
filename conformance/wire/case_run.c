/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of one run of a case, as a message.
 */
#include "wire/case_run.h"

#include "case/element.h"

#include <string.h>

static void write_output(const kw_case_run_output *output, kw_message *message) {
  kw_message_put_u32(message, output->dtype);
  if (output->dtype == KW_DTYPE_NONE) return;
  kw_message_put_u32(message, output->rank);
  for (uint32_t d = 0; d < output->rank; d++) kw_message_put_u64(message, (uint64_t)output->shape[d]);
  kw_message_put_bytes(message, output->data, output->length);
  kw_message_put_u32(message, output->expected_dtype);
  if (output->expected_dtype != KW_DTYPE_NONE) {
    kw_message_put_bytes(message, output->expected, output->expected_length);
    kw_message_put_u32(message, output->magnitude != NULL);
    if (output->magnitude) kw_message_put_bytes(message, output->magnitude, output->expected_length);
  }
}

void kw_case_run_write(const kw_case_run *result, kw_message *message) {
  kw_message_put_string(message, result->id);
  kw_message_put_u32(message, result->run);
  kw_message_put_u64(message, result->launches);
  kw_message_put_u64(message, result->decomposed);
  kw_message_put_u64(message, result->fallbacks);
  kw_message_put_u64(message, result->modules_built);
  kw_message_put_u64(message, result->modules_cached);
  kw_message_put_u64(message, result->build_ns);
  kw_message_put_f64(message, result->seconds);
  kw_message_put_u32(message, result->path_count);
  for (uint32_t i = 0; i < result->path_count; i++) {
    const kw_case_run_path *path = &result->paths[i];
    kw_message_put_string(message, path->kernel);
    kw_message_put_u32(message, path->math_mode);
    kw_message_put_u32(message, (uint32_t)path->status);
    kw_message_put_string(message, path->message);
    kw_message_put_string(message, path->defect);
    kw_message_put_u32(message, path->output_count);
    for (uint32_t o = 0; o < path->output_count; o++) write_output(&path->outputs[o], message);
  }
}

/* True when `length` bytes are what a tensor of this dtype and shape holds. */
static bool fits(const kw_case_run_output *output, kw_dtype dtype, size_t length) {
  size_t numel = 1;
  for (uint32_t d = 0; d < output->rank; d++) {
    if (output->shape[d] < 0 || (numel && (uint64_t)output->shape[d] > (UINT64_C(1) << 40) / numel)) return false;
    numel *= (size_t)output->shape[d];
  }
  return kw_element_size(dtype) > 0 && numel * kw_element_size(dtype) == length;
}

static bool read_output(kw_message *message, kw_case_run_output *out) {
  memset(out, 0, sizeof *out);
  out->dtype = (kw_dtype)kw_message_get_u32(message);
  out->expected_dtype = KW_DTYPE_NONE;
  if (out->dtype == KW_DTYPE_NONE) return !message->bad;
  out->rank = kw_message_get_u32(message);
  if (out->rank > KW_MAX_RANK || out->dtype >= KW_DTYPE_COUNT) return false;
  for (uint32_t d = 0; d < out->rank; d++) out->shape[d] = (int64_t)kw_message_get_u64(message);
  out->data = kw_message_get_bytes(message, &out->length);
  out->expected_dtype = (kw_dtype)kw_message_get_u32(message);
  if (message->bad || !fits(out, out->dtype, out->length)) return false;
  if (out->expected_dtype == KW_DTYPE_NONE) return true;
  if (out->expected_dtype >= KW_DTYPE_COUNT) return false;
  out->expected = kw_message_get_bytes(message, &out->expected_length);
  if (message->bad || !fits(out, out->expected_dtype, out->expected_length)) return false;
  if (kw_message_get_u32(message) == 0) return !message->bad;
  size_t length;
  out->magnitude = kw_message_get_bytes(message, &length);
  return !message->bad && length == out->expected_length;
}

static bool read_path(kw_message *message, kw_case_run_path *out) {
  out->kernel = kw_message_get_string(message);
  out->math_mode = kw_message_get_u32(message);
  out->status = (kw_status)kw_message_get_u32(message);
  out->message = kw_message_get_string(message);
  out->defect = kw_message_get_string(message);
  out->output_count = kw_message_get_u32(message);
  if (message->bad || out->output_count > KW_SUITE_RESULTS || out->math_mode & ~(kw_math_mode)KW_MATH_FAST)
    return false;
  for (uint32_t o = 0; o < out->output_count; o++) {
    if (!read_output(message, &out->outputs[o])) return false;
  }
  return true;
}

bool kw_case_run_read(kw_message *message, kw_case_run *out_result) {
  memset(out_result, 0, sizeof *out_result);
  out_result->id = kw_message_get_string(message);
  out_result->run = kw_message_get_u32(message);
  out_result->launches = kw_message_get_u64(message);
  out_result->decomposed = kw_message_get_u64(message);
  out_result->fallbacks = kw_message_get_u64(message);
  out_result->modules_built = kw_message_get_u64(message);
  out_result->modules_cached = kw_message_get_u64(message);
  out_result->build_ns = kw_message_get_u64(message);
  out_result->seconds = kw_message_get_f64(message);
  out_result->path_count = kw_message_get_u32(message);
  if (message->bad || out_result->path_count > KW_CASE_RUN_PATHS) return false;
  for (uint32_t i = 0; i < out_result->path_count; i++) {
    if (!read_path(message, &out_result->paths[i])) return false;
  }
  return message->at == message->length;
}
