/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs, chains, texts and the arguments of ops, by value.
 */
#include "carry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool carry_in_child;

/* ---- Numbers, tokens, texts -------------------------------------------------------------------------------------- */

void carry_i32(parcel *p, void *place) {
  parcel_carry(p, place, 4);
}

void carry_u32(parcel *p, void *place) {
  parcel_carry(p, place, 4);
}

void carry_u64(parcel *p, void *place) {
  parcel_carry(p, place, 8);
}

void carry_bool(parcel *p, void *place) {
  parcel_carry(p, place, sizeof(bool));
}

void carry_token(parcel *p, void *place) {
  void **pointer = place;
  uint64_t token = (uint64_t)(uintptr_t)*pointer;
  if (carry_in_child) token = token << 32 | token >> 32;
  CARRY(p, token);
  if (!p->taking) return;
  if (carry_in_child) token = token << 32 | token >> 32;
  *pointer = (void *)(uintptr_t)token; /* NOLINT(performance-no-int-to-ptr) */
}

/* Whether something is there, which has no other form than bytes of that length. */
static bool carry_presence(parcel *p, const void *pointer) {
  bool there = pointer != NULL;
  CARRY(p, there);
  return there && !p->bad;
}

void carry_text(parcel *p, void *place) {
  const char **text = place;
  uint64_t length = !p->taking && *text ? strlen(*text) : 0;
  if (p->taking) *text = NULL;
  if (!carry_presence(p, *text)) return;
  CARRY(p, length);
  if (!p->taking) {
    parcel_carry(p, (void *)(uintptr_t)*text, length);
    return;
  }
  const char *bytes = parcel_bytes(p, length);
  char *copy = bytes ? parcel_room(p, length + 1) : NULL;
  if (copy) memcpy(copy, bytes, length);
  *text = copy;
}

/* The struct that *place points to when one is given, otherwise NULL: the sender's, or a fresh one of `size` bytes. */
static void *carry_struct(parcel *p, void *place, uint32_t size) {
  void **pointer = place;
  if (p->taking) *pointer = NULL;
  if (!carry_presence(p, *pointer)) return NULL;
  if (!p->taking) return *pointer;
  *pointer = parcel_room(p, size);
  if (*pointer) memcpy(*pointer, &size, sizeof size);
  return *pointer;
}

/* ---- Chains and options ------------------------------------------------------------------------------------------ */

void carry_chain(parcel *p, void *place) {
  const kw_ext **next = place;
  if (p->taking) *next = NULL;
  while (carry_presence(p, *next)) {
    uint32_t size = p->taking ? 0 : (*next)->struct_size, kind = p->taking ? 0 : (*next)->kind;
    CARRY(p, size);
    CARRY(p, kind);
    if (p->taking) {
      kw_ext *entry = size >= sizeof *entry && size <= KW_EXT_SIZE_LIMIT ? parcel_room(p, size) : NULL;
      if (!entry) {
        p->bad = true;
        return;
      }
      entry->struct_size = size;
      entry->kind = kind;
      *next = entry;
    }
    parcel_carry(p, (uint8_t *)(uintptr_t)*next + sizeof(kw_ext), size - sizeof(kw_ext));
    next = (const kw_ext **)(uintptr_t) & (*next)->next;
  }
}

static void carry_options(parcel *p, uint32_t *count, const kw_option **options) {
  CARRY(p, *count);
  if (p->taking) *options = *count <= KW_OPTION_LIMIT ? parcel_room(p, *count * sizeof **options) : NULL;
  if (*count > 0 && !*options) p->bad = true;
  for (uint32_t i = 0; i < *count && !p->bad; i++) {
    carry_text(p, (void *)(uintptr_t) & (*options)[i].key);
    carry_text(p, (void *)(uintptr_t) & (*options)[i].value);
  }
}

/* ---- What things are made from ----------------------------------------------------------------------------------- */

void carry_open_info(parcel *p, void *place) {
  kw_open_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  carry_options(p, &info->option_count, &info->options);
  carry_chain(p, &info->next);
}

