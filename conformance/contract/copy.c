/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite copy: host to device to host, within a device, to other devices; contiguous and strided, all sizes and places.
 * Copies move bits: every comparison is of bytes.
 */
#include "child.h"
#include "contract_helpers.h"
#include "guest.h"
#include "op_table.h"
#include "scenarios.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Every small size, and sizes around what hardware likes. */
void kw_contract_copy_small_sizes(void **state) {
  (void)state;
  for (size_t size = 1; size <= 300; size++) {
    kw_tensor *tensor = kw_test_bytes(size, size);
    kw_test_expect_bytes(tensor, size, "a small copy to the device and back");
    kw_tensor_release(tensor);
  }
  for (size_t power = 512; power <= 65536; power *= 2) {
    for (size_t size = power - 2; size <= power + 2; size++) {
      kw_tensor *tensor = kw_test_bytes(size, size);
      kw_test_expect_bytes(tensor, size, "a copy of about a power of two");
      kw_tensor_release(tensor);
    }
  }
}

/* Device ends at odd offsets, host ends at odd addresses. */
void kw_contract_copy_odd_offsets(void **state) {
  (void)state;
  enum { SIZE = 5000 };
  unsigned char *want = kw_test_memory(SIZE), *host = kw_test_memory(SIZE + 16);
  kw_tensor *tensor = kw_test_bytes(SIZE, 1);
  kw_test_pattern(want, SIZE, 1);
  for (size_t start = 1; start < 34; start += 1 + start / 9) {
    for (size_t size = 1; size < 4200; size = size * 3 + start % 3) {
      size_t skew = start % 16;
      kw_tensor *slice = NULL;
      KW_CHECK_OK(kw_tensor_slice(tensor, 0, (int64_t)start, (int64_t)(start + size), 1, &slice));
      memset(host, 0xaa, SIZE + 16);
      KW_CHECK_OK(kw_tensor_read(slice, host + skew));
      kw_test_same(host + skew, want + start, size, "a read from an odd offset");
      KW_CHECK(host[skew + size] == 0xaa && (skew == 0 || host[skew - 1] == 0xaa),
               "a read of %zu bytes wrote host memory beside its destination", size);
      kw_test_pattern(host + skew, size, start * 10000 + size);
      KW_CHECK_OK(kw_tensor_write(slice, host + skew));
      memcpy(want + start, host + skew, size);
      kw_tensor_release(slice);
    }
  }
  KW_CHECK_OK(kw_tensor_read(tensor, host));
  kw_test_same(host, want, SIZE, "a tensor after writes at odd offsets");
  kw_tensor_release(tensor);
  free(want);
  free(host);
}

/* The largest copy a device must take here, or less where its memory is small. */
static size_t large_size(void) {
  kw_device_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  uint64_t size = (12 << 20) + 3, most = info.max_alloc ? info.max_alloc : info.total_memory;
  return (size_t)(most && size > most / 4 ? most / 4 : size);
}

/* More than any staging buffer holds. */
void kw_contract_copy_large(void **state) {
  (void)state;
  size_t size = large_size();
  kw_tensor *tensor = kw_test_bytes(size, 7), *copy = NULL;
  kw_test_expect_bytes(tensor, 7, "a large copy to the device and back");
  KW_CHECK_OK(kw_tensor_to(tensor, kw_contract.device, &copy));
  kw_test_expect_bytes(copy, 7, "a large copy within the device");
  kw_tensor_release(tensor);
  kw_tensor_release(copy);
}

/* A copy is no arithmetic: NaN payloads, signalling NaNs, subnormals and negative zeros arrive bit by bit, and a bool
 * keeps its byte, in every dtype. */
