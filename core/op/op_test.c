/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of ops, and what a vendor's op must be.
 */
#include "op/op.h"

#include <keyway/known_args.h>

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static kw_status infer_scalar(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                              uint32_t out_count) {
  (void)user;
  (void)args;
  (void)arg_count;
  for (uint32_t i = 0; i < out_count; ++i) outs[i]->dtype = KW_F32;
  return KW_OK;
}

static kw_status reference(const kw_call *call) {
  return call->arg_count == *(const uint32_t *)call->user ? KW_OK : 77;
}

static kw_op_desc describe(const char *schema) {
  return (kw_op_desc){.struct_size = sizeof(kw_op_desc), .schema = schema, .comparator = KW_COMPARE_ULP, .ulp = 2};
}

static void table_is_there_and_interned(void **state) {
  (void)state;
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    const kw_op *op = kw_op_at(i);
    assert_non_null(op);
    assert_string_equal(op->schema.text, kw_op_table[i].schema);
    assert_int_equal(op->id, i + 1);
    assert_ptr_equal(kw_op_by_id(op->id), op);
    assert_ptr_equal(kw_op_find(op->schema.name), op);
  }
  assert_int_equal(kw_op_id_limit(), kw_op_count() + 1);
  assert_null(kw_op_at(kw_op_count()));
  assert_null(kw_op_by_id(0));
  assert_null(kw_op_by_id(kw_op_id_limit()));
  assert_null(kw_op_find("add"));
  assert_null(kw_op_find(""));
  assert_null(kw_op_find(NULL));
}

/* keyway/known_args.h is made from ops.def; after a change run scripts/known_args.py. */
static void known_args_are_the_tables(void **state) {
  (void)state;
  uint32_t listed = 0;
#define COUNT(op, count) listed++;
  KW_KNOWN_ARGS_LIST(COUNT)
  assert_int_equal(listed, kw_op_table_count);
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    const kw_schema *schema = &kw_op_at(i)->schema;
    if (kw_known_args(schema->name) != schema->arg_count) fail_msg("%s: run scripts/known_args.py", schema->name);
  }
  assert_int_equal(kw_known_args("acme::scaled_add"), 0);
  assert_int_equal(kw_known_args(""), 0);
}

/* KW_CMP_ACCUMULATE rows say by which op magnitudes are measured; it must exist and take the same arguments. */
static void magnitude_ops_exist(void **state) {
  (void)state;
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    const kw_op_row *row = &kw_op_table[i];
    if (row->compare != KW_CMP_ACCUMULATE) continue;
    const char *name = kw_op_at(i)->schema.name, *slash = strchr(row->magnitude, '/');
    if (slash) { /* a bound of the reference's own, not an op */
      assert_int_equal(slash - row->magnitude, strlen(name));
      assert_memory_equal(row->magnitude, name, strlen(name));
      assert_string_equal(slash, "/magnitude");
      continue;
    }
    const kw_op *magnitude = kw_op_find(row->magnitude);
    assert_non_null(magnitude);
    assert_int_equal(magnitude->schema.arg_count, kw_op_at(i)->schema.arg_count);
  }
}

/* What is meant by a name that no op has, each as its text goes on. */
static void unknown_names_lead_to_ops(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"add_mm", "; did you mean 'addmm'?"},
      {"ADDMM", "; did you mean 'addmm'?"},
      {"add", "; did you mean 'add.Tensor' or 'add.Scalar'?"},
      {"add.Tenser", "; did you mean 'add.Tensor' or 'add.Scalar'?"},
      {"aten::mm", "; did you mean 'mm'?"},
      {"ad.Tensor", "; did you mean 'add.Tensor'?"},
      {"softmax.int", "; ATen's softmax is here '_softmax'"},
      {"sofmax", "; did you mean 'softmax'? ATen's is here '_softmax'"},
      {"conv2d", "; ATen's conv2d is here 'convolution'"},
      {"acme::scaled_add", "; a vendor's own is there once its plugin is open (kw_device_open)"},
      {"", ""},
      {"qwertyuiopasdfghjkl", ""},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char text[256];
    snprintf(text, sizeof text, "there is no op '%s'%s", names[i][0], names[i][1]);
    assert_null(kw_op_find(names[i][0]));
    assert_string_equal(kw_error_message(), text);
  }
  assert_null(kw_op_find(NULL));
}