void carry_init_info(parcel *p, void *place) {
  kw_init_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  carry_options(p, &info->option_count, &info->options);
  carry_chain(p, &info->next);
}

void carry_alloc_info(parcel *p, void *place) {
  kw_alloc_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  CARRY(p, info->kind);
  CARRY(p, info->size);
  CARRY(p, info->alignment);
  CARRY(p, info->flags);
  carry_chain(p, &info->next);
}

void carry_copy_info(parcel *p, void *place) {
  kw_copy_info *copy = carry_struct(p, place, sizeof *copy);
  if (!copy) return;
  CARRY(p, copy->kind);
  carry_token(p, &copy->dst_host);
  carry_token(p, &copy->dst_mem);
  CARRY(p, copy->dst_offset);
  carry_token(p, (void *)&copy->src_host);
  carry_token(p, &copy->src_mem);
  CARRY(p, copy->src_offset);
  CARRY(p, copy->size);
}

void carry_stream_info(parcel *p, void *place) {
  kw_stream_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  CARRY(p, info->flags);
  CARRY(p, info->token);
  carry_chain(p, &info->next);
}

void carry_event_info(parcel *p, void *place) {
  kw_event_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  CARRY(p, info->flags);
  carry_chain(p, &info->next);
}

void carry_capture_info(parcel *p, void *place) {
  kw_capture_info *info = carry_struct(p, place, sizeof *info);
  if (!info) return;
  CARRY(p, info->flags);
  carry_chain(p, &info->next);
}

void carry_graph_launch_info(parcel *p, void *place) {
  kw_graph_launch_info *info = carry_struct(p, place, sizeof *info);
  if (info) CARRY(p, info->call_id);
}

/* Descriptors, handles and addresses mean nothing elsewhere: only KW_HANDLE_IPC goes through. */
static void carry_external_fields(parcel *p, kw_external_memory *memory) {
  CARRY(p, memory->kind);
  CARRY(p, memory->flags);
  CARRY(p, memory->size);
  CARRY(p, memory->offset);
  CARRY(p, memory->ipc);
}

void carry_external_memory(parcel *p, void *place) {
  kw_external_memory *memory = carry_struct(p, place, sizeof *memory);
  if (memory) carry_external_fields(p, memory);
}

uint32_t carry_kernel_desc(parcel *p, kw_kernel_desc *desc) {
  uint32_t has = (desc->can_implement ? HAS_CAN_IMPLEMENT : 0u) | (desc->workspace_size ? HAS_WORKSPACE_SIZE : 0u) |
                 (desc->prepare ? HAS_PREPARE : 0u) | (desc->release ? HAS_RELEASE : 0u);
  CARRY(p, desc->math_needs);
  CARRY(p, desc->flags);
  carry_text(p, (void *)&desc->op);
  carry_text(p, (void *)&desc->name);
  CARRY(p, desc->dtypes);
  CARRY(p, desc->priority);
  CARRY(p, desc->known_args);
  carry_token(p, &desc->user);
  CARRY(p, has);
  carry_chain(p, (void *)&desc->next);
  return has;
}

uint32_t carry_op_desc(parcel *p, kw_op_desc *desc) {
  uint32_t has = (desc->infer ? HAS_INFER : 0u) | (desc->reference ? HAS_REFERENCE : 0u);
  CARRY(p, desc->comparator);
  carry_text(p, (void *)&desc->schema);
  carry_token(p, &desc->user);
  CARRY(p, has);
  CARRY(p, desc->dtypes);
  CARRY(p, desc->ulp);
  CARRY(p, desc->absolute);
  CARRY(p, desc->growth);
  carry_chain(p, (void *)&desc->next);
  return has;
}

/* ---- Calls of ops ------------------------------------------------------------------------------------------------ */

void carry_tensor(parcel *p, void *place) {
  kw_tensor_ref *tensor = carry_struct(p, place, sizeof *tensor);
  if (!tensor) return;
  CARRY(p, tensor->dtype);
  CARRY(p, tensor->rank);
  carry_token(p, &tensor->mem);
  CARRY(p, tensor->offset);
  CARRY(p, tensor->numel);
  CARRY(p, tensor->alignment);
  CARRY(p, tensor->layout);
  CARRY(p, tensor->shape);
  CARRY(p, tensor->strides);
}

