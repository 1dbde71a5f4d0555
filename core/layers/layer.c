/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacking layers. On the side of the plugins a slot tells by its first argument alone whose it is, and two plugins may
 * use one pointer. So the host gets handles that stand for the plugin's state and for its devices, each of which knows
 * its plugin's tables; below the lowest layer they are exchanged for what they stand for.
 */
#include "layers/layer.h"

#include "base/error.h"
#include "base/struct.h"

#include <pthread.h>
#include <stdlib.h>

static kw_layer *layers[KW_LAYER_LIMIT + 1]; /* by height, from 1 on */
static uint32_t layer_count;

/* What a plugin's state, or one of its devices, is for the host. */
typedef struct handle {
  struct stack *stack;
  void *own; /* the plugin's pointer */
  struct handle *next;
} handle;

/* A plugin's tables; lives as long as the process. */
typedef struct stack {
  kw_plugin *plugin;
  kw_plugin_desc desc; /* as it was given, as the next two */
  kw_host_api host;
  kw_slots slots[KW_LAYER_LIMIT + 1]; /* the plugin's own, then at a layer's height what lies below it */
  handle state;
  handle *devices; /* under the lock */
  struct kernel *kernels;
} stack;

/* A kernel's descriptors, as a stack has slots. */
typedef struct kernel {
  struct kernel *next;
  stack *stack;
  kw_kernel_desc descs[KW_LAYER_LIMIT + 1];
} kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const kw_slots *kw_slots_below(const kw_layer *layer, const void *of) {
  return &((const handle *)of)->stack->slots[layer->height];
}

const kw_plugin *kw_slots_plugin(const void *of) {
  return ((const handle *)of)->stack->plugin;
}

const kw_kernel_desc *kw_kernel_below(const kw_layer *layer, const void *user) {
  return &((const kernel *)user)->descs[layer->height];
}

/* ---- Slots: handles to pointers ---------------------------------------------------------------------------------- */

static const kw_slots *own_slots(const void *of) {
  return &((const handle *)of)->stack->slots[0];
}

static void *own_pointer(const void *of) {
  return ((const handle *)of)->own;
}

/* Each slot: own_memory_alloc(device, info, out_mem), whose first argument is a handle. */
#define FIRST(...) FIRST_OF(__VA_ARGS__, )
#define FIRST_OF(first, ...) first
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status own_##group##_##name parameters {                 \
    const kw_slots *slots = own_slots(FIRST arguments);              \
    FIRST arguments = own_pointer(FIRST arguments);                  \
    return slots->group.name arguments;                              \
  }
#include "slots.def"

static kw_status own_shutdown(void *plugin) {
  return own_slots(plugin)->shutdown(own_pointer(plugin));
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  stack *stack = ((handle *)plugin)->stack;
  handle *device = malloc(sizeof *device);
  if (device == NULL) return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the device's layers"));
  *device = (handle){.stack = stack};
  kw_status status = own_device_open(plugin, index, info, &device->own);
  if (status != KW_OK) {
    free(device);
    return status;
  }
  pthread_mutex_lock(&lock);
  device->next = stack->devices;
  stack->devices = device;
  pthread_mutex_unlock(&lock);
  *out_device = device;
  return KW_OK;
}

static kw_status close_device(void *of) {
  handle *device = of;
  pthread_mutex_lock(&lock);
  handle **at = &device->stack->devices;
  while (*at != device) at = &(*at)->next;
  *at = device->next;
  pthread_mutex_unlock(&lock);
  kw_status status = own_device_close(device);
  free(device);
  return status;
}

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  return own_memory_copy_peer(device, stream, own_pointer(src_device), copy);
}

/* What stands for a plugin's slots below the lowest layer. */
static kw_slots lowest_slots(void) {
  kw_slots slots = {
      .shutdown = own_shutdown,
#define KW_SLOT_GROUP(group, NAME, required, native, text) .group.struct_size = sizeof(kw_##group##_api),
#define KW_SLOT(slot_group, name, since, required, parameters, arguments) .slot_group.name = own_##slot_group##_##name,
#include "slots.def"
  };
  slots.device.open = open_device;
  slots.device.close = close_device;
  slots.memory.copy_peer = copy_peer;
  return slots;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static const kw_kernel_desc *own_kernel(const kw_call *call) {
  return ((const kernel *)call->user)->descs;
}

/* The call as the plugin's own kernel sees it. */
static kw_call own_call(const kw_call *call) {
  kw_call own = *call;
  own.user = own_kernel(call)->user;
  own.device = own_pointer(call->device);
  return own;
}

static kw_status can_implement(const kw_call *call) {
  const kw_call own = own_call(call);
  return own_kernel(call)->can_implement(&own);
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  const kw_call own = own_call(call);
  return own_kernel(call)->workspace_size(&own, out_size);
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  const kw_call own = own_call(call);
  return own_kernel(call)->prepare(&own, out_prepared);
}

static kw_status launch(const kw_call *call) {
  const kw_call own = own_call(call);
  return own_kernel(call)->launch(&own);
}

static kw_status release(void *user, void *prepared) {
  const kw_kernel_desc *own = ((const kernel *)user)->descs;
  return own->release(own->user, prepared);
}

static kw_status packed_size(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format) {
  const kw_call own = own_call(call);
  return own_kernel(call)->packed_size(&own, arg, out_size, out_format);
}

static kw_status pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  const kw_call own = own_call(call);
  return own_kernel(call)->pack(&own, arg, mem, offset);
}

