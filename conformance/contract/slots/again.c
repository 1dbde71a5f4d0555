/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: what a device is when it is opened once more, and what is heard of slots that fail.
 */
#include "bench.h"
#include "contract/scenarios.h"
#include "launch.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- With other options ------------------------------------------------------------------------------------------ */

/* What can be seen of the options that a device was opened with. */
typedef struct seen {
  uint64_t total;
  kw_device_info info;
} seen;

static void look(seen *out) {
  uint64_t unused = 0;
  memset(out, 0, sizeof *out);
  out->info.struct_size = sizeof out->info;
  KW_SLOT_EXPECT(KW_OK, "device.info", kw_bench.guest.device->info(kw_bench.plugin, 0, &out->info));
  if (kw_bench.guest.memory->usage) KW_SLOT_OK(memory, usage, &unused, &out->total);
}

static kw_status open_with(const kw_option *option) {
  const kw_open_info info = {.struct_size = sizeof info, .option_count = option ? 1 : 0, .options = option};
  kw_test_calls(__FILE__, __LINE__, "device.open");
  return kw_bench.guest.device->open(kw_bench.plugin, 0, &info, &kw_bench.device);
}

static void close_device(void) {
  KW_SLOT_EXPECT(KW_OK, "device.close", kw_bench.guest.device->close(kw_bench.device));
}

int kw_child_slots_defaults(void) {
  static const char *const values[] = {"0", "1", "16", "256", "4096", "16777216", "268435456"};
  kw_bench_open();
  const kw_plugin_desc *desc = kw_bench.guest.desc;
  seen first, again;
  look(&first);
  close_device();
  for (uint32_t i = 0; i < desc->option_count; i++) {
    if (desc->options[i]->place != KW_OPTION_OPEN) continue;
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
      const kw_option option = {desc->options[i]->key, values[v]};
      if (open_with(&option) != KW_OK) continue; /* a value that it does not take */
      close_device();
      kw_guest_expect(open_with(NULL), KW_OK, "device.open without options", "after one with an option");
      look(&again);
      KW_CHECK(memcmp(&first, &again, sizeof first) == 0,
               "opened without options, after it had been opened with %s=%s and closed, the device is another than "
               "before (device.info, or all memory by memory.usage): nobody says the option any more",
               option.key, option.value);
      close_device();
    }
  }
  kw_guest_use_device(&kw_bench.guest, kw_bench.plugin, 1, "after it was opened with other options");
  kw_guest_expect(open_with(NULL), KW_OK, "device.open without options", "at the end");
  kw_bench_close();
  return 0;
}

/* Options are those of one opening: the next one without them has the values that the options have by themselves. */
void kw_contract_slots_defaults_return(void **state) {
  (void)state;
  kw_plugin_report report = {.struct_size = sizeof report};
  KW_CHECK_OK(kw_plugin_get_report(kw_test_entry().plugin, &report));
  if (report.option_count == 0) kw_test_skip("the plugin has no options");
  kw_test_child("slots_defaults");
}

/* ---- Energy ------------------------------------------------------------------------------------------------------ */

int kw_child_slots_energy(void) {
  enum { OPENS = 5 };
  kw_bench_open();
  uint64_t last = 0, now = 0;
  if (!kw_bench.guest.energy) kw_test_skip("the plugin has no energy counter");
  kw_status status = KW_SLOT(energy, read, &last);
  if (status != KW_OK) kw_test_skip("the energy counter cannot be read here");
  for (int i = 0; i < OPENS; i++) {
    kw_guest_use_opened(&kw_bench.guest, kw_bench.device, (uint64_t)i, "while energy is measured");
    KW_SLOT_OK(energy, read, &last);
    kw_bench_reopen();
    KW_SLOT_OK(energy, read, &now);
    KW_CHECK(now >= last, "energy.read gave less after the device was closed and opened again than before");
  }
  kw_bench_close();
  return 0;
}

