/* SPDX-License-Identifier: Apache-2.0
 *
 * Packed forms: which a plan's kernel has, and those of one call.
 */
#include "call/packs.h"

#include "base/error.h"
#include "device/constant.h"
#include "device/late_error.h"
#include "device/wait.h"

kw_status kw_packs_plan(kw_plan *plan, const kw_kernel *kernel, uint32_t cast, const kw_call *call) {
  plan->packs = 0;
  for (uint32_t i = 0; kernel->desc.packable >> i; ++i) {
    if (!(kernel->desc.packable & plan->tensor_args & ~cast) >> i & 1) continue;
    kw_plan_pack *pack = &plan->pack[i];
    kw_status status = kernel->desc.packed_size(call, i, &pack->size, &pack->format);
    if (status != KW_OK) return status;
    if (pack->size > 0) plan->packs |= 1u << i;
  }
  return KW_OK;
}

/* *out_failed: work of the stream has failed since it was enqueued, perhaps the packing, and there is no packed form.
 * Nor is there one without memory, and that is all. */
static kw_status make(const kw_plan *plan, uint32_t arg, kw_stream *stream, kw_call *call, kw_buffer **out_packed,
                      bool *out_failed) {
  static const char function[] = "packing a constant";
  const uint64_t errors = atomic_load(&stream->late_errors);
  kw_buffer *packed = NULL;
  if (kw_buffer_create(stream, plan->pack[arg].size, &packed) != KW_OK) return KW_OK;
  call->stream = stream->handle;
  call->call_id = kw_call_id_make(plan->op->id, 0);
  kw_status status = plan->kernel->desc.pack(call, arg, packed->mem, packed->offset);
  if (status == KW_OK) { /* other streams use it as well */
    status = kw_stream_let_pass(function, stream);
  } else {
    status = kw_device_mark_if_lost(
        stream->device, kw_from_plugin(kw_plugin_status(stream->device->plugin, status), "%s: argument '%s' of %s",
                                       function, plan->op->schema.args[arg].name, plan->op->schema.name));
  }
  *out_failed = atomic_load(&stream->late_status) != KW_OK || atomic_load(&stream->late_errors) != errors;
  if (status == KW_ERR_TIMEOUT) { /* the call goes on without: it waits for nothing */
    *out_failed = true;
    status = KW_OK;
  }
  if (status == KW_OK && !*out_failed) {
    *out_packed = packed;
  } else {
    kw_buffer_release(packed);
  }
  return status;
}

/* Of a spell: another thread may end it any time. */
static kw_status find_or_make(const kw_plan *plan, uint32_t arg, const kw_buffer *buffer, uint64_t spell,
                              kw_stream *stream, kw_call *call, kw_buffer **out_packed) {
  const kw_tensor_ref *ref = call->args[arg].u.tensor;
  const kw_pack_key key = {.kernel = plan->kernel,
                           .arg = arg,
                           .format = plan->pack[arg].format,
                           .size = plan->pack[arg].size,
                           .offset = ref->offset,
                           .fingerprint = kw_fingerprint_of(buffer->device->fingerprint_seed, ref, false)};
  bool known = false;
  *out_packed = kw_packed_find(spell, &key, &known);
  if (known || kw_stream_in_callback()) return KW_OK;
  bool failed = false;
  kw_status status = make(plan, arg, stream, call, out_packed, &failed);
  if (status == KW_OK && !failed) kw_buffer_keep_packed(buffer, spell, &key, *out_packed);
  return status;
}

kw_status kw_packs_obtain(kw_packs *packs, const kw_plan *plan, const kw_request *request, kw_stream *stream,
                          kw_call *call) {
  packs->count = 0;
  memset(packs->by_arg, 0, sizeof packs->by_arg);
  for (uint32_t i = 0; plan->packs >> i; ++i) {
    if (!(plan->packs >> i & 1) || i >= request->arg_count) continue;
    const kw_buffer *buffer = kw_value_as_tensor(&request->args[i])->buffer;
    const uint64_t spell = kw_buffer_constant_spell(buffer);
    if (spell == 0) continue;
    kw_buffer *packed = NULL;
    kw_status status = find_or_make(plan, i, buffer, spell, stream, call, &packed);
    if (status != KW_OK) return status;
    if (!packed) continue;
    kw_buffer_use(packed, stream);
    kw_packed *form = &packs->forms[packs->count];
    *form = (kw_packed){.struct_size = sizeof *form,
                        .mem = packed->mem,
                        .offset = packed->offset,
                        .size = plan->pack[i].size,
                        .format = plan->pack[i].format};
    packs->by_arg[i] = form;
    packs->held[packs->count++] = packed;
  }
  return KW_OK;
}

void kw_packs_release(kw_packs *packs) {
  for (uint32_t i = 0; i < packs->count; ++i) kw_buffer_release(packs->held[i]);
}
