/* SPDX-License-Identifier: Apache-2.0
 *
 * The other end of the pipe: loads the plugin whose file it is told, and calls it as the messages say, until the
 * process that started it ends. For tests only.
 */
#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kw_query_fn real_query;
static const kw_plugin_desc *real;

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* real_GROUP_NAME: the plugin's slot, or NULL. */
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status(*real_##group##_##name) parameters;
#include "slots.def"

#define ANSWER_SLOT(name, parameters, arguments) PIPE_ANSWER(name, parameters, arguments, , real_##name arguments)
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  PIPE_UNLESS_BY_HAND(ANSWER_SLOT, group, name, parameters, arguments)
#include "slots.def"

PIPE_HOST_CALLS(PIPE_CALLER)

static void answer_memory_fill(parcel *in, parcel *out) {
  void *device = NULL, *stream = NULL;
  kw_mem mem = NULL;
  uint64_t offset = 0, size = 0;
  uint32_t pattern_size = 0;
  carry_token(in, &device);
  carry_token(in, &stream);
  carry_token(in, &mem);
  CARRY(in, offset);
  CARRY(in, size);
  CARRY(in, pattern_size);
  const void *pattern = parcel_bytes(in, pattern_size);
  kw_status status = KW_ERR_INTERNAL;
  if (!in->bad) status = real_memory_fill(device, stream, mem, offset, size, pattern, pattern_size);
  CARRY(out, status);
}

static void answer_activity_drain(parcel *in, parcel *out) {
  void *device = NULL;
  uint32_t record_size = 0, capacity = 0, count = 0;
  uint64_t dropped = 0;
  carry_token(in, &device);
  CARRY(in, record_size);
  CARRY(in, capacity);
  void *records = parcel_room(in, (size_t)record_size * capacity);
  kw_status status = KW_ERR_INTERNAL;
  if (!in->bad) status = real_activity_drain(device, records, record_size, capacity, &count, &dropped);
  CARRY(out, status);
  CARRY(out, count);
  CARRY(out, dropped);
  if (status == KW_OK && count <= capacity) parcel_carry(out, records, (size_t)count * record_size);
}

/* ---- Functions in streams ---------------------------------------------------------------------------------------- */

/* What a token in one of the plugin's streams stands for. A copy from the host's memory reads it when the stream gets
 * there, and one to the host's memory writes then: neither before, as work of the stream may come first, nor later. */
typedef enum step_kind { STEP_CALLBACK, STEP_FETCH, STEP_STORE, STEP_FREE } step_kind;
typedef struct step {
  step_kind kind;
  uint64_t token; /* of the host's function */
  void *host;     /* of the host's memory */
  void *bytes;
  uint64_t size;
} step;

static kw_status take_step(void *ctx, step *s) {
  kw_status status = KW_OK;
  parcel request = {0}, reply = {0};
  if (s->kind == STEP_CALLBACK) status = call_run_callback(ctx, s->token);
  if (s->kind == STEP_FETCH || s->kind == STEP_STORE) {
    carry_token(&request, &s->host);
    CARRY(&request, s->size);
    if (s->kind == STEP_STORE) parcel_carry(&request, s->bytes, s->size);
    bool answered = pipe_call(s->kind == STEP_STORE ? CALL_store : CALL_fetch, &request, &reply);
    if (answered && s->kind == STEP_FETCH) parcel_carry(&reply, s->bytes, s->size);
  }
  if (s->kind == STEP_STORE || s->kind == STEP_FREE) free(s->bytes);
  free(s);
  parcel_end(&request);
  parcel_end(&reply);
  return status;
}

static kw_status run_callback(void *ctx, uint64_t token) {
  return take_step(ctx, (step *)(uintptr_t)token); /* NOLINT(performance-no-int-to-ptr) */
}

/* Puts a step into the stream; a plugin without functions in streams waits for it. On failure it has not happened. */
static kw_status enqueue_step(void *device, void *stream, step fields) {
  step *s = malloc(sizeof *s);
  if (!s) return KW_ERR_OUT_OF_MEMORY;
  *s = fields;
  if (!real_stream_call_host) {
    kw_status status = real_stream_synchronize(device, stream, KW_WAIT_FOREVER);
    if (status != KW_OK) {
      free(s);
      return status;
    }
    return take_step(NULL, s);
  }
  kw_status status = real_stream_call_host(device, stream, (uint64_t)(uintptr_t)s);
  if (status != KW_OK) free(s);
  return status;
}

static void answer_stream_call_host(parcel *in, parcel *out) {
  void *device = NULL, *stream = NULL;
  step fields = {.kind = STEP_CALLBACK};
  carry_token(in, &device);
  carry_token(in, &stream);
  CARRY(in, fields.token);
  kw_status status = in->bad ? KW_ERR_INTERNAL : enqueue_step(device, stream, fields);
  CARRY(out, status);
}

static kw_status copy_staged(void *device, void *stream, const kw_copy_info *given) {
  kw_copy_info copy = *given;
  void *bytes = malloc(copy.size);
  if (!bytes) return KW_ERR_OUT_OF_MEMORY;
  step last = {.kind = STEP_FREE, .bytes = bytes};
  kw_status status = KW_OK;
  if (copy.kind == KW_COPY_HOST_TO_DEVICE) {
    const step fetch = {
        .kind = STEP_FETCH, .host = (void *)(uintptr_t)copy.src_host, .bytes = bytes, .size = copy.size};
    status = enqueue_step(device, stream, fetch);
    copy.src_host = bytes;
  } else {
    last = (step){.kind = STEP_STORE, .host = copy.dst_host, .bytes = bytes, .size = copy.size};
    copy.dst_host = bytes;
  }
  if (status == KW_OK) status = real_memory_copy(device, stream, &copy);
  if (status == KW_OK) status = enqueue_step(device, stream, last);
  if (status == KW_OK) return status;
  real_stream_synchronize(device, stream, KW_WAIT_FOREVER); /* what was enqueued above still uses it */
  free(bytes);
  return status;
}

static void answer_memory_copy(parcel *in, parcel *out) {
  void *device = NULL, *stream = NULL;
  const kw_copy_info *copy = NULL;
  carry_token(in, &device);
  carry_token(in, &stream);
  carry_copy_info(in, &copy);
  kw_status status = KW_ERR_INTERNAL;
  if (!in->bad && copy) {
    status = copy->kind == KW_COPY_DEVICE_TO_DEVICE ? real_memory_copy(device, stream, copy)
                                                    : copy_staged(device, stream, copy);
  }
  CARRY(out, status);
}

/* ---- Kernels and ops --------------------------------------------------------------------------------------------- */

/* On the other side `user` of a kernel or op is the address of its descriptor here, kept until this process ends. */

static const kw_kernel_desc *kernel_of(const kw_call *call) {
  const kw_kernel_desc *kernel = call->user;
  ((kw_call *)(uintptr_t)call)->user = kernel->user;
  return kernel;
}

#define ANSWER_KERNEL(name, parameters, arguments) \
  PIPE_ANSWER(name, parameters, arguments, const kw_kernel_desc *kernel = kernel_of(call), kernel->name arguments)
ANSWER_KERNEL(can_implement, (const kw_call *call), (call))
ANSWER_KERNEL(workspace_size, (const kw_call *call, uint64_t *out_size), (call, out_size))
ANSWER_KERNEL(prepare, (const kw_call *call, void **out_prepared), (call, out_prepared))
ANSWER_KERNEL(launch, (const kw_call *call), (call))
PIPE_ANSWER(release, (void *user, void *prepared), (user, prepared), const kw_kernel_desc *kernel = user;
            user = kernel->user, kernel->release(user, prepared))

static kw_status register_kernel(void *ctx, const kw_kernel_desc *desc) {
  parcel in = {0}, out;
  kw_kernel_desc *kept = malloc(sizeof *kept), sent = *desc;
  if (!kept) return KW_ERR_OUT_OF_MEMORY;
  *kept = *desc;
  sent.user = kept;
  carry_token(&in, &ctx);
  carry_kernel_desc(&in, &sent);
  kw_status status = end_call(&in, &out, pipe_finish(CALL_register_kernel, &in, &out));
  if (status != KW_OK) free(kept);
  return status;
}

static kw_status define_op(void *ctx, const kw_op_desc *desc) {
  parcel in = {0}, out;
  kw_op_desc *kept = malloc(sizeof *kept), sent = *desc;
  if (!kept) return KW_ERR_OUT_OF_MEMORY;
  *kept = *desc;
  sent.user = kept;
  carry_token(&in, &ctx);
  carry_op_desc(&in, &sent);
  kw_status status = end_call(&in, &out, pipe_finish(CALL_define_op, &in, &out));
  if (status != KW_OK) free(kept);
  return status;
}

static void answer_infer(parcel *in, parcel *out) {
  void *user = NULL;
  uint32_t arg_count = 0, out_count = 0;
  const kw_value *args = NULL;
  carry_token(in, &user);
  CARRY(in, arg_count);
  carry_values(in, &args, arg_count);
  CARRY(in, out_count);
  kw_tensor_ref *outs = parcel_room(in, out_count * sizeof *outs), **list = parcel_room(in, out_count * sizeof *list);
  kw_status status = KW_ERR_INTERNAL;
  if (!in->bad) {
    for (uint32_t i = 0; i < out_count; i++) {
      outs[i].struct_size = sizeof outs[i];
      list[i] = &outs[i];
    }
    const kw_op_desc *op = user;
    status = op->infer(op->user, args, arg_count, list, out_count);
  }
  CARRY(out, status);
  for (uint32_t i = 0; i < out_count && status == KW_OK; i++) {
    CARRY(out, outs[i].dtype);
    CARRY(out, outs[i].rank);
    CARRY(out, outs[i].shape);
  }
}

/* Where a tensor is on the other side: two at one place are one. */
typedef struct place {
  kw_mem mem;
  uint64_t offset;
} place;

/* A tensor of a reference's call, whose bytes follow, gets memory here; one that is a result as well gets that one's.
 */
static void take_memory(parcel *in, const kw_tensor_ref *given, const kw_call *call, const place *results) {
  kw_tensor_ref *tensor = (kw_tensor_ref *)(uintptr_t)given;
  if (!tensor) return;
  const uint64_t span = carry_tensor_span(tensor);
  void *room = parcel_room(in, span);
  if (room) parcel_carry(in, room, span);
  for (uint32_t o = 0; o < call->out_count; o++) {
    const bool is_result = call->outs[o] && call->outs[o] != tensor && results[o].mem == tensor->mem &&
                           results[o].offset == tensor->offset;
    if (is_result) room = call->outs[o]->mem;
  }
  tensor->mem = room;
  tensor->offset = 0;
}

static void answer_reference(parcel *in, parcel *out) {
  kw_call *call = NULL;
  carry_call(in, &call);
  place *results = call ? parcel_room(in, (call->out_count + 1) * sizeof *results) : NULL;
  kw_status status = KW_ERR_INTERNAL;
  if (results) {
    for (uint32_t o = 0; o < call->out_count; o++) {
      if (call->outs[o]) results[o] = (place){call->outs[o]->mem, call->outs[o]->offset};
    }
    for (uint32_t o = 0; o < call->out_count; o++) take_memory(in, call->outs[o], call, results);
    for (uint32_t i = 0; i < call->arg_count; i++) {
      const kw_value *value = &call->args[i];
      if (value->tag == KW_TAG_TENSOR) take_memory(in, value->u.tensor, call, results);
      for (uint32_t k = 0; value->tag == KW_TAG_TENSOR_LIST && k < value->count; k++)
        take_memory(in, value->u.tensors[k], call, results);
    }
  }
  if (results && !in->bad) {
    const kw_op_desc *op = call->user;
    call->user = op->user;
    status = op->reference(call);
  }
  CARRY(out, status);
  if (status == KW_OK) carry_memories(out, call);
}

/* ---- The host, as the plugin sees it ----------------------------------------------------------------------------- */

static kw_status parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  (void)ctx;
  (void)grain;
  if (n > 0) body(user, 0, n);
  return KW_OK;
}

