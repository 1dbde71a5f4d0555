/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: what a device says of itself by keys.
 */
#include "attribute_keys.h"
#include "child.h"
#include "guest.h"
#include "scenarios.h"

static bool is_same(const kw_attribute *a, const kw_attribute *b) {
  if (a->type != b->type) return false;
  if (a->type == KW_ATTRIBUTE_STRING) return strcmp(a->u.s, b->u.s) == 0;
  if (a->type == KW_ATTRIBUTE_FLOAT) return a->u.f == b->u.f;
  return a->type == KW_ATTRIBUTE_BOOL ? a->u.b == b->u.b : a->u.i == b->u.i;
}

/* The same each time; a value of the wrong type, or a text that is too long, Keyway refuses. */
static void ask_twice(const char *key) {
  kw_attribute first = {.struct_size = sizeof first}, second = first;
  const kw_status status = kw_device_attribute(kw_contract.device, key, &first);
  if (status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED) return;
  KW_CHECK(status == KW_OK, "the attribute %s gave %s: %s", key, kw_status_name(status), kw_error_message());
  KW_CHECK_OK(kw_device_attribute(kw_contract.device, key, &second));
  KW_CHECK(is_same(&first, &second), "the attribute %s was another the second time", key);
}

/* Attributes have the types of KW_ATTRIBUTE_LIST and do not change; a key that there is not is KW_ERR_NOT_FOUND. */
void kw_contract_lifecycle_attributes(void **state) {
  (void)state;
  const kw_attribute_keys keys = kw_attribute_keys_find();
  for (uint32_t i = 0; i < keys.count; i++) ask_twice(keys.keys[i]);
  kw_attribute value = {.struct_size = sizeof value};
  kw_status status = kw_device_attribute(kw_contract.device, "com.example.nobody", &value);
  KW_CHECK(status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED, "an attribute that nobody has gave %s",
           kw_status_name(status));
}

/* ---- Open or not ------------------------------------------------------------------------------------------------- */

typedef struct answer {
  kw_status status;
  kw_attribute value;
} answer;

static answer ask(const kw_guest *g, void *plugin, const char *key) {
  answer a = {.value.struct_size = sizeof a.value};
  a.status = g->device->attribute(plugin, 0, key, &a.value);
  return a;
}

static void expect_same(const kw_guest *g, void *plugin, const char *key, const answer *first, const char *when) {
  const answer now = ask(g, plugin, key);
  KW_CHECK(now.status == first->status, "the attribute %s gave %s before the device was opened, and %s %s", key,
           kw_status_name(first->status), kw_status_name(now.status), when);
  KW_CHECK(now.status != KW_OK || is_same(&now.value, &first->value),
           "the attribute %s is another %s than before the device was opened", key, when);
}

int kw_child_attributes(void) {
  static kw_host_api host;
  const kw_guest g = kw_guest_load();
  if (!g.device->attribute) kw_test_skip("the plugin has no attributes");
  const kw_attribute_keys keys = kw_attribute_keys_find();
  const kw_open_info open = {.struct_size = sizeof open};
  void *plugin = NULL, *device = NULL;
  answer *first = kw_test_memory(keys.count * sizeof *first);
  host = kw_guest_host_for(&g);
  KW_GUEST_OK("for its attributes", g.desc->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin));
  for (uint32_t i = 0; i < keys.count; i++) first[i] = ask(&g, plugin, keys.keys[i]);
  KW_GUEST_OK("for its attributes", g.device->open(plugin, 0, &open, &device));
  for (uint32_t i = 0; i < keys.count; i++) expect_same(&g, plugin, keys.keys[i], &first[i], "while it is open");
  KW_GUEST_OK("for its attributes", g.device->close(device));
  for (uint32_t i = 0; i < keys.count; i++) expect_same(&g, plugin, keys.keys[i], &first[i], "when it was closed");
  KW_GUEST_OK("for its attributes", g.desc->shutdown(plugin));
  free(first);
  return 0;
}

/* A device that is not open has the attributes that it has when it is. */
void kw_contract_lifecycle_attributes_while_closed(void **state) {
  (void)state;
  kw_test_child("attributes");
}