/* The energy counter does not begin anew with each opening. */
void kw_contract_slots_energy_goes_on(void **state) {
  (void)state;
  kw_test_need_energy();
  kw_test_child("slots_energy");
}

/* ---- Quiet ------------------------------------------------------------------------------------------------------- */

static void fail_to_allocate(uint64_t size, kw_mem_kind kind) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = kind, .size = size, .alignment = 1};
  kw_mem mem = NULL;
  (void)KW_SLOT(memory, alloc, &info, &mem);
  if (mem) (void)KW_SLOT(memory, dealloc, mem);
}

static void fail_to_open(void) {
  const kw_plugin_desc *desc = kw_bench.guest.desc;
  for (uint32_t i = 0; i < desc->option_count; i++) {
    const kw_option strange = {desc->options[i]->key, KW_GUEST_STRANGE_VALUE};
    const kw_open_info info = {.struct_size = sizeof info, .option_count = 1, .options = &strange};
    void *device = NULL;
    if (desc->options[i]->place != KW_OPTION_OPEN) continue;
    if (kw_bench.guest.device->open(kw_bench.plugin, 0, &info, &device) == KW_OK) {
      (void)kw_bench.guest.device->close(device);
    }
  }
}

static void fail_late(kw_launch *launch) {
  kw_bench_report reports[4];
  if (!launch || !kw_bench.guest.test || KW_SLOT(test, order, KW_FAULT_LATE, 1) != KW_OK) return;
  void *stream = kw_bench_stream(7);
  const kw_mem result = kw_launch_result(launch);
  (void)kw_launch_try(launch, stream, result, 1);
  (void)KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER);
  (void)KW_SLOT(test, order, KW_FAULT_NONE, 0);
  (void)kw_bench_reports(reports, 4);
  kw_bench_free(result);
  kw_bench_end_stream(stream);
}

static void fail_in_all_ways(kw_launch *launch) {
  uint64_t unused = 0, total = 0;
  for (int shift = 62; shift > 50; shift--) fail_to_allocate(UINT64_C(1) << shift, KW_MEM_DEVICE);
  fail_to_allocate(64, 0x7fff);
  if (kw_bench.guest.test && KW_SLOT(test, order, KW_FAULT_ALLOC, 1) == KW_OK) fail_to_allocate(64, KW_MEM_DEVICE);
  if (kw_bench.guest.memory->usage && KW_SLOT(memory, usage, &unused, &total) == KW_OK && total > unused) {
    fail_to_allocate(total, KW_MEM_DEVICE);
  }
  fail_to_open();
  fail_late(launch);
}

/* While output is caught: where it goes otherwise, and the file that has it. */
static int out = -1, err = -1, file = -1;

/* A check that fails meanwhile ends the process; its words are in the file, too. */
static void pass_on_words(void) {
  char words[1000];
  const ssize_t size = file >= 0 ? pread(file, words, sizeof words, 0) : 0;
  if (size > 0 && write(err, words, (size_t)size) != size) abort();
}

int kw_child_slots_quiet(void) {
  static char text[200];
  kw_bench_open();
  kw_launch *launch = kw_launch_draw();
  fflush(NULL);
  out = dup(STDOUT_FILENO);
  err = dup(STDERR_FILENO);
  file = memfd_create("output", MFD_CLOEXEC);
  KW_NEED(out >= 0 && err >= 0 && file >= 0 && atexit(pass_on_words) == 0, "descriptors");
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  fail_in_all_ways(launch);
  fflush(NULL);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  close(file);
  file = -1;
  KW_CHECK(size == 0, "the plugin wrote to stdout or stderr when slots failed: \"%.150s\"; use host->set_error", text);
  kw_launch_free(launch);
  kw_bench_close();
  return 0;
}

/* Slots that fail say why through the host, and write nothing themselves. */
void kw_contract_slots_failing_is_quiet(void **state) {
  (void)state;
  kw_test_child("slots_quiet");
}
