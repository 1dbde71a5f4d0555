/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of OpenCL that modules call, by their mangled names (Itanium's, with OpenCL's address spaces), for the
 * engine. Compiled by clang to bitcode and linked into each module. */
#include <engine.h>
#include <math.h>
#include <stdint.h>

#define GLOBAL __attribute__((address_space(1)))

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static _Thread_local const kw_engine_item *here;
static void (*meet)(const kw_engine_item *item); /* the same for all threads */

__attribute__((visibility("default"))) void kw_engine_bind(const kw_engine_item *item,
                                                           void (*barrier)(const kw_engine_item *item)) {
  here = item;
  __atomic_store_n(&meet, barrier, __ATOMIC_RELAXED);
}

/* Dimensions beyond the third have one item. */
#define ID(name, expression)                   \
  uint64_t name(uint32_t d) {                  \
    return d < 3 ? (uint64_t)(expression) : 0; \
  }
#define SIZE(name, expression)                 \
  uint64_t name(uint32_t d) {                  \
    return d < 3 ? (uint64_t)(expression) : 1; \
  }
ID(_Z13get_global_idj, here->group[d] * here->size[d] + here->local[d])
ID(_Z12get_local_idj, here->local[d])
ID(_Z12get_group_idj, here->group[d])
SIZE(_Z14get_local_sizej, here->size[d])
SIZE(_Z14get_num_groupsj, here->groups[d])
SIZE(_Z15get_global_sizej, here->groups[d] * here->size[d])

void _Z7barrierj(uint32_t flags) {
  (void)flags;
  meet(here);
}

/* ---- Atomics ----------------------------------------------------------------------------------------------------- */

int32_t _Z14atomic_cmpxchgPU3AS1Viii(volatile GLOBAL int32_t *p, int32_t expected, int32_t value) {
  __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

int32_t _Z10atomic_addPU3AS1Vii(volatile GLOBAL int32_t *p, int32_t value) {
  return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
}

uint32_t _Z10atomic_maxPU3AS1Vjj(volatile GLOBAL uint32_t *p, uint32_t value) {
  return __atomic_fetch_max(p, value, __ATOMIC_SEQ_CST);
}

/* ---- Halves ------------------------------------------------------------------------------------------------------ */

float _Z10vload_halfmPU3AS1KDh(uint64_t i, const GLOBAL _Float16 *p) {
  return (float)p[i];
}

float _Z10vload_halfmPKDh(uint64_t i, const _Float16 *p) {
  return (float)p[i];
}

void _Z15vstore_half_rtefmPU3AS1Dh(float value, uint64_t i, GLOBAL _Float16 *p) {
  p[i] = (_Float16)value;
}

void _Z15vstore_half_rtefmPDh(float value, uint64_t i, _Float16 *p) {
  p[i] = (_Float16)value;
}

/* ---- Mathematics ------------------------------------------------------------------------------------------------- */

int64_t _Z3clzl(int64_t x) {
  return x == 0 ? 64 : __builtin_clzll((uint64_t)x);
}

#define UNARY(length, name)              \
  float _Z##length##name##f(float x) {   \
    return name##f(x);                   \
  }                                      \
  double _Z##length##name##d(double x) { \
    return name(x);                      \
  }
#define BINARY(length, name)                        \
  float _Z##length##name##ff(float x, float y) {    \
    return name##f(x, y);                           \
  }                                                 \
  double _Z##length##name##dd(double x, double y) { \
    return name(x, y);                              \
  }
UNARY(3, cos)
UNARY(3, erf)
UNARY(3, exp)
UNARY(3, log)
UNARY(3, sin)
UNARY(3, tan)
UNARY(4, acos)
UNARY(4, asin)
UNARY(4, atan)
UNARY(4, ceil)
UNARY(4, cosh)
UNARY(4, erfc)
UNARY(4, exp2)
UNARY(4, fabs)
UNARY(4, log2)
UNARY(4, rint)
UNARY(4, sinh)
UNARY(4, sqrt)
UNARY(4, tanh)
UNARY(5, acosh)
UNARY(5, asinh)
UNARY(5, atanh)
UNARY(5, expm1)
UNARY(5, floor)
UNARY(5, log10)
UNARY(5, log1p)
UNARY(5, trunc)
BINARY(3, pow)
BINARY(4, fmod)
BINARY(5, atan2)
BINARY(8, copysign)

float _Z3fmafff(float x, float y, float z) {
  return fmaf(x, y, z);
}

double _Z3fmaddd(double x, double y, double z) {
  return fma(x, y, z);
}
