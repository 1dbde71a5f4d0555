/* SPDX-License-Identifier: Apache-2.0
 *
 * A request: one call as the application made it.
 */
#ifndef KEYWAY_CORE_REQUEST_H
#define KEYWAY_CORE_REQUEST_H

#include "base/math_mode.h"
#include "call/value.h"
#include "op/op.h"

/* A call as the caller made it. */
typedef struct kw_request {
  const kw_op *op;
  kw_stream *stream; /* NULL = default */
  kw_device *device;
  const kw_value *args;
  uint32_t arg_count;
  kw_tensor **outs;
  uint32_t out_count;
  const char *kernel; /* only this kernel; NULL = the usual choice */
  kw_math math;
  bool only_asked; /* whether it can be made: nothing is prepared for it */
} kw_request;

/* Finds the device of a request from its stream, arguments and outs, and checks that all agree. */
kw_status kw_request_resolve(kw_request *request);

/* "cat([f32[2], f32[2]]) on npu:0" into text; returns text. */
char *kw_request_describe(const kw_request *request, char *text, size_t size);

#endif /* KEYWAY_CORE_REQUEST_H */
