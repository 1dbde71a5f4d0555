/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls through the pipe, made from lists of signatures: slots.def, and below what plugin.h has besides. What carries a
 * parameter follows from its type alone; a slot whose types do not tell is carried by hand (PIPE_BY_HAND).
 */
#ifndef KEYWAY_TESTS_PIPE_CALLS_H
#define KEYWAY_TESTS_PIPE_CALLS_H

#include "carry.h"

/* ---- Macros over the arguments of a signature -------------------------------------------------------------------- */

#define PIPE_PICK(a1, a2, a3, a4, a5, a6, a7, chosen, ...) chosen
#define PIPE_COUNTED(F, ...)                                                                                           \
  PIPE_PICK(__VA_ARGS__, PIPE_EACH_7, PIPE_EACH_6, PIPE_EACH_5, PIPE_EACH_4, PIPE_EACH_3, PIPE_EACH_2, PIPE_EACH_1, ~) \
  (F, __VA_ARGS__)
#define PIPE_EACH_1(F, a) F(a)
#define PIPE_EACH_2(F, a, ...) F(a) PIPE_EACH_1(F, __VA_ARGS__)
#define PIPE_EACH_3(F, a, ...) F(a) PIPE_EACH_2(F, __VA_ARGS__)
#define PIPE_EACH_4(F, a, ...) F(a) PIPE_EACH_3(F, __VA_ARGS__)
#define PIPE_EACH_5(F, a, ...) F(a) PIPE_EACH_4(F, __VA_ARGS__)
#define PIPE_EACH_6(F, a, ...) F(a) PIPE_EACH_5(F, __VA_ARGS__)
#define PIPE_EACH_7(F, a, ...) F(a) PIPE_EACH_6(F, __VA_ARGS__)
#define PIPE_BARE(...) __VA_ARGS__
#define PIPE_EACH(F, arguments) PIPE_COUNTED(F, PIPE_BARE arguments)

#define PIPE_CARRY_IN(x) CARRY_IN_WAY(x)(in, (void *)(uintptr_t) & (x));
#define PIPE_CARRY_OUT(x) CARRY_OUT_WAY(x)(out, (void *)(uintptr_t) & (x));
#define PIPE_ZERO(x) , 0

/* ---- What is carried by hand ------------------------------------------------------------------------------------- */

#define PIPE_BY_HAND_memory_copy ~, PIPE_NOTHING /* its host end outlives the call */
#define PIPE_BY_HAND_memory_fill ~, PIPE_NOTHING /* bytes whose number is another parameter */
#define PIPE_BY_HAND_memory_alloc_host \
  ~, PIPE_NOTHING /* these four give or take pointers into this process, and are not there */
#define PIPE_BY_HAND_memory_free_host ~, PIPE_NOTHING
#define PIPE_BY_HAND_memory_map ~, PIPE_NOTHING
#define PIPE_BY_HAND_memory_unmap ~, PIPE_NOTHING
#define PIPE_BY_HAND_stream_call_host \
  ~, PIPE_NOTHING /* the child has functions of its own in the streams, which end copies */
#define PIPE_BY_HAND_interop_native_handle ~, PIPE_NOTHING /* a name in the child's runtime; not there */
#define PIPE_BY_HAND_activity_drain ~, PIPE_NOTHING        /* bytes whose number is a product of parameters */

