/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: the device list, open and close, what outlives what.
 */
#include "contract_helpers.h"

#include <stdio.h>

/* The device list answers the same each time, while devices are opened and closed too. */
void kw_contract_lifecycle_device_list_stable(void **state) {
  (void)state;
  uint32_t count = 0, again = 0;
  KW_CHECK_OK(kw_device_count(&count));
  KW_CHECK(count > 0, "a device is open and the list is empty");
  for (int round = 0; round < 3; round++) {
    KW_CHECK_OK(kw_device_count(&again));
    KW_CHECK(again == count, "the number of devices went from %u to %u", count, again);
    for (uint32_t i = 0; i < count; i++) {
      kw_device_entry a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
      kw_device *device = NULL;
      KW_CHECK_OK(kw_device_get_entry(i, &a));
      if (kw_device_open(a.name, &device) == KW_OK) KW_CHECK_OK(kw_device_close(device));
      KW_CHECK_OK(kw_device_get_entry(i, &b));
      KW_CHECK(strcmp(a.name, b.name) == 0 && strcmp(a.qualified_name, b.qualified_name) == 0 && a.plugin == b.plugin,
               "line %u of the device list changed from %s to %s", i, a.name, b.name);
    }
  }
}

static bool power_of_two(uint64_t value) {
  return value && !(value & (value - 1));
}

static void check_text(const char *text, size_t size, const char *field) {
  KW_CHECK(memchr(text, 0, size), "kw_device_info.%s does not end with NUL", field);
}

/* Device info: the same twice, texts terminated, alignments powers of two. */
void kw_contract_lifecycle_info_sane(void **state) {
  (void)state;
  kw_device_info a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &a));
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &b));
  check_text(a.name, sizeof a.name, "name");
  check_text(a.vendor, sizeof a.vendor, "vendor");
  check_text(a.driver_version, sizeof a.driver_version, "driver_version");
  check_text(a.stable_id, sizeof a.stable_id, "stable_id");
  check_text(a.parent_id, sizeof a.parent_id, "parent_id");
  KW_CHECK(*a.name, "the device has no name");
  KW_CHECK(a.type <= KW_DEVICE_FPGA, "the device type is %u", a.type);
  KW_CHECK(power_of_two(a.mem_alignment), "mem_alignment is %u, not a power of two", a.mem_alignment);
  KW_CHECK(power_of_two(a.offset_alignment), "offset_alignment is %u, not a power of two", a.offset_alignment);
  KW_CHECK(!a.total_memory || a.max_alloc <= a.total_memory, "max_alloc is %llu, more than total_memory, %llu",
           (unsigned long long)a.max_alloc, (unsigned long long)a.total_memory);
  KW_CHECK(memcmp(&a, &b, sizeof a) == 0, "kw_device_get_info answered differently the second time");
  const kw_device_info *listed = kw_test_entry().info;
  KW_CHECK(listed->type == a.type && listed->flags == a.flags && listed->total_memory == a.total_memory &&
               strcmp(listed->name, a.name) == 0 && strcmp(listed->stable_id, a.stable_id) == 0,
           "the open device and its line in the device list differ");
}

static void expect_same_device(const char *name) {
  kw_device *device = NULL;
  KW_CHECK_OK(kw_device_open(name, &device));
  KW_CHECK(device == kw_contract.device, "%s is not the device that is open as %s", name, kw_contract.device_name);
  KW_CHECK_OK(kw_device_close(device));
}

/* What a stable id names is one device. */
static void check_ids_differ(uint32_t plugin) {
  uint32_t count = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    KW_CHECK_OK(kw_device_get_entry(i, &a));
    for (uint32_t j = 0; a.plugin == plugin && *a.info->stable_id && j < i; j++) {
      KW_CHECK_OK(kw_device_get_entry(j, &b));
      KW_CHECK(b.plugin != plugin || strcmp(a.info->stable_id, b.info->stable_id) != 0,
               "%s and %s have one stable_id, %s", b.name, a.name, a.info->stable_id);
    }
  }
}

