/* SPDX-License-Identifier: Apache-2.0
 *
 * A capture's records on a device. All streams of the capture are one here, its order being one in which everything
 * happened; only graphs are recorded on streams of their own.
 */
#include "replay_side.h"

#include "base/need.h"

#include <stdio.h>
#include <stdlib.h>

/* For what the file alone has wrong. */
static kw_status refuse(kw_replay_side *side, const char *wrong) {
  side->wrong = wrong;
  return KW_ERR_INVALID_ARGUMENT;
}

const char *kw_replay_side_reason(const kw_replay_side *side) {
  return side->wrong ? side->wrong : kw_error_message();
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

kw_status kw_replay_side_open(kw_replay_side *side, const char *device, uint64_t limit) {
  *side = (kw_replay_side){.limit = limit};
  kw_status status = kw_device_open(device, &side->device);
  if (status == KW_OK) status = kw_generator_create(side->device, 0, &side->generator);
  side->buffers = calloc((size_t)limit, sizeof *side->buffers);
  side->graphs = calloc((size_t)limit, sizeof *side->graphs);
  if (!side->buffers || !side->graphs) kw_out_of_memory();
  return status;
}

void kw_replay_side_close(kw_replay_side *side) {
  for (uint64_t i = 0; side->graphs && i < side->limit; ++i) kw_graph_destroy(side->graphs[i]);
  for (uint64_t i = 0; side->buffers && i < side->limit; ++i) kw_tensor_release(side->buffers[i].tensor);
  for (size_t i = 0; i < sizeof side->recordings / sizeof *side->recordings; ++i)
    kw_stream_destroy(side->recordings[i].stream);
  kw_generator_destroy(side->generator);
  if (side->device) kw_device_close(side->device);
  free(side->buffers);
  free(side->graphs);
  *side = (kw_replay_side){0};
}

static kw_status put_buffer(kw_replay_side *side, uint64_t number, kw_tensor *tensor, uint64_t size) {
  if (number == 0 || number >= side->limit) {
    kw_tensor_release(tensor);
    return refuse(side, "a buffer has a number that none can have");
  }
  kw_tensor_release(side->buffers[number].tensor);
  side->buffers[number] = (kw_replay_buffer){tensor, size};
  return KW_OK;
}

/* Zeros, so that what nobody has written is the same everywhere; a piece at a time. */
static kw_status write_zeros(kw_tensor *tensor, uint64_t size) {
  static const unsigned char zeros[1 << 20];
  kw_status status = KW_OK;
  for (uint64_t at = 0; at < size && status == KW_OK; at += sizeof zeros) {
    const int64_t extent = (int64_t)(size - at < sizeof zeros ? size - at : sizeof zeros), step = 1;
    kw_tensor *piece = NULL;
    status = kw_tensor_reinterpret(tensor, KW_U8, 1, &extent, &step, at, &piece);
    if (status == KW_OK) status = kw_tensor_write(piece, zeros);
    kw_tensor_release(piece);
  }
  return status;
}

static kw_status create_buffer(kw_replay_side *side, uint64_t number, uint64_t size) {
  kw_tensor *tensor = NULL;
  const int64_t extent = (int64_t)size;
  uint64_t unused, total;
  if (kw_memory_get_usage(side->device, &unused, &total) == KW_OK && size > unused)
    return refuse(side, "it wants a buffer that is larger than all memory that is free");
  kw_status status = kw_tensor_create(side->device, KW_U8, 1, &extent, &tensor);
  if (status == KW_OK) status = write_zeros(tensor, size);
  if (status == KW_OK) return put_buffer(side, number, tensor, size);
  kw_tensor_release(tensor);
  return status;
}

void kw_replay_side_drop(kw_replay_side *side, uint64_t buffer) {
  if (buffer >= side->limit) return;
  kw_tensor_release(side->buffers[buffer].tensor);
  side->buffers[buffer] = (kw_replay_buffer){0};
}

kw_status kw_replay_side_view(kw_replay_side *side, const kw_capture_place *place, kw_tensor **out_tensor) {
  *out_tensor = NULL;
  if (place->buffer >= side->limit || !side->buffers[place->buffer].tensor)
    return refuse(side, "it uses a buffer that nothing before it has made");
  return kw_tensor_reinterpret(side->buffers[place->buffer].tensor, place->dtype, place->rank, place->shape,
                               place->strides, place->offset, out_tensor);
}

bool kw_replay_side_holds(const kw_replay_side *side, const kw_capture_place *place) {
  return place->buffer < side->limit && place->size <= side->buffers[place->buffer].size;
}

kw_status kw_replay_side_read(kw_replay_side *side, const kw_capture_place *place, void *data) {
  kw_tensor *view;
  kw_status status = kw_replay_side_view(side, place, &view);
  if (status == KW_OK) status = kw_tensor_read(view, data);
  kw_tensor_release(view);
  return status;
}

kw_status kw_replay_side_write(kw_replay_side *side, const kw_capture_place *place, const void *data) {
  kw_tensor *view;
  kw_status status = kw_replay_side_view(side, place, &view);
  if (status == KW_OK) status = kw_tensor_write(view, data);
  kw_tensor_release(view);
  return status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* A call's arguments and results on this side. */
typedef struct prepared {
  kw_value args[KW_CAPTURE_ARGS];
  kw_tensor *views[KW_CAPTURE_ARGS];
  kw_tensor **lists[KW_CAPTURE_ARGS];
  kw_tensor *outs[KW_CAPTURE_OUTS];
} prepared;

static void free_prepared(prepared *p, const kw_capture_call *call) {
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    kw_tensor_release(p->views[i]);
    for (uint32_t k = 0; p->lists[i] && k < call->args[i].value.count; ++k) kw_tensor_release(p->lists[i][k]);
    free(p->lists[i]);
  }
  for (uint32_t i = 0; i < call->out_count; ++i) kw_tensor_release(p->outs[i]);
}

/* The absolute values of a tensor in its place. */
static kw_status make_absolute(kw_tensor **tensor) {
  const kw_value arg = kw_arg_tensor(*tensor);
  kw_tensor *absolute = NULL;
  kw_status status = kw_op_call(kw_op_find("abs"), NULL, &arg, 1, &absolute, 1);
  if (status != KW_OK) return status;
  kw_tensor_release(*tensor);
  *tensor = absolute;
  return KW_OK;
}

static bool is_float(kw_dtype dtype) {
  return dtype == KW_F16 || dtype == KW_BF16 || dtype == KW_F32 || dtype == KW_F64;
}

static kw_status view_argument(kw_replay_side *side, const kw_capture_place *place, bool absolute,
                               kw_tensor **out_tensor) {
  kw_status status = kw_replay_side_view(side, place, out_tensor);
  if (status == KW_OK && absolute && is_float(place->dtype)) status = make_absolute(out_tensor);
  return status;
}

static kw_status prepare_args(kw_replay_side *side, const kw_capture_call *call, bool absolute, prepared *out) {
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < call->arg_count && status == KW_OK; ++i) {
    const kw_capture_value *from = &call->args[i];
    kw_value *value = &out->args[i];
    *value = from->value;
    if (value->tag == KW_TAG_TENSOR) {
      status = view_argument(side, from->places, absolute, &out->views[i]);
      *value = kw_arg_tensor(out->views[i]);
    } else if (value->tag == KW_TAG_TENSOR_LIST) {
      out->lists[i] = calloc(value->count + 1, sizeof *out->lists[i]);
      if (!out->lists[i]) kw_out_of_memory();
      for (uint32_t k = 0; k < value->count && status == KW_OK; ++k)
        if (from->present[k]) status = view_argument(side, &from->places[k], absolute, &out->lists[i][k]);
      *value = kw_arg_tensor_list(out->lists[i], value->count);
    } else if (value->tag == KW_TAG_GENERATOR) {
      *value = kw_arg_generator(side->generator);
    }
  }
  return status;
}

