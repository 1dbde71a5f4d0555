/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite constant: packed forms of constant arguments, of every kernel that makes some. What is computed with one is
 * compared, by the bit, with what is computed with a constant tensor of the same contents that nothing ever happened
 * to. That this is right at all the op cases see: their second run has constant arguments.
 */
#include "call.h"

#include "contract/slots/bench.h"

#include <stdio.h>

enum { NUMEL = 40 * 40 };

/* ---- Calls that pack ----------------------------------------------------------------------------------------------
 */

static void mark(kw_tensor *tensor) {
  KW_CHECK_OK(kw_tensor_set_constant(tensor, true));
}

static kw_tensor *packed_of(const kw_test_call *call, uint32_t arg) {
  return call->args[arg].tensors[0];
}

static void replace(kw_test_call *call, uint32_t arg, kw_tensor *tensor) {
  kw_tensor_release(call->args[arg].tensors[0]);
  call->args[arg].tensors[0] = tensor;
  call->args[arg].value = kw_arg_tensor(tensor);
}

static void fill(kw_tensor *tensor, uint64_t tag) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  void *bytes = kw_test_memory(kw_test_bytes_of(tensor));
  kw_test_fill(ref->dtype, bytes, (size_t)ref->numel, tag);
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  free(bytes);
}

/* The results of a call that runs on the stream. */
static unsigned char *run_on(const kw_test_call *call, kw_stream *stream, size_t *out_size) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  unsigned char *bytes = NULL;
  KW_CHECK_OK(kw_test_call_run(call, stream, outs));
  if (stream) KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_test_call_results(call, outs, &bytes, out_size));
  for (uint32_t i = 0; i < call->info.result_count; i++) kw_tensor_release(outs[i]);
  return bytes;
}

static void expect(const kw_test_call *call, kw_stream *stream, const unsigned char *want, size_t size,
                   const char *when) {
  size_t got_size = 0;
  unsigned char *got = run_on(call, stream, &got_size);
  KW_CHECK(got_size == size && memcmp(got, want, size) == 0, "%s of %s: %s it computes something else", call->info.name,
           kw_dtype_name(call->dtype), when);
  free(got);
}

/* A tensor of the same shape that lies densely or, turned, with its last two dimensions the other way round. */
static kw_tensor *laid(const kw_tensor *like, bool turned) {
  const kw_tensor_ref *ref = kw_tensor_describe(like);
  int64_t shape[KW_MAX_RANK];
  kw_tensor *base = NULL, *view = NULL;
  memcpy(shape, ref->shape, sizeof shape);
  if (turned) {
    shape[ref->rank - 1] = ref->shape[ref->rank - 2];
    shape[ref->rank - 2] = ref->shape[ref->rank - 1];
  }
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, ref->dtype, ref->rank, shape, &base));
  if (!turned) return base;
  KW_CHECK_OK(kw_tensor_transpose(base, -1, -2, &view));
  kw_tensor_release(base);
  return view;
}

/* What the call gives with contents `tag` in a constant tensor of its own. */
static unsigned char *fresh_run(const kw_test_call *call, uint32_t arg, bool turned, uint64_t tag, size_t *out_size) {
  kw_test_call fresh;
  kw_test_call_copy(call, &fresh);
  replace(&fresh, arg, laid(packed_of(call, arg), turned));
  fill(packed_of(&fresh, arg), tag);
  mark(packed_of(&fresh, arg));
  unsigned char *bytes = run_on(&fresh, NULL, out_size);
  kw_test_call_free(&fresh);
  return bytes;
}

/* Calls `check` for every op, dtype and argument that a kernel of the device packs. */
static void check_all(void (*check)(const kw_test_call *call, uint32_t arg, bool turned)) {
  uint32_t checked = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    kw_kernel_info kernel = {.struct_size = sizeof kernel};
    if (!kw_test_op_repeats(op)) continue;
    for (uint32_t k = 0; kw_op_get_kernel(op, kw_contract.device, k, &kernel) == KW_OK; k++) {
      const bool chosen = kernel.math_mode == KW_MATH_HIGHEST && kernel.priority != KW_PRIORITY_OFF;
      for (kw_dtype dtype = 0; dtype < KW_KEY_DTYPE_COUNT && chosen && kernel.packable; dtype++) {
        kw_test_call call;
        if (!kw_dtype_mask_has(kernel.dtypes, dtype) || !kw_test_call_make(op, dtype, NUMEL, &call)) continue;
        for (uint32_t arg = 0; arg < call.given; arg++) {
          if (!(kernel.packable >> arg & 1) || !packed_of(&call, arg)) continue;
          for (int turned = 0; turned < (kw_tensor_describe(packed_of(&call, arg))->rank > 1 ? 2 : 1); turned++) {
            check(&call, arg, turned);
            checked++;
          }
        }
        kw_test_call_free(&call);
      }
    }
  }
  if (checked == 0) kw_test_skip("no kernel of the device packs arguments");
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

typedef enum change { CHANGE_WRITE, CHANGE_ENQUEUE, CHANGE_COPY, CHANGE_VIEW, CHANGE_MAP, CHANGE_COUNT } change;
static const char *const change_names[] = {"written", "written asynchronously", "copied over", "written through a view",
                                           "written through a map"};

