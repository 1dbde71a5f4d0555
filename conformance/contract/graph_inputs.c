/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite graph: what graphs read: their inputs as they are at each launch, however they came to be so, and memory that
 * many of their calls have in common.
 */
#include "tools.h"

#include <stdio.h>

static const kw_pair *pair;

/* ---- Inputs that change between launches ------------------------------------------------------------------------- */

/* What gives an input new numbers. */
typedef enum way { WRITTEN, WRITTEN_ON_STREAM, MAPPED, COMPUTED, COPIED, FILLED, BY_GRAPH, WAYS } way;

typedef struct inputs {
  kw_stream *stream, *other;
  kw_graph *graph, *before; /* z = op(x, x); x = op(source, source) */
  kw_tensor *x, *z, *source;
  int64_t count;
  float *values, *want;
} inputs;

/* Numbers no element of which is the same for the next tag. */
static void number(float *values, int64_t count, uint64_t tag) {
  for (int64_t i = 0; i < count; i++) values[i] = (float)(1 + (tag + (uint64_t)i) % 13);
}

static kw_tensor *make_tensor(const inputs *in, uint32_t rank, uint64_t tag) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_F32, rank, &in->count, &tensor));
  number(in->values, in->count, tag);
  KW_CHECK_OK(kw_tensor_write(tensor, in->values));
  return tensor;
}

static kw_graph *record_pair(kw_stream *stream, kw_tensor *from, kw_tensor *to) {
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_begin(stream));
  KW_CHECK_OK(kw_test_pair(pair, stream, from, from, &to));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  return graph;
}

/* What op(values, values) gives. */
static void apply(float *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) values[i] = pair->of(values[i], values[i]);
}

static void map_and_write(const inputs *in) {
  void *pointer = NULL;
  KW_CHECK_OK(kw_tensor_map(in->x, in->stream, KW_MAP_WRITE, &pointer));
  memcpy(pointer, in->values, (size_t)in->count * sizeof *in->values);
  KW_CHECK_OK(kw_tensor_unmap(in->x, pointer));
}

/* Gives x numbers of this tag, and says in in->want which. False where the device cannot do it so. */
static bool change(const inputs *in, way how, uint64_t tag) {
  const size_t size = (size_t)in->count * sizeof *in->values;
  kw_tensor *x = in->x;
  number(in->values, in->count, tag);
  memcpy(in->want, in->values, size);
  if (how == COMPUTED || how == BY_GRAPH || how == COPIED) KW_CHECK_OK(kw_tensor_write(in->source, in->values));
  switch (how) {
    case WRITTEN:
      KW_CHECK_OK(kw_tensor_write(x, in->values));
      return true;
    case WRITTEN_ON_STREAM:
      KW_CHECK_OK(kw_tensor_write_async(x, in->values, in->stream));
      return true;
    case MAPPED:
      map_and_write(in);
      return true;
    case COMPUTED:
      KW_CHECK_OK(kw_test_pair(pair, in->stream, in->source, in->source, &x));
      apply(in->want, in->count);
      return true;
    case COPIED:
      KW_CHECK_OK(kw_tensor_copy_async(x, in->stream, in->source, in->other));
      return true;
    case BY_GRAPH:
      KW_CHECK_OK(kw_graph_launch(in->before, in->stream));
      apply(in->want, in->count);
      return true;
    default: {
      const kw_value fill[] = {kw_arg_tensor(x), kw_arg_scalar_i64((int64_t)(1 + tag % 13))};
      if (!kw_test_has("fill_.Scalar")) return false;
      KW_CHECK_OK(kw_op_call(kw_op_find("fill_.Scalar"), in->stream, fill, 2, NULL, 0));
      for (int64_t i = 0; i < in->count; i++) in->want[i] = (float)(1 + tag % 13);
      return true;
    }
  }
}

