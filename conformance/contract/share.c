/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite interop: memory for others, in this process and in another, and what comes from elsewhere.
 */
#include "child.h"
#include "scenarios.h"

#include <keyway/interop.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 16384, BEGIN = 4100, END = 12300 };

#define PASSED_ON "KEYWAY_TEST_MEMORY" /* from a test to its scenario */

static kw_tensor *make_shared(kw_handle_kind kind) {
  const kw_memory_options options = {.struct_size = sizeof options,
                                     .flags = kind == KW_HANDLE_IPC ? KW_MEM_IPC : KW_MEM_EXPORTABLE};
  kw_tensor *tensor = NULL;
  kw_test_need(KW_NATIVE_INTEROP);
  kw_status status = kw_tensor_create_in(kw_contract.device, &options, KW_U8, 1, (int64_t[]){SIZE}, &tensor);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_OK(status);
  unsigned char *bytes = kw_test_memory(SIZE);
  kw_test_pattern(bytes, SIZE, 1);
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  free(bytes);
  return tensor;
}

/* Where the device does not export so, the tensor is released, and the test ends. */
static kw_external_memory export_it(kw_tensor *tensor, kw_handle_kind kind) {
  kw_external_memory memory = {.struct_size = sizeof memory};
  kw_status status = kw_tensor_export(tensor, kind, &memory);
  if (status == KW_ERR_UNSUPPORTED) {
    kw_tensor_release(tensor);
    kw_test_skip("%s", kw_error_message());
  }
  KW_CHECK_OK(status);
  return memory;
}

static void close_handle(const kw_external_memory *memory) {
  if (memory->kind == KW_HANDLE_FD || memory->kind == KW_HANDLE_DMABUF) {
    KW_CHECK(close((int)memory->handle) == 0, "the exported descriptor is not the caller's to close: %s",
             strerror(errno));
  }
}

static kw_tensor *import_it(const kw_external_memory *memory) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_import(kw_contract.device, memory, NULL, NULL, &tensor));
  return tensor;
}

static void expect_refused(const kw_external_memory *memory, const char *what) {
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_import(kw_contract.device, memory, NULL, NULL, &tensor);
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "an import of %s: %s", what, kw_status_name(status));
}

static void expect_part(const kw_tensor *part, uint64_t tag, const char *what) {
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  kw_test_pattern(want, SIZE, tag);
  KW_CHECK_OK(kw_tensor_read(part, got));
  kw_test_same(got, want + BEGIN, END - BEGIN, what);
  free(want);
}

static void write_part(kw_tensor *part, uint64_t tag) {
  unsigned char *bytes = kw_test_memory(SIZE);
  kw_test_pattern(bytes, SIZE, tag);
  KW_CHECK_OK(kw_tensor_write(part, bytes + BEGIN));
  free(bytes);
}

/* A part of a tensor, exported and imported again here: the same memory, no more and no less of it, as long as the
 * import lives; the handle stays the caller's. */
static void check_here(kw_handle_kind kind) {
  kw_tensor *tensor = make_shared(kind), *part = NULL;
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, BEGIN, END, 1, &part));
  kw_tensor_release(tensor);
  const kw_external_memory memory = export_it(part, kind);
  kw_tensor *first = import_it(&memory), *second = import_it(&memory);
  close_handle(&memory);
  expect_part(first, 1, "an import of an export");
  write_part(first, 2);
  expect_part(part, 2, "exported memory after its import was written");
  expect_part(second, 2, "a second import of it");
  write_part(part, 3);
  kw_tensor_release(first);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  expect_part(second, 3, "an import after another of the same memory has ended");
  kw_tensor_release(part);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  expect_part(second, 3, "an import after its exporter has freed the memory");
  kw_tensor_release(second);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
}

void kw_contract_interop_export_descriptor(void **state) {
  (void)state;
  check_here(KW_HANDLE_FD);
}

