/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA as gpu/runtime is given it: the names of the libraries and of the calls, and what CUDA does otherwise than HIP.
 */
#include "runtime.h"

#include <stdio.h>

static struct {
  int (*stream_wait_value)(void *stream, uint64_t address, uint32_t value, unsigned flags);
  int (*copy_peer)(void *to, void *to_context, const void *from, void *from_context, size_t size, void *stream);
  int (*context_retain)(void **context, int device);
  int (*context_release)(int device);
  int (*context_reset)(int device);
  int (*context_push)(void *context);
  int (*context_pop)(void **context);
  int (*error_name)(int error, const char **name);
  int (*error_text)(int error, const char **text);
} own;

enum { WAIT_VALUE = KW_RT_OWN_WAIT_VALUE, COPY_PEER = KW_RT_OWN_COPY_PEER, RETAIN };

static const kw_rt_own_call own_calls[] = {
    [WAIT_VALUE] = {"cuStreamWaitValue32_v2", &own.stream_wait_value},
    [COPY_PEER] = {"cuMemcpyPeerAsync", &own.copy_peer},
    [RETAIN] = {"cuDevicePrimaryCtxRetain", &own.context_retain},
    {"cuDevicePrimaryCtxRelease_v2", &own.context_release},
    {"cuDevicePrimaryCtxReset_v2", &own.context_reset},
    {"cuCtxPushCurrent_v2", &own.context_push},
    {"cuCtxPopCurrent_v2", &own.context_pop},
    {"cuGetErrorName", &own.error_name},
    {"cuGetErrorString", &own.error_text},
    {NULL, NULL},
};

static const char *error_name(int error) {
  const char *name;
  return own.error_name(error, &name) == 0 ? name : "an error without a name";
}

static const char *error_text(int error) {
  const char *text;
  return own.error_text(error, &text) == 0 ? text : "the driver knows no more";
}

static void version_text(int version, char *out, size_t size) {
  snprintf(out, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* The device's primary context: the one that the CUDA runtime, and with it other libraries, uses too. */
static kw_status context_open(kw_rt_device *device) {
  return kw_rt_check(device, KW_RT_CALL_COUNT + RETAIN, own.context_retain(&device->context, device->id));
}

/* A broken context is broken for everybody; without a reset the next to open it would have it again. */
static void context_close(kw_rt_device *device, bool lost) {
  own.context_release(device->id);
  if (lost) own.context_reset(device->id);
}

static void *enter(const kw_rt_device *device) {
  own.context_push(device->context);
  return NULL;
}

static void leave(void *before) {
  (void)before;
  own.context_pop(&before);
}

static int copy_peer(const kw_rt_device *to_device, void *to, const kw_rt_device *from_device, const void *from,
                     size_t size, void *stream) {
  return own.copy_peer(to, to_device->context, from, from_device->context, size, stream);
}

static int wait_value(void *stream, void *address, uint32_t value) {
  return own.stream_wait_value(stream, (uintptr_t)address, value, 0 /* until it is that or more */);
}

static bool arch_option(int device, char out[KW_RT_ARCH_SIZE]) {
  int major = 0, minor = 0;
  kw_rt.device_attribute(&major, 75, device);
  kw_rt.device_attribute(&minor, 76, device);
  snprintf(out, KW_RT_ARCH_SIZE, "--gpu-architecture=sm_%d%d", major, minor);
  return true;
}

#define NAME(field, parameters, cuda, hip) cuda,
static const char *const call_names[] = {KW_RT_CALLS(NAME) KW_RT_COMPILER_CALLS(NAME) KW_RT_SHARE_CALLS(NAME)
                                             KW_RT_IPC_CALLS(NAME)};
static const char *const driver_names[] = {"libcuda.so.1", NULL};
static const char *const compiler_names[] = {KW_RT_CUDA_COMPILER, NULL};
static const char *const options[] = {KW_RT_CUDA_OPTIONS, NULL};

const kw_rt_runtime kw_rt_backend_runtime = {
    .name = "CUDA",
    .vendor = "NVIDIA",
    .call_names = call_names,
    .own_calls = own_calls,
    .driver = driver_names,
    .compiler = compiler_names,
    .no_driver = "no NVIDIA driver: there is no libcuda.so.1; install the driver of your GPU (Debian: nvidia-driver)",
    .no_compiler = KW_RT_CUDA_NO_COMPILER,
    .no_device = "the NVIDIA driver sees no GPU; look at what nvidia-smi says, and at CUDA_VISIBLE_DEVICES",
    .compiler_name = "NVRTC",
    .units_attribute = 16,
    .pools_attribute = 115,
    .managed_attribute = 89, /* concurrent access */
    .clock_attribute = 13,
    .memory_clock_attribute = 36,
    .integrated_attribute = 18,
    .dl_device = 2, /* kDLCUDA */
    .dl_host = 3,   /* kDLCUDAHost */
    .error_name = error_name,
    .error_text = error_text,
    .version_text = version_text,
    .context_open = context_open,
    .context_close = context_close,
    .enter = enter,
    .leave = leave,
    .copy_peer = copy_peer,
    .wait_value = wait_value,
    .arch_option = arch_option,
    .options = options,
};
