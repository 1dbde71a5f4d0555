/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite activity: what a plugin tells of when its device worked. Judged on the device's own clock, read before work is
 * enqueued and after it was waited for: these are relations of order, which hold on a loaded machine too.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"
#include "soak/soak.h"

#include <inttypes.h>
#include <time.h>

enum { ROWS = 128, DEPTH = 256, COUNT = ROWS * DEPTH, SIZE = COUNT * sizeof(float) };
enum { STREAMS = 2, RECORDER = STREAMS, RECORDS = 2048, PIECE = 5 };

/* ---- What a device does ------------------------------------------------------------------------------------------ */

/* Ops by what they are to a device: a launch of each of its kinds that a plugin is likely to have. */
typedef enum shape { VECTOR, SCALAR, PRODUCT } shape;
static const struct {
  const char *name;
  uint32_t tensors, args; /* its arguments: tensors, and then defaults */
  shape result;
} ops[] = {
    {"add.Tensor", 2, 3, VECTOR}, {"mul.Tensor", 2, 2, VECTOR}, {"neg", 1, 1, VECTOR}, {"relu", 1, 1, VECTOR},
    {"exp", 1, 1, VECTOR},        {"mm", 2, 2, PRODUCT},        {"sum", 1, 2, SCALAR},
};
enum { OPS = sizeof ops / sizeof ops[0] };

/* A call of one of them, prepared. Holds pointers into itself. */
typedef struct launchable {
  kw_kernel_desc kernel;
  kw_tensor_ref ins[2], out;
  const kw_tensor_ref *outs[1];
  kw_value args[3];
  kw_call call;
  kw_mem workspaces[STREAMS];
} launchable;

/* One thing that a device is given to do. */
typedef struct task {
  kw_activity_kind kind;
  kw_copy_kind copy; /* of a copy */
  launchable *launch;
} task;

/* A device under test, driven through its slots. */
static struct {
  kw_guest guest;
  kw_host_api host_table;
  void *plugin, *device, *streams[STREAMS + 1]; /* the last is for recording graphs */
  kw_mem ins[STREAMS], outs[STREAMS];           /* each stream has its own */
  launchable launches[OPS];
  task tasks[OPS + 4];
  uint32_t launch_count, task_count;
  float host[STREAMS][COUNT], back[STREAMS][COUNT];
  kw_activity records[RECORDS]; /* drained last */
  uint32_t record_count;
} t;

#define EXPECT_OK(call) KW_GUEST_OK("with activity recorded", call)

/* Tokens are no small numbers and no indices: nobody may guess them. */
static uint64_t token_of(int stream) {
  return UINT64_C(0x7ab5) + (uint64_t)stream * 0x1001;
}

static kw_tensor_ref tensor_of(shape form, bool is_right) {
  kw_tensor_ref ref = {.numel = 1};
  const int64_t rows = is_right ? DEPTH : ROWS, columns = is_right ? ROWS : DEPTH;
  if (form == VECTOR) {
    ref = (kw_tensor_ref){.shape = {COUNT}, .strides = {1}, .rank = 1, .numel = COUNT};
  } else if (form == PRODUCT) {
    ref = (kw_tensor_ref){.shape = {rows, columns}, .strides = {columns, 1}, .rank = 2, .numel = COUNT};
  }
  ref.struct_size = sizeof ref;
  ref.dtype = KW_F32;
  ref.alignment = sizeof(float);
  return ref;
}

static void describe(uint32_t op, launchable *out) {
  const shape form = ops[op].result == PRODUCT ? PRODUCT : VECTOR;
  out->ins[0] = tensor_of(form, false);
  out->ins[1] = tensor_of(form, true);
  out->out = tensor_of(ops[op].result, false);
  if (ops[op].result == PRODUCT) {
    out->out.shape[1] = out->out.strides[0] = ROWS;
    out->out.numel = (int64_t)ROWS * ROWS;
  }
  out->outs[0] = &out->out;
  for (uint32_t i = 0; i < ops[op].tensors; i++)
    out->args[i] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = &out->ins[i]};
  if (strcmp(ops[op].name, "add.Tensor") == 0)
    out->args[2] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
  out->call = (kw_call){.struct_size = sizeof out->call,
                        .arg_count = ops[op].args,
                        .out_count = 1,
                        .device = t.device,
                        .op = ops[op].name,
                        .args = out->args,
                        .outs = out->outs};
}

