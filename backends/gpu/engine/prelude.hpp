/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' common dialect (backends/gpu/kernels), in C++17 for the host; behind entry.hpp. */
typedef int8_t kw_i8;
typedef uint8_t kw_u8;
typedef int16_t kw_i16;
typedef uint16_t kw_u16;
typedef uint32_t kw_u32;
typedef int64_t kw_i64;
typedef uint64_t kw_u64;
typedef struct alignas(16) KW_FOUR {
  kw_u32 x, y, z, w;
} KW_FOUR;

#define KW_KERNEL KW_EXPORT
#define KW_GLOBAL
#define KW_LOCAL static thread_local /* the items of a group run on one thread */
#define KW_SHARED
#define KW_CONSTANT static const
#define KW_FN static
#define KW_LOCAL_SIZE(x, y)

#define KW_GLOBAL_ID() (kw_engine_here->group[0] * kw_engine_here->size[0] + kw_engine_here->local[0])
#define KW_GROUP_ID(dimension) (kw_engine_here->group[dimension])
#define KW_LOCAL_ID(dimension) (kw_engine_here->local[dimension])
#define KW_BARRIER() kw_engine_barrier()

static inline kw_u32 kw_atomic_swap_if(void *p, kw_u32 expected, kw_u32 value) {
  __atomic_compare_exchange_n((kw_u32 *)p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
static inline void kw_atomic_max(void *p, kw_u32 value) {
  kw_u32 was = __atomic_load_n((kw_u32 *)p, __ATOMIC_SEQ_CST);
  while (was < value &&
         !__atomic_compare_exchange_n((kw_u32 *)p, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
}
#define KW_ATOMIC_SWAP_IF(p, expected, value) kw_atomic_swap_if((void *)(p), expected, value)
#define KW_ATOMIC_ADD(p, value) ((void)__atomic_fetch_add((kw_u32 *)(p), value, __ATOMIC_SEQ_CST))
#define KW_ATOMIC_MAX(p, value) kw_atomic_max((void *)(p), value)
#define KW_CLZ64(x) __builtin_clzll(x)

template <class To, class From>
static inline To kw_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "as many bits");
  memcpy(&to, &from, sizeof to);
  return to;
}
#define KW_AS_F32(bits) kw_bits<float, kw_u32>(bits)
#define KW_AS_U32(value) kw_bits<kw_u32, float>(value)
#define KW_AS_U64(value) kw_bits<kw_u64, double>(value)
#define KW_AS_F64(bits) kw_bits<double, kw_u64>(bits)

#define KW_LOAD_HALF(p, i) KW_AS_F32(kw_narrow_to_f32_bits(KW_F16, ((const kw_u16 *)(p))[i]))
#define KW_STORE_HALF(value, p, i) \
  (((kw_u16 *)(p))[i] = (kw_u16)kw_narrow_from_f32_bits(KW_F16, KW_AS_U32(value)))
