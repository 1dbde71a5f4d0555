/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that the suite scale gives one long line of numbers, and what they do with it.
 */
#include "contract/scale/scale.h"

static const struct {
  const char *op;
  kw_scale_kind kind;
} ops[] = {
    {"sum", KW_SCALE_SUM},          {"sum.dim_IntList", KW_SCALE_SUM},
    {"mean", KW_SCALE_MEAN},        {"mean.dim", KW_SCALE_MEAN},
    {"prod", KW_SCALE_PROD},        {"amax", KW_SCALE_LARGEST},
    {"max", KW_SCALE_LARGEST},      {"max.dim", KW_SCALE_LARGEST},
    {"argmax", KW_SCALE_LARGEST},   {"amin", KW_SCALE_SMALLEST},
    {"min", KW_SCALE_SMALLEST},     {"min.dim", KW_SCALE_SMALLEST},
    {"argmin", KW_SCALE_SMALLEST},  {"any", KW_SCALE_ANY},
    {"any.dim", KW_SCALE_ANY},      {"all", KW_SCALE_ALL},
    {"all.dim", KW_SCALE_ALL},      {"logsumexp", KW_SCALE_LOGSUM},
    {"cumsum", KW_SCALE_SCAN},      {"sort", KW_SCALE_SORT},
    {"sort.stable", KW_SCALE_SORT}, {"topk", KW_SCALE_TOPK},
    {"_softmax", KW_SCALE_SOFTMAX}, {"_log_softmax", KW_SCALE_SOFTMAX},
    {"mm", KW_SCALE_PRODUCT},
};

bool kw_scale_line_kind(const char *op, kw_scale_kind *out_kind) {
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    if (strcmp(ops[i].op, op) != 0) continue;
    *out_kind = ops[i].kind;
    return true;
  }
  return false;
}
