/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite memory: kinds of memory, what it is for, and maps. Where a plugin has no maps core stands in with copies, for
 * which the same holds.
 */
#include "contract_helpers.h"

enum { SIZE = 16384, PIECE = 4096, UNKNOWN_KIND = 0x7ff0 };

static kw_status make_in(kw_mem_kind kind, uint64_t flags, kw_tensor **out_tensor) {
  const kw_memory_options options = {.struct_size = sizeof options, .kind = kind, .flags = flags};
  return kw_tensor_create_in(kw_contract.device, &options, KW_U8, 1, (int64_t[]){SIZE}, out_tensor);
}

static unsigned char *map(kw_tensor *tensor, kw_stream *stream, uint64_t flags) {
  void *pointer = NULL;
  KW_CHECK_OK(kw_tensor_map(tensor, stream, flags, &pointer));
  KW_CHECK(pointer, "a map gives no pointer");
  return pointer;
}

/* Written, read, as a copy's source and a kernel's argument, and mapped. */
static void check_use(kw_tensor *tensor, const char *what) {
  enum { COUNT = SIZE / sizeof(float) };
  float *want = kw_test_memory(SIZE);
  kw_tensor *copy = kw_test_bytes_on(NULL, SIZE), *floats = NULL, *sum = NULL;
  kw_test_floats(want, COUNT, 7);
  KW_CHECK_OK(kw_tensor_reinterpret(tensor, KW_F32, 1, (int64_t[]){COUNT}, (int64_t[]){1}, 0, &floats));
  KW_CHECK_OK(kw_tensor_write(floats, want));
  kw_test_expect_f32(floats, want, COUNT, what);
  KW_CHECK_OK(kw_tensor_copy_async(copy, NULL, tensor, NULL));
  unsigned char *pointer = map(copy, NULL, KW_MAP_READ);
  kw_test_same(pointer, want, SIZE, "a copy of it");
  KW_CHECK_OK(kw_tensor_unmap(copy, pointer));
  pointer = map(tensor, NULL, KW_MAP_READ | KW_MAP_WRITE);
  kw_test_same(pointer, want, SIZE, "a map of it");
  kw_test_floats(want, COUNT, 8);
  memcpy(pointer, want, SIZE);
  KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
  kw_test_expect_f32(floats, want, COUNT, what);
  if (kw_test_has("add.Tensor")) {
    kw_test_add(NULL, floats, floats, &sum);
    for (size_t i = 0; i < COUNT; i++) want[i] += want[i];
    kw_test_expect_f32(sum, want, COUNT, "a sum with it");
    kw_tensor_release(sum);
  }
  kw_tensor_release(floats);
  kw_tensor_release(copy);
  free(want);
}

/* Memory of each kind is there and works, or is refused with KW_ERR_UNSUPPORTED; so is a kind that nobody knows, and a
 * critical flag. A hint is no reason to refuse. */
void kw_contract_memory_kinds(void **state) {
  (void)state;
  kw_tensor *tensor = NULL;
  for (kw_mem_kind kind = KW_MEM_DEVICE; kind <= KW_MEM_MANAGED; kind++) {
    kw_status status = make_in(kind, 0, &tensor);
    if (status == KW_ERR_UNSUPPORTED && kind != KW_MEM_DEVICE) continue;
    KW_CHECK(status == KW_OK, "memory of kind %u: %s", kind, kw_error_message());
    check_use(tensor, "memory of a kind");
    kw_tensor_release(tensor);
  }
  KW_CHECK_OK(make_in(KW_MEM_DEVICE, KW_MEM_PEER | UINT64_C(1) << 31, &tensor));
  check_use(tensor, "memory with hints");
  kw_tensor_release(tensor);
  kw_status status = make_in(UNKNOWN_KIND, 0, &tensor);
  KW_CHECK(status == KW_ERR_UNSUPPORTED, "memory of the unknown kind 0x7ff0: %s", kw_status_name(status));
  status = make_in(KW_MEM_DEVICE, UINT64_C(1) << 63, &tensor);
  KW_CHECK(status == KW_ERR_UNSUPPORTED, "memory with the unknown critical flag 63: %s", kw_status_name(status));
  kw_test_usable("a round trip after memory was refused");
}

