/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry: an append-only array of ops and an open-addressing hash table over it. Readers take no lock: an op is
 * complete before its pointer is published, and nothing is ever removed.
 */
#include "op/op.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/struct.h"
#include "base/utf8.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPS ((1u << KW_OP_ID_BITS) - 1)
#define BUCKETS 8192u /* a power of two, at least twice MAX_OPS */

static _Atomic(kw_op *) ops[MAX_OPS]; /* by id - 1 */
static atomic_uint op_count;
static atomic_uint buckets[BUCKETS]; /* id, or 0 */
static pthread_mutex_t define_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The bucket that holds this name, or the empty one where it would go. */
static atomic_uint *find_bucket(const char *name) {
  for (uint32_t i = kw_hash_text(KW_HASH_INIT, name);; ++i) {
    atomic_uint *bucket = &buckets[i & (BUCKETS - 1)];
    uint32_t id = atomic_load_explicit(bucket, memory_order_acquire);
    if (id == 0) return bucket;
    const kw_op *op = atomic_load_explicit(&ops[id - 1], memory_order_relaxed);
    if (strcmp(op->schema.name, name) == 0) return bucket;
  }
}

/* Under define_mutex. False when the registry is full. */
static bool publish(kw_op *op) {
  uint32_t index = atomic_load_explicit(&op_count, memory_order_relaxed);
  if (index == MAX_OPS) return false;
  op->id = index + 1;
  op->generator = -1;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (op->schema.args[i].tag == KW_TAG_GENERATOR) op->generator = (int32_t)i;
    if (op->schema.args[i].mutated) op->changed |= 1u << i;
  }
  for (uint32_t r = 0; r < op->schema.result_count; ++r) {
    if (op->schema.results[r].alias_of >= 0) op->changed &= ~(1u << op->schema.results[r].alias_of);
  }
  atomic_store_explicit(&ops[index], op, memory_order_release);
  atomic_store_explicit(find_bucket(op->schema.name), op->id, memory_order_release);
  atomic_store_explicit(&op_count, index + 1, memory_order_release);
  return true;
}

/* Under define_mutex. KW_ERR_OUT_OF_MEMORY, or KW_OK. */
static kw_status add_table_row(const kw_op_row *row) {
  kw_op *op = calloc(1, sizeof *op);
  if (!op) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the op table");
  kw_status status = kw_schema_parse(row->schema, &op->schema);
  if (status != KW_OK) {
    free(op);
    if (status == KW_ERR_OUT_OF_MEMORY) return kw_wrap(status, "no memory for the op table");
    kw_log(KW_LOG_ERROR, "the op table's row \"%s\" is left out: %s", row->schema, kw_error_message());
    return KW_OK;
  }
  op->row = *row;
  op->counted = kw_op_row_counted(row);
  op->pointwise = kw_op_row_pointwise(row);
  if (op->counted) op->schema.results[op->schema.result_count++].alias_of = -1;
  op->cast = kw_op_row_cast(row);
  publish(op);
  return KW_OK;
}

kw_status kw_op_table_build(void) {
  static atomic_bool built;
  static uint32_t rows; /* that are in the registry; under define_mutex */
  if (atomic_load_explicit(&built, memory_order_acquire)) return KW_OK;
  pthread_mutex_lock(&define_mutex);
  kw_status status = KW_OK;
  while (rows < kw_op_table_count && status == KW_OK) {
    status = add_table_row(&kw_op_table[rows]);
    if (status == KW_OK) ++rows;
  }
  if (status == KW_OK) atomic_store_explicit(&built, true, memory_order_release);
  pthread_mutex_unlock(&define_mutex);
  return status;
}

/* ---- Look-up ----------------------------------------------------------------------------------------------------- */

uint32_t kw_op_id_limit(void) {
  return kw_op_count() + 1;
}

const kw_op *kw_op_by_id(uint32_t id) {
  return id == 0 ? NULL : kw_op_at(id - 1);
}

KW_API uint32_t kw_op_count(void) {
  return kw_op_table_build() == KW_OK ? atomic_load_explicit(&op_count, memory_order_acquire) : 0;
}

KW_API const kw_op *kw_op_at(uint32_t index) {
  return index < kw_op_count() ? atomic_load_explicit(&ops[index], memory_order_acquire) : NULL;
}

