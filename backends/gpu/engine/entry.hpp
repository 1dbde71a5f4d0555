/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels in C++ need to be a module of the engine: the first source of each; see engine.h. */
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
using namespace std;

#define KW_EXPORT extern "C" __attribute__((visibility("default")))

/* Which item runs: as in engine.h. */
struct kw_engine_item {
  int64_t group[3], groups[3];
  int32_t local[3], size[3];
};
static thread_local const kw_engine_item *kw_engine_here;
static void (*kw_engine_meet)(const kw_engine_item *item); /* the same for all threads */
KW_EXPORT void kw_engine_bind(const kw_engine_item *item, void (*barrier)(const kw_engine_item *item)) {
  kw_engine_here = item;
  __atomic_store_n(&kw_engine_meet, barrier, __ATOMIC_RELAXED);
}
static inline void kw_engine_barrier() { kw_engine_meet(kw_engine_here); }

/* A kernel with its arguments: entry i of `args` points to argument i. */
template <class... A, size_t... I>
static void kw_apply(void (*kernel)(A...), void *const *args, index_sequence<I...>) {
  kernel(*(A *)args[I]...);
}
template <class... A>
static void kw_apply(void (*kernel)(A...), void *const *args) {
  kw_apply(kernel, args, index_sequence_for<A...>());
}

/* How many parameters a kernel has, and the size of each in bytes. */
template <class... A>
static const uint32_t *kw_params(void (*)(A...)) {
  static const uint32_t sizes[] = {(uint32_t)sizeof...(A), (uint32_t)sizeof(A)...};
  return sizes;
}