/* The kernel of the highest priority that takes the call. False without one. */
static bool choose_kernel(launchable *launch) {
  bool found = false;
  for (uint32_t i = 0; i < kw_guest_kernel_count; i++) {
    const kw_kernel_desc *kernel = &kw_guest_kernels[i];
    if (strcmp(kernel->op, launch->call.op) != 0 || kernel->math_needs != 0) continue;
    if (!(kernel->dtypes.bits[0] & KW_DTYPE_BIT(KW_F32)) || kernel->priority == KW_PRIORITY_OFF) continue;
    if (found && kernel->priority <= launch->kernel.priority) continue;
    launch->call.user = kernel->user;
    if (kernel->can_implement && kernel->can_implement(&launch->call) != KW_OK) continue;
    launch->kernel = *kernel;
    found = true;
  }
  launch->call.user = launch->kernel.user;
  return found;
}

static kw_mem allocate(uint64_t size) {
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = sizeof(float)};
  kw_mem mem = NULL;
  EXPECT_OK(t.guest.memory->alloc(t.device, &info, &mem));
  return mem;
}

/* Chosen and prepared as a host does it, without memory. */
static void prepare(uint32_t op) {
  launchable *launch = &t.launches[t.launch_count];
  describe(op, launch);
  if (!choose_kernel(launch)) return;
  kw_call *call = &launch->call;
  if (launch->kernel.workspace_size) EXPECT_OK(launch->kernel.workspace_size(call, &call->workspace_size));
  if (launch->kernel.prepare) EXPECT_OK(launch->kernel.prepare(call, &call->prepared));
  for (int i = 0; i < STREAMS && call->workspace_size > 0; i++) launch->workspaces[i] = allocate(call->workspace_size);
  t.tasks[t.task_count++] = (task){.kind = KW_ACTIVITY_LAUNCH, .launch = launch};
  t.launch_count++;
}

/* Opens the device with recording on, and makes the list of what it can be given to do. */
static void begin(void) {
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  t.guest = kw_guest_load();
  t.host_table = kw_guest_host_for(&t.guest);
  t.host_table.register_kernel = kw_guest_keep_kernel;
  EXPECT_OK(t.guest.desc->init(&t.host_table, &init, &t.plugin));
  EXPECT_OK(t.guest.device->open(t.plugin, 0, &open, &t.device));
  EXPECT_OK(t.guest.activity->record(t.device, 1));
  for (int i = 0; i <= RECORDER; i++) {
    const kw_stream_info info = {.struct_size = sizeof info, .token = token_of(i)};
    EXPECT_OK(t.guest.stream->create(t.device, &info, &t.streams[i]));
  }
  for (int i = 0; i < STREAMS; i++) {
    t.ins[i] = allocate(SIZE);
    t.outs[i] = allocate(SIZE);
  }
  for (kw_copy_kind kind = KW_COPY_HOST_TO_DEVICE; kind <= KW_COPY_DEVICE_TO_DEVICE; kind++)
    t.tasks[t.task_count++] = (task){.kind = KW_ACTIVITY_COPY, .copy = kind};
  if (t.guest.memory->fill) t.tasks[t.task_count++] = (task){.kind = KW_ACTIVITY_FILL};
  for (uint32_t i = 0; i < OPS; i++) prepare(i);
  KW_CHECK(t.launch_count > 0, "the device has a kernel of these ops, by its host, and the plugin offers none");
}

