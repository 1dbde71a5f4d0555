/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite abi: nothing of a host's struct is read behind its end. A small host gives every struct as short as it may be
 * (KW_*_MIN), right before memory that nobody may touch, and calls every kernel of a pointwise op so.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHEN "with structs that end where memory ends"

enum { ROWS = 3, COLUMNS = 5, ITEM = 16, ARGS = 8, KERNELS = 16384 };

static kw_kernel_desc *kernels;
static uint32_t kernel_count;

typedef struct bench {
  kw_guest guest;
  void *device, *stream;
  kw_mem mem[2 * ARGS];
  uint32_t alignment; /* of mem */
} bench;

/* A copy that ends where memory ends. */
static void *at_end(const void *from, size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
  unsigned char *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KW_CHECK(pages != MAP_FAILED && mprotect(pages + room, page, PROT_NONE) == 0, "no memory");
  return memcpy(pages + room - size, from, size);
}

static void free_end(const void *struct_, size_t size) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)struct_ & ~(page - 1);
  munmap((void *)begin, ((uintptr_t)struct_ + size - begin) + page);
}

static kw_status keep_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx;
  if (kernel_count == KERNELS) return KW_ERR_NOT_FOUND;
  kw_kernel_desc *kept = &kernels[kernel_count++];
  memcpy(kept, kernel, kernel->struct_size < sizeof *kept ? kernel->struct_size : sizeof *kept);
  kept->op = strdup(kernel->op);
  kept->name = strdup(kernel->name);
  return KW_OK;
}

/* ---- Info structs ------------------------------------------------------------------------------------------------ */

static void open_bench(bench *b) {
  const kw_open_info open = {.struct_size = KW_OPEN_INFO_MIN};
  const kw_stream_info stream = {.struct_size = KW_STREAM_INFO_MIN, .token = 1};
  const kw_init_info init = {.struct_size = KW_INIT_INFO_MIN};
  const kw_device_info empty = {.struct_size = KW_DEVICE_INFO_MIN};
  kw_query_info query = {
      .struct_size = KW_QUERY_INFO_MIN, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION, .host_version = "1"};
  static kw_host_api host;
  void *plugin = NULL;
  const char *reason = NULL;
  b->guest = kw_guest_load();
  const kw_guest *g = &b->guest;
  KW_GUEST_OK(WHEN, g->query(at_end(&query, KW_QUERY_INFO_MIN), &b->guest.desc, &reason));
  host = kw_guest_host;
  host.struct_size = KW_HOST_API_MIN;
  host.register_kernel = keep_kernel;
  if (g->desc->abi_version < host.abi_version) host.abi_version = g->desc->abi_version;
  KW_GUEST_OK(WHEN, g->desc->init(at_end(&host, KW_HOST_API_MIN), at_end(&init, KW_INIT_INFO_MIN), &plugin));
  kw_device_info *info = at_end(&empty, KW_DEVICE_INFO_MIN);
  KW_GUEST_OK(WHEN, g->device->info(plugin, 0, info));
  b->alignment = info->mem_alignment < 4096 ? info->mem_alignment : 4096;
  KW_GUEST_OK(WHEN, g->device->open(plugin, 0, at_end(&open, KW_OPEN_INFO_MIN), &b->device));
  KW_GUEST_OK(WHEN, g->stream->create(b->device, at_end(&stream, KW_STREAM_INFO_MIN), &b->stream));
}