const kw_op *kw_op_lookup(const char *name) {
  uint32_t id = atomic_load_explicit(find_bucket(name), memory_order_acquire);
  return id ? atomic_load_explicit(&ops[id - 1], memory_order_acquire) : NULL;
}

/* ---- Vendors' ops ------------------------------------------------------------------------------------------------ */

/* Without an infer callback the tensors broadcast and promote; that needs tensors, and a mutated one must be the first.
 */
static const char *default_inference_obstacle(const kw_schema *schema) {
  bool tensors = false;
  for (uint32_t i = 0; i < schema->arg_count; ++i) {
    if (schema->args[i].tag == KW_TAG_TENSOR_LIST) return "it takes a list of tensors";
    if (schema->args[i].mutated && i > 0) return "it changes an argument that is not its first";
    if (schema->args[i].mutated && schema->args[i].optional) return "it changes an argument that may be none";
    tensors = tensors || (schema->args[i].tag == KW_TAG_TENSOR && !schema->args[i].optional);
  }
  if (!tensors) return "it has no tensor argument that is always there";
  for (uint32_t i = 0; i < schema->result_count; ++i) {
    if (schema->args[0].mutated && schema->results[i].alias_of != 0)
      return "it changes an argument and has new results";
  }
  return NULL;
}

/* By kw_comparator. */
static const kw_compare comparisons[] = {
    [KW_COMPARE_BITS] = KW_CMP_BITS, [KW_COMPARE_ULP] = KW_CMP_ULP, [KW_COMPARE_ACCUMULATE] = KW_CMP_ACCUMULATE};

static kw_op_row vendor_row(const kw_op *op, const kw_op_desc *desc) {
  bool infers = desc->infer != NULL, inplace = op->schema.args[0].mutated;
  kw_op_row row = {
      .schema = op->schema.text,
      .dtypes = desc->dtypes.bits[0] & KW_DTYPES_ANY,
      .shape = infers    ? KW_SHAPE_CUSTOM
               : inplace ? KW_SHAPE_INPLACE
                         : KW_SHAPE_BROADCAST,
      .result = infers    ? KW_RESULT_CUSTOM
                : inplace ? KW_RESULT_SELF
                          : KW_RESULT_KEY,
      .compare = comparisons[desc->comparator],
      .ulp = desc->ulp,
      .abs = desc->absolute,
      .growth = desc->growth,
      .magnitude = "",
      .level = KW_LEVEL_VENDOR,
  };
  return row;
}

/* Namespaces of ops that the op table has, or may have some day. */
static bool is_reserved(const char *name) {
  static const char *const reserved[] = {"aten::", "keyway::", "quantized_decomposed::", "torchvision::"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; ++i) {
    if (strncmp(name, reserved[i], strlen(reserved[i])) == 0) return true;
  }
  return false;
}

static kw_status check_bound(const char *vendor, const char *name, const kw_op_desc *desc) {
  if (desc->comparator >= sizeof comparisons / sizeof comparisons[0]) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "%s: op '%s': comparator is %u, which this Keyway does not know; use a KW_COMPARE_*", vendor, name,
                   desc->comparator);
  }
  const bool ulps = desc->comparator == KW_COMPARE_ULP, grows = desc->comparator == KW_COMPARE_ACCUMULATE;
  const double growth = desc->growth;
  const struct {
    const char *name;
    double value;
    bool good;
    const char *wanted;
  } parts[] = {
      {"ulp", desc->ulp, ulps ? desc->ulp >= 0 : desc->ulp == 0, ulps ? "0 or more" : "0 with this comparator"},
      {"absolute", desc->absolute, ulps ? desc->absolute >= 0 : desc->absolute == 0,
       ulps ? "0 or more" : "0 with this comparator"},
      {"growth", growth, grows ? growth > 0 : growth == 0, grows ? "more than 0" : "0 with this comparator"}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    if (parts[i].good && isfinite(parts[i].value)) continue;
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: op '%s': %s is %g; it must be %s, and finite", vendor, name,
                   parts[i].name, parts[i].value, parts[i].wanted);
  }
  return KW_OK;
}

