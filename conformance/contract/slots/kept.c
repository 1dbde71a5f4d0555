/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: what a process has that a slot must leave alone, looked at before and after each slot that is called
 * directly, a kernel's own ones among them. Keyway calls some of them once, long before or long after what a test does.
 */
#include "bare_call.h"
#include "launch.h"

#include "contract/scenarios.h"
#include "contract/soak/resources.h"
#include "contract/soak/soak.h"
#include "contract/surroundings.h"

#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 5000, EDGE = 8 };

/* ---- Around a slot ----------------------------------------------------------------------------------------------- */

static kw_surroundings before, after;

static void look(void) {
  kw_surroundings_take(&before);
}

static void compare(const char *slot, const char *of) {
  char text[400];
  kw_surroundings_take(&after);
  const bool differ = kw_surroundings_differ(&before, &after, text, sizeof text);
  kw_surroundings_free(&before);
  kw_surroundings_free(&after);
  KW_CHECK(!differ, "%s%s%s changed %s", slot, *of ? " of " : "", of, text);
}

/* A call in between: KW_KEPT(stream.query, status = ...). */
#define KW_KEPT(slot, ...) (kw_test_calls(__FILE__, __LINE__, slot), look(), (void)(__VA_ARGS__), compare(slot, ""))

/* ---- A life, slot by slot ---------------------------------------------------------------------------------------- */

static kw_host_api host;
static void *plugin, *device;
static kw_guest g;

static void ask(void) {
  kw_device_info info = {.struct_size = sizeof info};
  kw_attribute value = {.struct_size = sizeof value};
  uint32_t count = 0;
  uint64_t number = 0, total = 0;
  KW_KEPT("device.count", g.device->count(plugin, &count));
  KW_KEPT("device.info", g.device->info(plugin, 0, &info));
  if (g.device->attribute) {
    KW_KEPT("device.attribute", g.device->attribute(plugin, 0, "unified_memory", &value));
    KW_KEPT("device.attribute of an unknown key", g.device->attribute(plugin, 0, "no.such.key", &value));
  }
  if (g.memory->usage) KW_KEPT("memory.usage", g.memory->usage(device, &number, &total));
  if (g.energy) KW_KEPT("energy.read", g.energy->read(device, &number));
}

static void use_host_memory(void) {
  void *memory = NULL;
  kw_status status = KW_OK;
  if (!g.memory->alloc_host || !g.memory->free_host) return;
  KW_KEPT("memory.alloc_host", status = g.memory->alloc_host(device, SIZE, &memory));
  if (status == KW_OK) KW_KEPT("memory.free_host", g.memory->free_host(device, memory));
}

static void use_memory(void *stream) {
  static unsigned char bytes[SIZE];
  static const unsigned char pattern = 0x5a;
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = 1},
                      huge = {
                          .struct_size = sizeof huge, .kind = KW_MEM_DEVICE, .size = UINT64_C(1) << 60, .alignment = 1};
  kw_mem mem = NULL, none = NULL;
  kw_status status = KW_OK;
  KW_KEPT("memory.alloc", status = g.memory->alloc(device, &info, &mem));
  kw_guest_expect(status, KW_OK, "memory.alloc", "called directly");
  KW_KEPT("memory.alloc of 2^60 bytes", g.memory->alloc(device, &huge, &none));
  const kw_copy_info there = {
      .struct_size = sizeof there, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = bytes, .size = SIZE};
  const kw_copy_info here = {
      .struct_size = sizeof here, .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = bytes, .src_mem = mem, .size = SIZE};
  KW_KEPT("memory.copy to the device", g.memory->copy(device, stream, &there));
  if (g.memory->fill) KW_KEPT("memory.fill", g.memory->fill(device, stream, mem, 0, SIZE, &pattern, 1));
  KW_KEPT("memory.copy from the device", g.memory->copy(device, stream, &here));
  KW_KEPT("stream.synchronize", g.stream->synchronize(device, stream, KW_WAIT_FOREVER));
  if (g.memory->map && g.memory->unmap) {
    const kw_map_info map = {.struct_size = sizeof map, .flags = KW_MAP_READ | KW_MAP_WRITE, .mem = mem, .size = SIZE};
    void *pointer = NULL;
    KW_KEPT("memory.map", status = g.memory->map(device, stream, &map, &pointer));
    if (status == KW_OK) KW_KEPT("memory.unmap", g.memory->unmap(device, stream, &map, pointer));
  }
  KW_KEPT("stream.synchronize", g.stream->synchronize(device, stream, KW_WAIT_FOREVER));
  KW_KEPT("memory.dealloc", g.memory->dealloc(device, mem));
}

