/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers that are accepted, and all that can be wrong with one.
 */
#include "plugin/negotiate.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A plugin that each test breaks in one place ----------------------------------------------------------------- */

static kw_device_api device;
static kw_memory_api memory;
static kw_stream_api stream;
static kw_event_api event;
static kw_graph_api graph;
static kw_energy_api energy;
static kw_profile_api profile;
static kw_interop_api interop;
static kw_activity_api activity;
static kw_test_api test;
static kw_group groups[11];
static kw_plugin_desc desc;
static const kw_plugin_desc *answer;
static kw_status answer_status;
static const char *answer_reason;
static kw_query_info asked;

static kw_status count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 3;
  return KW_OK;
}

static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

/* A slot that no test calls: any function does. */
static void uncalled(void) {
  abort();
}

/* Sets every slot of a table. */
static void fill_table(void *table, uint32_t size) {
  void (*fn)(void) = uncalled;
  for (uint32_t at = 8; at < size; at += sizeof fn) memcpy((char *)table + at, &fn, sizeof fn);
  memcpy(table, (const uint32_t[]){size, 0}, 2 * sizeof size);
}

static int make_plugin(void **state) {
  (void)state;
  fill_table(&device, sizeof device);
  fill_table(&memory, sizeof memory);
  fill_table(&stream, sizeof stream);
  fill_table(&event, sizeof event);
  fill_table(&graph, sizeof graph);
  fill_table(&energy, sizeof energy);
  fill_table(&profile, sizeof profile);
  fill_table(&interop, sizeof interop);
  fill_table(&activity, sizeof activity);
  fill_table(&test, sizeof test);
  device.count = count;
  const kw_group all[] = {{"com.acme.power/1", &desc},    {KW_GROUP_DEVICE, &device},   {KW_GROUP_MEMORY, &memory},
                          {KW_GROUP_STREAM, &stream},     {KW_GROUP_EVENT, &event},     {KW_GROUP_GRAPH, &graph},
                          {KW_GROUP_ENERGY, &energy},     {KW_GROUP_PROFILE, &profile}, {KW_GROUP_INTEROP, &interop},
                          {KW_GROUP_ACTIVITY, &activity}, {KW_GROUP_TEST, &test}};
  memcpy(groups, all, sizeof groups);
  desc = (kw_plugin_desc){.struct_size = sizeof desc,
                          .abi_version = KW_ABI_VERSION,
                          .key = "npu",
                          .vendor = "acme",
                          .version = "1.2",
                          .probe = probe,
                          .init = (kw_status(*)(const kw_host_api *, const kw_init_info *, void **))uncalled,
                          .shutdown = (kw_status(*)(void *))uncalled,
                          .groups = groups,
                          .group_count = sizeof groups / sizeof groups[0]};
  answer = &desc;
  answer_status = KW_OK;
  answer_reason = NULL;
  kw_error_clear();
  return 0;
}

static kw_status query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  asked = *host;
  *out_plugin = answer;
  *out_reason = answer_reason;
  return answer_status;
}

static kw_plugin_answer result;

static void accepts(void) {
  kw_status status = kw_negotiate(query, &result);
  if (status != KW_OK) fail_msg("refused: %s", kw_error_message());
}

/* Refused with this status and with these words in the reason. */
static void refuses_with(kw_status status, const char *words) {
  assert_int_equal(kw_negotiate(query, &result), status);
  if (strstr(kw_error_message(), words) == NULL) fail_msg("'%s' is not in '%s'", words, kw_error_message());
}

static void refuses(const char *words) {
  refuses_with(KW_ERR_ABI_MISMATCH, words);
}

/* ---- Versions ---------------------------------------------------------------------------------------------------- */