static int end(void) {
  for (uint32_t i = 0; i < t.launch_count; i++) {
    const launchable *launch = &t.launches[i];
    if (launch->kernel.release && launch->call.prepared)
      EXPECT_OK(launch->kernel.release(launch->kernel.user, launch->call.prepared));
    for (int s = 0; s < STREAMS; s++)
      if (launch->workspaces[s]) EXPECT_OK(t.guest.memory->dealloc(t.device, launch->workspaces[s]));
  }
  for (int i = 0; i < STREAMS; i++) {
    EXPECT_OK(t.guest.memory->dealloc(t.device, t.ins[i]));
    EXPECT_OK(t.guest.memory->dealloc(t.device, t.outs[i]));
  }
  for (int i = 0; i <= RECORDER; i++) EXPECT_OK(t.guest.stream->destroy(t.device, t.streams[i]));
  EXPECT_OK(t.guest.device->close(t.device));
  EXPECT_OK(t.guest.desc->shutdown(t.plugin));
  return 0;
}

/* ---- Enqueueing and draining ------------------------------------------------------------------------------------- */

/* On the memory of stream `home`. */
static void launch_on(void *stream, launchable *launch, int home, uint64_t call_id) {
  launch->ins[0].mem = launch->ins[1].mem = t.ins[home];
  launch->out.mem = t.outs[home];
  launch->call.workspace = launch->workspaces[home];
  launch->call.stream = stream;
  launch->call.call_id = call_id;
  EXPECT_OK(launch->kernel.launch(&launch->call));
}

static void copy_on(void *stream, kw_copy_kind kind, int home) {
  kw_copy_info copy = {.struct_size = sizeof copy, .kind = kind, .size = SIZE};
  if (kind == KW_COPY_HOST_TO_DEVICE) {
    copy.src_host = t.host[home];
    copy.dst_mem = t.ins[home];
  } else if (kind == KW_COPY_DEVICE_TO_HOST) {
    copy.src_mem = t.ins[home];
    copy.dst_host = t.back[home];
  } else {
    copy.src_mem = t.ins[home];
    copy.dst_mem = t.outs[home];
  }
  EXPECT_OK(t.guest.memory->copy(t.device, stream, &copy));
}

static const task *task_of(uint64_t number) {
  return &t.tasks[number % t.task_count];
}

/* The id that a launch is given; a copy or a fill has none. */
static uint64_t id_of(uint64_t number) {
  return task_of(number)->kind == KW_ACTIVITY_LAUNCH ? number << 48 | number : 0;
}

static void enqueue(int stream, uint64_t number) {
  static const float pattern = 1;
  const task *task = task_of(number);
  if (task->kind == KW_ACTIVITY_LAUNCH) {
    launch_on(t.streams[stream], task->launch, stream, id_of(number));
  } else if (task->kind == KW_ACTIVITY_COPY) {
    copy_on(t.streams[stream], task->copy, stream);
  } else {
    EXPECT_OK(t.guest.memory->fill(t.device, t.streams[stream], t.outs[stream], 0, SIZE, &pattern, sizeof pattern));
  }
}

static void wait_for(int stream) {
  EXPECT_OK(t.guest.stream->synchronize(t.device, t.streams[stream], KW_WAIT_FOREVER));
}

/* By an event behind its work, where the plugin has events. */
static void wait_by_event(int stream) {
  const kw_event_info info = {.struct_size = sizeof info};
  void *event = NULL;
  if (!t.guest.event) {
    wait_for(stream);
    return;
  }
  EXPECT_OK(t.guest.event->create(t.device, &info, &event));
  EXPECT_OK(t.guest.event->record(t.device, event, t.streams[stream]));
  EXPECT_OK(t.guest.event->synchronize(t.device, event, KW_WAIT_FOREVER));
  EXPECT_OK(t.guest.event->destroy(t.device, event));
}

static uint64_t device_now(void) {
  uint64_t device = 0, host = 0;
  EXPECT_OK(t.guest.activity->clock(t.device, &device, &host));
  return device;
}

