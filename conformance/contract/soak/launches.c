/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: more launches, copies and launches of graphs than small counters hold. Each leaves a result of its own,
 * and all of them are looked at.
 */
#include "soak.h"

#include "base/worker_note.h"
#include "base/stream_hold.h"

enum { BLOCK = 1000, STREAMS = 8, LEAST = 16 };

/* A call, and the streams that it is run on in turn. */
typedef struct launches {
  kw_soak_call call;
  kw_stream *streams[STREAMS];
  uint32_t stream_count;
} launches;

static void make_launches(uint64_t places, uint32_t streams, launches *out) {
  kw_soak_call_make(places, &out->call);
  out->stream_count = streams;
  for (uint32_t i = 0; i < streams; i++) out->streams[i] = kw_test_stream();
}

static void free_launches(launches *l) {
  for (uint32_t i = 0; i < l->stream_count; i++) KW_CHECK_OK(kw_stream_destroy(l->streams[i]));
  kw_soak_call_free(&l->call);
}

static void launch(const launches *l, uint64_t first, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    kw_status status = kw_soak_call_run(&l->call, l->streams[(first + i) % l->stream_count], i);
    KW_CHECK(status == KW_OK, "launch %s gave %s: %s", kw_soak_number(first + i + 1), kw_status_name(status),
             kw_error_message());
    kw_hold_step();
    if (i % BLOCK == BLOCK - 1) kw_worker_note_step(); /* a block may be all of them */
  }
}

static void wait_and_check(launches *l, uint64_t first, uint64_t count) {
  for (uint32_t i = 0; i < l->stream_count; i++) KW_CHECK_OK(kw_stream_synchronize(l->streams[i]));
  kw_soak_call_check(&l->call, count, "launch", first);
}

static void run_launches(void *user, uint64_t first, uint64_t count) {
  launches *l = user;
  kw_soak_call_clear(&l->call, count);
  launch(l, first, count);
  wait_and_check(l, first, count);
}

static void soak_launches(uint32_t streams, uint64_t first, uint64_t count) {
  static launches l;
  make_launches(BLOCK, streams, &l);
  const kw_soak_work work = {.objects = "launches",
                             .first = first,
                             .count = count,
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_launches,
                             .user = &l};
  kw_soak_run(&work);
  free_launches(&l);
}

void kw_soak_launches(uint64_t first, uint64_t count) {
  soak_launches(1, first, count);
}

/* Launch after launch on one stream, which is waited for now and then. */
void kw_contract_soak_launches(void **state) {
  (void)state;
  kw_soak_launches(0, kw_soak_count(2500, 70000, KW_SOAK_PAST_20_BITS));
}

/* And on several streams in turn. */
void kw_contract_soak_launches_across_streams(void **state) {
  (void)state;
  soak_launches(STREAMS, 0, kw_soak_count(2500, 35000, 150000));
}

/* A stream takes as many launches as it is given before anybody waits for it. It is held meanwhile where it can be,
 * which a driver with a short queue cannot for long. */