static void use_events(void *stream) {
  const kw_event_info info = {.struct_size = sizeof info};
  void *events[2] = {NULL};
  uint64_t ns = 0;
  if (!g.event) return;
  for (int i = 0; i < 2; i++) KW_KEPT("event.create", g.event->create(device, &info, &events[i]));
  for (int i = 0; i < 2; i++) KW_KEPT("event.record", g.event->record(device, events[i], stream));
  KW_KEPT("event.wait", g.event->wait(device, stream, events[0]));
  KW_KEPT("event.query", g.event->query(device, events[1]));
  KW_KEPT("event.synchronize", g.event->synchronize(device, events[1], KW_WAIT_FOREVER));
  if (g.event->elapsed) KW_KEPT("event.elapsed", g.event->elapsed(device, events[0], events[1], &ns));
  for (int i = 0; i < 2; i++) KW_KEPT("event.destroy", g.event->destroy(device, events[i]));
}

/* A kind of name for memory, given and taken. */
static void use_name(kw_handle_kind kind, uint64_t flags) {
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .flags = flags, .size = SIZE, .alignment = 1};
  kw_external_memory name = {.struct_size = sizeof name, .kind = kind, .size = SIZE};
  uint32_t alignment = 0;
  kw_mem mem = NULL, again = NULL;
  kw_status status = KW_OK;
  KW_KEPT("memory.alloc of memory for others", status = g.memory->alloc(device, &info, &mem));
  if (status != KW_OK) return;
  KW_KEPT("interop.export_memory", status = g.interop->export_memory(device, mem, &name));
  if (status == KW_OK) {
    KW_KEPT("interop.import_memory", status = g.interop->import_memory(device, &name, &again, &alignment));
    if (status == KW_OK) KW_KEPT("interop.release_memory", g.interop->release_memory(device, again));
    name.offset = UINT64_C(1) << 40;
    KW_KEPT("interop.import_memory of what is not there", g.interop->import_memory(device, &name, &again, &alignment));
    if (kind != KW_HANDLE_IPC) close((int)name.handle);
  }
  KW_KEPT("memory.dealloc of memory for others", g.memory->dealloc(device, mem));
}

static void use_interop(void *stream) {
  static _Alignas(4096) unsigned char bytes[2 * 4096];
  const kw_external_memory range = {
      .struct_size = sizeof range, .kind = KW_HANDLE_HOST, .size = sizeof bytes, .host = bytes};
  kw_native_handle handle = {.struct_size = sizeof handle};
  uint32_t alignment = 0;
  kw_mem mem = NULL;
  kw_status status = KW_OK;
  if (!g.interop) return;
  KW_KEPT("interop.import_memory of a host range", status = g.interop->import_memory(device, &range, &mem, &alignment));
  if (status == KW_OK) KW_KEPT("interop.release_memory of a host range", g.interop->release_memory(device, mem));
  if (g.interop->export_memory) {
    use_name(KW_HANDLE_FD, KW_MEM_EXPORTABLE);
    use_name(KW_HANDLE_DMABUF, KW_MEM_EXPORTABLE);
    use_name(KW_HANDLE_IPC, KW_MEM_IPC);
  }
  if (!g.interop->native_handle) return;
  KW_KEPT("interop.native_handle", g.interop->native_handle(device, KW_OBJECT_STREAM, stream, &handle));
}

