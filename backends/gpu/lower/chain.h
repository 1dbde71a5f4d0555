/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains: element-wise launches one after another as one. Its kernel, whose text is made here, reads each tensor once,
 * takes every element through all of them and writes what is left at the end; in between a value is rounded as if it
 * had been stored, so that the bits are those of the launches one by one.
 */
#ifndef KEYWAY_GPU_CHAIN_H
#define KEYWAY_GPU_CHAIN_H

#include "lower/place.h"
#include "lower/plan.h"

#define KW_CHAIN_LINKS 32

typedef struct kw_chain_text {
  uint32_t size; /* bytes, without the NUL */
  char bytes[6000];
} kw_chain_text;

/* A tensor of a chain. */
typedef struct kw_chain_tensor {
  kw_mem mem;
  kw_gpu_place place;
  int64_t offset;                /* bytes */
  int64_t stride[KW_CHAIN_RANK]; /* elements */
  int variable;                  /* that has its element; -1: none yet */
  bool written;
} kw_chain_tensor;

/* One that is all zeros is empty. */
typedef struct kw_gpu_chain {
  uint32_t length; /* launches */
  kw_dtype dtype;
  int64_t numel;
  bool streams; /* results are written past the caches */
  uint32_t rank;
  int64_t shape[KW_CHAIN_RANK];
  uint32_t tensor_count;
  kw_chain_tensor tensors[KW_CHAIN_OPERANDS];
  uint32_t value_count, value_size;
  uint8_t values[KW_GPU_VALUE_LIMIT][8];
  const kw_gpu_kernel *special; /* whose one op the chain has, where a program has one */
  int32_t special_opcode;
  uint32_t variable_count;
  kw_gpu_module module; /* with the sources that the text needs */
  kw_chain_text text;   /* what is computed, statement by statement */
} kw_gpu_chain;

/* Adds the step, launched as `launch` says on a stream of `device`, if it may be part of the chain: false, and the
 * chain is as before. */
bool kw_gpu_chain_add(kw_gpu_chain *chain, kw_gpu_device *device, const kw_gpu_step *step, const kw_gpu_launch *launch);
/* A launch of the chain's kernel, which is compiled if it is not yet, and what it points to. Fails where the runtime
 * has no compiler. */
typedef struct kw_gpu_chain_launch {
  kw_gpu_launch launch;
  kw_gpu_arg args[KW_CHAIN_OPERANDS + 1 + KW_GPU_VALUE_LIMIT];
  kw_chain block;
} kw_gpu_chain_launch;
kw_status kw_gpu_chain_make(const kw_gpu_chain *chain, kw_gpu_device *device, kw_gpu_chain_launch *out);

#endif /* KEYWAY_GPU_CHAIN_H */
