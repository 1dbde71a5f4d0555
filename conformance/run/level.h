/* SPDX-License-Identifier: Apache-2.0
 *
 * Levels: which ops in which dtypes a device must have.
 *
 * Core, Inference and Training are the ops of the table up to that level in bool, u8, i32, i64, f32 and one of f16 and
 * bf16; an op that has none of these (_int_mm) in what it has. Extensions add dtypes (+f64, +complex, +fp8) and
 * families of ops (+int4, +sparse, +fft, +detection, +paged: kw_op_extension), which no level asks for without.
 */
#ifndef KEYWAY_CONFORMANCE_LEVEL_H
#define KEYWAY_CONFORMANCE_LEVEL_H

#include "case/case.h"
#include "wire/device_facts.h"

typedef struct kw_level_claim {
  const char *text; /* as it was given: "core+f64"; NULL when no level is judged */
  kw_level level;
  uint64_t extensions; /* dtypes, KW_DTYPE_BIT */
  uint32_t families;   /* bit e: kw_op_extension e */
} kw_level_claim;

/* Takes "core", "inference" or "training", then any number of extensions. `text` is kept. False for any other text; the
 * claim is left alone then. */
bool kw_level_parse(const char *text, kw_level_claim *out_claim);

/* The 16-bit float that a level is judged in on a device: the one that it has more of the level's ops in, f16 when as
 * many. */
kw_dtype kw_level_half(const kw_level_claim *claim, const kw_device_facts *facts);

/* The level that a contract test belongs to: Core, but models are made of ops of Inference, and training of Training's.
 */
kw_level kw_level_of_test(const char *id);

/* Whether the claim asks for an op: one of the table, up to its level, of no extension or of one
 * that it names. */
bool kw_level_has(const kw_level_claim *claim, const kw_suite_op *op);

/* The dtypes of extensions that a case uses anywhere: as input, or as result where that does not follow from its key
 * dtype. */
uint64_t kw_level_extensions(const kw_case *c);

/* The key dtypes that the claim asks of an op, KW_DTYPE_BIT; 0 when the op is of a higher level or a vendor's. */
uint64_t kw_level_keys(const kw_level_claim *claim, const kw_suite_op *op, kw_dtype half);

#endif /* KEYWAY_CONFORMANCE_LEVEL_H */