void kw_contract_interop_export_dmabuf(void **state) {
  (void)state;
  check_here(KW_HANDLE_DMABUF);
}

void kw_contract_interop_export_bytes(void **state) {
  (void)state;
  check_here(KW_HANDLE_IPC);
}

/* ---- Another process --------------------------------------------------------------------------------------------- */

static void pass_on(const kw_external_memory *memory) {
  char text[2 * sizeof *memory + 1];
  const unsigned char *bytes = (const unsigned char *)memory;
  for (size_t i = 0; i < sizeof *memory; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  KW_CHECK(setenv(PASSED_ON, text, 1) == 0, "no memory");
}

int kw_child_import(void) {
  kw_external_memory memory;
  const char *text = getenv(PASSED_ON);
  for (size_t i = 0; i < sizeof memory; i++) {
    unsigned byte = 0;
    KW_CHECK(text && sscanf(text + 2 * i, "%2x", &byte) == 1, "nothing was passed on");
    ((unsigned char *)&memory)[i] = (unsigned char)byte;
  }
  kw_child_open_device();
  kw_external_memory far = memory;
  far.offset = 1 << 30;
  expect_refused(&far, "a range past the end of another process's memory");
  kw_tensor *part = import_it(&memory), *again = import_it(&memory);
  expect_part(part, 1, "another process's memory");
  kw_tensor_release(part);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  expect_part(again, 1, "another process's memory after another import of it has ended");
  write_part(again, 2);
  kw_tensor_release(again);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  return 0;
}

/* Another process finds the contents, and what it writes is there. */
static void check_elsewhere(kw_handle_kind kind) {
  kw_tensor *tensor = make_shared(kind), *part = NULL;
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, BEGIN, END, 1, &part));
  kw_tensor_release(tensor);
  const kw_external_memory memory = export_it(part, kind);
  if (kind == KW_HANDLE_FD) fcntl((int)memory.handle, F_SETFD, 0); /* the child has it, too */
  pass_on(&memory);
  kw_test_child("import");
  unsetenv(PASSED_ON);
  close_handle(&memory);
  expect_part(part, 2, "memory that another process has written");
  kw_tensor_release(part);
  kw_tensor_release(tensor);
}

void kw_contract_interop_descriptor_elsewhere(void **state) {
  (void)state;
  check_elsewhere(KW_HANDLE_FD);
}

void kw_contract_interop_bytes_elsewhere(void **state) {
  (void)state;
  check_elsewhere(KW_HANDLE_IPC);
}

/* ---- What comes from elsewhere ----------------------------------------------------------------------------------- */

/* A file that nobody's driver has made: it ends where it ends. */
static void check_file(void) {
  enum { FILE_SIZE = 5000 };
  static const struct {
    uint64_t offset, size;
  } wrong[] = {{0, FILE_SIZE + 1}, {0, 8000}, {FILE_SIZE - 1, 2}, {4096, 4096}, {FILE_SIZE, 1}};
  kw_external_memory range = {.struct_size = sizeof range, .kind = KW_HANDLE_FD, .size = FILE_SIZE};
  kw_tensor *tensor = NULL;
  const int file = memfd_create("keyway-range", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  KW_CHECK(file >= 0 && ftruncate(file, FILE_SIZE) == 0, "no file in memory");
  (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK); /* who maps a file may ask that nobody cuts it off */
  range.handle = (uint64_t)file;
  const bool taken = kw_tensor_import(kw_contract.device, &range, NULL, NULL, &tensor) == KW_OK;
  kw_error_clear();
  if (taken) kw_tensor_release(tensor); /* only a driver's own descriptors are, otherwise */
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0] && taken; i++) {
    range.offset = wrong[i].offset;
    range.size = wrong[i].size;
    expect_refused(&range, "a range past the end of a file, inside of its last page");
  }
  close(file);
}

