/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite activity: what a plugin tells of when its device worked. Judged on the device's own clock, read before work is
 * enqueued and after it was waited for: these are relations of order, which hold on a loaded machine too.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

#include <inttypes.h>
#include <time.h>

enum { COUNT = 1 << 15, SIZE = COUNT * sizeof(float), STREAMS = 2, KERNELS = 16, RECORDS = 512, PIECE = 5 };

/* ---- A device under test, driven through its slots --------------------------------------------------------------- */

static struct {
  kw_guest guest;
  kw_host_api host_table;
  kw_kernel_desc kernels[KERNELS]; /* of add.Tensor, as the plugin offers them */
  uint32_t kernel_count;
  void *plugin, *device, *streams[STREAMS];
  kw_mem in, out, workspace;
  kw_kernel_desc kernel;
  kw_tensor_ref refs[2];
  const kw_tensor_ref *outs[1];
  kw_value args[3];
  kw_call call;
  float host[COUNT];
  kw_activity records[RECORDS]; /* drained last */
  uint32_t record_count;
} t;

#define EXPECT_OK(call) KW_GUEST_OK("with activity recorded", call)

/* Tokens are no small numbers and no indices: nobody may guess them. */
static uint64_t token_of(int stream) {
  return UINT64_C(0x7ab5) + (uint64_t)stream * 0x1001;
}

/* The kernel of the highest priority that takes the call. False without one. */
static bool choose_kernel(void) {
  bool found = false;
  for (uint32_t i = 0; i < t.kernel_count; i++) {
    const kw_kernel_desc *kernel = &t.kernels[i];
    if (!(kernel->dtypes.bits[0] & KW_DTYPE_BIT(KW_F32)) || kernel->priority == KW_PRIORITY_OFF) continue;
    if (found && kernel->priority <= t.kernel.priority) continue;
    t.call.user = kernel->user;
    if (kernel->can_implement && kernel->can_implement(&t.call) != KW_OK) continue;
    t.kernel = *kernel;
    found = true;
  }
  t.call.user = t.kernel.user;
  return found;
}

static kw_mem allocate(uint64_t size) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 1};
  kw_mem mem = NULL;
  EXPECT_OK(t.guest.memory->alloc(t.device, &info, &mem));
  return mem;
}

static kw_tensor_ref vector(void) {
  return (kw_tensor_ref){.struct_size = sizeof(kw_tensor_ref),
                         .dtype = KW_F32,
                         .rank = 1,
                         .numel = COUNT,
                         .alignment = 64,
                         .shape = {COUNT},
                         .strides = {1}};
}

/* add.Tensor(in, in) into out: chosen and prepared as a host does it, without memory, then with. */
static bool prepare_launch(void) {
  t.refs[0] = t.refs[1] = vector();
  t.outs[0] = &t.refs[1];
  t.args[0] = t.args[1] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = &t.refs[0]};
  t.args[2] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
  t.call = (kw_call){.struct_size = sizeof t.call,
                     .arg_count = 3,
                     .out_count = 1,
                     .device = t.device,
                     .op = "add.Tensor",
                     .args = t.args,
                     .outs = t.outs};
  if (!choose_kernel()) return false;
  if (t.kernel.workspace_size) EXPECT_OK(t.kernel.workspace_size(&t.call, &t.call.workspace_size));
  if (t.kernel.prepare) EXPECT_OK(t.kernel.prepare(&t.call, &t.call.prepared));
  t.refs[0].mem = t.in = allocate(SIZE);
  t.refs[1].mem = t.out = allocate(SIZE);
  if (t.call.workspace_size > 0) t.call.workspace = t.workspace = allocate(t.call.workspace_size);
  return true;
}

static kw_status keep_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx;
  if (strcmp(kernel->op, "add.Tensor") == 0 && t.kernel_count < KERNELS) t.kernels[t.kernel_count++] = *kernel;
  return KW_OK;
}

/* False: the device has no kernel that these tests could launch. */
static bool begin(void) {
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  t.guest = kw_guest_load();
  t.host_table = kw_guest_host;
  t.host_table.register_kernel = keep_kernel;
  EXPECT_OK(t.guest.desc->init(&t.host_table, &init, &t.plugin));
  EXPECT_OK(t.guest.device->open(t.plugin, 0, &open, &t.device));
  EXPECT_OK(t.guest.activity->record(t.device, 1));
  for (int i = 0; i < STREAMS; i++) {
    const kw_stream_info info = {.struct_size = sizeof info, .token = token_of(i)};
    EXPECT_OK(t.guest.stream->create(t.device, &info, &t.streams[i]));
  }
  return prepare_launch();
}

