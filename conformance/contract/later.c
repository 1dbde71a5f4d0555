/* SPDX-License-Identifier: Apache-2.0
 *
 * Suites launch and abi: what hosts of later versions may send. Kernels with KW_KERNEL_MIXED_DTYPES get dtypes, tags
 * and kinds of Scalars that no version of this major has; slots get fields that are reserved and flags that are not
 * known. Keyway never sends such, so a small host does, in a process of its own.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"
#include "op_table.h"

#define LATER 0x7ff0 /* no dtype, tag or kind will have this number */

/* A call as can_implement sees it, which holds pointers into itself. */
typedef struct question {
  const kw_kernel_desc *kernel;
  const kw_op *op;
  kw_call call;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS], results[KW_MAX_RESULTS];
  const kw_tensor_ref *outs[KW_MAX_RESULTS];
} question;

/* An argument of an op that is content with tensors of one shape; false for one that needs more. */
static bool make_argument(question *q, uint32_t index, kw_dtype dtype) {
  kw_arg_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_arg(q->op, index, &info));
  q->args[index] = info.default_value;
  if (info.tag == KW_TAG_TENSOR && !(info.flags & KW_ARG_OPTIONAL)) {
    q->tensors[index] = kw_meta(dtype, 2, (int64_t[]){4, 4});
    q->tensors[index].alignment = 64;
    q->args[index] = kw_arg_meta(&q->tensors[index]);
  } else if (info.tag == KW_TAG_SCALAR) {
    q->args[index] = kw_arg_scalar_i64(2);
  } else if (info.tag == KW_TAG_FLOAT && !(info.flags & KW_ARG_HAS_DEFAULT)) {
    q->args[index] = kw_arg_float(0.5);
  } else if (!(info.flags & (KW_ARG_OPTIONAL | KW_ARG_HAS_DEFAULT))) {
    return false;
  }
  return true;
}

/* A call that the kernel takes, of the key dtype; false when none was found. */
static bool make_call(question *q, const kw_kernel_desc *kernel, void *device, kw_dtype key) {
  *q = (question){.kernel = kernel, .op = kw_op_find(kernel->op)};
  kw_op_info info = {.struct_size = sizeof info};
  kw_tensor_ref *results[KW_MAX_RESULTS];
  if (!q->op) return false;
  KW_CHECK_OK(kw_op_get_info(q->op, &info));
  if (!info.pointwise && strcmp(info.name, "copy_") != 0) return false;
  for (uint32_t i = 0; i < info.arg_count; i++) {
    if (!make_argument(q, i, key)) return false;
  }
  for (uint32_t i = 0; i < info.result_count; i++) {
    q->results[i].struct_size = sizeof q->results[i];
    results[i] = &q->results[i];
  }
  if (kw_op_infer(q->op, q->args, info.arg_count, results, info.result_count) != KW_OK) return false;
  for (uint32_t i = 0; i < info.arg_count; i++) {
    if (q->args[i].tag == KW_TAG_META) q->args[i].tag = KW_TAG_TENSOR;
  }
  for (uint32_t i = 0; i < info.result_count; i++) {
    const int32_t alias = kw_op_result_alias(q->op, i);
    q->results[i].alignment = 64;
    q->outs[i] = alias >= 0 ? &q->tensors[alias] : &q->results[i];
  }
  q->call = (kw_call){.struct_size = sizeof q->call,
                      .arg_count = info.arg_count,
                      .out_count = info.result_count,
                      .math_mode = kernel->math_needs,
                      .device = device,
                      .op = info.name,
                      .args = q->args,
                      .outs = q->outs,
                      .user = kernel->user};
  return kernel->can_implement(&q->call) == KW_OK;
}

static void expect_refusal(const question *q, const char *what) {
  kw_guest_seen.error[0] = 0;
  const kw_status status = q->kernel->can_implement(&q->call);
  KW_CHECK(status == KW_ERR_NOT_IMPLEMENTED,
           "can_implement of kernel %s of %s answers %s to %s of the number 0x7ff0, which it cannot know, not "
           "KW_ERR_NOT_IMPLEMENTED",
           q->kernel->name, q->call.op, kw_status_name(status), what);
}

static void send_later_values(question *q) {
  for (uint32_t i = 0; i < q->call.arg_count; i++) {
    const kw_value value = q->args[i];
    if (value.tag == KW_TAG_TENSOR) {
      const kw_dtype dtype = q->tensors[i].dtype;
      q->tensors[i].dtype = LATER;
      expect_refusal(q, "a tensor's dtype");
      q->tensors[i].dtype = dtype;
    } else if (value.tag == KW_TAG_SCALAR) {
      q->args[i].kind = LATER;
      expect_refusal(q, "a Scalar's kind");
    } else if (value.tag == KW_TAG_DTYPE) {
      q->args[i].u.dtype = LATER;
      expect_refusal(q, "an argument that is a dtype");
    }
    q->args[i] = value;
    q->args[i].tag = LATER;
    expect_refusal(q, "an argument's tag");
    q->args[i] = value;
  }
  for (uint32_t i = 0; i < q->call.out_count; i++) {
    if (q->outs[i] != &q->results[i]) continue;
    q->results[i].dtype = LATER;
    expect_refusal(q, "a result's dtype");
    return;
  }
}