static void carry_tensors(parcel *p, const kw_tensor_ref *const **tensors, uint32_t count) {
  if (p->taking) *tensors = parcel_room(p, count * sizeof **tensors);
  for (uint32_t i = 0; i < count && !p->bad; i++) carry_tensor(p, (void *)(uintptr_t) & (*tensors)[i]);
}

static void carry_value(parcel *p, kw_value *value) {
  CARRY(p, value->tag);
  CARRY(p, value->kind);
  CARRY(p, value->count);
  switch (value->tag) {
    case KW_TAG_NONE:
    case KW_TAG_GENERATOR: /* the host's: kernels find their numbers in kw_call_extra */
      break;
    case KW_TAG_TENSOR:
      carry_tensor(p, (void *)&value->u.tensor);
      break;
    case KW_TAG_TENSOR_LIST:
      carry_tensors(p, &value->u.tensors, value->count);
      break;
    case KW_TAG_INT_LIST:
      if (p->taking) value->u.ints = parcel_room(p, value->count * sizeof *value->u.ints);
      if (!p->bad) parcel_carry(p, (void *)(uintptr_t)value->u.ints, value->count * sizeof *value->u.ints);
      break;
    case KW_TAG_STRING:
      carry_text(p, (void *)&value->u.s);
      break;
    case KW_TAG_SCALAR:
      if (value->kind > KW_SCALAR_C128) p->unknown = true;
      CARRY(p, value->u);
      break;
    case KW_TAG_INT:
    case KW_TAG_FLOAT:
    case KW_TAG_BOOL:
    case KW_TAG_DTYPE:
      CARRY(p, value->u);
      break;
    default: /* of a later version: nobody can tell what it points to */
      p->unknown = true;
  }
}

void carry_values(parcel *p, const kw_value **values, uint32_t count) {
  if (p->taking) *values = parcel_room(p, count * sizeof **values);
  for (uint32_t i = 0; i < count && !p->bad && !p->unknown; i++) carry_value(p, (kw_value *)(uintptr_t) & (*values)[i]);
}

static void carry_extra(parcel *p, const kw_call_extra **place) {
  kw_call_extra *extra = carry_struct(p, (void *)place, sizeof *extra);
  if (!extra) return;
  CARRY(p, extra->error_code);
  carry_token(p, &extra->error_mem);
  CARRY(p, extra->error_offset);
  CARRY(p, extra->rng.seed);
  CARRY(p, extra->rng.offset);
  carry_token(p, &extra->rng.state);
  CARRY(p, extra->rng.state_offset);
  CARRY(p, extra->rng.algorithm);
}

void carry_call(parcel *p, void *place) {
  kw_call *call = carry_struct(p, place, sizeof *call);
  if (!call) return;
  CARRY(p, call->arg_count);
  CARRY(p, call->out_count);
  CARRY(p, call->math_mode);
  CARRY(p, call->flags);
  carry_token(p, &call->device);
  carry_token(p, &call->stream);
  carry_text(p, (void *)&call->op);
  carry_token(p, &call->user);
  carry_token(p, &call->prepared);
  carry_token(p, &call->workspace);
  CARRY(p, call->workspace_offset);
  CARRY(p, call->workspace_size);
  CARRY(p, call->call_id);
  carry_extra(p, &call->extra);
  carry_tensors(p, &call->outs, call->out_count);
  carry_values(p, &call->args, call->arg_count);
}

uint64_t carry_tensor_span(const kw_tensor_ref *tensor) {
  static const uint8_t sizes[] = {
#define KW_SIZE(dtype, name, bytes) [dtype] = bytes,
      KW_DTYPE_LIST(KW_SIZE)
#undef KW_SIZE
  };
  if (tensor->dtype >= sizeof sizes || tensor->layout != 0 || tensor->numel == 0) return 0;
  uint64_t last = 0;
  for (uint32_t d = 0; d < tensor->rank; d++) last += (uint64_t)(tensor->shape[d] - 1) * (uint64_t)tensor->strides[d];
  return (last + 1) * sizes[tensor->dtype];
}

