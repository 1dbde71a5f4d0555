/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the plugin kit over a driver that only counts: which slots a plugin gets, what is undone when something
 * fails, how often a late error is told, in which order callbacks run, when pages of the host are registered, what is
 * known of memory.
 */
#include "kit/device.h"
#include "lower/place.h"

#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- The host ---------------------------------------------------------------------------------------------------- */

static struct {
  char text[200];
  int late_errors;
  uint64_t late_call;
  uint64_t ran[8];
  uint32_t ran_count;
} seen;

static kw_status set_error(void *ctx, kw_status status, const char *text) {
  (void)ctx;
  snprintf(seen.text, sizeof seen.text, "%s", text);
  return status;
}

static kw_status register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx, (void)kernel;
  return KW_OK;
}

static kw_status report_async_error(void *ctx, uint64_t token, uint64_t call_id, kw_status status, const char *text) {
  (void)ctx, (void)status, (void)text;
  assert_int_equal(token, 77);
  seen.late_call = call_id;
  ++seen.late_errors;
  return KW_OK;
}

static kw_status run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  seen.ran[seen.ran_count++] = token;
  return KW_OK;
}

static const kw_host_api host = {.struct_size = sizeof host,
                                 .abi_version = KW_ABI_VERSION,
                                 .set_error = set_error,
                                 .register_kernel = register_kernel,
                                 .report_async_error = report_async_error,
                                 .run_callback = run_callback};

/* ---- The driver -------------------------------------------------------------------------------------------------- */

static struct {
  kw_status find, open, create, hold;
  int opened, closed, created, destroyed, done;
  char depth;     /* the option's first character */
  int registered; /* runs of pages */
  size_t pages_size;
  bool pages_read_only;
  kw_status dealloc;
  kw_mem_kind freed;       /* as what the last memory that was freed had been allocated */
  kw_mem_kind kind_inside; /* what kw_gpu_mem_kind said of it while the driver freed it */
  bool reuse;              /* its address is memory of the kind pinned again before dealloc returns */
} fake;

static void ignore(int signal) {
  (void)signal;
}

static const kw_option_desc depth = {sizeof depth, KW_OPTION_OPEN, "depth", "4", "how deep"};
static const kw_option_desc spare = {sizeof spare, KW_OPTION_INIT, "spare", "no", "whether there is a third device"};
static const kw_option_desc *const options[] = {&depth, &spare};

/* As runtimes with a compiler inside do, each somewhere else. */
static kw_status probe(const char **out_reason) {
  (void)out_reason;
  signal(SIGHUP, ignore);
  return KW_OK;
}

static kw_status find(const kw_host_api *given, kw_gpu_list *list) {
  static int ids[3];
  signal(SIGUSR1, ignore);
  setenv("HWLOC_PLUGINS_PATH", "of the driver", 0);
  if (fake.find != KW_OK) return kw_gpu_error(given, fake.find, "no device %d today", 1);
  kw_status status = kw_gpu_list_add(list, NULL, &ids[0]);
  if (status == KW_OK) status = kw_gpu_list_add(list, NULL, &ids[1]);
  if (status != KW_OK || strcmp(kw_gpu_list_option(list, &spare), "yes") != 0) return status;
  return kw_gpu_list_add(list, NULL, &ids[2]);
}

static kw_status describe(const kw_host_api *given, const kw_gpu_physical *physical, kw_device_info *out_info) {
  (void)given, (void)physical;
  out_info->type = KW_DEVICE_OTHER;
  return KW_OK;
}

static kw_status attribute(const kw_host_api *given, const kw_gpu_physical *physical, const char *key,
                           kw_attribute *out_value) {
  (void)given, (void)physical;
  return strcmp(key, "unified_memory") == 0 ? kw_gpu_give_bool(out_value, true) : KW_ERR_NOT_FOUND;
}

static kw_status open_device(kw_gpu_device *device, const kw_open_info *info) {
  signal(SIGUSR2, ignore);
  fake.depth = kw_option_value(info->options, info->option_count, &depth)[0];
  if (fake.open != KW_OK) return fake.open;
  device->handle = device->physical.id;
  ++fake.opened;
  return KW_OK;
}

static kw_status close_device(kw_gpu_device *device) {
  assert_ptr_equal(device->handle, device->physical.id);
  ++fake.closed;
  return KW_OK;
}

