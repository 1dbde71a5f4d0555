/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: memory of the device and of the host that comes and goes, maps, and memory shared with others.
 */
#include "soak.h"

#include <keyway/interop.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 16384, BLOCK = 250, LEAST = 64 };

/* What every test of this file does to a piece of memory, by number. */
static struct {
  kw_stream *stream;
  kw_tensor *tensor;   /* that is mapped, or exported */
  unsigned char *host; /* a page's multiple of the host's memory */
  unsigned char want[SIZE], got[SIZE];
} t;

static void soak(const char *objects, void (*run)(void *, uint64_t, uint64_t)) {
  const kw_soak_work work = {
      .objects = objects, .count = kw_soak_count(250, 5000, 70000), .block = BLOCK, .least = LEAST, .run = run};
  kw_soak_run(&work);
}

static void check(const unsigned char *got, size_t size, uint64_t number, const char *what) {
  KW_CHECK(memcmp(got, t.want, size) == 0, "%s %s holds other bytes than were written there", what,
           kw_soak_number(number + 1));
}

/* ---- Allocations ------------------------------------------------------------------------------------------------- */

/* Nothing is cached from one to the next, so that each is the plugin's. */
static void run_allocations(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    kw_test_pattern(t.want, 256, first + i);
    kw_tensor *tensor = kw_test_bytes_on(NULL, 256);
    KW_CHECK_OK(kw_tensor_write(tensor, t.want));
    KW_CHECK_OK(kw_tensor_read(tensor, t.got));
    check(t.got, 256, first + i, "allocation");
    kw_tensor_release(tensor);
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  }
}

/* Allocation after allocation of the plugin's. */
void kw_contract_soak_allocations(void **state) {
  (void)state;
  soak("allocations", run_allocations);
}

/* Most of them live at the same time, and go in another order than they came. */
static void run_host_memory(void *user, uint64_t first, uint64_t count) {
  enum { STRIDE = 77 }; /* what it does not come to goes at the end */
  (void)user;
  void *pieces[BLOCK] = {NULL};
  for (uint64_t i = 0; i < count; i++) {
    KW_CHECK_OK(kw_host_alloc(kw_contract.device, SIZE, &pieces[i]));
    memset(pieces[i], (int)(first + i), SIZE);
  }
  for (uint64_t i = 0; i < count; i++) {
    void **piece = &pieces[(i * STRIDE + 5) % count];
    if (!*piece) continue;
    KW_CHECK_OK(kw_host_free(kw_contract.device, *piece));
    *piece = NULL;
  }
  for (uint64_t i = 0; i < count; i++) {
    if (pieces[i]) KW_CHECK_OK(kw_host_free(kw_contract.device, pieces[i]));
  }
}

/* Memory of the host's for copies. */
void kw_contract_soak_host_memory(void **state) {
  (void)state;
  soak("pieces of host memory", run_host_memory);
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

static void run_maps(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    void *pointer = NULL;
    KW_CHECK_OK(kw_tensor_map(t.tensor, t.stream, KW_MAP_READ | KW_MAP_WRITE, &pointer));
    check(pointer, SIZE, first + i, "map");
    t.want[i % SIZE] ^= 0x5a;
    ((unsigned char *)pointer)[i % SIZE] ^= 0x5a;
    KW_CHECK_OK(kw_tensor_unmap(t.tensor, pointer));
  }
}

/* A tensor, mapped and unmapped; each map sees what the one before has written. */
void kw_contract_soak_maps(void **state) {
  (void)state;
  t.stream = kw_test_stream();
  t.tensor = kw_test_bytes(SIZE, 1);
  kw_test_pattern(t.want, SIZE, 1);
  soak("maps", run_maps);
  kw_tensor_release(t.tensor);
  KW_CHECK_OK(kw_stream_destroy(t.stream));
}

/* ---- Memory of others, and for others ---------------------------------------------------------------------------- */

static void make_shared(uint64_t flags) {
  const kw_memory_options options = {.struct_size = sizeof options, .flags = flags};
  kw_test_need(KW_NATIVE_INTEROP);
  kw_status status = kw_tensor_create_in(kw_contract.device, &options, KW_U8, 1, (int64_t[]){SIZE}, &t.tensor);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_OK(status);
  kw_test_pattern(t.want, SIZE, 1);
  KW_CHECK_OK(kw_tensor_write(t.tensor, t.want));
}

