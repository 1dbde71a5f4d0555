/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks by type, one wrapper for each function, made from functions.def.
 */
#include "layers/validation/arguments.h"

#include "layers/validation/objects.h"

#include <string.h>

static kw_api after; /* the functions behind the checks */
static kw_api below; /* those below the layer, for calls that the library refuses itself */

/* ---- One argument: true when it is as it has to be --------------------------------------------------------------- */

/* Functions that end their argument say themselves what is wrong with it. */
static bool ends_its_argument(const char *function) {
  const char *word = strrchr(function, '_');
  return strcmp(word, "_destroy") == 0 || strcmp(word, "_close") == 0 || strcmp(function, "kw_energy_end") == 0;
}

/* What says nothing of an object that is NULL, rather than going wrong. */
static bool takes_null(const char *function, kw_kind kind) {
  static const char *const functions[] = {"kw_tensor_is_constant", "kw_tensor_describe", "kw_tensor_device",
                                          "kw_stream_device", "kw_op_fallbacks"};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(function, functions[i]) == 0) return true;
  }
  return kind == KW_KIND_STREAM;
}

static bool use_object(kw_checked_call *call, const char *argument, kw_kind kind, const void *object) {
  if (ends_its_argument(call->function)) return true;
  if (object != NULL) return kw_object_use(call, argument, kind, object);
  return takes_null(call->function, kind) || kw_checked_suspect("handle-null");
}

static bool use_out(const kw_checked_call *call, const char *argument, const void *out) {
  if (out != NULL || strncmp(argument, "out_", 4) != 0 || strcmp(call->function, "kw_graph_end") == 0) return true;
  return kw_checked_suspect("result-null");
}

/* What else than a tensor or a stream begins is of the device that the call's first object is, or is of. */
static void note_object(const kw_checked_call *call, const char *argument, kw_kind kind, const void *object) {
  if (strncmp(argument, "out_", 4) != 0 || strcmp(argument, "out_views") == 0) return; /* arrays */
  if (kind == KW_KIND_GRAPH) return;                                                   /* waits.c */
  const kw_object *first = call->used_count > 0 ? call->used[0] : NULL;
  if (first != NULL && first->kind != KW_KIND_DEVICE) first = first->device;
  const void *device = first != NULL ? first->address : NULL;
  if (kind == KW_KIND_TENSOR) device = kw_tensor_device(object);
  if (kind == KW_KIND_STREAM) device = kw_stream_device(object);
  kw_object_begin(kind, object, device, false);
}

#define OBJECT(type, its_kind)                                                              \
  static bool use_##type(kw_checked_call *call, const char *argument, const type *object) { \
    return use_object(call, argument, its_kind, object);                                    \
  }                                                                                         \
  static bool use_##type##_out(kw_checked_call *call, const char *argument, type **out) {   \
    return use_out(call, argument, out);                                                    \
  }                                                                                         \
  static void note_##type(const kw_checked_call *call, const char *argument, type **out) {  \
    if (out != NULL) note_object(call, argument, its_kind, *out);                           \
  }
OBJECT(kw_device, KW_KIND_DEVICE)
OBJECT(kw_stream, KW_KIND_STREAM)
OBJECT(kw_event, KW_KIND_EVENT)
OBJECT(kw_tensor, KW_KIND_TENSOR)
OBJECT(kw_plan, KW_KIND_PLAN)
OBJECT(kw_generator, KW_KIND_GENERATOR)
OBJECT(kw_graph, KW_KIND_GRAPH)
OBJECT(kw_energy_window, KW_KIND_WINDOW)

/* Ops that were found among all there are; an op stays one as long as the process. */
static _Atomic(const kw_op *) known_ops[1024];

static bool is_op(const kw_op *op) {
  _Atomic(const kw_op *) *known = &known_ops[((uintptr_t)op >> 4) % 1024];
  if (*known == op) return true;
  for (uint32_t i = 0, count = kw_op_count(); i < count; i++) {
    if (kw_op_at(i) != op) continue;
    *known = op;
    return true;
  }
  return false;
}