/* Every name of a device leads to the same device: as given, listed, qualified, by stable id. */
void kw_contract_lifecycle_names_lead_back(void **state) {
  (void)state;
  kw_device_entry entry = kw_test_entry();
  check_ids_differ(entry.plugin);
  expect_same_device(kw_contract.device_name);
  expect_same_device(entry.name);
  expect_same_device(entry.qualified_name);
  expect_same_device(kw_device_name(kw_contract.device));
  if (*entry.info->stable_id) {
    char name[160];
    snprintf(name, sizeof name, "%.*s@%s", (int)strcspn(entry.name, ":"), entry.name, entry.info->stable_id);
    expect_same_device(name);
  }
}

/* Opening again gives the same device, counted: it works until the last close. */
void kw_contract_lifecycle_opens_are_counted(void **state) {
  (void)state;
  enum { OPENS = 1000 };
  for (int i = 0; i < OPENS; i++) {
    kw_device *device = NULL;
    KW_CHECK_OK(kw_device_open(kw_contract.device_name, &device));
    KW_CHECK(device == kw_contract.device, "open number %d gave another device", i + 2);
  }
  for (int i = 0; i < OPENS; i++) KW_CHECK_OK(kw_device_close(kw_contract.device));
  kw_test_usable("a round trip after as many closes as opens");
}

static void close_the_device(void) {
  KW_CHECK_OK(kw_device_close(kw_contract.device));
}

static void open_the_device(void) {
  kw_contract.device = NULL;
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
}

/* A closed device can be opened again, and is as new. */
void kw_contract_lifecycle_reopen(void **state) {
  (void)state;
  for (int i = 0; i < 10; i++) {
    kw_stream *stream = kw_test_stream();
    kw_tensor *tensor = kw_test_bytes(1000 + (size_t)i, 1);
    kw_test_expect_bytes(tensor, 1, "a round trip before close");
    kw_tensor_release(tensor);
    KW_CHECK_OK(kw_stream_destroy(stream));
    close_the_device();
    open_the_device();
    KW_CHECK(kw_test_stats().live == 0, "a freshly opened device has live allocations");
  }
  kw_test_usable("a round trip after reopening");
}

/* A tensor keeps its device open: it can be read after the last close. */
void kw_contract_lifecycle_tensor_outlives_close(void **state) {
  (void)state;
  kw_tensor *tensor = kw_test_bytes(5000, 2), *view = NULL;
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, 0, 5000, 1, &view));
  close_the_device();
  kw_test_expect_bytes(tensor, 2, "a tensor read after the device was closed");
  kw_tensor_release(tensor);
  kw_test_expect_bytes(view, 2, "a view read after the device was closed");
  kw_tensor_release(view);
  open_the_device();
  kw_test_usable("a round trip after reopening");
}

/* Closing with work in flight: the work finishes, then the device ends. */
void kw_contract_lifecycle_close_with_work(void **state) {
  (void)state;
  enum { STREAMS = 4, SIZE = 1 << 20 };
  for (int round = 0; round < 5; round++) {
    unsigned char *bytes = kw_test_memory((STREAMS + 1) * SIZE);
    kw_stream *streams[STREAMS];
    kw_test_pattern(bytes, SIZE, 3);
    for (int i = 0; i < STREAMS; i++) {
      streams[i] = kw_test_stream();
      kw_tensor *tensor = kw_test_bytes_on(streams[i], SIZE);
      KW_CHECK_OK(kw_tensor_write_async(tensor, bytes, streams[i]));
      KW_CHECK_OK(kw_tensor_read_async(tensor, bytes + (i + 1) * SIZE, streams[i]));
      kw_tensor_release(tensor);
    }
    for (int i = 0; i < STREAMS; i++) KW_CHECK_OK(kw_stream_destroy(streams[i]));
    close_the_device();
    for (int i = 0; i < STREAMS; i++) {
      kw_test_same(bytes + (i + 1) * SIZE, bytes, SIZE, "data of a stream that was destroyed before its device closed");
    }
    free(bytes);
    open_the_device();
  }
}