/* The default one where nothing is recorded. */
static kw_stream *stream_of(const kw_replay_side *side, uint64_t token) {
  for (size_t i = 0; token != 0 && i < sizeof side->recordings / sizeof *side->recordings; ++i)
    if (side->recordings[i].token == token) return side->recordings[i].stream;
  return kw_stream_default(side->device);
}

/* Math mode, autocast and random numbers as they were. */
static kw_status set_state(kw_replay_side *side, const kw_capture_call *call) {
  kw_status status = kw_math_mode_set(call->math);
  kw_deterministic_set(call->deterministic != 0);
  if (status == KW_OK) status = kw_autocast_set(call->autocast, NULL);
  if (status == KW_OK && call->random) status = kw_generator_set_state(side->generator, &call->generator);
  if (status == KW_OK && call->random)
    status = kw_generator_set_state(kw_generator_default(side->device), &call->generator);
  return status;
}

/* By the kernel that a plan named, where the device has it. */
static kw_status run(const kw_capture_call *call, const kw_op *op, kw_stream *stream, prepared *p) {
  kw_plan *plan = NULL;
  if (call->kernel[0] != '\0' &&
      kw_plan_make(op, stream, p->args, call->arg_count, p->outs, call->out_count, call->kernel, &plan) == KW_OK) {
    kw_status status = kw_plan_run(plan, stream, p->args, call->arg_count, p->outs, call->out_count);
    kw_plan_destroy(plan);
    return status;
  }
  return kw_op_call(op, stream, p->args, call->arg_count, p->outs, call->out_count);
}

