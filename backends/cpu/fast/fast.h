/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast kernels: vector code beside the reference, for the calls that are worth it. A call that a kernel does not
 * serve goes to the reference kernel of its op.
 *
 * A kernel settles once for a signature what the signature settles (its plan), and then runs with that any number of
 * times. The bits of a result do not depend on how many threads there are.
 */
#ifndef KEYWAY_CPU_FAST_H
#define KEYWAY_CPU_FAST_H

#include "lanes.h"
#include "room.h"

#include <keyway/plugin.h>

#define KW_FAST_PLAN_LIMIT 8192 /* bytes: the largest plan_size of a kernel without `serves` */

typedef struct kw_fast_kernel {
  const char *op;
  uint64_t dtypes;    /* key dtypes, KW_DTYPE_BIT */
  uint64_t flags;     /* KW_KERNEL_*, beside those that all have */
  size_t plan_size;   /* 0: make_plan only says whether it serves the call */
  const void *family; /* what tells kernels apart that share their functions */

  /* An element of the result comes of those at its place in the tensors, which broadcast to the result's shape: a part
   * of a call is a call, whose bits are those of the whole one. */
  bool is_pointwise;

  /* Whether make_plan serves the call, as far as can be told without the libraries that it uses. (optional: asks
   * make_plan) */
  kw_status (*serves)(const kw_call *call);

  /* Fills `plan`, plan_size zeroed bytes; KW_ERR_NOT_IMPLEMENTED leaves the call to the reference. As in plugin.h a
   * pure function of the signature: no memory is there yet, and Scalars may have other values when it runs. */
  kw_status (*make_plan)(const struct kw_fast_kernel *kernel, const kw_call *call, void *plan);

  /* Computes. Every mem is a host pointer. */
  kw_status (*run)(const kw_host_api *host, const kw_call *call, const void *plan);

  /* Frees what a plan owns; a plan that failed owns nothing. (optional) */
  void (*drop)(void *plan);

  /* As in plugin.h: arguments of which there may be packed forms, how large one is, and making it at `to`, which is
   * aligned to 64 bytes. (optional) */
  uint32_t packable;
  kw_status (*packed_size)(const void *plan, const kw_call *call, uint32_t arg, uint64_t *out_size,
                           uint64_t *out_format);
  kw_status (*pack)(const kw_host_api *host, const void *plan, const kw_call *call, uint32_t arg, void *to);
} kw_fast_kernel;

/* An argument's packed form, in host memory; NULL: it is there as it lies only. */
static inline const void *kw_fast_packed(const kw_call *call, uint32_t arg) {
  const kw_packed *const *packed = call->extra && KW_HAS_FIELD(call->extra, packed) ? call->extra->packed : NULL;
  return packed && packed[arg] ? (const char *)packed[arg]->mem + packed[arg]->offset : NULL;
}

typedef struct kw_fast_family {
  const kw_fast_kernel *kernels;
  uint32_t count;
} kw_fast_family;

/* X(name): a family, which kw_fast_name() returns. */
#define KW_FAST_FAMILIES(X) \
  X(pointwise)              \
  X(reductions)             \
  X(extremes)               \
  X(scans)                  \
  X(variances)              \
  X(softmax)                \
  X(norms)                  \
  X(norm_backwards)         \
  X(losses)                 \
  X(class_losses)           \
  X(optimizers)             \
  X(product)                \
  X(int_product)            \
  X(distance)               \
  X(linear)                 \
  X(sparse_linear)          \
  X(quantise)               \
  X(pack)                   \
  X(convolution)            \
  X(pools)                  \
  X(pool_backwards)         \
  X(attention)              \
  X(attention_backwards)    \
  X(copy)                   \
  X(range)                  \
  X(place)                  \
  X(mapped)                 \
  X(mapped_backwards)       \
  X(resample)               \
  X(grid)                   \
  X(columns)                \
  X(fft)                    \
  X(index)                  \
  X(sum)                    \
  X(bag)                    \
  X(random)                 \
  X(sample)                 \
  X(sort)                   \
  X(search)                 \
  X(gated)                  \
  X(rope)                   \
  X(boxes)                  \
  X(masks)

#define KW_FAST_DECLARE(name) kw_fast_family kw_fast_##name(void);
KW_FAST_FAMILIES(KW_FAST_DECLARE)
#undef KW_FAST_DECLARE

/* All families, behind them one without kernels. */
const kw_fast_family *kw_fast_families(void);

/* The slots of a kernel whose `user` is its kw_fast_kernel. */
kw_status kw_fast_can_implement(const kw_call *call);
kw_status kw_fast_prepare(const kw_call *call, void **out_prepared);
kw_status kw_fast_release(void *user, void *prepared);
kw_status kw_fast_packed_size(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format);

#endif /* KEYWAY_CPU_FAST_H */