static kw_status alloc(kw_gpu_device *device, const kw_alloc_info *info, kw_mem *out_mem) {
  static char only; /* one address for all */
  (void)device, (void)info;
  *out_mem = &only;
  return KW_OK;
}

static kw_status alloc_of(void *device, kw_mem_kind kind, kw_mem *out_mem);

static kw_status dealloc(kw_gpu_device *device, kw_mem mem, kw_mem_kind kind) {
  kw_mem again = NULL;
  fake.freed = kind;
  fake.kind_inside = kw_gpu_mem_kind(device, mem);
  if (fake.reuse) assert_int_equal(alloc_of(device, KW_MEM_HOST_PINNED, &again), KW_OK);
  return fake.dealloc;
}

static kw_status copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *info) {
  (void)device, (void)stream, (void)info;
  return KW_OK;
}

typedef struct fake_stream {
  kw_gpu_stream base;
  int synchronized;
} fake_stream;

static kw_status stream_create(kw_gpu_stream *stream, uint64_t flags) {
  assert_int_equal(flags, 0);
  assert_int_equal(((fake_stream *)stream)->synchronized, 0);
  if (fake.create == KW_OK) ++fake.created;
  return fake.create;
}

static kw_status stream_destroy(kw_gpu_stream *stream) {
  assert_true(((fake_stream *)stream)->synchronized > 0);
  ++fake.destroyed;
  return KW_OK;
}

static kw_status stream_synchronize(kw_gpu_stream *stream, uint64_t timeout_ns) {
  (void)timeout_ns;
  ++((fake_stream *)stream)->synchronized;
  return KW_OK;
}

static kw_status callback_hold(kw_gpu_callback *callback) {
  (void)callback;
  return fake.hold;
}

static void callback_wait(kw_gpu_callback *callback) {
  (void)callback;
}

static void callback_done(kw_gpu_callback *callback) {
  (void)callback;
  ++fake.done;
}

#define THERE 0x100000 /* what the device calls host memory lies so far behind it */

static kw_status host_register(kw_gpu_device *device, void *begin, uint64_t size, bool read_only) {
  assert_int_equal((uintptr_t)begin % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
  if (!begin) return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "not these pages");
  ++fake.registered;
  fake.pages_size = size;
  fake.pages_read_only = read_only;
  return KW_OK;
}

static kw_status host_unregister(kw_gpu_device *device, void *begin) {
  (void)device, (void)begin;
  --fake.registered;
  return KW_OK;
}

static kw_status host_address(kw_gpu_device *device, void *begin, void **out_there) {
  (void)device;
  *out_there = (char *)begin + THERE;
  return KW_OK;
}

/* The handle is the address. */
static kw_status import_handle(kw_gpu_device *device, const kw_external_memory *info, kw_mem *out_mem) {
  if (info->kind != KW_HANDLE_FD) return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "no such memory");
  *out_mem = (kw_mem)(uintptr_t)info->handle;
  return KW_OK;
}

static kw_status release_handle(kw_gpu_device *device, kw_mem mem) {
  const uintptr_t address = (uintptr_t)mem;
  return address < THERE ? KW_OK : kw_gpu_error(device->host, KW_ERR_INVALID_ARGUMENT, "%p is no import", mem);
}

static kw_status native_handle(kw_gpu_device *device, kw_object_kind kind, void *object, bool imported,
                               kw_native_handle *out_handle) {
  (void)device, (void)kind;
  out_handle->dl_device_type = imported ? 1 : 2;
  out_handle->handle = object;
  return KW_OK;
}

static const kw_group groups[] = {{"com.acme.power/1", &host}};