void kw_contract_copy_bits_kept(void **state) {
  (void)state;
  enum { COUNT = 500 };
  for (kw_dtype dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
    size_t item = kw_dtype_size(dtype), size = COUNT * item;
    unsigned char *want = kw_test_memory(2 * size), *got = want + size;
    char what[80];
    snprintf(what, sizeof what, "the bits of %s after a copy there and back", kw_dtype_name(dtype));
    kw_test_pattern(want, size, dtype);
    if (dtype == KW_BOOL) {
      for (size_t i = 0; i < size; i++) want[i] &= 1;
    }
    for (size_t i = item; i <= 40 * item && dtype != KW_BOOL; i += item) {
      memset(want + i - item, 0, item);
      want[i - 1] = (unsigned char)(i / item % 2 ? 0x7f : 0x80); /* NaNs and signed zeros where dtypes have them */
      want[i - item] |= (unsigned char)(i / item);               /* payloads, subnormals */
      if (item > 1) want[i - 2] |= (unsigned char)(i / item % 3 ? 0x80 : 0xa0);
    }
    int64_t shape = COUNT;
    kw_tensor *tensor = NULL, *copy = NULL;
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, 1, &shape, &tensor));
    KW_CHECK_OK(kw_tensor_write(tensor, want));
    KW_CHECK_OK(kw_tensor_to(tensor, kw_contract.device, &copy));
    KW_CHECK_OK(kw_tensor_read(tensor, got));
    kw_test_same(got, want, size, what);
    KW_CHECK_OK(kw_tensor_read(copy, got));
    kw_test_same(got, want, size, what);
    kw_tensor_release(tensor);
    kw_tensor_release(copy);
    free(want);
  }
}

/* ---- Strided ----------------------------------------------------------------------------------------------------- */

enum { D0 = 7, D1 = 5, D2 = 6, CUBE = D0 * D1 * D2 };

/* A view of an i16 tensor [7, 5, 6], and where its elements lie. */
typedef struct strided_view {
  kw_tensor *base, *view;
  const kw_tensor_ref *ref;
} strided_view;

enum { VIEWS = 6 };

static strided_view make_view(int kind) {
  strided_view self = {NULL, NULL, NULL};
  kw_tensor *step = NULL;
  uint16_t values[CUBE];
  kw_test_pattern(values, sizeof values, 1);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I16, 3, (int64_t[]){D0, D1, D2}, &self.base));
  KW_CHECK_OK(kw_tensor_write(self.base, values));
  switch (kind) {
    case 0:
      KW_CHECK_OK(kw_tensor_transpose(self.base, 0, 2, &self.view));
      break;
    case 1:
      KW_CHECK_OK(kw_tensor_permute(self.base, 3, (int64_t[]){1, 2, 0}, &self.view));
      break;
    case 2:
      KW_CHECK_OK(kw_tensor_slice(self.base, 2, 1, 6, 2, &self.view));
      break;
    case 3:
      KW_CHECK_OK(kw_tensor_slice(self.base, 0, 1, 7, 3, &step));
      KW_CHECK_OK(kw_tensor_transpose(step, 1, 2, &self.view));
      break;
    case 4:
      KW_CHECK_OK(kw_tensor_select(self.base, 1, 3, &self.view));
      break;
    default:
      KW_CHECK_OK(kw_tensor_diagonal(self.base, 1, 0, 2, &self.view));
      break;
  }
  kw_tensor_release(step);
  self.ref = kw_tensor_describe(self.view);
  return self;
}

static void drop_view(strided_view *self) {
  kw_tensor_release(self->view);
  kw_tensor_release(self->base);
}

/* Where element number i of the view, in row-major order, lies in the base, in elements. */
static size_t place(const strided_view *self, int64_t i) {
  uint64_t at = (self->ref->offset - kw_tensor_describe(self->base)->offset) / sizeof(uint16_t);
  for (int d = self->ref->rank; d-- > 0;) {
    at += (uint64_t)(i % self->ref->shape[d] * self->ref->strides[d]);
    i /= self->ref->shape[d];
  }
  return (size_t)at;
}

/* Writing a strided view writes its elements and no others. */
void kw_contract_copy_strided_write(void **state) {
  (void)state;
  for (int kind = 0; kind < VIEWS; kind++) {
    strided_view self = make_view(kind);
    uint16_t want[CUBE], sent[CUBE], got[CUBE];
    kw_test_pattern(want, sizeof want, 1);
    kw_test_pattern(sent, sizeof sent, 2);
    for (int64_t i = 0; i < self.ref->numel; i++) want[place(&self, i)] = sent[i];
    KW_CHECK_OK(kw_tensor_write(self.view, sent));
    KW_CHECK_OK(kw_tensor_read(self.base, got));
    kw_test_same(got, want, sizeof want, "a tensor after a strided view of it was written");
    drop_view(&self);
  }
}