static void a_whole_plugin_is_copied(void **state) {
  (void)state;
  accepts();
  assert_int_equal(asked.struct_size, sizeof asked);
  assert_int_equal(asked.abi_min, KW_ABI_VERSION_MIN);
  assert_int_equal(asked.abi_max, KW_ABI_VERSION);
  assert_string_equal(result.desc.key, "npu");
  assert_string_equal(result.desc.description, ""); /* was NULL */
  assert_int_equal(result.native, KW_NATIVE_EVENTS | KW_NATIVE_CALL_HOST | KW_NATIVE_FILL | KW_NATIVE_QUERY |
                                      KW_NATIVE_GRAPH | KW_NATIVE_ENERGY | KW_NATIVE_PROFILE | KW_NATIVE_HOST_MEMORY |
                                      KW_NATIVE_PEER_COPY | KW_NATIVE_INTEROP | KW_NATIVE_ACTIVITY | KW_NATIVE_TEST |
                                      KW_NATIVE_MAP);
  memory.free_host = NULL; /* what could not be freed is not used */
  accepts();
  assert_int_equal(result.native & KW_NATIVE_HOST_MEMORY, 0);
  uint32_t devices = 0;
  assert_int_equal(result.device.count(NULL, &devices), KW_OK);
  assert_int_equal(devices, 3);
}

static void versions_of_this_major_are_served(void **state) {
  (void)state;
  desc.abi_version = KW_ABI_VERSION_MIN;
  accepts();
  assert_int_equal(result.abi_version, KW_ABI_VERSION_MIN);
  desc.abi_version = KW_ABI_MAKE(1, 77);
  accepts();
  assert_int_equal(result.abi_version, KW_ABI_VERSION);
  assert_int_equal(result.desc.abi_version, KW_ABI_MAKE(1, 77));
}

static void other_versions_are_refused_with_both(void **state) {
  (void)state;
  desc.abi_version = KW_ABI_MAKE(9, 3);
  desc.struct_size = 3; /* not even looked at */
  refuses("plugin ABI 9.3 and this Keyway serves 1.0 to 1.0");
  assert_int_equal(result.desc.abi_version, KW_ABI_MAKE(9, 3));
  desc.abi_version = KW_ABI_MAKE(0, 7);
  refuses("plugin ABI 0.7 and this Keyway serves 1.0 to 1.0");
  desc.abi_version = 0;
  refuses("plugin ABI 0.0");
}