void kw_contract_soak_launches_unwaited(void **state) {
  (void)state;
  static launches l;
  const uint64_t count = kw_soak_count(2500, 40000, 140000);
  kw_hold *hold = NULL;
  make_launches(count, 1, &l);
  kw_test_waits("launches of which none is waited for");
  kw_soak_call_clear(&l.call, count);
  if (kw_device_native(kw_contract.device) & KW_NATIVE_CALL_HOST) KW_CHECK_OK(kw_hold_close(l.streams[0], &hold));
  launch(&l, 0, count);
  kw_status status = kw_stream_synchronize_for(l.streams[0], 0);
  KW_CHECK(status == KW_ERR_TIMEOUT || !hold || !kw_hold_is_shut(hold),
           "a wait without patience for a stream that is held, with %s launches in its queue, gave %s",
           kw_soak_number(count), kw_status_name(status));
  kw_hold_open(hold);
  wait_and_check(&l, 0, count);
  free_launches(&l);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

enum { PIECE = 32, DISTANCE = 256 };

/* Pieces of the host's and of the device's memory between which copies go, one for each copy of a block. */
static struct {
  kw_stream *stream;
  kw_tensor *source, *memory, *pieces[BLOCK];
  unsigned char sent[PIECE], nothing[BLOCK * DISTANCE], back[BLOCK * DISTANCE];
} copies;

/* Into the pieces, from the host and from elsewhere on the device in turn, and from each back to the host. */
static void run_copies(void *user, uint64_t first, uint64_t count) {
  (void)user;
  KW_CHECK_OK(kw_tensor_write(copies.memory, copies.nothing));
  memset(copies.back, 0, sizeof copies.back);
  for (uint64_t i = 0; i < count; i++) {
    kw_tensor *piece = copies.pieces[i];
    kw_status status = i % 2 == 0 ? kw_tensor_write_async(piece, copies.sent, copies.stream)
                                  : kw_tensor_copy_async(piece, copies.stream, copies.source, copies.stream);
    if (status == KW_OK) status = kw_tensor_read_async(piece, copies.back + i * DISTANCE, copies.stream);
    KW_CHECK(status == KW_OK, "copy %s gave %s: %s", kw_soak_number(first + i + 1), kw_status_name(status),
             kw_error_message());
  }
  KW_CHECK_OK(kw_stream_synchronize(copies.stream));
  for (uint64_t i = 0; i < count; i++) {
    KW_CHECK(memcmp(copies.back + i * DISTANCE, copies.sent, PIECE) == 0,
             "what copy %s brought to the device and the next one back is not what was sent",
             kw_soak_number(first + i + 1));
  }
}

void kw_soak_copies(uint64_t first, uint64_t count) {
  copies.stream = kw_test_stream();
  copies.source = kw_test_bytes(PIECE, 1);
  copies.memory = kw_test_bytes_on(NULL, sizeof copies.nothing);
  kw_test_pattern(copies.sent, PIECE, 1);
  for (int64_t i = 0; i < BLOCK; i++) {
    KW_CHECK_OK(kw_tensor_slice(copies.memory, 0, i * DISTANCE, i * DISTANCE + PIECE, 1, &copies.pieces[i]));
  }
  const kw_soak_work work = {.objects = "copies there and back",
                             .first = first,
                             .count = count,
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_copies};
  kw_soak_run(&work);
  for (int i = 0; i < BLOCK; i++) kw_tensor_release(copies.pieces[i]);
  kw_tensor_release(copies.memory);
  kw_tensor_release(copies.source);
  KW_CHECK_OK(kw_stream_destroy(copies.stream));
}

/* Copy after copy, in every direction. */
void kw_contract_soak_copies(void **state) {
  (void)state;
  kw_soak_copies(0, kw_soak_count(2500, 35000, KW_SOAK_PAST_20_BITS));
}

/* ---- Two devices ------------------------------------------------------------------------------------------------- */

static struct {
  kw_device *device;
  kw_stream *here, *there;
  kw_tensor *mine, *theirs;
  unsigned char want[PIECE], got[PIECE];
} other;

/* There and back, each time other bytes. */
static void run_peer_copies(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    kw_test_pattern(other.want, PIECE, first + i);
    KW_CHECK_OK(kw_tensor_write(other.mine, other.want));
    KW_CHECK_OK(kw_tensor_copy_async(other.theirs, other.there, other.mine, other.here));
    KW_CHECK_OK(kw_tensor_copy_async(other.mine, other.here, other.theirs, other.there));
    KW_CHECK_OK(kw_stream_synchronize(other.here));
    KW_CHECK_OK(kw_tensor_read(other.mine, other.got));
    KW_CHECK(memcmp(other.got, other.want, PIECE) == 0, "copy %s to another device and back is not what was sent",
             kw_soak_number(first + i + 1));
  }
}

/* Another device of the plugin's, opened, or NULL: what other plugins leave behind is not this one's. */
static kw_device *open_other(void) {
  const uint32_t plugin = kw_test_entry().plugin;
  uint32_t count = 0;
  KW_CHECK_OK(kw_device_count(&count));
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_device *device = NULL;
    KW_CHECK_OK(kw_device_get_entry(i, &entry));
    if (entry.plugin != plugin || kw_device_open(entry.name, &device) != KW_OK) continue;
    if (device != kw_contract.device) return device;
    KW_CHECK_OK(kw_device_close(device));
  }
  return NULL;
}

/* Copies between two devices. */
void kw_contract_soak_peer_copies(void **state) {
  (void)state;
  const int64_t shape = PIECE;
  other.device = open_other();
  if (!other.device) kw_test_skip("the plugin has no other device");
  other.here = kw_test_stream();
  other.mine = kw_test_bytes(PIECE, 1);
  KW_CHECK_OK(kw_stream_create(other.device, &other.there));
  KW_CHECK_OK(kw_tensor_create(other.device, KW_U8, 1, &shape, &other.theirs));
  const kw_soak_work work = {.objects = "copies to another device and back",
                             .count = kw_soak_count(250, 5000, 70000),
                             .block = BLOCK / 4,
                             .least = LEAST,
                             .run = run_peer_copies};
  kw_soak_run(&work);
  kw_tensor_release(other.theirs);
  kw_tensor_release(other.mine);
  KW_CHECK_OK(kw_stream_destroy(other.there));
  KW_CHECK_OK(kw_stream_destroy(other.here));
  KW_CHECK_OK(kw_device_close(other.device));
}
