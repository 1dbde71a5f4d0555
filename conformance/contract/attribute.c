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

/* A value and, of a text, what it said then: the plugin's own may have become another since. */
typedef struct answer {
  kw_status status;
  kw_attribute value;
  char *text; /* NULL for what is none */
} answer;

/* What the plugin said, and whose text lasts as long as this. */
static answer keep(kw_status status, const kw_attribute *value) {
  answer kept = {.status = status, .value = *value};
  if (status != KW_OK || value->type != KW_ATTRIBUTE_STRING) return kept;
  kept.text = strdup(value->u.s);
  if (!kept.text) KW_FAIL("out of host memory");
  kept.value.u.s = kept.text;
  return kept;
}

/* The same each time; a value of the wrong type, or a text that is too long, Keyway refuses. */
static void ask_twice(const char *key) {
  kw_attribute first = {.struct_size = sizeof first}, second = first;
  const kw_status status = kw_device_attribute(kw_contract.device, key, &first);
  if (status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED) return;
  KW_CHECK(status == KW_OK, "the attribute %s gave %s: %s", key, kw_status_name(status), kw_error_message());
  const answer before = keep(status, &first);
  KW_CHECK_OK(kw_device_attribute(kw_contract.device, key, &second));
  KW_CHECK(is_same(&before.value, &second), "the attribute %s was another the second time", key);
  free(before.text);
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

/* What each device said of each key at first: that of key k of device d is number d * keys.count + k. */
static struct {
  kw_guest guest;
  void *plugin;
  kw_attribute_keys keys;
  uint32_t devices;
  answer *first;
  const char **given; /* the plugin's own texts; NULL for what is none */
} asked;

static kw_status ask(uint32_t number, kw_attribute *out_value) {
  *out_value = (kw_attribute){.struct_size = sizeof *out_value};
  return asked.guest.device->attribute(asked.plugin, number / asked.keys.count,
                                       asked.keys.keys[number % asked.keys.count], out_value);
}

static void ask_all(void) {
  const uint32_t count = asked.devices * asked.keys.count;
  asked.first = kw_test_memory(count * sizeof *asked.first);
  asked.given = kw_test_memory(count * sizeof *asked.given);
  for (uint32_t i = 0; i < count; i++) {
    kw_attribute value;
    asked.first[i] = keep(ask(i, &value), &value);
    if (asked.first[i].text) asked.given[i] = value.u.s;
  }
}

static void expect_same(const char *when) {
  for (uint32_t i = 0; i < asked.devices * asked.keys.count; i++) {
    const answer *first = &asked.first[i];
    const char *key = asked.keys.keys[i % asked.keys.count];
    kw_attribute now;
    const kw_status status = ask(i, &now);
    KW_CHECK(status == first->status, "the attribute %s gave %s before the device was opened, and %s %s", key,
             kw_status_name(first->status), kw_status_name(status), when);
    KW_CHECK(status != KW_OK || is_same(&now, &first->value),
             "the attribute %s is another %s than before the device was opened", key, when);
  }
}

/* Whatever has been asked for since. */
static void expect_texts_last(void) {
  for (uint32_t i = 0; i < asked.devices * asked.keys.count; i++) {
    KW_CHECK(!asked.given[i] || strcmp(asked.given[i], asked.first[i].text) == 0,
             "the text of the attribute %s of device %u was \"%.80s\", and where it stood is \"%.80s\" since other "
             "attributes were asked for: a text lasts until the plugin is shut down, so each needs a place of its own",
             asked.keys.keys[i % asked.keys.count], i / asked.keys.count, asked.first[i].text, asked.given[i]);
  }
}

static void forget_all(void) {
  for (uint32_t i = 0; i < asked.devices * asked.keys.count; i++) free(asked.first[i].text);
  free(asked.first);
  free(asked.given);
}

int kw_child_attributes(void) {
  static kw_host_api host;
  const kw_guest g = asked.guest = kw_guest_load();
  if (!g.device->attribute) kw_test_skip("the plugin has no attributes");
  const kw_open_info open = {.struct_size = sizeof open};
  void *device = NULL;
  asked.keys = kw_attribute_keys_find();
  host = kw_guest_host_for(&g);
  KW_GUEST_OK("for its attributes",
              g.desc->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &asked.plugin));
  KW_GUEST_OK("for its attributes", g.device->count(asked.plugin, &asked.devices));
  ask_all();
  expect_texts_last();
  KW_GUEST_OK("for its attributes", g.device->open(asked.plugin, 0, &open, &device));
  expect_same("while it is open");
  KW_GUEST_OK("for its attributes", g.device->close(device));
  expect_same("when it was closed");
  expect_texts_last();
  KW_GUEST_OK("for its attributes", g.desc->shutdown(asked.plugin));
  forget_all();
  return 0;
}

/* A device that is not open has the attributes that it has when it is; their texts stay what they are. */
void kw_contract_lifecycle_attributes_while_closed(void **state) {
  (void)state;
  kw_test_child("attributes");
}