static const kw_gpu_driver driver = {
    .key = "fake",
    .vendor = "acme",
    .version = "1",
    .description = "counts",
    .build = "",
    .sanitizer = "",
    .probe = probe,
    .find = find,
    .describe = describe,
    .attribute = attribute,
    .option_count = 2,
    .options = options,
    .open = open_device,
    .close = close_device,
    .mem_flags = KW_MEM_EXPORTABLE,
    .mem_kinds = 1u << KW_MEM_HOST_PINNED | 1u << KW_MEM_MANAGED,
    .alloc = alloc,
    .dealloc = dealloc,
    .copy = copy,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .host_address = host_address,
    .import_handle = import_handle,
    .release_handle = release_handle,
    .native_handle = native_handle,
    .stream_size = sizeof(fake_stream),
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .callback_hold = callback_hold,
    .callback_wait = callback_wait,
    .callback_done = callback_done,
    .groups = groups,
    .group_count = 1,
};

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static const kw_plugin_desc *query(void) {
  const kw_query_info asked = {
      .struct_size = sizeof asked, .abi_min = KW_ABI_VERSION, .abi_max = KW_ABI_VERSION, .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  assert_int_equal(kw_gpu_query(&driver, &asked, &desc, &reason), KW_OK);
  return desc;
}

static const void *table(const char *name) {
  const kw_plugin_desc *desc = query();
  for (uint32_t i = 0; i < desc->group_count; ++i)
    if (strcmp(desc->groups[i].name, name) == 0) return desc->groups[i].table;
  return NULL;
}

static int reset(void **state) {
  (void)state;
  memset(&seen, 0, sizeof seen);
  memset(&fake, 0, sizeof fake);
  return 0;
}

static void *start_and_open(void **out_plugin) {
  const kw_device_api *devices = table(KW_GROUP_DEVICE);
  void *device = NULL;
  assert_int_equal(query()->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, out_plugin), KW_OK);
  assert_int_equal(devices->open(*out_plugin, 1, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device), KW_OK);
  return device;
}

static void end(void *plugin, void *device) {
  assert_int_equal(((const kw_device_api *)table(KW_GROUP_DEVICE))->close(device), KW_OK);
  assert_int_equal(query()->shutdown(plugin), KW_OK);
}

static void slots_are_those_that_the_driver_has(void **state) {
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  const kw_stream_api *stream = table(KW_GROUP_STREAM);
  const char *reason = NULL;
  (void)state;
  assert_non_null(memory->copy);
  assert_null(memory->fill);
  assert_null(memory->usage);
  assert_null(memory->alloc_host);
  assert_null(memory->copy_peer);
  assert_null(stream->query);
  assert_non_null(stream->call_host);
  assert_null(table(KW_GROUP_EVENT));
  assert_ptr_equal(table("com.acme.power/1"), &host);
  assert_ptr_equal(query(), query());
  assert_int_equal(query()->probe(&reason), KW_OK);
}

static void a_host_of_another_major_version_is_told_why(void **state) {
  const kw_query_info asked = {
      .struct_size = sizeof asked, .abi_min = KW_ABI_MAKE(7, 0), .abi_max = KW_ABI_MAKE(7, 1), .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  (void)state;
  assert_int_equal(kw_gpu_query(&driver, &asked, &desc, &reason), KW_ERR_ABI_MISMATCH);
  assert_null(desc);
  assert_non_null(strstr(reason, "ABI 1.0"));
}

static void what_fails_at_init_leaves_nothing(void **state) {
  void *plugin = NULL;
  (void)state;
  fake.find = KW_ERR_PERMISSION;
  assert_int_equal(query()->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin),
                   KW_ERR_PERMISSION);
  assert_null(plugin);
  assert_string_equal(seen.text, "no device 1 today");
}

static void handlers_of_signals_stay_the_application_s(void **state) {
  static const int signals[] = {SIGHUP, SIGUSR1, SIGUSR2};
  const char *reason = NULL;
  void *plugin = NULL;
  (void)state;
  assert_int_equal(query()->probe(&reason), KW_OK);
  void *device = start_and_open(&plugin);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
    struct sigaction after;
    sigaction(signals[i], NULL, &after);
    assert_true(after.sa_handler == SIG_DFL);
  }
  end(plugin, device);
}

static void a_variable_stays_the_application_s(void **state) {
  void *plugin = NULL;
  (void)state;
  unsetenv("HWLOC_PLUGINS_PATH");
  void *device = start_and_open(&plugin);
  assert_null(getenv("HWLOC_PLUGINS_PATH"));
  end(plugin, device);
  setenv("HWLOC_PLUGINS_PATH", "of the application", 1);
  device = start_and_open(&plugin);
  assert_string_equal(getenv("HWLOC_PLUGINS_PATH"), "of the application");
  end(plugin, device);
  unsetenv("HWLOC_PLUGINS_PATH");
}