/* Everything that is there into t.records, few at a time; nothing behind the array is touched. */
static void drain(void) {
  static const unsigned char guard[64] = {0xa5, 0x5a, 0xc3};
  enum { LATER = 16 }; /* bytes that a later host has more in its records */
  typedef struct piece {
    _Alignas(kw_activity) unsigned char bytes[PIECE * (sizeof(kw_activity) + LATER) + sizeof guard];
  } piece;
  static piece p;
  uint32_t count = PIECE;
  t.record_count = 0;
  for (uint32_t round = 0; count == PIECE; round++) {
    const uint32_t size = (uint32_t)sizeof(kw_activity) + (round % 2 ? 0 : LATER);
    uint64_t dropped = UINT64_MAX;
    memset(&p, 0, sizeof p);
    memcpy(p.bytes + PIECE * size, guard, sizeof guard);
    EXPECT_OK(t.guest.activity->drain(t.device, p.bytes, size, PIECE, &count, &dropped));
    KW_CHECK(count <= PIECE, "drain gave %u records where %d fit", count, PIECE);
    KW_CHECK(dropped == 0, "%" PRIu64 " of a few records were dropped", dropped);
    KW_CHECK(memcmp(p.bytes + PIECE * size, guard, sizeof guard) == 0, "drain wrote behind the array of records");
    KW_CHECK(t.record_count + count <= RECORDS, "there are more than %d records of a few commands", RECORDS);
    for (uint32_t i = 0; i < count; i++) {
      static const unsigned char later[LATER];
      kw_activity *record = &t.records[t.record_count++];
      memcpy(record, p.bytes + i * size, sizeof *record);
      KW_CHECK(memcmp(p.bytes + i * size + sizeof *record, later, size - sizeof *record) == 0,
               "drain wrote behind record %u, of which the host knows %u bytes", i, size);
      KW_CHECK(record->end != 0 || record->stream_token != 0,
               "record %u of %u is empty: are records written %u bytes apart, as the host said?", i, count, size);
    }
  }
}

static uint32_t count_records(kw_activity_kind kind, uint64_t call_id) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < t.record_count; i++) found += t.records[i].kind == kind && t.records[i].call_id == call_id;
  return found;
}

