/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices that are open, from before the plugin's open until after its close.
 */
#include "device/open.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/trace.h"
#include "device/activity.h"
#include "device/address.h"
#include "device/allocator.h"
#include "device/constant.h"
#include "device/device.h"
#include "device/generator.h"
#include "device/host_memory.h"
#include "device/stream_life.h"
#include "device/wait.h"
#include "plugin/load.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opening and closing run the plugin's code without the lock; others who want the same device wait for their end. */
typedef enum device_state { DEVICE_OPENING, DEVICE_READY, DEVICE_CLOSING } device_state;

/* One open device, in the list from before the plugin's open until after its close. */
typedef struct open_device {
  kw_device device;
  device_state state;
  bool has_handle;    /* the plugin's open has returned, and device.handle stays as it is */
  uint32_t opens;     /* of the references, those of kw_device_open */
  kw_options options; /* that it was opened with */
  struct open_device *next;
} open_device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and what stands beside the devices in it */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static open_device *devices;

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void close_parts(kw_device *device) {
  if (device->free_plan_table != NULL) device->free_plan_table(device);
  /* The allocator goes first: blocks in use wait for their streams. */
  if (device->allocator != NULL) kw_allocator_destroy(device);
  if (device->default_stream != NULL) kw_stream_destroy_default(device);
  kw_staging_free(device);
  kw_addresses_free(device);
  kw_generator_unref(device->generator);
  kw_activity_close(device);
  kw_status status = KW_ASK(device->slots, device.close, device->handle);
  if (status != KW_OK) {
    kw_from_plugin(status, "closing %s", device->name);
    kw_log(KW_LOG_WARN, "%s", kw_error_message());
  }
}

static void unlink_device(open_device *entry) {
  open_device **link = &devices;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  atomic_fetch_sub(&entry->device.plugin->open_devices, 1);
  pthread_cond_broadcast(&changed);
}

static void free_entry(open_device *entry) {
  kw_options_free(&entry->options);
  free(entry);
}

/* The last wait of all has a limit, too, and after it nobody is left to abandon the device. */
static bool ends_in_time(kw_device *device) {
  if (kw_stream_drain(device->default_stream) != KW_ERR_TIMEOUT) return true;
  kw_log(KW_LOG_ERROR, "%s is abandoned instead of closed: %s", device->name, kw_error_message());
  kw_device_abandon(device);
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(&changed); /* who waits to open it finds it lost */
  pthread_mutex_unlock(&lock);
  return false;
}

static void *close_entry(void *user) {
  open_device *entry = user;
  if (!ends_in_time(&entry->device)) return NULL;
  close_parts(&entry->device);
  pthread_mutex_lock(&lock);
  unlink_device(entry);
  pthread_mutex_unlock(&lock);
  free_entry(entry);
  return NULL;
}

/* For a host function: its stream, which the close waits for, waits for the function. */
static void close_elsewhere(open_device *entry) {
  const int error = kw_thread_start(close_entry, entry, NULL);
  if (error == 0) return;
  kw_log(KW_LOG_ERROR, "%s stays open for good: no thread to close it from (%s)", entry->device.name, strerror(error));
}

/* kw_device.on_last_release: what the last release of a device calls. */
static void close_device(kw_device *device) {
  open_device *entry = (open_device *)device; /* its first member */
  if (kw_device_is_abandoned(device)) return; /* threads may still be inside its plugin: all of it stays */
  pthread_mutex_lock(&lock);
  entry->state = DEVICE_CLOSING;
  pthread_mutex_unlock(&lock);
  if (kw_stream_in_callback()) {
    close_elsewhere(entry);
  } else {
    close_entry(entry);
  }
}

static kw_status open_parts(kw_device *device) {
  static atomic_ullong last_id;
  kw_plugin *plugin = device->plugin;
  kw_status status = kw_device_read_info(plugin, device->index, &device->info);
  if (status != KW_OK) return status;
  void *handle = NULL;
  const kw_options *options = &((open_device *)device)->options;
  const kw_open_info info = {.struct_size = sizeof info, .option_count = options->count, .options = options->items};
  status = KW_ASK(plugin, device.open, plugin->state, device->index, &info, &handle);
  if (status != KW_OK) return kw_from_plugin(status, "%s.%s: device.open", plugin->vendor, plugin->key);
  pthread_mutex_lock(&lock); /* whoever looks a device up by its handle finds this one from now on */
  device->handle = handle;
  ((open_device *)device)->has_handle = true;
  pthread_mutex_unlock(&lock);
  kw_device_set_id(device, atomic_fetch_add(&last_id, 1) + 1);
  kw_activity_open(device);
  status = kw_allocator_create(device);
  if (status == KW_OK) status = kw_stream_create_default(device);
  if (status == KW_OK) status = kw_generator_create_default(device);
  if (status != KW_OK) {
    kw_status reason = status;
    char text[1024];
    snprintf(text, sizeof text, "%s", kw_error_message());
    close_parts(device);
    return kw_fail(reason, "%s", text);
  }
  return KW_OK;
}