static void options_are_the_kits_and_the_drivers(void **state) {
  const kw_device_api *devices = table(KW_GROUP_DEVICE);
  const kw_plugin_desc *desc = query();
  void *plugin = NULL, *device = NULL;
  (void)state;
  uint32_t count = 0;
  assert_int_equal(desc->option_count, 3);
  assert_string_equal(desc->options[0]->key, "module_cache");
  assert_ptr_equal(desc->options[1], &depth);
  const kw_option more = {"spare", "yes"};
  const kw_init_info start = {.struct_size = sizeof start, .option_count = 1, .options = &more};
  assert_int_equal(desc->init(&host, &start, &plugin), KW_OK);
  assert_int_equal(devices->count(plugin, &count), KW_OK);
  assert_int_equal(count, 3);
  kw_option given[] = {{"module_cache", "2"}, {"depth", "9"}};
  const kw_open_info info = {.struct_size = sizeof info, .option_count = 2, .options = given};
  assert_int_equal(devices->open(plugin, 0, &info, &device), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(seen.text, "the option module_cache is '2': 0 or 1");
  assert_int_equal(fake.opened, 0);
  given[0].value = "0";
  assert_int_equal(devices->open(plugin, 0, &info, &device), KW_OK);
  assert_int_equal(fake.depth, '9');
  end(plugin, device);
}

static void attributes_are_the_drivers_and_the_systems(void **state) {
  const kw_device_api *devices = table(KW_GROUP_DEVICE);
  void *plugin = NULL;
  kw_attribute value = {.struct_size = sizeof value};
  (void)state;
  assert_int_equal(query()->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin), KW_OK);
  assert_int_equal(devices->attribute(plugin, 0, "unified_memory", &value), KW_OK);
  assert_int_equal(value.type, KW_ATTRIBUTE_BOOL);
  assert_true(value.u.b);
  assert_int_equal(devices->attribute(plugin, 0, "pci_vendor_id", &value), KW_ERR_NOT_FOUND);
  assert_string_equal(seen.text, "counts does not tell 'pci_vendor_id' of this device");
  assert_int_equal(kw_gpu_bus_attribute("uuid:00", "pci_vendor_id", &value), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_gpu_bus_attribute("pci:ffff:ff:1f.7", "pci_vendor_id", &value), KW_ERR_NOT_FOUND);
  query()->shutdown(plugin);
}

/* Of any device of this machine's bus, where it has one. */
static void the_bus_tells_its_devices(void **state) {
  glob_t found;
  kw_attribute value = {.struct_size = sizeof value};
  (void)state;
  if (glob("/sys/bus/pci/devices/*", 0, NULL, &found) != 0) skip();
  char id[64];
  snprintf(id, sizeof id, "pci:%s", strrchr(found.gl_pathv[0], '/') + 1);
  globfree(&found);
  assert_int_equal(kw_gpu_bus_attribute(id, "pci_vendor_id", &value), KW_OK);
  assert_int_equal(value.type, KW_ATTRIBUTE_INT);
  assert_in_range(value.u.i, 1, 0xffff);
  assert_int_equal(kw_gpu_bus_attribute(id, "pci_device_id", &value), KW_OK);
  assert_int_equal(kw_gpu_bus_attribute(id, "core_clock_hz", &value), KW_ERR_NOT_FOUND);
}

static void what_fails_at_open_leaves_nothing(void **state) {
  const kw_device_api *devices = table(KW_GROUP_DEVICE);
  void *plugin = NULL, *device = NULL;
  uint32_t count = 0;
  (void)state;
  assert_int_equal(query()->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin), KW_OK);
  assert_int_equal(devices->count(plugin, &count), KW_OK);
  assert_int_equal(count, 2);
  fake.open = KW_ERR_DEVICE_LOST;
  assert_int_equal(devices->open(plugin, 1, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device),
                   KW_ERR_DEVICE_LOST);
  assert_null(device);
  assert_int_equal(fake.closed, 0);
  fake.open = KW_OK;
  assert_int_equal(devices->open(plugin, 1, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device), KW_OK);
  end(plugin, device);
  assert_int_equal(fake.closed, fake.opened);
}

static kw_status alloc_of(void *device, kw_mem_kind kind, kw_mem *out_mem) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = kind, .size = 64, .alignment = 64};
  return ((const kw_memory_api *)table(KW_GROUP_MEMORY))->alloc(device, &info, out_mem);
}

