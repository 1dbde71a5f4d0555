/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels and ops of an isolated plugin: what core has registered sends its calls to the plugin's process.
 */
#include "base/error.h"
#include "isolate/proxy.h"
#include "isolate/reference.h"

#include "isolate/wire/call_codec.h"

#include <stdio.h>
#include <stdlib.h>

/* What prepare made, there. */
typedef struct prepared {
  kw_link *link;
  uint64_t handle;
} prepared;

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static kw_status lost_state(const kw_target *device) {
  kw_proxy_explain(device->proxy, KW_ERR_DEVICE_LOST, "what was prepared for the call went with the plugin's process");
  return KW_ERR_DEVICE_LOST;
}

/* An exchange with the kernel's number and the call, for the rest to be written. */
static kw_status begin_call(kw_exchange *x, const kw_call *call, kw_wire_code code, const char *what) {
  const kw_remote *kernel = call->user;
  const kw_target *device = call->device;
  const prepared *state = call->prepared;
  if (state != NULL && state->link != device->link) return lost_state(device);
  kw_status status = kw_exchange_begin(x, device->link, code, KW_PACE_WORK, what);
  if (status != KW_OK) return status;
  kw_put_u64(&x->out, kernel->number);
  kw_put_call(&x->out, call, device->handle, state != NULL ? state->handle : 0);
  return KW_OK;
}

static kw_status can_implement(const kw_call *call) {
  kw_exchange x;
  const kw_status status = begin_call(&x, call, KW_CODE_CAN_IMPLEMENT, "can_implement");
  return status == KW_OK ? kw_exchange_end(&x, kw_exchange_run(&x)) : status;
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  kw_exchange x;
  kw_status status = begin_call(&x, call, KW_CODE_WORKSPACE_SIZE, "workspace_size");
  if (status != KW_OK) return status;
  status = kw_exchange_run(&x);
  if (status == KW_OK) *out_size = kw_take_u64(&x.in);
  return kw_exchange_end(&x, status);
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  const kw_target *device = call->device;
  kw_exchange x;
  prepared *state = malloc(sizeof *state);
  if (state == NULL) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = begin_call(&x, call, KW_CODE_PREPARE, "prepare");
  if (status == KW_OK) {
    status = kw_exchange_run(&x);
    *state = (prepared){device->link, status == KW_OK ? kw_take_u64(&x.in) : 0};
    status = kw_exchange_end(&x, status);
  }
  if (status != KW_OK || state->handle == 0) {
    free(state);
    return status;
  }
  kw_link_ref(state->link);
  *out_prepared = state;
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  kw_exchange x;
  const kw_status status = begin_call(&x, call, KW_CODE_LAUNCH, call->op);
  return status == KW_OK ? kw_exchange_end(&x, kw_exchange_run(&x)) : status;
}

static kw_status release(void *user, void *what) {
  const kw_remote *kernel = user;
  prepared *state = what;
  kw_exchange x;
  kw_status status = KW_OK; /* what went with its process needs no release */
  if (!kw_link_is_dead(state->link)) {
    status = kw_exchange_begin(&x, state->link, KW_CODE_RELEASE, KW_PACE_WORK, "release");
    if (status == KW_OK) {
      kw_put_u64(&x.out, kernel->number);
      kw_put_u64(&x.out, state->handle);
      status = kw_exchange_end(&x, kw_exchange_run(&x));
    }
  }
  kw_link_unref(state->link);
  free(state);
  return status;
}

static kw_status packed_size(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format) {
  kw_exchange x;
  kw_status status = begin_call(&x, call, KW_CODE_PACKED_SIZE, "packed_size");
  if (status != KW_OK) return status;
  kw_put_u64(&x.out, arg);
  status = kw_exchange_run(&x);
  if (status == KW_OK) {
    *out_size = kw_take_u64(&x.in);
    *out_format = kw_take_u64(&x.in);
  }
  return kw_exchange_end(&x, status);
}

static kw_status pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  kw_exchange x;
  kw_status status = begin_call(&x, call, KW_CODE_PACK, "pack");
  if (status != KW_OK) return status;
  kw_put_u64(&x.out, arg);
  kw_put_u64(&x.out, (uintptr_t)mem);
  kw_put_u64(&x.out, offset);
  return kw_exchange_end(&x, kw_exchange_run(&x));
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static void take_inferred(kw_message *in, kw_tensor_ref *out) {
  out->dtype = (kw_dtype)kw_take_u64(in);
  const uint64_t rank = kw_take_u64(in);
  if (rank > KW_MAX_RANK) {
    in->broken = true;
    return;
  }
  out->rank = (uint8_t)rank;
  kw_take_raw(in, out->shape, rank * sizeof *out->shape);
}

static kw_status infer(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                       uint32_t out_count) {
  const kw_remote *op = user;
  kw_link *link;
  kw_exchange x;
  kw_status status = kw_proxy_link(&op->proxy->target, true, &link);
  if (status != KW_OK) return status;
  status = kw_exchange_begin(&x, link, KW_CODE_INFER, KW_PACE_QUICK, "infer");
  if (status == KW_OK) {
    kw_put_u64(&x.out, op->number);
    kw_put_values(&x.out, args, arg_count);
    kw_put_u64(&x.out, out_count);
    status = kw_exchange_run(&x);
    for (uint32_t i = 0; status == KW_OK && i < out_count; i++) take_inferred(&x.in, outs[i]);
    status = kw_exchange_end(&x, status);
  }
  kw_link_unref(link);
  return status;
}