static bool use_op(kw_checked_call *call, const char *argument, const kw_op *op) {
  char here[KW_PLACE_SIZE];
  if (op == NULL) return kw_checked_suspect("op-null");
  if (is_op(op)) return true;
  kw_misuse("op-foreign", "%s at %s: argument %s: %p is no op; they come from kw_op_find and kw_op_at", call->function,
            kw_place(call->place, here), argument, (const void *)op);
  return false;
}

static bool use_result(kw_checked_call *call, const char *argument, const void *out) {
  (void)call;
  return out != NULL || strncmp(argument, "out_", 4) != 0 || strcmp(argument, "out_before") == 0 ||
         strcmp(argument, "out_support") == 0 || kw_checked_suspect("result-null");
}

/* A struct of the application's, which says its size. */
static bool use_struct(kw_checked_call *call, const char *argument, const void *of) {
  uint32_t size;
  if (of == NULL) {
    return strcmp(call->function, "kw_init") == 0 || strcmp(argument, "out_support") == 0 ||
           kw_checked_suspect("struct-null");
  }
  memcpy(&size, of, sizeof size);
  if (size >= sizeof size && size <= 4096) return true;
  return kw_checked_suspect(size < sizeof size ? "struct-size-unset" : "struct-size-absurd");
}

static bool use_text(kw_checked_call *call, const char *argument, const char *text) {
  (void)call;
  return text != NULL || strcmp(argument, "kernel") == 0 || kw_checked_suspect("text-null");
}

static bool pass(kw_checked_call *call, const char *argument, ...) {
  (void)call, (void)argument;
  return true;
}

static void note_nothing(const kw_checked_call *call, const char *argument, ...) {
  (void)call, (void)argument;
}

/* ---- Every function ---------------------------------------------------------------------------------------------- */

#define STRUCTS(X)                                                                                                     \
  X(kw_plugin_report), X(kw_plugin_directory), X(kw_device_entry), X(kw_device_info), X(kw_attribute),                 \
      X(kw_memory_stats), X(kw_op_info), X(kw_arg_info), X(kw_kernel_info), X(kw_call_support), X(kw_generator_state), \
      X(kw_graph_info), X(kw_energy), X(kw_counters), X(kw_external_memory), X(kw_native_handle),                      \
      X(const kw_init_options), X(const kw_memory_options), X(const kw_generator_state), X(const kw_external_memory)
#define STRUCT_ROW(type) type * : use_struct
#define OBJECT_ROWS(type) type * : use_##type, const type * : use_##type, type ** : use_##type##_out