/* What stands for a plugin's kernel below the lowest layer. */
static kw_kernel_desc lowest_kernel(const kw_kernel_desc *own, kernel *kernel) {
  kw_kernel_desc desc = *own;
  desc.user = kernel;
  if (own->can_implement != NULL) desc.can_implement = can_implement;
  if (own->workspace_size != NULL) desc.workspace_size = workspace_size;
  if (own->prepare != NULL) desc.prepare = prepare;
  if (own->launch != NULL) desc.launch = launch;
  if (own->release != NULL) desc.release = release;
  if (own->packed_size != NULL) desc.packed_size = packed_size;
  if (own->pack != NULL) desc.pack = pack;
  return desc;
}

/* ---- The host's services ----------------------------------------------------------------------------------------- */

static stack *stack_of(void *ctx) {
  return ((kw_plugin *)ctx)->layers;
}

static kw_status register_kernel(void *ctx, const kw_kernel_desc *given) {
  stack *stack = stack_of(ctx);
  /* What is no kernel the library refuses, in its own words. */
  if (given == NULL || kw_struct_size(given) < KW_KERNEL_DESC_MIN) return stack->host.register_kernel(ctx, given);
  kernel *kernel = malloc(sizeof *kernel);
  if (kernel == NULL) return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the layers of a kernel"));
  kernel->stack = stack;
  kw_struct_read(&kernel->descs[0], sizeof kernel->descs[0], given);
  kw_kernel_desc desc = lowest_kernel(&kernel->descs[0], kernel);
  for (uint32_t height = 1; height <= layer_count; height++) {
    kernel->descs[height] = desc;
    if (layers[height]->wrap_kernel != NULL) layers[height]->wrap_kernel(&desc);
  }
  kw_status status = stack->host.register_kernel(ctx, &desc);
  if (status != KW_OK) {
    free(kernel);
    return status;
  }
  pthread_mutex_lock(&lock);
  kernel->next = stack->kernels;
  stack->kernels = kernel;
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

static kw_status report_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  stack *stack = stack_of(ctx);
  pthread_mutex_lock(&lock);
  handle *of = stack->devices;
  while (of != NULL && of->own != device) of = of->next;
  pthread_mutex_unlock(&lock);
  return stack->host.report_build(ctx, of, module, ns, cached);
}

/* ---- Installing -------------------------------------------------------------------------------------------------- */

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  stack *stack = stack_of(host->ctx);
  stack->state = (handle){.stack = stack};
  kw_status status = stack->desc.init(host, info, &stack->state.own);
  if (status == KW_OK) *out_plugin = &stack->state;
  return status;
}

static kw_slots slots_of(const kw_plugin *plugin) {
  return (kw_slots){
      .shutdown = plugin->desc.shutdown,
#define KW_SLOT_GROUP(group, NAME, required, native, text) .group = plugin->group,
#include "slots.def"
  };
}

/* Between a plugin's answer and its init. */
static kw_status wrap_plugin(kw_plugin *plugin) {
  stack *stack = plugin->layers; /* of an earlier try, which may still be in use */
  if (stack == NULL) {
    stack = calloc(1, sizeof *stack);
    if (stack == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the plugin's layers");
    stack->plugin = plugin;
    stack->host = plugin->host;
  }
  stack->desc = plugin->desc;
  stack->slots[0] = slots_of(plugin);
  kw_slots slots = lowest_slots();
  for (uint32_t height = 1; height <= layer_count; height++) {
    stack->slots[height] = slots;
    if (layers[height]->wrap_slots != NULL) layers[height]->wrap_slots(&slots);
  }
  plugin->layers = stack;
  plugin->desc.init = init;
  plugin->desc.shutdown = slots.shutdown;
#define KW_SLOT_GROUP(group, NAME, required, native, text) plugin->group = slots.group;
#include "slots.def"
  plugin->host.register_kernel = register_kernel;
  plugin->host.report_build = report_build;
  return KW_OK;
}

void kw_layers_install(kw_layer *const *chosen, uint32_t count, kw_api *api) {
  bool wraps_plugins = false;
  for (layer_count = 0; layer_count < count;) {
    kw_layer *layer = chosen[count - 1 - layer_count];
    layers[++layer_count] = layer;
    layer->height = layer_count;
    layer->below = *api;
    if (layer->start != NULL) layer->start();
    if (layer->wrap_api != NULL) layer->wrap_api(api);
    if (layer->wrap_slots != NULL || layer->wrap_kernel != NULL) wraps_plugins = true;
  }
  if (wraps_plugins) kw_plugin_wrap = wrap_plugin;
}
