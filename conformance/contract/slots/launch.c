/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of a kernel: what it is made of, and what comes out.
 */
#include "launch.h"

#include "contract/kernel_trial.h"

enum { EDGE = 16, MOST_BYTES = 1 << 16 };

struct kw_launch {
  kw_kernel_trial trial;
  kw_mem inputs[KW_MAX_ARGS]; /* of arguments that are tensors */
  void *prepared;
  uint64_t size; /* bytes of the result */
  unsigned char want[MOST_BYTES];
};

/* A call with all that it points to. Holds pointers into itself. */
typedef struct made_call {
  kw_call call;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS], result;
  const kw_tensor_ref *outs[1];
} made_call;

/* ---- Making a call ----------------------------------------------------------------------------------------------- */

/* stream NULL: as the kernel's pure functions see the call, without memory. */
static void make(made_call *m, const kw_launch *l, void *stream, kw_mem result, uint64_t call_id) {
  const kw_kernel_trial *t = &l->trial;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    m->args[i] = t->call.args[i].value;
    if (m->args[i].tag != KW_TAG_META) continue;
    m->tensors[i] = kw_bench_place(kw_kernel_trial_tensor(t, i, 0), stream ? l->inputs[i] : NULL);
    m->args[i].tag = KW_TAG_TENSOR;
    m->args[i].u.tensor = &m->tensors[i];
  }
  m->result = kw_bench_place(t->results[0], result);
  m->outs[0] = &m->result;
  m->call = (kw_call){.struct_size = sizeof m->call,
                      .arg_count = t->call.info.arg_count,
                      .out_count = 1,
                      .math_mode = t->kernel->math_needs,
                      .device = kw_bench.device,
                      .stream = stream,
                      .op = t->kernel->op,
                      .args = m->args,
                      .outs = m->outs,
                      .user = t->kernel->user,
                      .prepared = l->prepared,
                      .call_id = call_id};
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

const char *kw_launch_op(const kw_launch *l) {
  return l->trial.kernel->op;
}

bool kw_launch_is_recordable(const kw_launch *l) {
  return (l->trial.kernel->flags & KW_KERNEL_CAPTURABLE) != 0;
}

const unsigned char *kw_launch_want(const kw_launch *l, uint64_t *out_size) {
  *out_size = l->size;
  return l->want;
}

kw_status kw_launch_try(const kw_launch *l, void *stream, kw_mem result, uint64_t call_id) {
  made_call *m = kw_test_memory(sizeof *m);
  make(m, l, stream, result, call_id);
  const kw_status status = l->trial.kernel->launch(&m->call);
  memset(m, 0xa5, sizeof *m); /* the launch's no longer */
  free(m);
  return status;
}

void kw_launch_run(const kw_launch *l, void *stream, kw_mem result, uint64_t call_id) {
  kw_test_calls(__FILE__, __LINE__, "a kernel's launch");
  const kw_status status = kw_launch_try(l, stream, result, call_id);
  KW_CHECK(status == KW_OK, "called directly: the launch of kernel %s of %s gave %s: %s", l->trial.kernel->name,
           l->trial.kernel->op, kw_status_name(status), kw_guest_seen.error);
}

/* No byte is right. */
static void fill_wrongly(const kw_launch *l, unsigned char *bytes) {
  for (uint64_t i = 0; i < l->size; i++) bytes[i] = (unsigned char)~l->want[i];
}

kw_mem kw_launch_result(const kw_launch *l) {
  static unsigned char bytes[MOST_BYTES];
  const kw_mem mem = kw_bench_memory(l->size);
  void *stream = kw_bench_stream(UINT64_MAX);
  fill_wrongly(l, bytes);
  kw_bench_write(stream, mem, bytes, l->size);
  kw_bench_wait(stream);
  kw_bench_end_stream(stream);
  return mem;
}

static void read_result(const kw_launch *l, void *stream, kw_mem result, unsigned char *bytes) {
  fill_wrongly(l, bytes);
  kw_bench_read(stream, result, bytes, l->size);
  kw_bench_wait(stream);
}

bool kw_launch_is_right(const kw_launch *l, void *stream, kw_mem result) {
  static unsigned char got[MOST_BYTES];
  read_result(l, stream, result, got);
  return memcmp(got, l->want, l->size) == 0;
}

void kw_launch_expect(const kw_launch *l, void *stream, kw_mem result, const char *what) {
  static unsigned char got[MOST_BYTES];
  read_result(l, stream, result, got);
  kw_test_same(got, l->want, l->size, what);
}

/* ---- Drawing one ------------------------------------------------------------------------------------------------- */