static kw_status thread_count(void *ctx, uint32_t *out_count) {
  (void)ctx;
  *out_count = 1;
  return KW_OK;
}

static kw_status host_alloc(void *ctx, uint64_t size, uint64_t alignment, void **out_pointer) {
  if (size == 0) return call_set_error(ctx, KW_ERR_INVALID_ARGUMENT, "host_alloc: size is 0");
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  return posix_memalign(out_pointer, alignment, size) == 0 ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status host_free(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
  return KW_OK;
}

PIPE_ANSWER(probe, (const char **out_reason), (out_reason), , real->probe(out_reason))
PIPE_ANSWER(shutdown, (void *plugin), (plugin), , real->shutdown(plugin))

static void answer_init(parcel *in, parcel *out) {
  void *ctx = NULL, *plugin = NULL;
  uint32_t version = 0;
  const kw_init_info *info = NULL;
  carry_token(in, &ctx);
  CARRY(in, version);
  carry_init_info(in, &info);
  kw_host_api *host = malloc(sizeof *host); /* the table lives until the process ends */
  kw_status status = KW_ERR_OUT_OF_MEMORY;
  if (host && !in->bad) {
    *host = (kw_host_api){.struct_size = sizeof *host,
                          .abi_version = version,
                          .ctx = ctx,
                          .set_error = call_set_error,
                          .log = call_log,
                          .register_kernel = register_kernel,
                          .define_op = define_op,
                          .report_async_error = call_report_async_error,
                          .run_callback = run_callback,
                          .parallel_for = parallel_for,
                          .thread_count = thread_count,
                          .host_alloc = host_alloc,
                          .host_free = host_free,
                          .report_build = call_report_build,
                          .devices_changed = call_devices_changed};
    status = real->init(host, info, &plugin);
  }
  CARRY(out, status);
  if (status == KW_OK) carry_token(out, &plugin);
}

/* ---- What the plugin is ------------------------------------------------------------------------------------------ */

static const void *find_group(const char *name) {
  for (uint32_t i = 0; i < real->group_count; i++)
    if (strcmp(real->groups[i].name, name) == 0) return real->groups[i].table;
  return NULL;
}

/* Whether a group, and each of its slots, is there. A group whose slots are all left out is not. */
static void put_tables(parcel *out) {
  uint8_t there = 0;
#define KW_SLOT_GROUP(group, NAME, required, native, text)             \
  const kw_##group##_api *group##_table = find_group(KW_GROUP_##NAME); \
  there = group##_table != NULL;                                       \
  CARRY(out, there);
#define KW_SLOT(group, name, since, required, parameters, arguments)                                   \
  if (group##_table && KW_HAS_FIELD(group##_table, name)) real_##group##_##name = group##_table->name; \
  there = real_##group##_##name != NULL;                                                               \
  CARRY(out, there);
#include "slots.def"
}

static void put_description(parcel *out) {
  uint32_t version = real->abi_version, option_count = real->option_count;
  const char *texts[] = {real->key, real->vendor, real->version, real->description, real->build, real->sanitizer};
  CARRY(out, version);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) carry_text(out, &texts[i]);
  CARRY(out, option_count);
  for (uint32_t i = 0; i < option_count; i++) {
    kw_option_desc option = *real->options[i];
    CARRY(out, option.place);
    carry_text(out, (void *)&option.key);
    carry_text(out, (void *)&option.value);
    carry_text(out, (void *)&option.text);
  }
  put_tables(out);
}

static void answer_query(parcel *in, parcel *out) {
  kw_query_info host = {.struct_size = sizeof host};
  const char *reason = NULL, **reason_place = &reason;
  CARRY(in, host.abi_min);
  CARRY(in, host.abi_max);
  carry_text(in, (void *)&host.host_version);
  carry_chain(in, (void *)&host.next);
  kw_status status = real_query(&host, &real, &reason);
  CARRY(out, status);
  if (status == KW_OK) {
    put_description(out);
  } else {
    carry_out_text(out, &reason_place);
  }
}

static void answer(uint32_t what, parcel *in, parcel *out) {
  switch (what) {
#define CASE(name, parameters, arguments) \
  case CALL_##name:                       \
    answer_##name(in, out);               \
    break;
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  PIPE_UNLESS_BY_HAND(CASE, group, name, parameters, arguments)
#include "slots.def"
    PIPE_PLUGIN_CALLS(CASE)
    CASE(memory_copy, , )
    CASE(memory_fill, , )
    CASE(stream_call_host, , )
    CASE(activity_drain, , )
    CASE(query, , )
    CASE(init, , )
    CASE(infer, , )
    CASE(reference, , )
    default:
      break;
  }
}

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library) *(void **)&real_query = dlsym(library, KW_QUERY_SYMBOL);
  if (!real_query) {
    fprintf(stderr, "pipe_server: %s\n", argc == 2 ? dlerror() : "usage: pipe_server PLUGIN");
    return 2;
  }
  carry_in_child = true;
  pipe_start(CONTROL_FD, answer);
  pipe_listen();
  _exit(0); /* the process that the plugin served is gone, and its threads may be anywhere */
}
