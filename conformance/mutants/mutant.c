/* SPDX-License-Identifier: Apache-2.0
 *
 * The wrapper: opens keyway_cpu.so of the same build tree and passes everything on.
 */
#include "mutant.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the directory of this library, <build>/tests/mutants. */
#define CPU_PLUGIN "/../../lib/keyway/plugins/keyway_cpu.so"

kw_mutant kw_mutant_real;
const kw_host_api *kw_mutant_host;
static kw_mutant mutant;
static const kw_plugin_desc *cpu;
static char trouble[4400]; /* why there is no cpu plugin; "" */

static const kw_plugin_desc descriptor;
static kw_status answer(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason);

/* ---- The cpu plugin ---------------------------------------------------------------------------------------------- */

static void copy_table(const char *group, void *table, size_t size) {
  for (uint32_t i = 0; i < cpu->group_count; i++) {
    if (strcmp(cpu->groups[i].name, group) != 0) continue;
    uint32_t own = *(const uint32_t *)cpu->groups[i].table;
    memcpy(table, cpu->groups[i].table, own < size ? own : size);
  }
}

/* By way of records of this build's size, which is not each host's. */
static kw_status drain_changed(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                               uint64_t *out_dropped) {
  kw_activity *records = calloc(capacity ? capacity : 1, sizeof *records);
  if (!records) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = kw_mutant_real.activity.drain(device, records, sizeof *records, capacity, out_count, out_dropped);
  if (status == KW_OK) mutant.records(records, out_count);
  for (uint32_t i = 0; status == KW_OK && i < *out_count; i++) kw_activity_store(out, record_size, i, &records[i]);
  free(records);
  return status;
}