static void a_freed_address_has_the_kind_of_its_next_owner(void **state) {
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  void *plugin, *device = start_and_open(&plugin);
  kw_mem mem = NULL;
  (void)state;
  assert_int_equal(alloc_of(device, KW_MEM_MANAGED, &mem), KW_OK);
  fake.reuse = true; /* as another thread may */
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  assert_int_equal(fake.freed, KW_MEM_MANAGED);
  assert_int_equal(fake.kind_inside, KW_MEM_DEVICE);
  assert_int_equal(kw_gpu_mem_kind(device, mem), KW_MEM_HOST_PINNED);
  fake.reuse = false;
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  assert_int_equal(fake.freed, KW_MEM_HOST_PINNED);
  assert_int_equal(kw_gpu_mem_kind(device, mem), KW_MEM_DEVICE);
  end(plugin, device);
}

static void memory_that_is_not_freed_keeps_its_kind(void **state) {
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  void *plugin, *device = start_and_open(&plugin);
  kw_mem mem = NULL;
  (void)state;
  assert_int_equal(alloc_of(device, KW_MEM_MANAGED, &mem), KW_OK);
  fake.dealloc = KW_ERR_INTERNAL;
  assert_int_equal(memory->dealloc(device, mem), KW_ERR_INTERNAL);
  assert_int_equal(kw_gpu_mem_kind(device, mem), KW_MEM_MANAGED);
  fake.dealloc = KW_OK;
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  assert_int_equal(fake.freed, KW_MEM_MANAGED);
  assert_int_equal(kw_gpu_mem_kind(device, mem), KW_MEM_DEVICE);
  end(plugin, device);
}

static void memory_by_bytes_is_refused_by_name(void **state) {
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  const kw_alloc_info info = {.struct_size = sizeof info, .size = 64, .alignment = 64, .flags = KW_MEM_IPC};
  void *plugin, *device = start_and_open(&plugin);
  kw_mem mem = NULL;
  (void)state;
  assert_int_equal(memory->alloc(device, &info, &mem), KW_ERR_UNSUPPORTED);
  assert_string_equal(seen.text,
                      "memory for other processes by bytes (KW_MEM_IPC): fake has none; pass it on by "
                      "descriptor (KW_MEM_EXPORTABLE)");
  end(plugin, device);
}

static void copies_of_unknown_kinds_are_refused(void **state) {
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  kw_copy_info info = {.struct_size = sizeof info, .kind = 3, .size = 1};
  void *plugin, *device = start_and_open(&plugin);
  (void)state;
  assert_int_equal(memory->copy(device, NULL, &info), KW_ERR_UNSUPPORTED);
  info.kind = KW_COPY_DEVICE_TO_DEVICE;
  assert_int_equal(memory->copy(device, NULL, &info), KW_OK);
  end(plugin, device);
}

static void *create_stream(void *device) {
  const kw_stream_info info = {.struct_size = sizeof info, .token = 77};
  void *stream = NULL;
  kw_status status = ((const kw_stream_api *)table(KW_GROUP_STREAM))->create(device, &info, &stream);
  assert_int_equal(status, fake.create);
  return stream;
}

static void streams_are_synchronised_before_they_go(void **state) {
  const kw_stream_api *streams = table(KW_GROUP_STREAM);
  void *plugin, *device = start_and_open(&plugin);
  (void)state;
  fake.create = KW_ERR_OUT_OF_MEMORY;
  assert_null(create_stream(device));
  fake.create = KW_OK;
  void *stream = create_stream(device);
  assert_int_equal(streams->destroy(device, stream), KW_OK);
  assert_int_equal(fake.destroyed, fake.created);
  end(plugin, device);
}

static void a_late_error_is_told_once_until_it_is_cleared(void **state) {
  void *plugin, *device = start_and_open(&plugin);
  kw_gpu_stream *stream = create_stream(device);
  (void)state;
  pthread_mutex_lock(&stream->lock);
  kw_gpu_stream_fail(stream, 5, KW_ERR_INTERNAL, "first");
  kw_gpu_stream_fail(stream, 6, KW_ERR_INTERNAL, "and what follows from it");
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(seen.late_call, 5);
  stream->failed = false;
  kw_gpu_stream_fail(stream, 7, KW_ERR_INTERNAL, "another");
  pthread_mutex_unlock(&stream->lock);
  assert_int_equal(seen.late_errors, 2);
  assert_int_equal(seen.late_call, 7);
  ((const kw_stream_api *)table(KW_GROUP_STREAM))->destroy(device, stream);
  end(plugin, device);
}

