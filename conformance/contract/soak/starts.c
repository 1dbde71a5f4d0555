/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: starts of the plugin, opens that it refuses, and what it is asked of a device that nobody has opened.
 * Keyway starts a plugin once and remembers much of what it says, so a small host calls the slots, in a process of its
 * own.
 */
#include "contract/attribute_keys.h"
#include "contract/child.h"
#include "contract/guest.h"
#include "contract/scenarios.h"
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>

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

/* ---- Opens that are refused -------------------------------------------------------------------------------------- */

/* The options of an opening that refuse a strange value, each with one. */
typedef struct strict_options {
  kw_option options[KW_OPTION_LIMIT];
  uint32_t count;
} strict_options;

static kw_status try_to_open(const kw_option *option) {
  const kw_open_info info = {.struct_size = sizeof info, .option_count = 1, .options = option};
  void *device = NULL;
  kw_test_calls(__FILE__, __LINE__, "device.open");
  const kw_status status = guest.device->open(plugin, 0, &info, &device);
  if (status == KW_OK) KW_GUEST_OK("with an option of any text", guest.device->close(device));
  return status;
}

static void find_strict_options(strict_options *out) {
  for (uint32_t i = 0; i < guest.desc->option_count; i++) {
    const kw_option option = {guest.desc->options[i]->key, KW_GUEST_STRANGE_VALUE};
    if (guest.desc->options[i]->place != KW_OPTION_OPEN) continue;
    if (try_to_open(&option) != KW_OK) out->options[out->count++] = option;
  }
}

static void run_refused_opens(void *user, uint64_t first, uint64_t count) {
  const strict_options *strict = user;
  for (uint64_t i = first; i < first + count; i++) {
    const kw_option *option = &strict->options[i % strict->count];
    KW_CHECK(try_to_open(option) != KW_OK, "open %s: a value of the option %s was refused before, and now taken",
             kw_soak_number(i + 1), option->key);
  }
}

/* Opens that are refused for a value of an option leave nothing behind. */
void kw_contract_soak_refused_opens(void **state) {
  (void)state;
  kw_test_child("soak_refused_opens");
}

int kw_child_soak_refused_opens(void) {
  static strict_options strict;
  guest = kw_guest_load();
  start("before the first open that is refused");
  find_strict_options(&strict);
  if (strict.count == 0) kw_test_skip("the plugin has no option of an opening that refuses a value");
  const kw_soak_work work = {.objects = "opens that were refused",
                             .count = kw_soak_count(100, 1000, 40000),
                             .block = 100,
                             .least = 64,
                             .run = run_refused_opens,
                             .user = &strict};
  kw_soak_run(&work);
  kw_guest_use_device(&guest, plugin, 1, "after opens that were refused");
  KW_GUEST_OK("after opens that were refused", guest.desc->shutdown(plugin));
  return 0;
}

/* ---- Readings ---------------------------------------------------------------------------------------------------- */

/* Those of a device's attributes that it has, and one that nobody has. */
static kw_attribute_keys known;

static void find_known(void) {
  const kw_attribute_keys all = kw_attribute_keys_find();
  known.keys = kw_test_memory((all.count + 1) * sizeof *known.keys);
  for (uint32_t i = 0; i < all.count; i++) {
    kw_attribute value = {.struct_size = sizeof value};
    if (guest.device->attribute(plugin, 0, all.keys[i], &value) == KW_OK) known.keys[known.count++] = all.keys[i];
  }
  known.keys[known.count++] = "com.example.nobody";
}

static void read_attributes(uint32_t index, const char *when) {
  for (uint32_t i = 0; i < known.count; i++) {
    kw_attribute value = {.struct_size = sizeof value};
    const kw_status status = guest.device->attribute(plugin, index, known.keys[i], &value);
    KW_CHECK(status == KW_OK || status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED, "%s: attribute %s gave %s",
             when, known.keys[i], kw_status_name(status));
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
  if (guest.device->attribute) {
    find_known();
    soak_readings("readings of the devices' attributes", 10000, read_attributes);
  }
  soak_readings("readings of the devices' info", 1500, read_info); /* some ask the system each time */
  free(known.keys);
  KW_GUEST_OK("after the last reading", guest.desc->shutdown(plugin));
  return 0;
}