/* All devices of a plugin can be open at once and work side by side. */
void kw_contract_lifecycle_all_devices_at_once(void **state) {
  (void)state;
  enum { MOST = 16, SIZE = 3000 };
  kw_device *devices[MOST];
  kw_tensor *tensors[MOST];
  uint32_t plugin = kw_test_entry().plugin, count = 0, opened = 0;
  int64_t shape = SIZE;
  unsigned char bytes[SIZE];
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count && opened < MOST; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (entry.plugin != plugin) continue;
    KW_CHECK_OK(kw_device_open(entry.name, &devices[opened]));
    KW_CHECK_OK(kw_tensor_create(devices[opened], KW_U8, 1, &shape, &tensors[opened]));
    kw_test_pattern(bytes, SIZE, opened);
    KW_CHECK_OK(kw_tensor_write(tensors[opened], bytes));
    opened++;
  }
  for (uint32_t i = 0; i < opened; i++) kw_test_expect_bytes(tensors[i], i, "one of several devices of a plugin");
  for (uint32_t i = 0; i < opened; i++) {
    kw_tensor_release(tensors[i]);
    KW_CHECK_OK(kw_device_close(devices[i]));
  }
}

static int open_body(int index, void *user, char *text, size_t size) {
  (void)user;
  for (int i = 0; i < 100; i++) {
    kw_device *device = NULL;
    kw_tensor *tensor = NULL;
    int64_t shape = 64;
    unsigned char bytes[64], back[64];
    if (kw_test_note(kw_device_open(kw_contract.device_name, &device), "kw_device_open", text, size)) return 1;
    if (kw_test_note(kw_tensor_create(device, KW_U8, 1, &shape, &tensor), "kw_tensor_create", text, size)) return 1;
    memset(bytes, index * 100 + i, sizeof bytes);
    if (kw_test_note(kw_tensor_write(tensor, bytes), "kw_tensor_write", text, size)) return 1;
    if (kw_test_note(kw_device_close(device), "kw_device_close", text, size)) return 1;
    if (kw_test_note(kw_tensor_read(tensor, back), "kw_tensor_read", text, size)) return 1;
    kw_tensor_release(tensor);
    if (memcmp(bytes, back, sizeof bytes) != 0) {
      snprintf(text, size, "round %d read other data than it wrote", i);
      return 1;
    }
  }
  return 0;
}

/* Open and close from many threads at once. */
void kw_contract_lifecycle_threads_open_and_close(void **state) {
  (void)state;
  kw_test_run_threads(open_body, NULL);
  close_the_device(); /* and while no other thread holds it open: each open may be the first, each close the last */
  kw_test_run_threads(open_body, NULL);
  open_the_device();
  kw_test_usable("a round trip after threads opened and closed the device");
}

/* Threads that opening a device starts end when it is closed: they do not pile up. */
void kw_contract_lifecycle_threads_end(void **state) {
  (void)state;
  enum { ROUNDS = 8 };
  int first = 0, last = 0;
  if (kw_test_count_threads() == 0) kw_test_skip("there is no /proc/self/task to count threads in");
  for (int round = 0; round <= ROUNDS; round++) {
    close_the_device();
    open_the_device();
    kw_test_usable("a round trip after reopening");
    last = kw_test_count_threads();
    if (round == 0) first = last; /* with those that start once and stay */
  }
  KW_CHECK(last < first + ROUNDS / 2, /* a few may be about to end */
           "%d threads ran after the device was opened once, %d after it was opened %d times more", first, last,
           ROUNDS);
}
