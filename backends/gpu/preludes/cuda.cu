/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' common dialect (backends/gpu/kernels), in CUDA C++ as NVRTC and hipRTC take it. Neither includes a
 * header: what is used here is in their language. */
typedef signed char kw_i8;
typedef unsigned char kw_u8;
typedef short kw_i16;
typedef unsigned short kw_u16;
typedef unsigned int kw_u32;
typedef long long kw_i64;
typedef unsigned long long kw_u64;
typedef uint4 KW_FOUR;

#define KW_KERNEL extern "C" __global__
#define KW_GLOBAL
#define KW_LOCAL __shared__
#define KW_SHARED
#define KW_CONSTANT static __constant__
#define KW_FN static __device__
#define KW_LOCAL_SIZE(x, y) __launch_bounds__((x) * (y))
#define KW_GLOBAL_ID() ((kw_i64)blockIdx.x * blockDim.x + threadIdx.x)
#define KW_GROUP_ID(dimension) ((kw_i64)((dimension) == 0 ? blockIdx.x : blockIdx.y))
#define KW_LOCAL_ID(dimension) ((int)((dimension) == 0 ? threadIdx.x : threadIdx.y))
#define KW_UNROLL _Pragma("unroll")
#define KW_ROLLED _Pragma("unroll 1")
#define KW_BARRIER() __syncthreads()
#define KW_ATOMIC_SWAP_IF(p, expected, value) atomicCAS((kw_u32 *)(p), expected, value)
#define KW_ATOMIC_ADD(p, value) ((void)atomicAdd((kw_u32 *)(p), value))
#define KW_ATOMIC_MAX(p, value) ((void)atomicMax((kw_u32 *)(p), value))
#define KW_CLZ64(x) __clzll((kw_i64)(x))
#define KW_AS_F32(bits) __uint_as_float(bits)
#define KW_AS_U32(value) __float_as_uint(value)
#define KW_AS_U64(value) ((kw_u64)__double_as_longlong(value))
#define KW_AS_F64(bits) __longlong_as_double((kw_i64)(bits))
#undef INFINITY
#define INFINITY __uint_as_float(0x7f800000u)

/* Matrix instructions, and copies that are on their way while others run; without them kernels/matrix.kw does the same
 * by steps. Until KW_COPY_WAIT four words that KW_COPY_FOUR brings to local memory are not there. */
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
#define KW_MMA(kind, letter, sum, left, right)                                                                     \
  asm("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                  \
      : "+" letter((sum)[0]), "+" letter((sum)[1]), "+" letter((sum)[2]), "+" letter((sum)[3])                     \
      : "r"((left)[0]), "r"((left)[1]), "r"((left)[2]), "r"((left)[3]), "r"((right)[0]), "r"((right)[1]))
#if __CUDA_ARCH__ >= 890 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1204
#define KW_MMA_F8
#endif
KW_FN kw_u32 kw_round_tf32(kw_u32 bits) {
  kw_u32 rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
  return rounded;
}
#define KW_ROUND_TF32(bits) kw_round_tf32(bits)
#define KW_ALIGNED_FOUR __align__(16)
#define KW_COPY_FOUR(to, from)                                                                            \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((kw_u32)__cvta_generic_to_shared(to)),   \
               "l"(__cvta_generic_to_global(from))                                                        \
               : "memory")
#define KW_COPY_WAIT() asm volatile("cp.async.wait_all;" ::: "memory")
#endif

/* Halves: one instruction each way, rounding to nearest even; in software where a CPU stands in for the device. */
#if defined(__CUDACC_RTC__)
KW_FN float kw_half_to_float(kw_u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
KW_FN kw_u16 kw_half_from_float(float value) {
  kw_u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#define KW_LOAD_HALF(p, i) kw_half_to_float(((const kw_u16 *)(p))[i])
#define KW_STORE_HALF(value, p, i) (((kw_u16 *)(p))[i] = kw_half_from_float(value))
#elif defined(__HIPCC_RTC__)
#define KW_LOAD_HALF(p, i) ((float)((const _Float16 *)(p))[i])
#define KW_STORE_HALF(value, p, i) (((_Float16 *)(p))[i] = (_Float16)(value))
#else
#define KW_LOAD_HALF(p, i) KW_AS_F32(kw_narrow_to_f32_bits(KW_F16, ((const kw_u16 *)(p))[i]))
#define KW_STORE_HALF(value, p, i) \
  (((kw_u16 *)(p))[i] = (kw_u16)kw_narrow_from_f32_bits(KW_F16, KW_AS_U32(value)))
#endif
