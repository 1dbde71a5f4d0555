/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device a request is for, and what it looks like in a message.
 */
#include "call/request.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/generator.h"

#include <stdio.h>

static size_t append(char *text, size_t size, size_t at, const char *piece) {
  int written = snprintf(text + at, at < size ? size - at : 0, "%s", piece);
  at += written > 0 ? (size_t)written : 0;
  return at < size ? at : size - 1;
}

static size_t append_tensor(char *text, size_t size, size_t at, const kw_tensor_ref *tensor) {
  char described[160];
  return append(text, size, at, tensor ? kw_ref_describe(tensor, described, sizeof described) : "none");
}

char *kw_request_describe(const kw_request *request, char *text, size_t size) {
  size_t at = append(text, size, 0, request->op ? request->op->schema.name : "(no op)");
  at = append(text, size, at, "(");
  bool first = true;
  for (uint32_t i = 0; request->args && i < request->arg_count; ++i) {
    const kw_value *arg = &request->args[i];
    bool list = arg->tag == KW_TAG_TENSOR_LIST;
    if (!list && (arg->tag != KW_TAG_TENSOR || !arg->u.tensor)) continue;
    if (!first) at = append(text, size, at, ", ");
    first = false;
    if (!list) at = append_tensor(text, size, at, arg->u.tensor);
    if (list) at = append(text, size, at, "[");
    for (uint32_t k = 0; list && arg->u.tensors && k < arg->count; ++k) {
      if (k > 0) at = append(text, size, at, ", ");
      at = append_tensor(text, size, at, arg->u.tensors[k]);
    }
    if (list) at = append(text, size, at, "]");
  }
  at = append(text, size, at, ")");
  if (request->device) {
    at = append(text, size, at, " on ");
    append(text, size, at, request->device->name);
  }
  return text;
}

/* The name of an argument, for messages. */
static const char *arg_name(const kw_op *op, uint32_t index) {
  return index < op->schema.arg_count ? op->schema.args[index].name : "(one too many)";
}

static kw_status refuse_tensor(const char *op, const kw_tensor *tensor, const char *name) {
  if (!tensor) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%s' is NULL; pass a tensor, as kw_tensor_create gives", op, name);
  }
  return kw_fail(
      KW_ERR_INVALID_ARGUMENT,
      "%s: '%s' is not a live tensor; pass one that kw_tensor_create or a call gave and that is not released", op,
      name);
}

static kw_status resolve_tensor(kw_request *request, const kw_tensor *tensor, const char *name) {
  const char *op = request->op->schema.name;
  if (!tensor || tensor->magic != KW_TENSOR_MAGIC) return refuse_tensor(op, tensor, name);
  if (!request->device) request->device = tensor->device;
  if (request->device != tensor->device) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: '%s' is on %s, but the call runs on %s; move it there first (kw_tensor_to)", op, name,
                   tensor->device->name, request->device->name);
  }
  return KW_OK;
}

static kw_status resolve_generator(kw_request *request, const kw_generator *generator, const char *name) {
  if (!request->device) request->device = generator->device;
  if (request->device == generator->device) return KW_OK;
  return kw_fail(
      KW_ERR_INVALID_ARGUMENT,
      "%s: '%s' is a generator of %s, but the call runs on %s; make one there (kw_generator_create), or give "
      "none",
      request->op->schema.name, name, generator->device->name, request->device->name);
}

static const char *const result_names[KW_MAX_RESULTS] = {"result 0", "result 1", "result 2", "result 3",
                                                         "result 4", "result 5", "result 6", "result 7"};

kw_status kw_request_resolve(kw_request *request) {
  const kw_op *op = request->op;
  kw_status forked = kw_fork_check();
  if (forked != KW_OK) return forked;
  if (!op) return kw_fail(KW_ERR_INVALID_ARGUMENT, "no op was given; kw_op_find returns NULL for an unknown name");
  if ((request->arg_count && !request->args) || (request->out_count && !request->outs)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: the array of arguments or results is NULL", op->schema.name);
  }
  request->device = request->stream ? request->stream->device : NULL;
  for (uint32_t i = 0; i < request->arg_count; ++i) {
    const kw_value *value = &request->args[i];
    kw_status status = KW_OK;
    if (value->tag == KW_TAG_TENSOR) {
      status = resolve_tensor(request, kw_value_as_tensor(value), arg_name(op, i));
    } else if (value->tag == KW_TAG_GENERATOR && value->u.generator) {
      status = resolve_generator(request, value->u.generator, arg_name(op, i));
    } else if ((value->tag == KW_TAG_TENSOR_LIST || value->tag == KW_TAG_INT_LIST) && value->count && !value->u.ints) {
      status = kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: '%s' is a list of %u entries at NULL", op->schema.name,
                       arg_name(op, i), value->count);
    } else if (value->tag == KW_TAG_TENSOR_LIST) {
      for (uint32_t k = 0; status == KW_OK && k < value->count; ++k) {
        if (!value->u.tensors[k]) continue;
        status = resolve_tensor(request, kw_value_entry(value, k), arg_name(op, i));
      }
    }
    if (status != KW_OK) return status;
  }
  for (uint32_t i = 0; i < request->out_count; ++i) {
    if (!request->outs[i] || i >= op->schema.result_count || op->schema.results[i].alias_of >= 0) continue;
    kw_status status = resolve_tensor(request, request->outs[i], result_names[i]);
    if (status != KW_OK) return status;
  }
  if (!request->device) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: nothing says which device to use; give a tensor, a generator or a stream", op->schema.name);
  }
  return kw_device_check(request->device);
}
