/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime's libraries, opened at run time, and what its errors mean.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_rt_calls kw_rt;

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;
static void *driver;
static char reason[400]; /* why there is nothing to work with; empty when there is */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

void *kw_rt_load(const char *const *names) {
  void *library = NULL;
  for (; *names && !library; ++names) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

const char *kw_rt_find_calls(void *library, const kw_rt_own_call *calls) {
  for (; calls->name; ++calls) {
    void *found = dlsym(library, calls->name);
    memcpy(calls->entry, &found, sizeof found);
    if (!found) return calls->name;
  }
  return NULL;
}

/* The runtime's calls [begin, end): the name of the first that the library lacks, or NULL. */
static const char *find_common(void *library, int begin, int end) {
  const char *lacks = NULL;
  for (int i = begin; i < end && !lacks; ++i)
    lacks = kw_rt_find_calls(
        library, (const kw_rt_own_call[]){{runtime->call_names[i], (char *)&kw_rt + (size_t)i * sizeof(void (*)(void))},
                                          {NULL, NULL}});
  return lacks;
}

/* There is no device without this call; NULL: nothing is lacking. */
static void refuse_without(const char *lacks) {
  if (lacks) snprintf(reason, sizeof reason, "the installed %s has no %s: it is too old", runtime->name, lacks);
}

static bool shares, names_memory;

bool kw_rt_shares(void) {
  return shares;
}

bool kw_rt_names_memory(void) {
  return names_memory;
}

static void open_all(void) {
  int count = 0;
  driver = kw_rt_load(runtime->driver);
  if (!driver) {
    snprintf(reason, sizeof reason, "%s", runtime->no_driver);
    return;
  }
  refuse_without(find_common(driver, 0, KW_RT_DRIVER_CALLS));
  if (!reason[0]) refuse_without(kw_rt_find_calls(driver, runtime->own_calls));
  if (reason[0]) return;
  int error = kw_rt.init(0), call = KW_RT_init;
  if (!error) {
    call = KW_RT_device_count;
    error = kw_rt.device_count(&count);
  }
  if (error && kw_rt_status(error) != KW_ERR_NOT_FOUND) {
    kw_rt_error_text(call, error, reason, sizeof reason);
    return;
  }
  if (count == 0) {
    snprintf(reason, sizeof reason, "%s", runtime->no_device);
    return;
  }
  shares = !find_common(driver, KW_RT_NEEDED_CALLS, KW_RT_SHARE_END);
  names_memory = !find_common(driver, KW_RT_SHARE_END, KW_RT_CALL_COUNT);
  void *compiler = kw_rt_load(runtime->compiler);
  if (!compiler) {
    snprintf(reason, sizeof reason, "%s", runtime->no_compiler);
    return;
  }
  refuse_without(find_common(compiler, KW_RT_DRIVER_CALLS, KW_RT_NEEDED_CALLS));
}

const char *kw_rt_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_all);
  return reason[0] ? reason : NULL;
}

bool kw_rt_driver_has(const kw_rt_own_call *call) {
  return !kw_rt_find_calls(driver, (const kw_rt_own_call[]){*call, {NULL, NULL}});
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

kw_status kw_rt_status(int error) {
  switch (error) {
    case 0:
      return KW_OK;
    case 2: /* out of memory */
      return KW_ERR_OUT_OF_MEMORY;
    case 100: /* no device */
    case 101: /* no such device */
      return KW_ERR_NOT_FOUND;
    case 600: /* not ready */
      return KW_ERR_NOT_READY;
    case 209: /* no code for this device */
    case 801: /* not supported */
      return KW_ERR_UNSUPPORTED;
    case 46:                     /* device not available */
    case 214:                    /* memory error that could not be corrected */
    case 220:                    /* the same on a link between devices */
    case 700:                    /* illegal address */
    case 702:                    /* a kernel ran for too long */
    case 709:                    /* the context is destroyed */
    case 710:                    /* a kernel's assertion */
    case 714:                    /* error in a kernel's stack */
    case 715:                    /* illegal instruction */
    case 716:                    /* misaligned address */
    case 717:                    /* address of another kind of memory */
    case 718:                    /* invalid program counter */
    case 719:                    /* a kernel failed */
      return KW_ERR_DEVICE_LOST; /* from here on every call on the context gives this error */
    default:
      return KW_ERR_INTERNAL;
  }
}

void kw_rt_error_text(int call, int error, char *out, size_t size) {
  const char *name =
      call < KW_RT_CALL_COUNT ? runtime->call_names[call] : runtime->own_calls[call - KW_RT_CALL_COUNT].name;
  snprintf(out, size, "%s: %s: %s", name, runtime->error_name(error), runtime->error_text(error));
}

kw_status kw_rt_check(kw_rt_device *device, int call, int error) {
  if (error == 0) return KW_OK;
  const kw_status status = kw_rt_status(error);
  char text[300];
  if (status == KW_ERR_DEVICE_LOST) atomic_store(&device->lost, true);
  kw_rt_error_text(call, error, text, sizeof text);
  return device->base.host->set_error(device->base.host->ctx, status, text);
}

kw_status kw_rt_no_memory(const kw_host_api *host, const char *what) {
  return kw_gpu_error(host, KW_ERR_OUT_OF_MEMORY, "no host memory for %s", what);
}
