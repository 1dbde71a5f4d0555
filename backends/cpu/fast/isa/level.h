/* SPDX-License-Identifier: Apache-2.0
 *
 * For the files that are compiled once for each instruction set. The build defines KW_ISA, its name, which ends the
 * names of what they export.
 */
#ifndef KEYWAY_CPU_FAST_LEVEL_H
#define KEYWAY_CPU_FAST_LEVEL_H

#include "isa.h"

#define KW_PASTE_(a, b) a##_##b
#define KW_PASTE(a, b) KW_PASTE_(a, b)
#define KW_ISA_NAME(name) KW_PASTE(name, KW_ISA)

#if defined(__AVX512F__)
#define KW_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define KW_VECTOR_BYTES 32
#else
#define KW_VECTOR_BYTES 16
#endif

/* Before a loop whose iterations do not depend on each other, though its pointers may be equal. */
#ifdef __clang__
#define KW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define KW_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Before a loop with few iterations, known when it is compiled, that has to vanish. */
#ifdef __clang__
#define KW_UNROLL _Pragma("unroll")
#else
#define KW_UNROLL _Pragma("GCC unroll 16")
#endif

/* The parts of this instruction set's table. */
void KW_ISA_NAME(kw_add_pointwise)(kw_isa *isa);
void KW_ISA_NAME(kw_add_narrow)(kw_isa *isa);
void KW_ISA_NAME(kw_add_conversions)(kw_isa *isa);
void KW_ISA_NAME(kw_add_folds)(kw_isa *isa);
void KW_ISA_NAME(kw_add_scans)(kw_isa *isa);
void KW_ISA_NAME(kw_add_rows)(kw_isa *isa);
void KW_ISA_NAME(kw_add_products)(kw_isa *isa);
void KW_ISA_NAME(kw_add_byte_products)(kw_isa *isa);
void KW_ISA_NAME(kw_add_attention)(kw_isa *isa);
void KW_ISA_NAME(kw_add_pools)(kw_isa *isa);
void KW_ISA_NAME(kw_add_steps)(kw_isa *isa);
void KW_ISA_NAME(kw_add_transforms)(kw_isa *isa);
void KW_ISA_NAME(kw_add_moves)(kw_isa *isa);
void KW_ISA_NAME(kw_add_random)(kw_isa *isa);
void KW_ISA_NAME(kw_add_search)(kw_isa *isa);

#endif /* KEYWAY_CPU_FAST_LEVEL_H */