static void use_device(void) {
  const kw_open_info info = {.struct_size = sizeof info};
  const kw_stream_info stream_info = {.struct_size = sizeof stream_info, .token = 1};
  void *stream = NULL;
  kw_status status = KW_OK;
  KW_KEPT("device.open", status = g.device->open(plugin, 0, &info, &device));
  kw_guest_expect(status, KW_OK, "device.open", "called directly");
  ask();
  use_host_memory();
  KW_KEPT("stream.create", status = g.stream->create(device, &stream_info, &stream));
  kw_guest_expect(status, KW_OK, "stream.create", "called directly");
  use_memory(stream);
  use_events(stream);
  use_interop(stream);
  if (g.stream->query) KW_KEPT("stream.query", g.stream->query(device, stream));
  KW_KEPT("stream.destroy", g.stream->destroy(device, stream));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

#define KW_KEPT_OF(slot, of, ...) \
  (kw_test_calls(__FILE__, __LINE__, slot), look(), (void)(__VA_ARGS__), compare(slot, of))

static void use_kernel(const kw_kernel_desc *kernel, kw_bare_call *b) {
  uint64_t workspace = 0;
  kw_status status = KW_OK;
  if (kernel->can_implement) KW_KEPT_OF("can_implement", kernel->op, status = kernel->can_implement(&b->call));
  if (status == KW_OK && kernel->workspace_size) {
    KW_KEPT_OF("workspace_size", kernel->op, status = kernel->workspace_size(&b->call, &workspace));
  }
  if (status != KW_OK || !kernel->prepare) return;
  KW_KEPT_OF("prepare", kernel->op, status = kernel->prepare(&b->call, &b->call.prepared));
  if (status != KW_OK || !kernel->release) return;
  KW_KEPT_OF("release", kernel->op, kernel->release(kernel->user, b->call.prepared));
}

/* Whether a kernel before this one has the same functions: one of them says enough. */
static bool is_known(uint32_t index) {
  const kw_kernel_desc *k = &kw_guest_kernels[index];
  for (uint32_t i = 0; i < index; i++) {
    const kw_kernel_desc *other = &kw_guest_kernels[i];
    if (other->prepare == k->prepare && other->can_implement == k->can_implement &&
        other->workspace_size == k->workspace_size && strcmp(other->op, k->op) == 0) {
      return true;
    }
  }
  return false;
}

static bool has_own_memory(const kw_kernel_desc *kernel) {
  return kernel->prepare || kernel->workspace_size;
}

static bool describe(const kw_kernel_desc *kernel, kw_bare_call *call) {
  return kw_bare_call_make(call, kernel, device, EDGE, 0, 1);
}

/* Kernels that prepare or want a workspace, or those that do not and choose their calls: so many of them, from a place
 * on that the seed chooses. */
static void use_kernels_that(bool have_own_memory, uint64_t most) {
  static kw_bare_call call;
  uint64_t first = 0, used = 0;
  kw_test_pattern(&first, sizeof first, 0x6e9);
  for (uint32_t i = 0; i < kw_guest_kernel_count && used < most; i++) {
    const uint32_t index = (uint32_t)((first + i) % kw_guest_kernel_count);
    const kw_kernel_desc *kernel = &kw_guest_kernels[index];
    if (has_own_memory(kernel) != have_own_memory || (!have_own_memory && !kernel->can_implement)) continue;
    if (is_known(index) || !describe(kernel, &call)) continue;
    use_kernel(kernel, &call);
    used++;
  }
}

static void use_kernels(void) {
  use_kernels_that(true, kw_soak_count(8, 32, UINT64_MAX));
  use_kernels_that(false, kw_soak_count(8, 32, UINT64_MAX));
}

/* ---- Prepared and released --------------------------------------------------------------------------------------- */

static void prepare_often(const kw_kernel_desc *kernel, kw_bare_call *b, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    kw_status status = kernel->prepare(&b->call, &b->call.prepared);
    KW_CHECK(status == KW_OK, "prepare of %s, done %s times before, gave %s", kernel->op, kw_soak_number(i),
             kw_status_name(status));
    if (!kernel->release) continue;
    status = kernel->release(kernel->user, b->call.prepared);
    KW_CHECK(status == KW_OK, "release of %s gave %s", kernel->op, kw_status_name(status));
  }
}