static void expect_view(const strided_view *self, const kw_tensor *tensor, const char *what) {
  uint16_t base[CUBE], want[CUBE], got[CUBE];
  kw_test_pattern(base, sizeof base, 1);
  for (int64_t i = 0; i < self->ref->numel; i++) want[i] = base[place(self, i)];
  KW_CHECK(kw_tensor_describe(tensor)->numel == self->ref->numel, "%s has another number of elements", what);
  KW_CHECK_OK(kw_tensor_read(tensor, got));
  kw_test_same(got, want, (size_t)self->ref->numel * sizeof *want, what);
}

/* Reading a strided view gives its elements, densely packed. */
void kw_contract_copy_strided_read(void **state) {
  (void)state;
  for (int kind = 0; kind < VIEWS; kind++) {
    strided_view self = make_view(kind);
    expect_view(&self, self.view, "a strided view");
    drop_view(&self);
  }
}

/* A strided tensor copied within the device becomes contiguous. */
void kw_contract_copy_strided_within_device(void **state) {
  (void)state;
  for (int kind = 0; kind < VIEWS; kind++) {
    strided_view self = make_view(kind);
    kw_tensor *copy = NULL;
    KW_CHECK_OK(kw_tensor_to(self.view, kw_contract.device, &copy));
    expect_view(&self, copy, "a contiguous copy of a strided view");
    const kw_tensor_ref *ref = kw_tensor_describe(copy);
    int64_t stride = 1;
    for (int d = ref->rank; d-- > 0;) {
      KW_CHECK(ref->strides[d] == stride || ref->shape[d] == 1, "the copy is not contiguous");
      stride *= ref->shape[d];
    }
    kw_tensor_release(copy);
    drop_view(&self);
  }
}

/* ---- Asynchronous, and between devices --------------------------------------------------------------------------- */

/* Copies on several streams, from and to host memory, all in flight at once. */
void kw_contract_copy_async(void **state) {
  (void)state;
  enum { STREAMS = 3, COPIES = 16, SIZE = 30011 };
  kw_stream *streams[STREAMS];
  kw_tensor *tensors[COPIES];
  unsigned char *sent = kw_test_memory(2 * COPIES * SIZE), *got = sent + COPIES * SIZE;
  kw_test_pattern(sent, COPIES * SIZE, 1);
  for (int i = 0; i < STREAMS; i++) streams[i] = kw_test_stream();
  for (int i = 0; i < COPIES; i++) {
    kw_stream *stream = streams[i % STREAMS];
    tensors[i] = kw_test_bytes_on(stream, SIZE);
    KW_CHECK_OK(kw_tensor_write_async(tensors[i], sent + i * SIZE, stream));
  }
  for (int i = 0; i < COPIES; i++) KW_CHECK_OK(kw_tensor_read_async(tensors[i], got + i * SIZE, streams[i % STREAMS]));
  for (int i = 0; i < STREAMS; i++) KW_CHECK_OK(kw_stream_synchronize(streams[i]));
  kw_test_same(got, sent, COPIES * SIZE, "copies in flight on three streams");
  for (int i = 0; i < COPIES; i++) kw_tensor_release(tensors[i]);
  for (int i = 0; i < STREAMS; i++) KW_CHECK_OK(kw_stream_destroy(streams[i]));
  free(sent);
}

/* A tensor copied within its device: same bits elsewhere. */
void kw_contract_copy_within_device(void **state) {
  (void)state;
  for (size_t size = 1; size < 200000; size = size * 2 + 1) {
    kw_tensor *tensor = kw_test_bytes(size, size), *copy = NULL;
    KW_CHECK_OK(kw_tensor_to(tensor, kw_contract.device, &copy));
    KW_CHECK(kw_tensor_device(copy) == kw_contract.device, "the copy lies on another device");
    kw_test_expect_bytes(copy, size, "a copy within the device");
    kw_tensor_release(tensor);
    kw_test_expect_bytes(copy, size, "a copy within the device, its source released");
    kw_tensor_release(copy);
  }
}