/* Results that the call has made become the capture's buffers. */
static kw_status keep_results(kw_replay_side *side, const kw_capture_call *call, prepared *p) {
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < call->out_count && status == KW_OK; ++i) {
    const kw_capture_out *out = &call->outs[i];
    if (out->how != KW_CAPTURE_OUT_MADE || !p->outs[i]) continue;
    const kw_tensor_ref *ref = kw_tensor_describe(p->outs[i]);
    bool same = ref->dtype == out->place.dtype && ref->rank == out->place.rank;
    for (uint32_t d = 0; same && d < ref->rank; ++d) same = ref->shape[d] == out->place.shape[d];
    if (!same) return refuse(side, "its result has another dtype or shape here");
    kw_tensor_retain(p->outs[i]);
    status = put_buffer(side, out->place.buffer, p->outs[i], out->size);
  }
  return status;
}

kw_status kw_replay_side_call(kw_replay_side *side, const kw_capture_call *call, bool alone) {
  const kw_op *op = kw_op_find(call->op);
  prepared p = {0};
  side->wrong = NULL;
  if (!op) return refuse(side, "there is no such op here");
  kw_status status = set_state(side, call);
  if (status == KW_OK) status = prepare_args(side, call, false, &p);
  for (uint32_t i = 0; i < call->out_count && status == KW_OK; ++i) {
    const kw_capture_out *out = &call->outs[i];
    const bool given = out->how == KW_CAPTURE_OUT_GIVEN || (alone && out->how == KW_CAPTURE_OUT_MADE);
    if (given) status = kw_replay_side_view(side, &out->place, &p.outs[i]);
  }
  if (status == KW_OK) status = run(call, op, stream_of(side, alone ? 0 : call->recording), &p);
  if (status == KW_OK && !alone) status = keep_results(side, call, &p);
  free_prepared(&p, call);
  return status;
}

kw_status kw_replay_side_make(kw_replay_side *side, const kw_capture_call *call) {
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < call->out_count && status == KW_OK; ++i)
    if (call->outs[i].how == KW_CAPTURE_OUT_MADE)
      status = create_buffer(side, call->outs[i].place.buffer, call->outs[i].size);
  return status;
}