static kw_tensor *part_of(kw_tensor *tensor, int64_t begin, int64_t end) {
  kw_tensor *part = NULL;
  KW_CHECK_OK(kw_tensor_slice(tensor, 0, begin, end, 1, &part));
  return part;
}

static void expect_map(kw_tensor *part, kw_stream *stream, const unsigned char *want, size_t size, const char *what) {
  const uint32_t known = kw_tensor_describe(part)->alignment, alignment = known < 64 ? known : 64;
  unsigned char *pointer = map(part, stream, KW_MAP_READ);
  kw_test_same(pointer, want, size, what);
  KW_CHECK((uintptr_t)pointer % alignment == 0, "the map of a place aligned to %u is at %p", known, (void *)pointer);
  KW_CHECK_OK(kw_tensor_unmap(part, pointer));
}

/* A map for reading holds what is there at that time, at every place, and gives a pointer as aligned as the place is,
 * up to 64 bytes. So does another one of the same place and stream, when other streams have written there meanwhile. */
void kw_contract_memory_map_reads(void **state) {
  (void)state;
  unsigned char *want = kw_test_memory(SIZE);
  kw_tensor *tensor = kw_test_bytes(SIZE, 0);
  kw_stream *streams[2] = {NULL, kw_test_stream()};
  for (uint64_t round = 1; round < 40; round++) {
    const int64_t begin = round % 4 == 0 ? (int64_t)round * 64 : (int64_t)(round * round), end = begin + 1 + PIECE;
    kw_tensor *part = part_of(tensor, begin, end);
    for (uint64_t again = 0; again < 2; again++) {
      kw_test_pattern(want, SIZE, 100 * again + round);
      KW_CHECK_OK(kw_tensor_write(tensor, want));
      expect_map(part, streams[round % 2], want + begin, (size_t)(end - begin),
                 again ? "a map for reading, the second of its place on its stream" : "a map for reading");
    }
    kw_tensor_release(part);
  }
  KW_CHECK_OK(kw_stream_destroy(streams[1]));
  kw_tensor_release(tensor);
  free(want);
}

/* A map has what its stream was given before. */
void kw_contract_memory_map_waits(void **state) {
  (void)state;
  enum { ROUNDS = 20 };
  unsigned char *want = kw_test_memory(SIZE);
  kw_stream *stream = kw_test_stream();
  kw_tensor *tensor = kw_test_bytes(SIZE, 0);
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    atomic_int flag = 0;
    kw_test_pattern(want, SIZE, round);
    KW_CHECK_OK(kw_stream_call_host(stream, kw_test_slow_flag, &flag));
    KW_CHECK_OK(kw_tensor_write_async(tensor, want, stream));
    unsigned char *pointer = map(tensor, stream, KW_MAP_READ);
    KW_CHECK(atomic_load(&flag) == 1, "a map did not wait for the stream's host function");
    kw_test_same(pointer, want, SIZE, "a map behind a write on its stream");
    KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_tensor_release(tensor);
  free(want);
}

/* All of a larger piece, too, whose size is no multiple of anything. */
static void read_and_write_large(int64_t size) {
  unsigned char *fresh = kw_test_memory((size_t)size);
  kw_tensor *tensor = kw_test_bytes((size_t)size, 1);
  kw_test_pattern(fresh, (size_t)size, 1);
  unsigned char *pointer = map(tensor, NULL, KW_MAP_READ);
  kw_test_same(pointer, fresh, (size_t)size, "a map of a large piece of memory for reading");
  KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
  kw_test_pattern(fresh, (size_t)size, 2);
  pointer = map(tensor, NULL, KW_MAP_WRITE);
  memcpy(pointer, fresh, (size_t)size);
  KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
  kw_test_expect_bytes(tensor, 2, "a large piece of memory that was mapped and written, after the unmap");
  kw_tensor_release(tensor);
  free(fresh);
}

enum { CHANGES = 6 };

static void exchange(unsigned char *bytes, size_t i, size_t j, size_t size) {
  for (size_t b = 0; b < size; b++) {
    const unsigned char kept = bytes[i + b];
    bytes[i + b] = bytes[j + b];
    bytes[j + b] = kept;
  }
}