/* A copy leaves its source as it was, on the device and on the host; the two then go their own ways. */
void kw_contract_copy_source_unchanged(void **state) {
  (void)state;
  enum { SIZE = 9001 };
  unsigned char *host = kw_test_memory(2 * SIZE), *want = host + SIZE;
  kw_test_pattern(host, SIZE, 1);
  kw_test_pattern(want, SIZE, 1);
  kw_tensor *tensor = kw_test_bytes_on(NULL, SIZE), *copy = NULL;
  KW_CHECK_OK(kw_tensor_write(tensor, host));
  kw_test_same(host, want, SIZE, "host memory after it was copied to the device");
  KW_CHECK_OK(kw_tensor_to(tensor, kw_contract.device, &copy));
  memset(host, 0, SIZE);
  kw_test_expect_bytes(tensor, 1, "a tensor after the host memory that it came from was overwritten");
  KW_CHECK_OK(kw_tensor_write(tensor, host));
  kw_test_expect_bytes(copy, 1, "a copy after its source was overwritten");
  kw_tensor_release(tensor);
  kw_tensor_release(copy);
  free(host);
}

/* A contiguous part of a tensor, which begins at an odd byte. */
static void part_of(size_t size, kw_device *other, const char *what) {
  unsigned char *want = kw_test_memory(2 * size), *got = want + size;
  kw_tensor *tensor = kw_test_bytes(size, size), *part = NULL, *there = NULL;
  kw_test_pattern(want, size, size);
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, 1, (int64_t)size, 1, &part));
  KW_CHECK_OK(kw_tensor_to(part, other, &there));
  KW_CHECK_OK(kw_tensor_read(there, got));
  kw_test_same(got, want + 1, size - 1, what);
  kw_tensor_release(tensor);
  kw_tensor_release(part);
  kw_tensor_release(there);
  free(want);
}

/* What one device holds does not show on the other: written, and after the first one's was written again. */
static void apart(kw_device *other, const char *name) {
  enum { SIZE = 5000 };
  const int64_t shape = SIZE;
  static unsigned char mine[SIZE], theirs[SIZE], got[SIZE];
  kw_tensor *here = kw_test_bytes(SIZE, 1), *there = NULL;
  KW_CHECK_OK(kw_tensor_create(other, KW_U8, 1, &shape, &there));
  kw_test_pattern(theirs, SIZE, 2);
  KW_CHECK_OK(kw_tensor_write(there, theirs));
  for (uint64_t tag = 1; tag <= 3; tag += 2) {
    kw_test_pattern(mine, SIZE, tag);
    KW_CHECK_OK(kw_tensor_write(here, mine));
    KW_CHECK_OK(kw_tensor_read(there, got));
    KW_CHECK(memcmp(got, mine, SIZE) != 0, "%s shows the bytes of %s: is its memory the other device's?", name,
             kw_contract.device_name);
    kw_test_same(got, theirs, SIZE, "a tensor of another device after one of this was written");
  }
  kw_tensor_release(here);
  kw_tensor_release(there);
}

static void bytes_there_and_back(kw_device *other, size_t size, const char *name) {
  char what[160];
  snprintf(what, sizeof what, "a tensor of %zu bytes copied to %s and back", size, name);
  kw_tensor *tensor = kw_test_bytes(size, size), *there = NULL, *back = NULL;
  KW_CHECK_OK(kw_tensor_to(tensor, other, &there));
  KW_CHECK(kw_tensor_device(there) == other, "kw_tensor_to put the tensor on another device than %s", name);
  KW_CHECK_OK(kw_tensor_to(there, kw_contract.device, &back));
  kw_test_expect_bytes(there, size, what);
  kw_test_expect_bytes(back, size, what);
  kw_tensor_release(tensor);
  kw_tensor_release(there);
  kw_tensor_release(back);
}