static void fill_memory(bench *b) {
  static const unsigned char zeroes[ROWS * COLUMNS * ITEM];
  static unsigned char back[sizeof zeroes];
  const kw_guest *g = &b->guest;
  const kw_alloc_info alloc = {
      .struct_size = KW_ALLOC_INFO_MIN, .kind = KW_MEM_DEVICE, .size = sizeof zeroes, .alignment = 1};
  for (int i = 0; i < 2 * ARGS; i++) {
    KW_GUEST_OK(WHEN, g->memory->alloc(b->device, at_end(&alloc, KW_ALLOC_INFO_MIN), &b->mem[i]));
    kw_copy_info copy = {.struct_size = KW_COPY_INFO_MIN,
                         .kind = KW_COPY_HOST_TO_DEVICE,
                         .dst_mem = b->mem[i],
                         .src_host = zeroes,
                         .size = sizeof zeroes};
    KW_GUEST_OK(WHEN, g->memory->copy(b->device, b->stream, at_end(&copy, KW_COPY_INFO_MIN)));
    copy = (kw_copy_info){.struct_size = KW_COPY_INFO_MIN,
                          .kind = KW_COPY_DEVICE_TO_HOST,
                          .dst_host = back,
                          .src_mem = b->mem[i],
                          .size = sizeof zeroes};
    KW_GUEST_OK(WHEN, g->memory->copy(b->device, b->stream, at_end(&copy, KW_COPY_INFO_MIN)));
  }
  KW_GUEST_OK(WHEN, g->stream->synchronize(b->device, b->stream, KW_WAIT_FOREVER));
  const kw_event_info info = {.struct_size = KW_EVENT_INFO_MIN};
  void *event = NULL;
  if (!g->event) return;
  KW_GUEST_OK(WHEN, g->event->create(b->device, at_end(&info, KW_EVENT_INFO_MIN), &event));
  KW_GUEST_OK(WHEN, g->event->destroy(b->device, event));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* A call of a kernel: its descriptors, before they are put in their places. */
typedef struct trial {
  const kw_kernel_desc *kernel;
  kw_value args[ARGS];
  kw_tensor_ref tensors[ARGS], result;
  uint32_t count;
  int32_t alias; /* the argument that the result is, or -1 */
  bool generator;
} trial;

/* An argument of this kind in a call without anything special; false: there is none. */
static bool plain_argument(trial *t, uint32_t i, const kw_arg_info *info, kw_dtype dtype) {
  kw_value *value = &t->args[i];
  *value = (kw_value){0};
  if (info->tag == KW_TAG_GENERATOR) {
    t->generator = true;
  } else if (info->flags & KW_ARG_HAS_DEFAULT) {
    *value = info->default_value;
  } else if (info->flags & KW_ARG_OPTIONAL) {
    return true;
  } else if (info->tag == KW_TAG_TENSOR) {
    t->tensors[i] = kw_meta(dtype, 2, (int64_t[]){ROWS, COLUMNS});
    *value = kw_arg_meta(&t->tensors[i]);
  } else if (info->tag == KW_TAG_SCALAR) {
    *value = kw_arg_scalar_i64(1);
  } else if (info->tag == KW_TAG_FLOAT) {
    *value = kw_arg_float(1);
  } else if (info->tag == KW_TAG_INT) {
    *value = kw_arg_int(1);
  } else {
    return info->tag == KW_TAG_BOOL && (*value = kw_arg_bool(false), true);
  }
  return true;
}

static bool plain_trial(const kw_kernel_desc *kernel, trial *t) {
  const kw_op *op = kw_op_find(kernel->op);
  kw_op_info info = {.struct_size = sizeof info};
  *t = (trial){.kernel = kernel};
  if (!op || kw_op_get_info(op, &info) != KW_OK || !info.pointwise || info.result_count != 1 || info.arg_count > ARGS)
    return false;
  const uint64_t dtypes = kernel->dtypes.bits[0] & info.dtypes.bits[0];
  if (!dtypes) return false;
  const kw_dtype dtype = dtypes & KW_DTYPES_F32 ? KW_F32 : (kw_dtype)__builtin_ctzll(dtypes);
  t->count = info.arg_count;
  t->alias = kw_op_result_alias(op, 0);
  for (uint32_t i = 0; i < t->count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    if (kw_op_get_arg(op, i, &arg) != KW_OK || !plain_argument(t, i, &arg, dtype)) return false;
  }
  t->result.struct_size = sizeof t->result;
  return kw_op_infer(op, t->args, t->count, (kw_tensor_ref *[]){&t->result}, 1) == KW_OK;
}

/* The call with all that it points to, each where memory ends. */
typedef struct placed {
  kw_value *args;
  const kw_tensor_ref **outs;
  kw_call_extra *extra;
  kw_call *call;
} placed;

static kw_tensor_ref *place_tensor(const bench *b, kw_tensor_ref tensor, kw_mem mem) {
  tensor.struct_size = KW_TENSOR_REF_MIN;
  tensor.mem = mem;
  tensor.numel = ROWS * COLUMNS;
  tensor.alignment = b->alignment;
  return at_end(&tensor, KW_TENSOR_REF_MIN);
}

static placed place(const bench *b, const trial *t, bool launched) {
  const kw_kernel_desc *kernel = t->kernel;
  const kw_tensor_ref *result = NULL;
  placed p = {.args = at_end(t->args, t->count * sizeof *t->args)};
  for (uint32_t i = 0; i < t->count; i++) {
    if (p.args[i].tag != KW_TAG_META) continue;
    const kw_tensor_ref *tensor = place_tensor(b, t->tensors[i], launched ? b->mem[i] : NULL);
    p.args[i] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = tensor};
    if (t->alias == (int32_t)i) result = tensor;
  }
  if (!result) result = place_tensor(b, t->result, launched ? b->mem[ARGS] : NULL);
  p.outs = at_end(&result, sizeof result);
  kw_call call = {.struct_size = KW_CALL_MIN,
                  .arg_count = t->count,
                  .out_count = 1,
                  .math_mode = kernel->math_needs,
                  .device = b->device,
                  .stream = launched ? b->stream : NULL,
                  .op = kernel->op,
                  .args = p.args,
                  .outs = p.outs,
                  .user = kernel->user,
                  .call_id = 1};
  if (launched && (t->generator || kernel->flags & KW_KERNEL_DATA_ERRORS)) {
    kw_call_extra extra = {.struct_size = KW_CALL_EXTRA_MIN};
    if (kernel->flags & KW_KERNEL_DATA_ERRORS) extra.error_mem = b->mem[ARGS + 1];
    call.extra = p.extra = at_end(&extra, KW_CALL_EXTRA_MIN);
  }
  p.call = at_end(&call, KW_CALL_MIN);
  return p;
}