/* Gives a dense tensor these bytes. */
static void make_change(change how, kw_tensor *tensor, const void *bytes) {
  const size_t size = kw_test_bytes_of(tensor);
  kw_tensor *other = NULL;
  void *map = NULL;
  switch (how) {
    case CHANGE_WRITE:
      KW_CHECK_OK(kw_tensor_write(tensor, bytes));
      return;
    case CHANGE_ENQUEUE:
      KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, NULL));
      KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
      return;
    case CHANGE_COPY:
      other = laid(tensor, false);
      KW_CHECK_OK(kw_tensor_write(other, bytes));
      KW_CHECK_OK(kw_tensor_copy_async(tensor, NULL, other, NULL));
      break;
    case CHANGE_VIEW:
      KW_CHECK_OK(kw_tensor_alias(tensor, &other));
      KW_CHECK_OK(kw_tensor_write(other, bytes));
      break;
    case CHANGE_MAP:
      KW_CHECK_OK(kw_tensor_map(tensor, NULL, KW_MAP_WRITE, &map));
      memcpy(map, bytes, size);
      KW_CHECK_OK(kw_tensor_unmap(tensor, map));
      return;
    default:
      return;
  }
  kw_tensor_release(other);
}

static void check_change(const kw_test_call *call, uint32_t arg, change how) {
  char when[160];
  size_t size = 0;
  unsigned char *want = fresh_run(call, arg, false, 2, &size);
  kw_test_call changed;
  kw_test_call_copy(call, &changed);
  kw_tensor *tensor = packed_of(&changed, arg);
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  void *bytes = kw_test_memory(kw_test_bytes_of(tensor));
  fill(tensor, 1);
  mark(tensor);
  size_t before_size = 0;
  free(run_on(&changed, NULL, &before_size));
  kw_test_fill(ref->dtype, bytes, (size_t)ref->numel, 2);
  make_change(how, tensor, bytes);
  free(bytes);
  KW_CHECK(!kw_tensor_is_constant(tensor), "%s: a constant tensor that was %s is constant still", call->info.name,
           change_names[how]);
  mark(tensor);
  snprintf(when, sizeof when, "with a constant argument that was %s, and made constant again,", change_names[how]);
  expect(&changed, NULL, want, size, when);
  kw_test_call_free(&changed);
  free(want);
}

static void check_changes(const kw_test_call *call, uint32_t arg, bool turned) {
  for (change how = CHANGE_WRITE; how < CHANGE_COUNT && !turned; how++) check_change(call, arg, how);
}

/* A constant argument that is changed in place is read as it is then, however it was changed. */
void kw_contract_constant_changed(void **state) {
  (void)state;
  check_all(check_changes);
}

/* ---- Several ------------------------------------------------------------------------------------------------------
 */

/* Two constants of one shape in one buffer, the second at an odd place, and in turn. */
static void check_two(const kw_test_call *call, uint32_t arg, bool turned) {
  enum { GAP = 3 };
  const kw_tensor_ref *ref = kw_tensor_describe(packed_of(call, arg));
  size_t sizes[2] = {0, 0};
  unsigned char *want[2];
  kw_test_call calls[2];
  kw_tensor *base = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, ref->dtype, 1, &(int64_t){2 * ref->numel + GAP}, &base));
  for (int i = 0; i < 2; i++) {
    kw_tensor *like = laid(packed_of(call, arg), turned), *view = NULL;
    KW_CHECK_OK(kw_tensor_as_strided(base, ref->rank, ref->shape, kw_tensor_describe(like)->strides,
                                     i * (ref->numel + GAP), &view));
    kw_tensor_release(like);
    want[i] = fresh_run(call, arg, turned, 11 + (uint64_t)i, &sizes[i]);
    kw_test_call_copy(call, &calls[i]);
    replace(&calls[i], arg, view);
    fill(view, 11 + (uint64_t)i);
  }
  mark(base);
  for (int round = 0; round < 4; round++) {
    expect(&calls[round % 2], NULL, want[round % 2], sizes[round % 2],
           "with one of two constant arguments that share a buffer, in turn,");
  }
  for (int i = 0; i < 2; i++) {
    kw_test_call_free(&calls[i]);
    free(want[i]);
  }
  kw_tensor_release(base);
}

/* Each constant has a packed form of its own, of where and as it lies. */
void kw_contract_constant_apart(void **state) {
  (void)state;
  check_all(check_two);
}

/* ---- Order --------------------------------------------------------------------------------------------------------
 */

/* Packing is behind what its stream had before, and what other streams compute with it behind that. */
static void check_order(const kw_test_call *call, uint32_t arg, bool turned) {
  if (turned) return;
  size_t size = 0;
  unsigned char *want = fresh_run(call, arg, false, 22, &size);
  kw_stream *first = kw_test_stream(), *second = kw_test_stream();
  kw_test_call late;
  kw_test_call_copy(call, &late);
  kw_tensor *tensor = packed_of(&late, arg);
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  static void *bytes; /* outlives a test that fails */
  bytes = kw_test_memory(kw_test_bytes_of(tensor));
  fill(tensor, 21);
  kw_test_fill(ref->dtype, bytes, (size_t)ref->numel, 22);
  kw_gate *gate = kw_gate_close(first);
  KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, first));
  mark(tensor);
  kw_bench_open_when_stuck(gate); /* the first call waits for the packed form */
  expect(&late, first, want, size, "with a constant argument that its stream had yet to write");
  expect(&late, second, want, size, "with a constant argument that another stream has packed");
  kw_test_call_free(&late);
  KW_CHECK_OK(kw_stream_destroy(first));
  KW_CHECK_OK(kw_stream_destroy(second));
  free(bytes);
  free(want);
}

void kw_contract_constant_in_order(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  check_all(check_order);
}