static void a_query_that_refuses_is_quoted(void **state) {
  (void)state;
  answer_status = KW_ERR_ABI_MISMATCH;
  answer_reason = "needs 3.0";
  refuses("needs 3.0");
  answer_reason = NULL;
  refuses("1.0 to 1.0), and gave no reason (set *out_reason): ABI mismatch");
  answer_status = 99;
  refuses_with(KW_ERR_INTERNAL, "unknown status 99");
  answer_status = KW_OK;
  answer = NULL;
  refuses("no descriptor");
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static void absent_slots_have_stubs(void **state) {
  (void)state;
  memory.fill = NULL;
  stream.query = NULL;
  memory.struct_size = KW_MEMORY_API_MIN;
  stream.struct_size = KW_STREAM_API_MIN + 4; /* half a slot is none */
  desc.struct_size = KW_PLUGIN_DESC_MIN;
  accepts();
  assert_int_equal(result.native & (KW_NATIVE_FILL | KW_NATIVE_QUERY), 0);
  assert_int_equal(result.memory.fill(NULL, NULL, NULL, 0, 0, NULL, 0), KW_ERR_UNSUPPORTED);
  assert_string_equal(kw_error_message(), "the plugin has no memory.fill");
  assert_int_equal(result.stream.query(NULL, NULL), KW_ERR_UNSUPPORTED);
}

static void longer_structs_are_cut(void **state) {
  (void)state;
  struct {
    kw_event_api known;
    uint64_t more[4];
  } longer = {.known = event, .more = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  longer.known.struct_size = sizeof longer;
  groups[4].table = &longer;
  desc.struct_size += 64;
  accepts();
  assert_int_equal(result.event.struct_size, sizeof result.event);
  assert_true(result.event.elapsed == event.elapsed);
}

static void impossible_sizes_are_refused(void **state) {
  (void)state;
  char words[96];
  desc.struct_size = KW_PLUGIN_DESC_MIN - 1;
  snprintf(words, sizeof words, "its kw_plugin_desc has struct_size %u, at least %u is needed", KW_PLUGIN_DESC_MIN - 1,
           KW_PLUGIN_DESC_MIN);
  refuses(words);
  desc.struct_size = 0xdeadbeef;
  refuses("cannot be");
  desc.struct_size = sizeof desc;
  memory.struct_size = KW_MEMORY_API_MIN - 8;
  snprintf(words, sizeof words, "keyway.memory/1 has struct_size %u, at least %u is needed", KW_MEMORY_API_MIN - 8,
           KW_MEMORY_API_MIN);
  refuses(words);
  memory.struct_size = 65537;
  refuses("cannot be");
  memory.struct_size = sizeof memory;
  desc.group_count = 0x10000000;
  refuses("groups cannot be");
  desc.group_count = 2;
  desc.groups = NULL;
  refuses("groups cannot be");
}

/* ---- Words and slots --------------------------------------------------------------------------------------------- */

static void keys_are_words(void **state) {
  (void)state;
  const char *const bad[] = {NULL,   "",     "NPU", "1npu",     "_n",
                             "n-pu", "n.pu", "a b", "\xff\xff", "abcdefghijklmnopqrstuvwxyzabcdef"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    desc.key = bad[i];
    refuses("key");
    assert_string_equal(result.desc.key, "");
  }
  desc.key = "n_1";
  accepts();
  desc.key = "auto";
  refuses("key 'auto' is the name of a policy");
  desc.key = "gpu";
  refuses("key 'gpu' is the name of a policy");
  desc.key = "npu";
  desc.vendor = "Acme";
  refuses("vendor 'Acme'");
}

static void reported_key_is_set_when_valid(void **state) {
  (void)state;
  desc.vendor = NULL;
  refuses("vendor is NULL");
  assert_string_equal(result.desc.key, "npu");
}

static void texts_have_an_end(void **state) {
  (void)state;
  static char endless[4096];
  memset(endless, 'x', sizeof endless);
  desc.build = endless;
  refuses("kw_plugin_desc.build is no text");
  assert_string_equal(result.desc.build, "");
}

static void required_slots_are_named(void **state) {
  (void)state;
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  make_plugin(NULL);                                                 \
  group.name = NULL;                                                 \
  if (required) {                                                    \
    refuses("required slot " #group "." #name " is missing");        \
  } else {                                                           \
    accepts();                                                       \
    assert_true(result.group.name != NULL);                          \
  }
#include "slots.def"
  make_plugin(NULL);
  desc.probe = NULL;
  refuses("kw_plugin_desc.probe is NULL");
  make_plugin(NULL);
  desc.init = NULL;
  refuses("kw_plugin_desc.init is NULL");
  make_plugin(NULL);
  desc.shutdown = NULL;
  refuses("kw_plugin_desc.shutdown is NULL");
}

static void groups_are_found_by_name(void **state) {
  (void)state;
  groups[0] = (kw_group){"keyway.device/2", &desc}; /* a later version's, beside the one that is known */
  accepts();
  groups[0] = groups[1];
  refuses("its group keyway.device/1 is there twice");
  groups[0].name = groups[1].name = "com.acme.power/1";
  refuses("its group com.acme.power/1 is there twice");
  make_plugin(NULL);
  groups[0] = (kw_group){"com.acme.power/1", groups[1].table};
  refuses("groups com.acme.power/1 and keyway.device/1 have one table");
  make_plugin(NULL);
  desc.group_count = 4; /* without events */
  accepts();
  assert_false(result.native & KW_NATIVE_EVENTS);
  void *made = NULL;
  assert_int_equal(result.event.create(NULL, NULL, &made), KW_ERR_UNSUPPORTED);
  assert_string_equal(kw_error_message(), "the plugin has no event.create");
  groups[2].name = "keyway.memory/2";
  refuses("required group keyway.memory/1 is missing");
  groups[2].name = NULL;
  refuses("group 2 has no name");
  groups[2] = (kw_group){KW_GROUP_MEMORY, NULL};
  refuses("group 2 has no table");
}

static void reserved_fields_are_a_later_versions(void **state) {
  (void)state;
  stream.reserved = 2;
  refuses("reserved in keyway.stream/1 is 2: set it to 0");
  desc.abi_version = KW_ABI_VERSION + 1;
  accepts();
  assert_int_equal(result.stream.reserved, 0);
}

static void options_are_checked(void **state) {
  (void)state;
  static kw_option_desc depth, width;
  static const kw_option_desc *const both[] = {&depth, &width}, *const absent[] = {NULL};
  depth = (kw_option_desc){sizeof depth, KW_OPTION_OPEN, "depth", "1", "how deep"};
  width = (kw_option_desc){sizeof width, KW_OPTION_INIT, "width", "", "how wide"};
  desc.options = both;
  desc.option_count = 2;
  accepts();
  assert_int_equal(result.desc.option_count, 2);
  assert_string_equal(result.desc.options[0]->key, "depth");
  width.key = "depth";
  refuses("its option 1 is there twice");
  assert_int_equal(result.desc.option_count, 0);
  width.key = "acme.npu.width";
  refuses("its option 1 has no key");
  width.key = "width";
  width.value = NULL;
  refuses("its option 1 has no value");
  width.value = "\xff";
  refuses("its option 1 has no value");
  width.value = "";
  width.text = "\xc3";
  refuses("its option 1 has no text");
  width.text = "how wide";
  width.struct_size = KW_OPTION_DESC_MIN - 1;
  refuses("its option 1 has a struct_size that is too small");
  desc.options = absent;
  desc.option_count = 1;
  refuses("its option 0 is NULL");
  desc.options = NULL;
  refuses("its kw_plugin_desc.options cannot be: 1 options");
  desc.options = both;
  desc.option_count = KW_OPTION_LIMIT + 1;
  refuses("its kw_plugin_desc.options cannot be: 65 options");
}

/* For ever: what sides of any two versions read before they know of each other. */
static void where_two_versions_meet_is_fixed(void **state) {
  (void)state;
  assert_string_equal(KW_QUERY_SYMBOL, "keyway_plugin_query");
  assert_int_equal(offsetof(kw_query_info, struct_size), 0);
  assert_int_equal(offsetof(kw_query_info, abi_min), 4);
  assert_int_equal(offsetof(kw_query_info, abi_max), 8);
  assert_int_equal(offsetof(kw_query_info, reserved), 12);
  assert_int_equal(offsetof(kw_query_info, host_version), 16);
  assert_int_equal(offsetof(kw_query_info, next), 24);
  assert_int_equal(offsetof(kw_plugin_desc, struct_size), 0);
  assert_int_equal(offsetof(kw_plugin_desc, abi_version), 4);
  assert_int_equal(offsetof(kw_plugin_desc, key), 8);
  const kw_query_fn fixed = (kw_status(*)(const kw_query_info *, const kw_plugin_desc **, const char **))query;
  assert_true(fixed == query);
  accepts();
  assert_int_equal(asked.reserved, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_whole_plugin_is_copied, make_plugin),
      cmocka_unit_test_setup(options_are_checked, make_plugin),
      cmocka_unit_test_setup(versions_of_this_major_are_served, make_plugin),
      cmocka_unit_test_setup(other_versions_are_refused_with_both, make_plugin),
      cmocka_unit_test_setup(a_query_that_refuses_is_quoted, make_plugin),
      cmocka_unit_test_setup(absent_slots_have_stubs, make_plugin),
      cmocka_unit_test_setup(longer_structs_are_cut, make_plugin),
      cmocka_unit_test_setup(impossible_sizes_are_refused, make_plugin),
      cmocka_unit_test_setup(keys_are_words, make_plugin),
      cmocka_unit_test_setup(reported_key_is_set_when_valid, make_plugin),
      cmocka_unit_test_setup(texts_have_an_end, make_plugin),
      cmocka_unit_test_setup(required_slots_are_named, make_plugin),
      cmocka_unit_test_setup(groups_are_found_by_name, make_plugin),
      cmocka_unit_test_setup(reserved_fields_are_a_later_versions, make_plugin),
      cmocka_unit_test_setup(where_two_versions_meet_is_fixed, make_plugin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