/* Whether this suite can make calls of the op, and of this kernel as often as it likes. */
static bool is_plain(const kw_kernel_desc *kernel, const kw_op *op, const kw_op_info *info) {
  return info->pointwise && info->result_count == 1 && kw_op_result_alias(op, 0) < 0 &&
         (kernel->flags & KW_KERNEL_DETERMINISTIC) && !(kernel->flags & KW_KERNEL_DATA_ERRORS) &&
         kernel->priority != KW_PRIORITY_OFF && kernel->math_needs == 0;
}

static bool has_plain_arguments(const kw_kernel_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    if (arg->value.tag == KW_TAG_META_LIST || (arg->info.flags & KW_ARG_MUTATED)) return false;
    if (arg->value.tag == KW_TAG_META && kw_kernel_trial_bytes(&t->forms[i].refs[0]) > MOST_BYTES) return false;
  }
  return !t->has_generator && kw_kernel_trial_bytes(&t->results[0]) <= MOST_BYTES;
}

static bool is_taken(kw_launch *l) {
  const kw_kernel_desc *kernel = l->trial.kernel;
  static made_call m;
  uint64_t workspace = 0; /* one would have to be each launch's own */
  make(&m, l, NULL, NULL, 0);
  return (!kernel->can_implement || kernel->can_implement(&m.call) == KW_OK) &&
         (!kernel->workspace_size || kernel->workspace_size(&m.call, &workspace) == KW_OK) && workspace == 0 &&
         (!kernel->prepare || kernel->prepare(&m.call, &l->prepared) == KW_OK);
}

/* Its memory, and what it gives. */
static void try_out(kw_launch *l) {
  static unsigned char bytes[MOST_BYTES];
  void *stream = kw_bench_stream(UINT64_MAX);
  l->size = kw_kernel_trial_bytes(&l->trial.results[0]);
  for (uint32_t i = 0; i < l->trial.call.info.arg_count; i++) {
    const kw_tensor_ref *tensor = &l->trial.forms[i].refs[0];
    if (l->trial.call.args[i].value.tag != KW_TAG_META) continue;
    l->inputs[i] = kw_bench_memory(kw_kernel_trial_bytes(tensor));
    kw_test_fill(tensor->dtype, bytes, (size_t)kw_kernel_trial_numel(tensor), i);
    kw_bench_write(stream, l->inputs[i], bytes, kw_kernel_trial_bytes(tensor));
    kw_bench_wait(stream);
  }
  const kw_mem result = kw_launch_result(l);
  kw_launch_run(l, stream, result, 0);
  kw_bench_read(stream, result, l->want, l->size);
  kw_bench_wait(stream);
  kw_bench_free(result);
  kw_bench_end_stream(stream);
}

static bool make_launch(kw_launch *l, const kw_kernel_desc *kernel) {
  kw_op_info info = {.struct_size = sizeof info};
  const kw_op *op = kw_op_find(kernel->op); /* NULL: a vendor's own */
  if (!op || kw_op_get_info(op, &info) != KW_OK || !is_plain(kernel, op, &info)) return false;
  const kw_dtype dtype = kw_kernel_trial_dtype(kernel, &info);
  for (uint32_t number = 0; dtype != KW_DTYPE_NONE && number < KW_TEST_ATTEMPTS; number++) {
    memset(l, 0, sizeof *l);
    l->trial.kernel = kernel;
    if (!kw_kernel_trial_describe(&l->trial, op, dtype, EDGE, number)) continue;
    if (has_plain_arguments(&l->trial) && is_taken(l)) return true;
  }
  return false;
}

kw_launch *kw_launch_draw(void) {
  kw_launch *l = kw_test_memory(sizeof *l);
  uint64_t first = 0;
  kw_test_pattern(&first, sizeof first, 0x1a0c4);
  for (uint32_t i = 0; i < kw_guest_kernel_count; i++) {
    if (!make_launch(l, &kw_guest_kernels[(first + i) % kw_guest_kernel_count])) continue;
    try_out(l);
    return l;
  }
  free(l);
  return NULL;
}

void kw_launch_end(kw_launch *l, void (*given)(const char *slot, kw_status status)) {
  if (!l) return;
  const kw_kernel_desc *kernel = l->trial.kernel;
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    if (l->inputs[i]) given("memory.dealloc", KW_SLOT(memory, dealloc, l->inputs[i]));
  }
  if (kernel->release) given("a kernel's release", kernel->release(kernel->user, l->prepared));
  free(l);
}

static void expect_ok(const char *slot, kw_status status) {
  kw_guest_expect(status, KW_OK, slot, "called directly");
}

void kw_launch_free(kw_launch *l) {
  kw_launch_end(l, expect_ok);
}