static void open_cpu(void) {
  Dl_info self;
  kw_mutant_real.query = mutant.query = answer;
  kw_mutant_real.desc = mutant.desc = descriptor;
  char path[4096] = "";
  if (!dladdr(&mutant, &self)) self.dli_fname = "";
  const char *slash = strrchr(self.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s" CPU_PLUGIN, slash ? (int)(slash - self.dli_fname) : 0, self.dli_fname);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  kw_query_fn query = NULL;
  if (library) *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  kw_query_info host = {
      .struct_size = sizeof host, .abi_min = KW_ABI_VERSION, .abi_max = KW_ABI_VERSION, .host_version = "mutant"};
  const char *reason = NULL;
  if (!query || query(&host, &cpu, &reason) != KW_OK) {
    snprintf(trouble, sizeof trouble, "a mutant wraps the cpu plugin, and %s cannot be used: build keyway_cpu", path);
    return;
  }
  copy_table(KW_GROUP_DEVICE, &kw_mutant_real.device, sizeof kw_mutant_real.device);
  copy_table(KW_GROUP_MEMORY, &kw_mutant_real.memory, sizeof kw_mutant_real.memory);
  copy_table(KW_GROUP_STREAM, &kw_mutant_real.stream, sizeof kw_mutant_real.stream);
  copy_table(KW_GROUP_EVENT, &kw_mutant_real.event, sizeof kw_mutant_real.event);
  copy_table(KW_GROUP_INTEROP, &kw_mutant_real.interop, sizeof kw_mutant_real.interop);
  copy_table(KW_GROUP_ACTIVITY, &kw_mutant_real.activity, sizeof kw_mutant_real.activity);
  kw_mutant_real.desc.options = cpu->options;
  kw_mutant_real.desc.option_count = cpu->option_count;
  mutant = kw_mutant_real;
  kw_mutant_change(&mutant);
  if (mutant.records) mutant.activity.drain = drain_changed;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static kw_host_api wrapped_host; /* what the cpu plugin gets */

/* The cpu plugin's kernel behind call->user. */
static const kw_kernel_desc *real_kernel(const kw_call *call) {
  return call->user;
}

static kw_call with_real_user(const kw_call *call) {
  kw_call copy = *call;
  copy.user = real_kernel(call)->user;
  return copy;
}

kw_status kw_mutant_info_without_size(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  out_info->total_memory = out_info->max_alloc = 0;
  return status;
}

void kw_mutant_add_group(kw_mutant *changed, const char *name, const void *table) {
  static kw_group all[16];
  memcpy(all, changed->desc.groups, changed->desc.group_count * sizeof *all);
  all[changed->desc.group_count++] = (kw_group){name, table};
  changed->desc.groups = all;
}

kw_status kw_mutant_launch_real(const kw_call *call) {
  kw_call copy = with_real_user(call);
  return real_kernel(call)->launch(&copy);
}

kw_status kw_mutant_run_real(const kw_call *call) {
  kw_status status = kw_mutant_launch_real(call);
  return status == KW_OK ? kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER) : status;
}

kw_status kw_mutant_run_to(const kw_call *call, int64_t from) {
  enum { RUBBISH = 0x55 };
  const kw_tensor_ref *out = call->outs[0];
  if (!out || out->numel <= from) return kw_mutant_launch_real(call);
  kw_status status = from > 0 ? kw_mutant_run_real(call)
                              : kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  const uint64_t size = kw_mutant_item_size(out->dtype);
  const bool dense = kw_mutant_extent(out) == (uint64_t)out->numel * size;
  if (status == KW_OK && dense) {
    memset((char *)kw_mutant_at(out, 0) + (uint64_t)from * size, RUBBISH, (uint64_t)(out->numel - from) * size);
  }
  for (int64_t i = from; i < out->numel && status == KW_OK && !dense; i++) memset(kw_mutant_at(out, i), RUBBISH, size);
  return status;
}

static kw_status launch_elements(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; out && i < out->numel && status == KW_OK; i++) {
    kw_mutant_element e = {.call = call, .index = i, .out = kw_mutant_at(out, i)};
    for (uint32_t a = 0; a < call->arg_count && a < 3; a++) {
      const kw_tensor_ref *in = call->args[a].tag == KW_TAG_TENSOR ? call->args[a].u.tensor : NULL;
      if (in && in->rank == out->rank && in->numel == out->numel) e.in[a] = kw_mutant_at(in, i);
    }
    mutant.element(&e);
  }
  return status;
}

static kw_status launch_changed(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  mutant.call(&copy);
  return kw_mutant_launch_real(&copy.call);
}

/* The kernels that are taken have no other functions than launch, and can_implement, which does not look at user. */
static kw_status register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  if (!mutant.op || fnmatch(mutant.op, kernel->op, 0) != 0) return kw_mutant_host->register_kernel(ctx, kernel);
  kw_kernel_desc *real = malloc(sizeof *real); /* lives as long as the kernel: until the process ends */
  if (!real) return kw_mutant_host->set_error(ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a kernel");
  *real = *kernel;
  kw_kernel_desc changed = *kernel;
  changed.user = real;
  changed.launch = mutant.launch    ? mutant.launch
                   : mutant.call    ? launch_changed
                   : mutant.element ? launch_elements
                                    : kw_mutant_launch_real;
  if (mutant.kernel) mutant.kernel(&changed);
  kw_status status = kw_mutant_host->register_kernel(ctx, &changed);
  if (status != KW_OK) free(real);
  return status;
}

/* Of the cpu plugin's kernels mutants have the reference: each further kernel of an op would only judge again what a
 * mutant does not change. */
static kw_status register_reference(void *ctx, const kw_kernel_desc *kernel) {
  return strncmp(kernel->name, "reference", strlen("reference")) == 0 ? register_kernel(ctx, kernel) : KW_OK;
}

/* ---- Work of a mutant's own -------------------------------------------------------------------------------------- */

#define OWN_TOKEN (UINT64_C(1) << 63) /* no address and no token of the host has this bit */

typedef struct own_work {
  void (*run)(void *user);
  void *user;
} own_work;

