/* SPDX-License-Identifier: Apache-2.0
 *
 * The suite's own view of an op.
 */
#include "case/signature.h"

#include "base/need.h"

#include <keyway/keyway.h>

#include <stdlib.h>
#include <string.h>

kw_value kw_suite_arg_default(const kw_suite_arg *arg) {
  kw_value value = arg->default_value;
  if (value.tag == KW_TAG_STRING) value.u.s = arg->default_text;
  if (value.tag == KW_TAG_INT_LIST) value.u.ints = arg->default_ints;
  return value;
}

/* False when the default does not fit: a long string, a long list. */
static bool take_arg(const kw_arg_info *info, kw_suite_arg *out) {
  if (strlen(info->name) >= sizeof out->name) return false;
  strcpy(out->name, info->name);
  out->tag = info->tag;
  out->list_size = info->list_size;
  out->optional = (info->flags & KW_ARG_OPTIONAL) != 0;
  out->mutated = (info->flags & KW_ARG_MUTATED) != 0;
  out->has_default = (info->flags & KW_ARG_HAS_DEFAULT) != 0;
  out->default_value = info->default_value;
  if (info->default_value.tag == KW_TAG_STRING) {
    if (strlen(info->default_value.u.s) >= sizeof out->default_text) return false;
    strcpy(out->default_text, info->default_value.u.s);
    out->default_value.u.s = NULL; /* set where the op lies for good: see kw_suite_arg_default */
  } else if (info->default_value.tag == KW_TAG_INT_LIST) {
    if (info->default_value.count > KW_MAX_RANK) return false;
    memcpy(out->default_ints, info->default_value.u.ints, info->default_value.count * sizeof *out->default_ints);
    out->default_value.u.ints = NULL; /* likewise */
  }
  return true;
}

bool kw_suite_op_take(const kw_op *op, kw_suite_op *out_op) {
  memset(out_op, 0, sizeof *out_op);
  kw_op_info info = {.struct_size = sizeof info};
  if (kw_op_get_info(op, &info) != KW_OK || strlen(info.name) >= sizeof out_op->name) return false;
  strcpy(out_op->name, info.name);
  memcpy(out_op->base, info.name, strcspn(info.name, "."));
  out_op->arg_count = info.arg_count;
  out_op->result_count = info.result_count;
  for (uint32_t i = 0; i < info.arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    if (kw_op_get_arg(op, i, &arg) != KW_OK || !take_arg(&arg, &out_op->args[i])) return false;
    if ((arg.flags & (KW_ARG_MUTATED | KW_ARG_RETURNED)) == KW_ARG_MUTATED) {
      out_op->args[i].result = info.result_count + out_op->changed_count++;
    }
  }
  for (uint32_t i = 0; i < info.result_count; i++) {
    const int32_t arg = kw_op_result_alias(op, i);
    if (arg >= 0) out_op->args[arg].result = i;
  }
  out_op->counted = info.counted;
  for (uint32_t i = 0; i < info.result_count; i++) out_op->in_place |= kw_op_result_alias(op, i) == 0;
  return true;
}

const kw_suite_op *kw_suite_ops(uint32_t *out_count) {
  static kw_suite_op *ops;
  if (!ops) {
    ops = calloc(kw_op_table_count, sizeof *ops);
    if (!ops) kw_out_of_memory();
    for (uint32_t i = 0; i < kw_op_table_count; i++) {
      if (!kw_suite_op_take(kw_op_at(i), &ops[i]))
        kw_out_of_memory(); /* libkeyway's first ops are the table, row by row */
      ops[i].row = kw_op_table[i];
      ops[i].extension = kw_op_row_family(&kw_op_table[i])->extension;
    }
  }
  *out_count = kw_op_table_count;
  return ops;
}

uint64_t kw_suite_op_keys(const kw_suite_op *op) {
  switch (op->row.result) {
    case KW_RESULT_FLOAT:
    case KW_RESULT_MEAN:
      return op->row.dtypes & KW_DTYPES_FLOAT;
    case KW_RESULT_SUM:
      return op->row.dtypes & KW_DTYPES_NUM;
    default:
      return op->row.dtypes;
  }
}

const char *kw_suite_op_family(const kw_suite_op *op) {
  return op->vendor ? "vendor" : kw_op_row_family(&op->row)->name;
}

int kw_suite_op_find_arg(const kw_suite_op *op, const char *name) {
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (strcmp(op->args[i].name, name) == 0) return (int)i;
  }
  return -1;
}

int kw_suite_op_generator(const kw_suite_op *op) {
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (op->args[i].tag == KW_TAG_GENERATOR) return (int)i;
  }
  return -1;
}