/* A range that reaches past the memory is refused, however it is said. Drivers share memory in whole steps, of up to 2
 * MiB: a handle may name more than was asked for. */
void kw_contract_interop_range_checked(void **state) {
  (void)state;
  kw_tensor *tensor = make_shared(KW_HANDLE_FD);
  const kw_external_memory memory = export_it(tensor, KW_HANDLE_FD);
  static const struct {
    uint64_t offset, size;
  } wrong[] = {{1 << 30, 1}, {1 << 30, SIZE}, {0, 1 << 30}, {UINT64_MAX - 4095, 4096}, {4096, INT64_MAX}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    kw_external_memory range = memory;
    range.offset = wrong[i].offset;
    range.size = wrong[i].size;
    expect_refused(&range, "a range past the memory's end");
  }
  close_handle(&memory);
  kw_tensor_release(tensor);
  check_file();
  kw_test_usable("a round trip after imports were refused");
}

/* Bytes that were changed give the same memory or none. */
static void expect_same_or_none(kw_external_memory *changed, const char *what) {
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_import(kw_contract.device, changed, NULL, NULL, &tensor);
  if (status == KW_OK) {
    kw_test_expect_bytes(tensor, 1, what);
    kw_tensor_release(tensor);
    return;
  }
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT || status == KW_ERR_UNSUPPORTED, "%s: %s", what, kw_status_name(status));
}

/* Every byte changed, every length cut short, and bytes whose memory is gone: no other memory, and no harm. */
void kw_contract_interop_bytes_untrusted(void **state) {
  (void)state;
  kw_tensor *tensor = make_shared(KW_HANDLE_IPC);
  const kw_external_memory memory = export_it(tensor, KW_HANDLE_IPC);
  for (size_t i = 0; i < sizeof memory.ipc; i++) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    for (size_t k = 0; k < sizeof changes; k++) {
      kw_external_memory changed = memory;
      changed.ipc[i] ^= changes[k];
      expect_same_or_none(&changed, "an import of bytes of which one was changed");
    }
    kw_external_memory cut = memory;
    memset(cut.ipc + i, 0, sizeof cut.ipc - i);
    expect_same_or_none(&cut, "an import of bytes that were cut short");
  }
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  expect_refused(&memory, "bytes whose memory was freed");
  kw_test_usable("a round trip after imports were refused");
}

/* Imports whose ranges begin less than a page apart in one piece of memory lie as far apart, pages being mapped whole:
 * what divides both of their addresses divides the distance. */
void kw_contract_interop_neighbours_aligned(void **state) {
  (void)state;
  enum { PAGE = 4096 };
  kw_tensor *tensor = make_shared(KW_HANDLE_FD);
  const kw_external_memory memory = export_it(tensor, KW_HANDLE_FD);
  for (uint32_t apart = 1; apart < PAGE; apart *= 2) {
    kw_external_memory ranges[2] = {memory, memory};
    kw_tensor *imports[2] = {NULL};
    uint32_t least = PAGE;
    bool both = true;
    for (int i = 0; i < 2; i++) {
      ranges[i].offset += i ? apart : 0;
      ranges[i].size = SIZE - PAGE;
      kw_status status = kw_tensor_import(kw_contract.device, &ranges[i], NULL, NULL, &imports[i]);
      both = both && status == KW_OK;
      KW_CHECK(status == KW_OK || status == KW_ERR_UNSUPPORTED, "an import %u bytes further on: %s", i ? apart : 0,
               kw_error_message());
      const uint32_t said = status == KW_OK ? kw_tensor_describe(imports[i])->alignment : 1;
      if (said < least) least = said;
    }
    KW_CHECK(!both || apart % least == 0,
             "imports that begin %u bytes apart in one memory both say that they are aligned to %u", apart, least);
    for (int i = 0; i < 2; i++) kw_tensor_release(imports[i]);
  }
  close_handle(&memory);
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
}
