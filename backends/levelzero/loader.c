/* SPDX-License-Identifier: Apache-2.0
 *
 * The Level Zero loader, opened at run time, and what its results mean.
 */
#include "levelzero.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

lz_entries ze;

static struct {
  pthread_once_t once;
  kw_status status;
  char reason[512];
  void *library;
} loader = {.once = PTHREAD_ONCE_INIT};

/* clang-format off */
#define RESULTS(X)                                                                                                   \
  X(SUCCESS) X(NOT_READY) X(ERROR_DEVICE_LOST) X(ERROR_OUT_OF_HOST_MEMORY) X(ERROR_OUT_OF_DEVICE_MEMORY)             \
  X(ERROR_MODULE_BUILD_FAILURE) X(ERROR_DEVICE_REQUIRES_RESET) X(ERROR_INSUFFICIENT_PERMISSIONS)                     \
  X(ERROR_DEPENDENCY_UNAVAILABLE) X(ERROR_UNINITIALIZED) X(ERROR_UNSUPPORTED_FEATURE) X(ERROR_INVALID_ARGUMENT)      \
  X(ERROR_INVALID_SIZE) X(ERROR_UNSUPPORTED_SIZE) X(ERROR_UNSUPPORTED_ALIGNMENT) X(ERROR_INVALID_NATIVE_BINARY)      \
  X(ERROR_INVALID_KERNEL_NAME) X(ERROR_INVALID_GROUP_SIZE_DIMENSION) X(ERROR_INVALID_KERNEL_ARGUMENT_INDEX)          \
  X(ERROR_INVALID_KERNEL_ARGUMENT_SIZE) X(ERROR_UNKNOWN)
/* clang-format on */

static const char *result_name(ze_result_t result, char *unknown, size_t size) {
  switch (result) {
#define NAME(code)       \
  case ZE_RESULT_##code: \
    return "ZE_RESULT_" #code;
    RESULTS(NAME)
#undef NAME
    default:
      snprintf(unknown, size, "Level Zero result 0x%x", (unsigned)result);
      return unknown;
  }
}

kw_status lz_result_status(ze_result_t result) {
  switch (result) {
    case ZE_RESULT_SUCCESS:
      return KW_OK;
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE: /* larger than the largest allocation */
      return KW_ERR_OUT_OF_MEMORY;
    case ZE_RESULT_ERROR_DEVICE_LOST:
    case ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET:
      return KW_ERR_DEVICE_LOST;
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
      return KW_ERR_UNSUPPORTED;
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
      return KW_ERR_PERMISSION;
    default:
      return KW_ERR_INTERNAL;
  }
}

bool lz_find_extension(ze_driver_handle_t driver, const char *name, void *out_function) {
  void *address = NULL;
  if (ze.DriverGetExtensionFunctionAddress(driver, name, &address) != ZE_RESULT_SUCCESS) address = NULL;
  memcpy(out_function, &address, sizeof address);
  return address != NULL;
}

/* What the driver says of this thread's last error: since version 1.6, so that a loader may not know of it and the
 * driver still do. */
static const char *driver_text(ze_driver_handle_t driver) {
  static const char name[] = "zeDriverGetLastErrorDescription";
  ze_result_t (*describe)(ze_driver_handle_t, const char **) = NULL;
  const char *text = NULL;
  void *address = driver ? dlsym(loader.library, name) : NULL;
  memcpy(&describe, &address, sizeof describe);
  if (driver && !describe) lz_find_extension(driver, name, &describe);
  if (!describe || describe(driver, &text) != ZE_RESULT_SUCCESS || !text || !*text) return NULL;
  return text;
}

void lz_explain(ze_driver_handle_t driver, ze_result_t result, const char *what, char *out, size_t size) {
  char unknown[48];
  const char *text = driver_text(driver);
  snprintf(out, size, "%s: %s%s%s", what, result_name(result, unknown, sizeof unknown),
           text ? "; the driver says: " : "", text ? text : "");
}

kw_status lz_check(const lz_device *device, ze_result_t result, const char *what) {
  char text[2400];
  if (result == ZE_RESULT_SUCCESS) return KW_OK;
  lz_explain(device->driver, result, what, text, sizeof text);
  return device->base.host->set_error(device->base.host->ctx, lz_result_status(result), text);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static bool find_entry(const char *name, void *out_entry) {
  void *address = dlsym(loader.library, name);
  memcpy(out_entry, &address, sizeof address);
  if (!address)
    snprintf(loader.reason, sizeof loader.reason,
             "the Level Zero loader lacks %s; install a newer one (on Debian: libze1)", name);
  return address != NULL;
}

static bool find_entries(void) {
#define ENTRY(name) \
  if (!find_entry("ze" #name, &ze.name)) return false;
  LZ_ENTRIES(ENTRY)
#undef ENTRY
  return true;
}

static void load(void) {
  char unknown[48];
  loader.status = KW_ERR_NOT_FOUND;
  loader.library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader.library) {
    snprintf(loader.reason, sizeof loader.reason,
             "there is no Level Zero loader (%.200s); on Debian install libze1, and your device's driver", dlerror());
    return;
  }
  if (!find_entries()) return;
  ze_result_t result = ze.Init(0);
  if (result == ZE_RESULT_SUCCESS) {
    loader.status = KW_OK;
  } else if (result == ZE_RESULT_ERROR_UNINITIALIZED) {
    snprintf(
        loader.reason, sizeof loader.reason,
        "the Level Zero loader finds no driver (zeInit: ZE_RESULT_ERROR_UNINITIALIZED); install your device's, for "
        "Intel's GPUs the package libze-intel-gpu1 or intel-level-zero-gpu");
  } else {
    snprintf(loader.reason, sizeof loader.reason,
             "zeInit: %s; see whether this user may open the device (on Linux the groups render and video)",
             result_name(result, unknown, sizeof unknown));
  }
}

kw_status lz_load(const char **out_reason) {
  pthread_once(&loader.once, load);
  if (loader.status != KW_OK) *out_reason = loader.reason;
  return loader.status;
}