int kw_child_later_values(void) {
  kw_guest g = kw_guest_load();
  kw_host_api host = kw_guest_host_for(&g);
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  void *plugin = NULL, *device = NULL;
  static question q;
  host.register_kernel = kw_guest_keep_kernel;
  KW_GUEST_OK("keeping the kernels", g.desc->init(&host, &init, &plugin));
  KW_GUEST_OK("keeping the kernels", g.device->open(plugin, 0, &open, &device));
  for (uint32_t i = 0; i < kw_guest_kernel_count; i++) {
    const kw_kernel_desc *kernel = &kw_guest_kernels[i];
    if (!(kernel->flags & KW_KERNEL_MIXED_DTYPES)) continue;
    for (kw_dtype key = 0; key < KW_KEY_DTYPE_COUNT; key++) {
      if (!kw_dtype_mask_has(kernel->dtypes, key) || !make_call(&q, kernel, device, key)) continue;
      send_later_values(&q);
      break;
    }
  }
  KW_GUEST_OK("after later values", g.device->close(device));
  KW_GUEST_OK("after later values", g.desc->shutdown(plugin));
  return 0;
}

/* A kernel that takes arguments of several dtypes refuses what it does not know of these: dtypes of tensors, tags of
 * arguments, kinds of Scalars. A later version may send them. */
void kw_contract_launch_later_values(void **state) {
  (void)state;
  kw_test_child("later_values");
}

/* ---- Fields and flags -------------------------------------------------------------------------------------------- */

#define HINT (UINT64_C(1) << 31)
#define CRITICAL (UINT64_C(1) << 63)
#define LATER_HOST "for a host of a later version"

static void create_stream(const kw_guest *g, void *device) {
  kw_stream_info info = {.struct_size = sizeof info, .reserved = 7, .flags = HINT, .token = 1};
  void *stream = NULL;
  KW_GUEST_OK(LATER_HOST, g->stream->create(device, &info, &stream));
  KW_GUEST_OK(LATER_HOST, g->stream->destroy(device, stream));
  info.flags = CRITICAL;
  stream = NULL;
  kw_guest_expect(g->stream->create(device, &info, &stream), KW_ERR_UNSUPPORTED, "stream.create",
                  "with a critical flag that it cannot know");
  KW_CHECK(stream == NULL, "a stream that was refused is there");
}

static void create_event(const kw_guest *g, void *device) {
  kw_event_info info = {.struct_size = sizeof info, .reserved = 7, .flags = HINT};
  void *event = NULL;
  if (!g->event) return;
  KW_GUEST_OK(LATER_HOST, g->event->create(device, &info, &event));
  KW_GUEST_OK(LATER_HOST, g->event->destroy(device, event));
  info.flags = CRITICAL;
  event = NULL;
  kw_guest_expect(g->event->create(device, &info, &event), KW_ERR_UNSUPPORTED, "event.create",
                  "with a critical flag that it cannot know");
  KW_CHECK(event == NULL, "an event that was refused is there");
}

/* Memory of a kind that the host can map: with a hint, that is done which is done without. */
static void map_memory(const kw_guest *g, void *device, kw_mem_kind kind) {
  const kw_stream_info stream_info = {.struct_size = sizeof stream_info, .token = 1};
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .flags = HINT, .kind = kind, .size = 256, .alignment = 1};
  kw_map_info info = {.struct_size = sizeof info, .reserved = 7, .flags = KW_MAP_READ | KW_MAP_WRITE, .size = 256};
  void *stream = NULL, *pointer = NULL;
  if (g->memory->alloc(device, &alloc, &info.mem) != KW_OK) return; /* no such memory here */
  KW_GUEST_OK(LATER_HOST, g->stream->create(device, &stream_info, &stream));
  if (g->memory->map(device, stream, &info, &pointer) == KW_OK) {
    KW_GUEST_OK(LATER_HOST, g->memory->unmap(device, stream, &info, pointer));
    info.flags |= HINT;
    KW_GUEST_OK(LATER_HOST, g->memory->map(device, stream, &info, &pointer));
    KW_GUEST_OK(LATER_HOST, g->memory->unmap(device, stream, &info, pointer));
  }
  KW_GUEST_OK(LATER_HOST, g->stream->destroy(device, stream));
  KW_GUEST_OK(LATER_HOST, g->memory->dealloc(device, info.mem));
}

int kw_child_later_host(void) {
  kw_guest g = kw_guest_load();
  kw_host_api host = kw_guest_host;
  const kw_query_info query = {.struct_size = sizeof query,
                               .abi_min = KW_ABI_VERSION_MIN,
                               .abi_max = KW_ABI_VERSION + 1000,
                               .reserved = 7,
                               .host_version = kw_version()};
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  const char *reason = NULL;
  void *plugin = NULL, *device = NULL;
  KW_GUEST_OK(LATER_HOST, g.query(&query, &g.desc, &reason));
  host.abi_version = g.desc->abi_version;
  KW_GUEST_OK(LATER_HOST, g.desc->init(&host, &init, &plugin));
  KW_GUEST_OK(LATER_HOST, g.device->open(plugin, 0, &open, &device));
  create_stream(&g, device);
  create_event(&g, device);
  for (kw_mem_kind kind = 0; kind <= KW_MEM_MANAGED && g.memory->map; kind++) map_memory(&g, device, kind);
  KW_GUEST_OK(LATER_HOST, g.device->close(device));
  kw_guest_use_device(&g, plugin, 1, LATER_HOST);
  KW_GUEST_OK(LATER_HOST, g.desc->shutdown(plugin));
  return 0;
}

/* A host of a later minor version is served: what it has in fields that are reserved here reads as zero, its hints are
 * ignored, and a critical flag is refused with KW_ERR_UNSUPPORTED. */
void kw_contract_abi_later_host(void **state) {
  (void)state;
  kw_test_child("later_host");
}