static kw_status reference(const kw_call *call) {
  const kw_remote *op = call->user;
  kw_link *link;
  kw_status status = kw_proxy_link(&op->proxy->target, true, &link);
  if (status != KW_OK) return status;
  status = kw_reference_run(link, op->number, call);
  kw_link_unref(link);
  return status;
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

static kw_remote *find(kw_remote *list, const char *name) {
  while (list != NULL && strcmp(list->name, name) != 0) list = list->next;
  return list;
}

/* What the first process registered a later one registers again: core is not asked. */
static kw_status known_again(const kw_remote *known, const char *name, uint64_t *out_number) {
  if (known == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s was not there when the plugin was first started", name);
  }
  *out_number = known->number;
  return KW_OK;
}

/* A new entry; NULL with an error when memory is out. */
static kw_remote *make_remote(kw_proxy *proxy, const char *name) {
  kw_remote *remote = malloc(sizeof *remote);
  char *copy = strdup(name);
  if (remote == NULL || copy == NULL) {
    free(remote);
    free(copy);
    kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for %s", name);
    return NULL;
  }
  *remote = (kw_remote){.proxy = proxy, .name = copy};
  return remote;
}

/* Puts it into a list, unless core has refused it. */
static kw_status settle(kw_proxy *proxy, kw_status status, kw_remote *remote, kw_remote **list, uint32_t *count,
                        uint64_t *out_number) {
  if (status == KW_OK) {
    pthread_mutex_lock(&proxy->lock);
    *out_number = remote->number = (*count)++;
    remote->next = *list;
    *list = remote;
    pthread_mutex_unlock(&proxy->lock);
  } else {
    free(remote->name);
    free(remote);
  }
  return status;
}

kw_status kw_proxy_register_kernel(kw_proxy *proxy, kw_message *m, uint64_t *out_number) {
  char op[256], name[256], both[sizeof op + sizeof name];
  kw_kernel_desc desc = {.struct_size = sizeof desc, .op = op, .name = name};
  kw_take_text(m, op, sizeof op);
  kw_take_text(m, name, sizeof name);
  desc.math_needs = kw_take_u32(m);
  desc.flags = kw_take_u64(m);
  kw_take_raw(m, &desc.dtypes, sizeof desc.dtypes);
  desc.priority = (int32_t)kw_take_u32(m);
  desc.known_args = kw_take_u32(m);
  desc.packable = kw_take_u32(m);
  const uint64_t has = kw_take_u64(m);
  if (m->broken) return kw_fail(KW_ERR_INVALID_ARGUMENT, "register_kernel: no kernel is in the message");
  snprintf(both, sizeof both, "%s %s", op, name);
  if (proxy->again) return known_again(find(proxy->kernels, both), both, out_number);
  kw_remote *remote = make_remote(proxy, both);
  if (remote == NULL) return KW_ERR_OUT_OF_MEMORY;
  desc.user = remote;
  if (has & KW_KERNEL_HAS_CAN_IMPLEMENT) desc.can_implement = can_implement;
  if (has & KW_KERNEL_HAS_WORKSPACE_SIZE) desc.workspace_size = workspace_size;
  if (has & KW_KERNEL_HAS_PREPARE) desc.prepare = prepare;
  if (has & KW_KERNEL_HAS_LAUNCH) desc.launch = launch;
  if (has & KW_KERNEL_HAS_PREPARE) desc.release = release; /* also what the plugin has nothing to free of */
  if (has & KW_KERNEL_HAS_PACKED_SIZE) desc.packed_size = packed_size;
  if (has & KW_KERNEL_HAS_PACK) desc.pack = pack;
  const kw_status status = proxy->host->register_kernel(proxy->host->ctx, &desc);
  return settle(proxy, status, remote, &proxy->kernels, &proxy->kernel_count, out_number);
}

kw_status kw_proxy_define_op(kw_proxy *proxy, kw_message *m, uint64_t *out_number) {
  char schema[4096];
  kw_op_desc desc = {.struct_size = sizeof desc, .schema = schema};
  kw_take_text(m, schema, sizeof schema);
  desc.comparator = kw_take_u32(m);
  kw_take_raw(m, &desc.dtypes, sizeof desc.dtypes);
  kw_take_raw(m, &desc.ulp, sizeof desc.ulp);
  kw_take_raw(m, &desc.absolute, sizeof desc.absolute);
  kw_take_raw(m, &desc.growth, sizeof desc.growth);
  const bool has_infer = kw_take_u64(m) != 0, has_reference = kw_take_u64(m) != 0;
  if (m->broken) return kw_fail(KW_ERR_INVALID_ARGUMENT, "define_op: no op is in the message");
  if (proxy->again) return known_again(find(proxy->ops, schema), schema, out_number);
  kw_remote *remote = make_remote(proxy, schema);
  if (remote == NULL) return KW_ERR_OUT_OF_MEMORY;
  desc.user = remote;
  if (has_infer) desc.infer = infer;
  if (has_reference) desc.reference = reference;
  const kw_status status = proxy->host->define_op(proxy->host->ctx, &desc);
  return settle(proxy, status, remote, &proxy->ops, &proxy->op_count, out_number);
}
