/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC and hipRTC: names of their libraries, tried in order, and how the backends call them.
 */
#ifndef KEYWAY_GPU_COMPILERS_H
#define KEYWAY_GPU_COMPILERS_H

#define KW_RT_CUDA_COMPILER \
  "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"
/* Until ROCm 5 it was part of the runtime. */
#define KW_RT_HIP_COMPILER \
  "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so", "libamdhip64.so.5"

#define KW_RT_CUDA_NO_COMPILER                                                                                  \
  "NVRTC, which compiles the kernels, is not there: no libnvrtc.so; install it from the CUDA toolkit (Debian: " \
  "libnvrtc12, NVIDIA's packages: cuda-nvrtc-13-0)"
#define KW_RT_HIP_NO_COMPILER \
  "hipRTC, which compiles the kernels, is not there: no libhiprtc.so; install it from ROCm (Debian: libamdhip64-5)"

/* No contraction, no fast math; the language's version; warnings are for who writes kernels. */
#define KW_RT_CUDA_OPTIONS "--std=c++17", "--fmad=false", "--disable-warnings"
#define KW_RT_HIP_OPTIONS "-std=c++17", "-ffp-contract=off", "-w"

#endif /* KEYWAY_GPU_COMPILERS_H */
