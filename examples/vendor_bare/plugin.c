/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole device in one file, in the order of a plugin's life (keyway/plugin.h). Its memory is the host's, and a
 * stream's work is done when the slot that asks for it returns, so that everything is here that a device needs and
 * nothing of a chip: where it says DRIVER, your driver's calls go. What is left out, events, callbacks on streams,
 * fills, graphs, the host derives from what is here.
 */
#include <keyway/plugin.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_MEMORY (UINT64_C(1) << 30) /* bytes */
#define DEVICE_ALIGNMENT 64u              /* bytes: where every allocation starts */

typedef struct device {
  const kw_host_api *host;
  atomic_ullong used; /* bytes */
} device;

/* What a kw_mem is here: the host never looks inside. DRIVER: its own handle. */
typedef struct allocation {
  _Alignas(DEVICE_ALIGNMENT) uint64_t size;
  _Alignas(DEVICE_ALIGNMENT) unsigned char bytes[];
} allocation;

/* The way every slot here fails: with a text that says what, and with the numbers. */
static kw_status fail(const kw_host_api *host, kw_status status, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return host->set_error(host->ctx, status, text);
}

/* KW_OK when there is no flag and no extension that has to be understood: this plugin knows none. */
static kw_status check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next) {
  kw_status status = (flags & KW_FLAGS_CRITICAL) != 0 ? KW_ERR_UNSUPPORTED : kw_ext_check(next, NULL, 0);
  return status == KW_OK ? KW_OK : fail(host, status, "a critical extension or flag is not known here");
}

/* ---- Memory: the host caches and splits it, so alloc is called rarely -------------------------------------------- */

static kw_status mem_alloc(void *device_ptr, const kw_alloc_info *info, kw_mem *out_mem) {
  device *dev = device_ptr;
  const unsigned long long size = info->size;
  kw_status status = check_critical(dev->host, info->flags, info->next);
  if (status != KW_OK) return status;
  if (info->kind != KW_MEM_DEVICE)
    return fail(dev->host, KW_ERR_UNSUPPORTED, "alloc: no memory of kind %u", info->kind);
  if (size == 0 || info->alignment > DEVICE_ALIGNMENT)
    return fail(dev->host, KW_ERR_INVALID_ARGUMENT, "alloc: size %llu, alignment %u", size, (unsigned)info->alignment);
  if (size > DEVICE_MEMORY) return fail(dev->host, KW_ERR_OUT_OF_MEMORY, "alloc: %llu bytes are more than all", size);
  const bool fits = atomic_fetch_add(&dev->used, size) <= DEVICE_MEMORY - size;
  allocation *made = fits ? aligned_alloc(DEVICE_ALIGNMENT, sizeof *made + size) : NULL; /* DRIVER */
  if (made == NULL) {
    atomic_fetch_sub(&dev->used, size);
    return fail(dev->host, KW_ERR_OUT_OF_MEMORY, "alloc: no %llu bytes are free", size);
  }
  made->size = size;
  *out_mem = made;
  return KW_OK;
}

static kw_status mem_free(void *device_ptr, kw_mem mem) {
  atomic_fetch_sub(&((device *)device_ptr)->used, ((allocation *)mem)->size);
  free(mem); /* DRIVER */
  return KW_OK;
}

/* Where a range of an allocation lies; NULL when it leaves it. */
static unsigned char *locate(kw_mem mem, uint64_t offset, uint64_t size) {
  allocation *all = mem;
  return all != NULL && offset <= all->size && size <= all->size - offset ? all->bytes + offset : NULL;
}

/* DRIVER: enqueue the copy on the stream, and return. */
static kw_status mem_copy(void *device_ptr, void *stream, const kw_copy_info *copy) {
  const bool to_host = copy->kind == KW_COPY_DEVICE_TO_HOST, from_host = copy->kind == KW_COPY_HOST_TO_DEVICE;
  void *to = to_host ? copy->dst_host : locate(copy->dst_mem, copy->dst_offset, copy->size);
  const void *from = from_host ? copy->src_host : locate(copy->src_mem, copy->src_offset, copy->size);
  (void)stream;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE || to == NULL || from == NULL)
    return fail(((device *)device_ptr)->host, KW_ERR_INVALID_ARGUMENT, "copy: kind %u of %llu bytes leaves its memory",
                copy->kind, (unsigned long long)copy->size);
  memmove(to, from, copy->size);
  return KW_OK;
}

static const kw_memory_api memory_api = {
    .struct_size = sizeof(kw_memory_api), .alloc = mem_alloc, .dealloc = mem_free, .copy = mem_copy};

/* ---- Streams: calls that name one may come from several threads at once ------------------------------------------ */