static int end(void) {
  if (t.kernel.release && t.call.prepared) EXPECT_OK(t.kernel.release(t.kernel.user, t.call.prepared));
  const kw_mem mems[] = {t.in, t.out, t.workspace};
  for (int i = 0; i < 3; i++) {
    if (mems[i]) EXPECT_OK(t.guest.memory->dealloc(t.device, mems[i]));
  }
  for (int i = 0; i < STREAMS; i++) EXPECT_OK(t.guest.stream->destroy(t.device, t.streams[i]));
  EXPECT_OK(t.guest.device->close(t.device));
  EXPECT_OK(t.guest.desc->shutdown(t.plugin));
  return 0;
}

/* call_id 0: a copy to the device; otherwise a launch. */
static void enqueue(int stream, uint64_t call_id) {
  if (call_id == 0) {
    const kw_copy_info copy = {
        .struct_size = sizeof copy, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = t.in, .src_host = t.host, .size = SIZE};
    EXPECT_OK(t.guest.memory->copy(t.device, t.streams[stream], &copy));
  } else {
    t.call.stream = t.streams[stream];
    t.call.call_id = call_id;
    EXPECT_OK(t.kernel.launch(&t.call));
  }
}

static void wait_for(int stream) {
  EXPECT_OK(t.guest.stream->synchronize(t.device, t.streams[stream], KW_WAIT_FOREVER));
}

static uint64_t device_now(void) {
  uint64_t device = 0, host = 0;
  EXPECT_OK(t.guest.activity->clock(t.device, &device, &host));
  return device;
}

/* Everything that is there into t.records, few at a time; nothing behind the array is touched. */
static void drain(void) {
  static const unsigned char guard[64] = {0xa5, 0x5a, 0xc3};
  struct {
    kw_activity records[PIECE];
    unsigned char guard[sizeof guard];
  } piece;
  uint32_t count = PIECE;
  t.record_count = 0;
  while (count == PIECE) {
    uint64_t dropped = UINT64_MAX;
    memset(piece.records, 0, sizeof piece.records);
    memcpy(piece.guard, guard, sizeof guard);
    EXPECT_OK(t.guest.activity->drain(t.device, piece.records, sizeof *piece.records, PIECE, &count, &dropped));
    KW_CHECK(count <= PIECE, "drain gave %u records where %d fit", count, PIECE);
    KW_CHECK(dropped == 0, "%" PRIu64 " of a few records were dropped", dropped);
    KW_CHECK(memcmp(piece.guard, guard, sizeof guard) == 0, "drain wrote behind the array of records");
    KW_CHECK(t.record_count + count <= RECORDS, "there are more than %d records of a few commands", RECORDS);
    memcpy(&t.records[t.record_count], piece.records, count * sizeof *piece.records);
    t.record_count += count;
  }
}

static uint32_t count_records(kw_activity_kind kind, uint64_t call_id) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < t.record_count; i++) found += t.records[i].kind == kind && t.records[i].call_id == call_id;
  return found;
}

/* All records are of the time between the two, and none ends before it begins. */
static void check_between(uint64_t before, uint64_t after) {
  for (uint32_t i = 0; i < t.record_count; i++) {
    const kw_activity *record = &t.records[i];
    KW_CHECK(record->begin <= record->end, "a record ends before it begins");
    KW_CHECK(record->begin >= before, "a record begins before its work was enqueued");
    KW_CHECK(record->end <= after, "a record ends after the wait for its work had returned");
  }
}

/* The records of a stream follow each other. */
static void check_order(int stream) {
  const kw_activity *last = NULL;
  for (uint32_t i = 0; i < t.record_count; i++) {
    const kw_activity *record = &t.records[i];
    if (record->stream_token != token_of(stream)) continue;
    KW_CHECK(!last || record->begin >= last->end, "on one stream a record begins before the one ahead of it ends");
    last = record;
  }
}

/* Runs a scenario where the plugin has the group. */
static void run(const char *scenario) {
  kw_test_need(KW_NATIVE_ACTIVITY);
  if (!kw_test_has("add.Tensor")) kw_test_skip("the device has no add.Tensor in f32");
  kw_test_child(scenario);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

int kw_child_activity_waits(void) {
  enum { ROUNDS = 24 };
  if (!begin()) return end();
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    const bool copy = round % 3 == 0;
    const uint64_t call_id = copy ? 0 : round << 48 | round;
    const uint64_t before = device_now();
    enqueue(0, call_id);
    wait_for(0);
    const uint64_t after = device_now();
    drain();
    KW_CHECK(count_records(copy ? KW_ACTIVITY_COPY : KW_ACTIVITY_LAUNCH, call_id) > 0,
             "a %s that was waited for has no record", copy ? "copy" : "launch");
    check_between(before, after);
    check_order(0);
  }
  return end();
}

