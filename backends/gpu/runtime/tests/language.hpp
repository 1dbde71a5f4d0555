/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUDA C++ and HIP have beyond C++, as far as the kernels' prelude uses it, for the execution engine. */
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __constant__ const
#define __shared__ static thread_local /* the items of a group run on one thread */
#define __launch_bounds__(items)

struct engine_place {
  uint32_t x, y, z;
};
#define ENGINE_PLACE(of) \
  (engine_place{(uint32_t)kw_engine_here->of[0], (uint32_t)kw_engine_here->of[1], (uint32_t)kw_engine_here->of[2]})
#define blockIdx ENGINE_PLACE(group)
#define blockDim ENGINE_PLACE(size)
#define threadIdx ENGINE_PLACE(local)
#define __syncthreads() kw_engine_barrier()

struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};

static inline uint32_t atomicCAS(uint32_t *p, uint32_t expected, uint32_t value) {
  __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
static inline uint32_t atomicAdd(uint32_t *p, uint32_t value) {
  return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
}
static inline uint32_t atomicMax(uint32_t *p, uint32_t value) {
  uint32_t was = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (was < value && !__atomic_compare_exchange_n(p, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return was;
}

static inline int __clzll(long long x) {
  return x ? __builtin_clzll((unsigned long long)x) : 64;
}

template <class To, class From>
static inline To kw_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "as many bits");
  memcpy(&to, &from, sizeof to);
  return to;
}
#define __uint_as_float(bits) kw_bits<float, uint32_t>(bits)
#define __float_as_uint(value) kw_bits<uint32_t, float>(value)
#define __double_as_longlong(value) kw_bits<long long, double>(value)
#define __longlong_as_double(bits) kw_bits<double, long long>(bits)