static kw_status stream_create(void *device_ptr, const kw_stream_info *info, void **out_stream) {
  const kw_host_api *host = ((device *)device_ptr)->host;
  kw_status status = check_critical(host, info->flags, info->next);
  if (status != KW_OK) return status;
  uint64_t *stream = malloc(sizeof *stream); /* DRIVER: a queue, in order */
  if (stream == NULL) return fail(host, KW_ERR_OUT_OF_MEMORY, "stream.create: no host memory");
  *stream = info->token; /* what the host calls it, in late errors for example */
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_destroy(void *device_ptr, void *stream) {
  (void)device_ptr;
  free(stream); /* DRIVER: lets its work finish */
  return KW_OK;
}

static kw_status stream_synchronize(void *device_ptr, void *stream, uint64_t timeout_ns) {
  (void)device_ptr, (void)stream, (void)timeout_ns;
  return KW_OK; /* DRIVER: KW_ERR_TIMEOUT when its work has not ended by then */
}

static const kw_stream_api stream_api = {.struct_size = sizeof(kw_stream_api),
                                         .create = stream_create,
                                         .destroy = stream_destroy,
                                         .synchronize = stream_synchronize};

/* ---- Kernels: types are promoted and shapes broadcast; strides and offsets are as they come, of views ------------ */

static float *floats(const kw_tensor_ref *tensor) {
  return (float *)(void *)(((allocation *)tensor->mem)->bytes + tensor->offset);
}

/* The place of element number `i`, in row-major order, of a tensor that has the output's shape. */
static int64_t place(const kw_tensor_ref *tensor, int64_t i) {
  int64_t at = 0;
  for (int d = tensor->rank - 1; d >= 0; i /= tensor->shape[d], d--) at += i % tensor->shape[d] * tensor->strides[d];
  return at;
}

/* add.Tensor(self, other, alpha=1) in f32. DRIVER: enqueue your kernel on call->stream, and return. */
static kw_status launch_add(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  const double alpha = call->args[2].kind == KW_SCALAR_F64 ? call->args[2].u.f : (double)call->args[2].u.i;
  for (int64_t i = 0; i < out->numel; i++)
    floats(out)[place(out, i)] = (float)(floats(a)[place(a, i)] + alpha * floats(b)[place(b, i)]);
  return KW_OK;
}

static const kw_kernel_desc kernels[] = {
    {.struct_size = sizeof(kw_kernel_desc),
     .op = "add.Tensor",
     .name = "add_f32",
     .flags = KW_KERNEL_DETERMINISTIC,
     .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
     .known_args = 3,
     .launch = launch_add},
};

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status device_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 1; /* DRIVER */
  return KW_OK;
}

/* DRIVER: what it says of the chip. Where there is one, KW_DEVICE_EMULATED goes. */
static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  if (index != 0) return fail(plugin, KW_ERR_INVALID_ARGUMENT, "there is no device %u", (unsigned)index);
  out_info->type = KW_DEVICE_NPU;
  out_info->flags = KW_DEVICE_EMULATED; /* the CPU does the arithmetic: every list and report says so */
  out_info->compute_units = 1;
  snprintf(out_info->name, sizeof out_info->name, "vendor_bare");
  snprintf(out_info->vendor, sizeof out_info->vendor, "acme");
  snprintf(out_info->driver_version, sizeof out_info->driver_version, "1.0.0");
  snprintf(out_info->stable_id, sizeof out_info->stable_id, "acme:vendor_bare-%u", (unsigned)index);
  out_info->total_memory = out_info->max_alloc = DEVICE_MEMORY;
  out_info->mem_alignment = out_info->offset_alignment = DEVICE_ALIGNMENT;
  return KW_OK;
}

static kw_status device_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_host_api *host = plugin;
  if (index != 0) return fail(host, KW_ERR_INVALID_ARGUMENT, "there is no device %u", (unsigned)index);
  kw_status status = check_critical(host, 0, info->next);
  if (status != KW_OK) return status;
  device *opened = calloc(1, sizeof *opened); /* DRIVER */
  if (opened == NULL) return fail(host, KW_ERR_OUT_OF_MEMORY, "open: no host memory");
  opened->host = host;
  *out_device = opened;
  return KW_OK;
}

static kw_status device_close(void *opened) {
  free(opened);
  return KW_OK;
}

static const kw_device_api device_api = {.struct_size = sizeof(kw_device_api),
                                         .count = device_count,
                                         .info = device_info,
                                         .open = device_open,
                                         .close = device_close};

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

/* DRIVER: is it there, is there hardware? Quickly, and without starting threads. If not, KW_ERR_NOT_FOUND, and in
 * *out_reason what is missing and what would bring it: people read that in `keyway doctor`. */
static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

/* The plugin's state is the host's table: the slots that get it need nothing else. */
static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_status status = check_critical(host, 0, info->next);
  for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0] && status == KW_OK; i++)
    status = host->register_kernel(host->ctx, &kernels[i]);
  if (status == KW_OK) *out_plugin = (void *)(uintptr_t)host;
  return status;
}

static kw_status shutdown(void *plugin) {
  (void)plugin;
  return KW_OK;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &device_api}, {KW_GROUP_MEMORY, &memory_api}, {KW_GROUP_STREAM, &stream_api}};

static const kw_plugin_desc desc = {
    .struct_size = sizeof(kw_plugin_desc),
    .abi_version = KW_ABI_VERSION,
    .key = "vendor_bare", /* what applications write, vendor_bare:0; permanent */
    .vendor = "acme",
    .version = "0.1.0",
    .description = "vendor_bare, a device of acme",
    .build = __VERSION__,
    .sanitizer = "", /* "address" or "thread" in a build with one */
    .probe = probe,
    .init = init,
    .shutdown = shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

/* The one exported symbol. */
kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_query_answer(host, &desc, out_plugin, out_reason);
}