static const char *name_of(uint64_t number) {
  const task *task = task_of(number);
  if (task->kind == KW_ACTIVITY_LAUNCH) return task->launch->call.op;
  return task->kind == KW_ACTIVITY_COPY ? "copy" : "fill";
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
  kw_test_need_op("add.Tensor");
  kw_test_child(scenario);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

int kw_child_activity_waits(void) {
  begin();
  for (uint64_t number = 1; number <= 2 * t.task_count; number++) {
    const uint64_t before = device_now();
    enqueue(0, number);
    if (number <= t.task_count) {
      wait_for(0);
    } else {
      wait_by_event(0);
    }
    const uint64_t after = device_now();
    drain();
    KW_CHECK(count_records(task_of(number)->kind, id_of(number)) > 0, "a %s that was waited for has no record",
             name_of(number));
    check_between(before, after);
    check_order(0);
  }
  return end();
}

/* A launch, copy or fill that was waited for has a record, whose time lies between enqueueing and the wait's return. */
void kw_contract_activity_inside_waits(void **state) {
  (void)state;
  run("activity_waits");
}

/* Where the clock tells most records apart, it can tell begin and end of some of them apart, too. */
static void check_durations(void) {
  uint32_t begun_anew = 0, lasting = 0;
  for (uint32_t i = 0; i < t.record_count; i++) {
    begun_anew += i > 0 && t.records[i].begin != t.records[i - 1].begin;
    lasting += t.records[i].end > t.records[i].begin;
  }
  KW_CHECK(lasting > 0 || 2 * begun_anew < t.record_count, "none of %u records, which begin at %u moments, takes time",
           t.record_count, begun_anew + 1);
}

int kw_child_activity_order(void) {
  enum { WORK = 60 };
  uint32_t moves[KW_ACTIVITY_GRAPH] = {0};
  begin();
  const uint64_t before = device_now();
  for (uint64_t i = 1; i <= WORK; i++) enqueue(0, i);
  wait_for(0);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  check_order(0);
  check_durations();
  uint64_t last = 0;
  for (uint32_t i = 0; i < t.record_count; i++) {
    if (t.records[i].kind != KW_ACTIVITY_LAUNCH) continue;
    KW_CHECK(t.records[i].call_id >= last,
             "launch %" PRIu64 " of a stream ran before launch %" PRIu64 ", by its record", t.records[i].call_id, last);
    last = t.records[i].call_id;
  }
  for (uint64_t i = 1; i <= WORK; i++) {
    moves[task_of(i)->kind]++;
    KW_CHECK(id_of(i) == 0 || count_records(KW_ACTIVITY_LAUNCH, id_of(i)) > 0, "%s, number %" PRIu64 ", has no record",
             name_of(i), i);
  }
  for (kw_activity_kind kind = KW_ACTIVITY_COPY; kind <= KW_ACTIVITY_FILL; kind++)
    KW_CHECK(count_records(kind, 0) >= moves[kind], "%u %s have %u records", moves[kind],
             kind == KW_ACTIVITY_COPY ? "copies" : "fills", count_records(kind, 0));
  return end();
}

/* Work enqueued without waiting on one stream has records that follow each other in its order. */
void kw_contract_activity_one_after_another(void **state) {
  (void)state;
  run("activity_order");
}

int kw_child_activity_streams(void) {
  enum { WORK = 30 };
  uint32_t moves[STREAMS] = {0};
  begin();
  const uint64_t before = device_now();
  for (uint64_t i = 1; i <= WORK; i++) { /* launches of even numbers on the first stream */
    const int stream = (int)(i % STREAMS);
    enqueue(stream, i);
    moves[stream] += id_of(i) == 0;
  }
  for (int stream = 0; stream < STREAMS; stream++) wait_for(stream);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  for (uint32_t i = 0; i < t.record_count; i++) {
    const kw_activity *record = &t.records[i];
    KW_CHECK(record->call_id == 0 || record->stream_token == token_of((int)(record->call_id % STREAMS)),
             "a launch is recorded with the token of another stream");
  }
  for (int stream = 0; stream < STREAMS; stream++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < t.record_count; i++)
      found += t.records[i].call_id == 0 && t.records[i].stream_token == token_of(stream);
    KW_CHECK(found >= moves[stream], "%u copies and fills of a stream have %u records with its token", moves[stream],
             found);
    check_order(stream);
  }
  return end();
}

/* Each record names the stream that ran its work. */
void kw_contract_activity_streams_kept_apart(void **state) {
  (void)state;
  run("activity_streams");
}

/* A graph of what kernels may be recorded, each of them and then all again until there are as many as wanted, and a
 * fill behind each; NULL when there is no such kernel, or no fill may be recorded. *out_launches: how many. */
static void *record_graph(uint64_t first_id, uint32_t wanted, bool with_fills, uint32_t *out_launches) {
  static const float pattern = 1;
  const kw_capture_info info = {.struct_size = sizeof info};
  void *graph = NULL, *const stream = t.streams[RECORDER];
  kw_status filled = KW_OK;
  uint32_t last = 1; /* how many there were one round ago: rounds end where one adds none */
  *out_launches = 0;
  EXPECT_OK(t.guest.graph->begin(t.device, stream, &info));
  while (filled == KW_OK && *out_launches < wanted && *out_launches != last) {
    last = *out_launches;
    for (uint32_t i = 0; i < t.launch_count && filled == KW_OK; i++) {
      if (!(t.launches[i].kernel.flags & KW_KERNEL_CAPTURABLE)) continue;
      launch_on(stream, &t.launches[i], 0, first_id + (*out_launches)++);
      if (with_fills) filled = t.guest.memory->fill(t.device, stream, t.outs[0], 0, SIZE, &pattern, sizeof pattern);
    }
  }
  const kw_status ended = t.guest.graph->end(t.device, stream, *out_launches > 0 && filled == KW_OK ? &graph : NULL);
  if (filled == KW_OK) EXPECT_OK(ended);
  return graph;
}