static kw_status run_callback(void *ctx, uint64_t token) {
  if (!(token & OWN_TOKEN)) {
    return mutant.callback ? mutant.callback(token) : kw_mutant_host->run_callback(ctx, token);
  }
  own_work *work = (own_work *)(uintptr_t)(token & ~OWN_TOKEN);
  work->run(work->user);
  free(work);
  return KW_OK;
}

kw_status kw_mutant_enqueue(void *device, void *stream, void (*run)(void *user), void *user) {
  own_work *work = malloc(sizeof *work);
  if (!work) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  *work = (own_work){run, user};
  return kw_mutant_real.stream.call_host(device, stream, OWN_TOKEN | (uintptr_t)work);
}

void kw_mutant_lose_memory(size_t size) {
  volatile char *lost = malloc(size);
  for (size_t at = 0; lost && at < size; at += 1024) lost[at] = 1;
}

/* ---- What mutants need ------------------------------------------------------------------------------------------- */

/* One tensor, maybe in two structs: a host may give a result marked (a!) one of its own. */
static bool same_tensor(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  if (a == b) return true;
  return a->mem && a->mem == b->mem && a->offset == b->offset && a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
         memcmp(a->strides, b->strides, a->rank * sizeof *a->strides) == 0;
}

void kw_mutant_copy_call(const kw_call *call, kw_mutant_copy *out_copy) {
  out_copy->call = *call;
  for (uint32_t i = 0; i < call->arg_count; i++) {
    out_copy->args[i] = call->args[i];
    if (call->args[i].tag != KW_TAG_TENSOR) continue;
    out_copy->arg_tensors[i] = *call->args[i].u.tensor;
    out_copy->args[i].u.tensor = &out_copy->arg_tensors[i];
  }
  for (uint32_t i = 0; i < call->out_count; i++) {
    out_copy->outs[i] = NULL;
    if (!call->outs[i]) continue;
    out_copy->out_tensors[i] = *call->outs[i];
    out_copy->outs[i] = &out_copy->out_tensors[i];
    for (uint32_t j = 0; j < call->arg_count; j++) { /* a result marked (a!) is that argument */
      if (call->args[j].tag == KW_TAG_TENSOR && same_tensor(call->args[j].u.tensor, call->outs[i])) {
        out_copy->outs[i] = &out_copy->arg_tensors[j];
      }
    }
  }
  if (call->extra) {
    out_copy->extra = *call->extra;
    out_copy->call.extra = &out_copy->extra;
  }
  out_copy->call.args = out_copy->args;
  out_copy->call.outs = out_copy->outs;
}

/* A copy of `data` behind what the block already holds; without a block only its place is counted. */
static void *place(char *block, size_t *used, const void *data, size_t size) {
  char *at = block ? block + *used : NULL;
  *used += (size + 15) / 16 * 16;
  return at && size > 0 ? memcpy(at, data, size) : at;
}

static const kw_tensor_ref *const *place_tensors(char *block, size_t *used, const kw_tensor_ref *const *tensors,
                                                 uint32_t count) {
  const kw_tensor_ref **copies = place(block, used, tensors, count * sizeof *tensors);
  for (uint32_t i = 0; i < count; i++) {
    const kw_tensor_ref *copy = tensors[i] ? place(block, used, tensors[i], sizeof *tensors[i]) : NULL;
    if (copies) copies[i] = copy;
  }
  return copies;
}

