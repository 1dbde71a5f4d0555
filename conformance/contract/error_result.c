/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, bad input to every op: results that do not fit, arguments that the op changes and must not overlap, and
 * what belongs to another device.
 */
#include "trial.h"

#include <stdio.h>

/* A view of rank `ref->rank` onto `base` (rank 1), contiguous from `offset`. */
static kw_tensor *view_at(kw_tensor *base, const kw_tensor_ref *ref, int64_t offset) {
  int64_t strides[KW_MAX_RANK], stride = 1;
  for (uint32_t d = ref->rank; d-- > 0; stride *= ref->shape[d]) strides[d] = stride;
  kw_tensor *view = NULL;
  KW_CHECK_OK(kw_tensor_as_strided(base, ref->rank, ref->shape, strides, offset, &view));
  return view;
}

/* A view that is one element everywhere. */
static kw_tensor *expanded_like(const kw_tensor_ref *ref) {
  int64_t ones[KW_MAX_RANK];
  for (int d = 0; d < KW_MAX_RANK; d++) ones[d] = 1;
  kw_tensor *one = kw_test_tensor(kw_contract.device, ref->dtype, ref->rank, ones, 3), *wide = NULL;
  KW_CHECK_OK(kw_tensor_expand(one, ref->rank, ref->shape, &wide));
  kw_tensor_release(one);
  return wide;
}

/* The argument with `tensor` in the place of its own or, in a list, of entry `entry`; `list` is room for a list. */
static kw_value with_tensor(const kw_test_arg *arg, int entry, kw_tensor *tensor, kw_tensor *list[KW_TEST_ENTRIES]) {
  if (arg->info.tag == KW_TAG_TENSOR) return kw_arg_tensor(tensor);
  memcpy(list, arg->tensors, KW_TEST_ENTRIES * sizeof *list);
  list[entry] = tensor;
  return kw_arg_tensor_list(list, list[1] ? 2 : 1);
}

/* Passes `bad` as result `index`, which it then releases. */
static void refuse_result(kw_trial *t, uint32_t index, kw_tensor *bad, const char *what) {
  kw_tensor *outs[KW_MAX_RESULTS];
  memcpy(outs, t->outs, sizeof outs);
  outs[index] = bad;
  kw_trial_refuse_with(t, outs, t->call.info.result_count, KW_TRIAL_ANY_ARGUMENT, what);
  kw_tensor_release(bad);
}

/* Result `index` and the data of argument `arg` share memory: all of it, or one element. */
static void overlapping(kw_trial *t, uint32_t index, uint32_t arg, int entry) {
  kw_tensor *tensor = t->call.args[arg].tensors[entry];
  const kw_tensor_ref *in = kw_tensor_describe(tensor), *out = kw_tensor_describe(t->outs[index]);
  if (in->dtype != out->dtype || in->numel == 0 || out->numel == 0) return;
  kw_tensor *base = kw_test_tensor(kw_contract.device, in->dtype, 1, (int64_t[]){in->numel + out->numel}, 5);
  kw_tensor *input = view_at(base, in, 0), *list[KW_TEST_ENTRIES];
  t->values[arg] = with_tensor(&t->call.args[arg], entry, input, list);
  t->by_address = true;
  const bool same = in->rank == out->rank && memcmp(in->shape, out->shape, in->rank * sizeof *in->shape) == 0;
  if (!t->call.info.pointwise || !same)
    refuse_result(t, index, view_at(base, out, 0), "a result that begins where an argument does");
  refuse_result(t, index, view_at(base, out, in->numel - 1), "a result that shares one element with an argument");
  t->by_address = false;
  kw_trial_reset(t);
  kw_tensor_release(input);
  kw_tensor_release(base);
}

static void bad_result(kw_trial *t, uint32_t index) {
  if (!t->outs[index]) return;
  kw_tensor_ref ref = *kw_tensor_describe(t->outs[index]);
  kw_device *device = kw_contract.device;
  kw_dtype other = ref.dtype == KW_F32 ? KW_I32 : KW_F32;
  refuse_result(t, index, kw_test_tensor(device, other, ref.rank, ref.shape, 4), "a result of another dtype");
  if (ref.numel > 1) refuse_result(t, index, expanded_like(&ref), "an expanded result");
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES && t->call.args[i].tensors[k]; k++) overlapping(t, index, i, k);
  }
  for (uint32_t i = 0; i < index; i++) {
    if (!t->outs[i] || kw_tensor_describe(t->outs[i])->dtype != ref.dtype || ref.numel == 0) continue;
    const kw_tensor_ref *first = kw_tensor_describe(t->outs[i]);
    kw_tensor *base = kw_test_tensor(device, ref.dtype, 1, (int64_t[]){first->numel + ref.numel}, 5),
              *whole = t->outs[i];
    t->outs[i] = view_at(base, first, 0);
    t->by_address = true;
    refuse_result(t, index, view_at(base, &ref, first->numel - 1), "two results that share memory");
    t->by_address = false;
    kw_tensor_release(t->outs[i]);
    t->outs[i] = whole;
    kw_tensor_release(base);
  }
  if (ref.rank < KW_MAX_RANK) {
    ref.shape[ref.rank] = 1;
    refuse_result(t, index, kw_test_tensor(device, ref.dtype, ref.rank + 1u, ref.shape, 4), "a result of another rank");
  }
  if (ref.rank > 0) {
    ref.shape[0]++;
    refuse_result(t, index, kw_test_tensor(device, ref.dtype, ref.rank, ref.shape, 4), "a result of another size");
  }
}