/* A new entry, opened. Under the lock, which is released meanwhile. */
static kw_status open_new(kw_plugin *plugin, uint32_t index, const char *name, const kw_options *options,
                          bool *out_first, kw_device **out_device) {
  kw_chosen_options chosen;
  open_device *entry = calloc(1, sizeof *entry);
  if (entry == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for a device");
  kw_options_choose(&plugin->desc, KW_OPTION_OPEN, options, &chosen);
  kw_status status = kw_options_add(&entry->options, name, chosen.items, chosen.count);
  if (status != KW_OK) {
    free_entry(entry);
    return status;
  }
  kw_device *device = &entry->device;
  device->plugin = plugin;
  atomic_init(&device->slots, plugin);
  atomic_init(&device->wait_limit, KW_WAIT_FOREVER);
  device->index = index;
  device->on_last_release = close_device;
  device->end_constant = kw_buffer_end_constant;
  snprintf(device->name, sizeof device->name, "%s", name);
  atomic_init(&device->refs, 1);
  entry->opens = 1;
  entry->state = DEVICE_OPENING;
  entry->next = devices;
  devices = entry;
  atomic_fetch_add(&plugin->open_devices, 1);
  *out_first = *out_first || !plugin->opened;
  plugin->opened = true;
  pthread_mutex_unlock(&lock);
  status = open_parts(device);
  pthread_mutex_lock(&lock);
  if (status == KW_OK) {
    entry->state = DEVICE_READY;
    pthread_cond_broadcast(&changed);
    *out_device = device;
  } else {
    unlink_device(entry);
    free_entry(entry);
  }
  return status;
}

/* One more reference, unless the last one is gone already. */
static bool retain_if_alive(kw_device *device) {
  unsigned refs = atomic_load(&device->refs);
  while (refs != 0) {
    if (atomic_compare_exchange_weak(&device->refs, &refs, refs + 1)) return true;
  }
  return false;
}

/* KW_OK when a device that is open has what it is asked for again with. */
static kw_status check_same_options(const open_device *entry, const kw_options *options) {
  const kw_plugin_desc *desc = &entry->device.plugin->desc;
  const kw_option_desc *other = kw_options_differ(desc, &entry->options, options);
  if (other == NULL) return KW_OK;
  return kw_fail(KW_ERR_BUSY,
                 "it is open already, with %s=%s: close it first, open it with the same, or leave the option out",
                 other->key, kw_option_value(entry->options.items, entry->options.count, other));
}

static kw_status open_or_share(kw_plugin *plugin, uint32_t index, const char *name, const kw_options *options,
                               bool *out_first, kw_device **out_device) {
  for (;;) {
    open_device *entry = devices;
    while (entry != NULL && (entry->device.plugin != plugin || entry->device.index != index)) entry = entry->next;
    if (entry == NULL) return open_new(plugin, index, name, options, out_first, out_device);
    if (kw_device_is_abandoned(&entry->device)) return kw_device_check(&entry->device);
    if (entry->state == DEVICE_READY && atomic_load(&entry->device.refs) != 0) {
      kw_status status = kw_device_check(&entry->device);
      if (status == KW_OK) status = check_same_options(entry, options);
      if (status != KW_OK) return status;
      if (retain_if_alive(&entry->device)) {
        entry->opens++;
        *out_device = &entry->device;
        return KW_OK;
      }
    }
    if (entry->state != DEVICE_OPENING && kw_stream_in_callback()) {
      return kw_fail(KW_ERR_BUSY,
                     "it is being closed, and a function run by kw_stream_call_host must not wait for that: the close "
                     "waits for the function. Open it from another thread, or after the function has returned");
    }
    pthread_cond_wait(&changed, &lock); /* for the end of an open or a close */
  }
}

kw_status kw_device_open_at(kw_plugin *plugin, uint32_t index, const char *name, const kw_options *options,
                            bool *out_first, kw_device **out_device) {
  *out_first = !kw_plugin_is_open(plugin);
  kw_status status = kw_options_check_device(&plugin->desc, options, name);
  if (status == KW_OK) status = kw_plugin_open(plugin);
  if (status == KW_OK && index >= atomic_load(&plugin->device_count)) {
    status = kw_fail(KW_ERR_NOT_FOUND, "%s is gone: %s.%s has %u devices now", name, plugin->vendor, plugin->key,
                     atomic_load(&plugin->device_count));
  }
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  status = open_or_share(plugin, index, name, options, out_first, out_device);
  pthread_mutex_unlock(&lock);
  return status != KW_OK ? kw_wrap(status, "opening %s failed", name) : KW_OK;
}

kw_status kw_device_close(kw_device *device) {
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  open_device *entry = devices;
  while (entry != NULL && &entry->device != device) entry = entry->next;
  bool valid = entry != NULL && entry->opens > 0;
  /* A guess where other threads release at the same time; kw_device_release is right about the last one in any case. */
  bool last = valid && atomic_load(&device->refs) - atomic_load(&device->host_calls) <= 1;
  bool busy = last && kw_stream_in_callback();
  if (valid && !busy) entry->opens--;
  pthread_mutex_unlock(&lock);
  if (busy) {
    return kw_fail(
        KW_ERR_BUSY,
        "kw_device_close: the last close of %s waits for its streams, and a function run by "
        "kw_stream_call_host must not wait: the stream waits for that function. Call it from another thread, "
        "or after the function has returned.",
        device->name);
  }
  if (!valid) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_close got no open device: it is closed once for each open");
  }
  kw_device_release(device);
  return KW_OK;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* An open device, with a reference, that is traced although it should not be, or the reverse; NULL: there is none.
 * Waits for devices that are being opened: they may have looked too early. Under the lock. */
static kw_device *retain_one_to_change(bool trace) {
  for (open_device *entry = devices; entry != NULL;) {
    kw_device *device = &entry->device;
    if (entry->state == DEVICE_OPENING) {
      pthread_cond_wait(&changed, &lock);
      entry = devices;
    } else if (entry->state == DEVICE_READY && device->traced != trace && retain_if_alive(device)) {
      return device;
    } else {
      entry = entry->next;
    }
  }
  return NULL;
}

void kw_device_trace_all(bool trace) {
  kw_device *device;
  pthread_mutex_lock(&lock);
  while ((device = retain_one_to_change(trace)) != NULL) {
    pthread_mutex_unlock(&lock);
    kw_activity_record(device, trace);
    kw_device_release(device);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
}

kw_device *kw_device_next_open(kw_device *previous) {
  uint64_t after = previous != NULL ? previous->id : 0;
  kw_device *next;
  pthread_mutex_lock(&lock);
  do {
    next = NULL;
    for (open_device *entry = devices; entry != NULL; entry = entry->next) {
      kw_device *device = &entry->device;
      if (entry->state != DEVICE_READY || device->id <= after) continue;
      if (next == NULL || device->id < next->id) next = device;
    }
    if (next != NULL) after = next->id;
  } while (next != NULL && !retain_if_alive(next));
  pthread_mutex_unlock(&lock);
  if (previous != NULL) kw_device_release(previous);
  return next;
}

kw_status kw_device_count_build(const kw_plugin *plugin, const void *handle, uint64_t ns, bool cached) {
  pthread_mutex_lock(&lock);
  open_device *entry = devices;
  while (entry != NULL && (!entry->has_handle || entry->device.plugin != plugin || entry->device.handle != handle)) {
    entry = entry->next;
  }
  if (entry != NULL) {
    atomic_fetch_add(cached ? &entry->device.modules_cached : &entry->device.modules_built, 1);
    atomic_fetch_add(&entry->device.build_ns, ns);
  }
  pthread_mutex_unlock(&lock);
  if (entry != NULL) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "report_build: this is none of the plugin's open devices");
}

void kw_device_forked(void) { /* without the lock: a thread that held it does not exist here to give it back */
  for (open_device *entry = devices; entry != NULL; entry = entry->next) {
    kw_device_mark_if_lost(&entry->device, KW_ERR_DEVICE_LOST);
  }
}