/* Of one launch of the graph: as a whole, or each of what was recorded, in order. */
static void check_graph_launch(uint64_t id, uint64_t first_id, uint32_t launches, bool has_fill) {
  uint32_t wholes = 0, nodes = 0, fills = 0; /* seen so far */
  for (uint32_t i = 0; i < t.record_count; i++) {
    const kw_activity *record = &t.records[i];
    if (record->launch_id != id) continue;
    KW_CHECK(record->stream_token == token_of(0), "a graph's record does not name the stream that it was launched on");
    if (record->kind == KW_ACTIVITY_GRAPH) {
      wholes++;
    } else if (record->kind != KW_ACTIVITY_LAUNCH) {
      fills++; /* a driver may fill by copying */
    } else {
      KW_CHECK(record->call_id == first_id + record->node, "node %u of a graph has the call id of another launch",
               record->node);
      KW_CHECK(record->node == nodes || record->node + 1 == nodes, "node %u of a graph ran as number %u, by its record",
               record->node, nodes);
      if (record->node == nodes) nodes++;
    }
  }
  KW_CHECK(wholes > 0 || fills > 0 || !has_fill, "the fill in a graph has no record with the id of the graph's launch");
  KW_CHECK(wholes > 0 || nodes > 0, "a launch of a graph has no record with its id");
  KW_CHECK(wholes > 0 || nodes == launches, "%u of the %u launches in a graph have records", nodes, launches);
}

/* A graph of at least `wanted` launches, launched `count` times. */
static void launch_graph(uint32_t wanted, uint64_t count) {
  const uint64_t first_id = 1000, first_launch = 70000;
  uint32_t launches = 0;
  void *graph = t.guest.memory->fill ? record_graph(first_id, wanted, true, &launches) : NULL;
  const bool has_fill = graph != NULL;
  if (!graph) graph = record_graph(first_id, wanted, false, &launches);
  drain();
  KW_CHECK(t.record_count == 0, "recording a graph, which runs nothing, left %u records", t.record_count);
  const uint64_t before = device_now();
  for (uint64_t i = 0; graph && i < count; i++) {
    const kw_graph_launch_info info = {.struct_size = sizeof info, .call_id = first_launch + i};
    EXPECT_OK(t.guest.graph->launch(t.device, graph, t.streams[0], &info));
    enqueue(0, i + 1);
  }
  wait_for(0);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  check_order(0);
  for (uint64_t i = 0; graph && i < count; i++) check_graph_launch(first_launch + i, first_id, launches, has_fill);
  if (graph) EXPECT_OK(t.guest.graph->destroy(t.device, graph));
}

int kw_child_activity_graph(void) {
  begin();
  launch_graph(1, 5);
  launch_graph(300, 2); /* more than a byte counts */
  return end();
}

/* Launches of one native graph are told apart, and so are the launches in it, where the driver tells of them. */
void kw_contract_activity_graph_launches(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_GRAPH);
  run("activity_graph");
}

