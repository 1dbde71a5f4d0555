/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries of the vendor's that kernels call: cuBLASLt, cuDNN, hipBLASLt. Each is opened when a kernel first asks for
 * it, and never for a test driver's device. Their numbers for errors are their own; 0 is none.
 */
#ifndef KEYWAY_GPU_VENDOR_LIBRARY_H
#define KEYWAY_GPU_VENDOR_LIBRARY_H

#include "runtime.h"

typedef struct kw_rt_library {
  const char *name;            /* "cuBLASLt" */
  const char *const *files;    /* tried in order; NULL ends them */
  const kw_rt_own_call *calls; /* a name that is NULL ends them */
  /* Of these calls: a handle for the thread's current device, and what an error means (NULL: the library does not say).
   */
  int (**create)(void **handle);
  int (**destroy)(void *handle);
  const char *(**error_text)(int error);
  bool tried, there;
} kw_rt_library;

/* KW_ERR_NOT_IMPLEMENTED where the library is not there, or not for this device. Thread-safe, as all of these. */
kw_status kw_rt_library_find(kw_rt_library *library, const kw_call *call);
/* The device's handle, made at the first call and destroyed with the device. KW_ERR_NOT_IMPLEMENTED where the library
 * makes none: it may want a newer driver. */
kw_status kw_rt_library_handle(const kw_rt_library *library, const kw_call *call, void **out_handle);
/* KW_ERR_NOT_IMPLEMENTED, "cuBLASLt WHY"; KW_ERR_INTERNAL, "cuBLASLt, DOING: the error's text". */
kw_status kw_rt_library_refuse(const kw_rt_library *library, const kw_call *call, const char *why);
kw_status kw_rt_library_fail(const kw_rt_library *library, const kw_call *call, const char *doing, int error);

/* Registers a kernel that calls such a library: off until hardware has run it. An older host may lack the op. */
kw_status kw_rt_library_register(const kw_host_api *host, kw_kernel_desc kernel);

/* Element 0; NULL ahead of the launch. */
void *kw_rt_address(const kw_tensor_ref *tensor);
/* The call's workspace from an address on that is aligned so: what a kernel asks for is so much larger. */
#define KW_RT_WORKSPACE_ALIGNMENT 256u
void *kw_rt_workspace(const kw_call *call);

#endif /* KEYWAY_GPU_VENDOR_LIBRARY_H */