static kw_status check_vendor_op(const char *vendor, const kw_op *op, const kw_op_desc *desc) {
  const char *name = op->schema.name;
  if (!strstr(name, "::")) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: op '%s' has no namespace; a vendor's op needs one of the vendor's own, as in '%s::%s'", vendor,
                   name, vendor, name);
  }
  if (is_reserved(name)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: op '%s' is in a namespace of the op table; a vendor's op needs one of the vendor's own, as in "
                   "'%s::%s'",
                   vendor, name, vendor, strstr(name, "::") + 2);
  }
  if (op->schema.result_count == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: op '%s' has no result; give it one, or mark an argument (a!) and "
                   "return it",
                   vendor, name);
  }
  kw_status status = check_bound(vendor, name, desc);
  if (status != KW_OK) return status;
  const char *obstacle = desc->infer ? NULL : default_inference_obstacle(&op->schema);
  if (obstacle) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: op '%s' needs an infer callback, because %s", vendor, name, obstacle);
  }
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    bool is_result = !op->schema.args[i].mutated;
    for (uint32_t r = 0; r < op->schema.result_count; ++r) is_result |= op->schema.results[r].alias_of == (int32_t)i;
    if (is_result) continue;
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "%s: op '%s' changes '%s' and does not return it; make it a result, Tensor(a!)", vendor, name,
                   op->schema.args[i].name);
  }
  return KW_OK;
}

/* Under define_mutex. On KW_OK *out_kept says whether the registry holds the op now. */
static kw_status insert(const char *vendor, kw_op *op, bool *out_kept) {
  const kw_op *known = kw_op_lookup(op->schema.name);
  if (known && strcmp(known->schema.text, op->schema.text) != 0) {
    return kw_fail(
        KW_ERR_INVALID_ARGUMENT,
        "%s: op '%s' is already defined as \"%s\", so it cannot become \"%s\"; give the changed op an overload name "
        "of its own",
        vendor, op->schema.name, known->schema.text, op->schema.text);
  }
  if (known) return KW_OK;
  if (!publish(op)) {
    return kw_fail(KW_ERR_UNSUPPORTED, "%s: op '%s' does not fit: the op table holds %u", vendor, op->schema.name,
                   MAX_OPS);
  }
  *out_kept = true;
  return KW_OK;
}

kw_status kw_op_define(const char *vendor, uint32_t abi_version, const kw_op_desc *given) {
  if (!given) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: define_op: argument op is NULL", vendor);
  kw_status status = kw_struct_check("a kw_op_desc", given->struct_size, KW_OP_DESC_MIN);
  if (status != KW_OK) return kw_wrap(status, "%s: the op is not defined", vendor);
  if ((status = kw_op_table_build()) != KW_OK) return status; /* its names come first */
  kw_op_desc desc;
  kw_struct_read(&desc, sizeof desc, given);
  if ((status = kw_chain_check("a kw_op_desc", desc.next)) != KW_OK) return status;
  if ((desc.dtypes.bits[0] | desc.dtypes.bits[1]) == 0) desc.dtypes.bits[0] = KW_DTYPES_ANY;
  status = kw_dtype_mask_check("its dtypes", abi_version, &desc.dtypes);
  if (status != KW_OK) return kw_wrap(status, "%s: the op is not defined", vendor);

  if (desc.schema && !kw_utf8_is_valid(desc.schema)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: define_op: the schema '%s' is no UTF-8", vendor, desc.schema);
  }

  kw_op *op = calloc(1, sizeof *op);
  if (!op) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no memory for another op", vendor);
  status = kw_schema_parse(desc.schema, &op->schema);
  if (status != KW_OK) {
    free(op);
    return kw_wrap(status, "%s: the op is not defined", vendor);
  }
  bool kept = false;
  status = check_vendor_op(vendor, op, &desc);
  if (status == KW_OK) {
    op->row = vendor_row(op, &desc);
    op->infer = desc.infer;
    op->user = desc.user;
    op->reference = desc.reference;
    pthread_mutex_lock(&define_mutex);
    status = insert(vendor, op, &kept);
    pthread_mutex_unlock(&define_mutex);
  }
  if (!kept) {
    kw_schema_free(&op->schema);
    free(op);
  }
  return status;
}