/* Functions of ATen's that are said to be none here: none of them is, and what does their work is there. */
static void aten_functions_lead_to_ops(void **state) {
  (void)state;
  static const char *const functions[][2] = {
#define KW_ATEN_FUNCTION(name, ops) {name, ops},
#include "op/aten_functions.def"
  };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    assert_null(kw_op_find(functions[i][0]));
    for (const char *at = strchr(functions[i][1], '\''); at; at = strchr(at, '\'')) {
      char op[64];
      const size_t length = strcspn(++at, "'");
      snprintf(op, sizeof op, "%.*s", (int)length, at);
      if (!kw_op_find(op)) fail_msg("%s: %s", functions[i][0], kw_error_message());
      at += length + 1;
    }
  }
}

static void info_follows_the_row(void **state) {
  (void)state;
  kw_op_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_op_get_info(kw_op_find("exp"), &info), KW_OK);
  assert_string_equal(info.name, "exp");
  assert_string_equal(info.schema, "exp(Tensor self) -> Tensor");
  assert_string_equal(info.comparator, "ulp");
  assert_true(info.max_ulp == 3 && info.arg_count == 1 && info.result_count == 1 && info.level == KW_LEVEL_CORE);
  assert_true(info.dtypes.bits[0] == KW_DTYPES_REAL && info.dtypes.bits[1] == 0);
  static const char *const names[][2] = {{"fill_.Scalar", "bits"}, {"mm", "accumulate"}, {"argmax", "index"}};
  for (size_t i = 0; i < 3; ++i) {
    assert_int_equal(kw_op_get_info(kw_op_find(names[i][0]), &info), KW_OK);
    assert_string_equal(info.comparator, names[i][1]);
  }
  /* An older caller's smaller struct: nothing past its end is written. */
  memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(kw_op_info, dtypes);
  assert_int_equal(kw_op_get_info(kw_op_find("mm"), &info), KW_OK);
  assert_int_equal(info.struct_size, offsetof(kw_op_info, dtypes));
  assert_int_equal(info.arg_count, 0x5a5a5a5a);
  assert_int_equal(kw_op_get_info(NULL, &info), KW_ERR_INVALID_ARGUMENT);
}

static void arguments_follow_the_schema(void **state) {
  (void)state;
  kw_op_desc desc = describe(
      "acme::taken_apart(Tensor(a!) self, Tensor?[] list, int[2] dim=[1, -2], *, str mode='sum', "
      "float? eps=None) -> (Tensor, Tensor(a!))");
  desc.infer = infer_scalar;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  const kw_op *op = kw_op_find("acme::taken_apart");
  static const struct {
    const char *name;
    kw_tag tag;
    uint64_t flags;
    uint32_t list_size;
    kw_tag default_tag;
  } expected[] = {
      {"self", KW_TAG_TENSOR, KW_ARG_MUTATED | KW_ARG_RETURNED, 0, KW_TAG_NONE},
      {"list", KW_TAG_TENSOR_LIST, KW_ARG_OPTIONAL_ENTRIES, 0, KW_TAG_NONE},
      {"dim", KW_TAG_INT_LIST, KW_ARG_HAS_DEFAULT, 2, KW_TAG_INT_LIST},
      {"mode", KW_TAG_STRING, KW_ARG_HAS_DEFAULT | KW_ARG_KEYWORD_ONLY, 0, KW_TAG_STRING},
      {"eps", KW_TAG_FLOAT, KW_ARG_HAS_DEFAULT | KW_ARG_KEYWORD_ONLY | KW_ARG_OPTIONAL, 0, KW_TAG_NONE},
  };
  const uint32_t count = sizeof expected / sizeof expected[0];
  kw_arg_info info = {.struct_size = sizeof info};
  for (uint32_t i = 0; i < count; ++i) {
    assert_int_equal(kw_op_get_arg(op, i, &info), KW_OK);
    assert_string_equal(info.name, expected[i].name);
    assert_int_equal(info.tag, expected[i].tag);
    assert_int_equal(info.flags, expected[i].flags);
    assert_int_equal(info.list_size, expected[i].list_size);
    assert_int_equal(info.default_value.tag, expected[i].default_tag);
  }
  assert_int_equal(kw_op_get_arg(op, 2, &info), KW_OK);
  assert_true(info.default_value.count == 2 && info.default_value.u.ints[1] == -2);
  assert_int_equal(kw_op_get_arg(op, 3, &info), KW_OK);
  assert_string_equal(info.default_value.u.s, "sum");
  assert_int_equal(kw_op_get_arg(op, count, &info), KW_ERR_NOT_FOUND);
  assert_non_null(strstr(kw_error_message(), "acme::taken_apart has 5 arguments"));
  assert_int_equal(kw_op_get_arg(NULL, 0, &info), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_op_get_arg(op, 0, NULL), KW_ERR_INVALID_ARGUMENT);

  assert_int_equal(kw_op_result_alias(op, 0), -1);
  assert_int_equal(kw_op_result_alias(op, 1), 0);
  assert_int_equal(kw_op_result_alias(op, 2), -1);
  assert_int_equal(kw_op_result_alias(NULL, 0), -1);
}

