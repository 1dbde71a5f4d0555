/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' common dialect (backends/gpu/kernels), in OpenCL C 1.2. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef KW_HAS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef char kw_i8;
typedef uchar kw_u8;
typedef short kw_i16;
typedef ushort kw_u16;
typedef uint kw_u32;
typedef long kw_i64;
typedef ulong kw_u64;
typedef uint4 KW_FOUR;

/* The hint says that a kernel has all the vectors that it wants: Intel's CPU driver, left to make vectors of its items,
 * takes five times as long to compile it, and runs it several times as long. */
#if KW_VECTOR_BYTES > 0
#define KW_KERNEL __kernel __attribute__((vec_type_hint(float16)))
#else
#define KW_KERNEL __kernel
#endif
#define KW_GLOBAL __global
#define KW_LOCAL __local
#define KW_SHARED __local /* what a pointer to local memory points to */
#define KW_CONSTANT __constant /* of a table at file scope */
#define KW_FN static
#define KW_LOCAL_SIZE(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
#define KW_GLOBAL_ID() ((kw_i64)get_global_id(0))
#define KW_GROUP_ID(dimension) get_group_id(dimension)
#define KW_LOCAL_ID(dimension) ((int)get_local_id(dimension))
#define KW_UNROLL _Pragma("unroll")
#define KW_ROLLED _Pragma("nounroll")
#define KW_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
/* Compare and swap of a u32 in global memory; gives what was there. */
#define KW_ATOMIC_SWAP_IF(p, expected, value) atomic_cmpxchg((volatile __global uint *)(p), expected, value)
/* The sum of it and what was there, in its place. */
#define KW_ATOMIC_ADD(p, value) ((void)atomic_add((volatile __global uint *)(p), value))
/* The larger of it and what was there, in its place. */
#define KW_ATOMIC_MAX(p, value) ((void)atomic_max((volatile __global uint *)(p), value))
#define KW_CLZ64(x) ((int)clz((kw_u64)(x)))
#define KW_AS_F32(bits) as_float(bits)
#define KW_AS_U32(value) as_uint(value)
#define KW_AS_U64(value) as_ulong(value)
#ifdef KW_HAS_F64
#define KW_AS_F64(bits) as_double(bits)
#endif
/* Not cl_khr_fp16: loading and storing halves is in every OpenCL, computing with them is not. */
#define KW_LOAD_HALF(p, i) vload_half((size_t)(i), (KW_GLOBAL const half *)(p))
#define KW_STORE_HALF(value, p, i) vstore_half_rte(value, (size_t)(i), (KW_GLOBAL half *)(p))
#define KW_LOAD_OWN_HALF(p) vload_half(0, (const half *)(p))
#define KW_STORE_OWN_HALF(value, p) vstore_half_rte(value, 0, (half *)(p))
/* Stores a vector past the caches. */
#ifdef __clang__
#define KW_STREAM_STORE(value, p) __builtin_nontemporal_store(value, p)
#else
#define KW_STREAM_STORE(value, p) (*(p) = (value))
#endif