/* Changes little, and mostly so that sums of the bytes stay what they are. */
static void change(unsigned char *bytes, size_t size, int how) {
  const size_t middle = size / 2;
  if (how == 0) bytes[0] ^= 1;
  if (how == 1) bytes[size - 1] ^= 0x80;
  if (how == 2) exchange(bytes, middle, bytes[middle] == bytes[middle + 1] ? middle + 2 : middle + 1, 1);
  if (how == 3) exchange(bytes, middle & ~(size_t)3, (middle & ~(size_t)3) + 64, 4);
  for (size_t i = 0; how == 4 && i < middle; i++) exchange(bytes, i, size - 1 - i, 1);
  if (how == 5) {
    bytes[middle]++;
    bytes[middle + 1]--;
  }
}

/* A host that maps for reading and writing may write as little as it likes. */
static void write_little(int64_t size) {
  unsigned char *want = kw_test_memory((size_t)size), *got = kw_test_memory((size_t)size);
  kw_tensor *tensor = kw_test_bytes((size_t)size, 1);
  kw_test_pattern(want, (size_t)size, 1);
  for (int how = 0; how < CHANGES; how++) {
    unsigned char *pointer = map(tensor, NULL, KW_MAP_READ | KW_MAP_WRITE);
    change(pointer, (size_t)size, how);
    change(want, (size_t)size, how);
    KW_CHECK_OK(kw_tensor_unmap(tensor, pointer));
    KW_CHECK_OK(kw_tensor_read(tensor, got));
    kw_test_same(got, want, (size_t)size, "memory of which little was changed in a map, after the unmap");
  }
  kw_tensor_release(tensor);
  free(want);
  free(got);
}

/* What the host has written is there for all streams, and what lies beside it stays, also what was changed while the
 * map was there: right beside it, too, wherever lines, words and pages end. */
void kw_contract_memory_map_writes(void **state) {
  (void)state;
  static const int64_t sizes[] = {PIECE,     1,         2,         7,         15,   31,  60,  63,
                                  PIECE - 1, PIECE + 1, PIECE + 4, PIECE + 8, 1000, 100, 333, PIECE + 48};
  unsigned char *want = kw_test_memory(3 * SIZE), *fresh = want + SIZE, *got = want + 2 * SIZE;
  kw_stream *other = kw_test_stream();
  for (uint64_t round = 0; round < 2 * sizeof sizes / sizeof *sizes; round++) {
    const bool reads = round % 2 == 0;
    const int64_t size = sizes[round / 2], begin = round % 4 < 2 ? 100 + (int64_t)round : 128 * (int64_t)(round % 3);
    const int64_t end = begin + size;
    kw_tensor *tensor = kw_test_bytes(SIZE, round), *part = part_of(tensor, begin, end);
    kw_tensor *before = part_of(tensor, 0, begin), *behind = part_of(tensor, end, SIZE);
    kw_test_pattern(want, SIZE, round);
    kw_test_pattern(fresh, SIZE, 1000 + round);
    unsigned char *pointer = map(part, NULL, reads ? KW_MAP_READ | KW_MAP_WRITE : KW_MAP_WRITE);
    if (reads) kw_test_same(pointer, want + begin, (size_t)size, "a map for reading and writing");
    KW_CHECK_OK(kw_tensor_write(before, fresh));
    KW_CHECK_OK(kw_tensor_write(behind, fresh + end));
    memcpy(pointer, fresh + begin, (size_t)size);
    KW_CHECK_OK(kw_tensor_unmap(part, pointer));
    KW_CHECK_OK(kw_tensor_read_async(tensor, got, round % 8 < 4 ? other : NULL));
    KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
    kw_test_same(got, fresh, SIZE, "memory of which a range was mapped and written, after the unmap");
    kw_tensor_release(before);
    kw_tensor_release(behind);
    kw_tensor_release(part);
    kw_tensor_release(tensor);
  }
  KW_CHECK_OK(kw_stream_destroy(other));
  free(want);
  write_little(200);
  write_little(SIZE + 4100);
  write_little(100003);
  read_and_write_large(100003);
  read_and_write_large(1048577);
  read_and_write_large((17 << 20) + 3);
}

