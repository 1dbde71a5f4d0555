/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: the options that the plugin says it has. Keyway keeps the texts that it hands on as long as a device
 * is open; here they are gone when the call returns.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

#include <stdio.h>
#include <sys/mman.h>

enum { ROOM = 1 << 20 };

/* Options as init and open get them, in memory that ends with the call. */
typedef struct handed {
  kw_option *options;
  uint32_t count;
} handed;

static char *copy_text(char **at, const char *text) {
  char *copy = *at;
  *at += snprintf(copy, 4096, "%s", text) + 1;
  return copy;
}

/* Each option of the plugin's for `place`, as it is by itself. */
static handed hand_own_values(const kw_plugin_desc *desc, kw_option_place place) {
  void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KW_CHECK(room != MAP_FAILED, "no memory for options");
  handed h = {room, 0};
  char *at = (char *)(h.options + KW_OPTION_LIMIT);
  for (uint32_t i = 0; i < desc->option_count; i++) {
    const kw_option_desc *option = desc->options[i];
    if (option->place != place) continue;
    h.options[h.count].key = copy_text(&at, option->key);
    h.options[h.count++].value = copy_text(&at, option->value);
  }
  return h;
}

static void take_back(handed *h) {
  KW_CHECK(munmap(h->options, ROOM) == 0, "memory of options cannot be unmapped");
}

/* Of an option that was given a strange value: refused as such, or taken, by one that takes any text. */
static void check_strange(const kw_option_desc *option, kw_status status, const char *slot) {
  const bool is_number = *option->value && strspn(option->value, "0123456789") == strlen(option->value);
  KW_CHECK(status != KW_OK || !is_number,
           "%s takes a strange value of the option %s, which is a number by itself: what an option cannot take is "
           "KW_ERR_INVALID_ARGUMENT",
           slot, option->key);
  if (status == KW_OK) return;
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "%s with a strange value of the option %s gave %s", slot, option->key,
           kw_status_name(status));
  KW_CHECK(strstr(kw_guest_seen.error, option->key),
           "the text for a strange value of the option %s does not name it: %s", option->key, kw_guest_seen.error);
}

/* Before the plugin is started. */
static void start_with_strange_values(const kw_guest *g, const kw_host_api *host) {
  for (uint32_t i = 0; i < g->desc->option_count; i++) {
    const kw_option_desc *option = g->desc->options[i];
    if (option->place != KW_OPTION_INIT) continue;
    const kw_option strange = {option->key, KW_GUEST_STRANGE_VALUE};
    const kw_init_info info = {.struct_size = sizeof info, .option_count = 1, .options = &strange};
    void *plugin = NULL;
    kw_guest_seen.error[0] = 0;
    const kw_status status = g->desc->init(host, &info, &plugin);
    check_strange(option, status, "init");
    if (status == KW_OK) KW_GUEST_OK("with an option of any text", g->desc->shutdown(plugin));
  }
}

static void open_with_strange_values(const kw_guest *g, void *plugin) {
  for (uint32_t i = 0; i < g->desc->option_count; i++) {
    const kw_option_desc *option = g->desc->options[i];
    if (option->place != KW_OPTION_OPEN) continue;
    const kw_option strange = {option->key, KW_GUEST_STRANGE_VALUE};
    const kw_open_info info = {.struct_size = sizeof info, .option_count = 1, .options = &strange};
    void *device = NULL;
    kw_guest_seen.error[0] = 0;
    const kw_status status = g->device->open(plugin, 0, &info, &device);
    check_strange(option, status, "device.open");
    if (status == KW_OK) KW_GUEST_OK("with an option of any text", g->device->close(device));
  }
}

int kw_child_options(void) {
  static kw_host_api host;
  const kw_guest g = kw_guest_load();
  void *plugin = NULL, *device = NULL;
  handed h = hand_own_values(g.desc, KW_OPTION_INIT);
  const kw_init_info init = {.struct_size = sizeof init, .option_count = h.count, .options = h.options};
  host = kw_guest_host_for(&g);
  start_with_strange_values(&g, &host);
  KW_GUEST_OK("with all options as they are by themselves", g.desc->init(&host, &init, &plugin));
  take_back(&h);
  h = hand_own_values(g.desc, KW_OPTION_OPEN);
  const kw_open_info open = {.struct_size = sizeof open, .option_count = h.count, .options = h.options};
  KW_GUEST_OK("with all options as they are by themselves", g.device->open(plugin, 0, &open, &device));
  take_back(&h);
  kw_guest_use_opened(&g, device, 1, "opened with options");
  KW_GUEST_OK("opened with options", g.device->close(device));
  open_with_strange_values(&g, plugin);
  kw_guest_use_device(&g, plugin, 2, "after options were refused");
  KW_GUEST_OK("after options were refused", g.desc->shutdown(plugin));
  return 0;
}

/* Every option takes the value that it has by itself, in memory that is gone afterwards, and refuses what it cannot
 * have as an invalid argument. */
void kw_contract_lifecycle_options(void **state) {
  (void)state;
  kw_plugin_report report = {.struct_size = sizeof report};
  KW_CHECK_OK(kw_plugin_get_report(kw_test_entry().plugin, &report));
  if (report.option_count == 0) kw_test_skip("the plugin has no options");
  kw_test_child("options");
}