static void carry_memory(parcel *p, const kw_tensor_ref *tensor) {
  if (!tensor) return;
  uint8_t *bytes = (uint8_t *)tensor->mem + tensor->offset;
  const uint64_t span = carry_tensor_span(tensor);
  if (!p->taking) {
    parcel_carry(p, bytes, span);
    return;
  }
  const void *now = parcel_bytes(p, span);
  if (now && memcmp(bytes, now, span) != 0) memcpy(bytes, now, span); /* an argument may be read-only here */
}

void carry_memories(parcel *p, const kw_call *call) {
  for (uint32_t i = 0; i < call->out_count; i++) carry_memory(p, call->outs[i]);
  for (uint32_t i = 0; i < call->arg_count; i++) {
    const kw_value *value = &call->args[i];
    if (value->tag == KW_TAG_TENSOR) carry_memory(p, value->u.tensor);
    for (uint32_t k = 0; value->tag == KW_TAG_TENSOR_LIST && k < value->count; k++)
      carry_memory(p, value->u.tensors[k]);
  }
}

/* ---- Places and results ------------------------------------------------------------------------------------------ */

void carry_place(parcel *p, void *place) {
  void **pointer = place;
  if (p->taking) *pointer = NULL;
  if (carry_presence(p, *pointer) && p->taking) *pointer = parcel_room(p, sizeof(uint64_t));
}

void carry_info_place(parcel *p, void *place) {
  carry_struct(p, place, sizeof(kw_device_info));
}

void carry_attribute_place(parcel *p, void *place) {
  carry_struct(p, place, sizeof(kw_attribute));
}

void carry_nothing(parcel *p, void *place) {
  (void)p;
  (void)place;
}

static bool is_wanted(const parcel *p, void *place) {
  return !p->failed && *(void **)place;
}

void carry_out_token(parcel *p, void *place) {
  if (is_wanted(p, place)) carry_token(p, *(void **)place);
}

void carry_out_u32(parcel *p, void *place) {
  if (is_wanted(p, place)) carry_u32(p, *(void **)place);
}

void carry_out_u64(parcel *p, void *place) {
  if (is_wanted(p, place)) carry_u64(p, *(void **)place);
}

void carry_out_text(parcel *p, void *place) {
  const char **text = *(const char ***)place;
  if (!text) return;
  carry_text(p, (void *)text);
  if (p->taking && *text) *text = carry_kept_text(*text);
}

void carry_out_info(parcel *p, void *place) {
  kw_device_info *info = *(kw_device_info **)place;
  if (!is_wanted(p, place)) return;
  parcel_carry(p, (char *)info + sizeof info->struct_size, sizeof *info - sizeof info->struct_size);
}

void carry_out_attribute(parcel *p, void *place) {
  kw_attribute *value = *(kw_attribute **)place;
  if (!is_wanted(p, place)) return;
  CARRY(p, value->type);
  if (value->type == KW_ATTRIBUTE_STRING) {
    carry_text(p, (void *)&value->u.s);
    if (p->taking && value->u.s) value->u.s = carry_kept_text(value->u.s);
  } else {
    CARRY(p, value->u.i);
  }
}

void carry_out_external_memory(parcel *p, void *place) {
  if (is_wanted(p, place)) carry_external_fields(p, *(kw_external_memory **)place);
}

typedef struct kept {
  struct kept *next;
  char text[];
} kept;

const char *carry_kept_text(const char *text) {
  static kept *all;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  kept *found = all;
  while (found && strcmp(found->text, text) != 0) found = found->next;
  if (!found && (found = malloc(sizeof *found + strlen(text) + 1)) != NULL) {
    strcpy(found->text, text); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): measured above */
    found->next = all;
    all = found;
  }
  pthread_mutex_unlock(&lock);
  return found ? found->text : "";
}