/* ---- What there is to know about an op --------------------------------------------------------------------------- */

/* The ops that a decomposition of `op` leads to, or "". */
static const char *decomposition_of(const kw_op *op) {
  static const struct {
    const char *op, *needs;
  } decompositions[] = {
#define KW_DECOMPOSITION(op, needs, function, how) {op, needs},
#include "op/decompositions.def"
  };
  for (size_t i = 0; i < sizeof decompositions / sizeof decompositions[0]; ++i) {
    if (strcmp(decompositions[i].op, op->schema.name) != 0) continue;
    return decompositions[i].needs + (decompositions[i].needs[0] == '!'); /* which only rows of one op have */
  }
  return "";
}

KW_API kw_status kw_op_get_info(const kw_op *op, kw_op_info *out_info) {
  static const char *const comparators[] = {
      [KW_CMP_BITS] = "bits",       [KW_CMP_ULP] = "ulp",         [KW_CMP_ACCUMULATE] = "accumulate",
      [KW_CMP_WRITTEN] = "written", [KW_CMP_QUANTUM] = "quantum", [KW_CMP_INDEX] = "index"};
  if (!op) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_op_get_info: op is NULL");
  kw_status status = kw_struct_check_given("kw_op_get_info", out_info);
  if (status != KW_OK) return status;
  const kw_op_row *row = &op->row;
  kw_op_info info = {.level = row->level,
                     .name = op->schema.name,
                     .schema = op->schema.text,
                     .dtypes = {{row->dtypes, 0}},
                     .arg_count = op->schema.arg_count,
                     .result_count = op->schema.result_count,
                     .max_ulp = row->ulp,
                     .comparator = comparators[row->compare],
                     .decomposition = decomposition_of(op),
                     .counted = op->counted,
                     .pointwise = op->pointwise,
                     .absolute = row->abs,
                     .growth = row->growth};
  kw_struct_write(out_info, &info, sizeof info);
  return KW_OK;
}

KW_API kw_status kw_op_get_arg(const kw_op *op, uint32_t index, kw_arg_info *out_info) {
  if (!op) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_op_get_arg: op is NULL");
  kw_status status = kw_struct_check_given("kw_op_get_arg", out_info);
  if (status != KW_OK) return status;
  if (index >= op->schema.arg_count) {
    return kw_fail(KW_ERR_NOT_FOUND, "%s has %u arguments; there is no number %u", op->schema.name,
                   op->schema.arg_count, index);
  }
  const kw_schema_arg *arg = &op->schema.args[index];
  kw_arg_info info = {.flags = (arg->optional ? KW_ARG_OPTIONAL : 0) | (arg->mutated ? KW_ARG_MUTATED : 0u) |
                               (arg->keyword_only ? KW_ARG_KEYWORD_ONLY : 0) |
                               (arg->has_default ? KW_ARG_HAS_DEFAULT : 0) |
                               (arg->list_optional ? KW_ARG_OPTIONAL_ENTRIES : 0) |
                               (arg->mutated && !(op->changed >> index & 1) ? KW_ARG_RETURNED : 0),
                      .tag = arg->tag,
                      .list_size = (uint32_t)arg->list_size,
                      .name = arg->name,
                      .default_value = arg->default_value};
  kw_struct_write(out_info, &info, sizeof info);
  return KW_OK;
}

KW_API int32_t kw_op_result_alias(const kw_op *op, uint32_t index) {
  return op && index < op->schema.result_count ? op->schema.results[index].alias_of : -1;
}

KW_API kw_status kw_op_run_reference(const kw_op *op, const struct kw_call *call) {
  if (!op) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_op_run_reference: op is NULL");
  kw_status status = kw_struct_check_given("kw_op_run_reference", call);
  if (status != KW_OK) return status;
  if (!op->reference) {
    return kw_fail(KW_ERR_NOT_FOUND, "%s has no reference; only a vendor's op that was defined with one has",
                   op->schema.name);
  }
  kw_call with_user;
  kw_struct_read(&with_user, sizeof with_user, call);
  with_user.user = op->user;
  status = op->reference(&with_user);
  return status == KW_OK ? KW_OK : kw_from_plugin(status, "%s: the vendor's reference failed", op->schema.name);
}