static void callbacks_run_in_order_and_before_their_stream_goes(void **state) {
  const kw_stream_api *streams = table(KW_GROUP_STREAM);
  void *plugin, *device = start_and_open(&plugin), *stream = create_stream(device);
  (void)state;
  for (uint64_t token = 1; token <= 8; ++token) assert_int_equal(streams->call_host(device, stream, token), KW_OK);
  fake.hold = KW_ERR_DEVICE_LOST;
  assert_int_equal(streams->call_host(device, stream, 9), KW_ERR_DEVICE_LOST);
  assert_int_equal(streams->destroy(device, stream), KW_OK);
  assert_int_equal(seen.ran_count, 8);
  for (uint64_t i = 0; i < 8; ++i) assert_int_equal(seen.ran[i], i + 1);
  assert_int_equal(fake.done, 8);
  end(plugin, device);
}

/* Pages are told to the runtime once, however many imports lie there, and until the last has ended. */
static void pages_of_the_host_are_registered_once(void **state) {
  const kw_interop_api *interop = table(KW_GROUP_INTEROP);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *plugin, *device = start_and_open(&plugin);
  char *memory = aligned_alloc(page, 4 * page);
  kw_external_memory info = {.struct_size = sizeof info, .size = page, .host = memory + 24};
  kw_native_handle handle = {.struct_size = sizeof handle};
  kw_mem first = NULL, second = NULL, third = NULL;
  uint32_t alignment = 0;
  (void)state;
  info.flags = KW_EXTERNAL_READ_ONLY | 1;
  assert_int_equal(interop->import_memory(device, &info, &first, &alignment), KW_OK);
  assert_ptr_equal(first, memory + 24 + THERE);
  assert_int_equal(alignment, 8);
  assert_int_equal(fake.pages_size, 2 * page);
  assert_true(fake.pages_read_only);
  info.host = memory + page;
  assert_int_equal(interop->import_memory(device, &info, &second, &alignment), KW_OK);
  assert_int_equal(fake.registered, 1);
  info.flags = 0; /* the pages are read-only */
  assert_int_equal(interop->import_memory(device, &info, &third, &alignment), KW_ERR_UNSUPPORTED);
  info.flags = KW_EXTERNAL_READ_ONLY;
  info.size = page + 1; /* reaches into the next one */
  assert_int_equal(interop->import_memory(device, &info, &third, &alignment), KW_ERR_UNSUPPORTED);
  info.host = memory + 2 * page;
  assert_int_equal(interop->import_memory(device, &info, &third, &alignment), KW_OK);
  assert_int_equal(fake.registered, 2);
  info.kind = KW_HANDLE_DMABUF;
  assert_int_equal(interop->import_memory(device, &info, &third, &alignment), KW_ERR_UNSUPPORTED);
  assert_int_equal(interop->native_handle(device, KW_OBJECT_MEMORY, first, &handle), KW_OK);
  assert_int_equal(handle.dl_device_type, 1);
  assert_int_equal(interop->release_memory(device, first), KW_OK);
  assert_int_equal(fake.registered, 2);
  assert_int_equal(interop->native_handle(device, KW_OBJECT_MEMORY, first, &handle), KW_OK);
  assert_int_equal(handle.dl_device_type, 2);
  assert_int_equal(interop->release_memory(device, second), KW_OK);
  assert_int_equal(fake.registered, 1);
  assert_int_equal(interop->release_memory(device, third), KW_OK);
  assert_int_equal(fake.registered, 0);
  assert_int_equal(interop->release_memory(device, third), KW_ERR_INVALID_ARGUMENT);
  free(memory);
  end(plugin, device);
}

static bool meet(void *device, kw_mem a, int64_t begin, kw_mem b) {
  const kw_gpu_range one = {a, kw_gpu_memory_place(device, a), begin, begin + 8};
  const kw_gpu_range other = {b, kw_gpu_memory_place(device, b), 0, 8};
  const bool answer = kw_gpu_ranges_meet(&one, &other);
  assert_int_equal(kw_gpu_ranges_meet(&other, &one), answer);
  return answer;
}