static void launch_changed(const inputs *in, way how, uint64_t tag) {
  static const char *const ways[WAYS] = {"written by the host",      "written by the host on the graph's stream",
                                         "written through a map",    "computed by a kernel",
                                         "copied on the device",     "filled",
                                         "computed by another graph"};
  char what[160];
  if (!change(in, how, tag)) return;
  KW_CHECK_OK(kw_graph_launch(in->graph, in->stream));
  KW_CHECK_OK(kw_stream_synchronize(in->stream));
  apply(in->want, in->count);
  snprintf(
      what, sizeof what,
      "the result of a graph (a launch reads what its inputs hold by then) whose input of %lld elements was %s after "
      "it had been recorded",
      (long long)in->count, ways[how]);
  kw_test_expect_f32(in->z, in->want, (size_t)in->count, what);
}

/* One graph, launched after its input has changed in every way. */
static void change_inputs(uint32_t rank, int64_t count) {
  inputs in = {.stream = kw_test_stream(), .other = kw_test_stream(), .count = count};
  in.values = kw_test_memory((size_t)count * sizeof *in.values);
  in.want = kw_test_memory((size_t)count * sizeof *in.want);
  in.x = make_tensor(&in, rank, 100);
  in.z = make_tensor(&in, rank, 101);
  in.source = make_tensor(&in, rank, 102);
  in.graph = record_pair(in.stream, in.x, in.z);
  in.before = record_pair(in.stream, in.source, in.x);
  for (uint64_t i = 0; i < 2 * WAYS; i++) launch_changed(&in, (way)(i * 3 % WAYS), i);
  KW_CHECK_OK(kw_graph_destroy(in.graph));
  KW_CHECK_OK(kw_graph_destroy(in.before));
  kw_tensor_release(in.x);
  kw_tensor_release(in.z);
  kw_tensor_release(in.source);
  KW_CHECK_OK(kw_stream_destroy(in.stream));
  KW_CHECK_OK(kw_stream_destroy(in.other));
  free(in.values);
  free(in.want);
}

/* A launch reads what inputs hold by then, not what they held when it was recorded or first launched: of sizes that a
 * driver may take for constants, and larger ones, whoever has written them. */
void kw_contract_graph_reads_anew(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 4, 16, 257, 1 << 16};
  pair = kw_test_need_pair();
  change_inputs(0, 1);
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) change_inputs(1, counts[i]);
}

/* ---- Memory that many calls share -------------------------------------------------------------------------------- */

enum { MOST = 70 };

typedef struct shared {
  kw_tensor *whole, *parts[MOST], *others[MOST], *last; /* the parts are of `whole`; the others apart */
  float *values, *want;
  int64_t part; /* elements */
  int count;    /* of parts */
  kw_stream *stream;
} shared;

static void make_shared(shared *s, int count, int64_t part, uint64_t tag) {
  static const int64_t stride = 1;
  const size_t all = (size_t)count * (size_t)part;
  *s = (shared){.part = part, .count = count, .stream = kw_test_stream()};
  s->values = kw_test_memory(all * sizeof *s->values);
  s->want = kw_test_memory(all * sizeof *s->want);
  s->whole = kw_test_f32(all, tag);
  s->last = kw_test_f32(all, tag + 1);
  kw_test_floats(s->values, all, tag);
  for (int i = 0; i < count; i++) {
    KW_CHECK_OK(kw_tensor_as_strided(s->whole, 1, &part, &stride, i * part, &s->parts[i]));
    s->others[i] = kw_test_f32((size_t)part, tag + 2 + (uint64_t)i);
  }
}

static void end_shared(shared *s) {
  for (int i = 0; i < s->count; i++) {
    kw_tensor_release(s->parts[i]);
    kw_tensor_release(s->others[i]);
  }
  kw_tensor_release(s->whole);
  kw_tensor_release(s->last);
  KW_CHECK_OK(kw_stream_destroy(s->stream));
  free(s->values);
  free(s->want);
}