static void vendor_op_is_defined(void **state) {
  (void)state;
  kw_op_desc desc = describe("acme::first(Tensor self, Tensor other, *, float scale=1.0) -> Tensor");
  uint32_t before = kw_op_count();
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  const kw_op *op = kw_op_find("acme::first");
  assert_non_null(op);
  assert_int_equal(kw_op_count(), before + 1);
  assert_int_equal(op->row.level, KW_LEVEL_VENDOR);
  assert_true(op->row.ulp == 2 && op->row.dtypes == KW_DTYPES_ANY && op->row.compare == KW_CMP_ULP);
  assert_int_equal(op->row.shape, KW_SHAPE_BROADCAST);
  assert_ptr_equal(op->row.schema, op->schema.text);
  /* Again, as after a plugin's shutdown and init: the same op. */
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  assert_ptr_equal(kw_op_find("acme::first"), op);
  assert_int_equal(kw_op_count(), before + 1);
  desc.schema = "acme::first(Tensor self) -> Tensor";
  assert_int_equal(kw_op_define("other", KW_ABI_VERSION, &desc), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(
      strstr(kw_error_message(), "other: op 'acme::first' is already defined as \"acme::first(Tensor self, "));

  desc = describe("acme::inplace_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  desc.dtypes = (kw_dtype_mask){{KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_U16) | UINT64_C(1) << 63, 1}};
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "stand for no dtype (0x8000000000000000, 0x1)"));
  assert_null(kw_op_find("acme::inplace_"));
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION + 1, &desc), KW_OK); /* a later version has such */
  op = kw_op_find("acme::inplace_");
  assert_true(op->row.shape == KW_SHAPE_INPLACE && op->row.result == KW_RESULT_SELF);
  assert_true(op->row.dtypes == KW_DTYPE_BIT(KW_F32));
}

static void a_vendors_bound_is_kept(void **state) {
  (void)state;
  kw_op_desc desc = describe("acme::sums(Tensor self) -> Tensor");
  desc.comparator = KW_COMPARE_ACCUMULATE;
  desc.ulp = 0;
  desc.growth = 12;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  kw_op_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_op_get_info(kw_op_find("acme::sums"), &info), KW_OK);
  assert_string_equal(info.comparator, "accumulate");
  assert_true(info.growth == 12 && info.max_ulp == 0 && info.absolute == 0);
  desc = describe("acme::close(Tensor self) -> Tensor");
  desc.absolute = 0.5;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  assert_int_equal(kw_op_get_info(kw_op_find("acme::close"), &info), KW_OK);
  assert_true(strcmp(info.comparator, "ulp") == 0 && info.max_ulp == 2 && info.absolute == 0.5 && info.growth == 0);
}

static void descriptors_of_other_sizes(void **state) {
  (void)state;
  kw_op_desc desc = describe("acme::too_small(Tensor self) -> Tensor");
  desc.struct_size = KW_OP_DESC_MIN - 1;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_ABI_MISMATCH);
  assert_non_null(strstr(kw_error_message(), "struct_size"));
  /* A newer one's tail is ignored. */
  struct {
    kw_op_desc desc;
    char tail[64];
  } newer = {describe("acme::newer(Tensor self) -> Tensor"), "tail"};
  newer.desc.struct_size = sizeof newer;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &newer.desc), KW_OK);
}

static const struct {
  const char *schema, *says;
} refused[] = {
    {"first(Tensor self) -> Tensor", "no namespace"},
    {"keyway::first(Tensor self) -> Tensor", "namespace of the op table"},
    {"torchvision::first(Tensor self) -> Tensor", "as in 'acme::first'"},
    {"acme::x(Tensor self)", "column 21"},
    {"acme::x(Tensor self) -> ()", "no result"},
    {"acme::x(Tensor[] list) -> Tensor", "a list of tensors"},
    {"acme::x(int n) -> Tensor", "no tensor argument"},
    {"acme::x(Tensor? a) -> Tensor", "no tensor argument"},
    {"acme::x(Tensor a, Tensor(b!) c) -> Tensor(b!)", "not its first"},
    {"acme::x(Tensor(a!) a) -> Tensor", "new results"},
    {"acme::x(Tensor(a!)? a, Tensor b) -> Tensor(a!)", "may be none"},
};

