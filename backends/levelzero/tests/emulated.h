/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero test driver: stands behind the real loader (ZE_ENABLE_ALT_DRIVERS) and runs SPIR-V modules on the CPU,
 * by the execution engine. Its devices call themselves emulated; it is never installed. It checks more than drivers of
 * hardware do: what the specification leaves undefined is an error here, with a text.
 */
#ifndef KEYWAY_LEVELZERO_EMULATED_H
#define KEYWAY_LEVELZERO_EMULATED_H

#include <engine.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdatomic.h>

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* What a handle points to begins with its kind, which goes when it is destroyed. */
typedef enum emu_kind {
  EMU_GONE,
  EMU_DRIVER = 0x45564d55,
  EMU_DEVICE,
  EMU_CONTEXT,
  EMU_QUEUE,
  EMU_LIST,
  EMU_FENCE,
  EMU_EVENT_POOL,
  EMU_EVENT,
  EMU_MODULE,
  EMU_KERNEL,
  EMU_BUILD_LOG,
} emu_kind;

struct _ze_driver_handle_t {
  emu_kind kind;
};

struct _ze_device_handle_t {
  emu_kind kind;
  uint32_t index;
  kw_engine_device *engine;
};

struct _ze_context_handle_t {
  emu_kind kind;
  uint64_t losses[KW_ENGINE_DEVICE_LIMIT]; /* of each device, as the context was created */
  _Atomic int objects;                     /* that belong to it */
};

struct _ze_event_pool_handle_t {
  emu_kind kind;
  ze_context_handle_t context;
  ze_device_handle_t device; /* NULL: several */
  ze_event_pool_flags_t flags;
  uint32_t count;
  _Atomic int events;
  _Atomic bool taken[]; /* by index */
};

struct _ze_event_handle_t {
  emu_kind kind;
  ze_event_pool_handle_t pool;
  uint32_t index;
  kw_engine_event event; /* passes 1 */
};

struct _ze_module_handle_t {
  emu_kind kind;
  ze_context_handle_t context;
  ze_device_handle_t device;
  kw_engine_module *engine;
  _Atomic int kernels;
};

struct _ze_kernel_handle_t {
  emu_kind kind;
  ze_module_handle_t module;
  kw_engine_kernel kernel;
  const int32_t *info; /* the group's size, 0 when any will do; then of each parameter whether it is a pointer */
  uint32_t group[3];   /* 0: not set */
  uint32_t places[KW_ENGINE_ARG_LIMIT];
  bool set[KW_ENGINE_ARG_LIMIT];
  unsigned char bytes[KW_ENGINE_ARG_BYTES];
};

/* Bits of a timestamp that are valid, of the device's clock and of a kernel's: fewer than nanoseconds take. */
enum { EMU_CLOCK_BITS = 40, EMU_STAMP_BITS = 36 };
static inline uint64_t emu_stamp(uint64_t ns, uint32_t bits) {
  return ns & ((UINT64_C(1) << bits) - 1);
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* Keeps the text for zeDriverGetLastErrorDescription; gives back `result`. */
ze_result_t emu_fail(ze_result_t result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What the engine answered, its message kept. */
ze_result_t emu_answer(kw_engine_status status);

/* Whether `handle` is an object of this kind: SUCCESS, INVALID_NULL_HANDLE, or INVALID_ARGUMENT. */
ze_result_t emu_check(const void *handle, emu_kind kind);

/* The handle of an engine's device; NULL for NULL. */
ze_device_handle_t emu_device_of(const kw_engine_device *device);
/* DEVICE_LOST: it was lost since the context was created. */
ze_result_t emu_check_lost(ze_context_handle_t context, ze_device_handle_t device);

/* Returns from the calling function when a check fails. */
#define EMU_TRY(check)                                \
  do {                                                \
    const ze_result_t result_ = (check);              \
    if (result_ != ZE_RESULT_SUCCESS) return result_; \
  } while (0)
#define EMU_CHECK(handle, kind) EMU_TRY(emu_check(handle, kind))
#define EMU_CHECK_POINTER(pointer)      \
  EMU_TRY((pointer) ? ZE_RESULT_SUCCESS \
                    : emu_fail(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: " #pointer " is NULL", __func__))
/* The struct is there and says what it is. */
#define EMU_CHECK_STRUCT(pointer, type)                                                                           \
  do {                                                                                                            \
    EMU_CHECK_POINTER(pointer);                                                                                   \
    if ((pointer)->stype != (type))                                                                               \
      return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: the stype of " #pointer " is not " #type, __func__); \
  } while (0)

/* ---- Between the files ------------------------------------------------------------------------------------------- */

/* A new object of `size` bytes, zeroed, counted among the context's; NULL: no host memory. */
void *emu_create(emu_kind kind, size_t size, ze_context_handle_t context);
void emu_destroy(void *object, ze_context_handle_t context);

/* Every signal, or a wait that can end: the device passes events, the host may never see. */
ze_result_t emu_check_events(uint32_t count, ze_event_handle_t *events);
/* Until it has passed 1; DEVICE_LOST when it never will. */
ze_result_t emu_wait(kw_engine_event *event, uint64_t timeout_ns, ze_context_handle_t context,
                     ze_device_handle_t device);

#define EMU_SHARE_TYPES (ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)
/* Memory of which `next`, of an allocation's descriptor, says that it is shared: made for that, or another's. */
ze_result_t emu_share_alloc(const void *next, size_t size, void **out);
/* False: no such memory begins there. */
bool emu_share_free(const void *base);
ze_result_t emu_share_export(const void *base, ze_external_memory_export_fd_t *out);

/* SPIR-V to the bytes of an engine's module, to be freed with free. On failure *out_log, to be freed with free, has
 * what the compilers said. */
bool emu_translate(const void *spirv, size_t size, void **out_bytes, size_t *out_size, char **out_log);
/* Another for every version of what modules are made with. */
uint32_t emu_translator_version(void);

void emu_fill_global(ze_global_dditable_t *table);
void emu_fill_driver(ze_driver_dditable_t *table);
void emu_fill_device(ze_device_dditable_t *table);
void emu_fill_context(ze_context_dditable_t *table);
void emu_fill_command_queue(ze_command_queue_dditable_t *table);
void emu_fill_command_list(ze_command_list_dditable_t *table);
void emu_fill_fence(ze_fence_dditable_t *table);
void emu_fill_event_pool(ze_event_pool_dditable_t *table);
void emu_fill_event(ze_event_dditable_t *table);
void emu_fill_module(ze_module_dditable_t *table);
void emu_fill_module_build_log(ze_module_build_log_dditable_t *table);
void emu_fill_kernel(ze_kernel_dditable_t *table);
void emu_fill_mem(ze_mem_dditable_t *table);

#endif /* KEYWAY_LEVELZERO_EMULATED_H */