/* others[i] = op(part i, part i) for each, or of one part for all; then whole = op(last, last). */
static void read_then_write(shared *s, bool one) {
  for (int i = 0; i < s->count; i++) {
    kw_tensor *from = s->parts[one ? 0 : i];
    KW_CHECK_OK(kw_test_pair(pair, s->stream, from, from, &s->others[i]));
  }
  KW_CHECK_OK(kw_test_pair(pair, s->stream, s->last, s->last, &s->whole));
}

/* part i = op(others[i], others[i]); then last = op(whole, whole), which is behind all. */
static void write_then_read(shared *s) {
  for (int i = 0; i < s->count; i++)
    KW_CHECK_OK(kw_test_pair(pair, s->stream, s->others[i], s->others[i], &s->parts[i]));
  KW_CHECK_OK(kw_test_pair(pair, s->stream, s->whole, s->whole, &s->last));
}

/* Launches a graph, behind a gate where there is one. */
static void run(const shared *s, kw_graph *graph, bool holds) {
  kw_gate *gate = holds ? kw_gate_close(s->stream) : NULL;
  KW_CHECK_OK(kw_graph_launch(graph, s->stream));
  if (gate) kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(s->stream));
  KW_CHECK_OK(kw_graph_destroy(graph));
}

static kw_graph *end_recording(const shared *s) {
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_end(s->stream, &graph));
  return graph;
}

static void check_readers(int count, int64_t part, bool one, bool holds) {
  static shared s;
  char what[200];
  make_shared(&s, count, part, 1);
  KW_CHECK_OK(kw_graph_begin(s.stream));
  read_then_write(&s, one);
  run(&s, end_recording(&s), holds);
  for (int i = 0; i < count; i++) {
    memcpy(s.want, s.values + (one ? 0 : i * part), (size_t)part * sizeof *s.want);
    apply(s.want, part);
    snprintf(
        what, sizeof what,
        "the result of reader %d of %d of one memory, which a later call of their graph writes (the writer has to wait "
        "for each of them)",
        i + 1, count);
    kw_test_expect_f32(s.others[i], s.want, (size_t)part, what);
  }
  kw_test_floats(s.want, (size_t)count * (size_t)part, 2);
  apply(s.want, count * part);
  kw_test_expect_f32(s.whole, s.want, (size_t)count * (size_t)part,
                     "memory that a graph's call wrote when many others had read it");
  end_shared(&s);
}

static void check_writers(int count, int64_t part, bool holds) {
  static shared s;
  char what[200];
  make_shared(&s, count, part, 1);
  KW_CHECK_OK(kw_graph_begin(s.stream));
  write_then_read(&s);
  run(&s, end_recording(&s), holds);
  for (int i = 0; i < count; i++) kw_test_floats(s.want + i * part, (size_t)part, 3 + (uint64_t)i);
  for (int twice = 0; twice < 2; twice++) apply(s.want, count * part);
  snprintf(
      what, sizeof what,
      "the result of a graph's call that reads what %d calls before it have each written a part of (it has to wait for "
      "each of them)",
      count);
  kw_test_expect_f32(s.last, s.want, (size_t)count * (size_t)part, what);
  end_shared(&s);
}

/* Who writes waits for all that read, however many these are, and who reads for all that wrote a part of it. */
void kw_contract_graph_many_readers(void **state) {
  (void)state;
  enum { PART = 200, LARGE = 1 << 13, SOME = 40 };
  static const int counts[] = {2, 9, SOME, MOST};
  pair = kw_test_need_pair();
  const bool holds = (kw_device_native(kw_contract.device) & KW_NATIVE_CALL_HOST) != 0;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    check_readers(counts[i], PART, true, holds);
    check_readers(counts[i], PART, false, holds);
    check_writers(counts[i], PART, holds);
  }
  check_readers(SOME, LARGE, true, holds);
  check_writers(SOME, LARGE, holds);
}