static void bad_vendor_ops_are_refused(void **state) {
  (void)state;
  uint32_t before = kw_op_count();
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    kw_op_desc desc = describe(refused[i].schema);
    assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_INVALID_ARGUMENT);
    if (!strstr(kw_error_message(), refused[i].says)) fail_msg("%s: %s", refused[i].schema, kw_error_message());
  }
  kw_op_desc desc = describe("acme::x(Tensor(a!) a) -> Tensor");
  desc.infer = infer_scalar;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "does not return it"));
  desc = describe("acme::x(Tensor a) -> Tensor");
  static const struct {
    kw_comparator comparator;
    double ulp, absolute, growth;
    const char *says;
  } bounds[] = {{KW_COMPARE_ULP, NAN, 0, 0, "ulp is nan"},
                {KW_COMPARE_ULP, 1, -1, 0, "absolute is -1"},
                {KW_COMPARE_ULP, 1, 0, 3, "growth is 3; it must be 0 with"},
                {KW_COMPARE_BITS, 1, 0, 0, "ulp is 1; it must be 0 with"},
                {KW_COMPARE_ACCUMULATE, 0, 0, 0, "growth is 0; it must be more"},
                {KW_COMPARE_ACCUMULATE, 0, 0, INFINITY, "growth is inf"},
                {KW_COMPARE_ACCUMULATE, 0, 1, 8, "absolute is 1"}};
  for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; ++i) {
    desc.comparator = bounds[i].comparator;
    desc.ulp = bounds[i].ulp;
    desc.absolute = bounds[i].absolute;
    desc.growth = bounds[i].growth;
    assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_INVALID_ARGUMENT);
    if (!strstr(kw_error_message(), bounds[i].says)) fail_msg("%s: %s", bounds[i].says, kw_error_message());
  }
  desc.comparator = 3;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_ERR_UNSUPPORTED);
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, NULL), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_op_count(), before);
  assert_null(kw_op_find("acme::x"));
  desc = describe("acme::x(Tensor[] list) -> Tensor");
  desc.infer = infer_scalar;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  assert_int_equal(kw_op_find("acme::x")->row.shape, KW_SHAPE_CUSTOM);
}

static void references_run(void **state) {
  (void)state;
  kw_op_desc desc = describe("acme::referenced(Tensor self) -> Tensor");
  uint32_t count = 1;
  desc.reference = reference;
  desc.user = &count;
  assert_int_equal(kw_op_define("acme", KW_ABI_VERSION, &desc), KW_OK);
  const kw_op *op = kw_op_find("acme::referenced");
  kw_call call = {.struct_size = sizeof call, .arg_count = 1};
  assert_int_equal(kw_op_run_reference(op, &call), KW_OK);
  call.arg_count = 2;
  assert_int_equal(kw_op_run_reference(op, &call), KW_ERR_INTERNAL);
  assert_int_equal(kw_op_run_reference(kw_op_find("mm"), &call), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_op_run_reference(NULL, &call), KW_ERR_INVALID_ARGUMENT);
}

enum { THREADS = 4, PER_THREAD = 100 };

/* Defines ops, half of them the same in every thread, and finds all that it defined. */
static void *define_many(void *user) {
  int thread = *(int *)user;
  for (int i = 0; i < PER_THREAD; ++i) {
    char schema[64];
    snprintf(schema, sizeof schema, "race::op%d_%d(Tensor self) -> Tensor", i, i % 2 ? thread : 0);
    kw_op_desc desc = describe(schema);
    if (kw_op_define("race", KW_ABI_VERSION, &desc) != KW_OK) return "define failed";
    *strchr(schema, '(') = '\0';
    const kw_op *op = kw_op_find(schema);
    if (!op || strcmp(op->schema.name, schema) != 0 || kw_op_by_id(op->id) != op) return "not found again";
  }
  return NULL;
}

static void threads_define_and_find(void **state) {
  (void)state;
  uint32_t before = kw_op_count();
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, define_many, &numbers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *failure;
    pthread_join(threads[i], &failure);
    if (failure) fail_msg("%s", (const char *)failure);
  }
  assert_int_equal(kw_op_count() - before, PER_THREAD / 2 + PER_THREAD / 2 * THREADS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_there_and_interned), cmocka_unit_test(magnitude_ops_exist),
      cmocka_unit_test(unknown_names_lead_to_ops),   cmocka_unit_test(aten_functions_lead_to_ops),
      cmocka_unit_test(known_args_are_the_tables),   cmocka_unit_test(info_follows_the_row),
      cmocka_unit_test(arguments_follow_the_schema), cmocka_unit_test(vendor_op_is_defined),
      cmocka_unit_test(descriptors_of_other_sizes),  cmocka_unit_test(a_vendors_bound_is_kept),
      cmocka_unit_test(bad_vendor_ops_are_refused),  cmocka_unit_test(references_run),
      cmocka_unit_test(threads_define_and_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