/* Two maps for reading that share bytes, one of which ends first; another map comes where it was. */
static void share_bytes(kw_tensor *tensor, kw_tensor *other, const unsigned char *want[2], const int64_t ranges[2][2],
                        int first_to_end) {
  kw_stream *streams[2] = {NULL, kw_test_stream()};
  kw_tensor *parts[2], *elsewhere;
  unsigned char *pointers[2];
  const int64_t *ended = ranges[first_to_end], *stays = ranges[!first_to_end];
  for (int i = 0; i < 2; i++) {
    parts[i] = part_of(tensor, ranges[i][0], ranges[i][1]);
    pointers[i] = map(parts[i], streams[i], KW_MAP_READ);
  }
  KW_CHECK_OK(kw_tensor_unmap(parts[first_to_end], pointers[first_to_end]));
  elsewhere = part_of(other, ended[0], ended[1]);
  unsigned char *next = map(elsewhere, NULL, KW_MAP_READ);
  kw_test_same(pointers[!first_to_end], want[0] + stays[0], (size_t)(stays[1] - stays[0]),
               "a map for reading after one that shared bytes with it has ended");
  kw_test_same(next, want[1] + ended[0], (size_t)(ended[1] - ended[0]),
               "a map for reading that comes after one of other memory has ended");
  KW_CHECK_OK(kw_tensor_unmap(parts[!first_to_end], pointers[!first_to_end]));
  KW_CHECK_OK(kw_tensor_unmap(elsewhere, next));
  kw_tensor_release(elsewhere);
  for (int i = 0; i < 2; i++) kw_tensor_release(parts[i]);
  KW_CHECK_OK(kw_stream_destroy(streams[1]));
}

/* Ranges of which one begins where the other does, the same twice among them; in blocks that allocators keep, and in
 * those that they give back to the system at once. */
static void share_bytes_of(int64_t size) {
  const int64_t pairs[][2][2] = {{{0, size}, {0, size}},
                                 {{0, size}, {0, size / 2}},
                                 {{0, size / 3}, {0, size}},
                                 {{size / 2, size}, {size / 2, size}},
                                 {{1, size / 2}, {1, size}}};
  unsigned char *bytes = kw_test_memory(2 * (size_t)size);
  const unsigned char *want[2] = {bytes, bytes + size};
  kw_tensor *tensors[2];
  for (uint64_t i = 0; i < 2; i++) {
    tensors[i] = kw_test_bytes((size_t)size, i);
    kw_test_pattern(bytes + (int64_t)i * size, (size_t)size, i);
  }
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    for (int first = 0; first < 2; first++) share_bytes(tensors[0], tensors[1], want, pairs[i], first);
  }
  for (int i = 0; i < 2; i++) kw_tensor_release(tensors[i]);
  free(bytes);
}

/* Several maps of one piece of memory at a time, each its own range: what one of them writes is in that alone; and two
 * that read the same, of which each is good until its own end. */
void kw_contract_memory_maps_at_once(void **state) {
  (void)state;
  enum { COUNT = SIZE / PIECE };
  unsigned char *fresh = kw_test_memory(SIZE), *pointers[COUNT];
  kw_tensor *tensor = kw_test_bytes(SIZE, 1), *parts[COUNT];
  kw_test_pattern(fresh, SIZE, 2);
  for (int i = 0; i < COUNT; i++) {
    parts[i] = part_of(tensor, i * PIECE, (i + 1) * PIECE);
    pointers[i] = map(parts[i], NULL, KW_MAP_READ | KW_MAP_WRITE);
  }
  for (int i = 0; i < COUNT; i++) memcpy(pointers[i], fresh + i * PIECE, PIECE);
  for (int i = COUNT; i-- > 0;) KW_CHECK_OK(kw_tensor_unmap(parts[i], pointers[i]));
  kw_test_expect_bytes(tensor, 2, "memory that was written by several maps");
  unsigned char *all = map(tensor, NULL, KW_MAP_READ), *part = map(parts[1], NULL, KW_MAP_READ);
  kw_test_same(all, fresh, SIZE, "a map for reading");
  kw_test_same(part, fresh + PIECE, PIECE, "a map for reading beside another of the same bytes");
  KW_CHECK_OK(kw_tensor_unmap(tensor, all));
  kw_test_same(part, fresh + PIECE, PIECE, "a map for reading after another of the same bytes has ended");
  KW_CHECK_OK(kw_tensor_unmap(parts[1], part));
  for (int i = 0; i < COUNT; i++) kw_tensor_release(parts[i]);
  kw_tensor_release(tensor);
  free(fresh);
  share_bytes_of(PIECE);
  share_bytes_of(100003);
  share_bytes_of(1048577);
}
