/* SPDX-License-Identifier: Apache-2.0
 *
 * Levels and their extensions: which ops and dtypes they ask for.
 */
#include "run/level.h"

#include "op_table.h"

#include <string.h>

#define EXTENSIONS (KW_DTYPE_BIT(KW_F64) | KW_DTYPES_COMPLEX | KW_DTYPES_F8)

static const struct {
  const char *name;
  kw_level level;
} levels[] = {{"core", KW_LEVEL_CORE}, {"inference", KW_LEVEL_INFERENCE}, {"training", KW_LEVEL_TRAINING}};

static const struct {
  const char *name;
  uint64_t dtypes;
  kw_op_extension family;
} extensions[] = {{"f64", KW_DTYPE_BIT(KW_F64), KW_EXTENSION_NONE},
                  {"complex", KW_DTYPES_COMPLEX, KW_EXTENSION_NONE},
                  {"fp8", KW_DTYPES_F8, KW_EXTENSION_NONE},
                  {"int4", 0, KW_EXTENSION_INT4},
                  {"sparse", 0, KW_EXTENSION_SPARSE},
                  {"fft", 0, KW_EXTENSION_FFT},
                  {"detection", 0, KW_EXTENSION_DETECTION},
                  {"paged", 0, KW_EXTENSION_PAGED}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_name(const char *text, size_t length, const char *name) {
  return strlen(name) == length && memcmp(text, name, length) == 0;
}

bool kw_level_parse(const char *text, kw_level_claim *out_claim) {
  size_t length = strcspn(text, "+"), l = 0;
  while (l < COUNT(levels) && !is_name(text, length, levels[l].name)) l++;
  if (l == COUNT(levels)) return false;
  kw_level_claim claim = {.text = text, .level = levels[l].level, .families = 1u << KW_EXTENSION_NONE};
  for (const char *p = text + length; *p; p += length) {
    size_t e = 0;
    length = strcspn(++p, "+");
    while (e < COUNT(extensions) && !is_name(p, length, extensions[e].name)) e++;
    if (e == COUNT(extensions)) return false;
    claim.extensions |= extensions[e].dtypes;
    claim.families |= 1u << extensions[e].family;
  }
  *out_claim = claim;
  return true;
}

bool kw_level_has(const kw_level_claim *claim, const kw_suite_op *op) {
  return !op->vendor && op->row.level <= claim->level && claim->families & 1u << op->extension;
}

kw_dtype kw_level_half(const kw_level_claim *claim, const kw_device_facts *facts) {
  uint32_t half = 0, brain = 0; /* ops that the device has in each */
  for (uint32_t i = 0; i < facts->op_count; i++) {
    if (!kw_level_has(claim, &facts->ops[i].op)) continue;
    uint64_t claimed = facts->ops[i].kernels | facts->ops[i].decomposed;
    half += (claimed & KW_DTYPE_BIT(KW_F16)) != 0;
    brain += (claimed & KW_DTYPE_BIT(KW_BF16)) != 0;
  }
  return brain > half ? KW_BF16 : KW_F16;
}

uint64_t kw_level_extensions(const kw_case *c) {
  uint64_t dtypes = 0;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) dtypes |= c->tensors[i].given ? KW_DTYPE_BIT(c->tensors[i].dtype) : 0;
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) dtypes |= c->outs[r].given ? KW_DTYPE_BIT(c->outs[r].dtype) : 0;
  if (c->op->row.result == KW_RESULT_OTHER_PARTS) dtypes = KW_DTYPE_BIT(c->key);
  return dtypes & EXTENSIONS;
}

/* The dtypes of extensions that the claim asks of an op: those it names, and in Fourier transforms the complex numbers
 * of its floats. */
static uint64_t claimed_dtypes(const kw_level_claim *claim, const kw_suite_op *op) {
  if (op->extension != KW_EXTENSION_FFT) return claim->extensions;
  bool wide = claim->extensions & KW_DTYPE_BIT(KW_F64);
  return claim->extensions | KW_DTYPE_BIT(KW_C64) | (wide ? KW_DTYPE_BIT(KW_C128) : 0);
}

uint64_t kw_level_keys(const kw_level_claim *claim, const kw_suite_op *op, kw_dtype half) {
  if (!kw_level_has(claim, op)) return 0;
  uint64_t keys = kw_suite_op_keys(op);
  uint64_t fixed = KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64) |
                   KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(half);
  return keys & ((keys & fixed ? fixed : ~EXTENSIONS) | claimed_dtypes(claim, op));
}

kw_level kw_level_of_test(const char *id) {
  if (strncmp(id, "models/", strlen("models/")) != 0) return KW_LEVEL_CORE;
  return strstr(id, "_training") ? KW_LEVEL_TRAINING : KW_LEVEL_INFERENCE;
}