static size_t place_call(char *block, const kw_call *call) {
  size_t used = 0;
  kw_call *copy = place(block, &used, call, sizeof *call);
  kw_value *args = place(block, &used, call->args, call->arg_count * sizeof *args);
  for (uint32_t i = 0; i < call->arg_count; i++) {
    kw_value value = call->args[i];
    if (value.tag == KW_TAG_TENSOR) value.u.tensor = place(block, &used, value.u.tensor, sizeof *value.u.tensor);
    if (value.tag == KW_TAG_TENSOR_LIST) value.u.tensors = place_tensors(block, &used, value.u.tensors, value.count);
    if (value.tag == KW_TAG_INT_LIST) value.u.ints = place(block, &used, value.u.ints, value.count * sizeof(int64_t));
    if (value.tag == KW_TAG_STRING) value.u.s = place(block, &used, value.u.s, strlen(value.u.s) + 1);
    if (args) args[i] = value;
  }
  const kw_tensor_ref *const *outs = place_tensors(block, &used, call->outs, call->out_count);
  const kw_call_extra *extra = call->extra ? place(block, &used, call->extra, sizeof *extra) : NULL;
  const char *op = place(block, &used, call->op, strlen(call->op) + 1);
  if (copy) {
    copy->args = args;
    copy->outs = outs;
    copy->extra = extra;
    copy->op = op;
  }
  return used;
}

kw_call *kw_mutant_keep_call(const kw_call *call) {
  char *block = malloc(place_call(NULL, call));
  if (block) place_call(block, call);
  return (kw_call *)block;
}

bool kw_mutant_shrink(kw_tensor_ref *tensor) {
  if (tensor->rank == 0 || tensor->numel == 0) return false;
  int64_t *last = &tensor->shape[tensor->rank - 1];
  tensor->numel = tensor->numel / *last * (*last - 1);
  --*last;
  return true;
}

uint64_t kw_mutant_item_size(kw_dtype dtype) {
  static const uint8_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 8, 16};
  return sizes[dtype];
}

kw_status kw_mutant_tell_fresh_text(const char *text, kw_attribute *out_value) {
  const char *copy = strdup(text);
  if (!copy) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  out_value->type = KW_ATTRIBUTE_STRING;
  out_value->u.s = copy;
  return KW_OK;
}

void *kw_mutant_memory_at(kw_mem mem, uint64_t offset) {
  return (char *)mem + offset;
}

void *kw_mutant_at(const kw_tensor_ref *tensor, int64_t i) {
  int64_t at = 0;
  for (int d = tensor->rank; d-- > 0;) {
    at += i % tensor->shape[d] * tensor->strides[d];
    i /= tensor->shape[d];
  }
  return (char *)kw_mutant_memory_at(tensor->mem, tensor->offset) + at * (int64_t)kw_mutant_item_size(tensor->dtype);
}

uint64_t kw_mutant_extent(const kw_tensor_ref *tensor) {
  int64_t last = 0;
  if (tensor->numel == 0) return 0;
  for (int d = 0; d < tensor->rank; d++) last += (tensor->shape[d] - 1) * tensor->strides[d];
  return ((uint64_t)last + 1) * kw_mutant_item_size(tensor->dtype);
}

/* ---- Ops of the plugin's own ------------------------------------------------------------------------------------- */

static kw_status twice(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  for (int64_t i = 0; i < out->numel; i++) {
    float value = 2 * *(float *)kw_mutant_at(in, i);
    if (out->dtype == KW_F64) { /* the suite wants more precision of a reference: there is none to add */
      *(double *)kw_mutant_at(out, i) = value;
    } else {
      *(float *)kw_mutant_at(out, i) = value;
    }
  }
  return KW_OK;
}

static kw_status launch_twice(const kw_call *call) {
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  return status == KW_OK ? twice(call) : status;
}

/* self + other; the suite asks for doubles. */
static kw_status blend(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  for (int64_t i = 0; i < out->numel; i++) {
    *(double *)kw_mutant_at(out, i) = (double)*(float *)kw_mutant_at(a, i) + (double)*(float *)kw_mutant_at(b, i);
  }
  return KW_OK;
}

/* The same by a way that loses much where the two cancel, but little of what was added up. */
static kw_status launch_blend(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    const float x = *(float *)kw_mutant_at(a, i), y = *(float *)kw_mutant_at(b, i), thrice = x + 3 * y;
    *(float *)kw_mutant_at(out, i) = thrice - 2 * y;
  }
  return status;
}