/* What the device has alone meets itself only; host ranges where they do; what came by a handle, or may be given away
 * by one, all that is not the device's alone. */
static void memory_with_two_names_is_one_place(void **state) {
  const kw_interop_api *interop = table(KW_GROUP_INTEROP);
  const kw_memory_api *memory = table(KW_GROUP_MEMORY);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *plugin, *device = start_and_open(&plugin);
  char *there = aligned_alloc(page, page);
  kw_external_memory info = {.struct_size = sizeof info, .size = 32, .host = there};
  kw_mem own, first, second, handle, exportable;
  uint32_t alignment;
  (void)state;
  assert_int_equal(alloc_of(device, KW_MEM_DEVICE, &own), KW_OK);
  assert_int_equal(interop->import_memory(device, &info, &first, &alignment), KW_OK);
  info.host = there + 16;
  assert_int_equal(interop->import_memory(device, &info, &second, &alignment), KW_OK);
  info.kind = KW_HANDLE_FD;
  info.handle = 4096;
  assert_int_equal(interop->import_memory(device, &info, &handle, &alignment), KW_OK);
  assert_true(meet(device, own, 7, own));
  assert_false(meet(device, own, 8, own));
  assert_false(meet(device, own, 0, first));
  assert_false(meet(device, own, 0, handle));
  assert_false(meet(device, first, 8, second));
  assert_true(meet(device, first, 9, second));
  assert_true(meet(device, first, 23, second));
  assert_false(meet(device, first, 24, second));
  assert_true(meet(device, handle, 0, second));
  assert_false(meet(device, handle, 8, handle));
  assert_int_equal(memory->dealloc(device, own), KW_OK);

  const kw_alloc_info given = {.struct_size = sizeof given, .size = 64, .alignment = 64, .flags = KW_MEM_EXPORTABLE};
  assert_int_equal(memory->alloc(device, &given, &exportable), KW_OK);
  assert_int_equal(kw_gpu_mem_kind(device, exportable), KW_MEM_DEVICE);
  assert_true(meet(device, exportable, 0, handle));
  assert_true(meet(device, exportable, 0, first));
  assert_int_equal(memory->dealloc(device, exportable), KW_OK);
  assert_false(meet(device, exportable, 0, first));

  assert_int_equal(interop->release_memory(device, handle), KW_OK);
  assert_false(meet(device, handle, 0, first)); /* its address is nothing that is known */
  assert_int_equal(interop->release_memory(device, first), KW_OK);
  assert_int_equal(interop->release_memory(device, second), KW_OK);
  free(there);
  end(plugin, device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(slots_are_those_that_the_driver_has, reset),
      cmocka_unit_test_setup(a_host_of_another_major_version_is_told_why, reset),
      cmocka_unit_test_setup(options_are_the_kits_and_the_drivers, reset),
      cmocka_unit_test_setup(attributes_are_the_drivers_and_the_systems, reset),
      cmocka_unit_test(the_bus_tells_its_devices),
      cmocka_unit_test_setup(what_fails_at_init_leaves_nothing, reset),
      cmocka_unit_test_setup(handlers_of_signals_stay_the_application_s, reset),
      cmocka_unit_test_setup(a_variable_stays_the_application_s, reset),
      cmocka_unit_test_setup(what_fails_at_open_leaves_nothing, reset),
      cmocka_unit_test_setup(a_freed_address_has_the_kind_of_its_next_owner, reset),
      cmocka_unit_test_setup(memory_that_is_not_freed_keeps_its_kind, reset),
      cmocka_unit_test_setup(memory_by_bytes_is_refused_by_name, reset),
      cmocka_unit_test_setup(copies_of_unknown_kinds_are_refused, reset),
      cmocka_unit_test_setup(streams_are_synchronised_before_they_go, reset),
      cmocka_unit_test_setup(a_late_error_is_told_once_until_it_is_cleared, reset),
      cmocka_unit_test_setup(callbacks_run_in_order_and_before_their_stream_goes, reset),
      cmocka_unit_test_setup(pages_of_the_host_are_registered_once, reset),
      cmocka_unit_test_setup(memory_with_two_names_is_one_place, reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