#define USE(argument) \
  &&_Generic((argument), OBJECT_ROWS(kw_device), OBJECT_ROWS(kw_stream), OBJECT_ROWS(kw_event),                       \
             OBJECT_ROWS(kw_tensor), OBJECT_ROWS(kw_plan), OBJECT_ROWS(kw_generator), OBJECT_ROWS(kw_graph),          \
             OBJECT_ROWS(kw_energy_window), STRUCTS(STRUCT_ROW), const kw_op *                                        \
             : use_op, const char *                                                                                   \
             : use_text, uint32_t *                                                                                   \
             : use_result, uint64_t *                                                                                 \
             : use_result, void **                                                                                    \
             : use_result, default                                                                                    \
             : pass)(&checked, #argument, argument)

#define NOTE(argument) \
  _Generic((argument), kw_device **                                                                               \
           : note_kw_device, kw_stream **                                                                         \
           : note_kw_stream, kw_event **                                                                          \
           : note_kw_event, kw_tensor **                                                                          \
           : note_kw_tensor, kw_plan **                                                                           \
           : note_kw_plan, kw_generator **                                                                        \
           : note_kw_generator, kw_graph **                                                                       \
           : note_kw_graph, kw_energy_window **                                                                   \
           : note_kw_energy_window, default                                                                       \
           : note_nothing)(&checked, #argument, argument);

/* MACRO(a) MACRO(b) ... of up to eight arguments. */
#define EACH_1(macro, a) macro(a)
#define EACH_2(macro, a, ...) macro(a) EACH_1(macro, __VA_ARGS__)
#define EACH_3(macro, a, ...) macro(a) EACH_2(macro, __VA_ARGS__)
#define EACH_4(macro, a, ...) macro(a) EACH_3(macro, __VA_ARGS__)
#define EACH_5(macro, a, ...) macro(a) EACH_4(macro, __VA_ARGS__)
#define EACH_6(macro, a, ...) macro(a) EACH_5(macro, __VA_ARGS__)
#define EACH_7(macro, a, ...) macro(a) EACH_6(macro, __VA_ARGS__)
#define EACH_8(macro, a, ...) macro(a) EACH_7(macro, __VA_ARGS__)
#define NINTH(a, b, c, d, e, f, g, h, i, ...) i
#define EACH(macro, ...) \
  NINTH(__VA_ARGS__, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, )(macro, __VA_ARGS__)
#define USE_EACH(...) EACH(USE, __VA_ARGS__)
#define NOTE_EACH(...) EACH(NOTE, __VA_ARGS__)

/* A call that is refused gives back this; one that succeeded is told by its result. */
#define REFUSED(type) _Generic((type){0}, kw_status : KW_ERR_INVALID_ARGUMENT, default : (type){0})
#define SUCCEEDED(result) _Generic((result), kw_status : (result) == KW_OK, default : false)

#define KW_FUNCTION(type, name, parameters, arguments)                                         \
  static type check_##name parameters {                                                        \
    kw_checked_call checked = {.function = "kw_" #name, .place = __builtin_return_address(0)}; \
    type result = REFUSED(type);                                                               \
    kw_checked_begin(&checked);                                                                \
    if (true USE_EACH arguments) {                                                             \
      result = (checked.suspect == NULL ? &after : &below)->name arguments;                    \
      if (SUCCEEDED(result)) {                                                                 \
        NOTE_EACH arguments                                                                    \
      }                                                                                        \
    }                                                                                          \
    kw_checked_judge(&checked, _Generic((result), kw_status : &result, default : NULL));       \
    kw_checked_end(&checked);                                                                  \
    return result;                                                                             \
  }
#define KW_PROCEDURE(name, parameters, arguments)
#define KW_GETTER(type, name)
#include "functions.def"

/* ---- Those that give nothing back -------------------------------------------------------------------------------- */

#define PROCEDURE(name, type)                                                                  \
  static void check_##name(type *object) {                                                     \
    kw_checked_call checked = {.function = "kw_" #name, .place = __builtin_return_address(0)}; \
    kw_checked_begin(&checked);                                                                \
    after.name(object);                                                                        \
    kw_checked_end(&checked);                                                                  \
  }
PROCEDURE(tensor_release, kw_tensor)
PROCEDURE(tensor_retain, kw_tensor)
PROCEDURE(plan_destroy, kw_plan)
PROCEDURE(generator_destroy, kw_generator)

static kw_status check_profile_pop(void) {
  kw_checked_call checked = {.function = "kw_profile_pop", .place = __builtin_return_address(0)};
  kw_checked_begin(&checked);
  kw_status status = after.profile_pop();
  kw_checked_end(&checked);
  return status;
}

void kw_arguments_wrap(kw_api *api, const kw_api *below_all) {
  after = *api;
  below = *below_all;
#define KW_FUNCTION(type, name, parameters, arguments) api->name = check_##name;
#define KW_PROCEDURE(name, parameters, arguments)
#define KW_GETTER(type, name)
#include "functions.def"
  api->tensor_release = check_tensor_release;
  api->tensor_retain = check_tensor_retain;
  api->plan_destroy = check_plan_destroy;
  api->generator_destroy = check_generator_destroy;
  api->profile_pop = check_profile_pop;
}