/* To every other device there is and back, contiguous and strided. */
static void there_and_back(kw_device *other, const char *name) {
  char what[160];
  snprintf(what, sizeof what, "a tensor copied to %s and back", name);
  for (size_t size = 1; size < 200000; size = size * 5 + 2) {
    bytes_there_and_back(other, size, name);
    if (size > 1) part_of(size, other, what);
  }
  for (int kind = 0; kind < VIEWS; kind++) {
    strided_view self = make_view(kind);
    kw_tensor *there = NULL;
    KW_CHECK_OK(kw_tensor_to(self.view, other, &there));
    expect_view(&self, there, what);
    kw_tensor_release(there);
    drop_view(&self);
  }
}

/* Of one plugin, which copies by itself; between plugins the host does. */
static void all_large_there_and_back(kw_device *other, const char *name) {
  enum { SIZES = 4 };
  static const size_t sizes[SIZES] = {(1 << 20) + 67, (4 << 20) + 67, (16 << 20) + 67, (64 << 20) + 67};
  static const kw_effort efforts[SIZES] = {KW_EFFORT_QUICK, KW_EFFORT_NORMAL, KW_EFFORT_NORMAL, KW_EFFORT_THOROUGH};
  kw_device_info here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &here));
  KW_CHECK_OK(kw_device_get_info(other, &there));
  for (int i = 0; i < SIZES; i++) {
    const bool fits = (!here.total_memory || 4 * sizes[i] < here.total_memory) &&
                      (!there.total_memory || 4 * sizes[i] < there.total_memory);
    if (fits && kw_contract.effort >= efforts[i]) bytes_there_and_back(other, sizes[i], name);
  }
}

void kw_contract_copy_other_device(void **state) {
  (void)state;
  const uint32_t plugin = kw_test_entry().plugin;
  uint32_t count = 0, others = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_device *other = NULL;
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (kw_device_open(entry.name, &other) != KW_OK) continue;
    if (other != kw_contract.device) {
      apart(other, entry.name);
      there_and_back(other, entry.name);
      if (entry.plugin == plugin) all_large_there_and_back(other, entry.name);
      others++;
    }
    KW_CHECK_OK(kw_device_close(other));
  }
  if (!others) kw_test_skip("there is no other device");
}

/* Every rank there is. */
void kw_contract_copy_ranks(void **state) {
  (void)state;
  for (uint32_t rank = 0; rank <= KW_MAX_RANK; rank++) {
    int64_t shape[KW_MAX_RANK];
    size_t size = 1;
    for (uint32_t d = 0; d < rank; d++) {
      shape[d] = d % 4 == 3 ? 3 : d % 2 + 1;
      size *= (size_t)shape[d];
    }
    unsigned char *want = kw_test_memory(size);
    kw_tensor *tensor = NULL;
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, rank, shape, &tensor));
    KW_CHECK(kw_tensor_describe(tensor)->rank == rank, "a tensor of rank %u says rank %u", rank,
             (unsigned)kw_tensor_describe(tensor)->rank);
    kw_test_pattern(want, size, rank);
    KW_CHECK_OK(kw_tensor_write(tensor, want));
    kw_test_expect_bytes(tensor, rank, "a tensor of high rank");
    kw_tensor_release(tensor);
    free(want);
  }
}

#define THROUGH_OK(call) KW_GUEST_OK("copies through one place of the host's memory", call)

static sem_t all_enqueued;
static atomic_bool enqueueing_waits; /* this plugin's copies do not return while their stream is held */

/* Holds the stream until all that the test wants there is enqueued. */
static kw_status hold_stream(void *ctx, uint64_t token) {
  (void)ctx, (void)token;
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 2;
  if (sem_timedwait(&all_enqueued, &limit) != 0) atomic_store(&enqueueing_waits, true);
  return KW_OK;
}

/* A place in the host's memory: the plugin's own kind of it, where it has one. */
static void *take_place(const kw_guest *g, void *device, bool pinned, size_t size) {
  void *place = NULL;
  if (pinned) THROUGH_OK(g->memory->alloc_host(device, size, &place));
  if (!pinned) place = calloc(1, size);
  KW_CHECK(place, "out of host memory");
  memset(place, 0, size);
  return place;
}

static void drop_place(const kw_guest *g, void *device, bool pinned, void *place) {
  if (pinned) THROUGH_OK(g->memory->free_host(device, place));
  if (!pinned) free(place);
}

