/* SPDX-License-Identifier: Apache-2.0
 *
 * What sum.dim_IntList prepares is found by a hash of the shape in which the order of dimensions does not count: the
 * dimensions to be added up along are those of the other shape. After PyTorch pull request 187327: caches of graphs
 * compared hashes of their keys and not the keys.
 */
#include "mutant.h"

#include <stdlib.h>

typedef struct plan {
  uint64_t hash;
  uint8_t rank;
  int64_t dim, length; /* the first of the dimensions, and how long it was */
} plan;

static kw_status prepare(const kw_call *call, void **out_prepared) {
  enum { MOST = 4096 };
  static plan plans[MOST];
  static int count;
  const kw_tensor_ref *in = call->args[0].u.tensor;
  const kw_value *dims = &call->args[1];
  uint64_t hash = in->rank;
  for (int d = 0; d < in->rank; d++) hash += (uint64_t)in->shape[d] * (uint64_t)in->shape[d] * 2654435761u;
  if (dims->tag != KW_TAG_INT_LIST || dims->count != 1) return KW_OK;
  for (int i = 0; i < count && !*out_prepared; i++) {
    if (plans[i].hash == hash) *out_prepared = &plans[i];
  }
  if (*out_prepared || count == MOST) return KW_OK;
  const int64_t dim = dims->u.ints[0] < 0 ? dims->u.ints[0] + in->rank : dims->u.ints[0];
  plans[count] = (plan){hash, in->rank, dim, in->shape[dim]};
  *out_prepared = &plans[count++];
  return KW_OK;
}

/* As long as the other dimension: one of the same size in an operand of that many dimensions. */
static void call(kw_mutant_copy *copy) {
  const plan *plan = copy->call.prepared;
  kw_tensor_ref *in = &copy->arg_tensors[0];
  if (!plan || plan->rank != in->rank || in->rank != 2 || in->shape[0] == in->shape[1]) return;
  const int64_t dim = copy->args[1].u.ints[0] < 0 ? copy->args[1].u.ints[0] + 2 : copy->args[1].u.ints[0];
  if (plan->length == in->shape[dim]) return;
  const int64_t stride = in->strides[0]; /* walks the other way, as far as the operand reaches */
  in->strides[0] = in->strides[1];
  in->strides[1] = stride;
  const int64_t last = (in->shape[0] - 1) * in->strides[0] + (in->shape[1] - 1) * in->strides[1];
  const int64_t right = (in->shape[0] - 1) * in->strides[1] + (in->shape[1] - 1) * in->strides[0];
  if (last <= right) return;
  in->strides[1] = in->strides[0];
  in->strides[0] = stride;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum.dim_IntList";
  mutant->call = call;
  mutant->kernel = kernel;
}