/* A launch or copy that was waited for has a record, whose time lies between enqueueing and the wait's return. */
void kw_contract_activity_inside_waits(void **state) {
  (void)state;
  run("activity_waits");
}

int kw_child_activity_order(void) {
  enum { WORK = 60 };
  if (!begin()) return end();
  const uint64_t before = device_now();
  for (uint64_t i = 1; i <= WORK; i++) enqueue(0, i % 4 == 0 ? 0 : i);
  wait_for(0);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  check_order(0);
  uint64_t last = 0;
  for (uint32_t i = 0; i < t.record_count; i++) {
    if (t.records[i].kind != KW_ACTIVITY_LAUNCH) continue;
    KW_CHECK(t.records[i].call_id >= last,
             "launch %" PRIu64 " of a stream ran before launch %" PRIu64 ", by its record", t.records[i].call_id, last);
    last = t.records[i].call_id;
  }
  for (uint64_t i = 1; i <= WORK; i++)
    KW_CHECK(i % 4 == 0 || count_records(KW_ACTIVITY_LAUNCH, i) > 0, "launch %" PRIu64 " has no record", i);
  KW_CHECK(count_records(KW_ACTIVITY_COPY, 0) >= WORK / 4, "%d copies have %u records", WORK / 4,
           count_records(KW_ACTIVITY_COPY, 0));
  return end();
}

/* Work enqueued without waiting on one stream has records that follow each other in its order. */
void kw_contract_activity_one_after_another(void **state) {
  (void)state;
  run("activity_order");
}

int kw_child_activity_streams(void) {
  enum { WORK = 20 };
  if (!begin()) return end();
  const uint64_t before = device_now();
  for (uint64_t i = 1; i <= WORK; i++) {
    for (int stream = 0; stream < STREAMS; stream++) enqueue(stream, i * 10 + (uint64_t)stream);
  }
  for (int stream = 0; stream < STREAMS; stream++) wait_for(stream);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  for (int stream = 0; stream < STREAMS; stream++) check_order(stream);
  for (uint32_t i = 0; i < t.record_count; i++) {
    KW_CHECK(t.records[i].stream_token == token_of((int)(t.records[i].call_id % 10)),
             "a launch is recorded with the token %" PRIu64 ", its stream's is %" PRIu64, t.records[i].stream_token,
             token_of((int)(t.records[i].call_id % 10)));
  }
  return end();
}

/* Each record names the stream that ran its work. */
void kw_contract_activity_streams_kept_apart(void **state) {
  (void)state;
  run("activity_streams");
}

static uint64_t host_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int kw_child_activity_clock(void) {
  enum { ROUNDS = 100 };
  if (!begin()) return end();
  uint64_t last = 0;
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t device = 0, host = 0;
    const uint64_t before = host_now();
    EXPECT_OK(t.guest.activity->clock(t.device, &device, &host));
    const uint64_t after = host_now();
    KW_CHECK(host >= before && host <= after, "clock named a moment of the host's clock outside of the call");
    KW_CHECK(device >= last, "the device's clock went back");
    last = device;
  }
  return end();
}

/* clock tells a moment within the call, and the device's clock does not go back. */
void kw_contract_activity_clock_is_now(void **state) {
  (void)state;
  run("activity_clock");
}

int kw_child_activity_once(void) {
  if (!begin()) return end();
  enqueue(0, 1);
  wait_for(0);
  drain();
  drain();
  KW_CHECK(t.record_count == 0, "a second drain gave %u records that the first had given", t.record_count);
  enqueue(0, 2);
  wait_for(0);
  EXPECT_OK(t.guest.activity->record(t.device, 0));
  enqueue(0, 3);
  wait_for(0);
  drain();
  KW_CHECK(count_records(KW_ACTIVITY_LAUNCH, 2) > 0, "turning recording off lost what was recorded before");
  KW_CHECK(count_records(KW_ACTIVITY_LAUNCH, 3) == 0, "a launch was recorded after recording had been turned off");
  return end();
}

/* drain gives each record once, and none of work that was enqueued while recording was off. */
void kw_contract_activity_given_once(void **state) {
  (void)state;
  run("activity_once");
}