/* Exported, imported, looked at, and let go of. The same object is exported each time. */
static void pass_on(kw_handle_kind kind, uint64_t number) {
  kw_external_memory memory = {.struct_size = sizeof memory};
  kw_tensor *import = NULL;
  kw_status status = kw_tensor_export(t.tensor, kind, &memory);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_STATUS(status, KW_OK);
  KW_CHECK_OK(kw_tensor_import(kw_contract.device, &memory, NULL, NULL, &import));
  if (kind != KW_HANDLE_IPC) close((int)memory.handle);
  KW_CHECK_OK(kw_tensor_read(import, t.got));
  check(t.got, SIZE, number, "import");
  kw_tensor_release(import);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
}

static void run_descriptors(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) pass_on(KW_HANDLE_FD, first + i);
}

static void run_bytes(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) pass_on(KW_HANDLE_IPC, first + i);
}

/* Memory shared by descriptor. */
void kw_contract_soak_shared_by_descriptor(void **state) {
  (void)state;
  make_shared(KW_MEM_EXPORTABLE);
  soak("exports and imports of a descriptor", run_descriptors);
  kw_tensor_release(t.tensor);
}

/* Memory shared by bytes. */
void kw_contract_soak_shared_by_bytes(void **state) {
  (void)state;
  make_shared(KW_MEM_IPC);
  soak("exports and imports of bytes", run_bytes);
  kw_tensor_release(t.tensor);
}

static kw_status import_host(uint64_t size, kw_tensor **out_tensor) {
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .size = size, .host = t.host};
  return kw_tensor_import(kw_contract.device, &memory, NULL, NULL, out_tensor);
}

static void run_ranges(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    kw_tensor *import = NULL;
    KW_CHECK_OK(import_host(SIZE, &import));
    KW_CHECK_OK(kw_tensor_read(import, t.got));
    check(t.got, SIZE, first + i, "import");
    kw_tensor_release(import);
    KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  }
}

/* Ranges of the host's memory. */
void kw_contract_soak_host_ranges(void **state) {
  (void)state;
  kw_tensor *import = NULL;
  kw_test_need(KW_NATIVE_INTEROP);
  t.host = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KW_CHECK(t.host != MAP_FAILED, "no memory");
  kw_test_pattern(t.want, SIZE, 2);
  memcpy(t.host, t.want, SIZE);
  kw_status status = import_host(SIZE, &import);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("%s", kw_error_message());
  KW_CHECK_STATUS(status, KW_OK);
  kw_tensor_release(import);
  soak("imports of host memory", run_ranges);
  munmap(t.host, SIZE);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void run_refused_allocations(void *user, uint64_t first, uint64_t count) {
  (void)user;
  const int64_t too_much = INT64_C(1) << 60;
  for (uint64_t i = 0; i < count; i++) {
    kw_tensor *tensor = NULL;
    kw_status status = kw_tensor_create(kw_contract.device, KW_U8, 1, &too_much, &tensor);
    KW_CHECK(status == KW_ERR_OUT_OF_MEMORY, "allocation %s, of 1 EiB, gave %s", kw_soak_number(first + i + 1),
             kw_status_name(status));
  }
}

/* What is refused leaves nothing behind either. */
void kw_contract_soak_refused_allocations(void **state) {
  (void)state;
  const kw_soak_work work = {.objects = "allocations that were refused",
                             .count = kw_soak_count(250, 2000, 70000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_refused_allocations};
  kw_soak_run(&work);
  kw_test_usable("a round trip after allocations that were refused");
}

static void run_refusals(void *user, uint64_t first, uint64_t count) {
  const int *file = user;
  for (uint64_t i = 0; i < count; i++) {
    const kw_external_memory memory = {
        .struct_size = sizeof memory, .kind = KW_HANDLE_FD, .size = SIZE, .handle = (uint64_t)*file};
    kw_tensor *import = NULL;
    KW_CHECK(kw_tensor_import(kw_contract.device, &memory, NULL, NULL, &import) != KW_OK,
             "import %s, of /dev/null, went well", kw_soak_number(first + i + 1));
  }
}

/* Nor do imports. */
void kw_contract_soak_refused_imports(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_INTEROP);
  int file = open("/dev/null", O_RDWR | O_CLOEXEC);
  KW_CHECK(file >= 0, "/dev/null cannot be opened");
  const kw_soak_work work = {.objects = "imports that were refused",
                             .count = kw_soak_count(250, 5000, 70000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_refusals,
                             .user = &file};
  kw_soak_run(&work);
  close(file);
}