/* A tensor that the op changes: it may neither overlap itself nor, in part, another one of the call. */
static void bad_mutated(kw_trial *t, uint32_t index, int entry) {
  const kw_test_arg *arg = &t->call.args[index];
  const kw_tensor_ref ref = *kw_tensor_describe(arg->tensors[entry]);
  kw_tensor *list[KW_TEST_ENTRIES], *others[KW_TEST_ENTRIES];
  if (ref.numel < 2) return;
  kw_tensor *wide = expanded_like(&ref);
  kw_trial_refuse_value(t, index, with_tensor(arg, entry, wide, list), "an expanded tensor");
  kw_tensor_release(wide);
  for (uint32_t i = 0; i < t->call.info.arg_count * KW_TEST_ENTRIES; i++) {
    const uint32_t at = i / KW_TEST_ENTRIES;
    const int k = (int)(i % KW_TEST_ENTRIES);
    const kw_test_arg *other = &t->call.args[at];
    if ((at == index && k == entry) || !other->tensors[k]) continue;
    const kw_tensor_ref *in = kw_tensor_describe(other->tensors[k]);
    if (in->dtype != ref.dtype || in->numel == 0) continue;
    kw_tensor *base = kw_test_tensor(kw_contract.device, ref.dtype, 1, (int64_t[]){ref.numel + in->numel}, 5);
    kw_tensor *changed = view_at(base, &ref, 0), *read = view_at(base, in, ref.numel - 1);
    t->values[index] = with_tensor(arg, entry, changed, list);
    if (at == index) {
      list[k] = read;
    } else {
      t->values[at] = with_tensor(other, k, read, others);
    }
    t->by_address = true;
    kw_trial_refuse(t, KW_TRIAL_ANY_ARGUMENT, "an argument that shares one element with the one that is changed");
    t->by_address = false;
    kw_trial_reset(t);
    kw_tensor_release(changed);
    kw_tensor_release(read);
    kw_tensor_release(base);
  }
}

static void bad_changes(kw_trial *t, uint32_t index) {
  const kw_test_arg *arg = &t->call.args[index];
  if (!(arg->info.flags & KW_ARG_MUTATED)) return;
  for (int k = 0; k < KW_TEST_ENTRIES && arg->tensors[k]; k++) bad_mutated(t, index, k);
}

/* ---- Another device ---------------------------------------------------------------------------------------------- */

/* A tensor that lies on `other`, in the place of entry `entry` of argument `index`. */
static void elsewhere(kw_trial *t, uint32_t index, int entry, kw_device *other) {
  const kw_test_arg *arg = &t->call.args[index];
  const kw_tensor_ref *ref = kw_tensor_describe(arg->tensors[entry]);
  kw_tensor *there = kw_test_tensor(other, ref->dtype, ref->rank, ref->shape, 6), *list[KW_TEST_ENTRIES];
  kw_trial_refuse_value(t, index, with_tensor(arg, entry, there, list), "a tensor of another device");
  kw_tensor_release(there);
}

/* What belongs to another device: each tensor, a generator, a result, and when the op has tensors, the stream. Without
 * another device there is nothing to do: error/other_device says so. */
static void other_device(kw_trial *t) {
  const char *name;
  kw_device *other = kw_test_other_device(&name);
  if (!other) return;
  bool tensors = false;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    for (int k = 0; k < KW_TEST_ENTRIES && arg->tensors[k]; k++) elsewhere(t, i, k, other);
    tensors |= arg->tensors[0] != NULL;
    if (arg->info.tag != KW_TAG_GENERATOR) continue;
    kw_trial_refuse_value(t, i, kw_arg_generator(kw_generator_default(other)), "a generator of another device");
  }
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    if (!t->outs[r]) continue;
    const kw_tensor_ref *ref = kw_tensor_describe(t->outs[r]);
    refuse_result(t, r, kw_test_tensor(other, ref->dtype, ref->rank, ref->shape, 4), "a result on another device");
  }
  if (tensors) {
    kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
    kw_error_clear();
    kw_status status =
        kw_op_call(t->call.op, kw_stream_default(other), t->values, t->given, outs, t->call.info.result_count);
    kw_trial_check_refusal(t, status, KW_TRIAL_NO_ARGUMENT, "a stream of another device");
  }
  KW_CHECK_OK(kw_device_close(other));
}

void kw_trial_refuse_results(kw_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) bad_changes(t, i);
  for (uint32_t r = 0; r < t->call.info.result_count; r++) bad_result(t, r);
  other_device(t);
}
