/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops: the rows of the op table and what plugins defined, parsed and interned.
 */
#ifndef KEYWAY_CORE_OP_H
#define KEYWAY_CORE_OP_H

#include "op/schema.h"
#include "op_table.h"

#define KW_OP_ID_BITS 12

struct kw_op {
  uint32_t id; /* 1.. in order of definition; dense; fits in KW_OP_ID_BITS */
  kw_schema schema;
  int32_t generator;         /* index of the Generator argument, which makes the op a random one; -1 without */
  bool counted;              /* kw_op_row_counted: schema.results has the count as its last */
  bool pointwise;            /* kw_op_row_pointwise */
  uint32_t changed;          /* bit i: argument i is (a!) and no result */
  kw_cast_policy cast;       /* of autocast */
  kw_op_row row;             /* for a vendor's op: made up from its kw_op_desc, level KW_LEVEL_VENDOR */
  kw_infer_fn infer;         /* vendor ops only */
  void *user;                /* of infer and reference */
  kw_reference_fn reference; /* vendor ops only */
};

/* Puts the op table's rows into the registry, unless they are there. KW_ERR_OUT_OF_MEMORY, or KW_OK; the next call goes
 * on where this one stopped. All functions here do so first. Any thread. */
kw_status kw_op_table_build(void);

/* kw_op_find after that, which leaves no text where there is none: NULL. */
const kw_op *kw_op_lookup(const char *name);

/* Highest id handed out so far plus one. */
uint32_t kw_op_id_limit(void);
const kw_op *kw_op_by_id(uint32_t id);

/* Adds a vendor's op (host->define_op). Same name and schema again: KW_OK. `vendor` names the definer in messages.
 * Thread-safe; look-ups go on without a lock meanwhile. */
kw_status kw_op_define(const char *vendor, uint32_t abi_version, const kw_op_desc *desc);

#endif /* KEYWAY_CORE_OP_H */