/* Brings device memory to the host and from there to other device memory, on one stream that is held until all is
 * enqueued, or, where the plugin cannot, has much to do before; and gives to `out` what arrived. */
static void copy_through(const kw_guest *g, void *device, bool pinned, unsigned char *out, const unsigned char *bytes,
                         size_t size) {
  enum { AHEAD = 32 };
  const bool held = g->stream->call_host && !atomic_load(&enqueueing_waits);
  unsigned char *between = take_place(g, device, pinned, size), *unused = take_place(g, device, pinned, size);
  void *stream = NULL;
  kw_mem from = NULL, to = NULL;
  const kw_stream_info stream_info = {.struct_size = sizeof stream_info, .token = 1};
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = size, .alignment = 1};
  kw_copy_info up = {.struct_size = sizeof up, .kind = KW_COPY_HOST_TO_DEVICE, .size = size};
  kw_copy_info down = {.struct_size = sizeof down, .kind = KW_COPY_DEVICE_TO_HOST, .size = size};
  THROUGH_OK(g->stream->create(device, &stream_info, &stream));
  THROUGH_OK(g->memory->alloc(device, &alloc, &from));
  THROUGH_OK(g->memory->alloc(device, &alloc, &to));
  if (held) THROUGH_OK(g->stream->call_host(device, stream, 1));
  up.dst_mem = from, up.src_host = bytes;
  THROUGH_OK(g->memory->copy(device, stream, &up));
  down.src_mem = from, down.dst_host = unused;
  for (int i = 0; i < AHEAD && !held; i++) THROUGH_OK(g->memory->copy(device, stream, &down));
  down.dst_host = between;
  THROUGH_OK(g->memory->copy(device, stream, &down));
  up.dst_mem = to, up.src_host = between;
  THROUGH_OK(g->memory->copy(device, stream, &up));
  down.src_mem = to, down.dst_host = out;
  THROUGH_OK(g->memory->copy(device, stream, &down));
  if (held) sem_post(&all_enqueued);
  THROUGH_OK(g->stream->synchronize(device, stream, KW_WAIT_FOREVER));
  THROUGH_OK(g->memory->dealloc(device, from));
  THROUGH_OK(g->memory->dealloc(device, to));
  THROUGH_OK(g->stream->destroy(device, stream));
  drop_place(g, device, pinned, between);
  drop_place(g, device, pinned, unused);
}

static void through_place(const kw_guest *g, void *device, bool pinned, unsigned char *out, const unsigned char *bytes,
                          size_t size) {
  memset(out, (unsigned char)~bytes[0], size);
  copy_through(g, device, pinned, out, bytes, size);
  kw_test_same(out, bytes, size, "what a copy took from where the copy before it put it");
}

int kw_child_copy_through_host(void) {
  enum { SIZE = 4 << 20, ROUNDS = 8 }; /* whoever reads early is late once where the calling thread was interrupted */
  static const size_t sizes[] = {1, 4, 64, 256, 257, 4096, 65536, 65537};
  static unsigned char bytes[SIZE], out[SIZE];
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  static kw_host_api host;
  const kw_guest g = kw_guest_load();
  void *plugin = NULL, *device = NULL;
  host = kw_guest_host_for(&g);
  host.run_callback = hold_stream;
  KW_NEED(sem_init(&all_enqueued, 0, 0) == 0, "semaphores");
  THROUGH_OK(g.desc->init(&host, &init, &plugin));
  THROUGH_OK(g.device->open(plugin, 0, &open, &device));
  kw_test_pattern(bytes, SIZE, 1);
  for (int i = 0; i < ROUNDS; i++) through_place(&g, device, false, out, bytes, SIZE);
  const bool has_pinned = g.memory->alloc_host && g.memory->free_host;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int pinned = 0; pinned <= has_pinned; pinned++) through_place(&g, device, pinned, out, bytes, sizes[i]);
  }
  THROUGH_OK(g.device->close(device));
  THROUGH_OK(g.desc->shutdown(plugin));
  return 0;
}

/* The host's end of a copy is not read before the copies ahead of it have stored there. */
void kw_contract_copy_through_host(void **state) {
  (void)state;
  kw_test_child("copy_through_host");
}