/* What is kept once, or for some time, is no growth. */
static void expect_released(const kw_kernel_desc *kernel, kw_bare_call *b) {
  enum { COUNT = 200, ROUNDS = 4, LEAST = 8 };
  bool grows = true;
  uint64_t workspace = 0;
  if (kernel->can_implement && kernel->can_implement(&b->call) != KW_OK) return;
  if (kernel->workspace_size && kernel->workspace_size(&b->call, &workspace) != KW_OK) return;
  prepare_often(kernel, b, COUNT);
  for (int round = 0; round < ROUNDS && grows; round++) {
    const int64_t held = kw_resource_heap();
    prepare_often(kernel, b, COUNT);
    grows = kw_resource_heap() - held >= COUNT * LEAST;
  }
  KW_CHECK(!grows, "what a kernel of %s prepares is not given back by release: the heap grows with each", kernel->op);
}

int kw_child_slots_released(void) {
  static kw_bare_call call;
  const uint64_t most = kw_soak_count(4, 12, UINT64_MAX);
  uint64_t first = 0, used = 0;
  if (!kw_resource_memory_tells()) kw_test_skip("sanitizers keep what is freed");
  kw_bench_open();
  device = kw_bench.device;
  kw_test_pattern(&first, sizeof first, 0x6ea);
  for (uint32_t i = 0; i < kw_guest_kernel_count && used < most; i++) {
    const uint32_t index = (uint32_t)((first + i) % kw_guest_kernel_count);
    const kw_kernel_desc *kernel = &kw_guest_kernels[index];
    if (!kernel->prepare || is_known(index) || !describe(kernel, &call)) continue;
    expect_released(kernel, &call);
    used++;
  }
  if (used == 0) kw_test_skip("the plugin has no kernel with prepare whose calls this suite makes");
  kw_bench_close();
  return 0;
}

/* What a kernel has prepared is gone when it is released. */
void kw_contract_slots_prepared_is_released(void **state) {
  (void)state;
  kw_test_child("slots_released");
}

/* ---- The test ---------------------------------------------------------------------------------------------------- */

/* Beside what every scenario begins with. */
static void block_signal(void) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

int kw_child_slots_kept(void) {
  const kw_init_info init = {.struct_size = sizeof init};
  kw_status status = KW_OK;
  block_signal();
  g = kw_guest_load();
  host = kw_guest_host_for(&g);
  host.register_kernel = kw_guest_keep_kernel;
  KW_KEPT("init", status = g.desc->init(&host, &init, &plugin));
  kw_guest_expect(status, KW_OK, "init", "called directly");
  kw_surroundings_choose_directory();
  use_device();
  use_kernels();
  KW_KEPT("device.close", g.device->close(device));
  fesetround(FE_UPWARD); /* and what an application chose is not set back either */
  uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
  use_device();
  use_kernels();
  KW_KEPT("device.close", g.device->close(device));
  KW_KEPT("shutdown", g.desc->shutdown(plugin));
  return 0;
}

/* Each slot leaves the calling thread's floating point, signal mask and locale, and the process's environment, umask,
 * handlers and working directory as they are: also those that Keyway calls once, and a kernel's own. */
void kw_contract_slots_process_kept(void **state) {
  (void)state;
  kw_test_child("slots_kept");
}