kw_status kw_replay_side_magnitude(kw_replay_side *side, const kw_capture_call *call, const char *name, uint32_t result,
                                   kw_tensor **out_tensor) {
  const kw_op *op = kw_op_find(name);
  prepared p = {0};
  *out_tensor = NULL;
  if (!op || result >= call->out_count) return KW_ERR_NOT_FOUND;
  kw_status status = prepare_args(side, call, true, &p);
  if (status == KW_OK) status = kw_op_call(op, stream_of(side, 0), p.args, call->arg_count, p.outs, call->out_count);
  if (status == KW_OK && p.outs[result]) {
    *out_tensor = p.outs[result];
    p.outs[result] = NULL;
  }
  free_prepared(&p, call);
  return status == KW_OK && !*out_tensor ? KW_ERR_NOT_FOUND : status;
}

/* ---- Other records ----------------------------------------------------------------------------------------------- */

static kw_status begin_recording(kw_replay_side *side, uint64_t token) {
  for (size_t i = 0; token != 0 && i < sizeof side->recordings / sizeof *side->recordings; ++i) {
    kw_replay_recording *recording = &side->recordings[i];
    if (recording->token != 0) continue;
    kw_status status = recording->stream ? KW_OK : kw_stream_create(side->device, &recording->stream);
    if (status == KW_OK) status = kw_graph_begin(recording->stream);
    if (status == KW_OK) recording->token = token;
    return status;
  }
  return refuse(side, "more than eight graphs are recorded at a time");
}

static kw_status end_recording(kw_replay_side *side, const kw_capture_entry *entry) {
  for (size_t i = 0; i < sizeof side->recordings / sizeof *side->recordings; ++i) {
    kw_replay_recording *recording = &side->recordings[i];
    if (recording->token != entry->stream || entry->stream == 0) continue;
    recording->token = 0;
    if (entry->number == 0) return kw_graph_end(recording->stream, NULL);
    if (entry->number >= side->limit || side->graphs[entry->number]) break;
    return kw_graph_end(recording->stream, &side->graphs[entry->number]);
  }
  return refuse(side, "a graph ends that was not begun");
}

static kw_status copy(kw_replay_side *side, const kw_capture_entry *entry) {
  if (!kw_replay_side_holds(side, &entry->place)) return refuse(side, "it copies more than there is");
  void *data = malloc(entry->place.size > 0 ? (size_t)entry->place.size : 1);
  if (!data) kw_out_of_memory();
  kw_status status = kw_replay_side_read(side, &entry->from, data);
  if (status == KW_OK) status = kw_replay_side_write(side, &entry->place, data);
  free(data);
  return status;
}

static kw_status set_constant(kw_replay_side *side, const kw_capture_entry *entry) {
  kw_tensor *view;
  kw_status status = kw_replay_side_view(side, &entry->place, &view);
  if (status == KW_OK) status = kw_tensor_set_constant(view, entry->on != 0);
  kw_tensor_release(view);
  return status;
}

kw_status kw_replay_side_run(kw_replay_side *side, const kw_capture_entry *entry) {
  static const char no_graph[] = "there is no graph of that number";
  kw_status status;
  switch (entry->type) {
    case KW_CAPTURE_BUFFER:
      return create_buffer(side, entry->number, entry->size);
    case KW_CAPTURE_WRITE:
      return kw_replay_side_write(side, &entry->place, entry->data);
    case KW_CAPTURE_COPY:
      return copy(side, entry);
    case KW_CAPTURE_CONSTANT:
      return set_constant(side, entry);
    case KW_CAPTURE_BEGIN:
      return begin_recording(side, entry->stream);
    case KW_CAPTURE_GRAPH:
      return end_recording(side, entry);
    case KW_CAPTURE_LAUNCH:
      if (entry->number >= side->limit || !side->graphs[entry->number]) return refuse(side, no_graph);
      return kw_graph_launch(side->graphs[entry->number], NULL);
    case KW_CAPTURE_DESTROY:
      if (entry->number >= side->limit) return refuse(side, no_graph);
      status = kw_graph_destroy(side->graphs[entry->number]);
      side->graphs[entry->number] = NULL;
      return status;
    default:
      return KW_OK;
  }
}
