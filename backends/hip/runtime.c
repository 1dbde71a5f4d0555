/* SPDX-License-Identifier: Apache-2.0
 *
 * HIP as gpu/runtime is given it: the names of the libraries and of the calls, and what HIP does otherwise than CUDA.
 */
#include "runtime.h"

#include <stdio.h>

static struct {
  int (*stream_wait_value)(void *stream, void *address, uint32_t value, unsigned flags, uint32_t mask);
  int (*copy_peer)(void *to, int to_device, const void *from, int from_device, size_t size, void *stream);
  int (*set_device)(int device);
  int (*get_device)(int *device);
  int (*reset_device)(void);
  const char *(*error_name)(int error);
  const char *(*error_text)(int error);
} own;

enum { WAIT_VALUE = KW_RT_OWN_WAIT_VALUE, COPY_PEER = KW_RT_OWN_COPY_PEER, SET_DEVICE };

static const kw_rt_own_call own_calls[] = {
    [WAIT_VALUE] = {"hipStreamWaitValue32", &own.stream_wait_value},
    [COPY_PEER] = {"hipMemcpyPeerAsync", &own.copy_peer},
    [SET_DEVICE] = {"hipSetDevice", &own.set_device},
    {"hipGetDevice", &own.get_device},
    {"hipDeviceReset", &own.reset_device},
    {"hipGetErrorName", &own.error_name},
    {"hipGetErrorString", &own.error_text},
    {NULL, NULL},
};

static const char *error_name(int error) {
  return own.error_name(error);
}

static const char *error_text(int error) {
  return own.error_text(error);
}

static void version_text(int version, char *out, size_t size) {
  snprintf(out, size, "HIP %d.%d.%d", version / 10000000, version % 10000000 / 100000, version % 100000);
}

static void *enter(const kw_rt_device *device) {
  int before = 0;
  own.get_device(&before);
  if (before != device->id) own.set_device(device->id);
  return (void *)(intptr_t)before;
}

static void leave(void *before) {
  int now = 0;
  own.get_device(&now);
  if (now != (int)(intptr_t)before) own.set_device((int)(intptr_t)before);
}

/* A device has one context, which is always there. */
static kw_status context_open(kw_rt_device *device) {
  int before = 0;
  own.get_device(&before);
  kw_status status = kw_rt_check(device, KW_RT_CALL_COUNT + SET_DEVICE, own.set_device(device->id));
  own.set_device(before);
  return status;
}

static void context_close(kw_rt_device *device, bool lost) {
  if (!lost) return;
  void *before = enter(device);
  own.reset_device();
  leave(before);
}

static int copy_peer(const kw_rt_device *to_device, void *to, const kw_rt_device *from_device, const void *from,
                     size_t size, void *stream) {
  return own.copy_peer(to, to_device->id, from, from_device->id, size, stream);
}

static int wait_value(void *stream, void *address, uint32_t value) {
  return own.stream_wait_value(stream, address, value, 0 /* until it is that or more */, ~0u);
}

/* Without one hipRTC compiles for the thread's current device. */
static bool arch_option(int device, char out[KW_RT_ARCH_SIZE]) {
  (void)device, (void)out;
  return false;
}

#define NAME(field, parameters, cuda, hip) hip,
static const char *const call_names[] = {KW_RT_CALLS(NAME) KW_RT_COMPILER_CALLS(NAME) KW_RT_SHARE_CALLS(NAME)
                                             KW_RT_IPC_CALLS(NAME)};
static const char *const driver_names[] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so", NULL};
static const char *const compiler_names[] = {KW_RT_HIP_COMPILER, NULL};
static const char *const options[] = {KW_RT_HIP_OPTIONS, NULL};

const kw_rt_runtime kw_rt_backend_runtime = {
    .name = "HIP",
    .vendor = "AMD",
    .call_names = call_names,
    .own_calls = own_calls,
    .driver = driver_names,
    .compiler = compiler_names,
    .no_driver = "no HIP runtime: there is no libamdhip64.so; install ROCm (Debian: libamdhip64-5)",
    .no_compiler = KW_RT_HIP_NO_COMPILER,
    .no_device =
        "the HIP runtime sees no GPU; look at what rocminfo says, at the rights on /dev/kfd, and at "
        "HIP_VISIBLE_DEVICES",
    .compiler_name = "hipRTC",
    .units_attribute = 63,
    .pools_attribute = 88,
    .managed_attribute = 9, /* concurrent access */
    .clock_attribute = 5,
    .memory_clock_attribute = 60,
    .integrated_attribute = 16,
    .dl_device = 10, /* kDLROCM */
    .dl_host = 11,   /* kDLROCMHost */
    .descriptor_since = 70100000,
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
