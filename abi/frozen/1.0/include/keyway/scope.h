/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications: scopes, which release what a calculation has made on its way, and keep its first failure.
 *
 *     kw_scope *scope;
 *     kw_scope_begin(kw_stream_default(device), &scope);
 *     kw_tensor *y = kwx_relu(kwx_addmm(bias, x, weight));   (keyway/ops.h)
 *     kw_tensor_read(y, host);
 *     status = kw_scope_end(scope);
 *
 *   - What typed calls (keyway/ops.h) make belongs to the innermost scope of the calling thread, and is released at its
 *     end. Tensors that a call is given stay whose they are.
 *   - The first failure of such a call stays with the scope: calls after it do nothing and return the same status, and
 *     kw_scope_end returns it, with its text. So a calculation is checked once, at its end.
 *   - Without a scope the caller owns what calls make, as with kw_op_call.
 *   - Scopes nest. They are the thread's own: no other thread's calls look at them.
 */
#ifndef KEYWAY_SCOPE_H
#define KEYWAY_SCOPE_H

#include <keyway/keyway.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_scope kw_scope;

/* Opens a scope in the calling thread, within the one that is open there. `stream` is where its typed calls go, and on
 * whose device ops without tensor arguments (full, rand) make theirs; NULL: the outer scope's, and in the outermost the
 * default stream of the arguments' device. In a scope that has failed it begins as failed. KW_ERR_OUT_OF_MEMORY. */
KW_API kw_status kw_scope_begin(kw_stream *stream, kw_scope **out_scope);
/* Ends it, with all scopes that were opened within it and are still open: a function that returns early need not end
 * its own. Releases their tensors. Returns the first failure, and kw_error_message has its text again. NULL is KW_OK.
 * KW_ERR_INVALID_ARGUMENT: no such scope is open in this thread. What is open when a thread ends is ended. */
KW_API kw_status kw_scope_end(kw_scope *scope);
/* The innermost scope of the calling thread, NULL without one; and its stream, NULL where it has none. */
KW_API kw_scope *kw_scope_current(void);
KW_API kw_stream *kw_scope_stream(void);
/* The first failure in the innermost scope so far; KW_OK without a scope. */
KW_API kw_status kw_scope_status(void);

/* What a call of the application's own choosing gave, for the innermost scope: a failure becomes the scope's, if it is
 * its first, and gives NULL; a tensor, of which the caller holds a reference, belongs to the scope from here on.
 * Returns the tensor, NULL where it has none or no memory to keep it. Without a scope: the tensor, and NULL on failure.
 *
 *     kw_tensor *row = NULL;
 *     row = kw_scope_result(kw_tensor_select(x, 0, 3, &row), row);    wrong: row is read before it is made
 *     kw_status status = kw_tensor_select(x, 0, 3, &row);
 *     row = kw_scope_result(status, row); */
KW_API kw_tensor *kw_scope_result(kw_status status, kw_tensor *tensor);
/* Releases a tensor now: the innermost scope's, which forgets it, or else one that the caller holds. NULL is ignored.
 */
KW_API void kw_scope_release(kw_tensor *tensor);

/* A tensor that lives on when its scope ends: the caller holds a reference to it. Returns it, or NULL for NULL. */
static inline kw_tensor *kw_scope_keep(kw_tensor *tensor) {
  if (tensor) kw_tensor_retain(tensor);
  return tensor;
}

/* An op by its name, looked up at the first call; `op` begins as NULL, and is the library's. */
typedef struct kw_op_name {
  const char *name;
  const kw_op *op;
} kw_op_name;
/* kw_op_call as typed calls make it: on `stream` (NULL: the scope's), for the innermost scope. KW_ERR_NOT_FOUND: there
 * is no such op, and the text says which comes near. */
KW_API kw_status kw_op_run(kw_op_name *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                           kw_tensor **outs, uint32_t out_count);

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_SCOPE_H */
