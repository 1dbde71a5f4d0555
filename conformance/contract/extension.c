/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite abi: chains of extensions that the plugin does not know, on everything that takes one. Keyway knows none
 * either, so a small host sends them, in a process of its own.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

/* A vendor's entry of nobody's, followed by a kind that there is not. */
static const struct {
  kw_ext_vendor head;
  uint64_t payload;
} vendors = {{{sizeof vendors, KW_EXT_VENDOR, NULL}, "com.example.nobody"}, 7};
static const kw_ext plain = {sizeof plain, 0x3ffffff0u, &vendors.head.ext};
/* The same behind one that may not be skipped. */
static const kw_ext critical = {sizeof critical, 0x3fffffefu | KW_EXT_CRITICAL, &plain};

#define REFUSED(call) kw_guest_expect((call), KW_ERR_UNSUPPORTED, #call, "with an unknown critical extension")
#define DONE(call) KW_GUEST_OK("with unknown extensions that are not critical", call)
#define UNTOUCHED(pointer) KW_CHECK((pointer) == NULL, "a call that was refused has set " #pointer)

static void query_with_extensions(const kw_guest *g) {
  kw_query_info info = {.struct_size = sizeof info, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  info.host_version = kw_version();
  info.next = &critical;
  REFUSED(g->query(&info, &desc, &reason));
  UNTOUCHED(desc);
  info.next = &plain;
  DONE(g->query(&info, &desc, &reason));
}

static void *init_with_extensions(const kw_guest *g, const kw_host_api *host) {
  kw_init_info info = {.struct_size = sizeof info, .next = &critical};
  void *plugin = NULL;
  REFUSED(g->desc->init(host, &info, &plugin));
  UNTOUCHED(plugin);
  KW_CHECK(kw_guest_seen.kernels == 0 && kw_guest_seen.ops == 0,
           "init refused an extension, but only after it had "
           "offered %u kernels and %u ops",
           kw_guest_seen.kernels, kw_guest_seen.ops);
  info.next = &plain;
  DONE(g->desc->init(host, &info, &plugin));
  return plugin;
}

static void *open_with_extensions(const kw_guest *g, void *plugin) {
  kw_open_info info = {.struct_size = sizeof info, .next = &critical};
  void *device = NULL;
  REFUSED(g->device->open(plugin, 0, &info, &device));
  UNTOUCHED(device);
  info.next = &plain;
  DONE(g->device->open(plugin, 0, &info, &device));
  return device;
}

static void alloc_with_extensions(const kw_guest *g, void *device) {
  kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = 64, .alignment = 1};
  kw_mem mem = NULL;
  info.next = &critical;
  REFUSED(g->memory->alloc(device, &info, &mem));
  UNTOUCHED(mem);
  info.next = &plain;
  DONE(g->memory->alloc(device, &info, &mem));
  DONE(g->memory->dealloc(device, mem));
}

static void *stream_with_extensions(const kw_guest *g, void *device) {
  kw_stream_info info = {.struct_size = sizeof info, .token = 1, .next = &critical};
  void *stream = NULL;
  REFUSED(g->stream->create(device, &info, &stream));
  UNTOUCHED(stream);
  info.next = &plain;
  DONE(g->stream->create(device, &info, &stream));
  return stream;
}

static void event_with_extensions(const kw_guest *g, void *device) {
  kw_event_info info = {.struct_size = sizeof info, .next = &critical};
  void *event = NULL;
  if (!g->event) return;
  REFUSED(g->event->create(device, &info, &event));
  UNTOUCHED(event);
  info.next = &plain;
  DONE(g->event->create(device, &info, &event));
  DONE(g->event->destroy(device, event));
}

static void graph_with_extensions(const kw_guest *g, void *device, void *stream) {
  kw_capture_info info = {.struct_size = sizeof info, .next = &critical};
  if (!g->graph) return;
  REFUSED(g->graph->begin(device, stream, &info));
  info.next = &plain;
  DONE(g->graph->begin(device, stream, &info));
  DONE(g->graph->end(device, stream, NULL));
}

int kw_child_extensions(void) {
  kw_guest g = kw_guest_load();
  kw_host_api host = kw_guest_host_for(&g);
  query_with_extensions(&g);
  void *plugin = init_with_extensions(&g, &host);
  void *device = open_with_extensions(&g, plugin);
  alloc_with_extensions(&g, device);
  void *stream = stream_with_extensions(&g, device);
  event_with_extensions(&g, device);
  graph_with_extensions(&g, device, stream);
  DONE(g.stream->destroy(device, stream));
  DONE(g.device->close(device));
  kw_guest_use_device(&g, plugin, 1, "after extensions were sent to every slot that takes some");
  DONE(g.desc->shutdown(plugin));
  return 0;
}

/* Unknown entries of a chain are skipped; an unknown critical one is refused with KW_ERR_UNSUPPORTED, and nothing has
 * changed then. */
void kw_contract_abi_extensions(void **state) {
  (void)state;
  kw_test_child("extensions");
}
