/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite abi: nothing of a host's struct is read behind its end. A small host gives every struct as short as it may be
 * (KW_*_MIN), right before memory that nobody may touch. Here the slots get theirs; kernels are called in
 * struct_end_kernel.c, in a check for each level of ops: a device may have to compile them first.
 */
#include "struct_end.h"

#include "child.h"
#include "scenarios.h"

#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 64 };

static kw_ends ends;

/* A copy of a struct with struct_size that is as short as it may be. */
#define SHORT(struct_, min) kw_end_put(&ends, &(struct_), (min))
#define OK(call) KW_GUEST_OK(KW_AT_END, call)

/* ---- A device ---------------------------------------------------------------------------------------------------- */

static void ask_attributes(const kw_end_bench *b) {
  static const char *const keys[] = {
#define KW_ROW(key, type) key,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  const kw_attribute empty = {.struct_size = KW_ATTRIBUTE_MIN};
  for (size_t i = 0; b->guest.device->attribute && i < sizeof keys / sizeof keys[0]; i++) {
    const kw_status status = b->guest.device->attribute(b->plugin, 0, keys[i], SHORT(empty, KW_ATTRIBUTE_MIN));
    if (status != KW_ERR_NOT_FOUND && !kw_end_is_done(status, "device.attribute")) break;
  }
  kw_end_take_away(&ends);
}

static void use_event(const kw_end_bench *b) {
  const kw_event_info info = {.struct_size = KW_EVENT_INFO_MIN};
  void *event = NULL;
  if (!b->guest.event) return;
  OK(b->guest.event->create(b->device, SHORT(info, KW_EVENT_INFO_MIN), &event));
  kw_end_take_away(&ends);
  OK(b->guest.event->destroy(b->device, event));
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void use_memory(const kw_end_bench *b) {
  static unsigned char back[KW_END_BYTES];
  const kw_mem mem = kw_end_alloc(b), other = kw_end_alloc(b);
  kw_end_copy(b, KW_COPY_DEVICE_TO_HOST, mem, back);
  const kw_copy_info within = {.struct_size = KW_COPY_INFO_MIN,
                               .kind = KW_COPY_DEVICE_TO_DEVICE,
                               .dst_mem = other,
                               .src_mem = mem,
                               .size = KW_END_BYTES};
  OK(b->guest.memory->copy(b->device, b->stream, SHORT(within, KW_COPY_INFO_MIN)));
  kw_end_wait(b);
  OK(b->guest.memory->dealloc(b->device, mem));
  OK(b->guest.memory->dealloc(b->device, other));
}

/* Of a kind, for reading, for writing, and for both. */
static void use_maps(const kw_end_bench *b, kw_mem_kind kind) {
  static const uint64_t flags[] = {KW_MAP_READ, KW_MAP_WRITE, KW_MAP_READ | KW_MAP_WRITE};
  const kw_memory_api *memory = b->guest.memory;
  kw_mem mem = NULL;
  if (!memory->map || !memory->unmap || !kw_end_alloc_as(b, kind, 0, KW_END_BYTES, &mem)) return;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    const kw_map_info info = {
        .struct_size = KW_MAP_INFO_MIN, .flags = flags[i], .mem = mem, .offset = 64, .size = KW_END_BYTES / 2};
    void *pointer = NULL;
    if (KW_END_IS_DONE(memory->map(b->device, b->stream, SHORT(info, KW_MAP_INFO_MIN), &pointer)))
      OK(memory->unmap(b->device, b->stream, SHORT(info, KW_MAP_INFO_MIN), pointer));
    kw_end_wait(b);
  }
  OK(memory->dealloc(b->device, mem));
}

/* From another device of the plugin, where there is one. */
static void copy_from_peer(const kw_end_bench *b) {
  const kw_guest *g = &b->guest;
  const kw_open_info open = {.struct_size = KW_OPEN_INFO_MIN};
  kw_end_bench peer = *b;
  uint32_t count = 0;
  kw_mem mem = NULL;
  OK(g->device->count(b->plugin, &count));
  if (count < 2 || !g->memory->copy_peer) return;
  OK(g->device->open(b->plugin, 1, SHORT(open, KW_OPEN_INFO_MIN), &peer.device));
  peer.stream = kw_end_stream(&peer, 3);
  KW_CHECK(kw_end_alloc_as(&peer, KW_MEM_DEVICE, KW_MEM_PEER, KW_END_BYTES, &mem), "device memory was refused");
  kw_end_clear(&peer, mem);
  kw_end_wait(&peer);
  const kw_mem here = kw_end_alloc(b);
  const kw_copy_info info = {.struct_size = KW_COPY_INFO_MIN,
                             .kind = KW_COPY_DEVICE_TO_DEVICE,
                             .dst_mem = here,
                             .src_mem = mem,
                             .size = KW_END_BYTES};
  (void)KW_END_IS_DONE(g->memory->copy_peer(b->device, b->stream, peer.device, SHORT(info, KW_COPY_INFO_MIN)));
  kw_end_wait(b);
  OK(g->memory->dealloc(b->device, here));
  OK(g->memory->dealloc(peer.device, mem));
  OK(g->stream->destroy(peer.device, peer.stream));
  OK(g->device->close(peer.device));
}

/* ---- Memory of others -------------------------------------------------------------------------------------------- */

static void import(const kw_end_bench *b, const kw_external_memory *what) {
  const kw_interop_api *interop = b->guest.interop;
  kw_mem mem = NULL;
  uint32_t alignment = 0;
  if (KW_END_IS_DONE(interop->import_memory(b->device, SHORT(*what, KW_EXTERNAL_MEMORY_MIN), &mem, &alignment)))
    OK(interop->release_memory(b->device, mem));
  kw_end_take_away(&ends);
}

/* Exports memory that was allocated for it, and takes it back in. */
static void export(const kw_end_bench *b, kw_handle_kind kind) {
  const kw_interop_api *interop = b->guest.interop;
  kw_mem mem = NULL;
  if (!kw_end_alloc_as(b, KW_MEM_DEVICE, kind == KW_HANDLE_IPC ? KW_MEM_IPC : KW_MEM_EXPORTABLE, KW_END_BYTES, &mem))
    return;
  const kw_external_memory range = {.struct_size = KW_EXTERNAL_MEMORY_MIN, .kind = kind, .size = KW_END_BYTES};
  kw_external_memory *named = SHORT(range, KW_EXTERNAL_MEMORY_MIN);
  if (KW_END_IS_DONE(interop->export_memory(b->device, mem, named))) {
    const kw_external_memory given = *named;
    import(b, &given);
    if (kind != KW_HANDLE_IPC) close((int)given.handle);
  }
  kw_end_take_away(&ends);
  OK(b->guest.memory->dealloc(b->device, mem));
}

static void name_object(const kw_end_bench *b, kw_object_kind kind, void *object) {
  const kw_native_handle empty = {.struct_size = KW_NATIVE_HANDLE_MIN};
  kw_native_handle *handle = SHORT(empty, KW_NATIVE_HANDLE_MIN);
  (void)KW_END_IS_DONE(b->guest.interop->native_handle(b->device, kind, object, handle));
  kw_end_take_away(&ends);
}

static void use_interop(const kw_end_bench *b) {
  const kw_interop_api *interop = b->guest.interop;
  if (!interop) return;
  void *host = aligned_alloc(4096, KW_END_BYTES);
  KW_CHECK(host, "no host memory");
  import(b, &(kw_external_memory){
                .struct_size = KW_EXTERNAL_MEMORY_MIN, .kind = KW_HANDLE_HOST, .size = KW_END_BYTES, .host = host});
  free(host);
  if (interop->export_memory) {
    export(b, KW_HANDLE_FD);
    export(b, KW_HANDLE_DMABUF);
    export(b, KW_HANDLE_IPC);
  }
  if (!interop->native_handle) return;
  const kw_mem mem = kw_end_alloc(b);
  name_object(b, KW_OBJECT_DEVICE, NULL);
  name_object(b, KW_OBJECT_STREAM, b->stream);
  name_object(b, KW_OBJECT_MEMORY, mem);
  kw_end_wait(b);
  OK(b->guest.memory->dealloc(b->device, mem));
}

/* ---- Graphs and activity ----------------------------------------------------------------------------------------- */

static void use_graph(const kw_end_bench *b) {
  const kw_guest *g = &b->guest;
  const kw_capture_info capture = {.struct_size = KW_CAPTURE_INFO_MIN};
  const kw_graph_launch_info launch = {.struct_size = KW_GRAPH_LAUNCH_INFO_MIN, .call_id = 1};
  const uint32_t pattern = 0;
  void *graph = NULL;
  if (!g->graph || !g->memory->fill) return;
  const kw_mem mem = kw_end_alloc(b);
  kw_end_wait(b);
  void *recorder = kw_end_stream(b, 2);
  if (KW_END_IS_DONE(g->graph->begin(b->device, recorder, SHORT(capture, KW_CAPTURE_INFO_MIN)))) {
    const void *put = kw_end_put(&ends, &pattern, sizeof pattern);
    const bool filled = KW_END_IS_DONE(g->memory->fill(b->device, recorder, mem, 0, KW_END_BYTES, put, sizeof pattern));
    kw_end_take_away(&ends);
    if (KW_END_IS_DONE(g->graph->end(b->device, recorder, filled ? &graph : NULL)) && graph) {
      OK(g->graph->launch(b->device, graph, b->stream, SHORT(launch, KW_GRAPH_LAUNCH_INFO_MIN)));
      kw_end_wait(b);
      OK(g->graph->destroy(b->device, graph));
    }
  }
  kw_end_take_away(&ends);
  OK(g->stream->destroy(b->device, recorder));
  OK(g->memory->dealloc(b->device, mem));
}

/* What was recorded so far, in entries as short as they may be. */
static void drain(const kw_end_bench *b) {
  static const unsigned char zeroes[RECORDS * KW_ACTIVITY_MIN];
  const kw_activity_api *activity = b->guest.activity;
  uint64_t dropped = 0, moments[2] = {0};
  uint32_t count = RECORDS;
  uint64_t *host = kw_end_put(&ends, &moments[0], sizeof *host), *own = kw_end_put(&ends, &moments[1], sizeof *own);
  OK(activity->clock(b->device, own, host));
  while (count == RECORDS) {
    void *records = kw_end_put(&ends, zeroes, sizeof zeroes);
    OK(activity->drain(b->device, records, KW_ACTIVITY_MIN, RECORDS, &count, &dropped));
    kw_end_take_away(&ends);
  }
  OK(activity->record(b->device, 0));
}

int kw_child_structs_end(void) {
  static kw_end_bench b;
  kw_end_open(&b);
  ask_attributes(&b);
  const bool is_recorded = b.guest.activity && KW_END_IS_DONE(b.guest.activity->record(b.device, 1));
  b.stream = kw_end_stream(&b, 1);
  use_event(&b);
  use_memory(&b);
  for (kw_mem_kind kind = KW_MEM_DEVICE; kind <= KW_MEM_MANAGED; kind++) use_maps(&b, kind);
  copy_from_peer(&b);
  use_interop(&b);
  use_graph(&b);
  if (is_recorded) drain(&b);
  kw_end_run_kernels(&b, KW_LEVEL_CORE);
  return 0;
}

static int run_level(kw_level level) {
  static kw_end_bench b;
  kw_end_open(&b);
  b.stream = kw_end_stream(&b, 1);
  kw_end_run_kernels(&b, level);
  return 0;
}

int kw_child_structs_end_inference(void) {
  return run_level(KW_LEVEL_INFERENCE);
}

int kw_child_structs_end_training(void) {
  return run_level(KW_LEVEL_TRAINING);
}

/* A host of this version gives no more than KW_*_MIN bytes of a struct: nothing behind them is read, nor written. */
void kw_contract_abi_structs_end(void **state) {
  (void)state;
  kw_test_child("structs_end");
}

/* The same of what calls of other levels' ops point to. */
void kw_contract_abi_structs_end_inference(void **state) {
  (void)state;
  kw_test_child("structs_end_inference");
}

void kw_contract_abi_structs_end_training(void **state) {
  (void)state;
  kw_test_child("structs_end_training");
}
