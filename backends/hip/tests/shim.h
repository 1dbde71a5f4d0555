/* SPDX-License-Identifier: Apache-2.0
 *
 * HIP through CUDA: a shared object with the names and the ABI of the HIP runtime and of hipRTC, as far as the backend
 * calls them, over CUDA's driver and NVRTC. With it in place the HIP backend, as it is built, runs on an NVIDIA GPU.
 * For tests; never installed. Numbers of errors, attributes and flags are HIP's.
 */
#ifndef KEYWAY_HIP_SHIM_H
#define KEYWAY_HIP_SHIM_H

#include "runtime.h"

/* CUDA's entry points, by the table of gpu/runtime. The driver's are set once HIP's hipInit has said 0, the compiler's
 * once shim_open_compiler has. */
extern kw_rt_calls shim_cuda;

/* The first of these libraries that is there, or NULL. */
void *shim_open_library(const char *const *names);
/* Sets the entry points [begin, end) of the table; whether all were there. */
bool shim_find_calls(void *library, int begin, int end);
/* "--gpu-architecture=sm_90": the calling thread's current device. 0, or an error of HIP's. */
int shim_architecture(char out[KW_RT_ARCH_SIZE]);

#endif /* KEYWAY_HIP_SHIM_H */
