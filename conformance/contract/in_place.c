/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite launch: the result of a pointwise op may be exactly one of its arguments, whatever the numbers beside them.
 */
#include "call.h"

#include <inttypes.h>

/* What an attribute with a default is given in its place; a text that the op does not take it refuses. */
static kw_value other_than_default(const kw_arg_info *info, kw_dtype dtype, const char *text) {
  switch (info->tag) {
    case KW_TAG_SCALAR:
      return dtype == KW_BOOL ? kw_arg_scalar_bool(false) : kw_arg_scalar_i64(3);
    case KW_TAG_FLOAT:
      return kw_arg_float(3);
    case KW_TAG_BOOL:
      return kw_arg_bool(!info->default_value.u.b);
    case KW_TAG_STRING:
      return kw_arg_string(text);
    default:
      return info->default_value;
  }
}

/* Gives the call attributes that are not the defaults. False when it has none, or is refused with them. */
static bool change_attributes(kw_test_call *call, const char *text) {
  const kw_test_call before = *call;
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  bool changed = false, has_text = false;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_arg_info *info = &call->args[i].info;
    const bool may_be_left_out = info->flags & (KW_ARG_HAS_DEFAULT | KW_ARG_OPTIONAL);
    const bool given = info->tag == KW_TAG_SCALAR || info->tag == KW_TAG_FLOAT || info->tag == KW_TAG_BOOL ||
                       (info->tag == KW_TAG_STRING && text);
    if (!may_be_left_out || !given) continue;
    call->args[i].value = other_than_default(info, call->dtype, text);
    call->given = i + 1 > call->given ? i + 1 : call->given;
    changed = true;
    has_text |= info->tag == KW_TAG_STRING;
  }
  if (changed && (!text || has_text) && kw_test_call_run(call, NULL, outs) == KW_OK) {
    kw_tensor_release(outs[0]);
    return true;
  }
  kw_error_clear();
  memcpy(call->args, before.args, sizeof call->args);
  call->given = before.given;
  return false;
}

/* How the tensors of a call lie. */
typedef enum way {
  WAY_PLAIN,
  WAY_TURNED, /* transposed, and so is the result that is one of them: kernels that pack what is not dense */
  WAY_ONE     /* all that can be are one and the same tensor */
} way;
static const char *const way_names[] = {"", ", transposed", ", one tensor as all arguments"};

static void replace(kw_test_arg *arg, kw_tensor *tensor) {
  kw_tensor_release(arg->tensors[0]);
  arg->tensors[0] = tensor;
  arg->value = kw_arg_tensor(tensor);
}

static bool is_alike(const kw_tensor *a, const kw_tensor *b) {
  const kw_tensor_ref *first = kw_tensor_describe(a), *second = kw_tensor_describe(b);
  return first->dtype == second->dtype && first->rank == second->rank &&
         memcmp(first->shape, second->shape, first->rank * sizeof *first->shape) == 0;
}

/* False where the call has no tensors that could lie so. */
static bool lay(kw_test_call *call, way how) {
  kw_test_arg *first = NULL;
  bool changed = how == WAY_PLAIN;
  for (uint32_t i = 0; i < call->given && how != WAY_PLAIN; i++) {
    kw_test_arg *arg = &call->args[i];
    if (arg->info.tag != KW_TAG_TENSOR || !arg->tensors[0]) continue;
    const kw_tensor_ref *ref = kw_tensor_describe(arg->tensors[0]);
    kw_tensor *turned = NULL;
    if (how == WAY_ONE) {
      if (!first) {
        first = arg;
      } else if (is_alike(arg->tensors[0], first->tensors[0])) {
        kw_tensor_retain(first->tensors[0]);
        replace(arg, first->tensors[0]);
        changed = true;
      }
    } else if (ref->rank >= 2 && ref->shape[0] == ref->shape[1]) {
      KW_CHECK_OK(kw_tensor_transpose(arg->tensors[0], 0, 1, &turned));
      replace(arg, turned);
      changed = true;
    }
  }
  return changed;
}