static kw_status define_op(const kw_op_desc *given_op, const kw_kernel_desc *given_kernel, kw_dtype_mask dtypes) {
  kw_op_desc op = *given_op;
  kw_kernel_desc kernel = *given_kernel;
  op.struct_size = sizeof op;
  kernel.struct_size = sizeof kernel;
  op.dtypes = kernel.dtypes = dtypes;
  kw_status status = kw_mutant_host->define_op(kw_mutant_host->ctx, &op);
  return status == KW_OK ? register_kernel(kw_mutant_host->ctx, &kernel) : status;
}

static kw_status define_ops(void) {
  const kw_dtype_mask f32 = {{KW_DTYPE_BIT(KW_F32), 0}};
  const kw_op_desc ops[] = {
      {.schema = "mutant::twice(Tensor self) -> Tensor", .reference = twice},
      {.schema = "mutant::blend(Tensor self, Tensor other) -> Tensor",
       .reference = blend,
       .comparator = KW_COMPARE_ACCUMULATE,
       .growth = 8},
  };
  const kw_kernel_desc kernels[] = {
      {.op = "mutant::twice", .name = "plain", .known_args = 1, .launch = launch_twice},
      {.op = "mutant::blend", .name = "plain", .known_args = 2, .launch = launch_blend},
  };
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0] && status == KW_OK; i++) {
    status = define_op(&ops[i], &kernels[i], f32);
  }
  if (status == KW_OK && mutant.own_op) status = define_op(mutant.own_op, mutant.own_kernel, f32);
  return status;
}

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

static kw_status mutant_probe(const char **out_reason) {
  if (cpu) return cpu->probe(out_reason);
  *out_reason = trouble;
  return KW_ERR_NOT_FOUND;
}

static kw_status mutant_init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  if (!cpu) return host->set_error(host->ctx, KW_ERR_NOT_FOUND, trouble);
  if (kw_mutant_host && !mutant.takes_many_hosts)
    return host->set_error(host->ctx, KW_ERR_BUSY, "a mutant serves one host at a time");
  if (kw_ext_check(info->next, NULL, 0) != KW_OK) /* before the wrapper offers anything of its own */
    return host->set_error(host->ctx, KW_ERR_UNSUPPORTED, "mutants know no extensions");
  kw_mutant_host = host;
  wrapped_host = (kw_host_api){0};
  memcpy(&wrapped_host, host, host->struct_size < sizeof wrapped_host ? host->struct_size : sizeof wrapped_host);
  wrapped_host.register_kernel = register_reference;
  wrapped_host.run_callback = run_callback;
  kw_status status = define_ops();
  if (status == KW_OK) status = cpu->init(&wrapped_host, info, out_plugin);
  if (status != KW_OK) kw_mutant_host = NULL;
  return status;
}

static kw_status mutant_shutdown(void *plugin) {
  kw_mutant_host = NULL;
  return cpu->shutdown(plugin);
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &mutant.device}, {KW_GROUP_MEMORY, &mutant.memory},   {KW_GROUP_STREAM, &mutant.stream},
    {KW_GROUP_EVENT, &mutant.event},   {KW_GROUP_INTEROP, &mutant.interop}, {KW_GROUP_ACTIVITY, &mutant.activity},
};

static const kw_plugin_desc descriptor = {
    .struct_size = sizeof descriptor,
    .abi_version = KW_ABI_VERSION,
    .key = "mutant",
    .vendor = "keyway",
    .version = "1",
    .description = "the cpu plugin with one defect, for testing the conformance suite",
    .build = "",
    .sanitizer = "",
    .probe = mutant_probe,
    .init = mutant_init,
    .shutdown = mutant_shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

static kw_status answer(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_query_answer(host, &mutant.desc, out_plugin, out_reason);
}

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_cpu);
  return mutant.query(host, out_plugin, out_reason);
}
