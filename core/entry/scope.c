/* SPDX-License-Identifier: Apache-2.0
 *
 * Scopes and the typed call. They stand where an application stands: what they call are the public functions, so that
 * layers see a typed call as the kw_op_call that it is, and the end of a scope as releases.
 */
#include "base/array.h"
#include "base/error.h"
#include "base/thread_own.h"

#include <keyway/scope.h>

#include <string.h>

struct kw_scope {
  kw_scope *outer;
  kw_stream *stream; /* NULL: the default stream of a call's arguments */
  kw_status status;  /* the first failure */
  char *text;        /* its; NULL where there was no memory for it */
  kw_tensor **tensors;
  uint32_t count;
};

static __thread kw_scope *innermost __attribute__((tls_model("initial-exec")));
static kw_thread_key key; /* whose destructor ends what a thread leaves open */

/* ---- Scopes ------------------------------------------------------------------------------------------------------ */

static void fail(kw_scope *scope, kw_status status) {
  if (scope->status != KW_OK) return;
  scope->status = status;
  scope->text = strdup(kw_error_message());
}

static void end_innermost(void) {
  kw_scope *scope = innermost;
  innermost = scope->outer;
  while (scope->count > 0) kw_tensor_release(scope->tensors[--scope->count]);
  free(scope->tensors);
  free(scope->text);
  free(scope);
}

static void end_thread(void *unused) {
  (void)unused;
  while (innermost) end_innermost();
}

kw_status kw_scope_begin(kw_stream *stream, kw_scope **out_scope) {
  if (!out_scope) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_scope_begin: argument out_scope is NULL");
  kw_scope *scope = calloc(1, sizeof *scope);
  const bool kept =
      scope && kw_thread_key_obtain(&key, end_thread) && pthread_setspecific(kw_thread_key_of(&key), &innermost) == 0;
  if (!kept) {
    free(scope);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a scope");
  }
  scope->outer = innermost;
  scope->stream = stream || !innermost ? stream : innermost->stream;
  scope->status = innermost ? innermost->status : KW_OK;
  scope->text = innermost && innermost->text ? strdup(innermost->text) : NULL;
  innermost = *out_scope = scope;
  return KW_OK;
}

kw_status kw_scope_end(kw_scope *scope) {
  if (!scope) return KW_OK;
  kw_scope *open = innermost;
  while (open && open != scope) open = open->outer;
  if (!open) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_scope_end: this scope is not open in this thread: it has ended, with one around it perhaps, or "
                   "another thread began it");
  }
  kw_status status = KW_OK;
  char *text = NULL;
  for (bool last = false; !last;) {
    last = innermost == scope;
    if (innermost->status != KW_OK) { /* of several scopes the outer one's came first, or is the reason */
      free(text);
      status = innermost->status;
      text = innermost->text;
      innermost->text = NULL;
    }
    end_innermost();
  }
  if (status != KW_OK) kw_fail(status, "%s", text ? text : kw_status_name(status));
  free(text);
  return status;
}

kw_scope *kw_scope_current(void) {
  return innermost;
}

kw_stream *kw_scope_stream(void) {
  return innermost ? innermost->stream : NULL;
}

kw_status kw_scope_status(void) {
  return innermost ? innermost->status : KW_OK;
}

/* Takes the caller's reference. False, and the tensor is released, when there is no memory. */
static bool add(kw_scope *scope, kw_tensor *tensor) {
  kw_tensor **tensors = kw_array_grow(scope->tensors, scope->count, sizeof *tensors);
  if (!tensors) {
    kw_tensor_release(tensor);
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for the tensors of a scope");
    fail(scope, KW_ERR_OUT_OF_MEMORY);
    return false;
  }
  scope->tensors = tensors;
  scope->tensors[scope->count++] = tensor;
  return true;
}

kw_tensor *kw_scope_result(kw_status status, kw_tensor *tensor) {
  if (status == KW_OK) return !tensor || !innermost || add(innermost, tensor) ? tensor : NULL;
  if (innermost) fail(innermost, status);
  return NULL;
}

void kw_scope_release(kw_tensor *tensor) {
  kw_scope *scope = innermost;
  uint32_t i = scope ? scope->count : 0;
  while (i > 0 && scope->tensors[i - 1] != tensor) --i;
  if (i > 0) {
    memmove(&scope->tensors[i - 1], &scope->tensors[i], (scope->count - i) * sizeof(kw_tensor *));
    --scope->count;
  }
  kw_tensor_release(tensor);
}

/* ---- The typed call ---------------------------------------------------------------------------------------------- */

static kw_status run_in_scope(kw_scope *scope, const kw_op *op, kw_stream *stream, const kw_value *args,
                              uint32_t arg_count, kw_tensor **outs, uint32_t out_count) {
  uint64_t given = 0; /* bit i: outs[i] is the caller's */
  if (scope->status != KW_OK) return scope->status;
  for (uint32_t i = 0; outs && i < out_count && i < 64; ++i) given |= (uint64_t)(outs[i] != NULL) << i;
  kw_status status = kw_op_call(op, stream ? stream : scope->stream, args, arg_count, outs, out_count);
  if (status != KW_OK) {
    fail(scope, status);
    return status;
  }
  for (uint32_t i = 0; outs && i < out_count && i < 64; ++i) {
    if ((given >> i & 1) == 0 && outs[i] && !add(scope, outs[i])) outs[i] = NULL;
  }
  return scope->status;
}

/* The first call of an op, and calls in scopes. */
static __attribute__((noinline)) kw_status run_generally(kw_op_name *op, kw_stream *stream, const kw_value *args,
                                                         uint32_t arg_count, kw_tensor **outs, uint32_t out_count) {
  const kw_op *found = __atomic_load_n(&op->op, __ATOMIC_RELAXED);
  if (!found && !(found = kw_op_find(op->name))) {
    if (innermost) fail(innermost, KW_ERR_NOT_FOUND);
    return KW_ERR_NOT_FOUND;
  }
  __atomic_store_n(&op->op, found, __ATOMIC_RELAXED); /* complete since before any name led to it */
  if (innermost) return run_in_scope(innermost, found, stream, args, arg_count, outs, out_count);
  return kw_op_call(found, stream, args, arg_count, outs, out_count);
}

kw_status kw_op_run(kw_op_name *op, kw_stream *stream, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                    uint32_t out_count) {
  const kw_op *found = __atomic_load_n(&op->op, __ATOMIC_RELAXED);
  if (__builtin_expect(!found || innermost, 0)) return run_generally(op, stream, args, arg_count, outs, out_count);
  return kw_op_call(found, stream, args, arg_count, outs, out_count);
}