/* The call once more with argument `index` as its result, which then holds what the other result holds. */
static void compare_in_place(const kw_test_call *call, way how, uint32_t index, const unsigned char *want,
                             size_t size) {
  kw_test_call copy;
  kw_test_call_copy(call, &copy);
  lay(&copy, how);
  kw_tensor *outs[KW_MAX_RESULTS] = {copy.args[index].tensors[0]};
  unsigned char *got = NULL;
  size_t got_size = 0;
  kw_status status = kw_test_call_run(&copy, NULL, outs);
  KW_CHECK(status == KW_OK, "%s with argument %u as its result%s gave %s: %s", call->info.name, index, way_names[how],
           kw_status_name(status), kw_error_message());
  KW_CHECK_OK(kw_test_call_results(&copy, outs, &got, &got_size));
  KW_CHECK(got_size == size && memcmp(got, want, size) == 0,
           "%s with argument %u as its result computes something else than into memory of its own (%" PRId64
           " elements of %s%s)",
           call->info.name, index, kw_tensor_describe(outs[0])->numel, kw_dtype_name(call->dtype), way_names[how]);
  free(got);
  kw_test_call_free(&copy);
}

/* Each argument as the result; how many were tried. */
static uint32_t compare_all(const kw_test_call *call, way how) {
  kw_test_call laid;
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  unsigned char *want = NULL;
  size_t size = 0;
  uint32_t compared = 0;
  kw_test_call_copy(call, &laid);
  if (lay(&laid, how)) {
    KW_CHECK_OK(kw_test_call_run(&laid, NULL, outs));
    KW_CHECK_OK(kw_test_call_results(&laid, outs, &want, &size));
    for (uint32_t i = 0; i < call->given; i++) {
      if (call->args[i].info.tag != KW_TAG_TENSOR || !laid.args[i].tensors[0]) continue;
      if (size == 0 || !is_alike(laid.args[i].tensors[0], outs[0])) continue;
      compare_in_place(call, how, i, want, size);
      compared++;
    }
    free(want);
    kw_tensor_release(outs[0]);
  }
  kw_test_call_free(&laid);
  return compared;
}

/* About as many elements as a kernel takes at once, and as it takes in several passes. */
enum { FEW = 1001, MANY = 70003 };

/* How many arguments were tried as the result: with the attributes that the op has by itself, and with others. None of
 * an op that draws random numbers. */
static uint32_t in_place(const kw_op *op, kw_dtype dtype, int64_t numel) {
  static const char *const texts[] = {NULL, "tanh", "floor", "trunc"}; /* of all pointwise ops */
  kw_test_call call;
  if (kw_op_support(op, kw_contract.device, dtype) != KW_SUPPORT_KERNEL) return 0;
  if (!kw_test_call_make(op, dtype, numel, &call)) return 0;
  uint32_t compared = 0;
  if (!kw_test_call_random(&call)) {
    const way last = numel == FEW || kw_contract.effort == KW_EFFORT_THOROUGH ? WAY_ONE : WAY_PLAIN;
    for (way how = WAY_PLAIN; how <= last; how++) compared += compare_all(&call, how);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && numel == FEW; i++) {
      if (change_attributes(&call, texts[i])) compared += compare_all(&call, WAY_PLAIN);
    }
  }
  kw_test_call_free(&call);
  return compared;
}

/* A pointwise op computes the same bits into an argument as into memory of its own: in each dtype of few elements, and
 * in one of many. */
void kw_contract_launch_in_place(void **state) {
  (void)state;
  uint32_t compared = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    kw_op_info info = {.struct_size = sizeof info};
    KW_CHECK_OK(kw_op_get_info(op, &info));
    if (!info.pointwise || !kw_test_op_repeats(op)) continue;
    for (kw_dtype dtype = 0; dtype < KW_KEY_DTYPE_COUNT; dtype++) compared += in_place(op, dtype, FEW);
    bool many = kw_contract.effort == KW_EFFORT_QUICK;
    for (int kind = 0; kind < KW_TEST_KINDS && !many; kind++) many = in_place(op, kw_test_kinds[kind], MANY) > 0;
  }
  if (compared == 0) kw_test_skip("the device has no pointwise op");
}
