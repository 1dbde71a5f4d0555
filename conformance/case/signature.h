/* SPDX-License-Identifier: Apache-2.0
 *
 * The suite's own view of an op: its arguments, and the rules that judge it. Loads no plugin and crosses to another
 * process as it is: no pointer in it but row's.
 */
#ifndef KEYWAY_CONFORMANCE_SIGNATURE_H
#define KEYWAY_CONFORMANCE_SIGNATURE_H

#include "op_table.h"

#define KW_SUITE_RESULTS 20 /* most results of a case, changed tensors that are none included */

#define KW_SUITE_TEXTS 4
#define KW_SUITE_TEXT 24 /* bytes, with the NUL */

typedef struct kw_suite_arg {
  char name[32];
  kw_tag tag;
  uint32_t list_size; /* N of "int[N]", otherwise 0 */
  bool optional;      /* "?" */
  bool mutated;       /* (a!) */
  /* mutated: which result it is; of arguments that are none the first is number kw_suite_op.result_count, and so on */
  uint32_t result;
  bool has_default;
  kw_value default_value; /* as a caller would pass it, a string without its text, a list without its entries */
  char default_text[16];  /* the text */
  int64_t default_ints[KW_MAX_RANK]; /* the entries */
  uint32_t text_count; /* a vendor's op: texts beside the default that mean something to it, as far as can be told */
  char texts[KW_SUITE_TEXTS][KW_SUITE_TEXT];
} kw_suite_arg;

typedef struct kw_suite_op {
  char name[64];
  char base[64]; /* the name without overload */
  uint32_t arg_count;
  uint32_t result_count;
  uint32_t changed_count; /* mutated arguments that are no results */
  kw_suite_arg args[KW_MAX_ARGS];
  bool in_place; /* the result is argument 0 */
  bool counted;  /* the last result is how many entries of the first are filled: kw_op_info */
  bool vendor;
  bool unheld; /* a vendor's op whose schema has a name or a default that the suite cannot hold: it has no cases */
  kw_op_extension extension; /* of its family */
  kw_op_row row;             /* a vendor's op: made up from what the worker reports; schema is NULL then */
} kw_suite_op;

/* What libkeyway tells of an op; vendor and row are left zero. False when it has a default that the suite
 * cannot hold. */
bool kw_suite_op_take(const kw_op *op, kw_suite_op *out_op);

/* What an argument is when it is not given. */
kw_value kw_suite_arg_default(const kw_suite_arg *arg);

/* All ops of the op table; the array is static and made at the first call (not thread-safe). */
const kw_suite_op *kw_suite_ops(uint32_t *out_count);

/* The key dtypes that the op's cases exist for, KW_DTYPE_BIT. */
uint64_t kw_suite_op_keys(const kw_suite_op *op);

/* The name of its family, which is how a table that a person reads groups ops; "vendor" for a vendor's op. */
const char *kw_suite_op_family(const kw_suite_op *op);

/* Index of the argument of that name, or -1. */
int kw_suite_op_find_arg(const kw_suite_op *op, const char *name);

/* Index of the argument that is a generator, or -1: the op is not random. */
int kw_suite_op_generator(const kw_suite_op *op);

#endif /* KEYWAY_CONFORMANCE_SIGNATURE_H */