static void take_away(const placed *p, const trial *t) {
  const kw_tensor_ref *result = p->outs[0];
  for (uint32_t i = 0; i < t->count; i++) {
    if (p->args[i].tag == KW_TAG_TENSOR && p->args[i].u.tensor != result)
      free_end(p->args[i].u.tensor, KW_TENSOR_REF_MIN);
  }
  free_end(result, KW_TENSOR_REF_MIN);
  free_end(p->args, t->count * sizeof *p->args);
  free_end(p->outs, sizeof *p->outs);
  if (p->extra) free_end(p->extra, KW_CALL_EXTRA_MIN);
  free_end(p->call, KW_CALL_MIN);
}

static void run_kernel(const bench *b, const trial *t) {
  const kw_guest *g = &b->guest;
  const kw_kernel_desc *kernel = t->kernel;
  uint64_t workspace = 0;
  void *prepared = NULL;
  placed p = place(b, t, false);
  const bool taken = (!kernel->can_implement || kernel->can_implement(p.call) == KW_OK) &&
                     (!kernel->workspace_size || kernel->workspace_size(p.call, &workspace) == KW_OK) &&
                     workspace <= ROWS * COLUMNS * ITEM &&
                     (!kernel->prepare || kernel->prepare(p.call, &prepared) == KW_OK);
  take_away(&p, t);
  if (!taken) return;
  p = place(b, t, true);
  p.call->prepared = prepared;
  p.call->workspace_size = workspace;
  if (workspace) p.call->workspace = b->mem[ARGS + 2];
  const kw_status status = kernel->launch(p.call);
  take_away(&p, t); /* it is the launch's no longer */
  KW_CHECK(status == KW_OK, "kernel %s of %s, " WHEN ": launch gave %s: %s", kernel->name, kernel->op,
           kw_status_name(status), kw_guest_seen.error);
  KW_GUEST_OK(WHEN, g->stream->synchronize(b->device, b->stream, KW_WAIT_FOREVER));
  if (kernel->release) KW_GUEST_OK(WHEN, kernel->release(kernel->user, prepared));
}

int kw_child_structs_end(void) {
  static bench b;
  static trial t;
  kernels = kw_test_memory(KERNELS * sizeof *kernels);
  open_bench(&b);
  fill_memory(&b);
  for (uint32_t k = 0; k < kernel_count; k++) {
    if (plain_trial(&kernels[k], &t)) run_kernel(&b, &t);
  }
  return 0;
}

/* A host of this version gives no more than KW_*_MIN bytes of a struct: nothing behind them is read, nor written. */
void kw_contract_abi_structs_end(void **state) {
  (void)state;
  kw_test_child("structs_end");
}
