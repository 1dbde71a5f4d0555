/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: starts of the plugin, and what it is asked of a device that nobody has opened. Keyway starts a plugin
 * once and remembers much of what it says, so a small host calls the slots, in a process of its own.
 */
#include "contract/child.h"
#include "contract/guest.h"
#include "contract/scenarios.h"
#include "soak.h"

#include <stdio.h>

static kw_guest guest;
static kw_host_api table; /* good while the plugin is started */
static void *plugin;

static void start(const char *when) {
  table = kw_guest_host_for(&guest);
  KW_GUEST_OK(when, guest.desc->init(&table, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin));
}

/* ---- Starts ------------------------------------------------------------------------------------------------------ */

static void run_starts(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    char when[64];
    snprintf(when, sizeof when, "start %s", kw_soak_number(first + i + 1));
    start(when);
    kw_guest_use_device(&guest, plugin, first + i, when);
    KW_GUEST_OK(when, guest.desc->shutdown(plugin));
  }
}

/* The plugin, started, used and shut down again and again. */
void kw_contract_soak_starts(void **state) {
  (void)state;
  kw_test_child("soak_starts");
}

int kw_child_soak_starts(void) {
  guest = kw_guest_load();
  const kw_soak_work work = {.objects = "starts of the plugin",
                             .count = kw_soak_count(10, 50, 2500),
                             .block = 10,
                             .least = 1024, /* as for opens */
                             .run = run_starts};
  kw_soak_run(&work);
  return 0;
}

/* ---- Readings ---------------------------------------------------------------------------------------------------- */

static void read_attributes(uint32_t index, const char *when) {
  static const char *const keys[] = {
#define KW_ROW(key, type) key,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
          "com.example.nobody"};
  for (size_t i = 0; guest.device->attribute && i < sizeof keys / sizeof keys[0]; i++) {
    kw_attribute value = {.struct_size = sizeof value};
    const kw_status status = guest.device->attribute(plugin, index, keys[i], &value);
    KW_CHECK(status == KW_OK || status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED, "%s: attribute %s gave %s",
             when, keys[i], kw_status_name(status));
  }
}

static void read_info(uint32_t index, const char *when) {
  kw_device_info info = {.struct_size = sizeof info};
  KW_GUEST_OK(when, guest.device->info(plugin, index, &info));
}

/* What is read of each device by its index. */
typedef void (*reader)(uint32_t index, const char *when);

static void run_readings(void *user, uint64_t first, uint64_t count) {
  const reader *read = user;
  for (uint64_t i = 0; i < count; i++) {
    char when[64];
    uint32_t devices = 0;
    snprintf(when, sizeof when, "reading %s", kw_soak_number(first + i + 1));
    KW_GUEST_OK(when, guest.device->count(plugin, &devices));
    for (uint32_t k = 0; k < devices; k++) (*read)(k, when);
  }
}

static void soak_readings(const char *objects, uint64_t normal, reader read) {
  const kw_soak_work work = {.objects = objects,
                             .count = kw_soak_count(normal / 4, normal, 40 * normal),
                             .block = 500,
                             .least = 16,
                             .run = run_readings,
                             .user = &read};
  kw_soak_run(&work);
}

/* What the plugin's devices are, and their attributes, read again and again: texts are the plugin's, and no new ones
 * each time. */
void kw_contract_soak_readings(void **state) {
  (void)state;
  kw_test_child("soak_readings");
}

int kw_child_soak_readings(void) {
  guest = kw_guest_load();
  start("before the first reading");
  soak_readings("readings of the devices' attributes", 10000, read_attributes);
  soak_readings("readings of the devices' info", 1500, read_info); /* some ask the system each time */
  KW_GUEST_OK("after the last reading", guest.desc->shutdown(plugin));
  return 0;
}