static uint64_t host_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int kw_child_activity_clock(void) {
  enum { ROUNDS = 100 };
  begin();
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
  begin();
  launchable *const launch = &t.launches[0];
  launch_on(t.streams[0], launch, 0, 1);
  wait_for(0);
  drain();
  drain();
  KW_CHECK(t.record_count == 0, "a second drain gave %u records that the first had given", t.record_count);
  launch_on(t.streams[0], launch, 0, 2);
  wait_for(0);
  EXPECT_OK(t.guest.activity->record(t.device, 0));
  launch_on(t.streams[0], launch, 0, 3);
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

/* How many records there are, and how many were lost by what drain says. */
static uint64_t drain_all(uint64_t *out_dropped) {
  uint64_t found = 0;
  uint32_t count = RECORDS;
  *out_dropped = 0;
  while (count == RECORDS) {
    uint64_t dropped = 0;
    memset(t.records, 0, sizeof t.records);
    EXPECT_OK(t.guest.activity->drain(t.device, t.records, sizeof t.records[0], RECORDS, &count, &dropped));
    *out_dropped += dropped;
    found += count;
  }
  return found;
}

/* So many copies, waited for. */
static void copy_often(uint64_t count) {
  const kw_copy_info copy = {.struct_size = sizeof copy,
                             .kind = KW_COPY_DEVICE_TO_DEVICE,
                             .dst_mem = t.outs[0],
                             .src_mem = t.ins[0],
                             .size = sizeof(float)};
  for (uint64_t i = 0; i < count; i++) EXPECT_OK(t.guest.memory->copy(t.device, t.streams[0], &copy));
  wait_for(0);
}

/* What was lost before was told before. */
static void expect_none_lost(uint64_t copies) {
  uint64_t dropped = 0;
  copy_often(copies);
  const uint64_t found = drain_all(&dropped);
  KW_CHECK(dropped == 0,
           "after a drain that had told of lost records, %" PRIu64 " copies more and a drain, which says that %" PRIu64
           " were lost: drain tells of what was lost since the last one, not of all that ever was",
           copies, dropped);
  KW_CHECK(copies == 0 ? found == 0 : found >= copies,
           "%" PRIu64 " copies have %" PRIu64 " records after a drain that had given all", copies, found);
}

int kw_child_activity_late(void) {
  enum { FEW = 10 };
  const uint64_t copies = kw_soak_count(300, 20000, 70000);
  uint64_t dropped = 0;
  begin();
  copy_often(copies);
  const uint64_t found = drain_all(&dropped);
  KW_CHECK(found + dropped >= copies,
           "%" PRIu64 " copies that nobody drained the records of have left %" PRIu64 ", and drain says that %" PRIu64
           " were lost",
           copies, found, dropped);
  expect_none_lost(0);
  expect_none_lost(FEW);
  return end();
}

/* Who drains late is told how many records were lost, once. */
void kw_contract_activity_lost_are_counted(void **state) {
  (void)state;
  run("activity_late");
}

int kw_child_activity_peer(void) {
  enum { COPIES = 5 };
  const kw_open_info open = {.struct_size = sizeof open};
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = sizeof(float)};
  void *other = NULL;
  uint32_t count = 0;
  kw_mem from = NULL;
  begin();
  EXPECT_OK(t.guest.device->count(t.plugin, &count));
  if (count < 2 || !t.guest.memory->copy_peer) kw_test_skip("the plugin copies between no two devices");
  if (t.guest.device->open(t.plugin, 1, &open, &other) != KW_OK) kw_test_skip("the second device is not to be had");
  EXPECT_OK(t.guest.memory->alloc(other, &info, &from));
  const uint64_t before = device_now();
  for (int i = 0; i < COPIES; i++) {
    const kw_copy_info copy = {.struct_size = sizeof copy,
                               .kind = KW_COPY_DEVICE_TO_DEVICE,
                               .dst_mem = t.ins[0],
                               .src_mem = from,
                               .size = SIZE};
    const kw_status status = t.guest.memory->copy_peer(t.device, t.streams[0], other, &copy);
    if (status == KW_ERR_UNSUPPORTED) kw_test_skip("the plugin does not copy between its first two devices");
    EXPECT_OK(status);
  }
  wait_for(0);
  const uint64_t after = device_now();
  drain();
  check_between(before, after);
  check_order(0);
  KW_CHECK(count_records(KW_ACTIVITY_COPY, 0) >= COPIES, "%d copies from another device have %u records", COPIES,
           count_records(KW_ACTIVITY_COPY, 0));
  EXPECT_OK(t.guest.memory->dealloc(other, from));
  EXPECT_OK(t.guest.device->close(other));
  return end();
}

/* Copies from another device of the plugin's have records, too. */
void kw_contract_activity_peer_copies(void **state) {
  (void)state;
  run("activity_peer");
}
