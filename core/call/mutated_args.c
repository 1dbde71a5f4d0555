/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking at each tensor of a call for memory that a changed argument shares with it.
 */
#include "call/mutated_args.h"

#include "base/error.h"
#include "base/overlap.h"

#include <stdio.h>
#include <stdlib.h>

/* Tensors of an argument, and each of them. */
static uint32_t count_tensors(const kw_value *value) {
  return value->tag == KW_TAG_TENSOR ? 1 : value->tag == KW_TAG_TENSOR_LIST ? value->count : 0;
}

static const kw_tensor_ref *tensor_of(const kw_value *value, uint32_t entry) {
  return value->tag == KW_TAG_TENSOR ? value->u.tensor : value->u.tensors[entry];
}

bool kw_mutated_args_are_empty(const kw_op *op, const kw_value *args) {
  for (uint32_t i = 0; op->changed >> i; ++i) {
    for (uint32_t k = 0; (op->changed >> i & 1) && k < count_tensors(&args[i]); ++k) {
      if (tensor_of(&args[i], k)->numel > 0) return false;
    }
  }
  return true;
}

/* "'self'", or "entry 3 of 'self'". */
static void name_argument(const kw_op *op, const kw_value *value, uint32_t arg, uint32_t entry, char *text,
                          size_t size) {
  const char *name = op->schema.args[arg].name;
  if (value->tag == KW_TAG_TENSOR) {
    snprintf(text, size, "'%s'", name);
  } else {
    snprintf(text, size, "entry %u of '%s'", entry, name);
  }
}

kw_status kw_mutated_args_check_each(const kw_op *op, const kw_value *args) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    for (uint32_t k = 0; op->schema.args[i].mutated && k < count_tensors(&args[i]); ++k) {
      const kw_tensor_ref *ref = tensor_of(&args[i], k);
      const bool read_only = kw_tensor_bars_writing((const kw_tensor *)(const void *)ref);
      if (!read_only && !kw_ref_overlaps_itself(ref)) continue;
      char name[64];
      name_argument(op, &args[i], i, k, name, sizeof name);
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %s is changed in place but %s; make a copy first", op->schema.name,
                     name,
                     read_only ? "lies in memory that was imported read-only (a mapped file?)"
                               : "overlaps itself (an expanded view?)");
    }
  }
  return KW_OK;
}

/* ---- Overlap with others ----------------------------------------------------------------------------------------- */

#define FEW (KW_MAX_ARGS + KW_MAX_RESULTS) /* tensors that need no memory to look at */

/* One tensor of a call. */
typedef struct placed {
  const kw_tensor *tensor;
  int32_t arg; /* or -1 - i for result i */
  uint32_t entry;
} placed;

static int by_place(const void *a, const void *b) {
  const kw_tensor *x = ((const placed *)a)->tensor, *y = ((const placed *)b)->tensor;
  if (x->buffer != y->buffer) return x->buffer < y->buffer ? -1 : 1;
  return x->ref.offset < y->ref.offset ? -1 : x->ref.offset > y->ref.offset;
}

/* All tensors with elements, a result that is an argument once. */
static uint32_t collect(const kw_plan *plan, const kw_request *request, kw_tensor *const *outs, placed *all) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    const kw_value *value = &request->args[i];
    for (uint32_t k = 0; k < count_tensors(value); ++k) {
      const kw_tensor *tensor = value->tag == KW_TAG_TENSOR ? kw_value_as_tensor(value) : kw_value_entry(value, k);
      if (tensor && tensor->ref.numel > 0) all[count++] = (placed){tensor, (int32_t)i, k};
    }
  }
  for (uint32_t r = 0; r < plan->inference.result_count; ++r) {
    if (!outs[r] || outs[r]->ref.numel == 0 || plan->op->schema.results[r].alias_of >= 0) continue;
    all[count++] = (placed){outs[r], -1 - (int32_t)r, 0};
  }
  return count;
}

static bool is_changed(const kw_op *op, const placed *p) {
  return p->arg >= 0 && (op->changed >> p->arg & 1);
}

static bool is_written(const kw_op *op, const placed *p) {
  return p->arg < 0 || op->schema.args[p->arg].mutated;
}

static bool is_entry(const kw_op *op, const placed *p) {
  return p->arg >= 0 && op->schema.args[p->arg].tag == KW_TAG_TENSOR_LIST;
}

/* Two tensors of one buffer. */
static bool may_share(const kw_op *op, const placed *a, const placed *b) {
  if (!is_changed(op, a) && !is_changed(op, b)) return true; /* seen to where results are */
  if (!kw_refs_overlap(&a->tensor->ref, &b->tensor->ref)) return true;
  const bool both = is_written(op, a) && is_written(op, b), listed = is_entry(op, a) || is_entry(op, b);
  return !both && !listed && kw_refs_identical(&a->tensor->ref, &b->tensor->ref);
}

static void name_placed(const kw_request *request, const placed *p, char *text, size_t size) {
  if (p->arg < 0) {
    snprintf(text, size, "result %d", -1 - p->arg);
  } else {
    name_argument(request->op, &request->args[p->arg], (uint32_t)p->arg, p->entry, text, size);
  }
}

static kw_status check_sorted(const kw_request *request, const placed *all, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const kw_tensor *tensor = all[i].tensor;
    const uint64_t end = tensor->ref.offset + kw_ref_extent(&tensor->ref);
    for (uint32_t k = i + 1; k < count; ++k) {
      if (all[k].tensor->buffer != tensor->buffer || all[k].tensor->ref.offset >= end) break;
      if (may_share(request->op, &all[i], &all[k])) continue;
      char first[64], second[64];
      name_placed(request, &all[i], first, sizeof first);
      name_placed(request, &all[k], second, sizeof second);
      return kw_fail(KW_ERR_INVALID_ARGUMENT,
                     "%s: %s and %s share memory, and the call changes at least one of them; give it memory of its own",
                     request->op->schema.name, first, second);
    }
  }
  return KW_OK;
}

kw_status kw_mutated_args_check_overlap(const kw_plan *plan, const kw_request *request, kw_tensor *const *outs) {
  placed few[FEW], *all = few;
  size_t most = plan->inference.result_count;
  for (uint32_t i = 0; i < plan->arg_count; ++i) most += count_tensors(&request->args[i]);
  if (most > FEW && !(all = malloc(most * sizeof *all))) {
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory to look at %zu tensors", request->op->schema.name, most);
  }
  const uint32_t count = collect(plan, request, outs, all);
  qsort(all, count, sizeof *all, by_place);
  kw_status status = check_sorted(request, all, count);
  if (all != few) free(all);
  return status;
}