/* For a slot that follows from its types F(GROUP_NAME, parameters, arguments), for others nothing. */
#define PIPE_UNLESS_BY_HAND(F, group, name, parameters, arguments) \
  PIPE_SECOND(PIPE_BY_HAND_##group##_##name, PIPE_MAKE, ~)(F, group##_##name, parameters, arguments)
#define PIPE_SECOND(...) PIPE_SECOND_OF(__VA_ARGS__)
#define PIPE_SECOND_OF(a, b, ...) b
#define PIPE_NOTHING(...)
#define PIPE_MAKE(F, name, parameters, arguments) F(name, parameters, arguments)

/* ---- What plugin.h has besides slots ----------------------------------------------------------------------------- */

#define PIPE_PLUGIN_CALLS(F)                                                     \
  F(probe, (const char **out_reason), (out_reason))                              \
  F(shutdown, (void *plugin), (plugin))                                          \
  F(can_implement, (const kw_call *call), (call))                                \
  F(workspace_size, (const kw_call *call, uint64_t *out_size), (call, out_size)) \
  F(prepare, (const kw_call *call, void **out_prepared), (call, out_prepared))   \
  F(launch, (const kw_call *call), (call))                                       \
  F(release, (void *user, void *prepared), (user, prepared))

/* The host's services that the plugin's side calls. */
#define PIPE_HOST_CALLS(F)                                                                                           \
  F(set_error, (void *ctx, kw_status status, const char *message), (ctx, status, message))                           \
  F(log, (void *ctx, kw_log_level level, const char *message), (ctx, level, message))                                \
  F(report_async_error, (void *ctx, uint64_t stream_token, uint64_t call_id, kw_status status, const char *message), \
    (ctx, stream_token, call_id, status, message))                                                                   \
  F(run_callback, (void *ctx, uint64_t callback_token), (ctx, callback_token))                                       \
  F(report_build, (void *ctx, void *device, const char *module, uint64_t ns, bool cached),                           \
    (ctx, device, module, ns, cached))                                                                               \
  F(devices_changed, (void *ctx), (ctx))

/* ---- Numbers of calls -------------------------------------------------------------------------------------------- */

enum {
#define KW_SLOT(group, name, since, required, parameters, arguments) CALL_##group##_##name,
#include "slots.def"
#define PIPE_NUMBER(name, parameters, arguments) CALL_##name,
  PIPE_PLUGIN_CALLS(PIPE_NUMBER) PIPE_HOST_CALLS(PIPE_NUMBER)
#undef PIPE_NUMBER
      CALL_query,
  CALL_init,
  CALL_infer,
  CALL_reference,
  CALL_register_kernel,
  CALL_define_op,
  CALL_fetch, /* bytes of the host's memory, for a copy from there */
  CALL_store  /* bytes for the host's memory */
};

/* ---- Both ends of a call ----------------------------------------------------------------------------------------- */

/* Sends the request and takes the status of the answer. */
static inline kw_status pipe_finish(uint32_t what, parcel *in, parcel *out) {
  kw_status status = KW_ERR_DEVICE_LOST;
  *out = (parcel){.taking = true};
  if (in->unknown) {
    status = KW_ERR_NOT_IMPLEMENTED;
  } else if (in->bad) {
    status = KW_ERR_OUT_OF_MEMORY;
  } else if (pipe_call(what, in, out)) {
    CARRY(out, status);
    out->failed = status != KW_OK;
    return status;
  }
  out->failed = out->bad = true;
  return status;
}

/* The status of a call whose answer has been taken; an answer that was too short is a lost device. */
static inline kw_status end_call(parcel *in, parcel *out, kw_status status) {
  if (out->bad && status == KW_OK) status = KW_ERR_DEVICE_LOST;
  parcel_end(in);
  parcel_end(out);
  return status;
}

/* call_NAME: the signature itself, answered by the other process. */
#define PIPE_CALLER(name, parameters, arguments)                \
  static kw_status call_##name parameters {                     \
    parcel request = {0}, reply, *in = &request, *out = &reply; \
    PIPE_EACH(PIPE_CARRY_IN, arguments)                         \
    kw_status pipe_status = pipe_finish(CALL_##name, in, out);  \
    PIPE_EACH(PIPE_CARRY_OUT, arguments)                        \
    return end_call(in, out, pipe_status);                      \
  }

/* answer_NAME: takes the parameters, evaluates `result`, puts what it gave. */
#define PIPE_WITH_PARCELS(...) (parcel * in, parcel * out, __VA_ARGS__)
#define PIPE_ANSWER(name, parameters, arguments, prologue, result) \
  static void answer_with_##name PIPE_WITH_PARCELS parameters {    \
    PIPE_EACH(PIPE_CARRY_IN, arguments)                            \
    kw_status pipe_status = KW_ERR_INTERNAL;                       \
    if (!in->bad) {                                                \
      prologue;                                                    \
      pipe_status = (result);                                      \
    }                                                              \
    CARRY(out, pipe_status);                                       \
    out->failed = pipe_status != KW_OK;                            \
    PIPE_EACH(PIPE_CARRY_OUT, arguments)                           \
  }                                                                \
  static void answer_##name(parcel *in, parcel *out) {             \
    answer_with_##name(in, out PIPE_EACH(PIPE_ZERO, arguments));   \
  }

#endif /* KEYWAY_TESTS_PIPE_CALLS_H */
