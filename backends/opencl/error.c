/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenCL's errors are called, and which status stands for each.
 */
#include "opencl.h"

#include <stdio.h>

const char *ocl_error_name(cl_int error) {
  static _Thread_local char unknown[32];
  switch (error) {
#define NAME(code) \
  case code:       \
    return #code
    NAME(CL_SUCCESS);
    NAME(CL_DEVICE_NOT_FOUND);
    NAME(CL_DEVICE_NOT_AVAILABLE);
    NAME(CL_COMPILER_NOT_AVAILABLE);
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    NAME(CL_OUT_OF_RESOURCES);
    NAME(CL_OUT_OF_HOST_MEMORY);
    NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    NAME(CL_MEM_COPY_OVERLAP);
    NAME(CL_BUILD_PROGRAM_FAILURE);
    NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    NAME(CL_LINKER_NOT_AVAILABLE);
    NAME(CL_INVALID_VALUE);
    NAME(CL_INVALID_DEVICE);
    NAME(CL_INVALID_CONTEXT);
    NAME(CL_INVALID_QUEUE_PROPERTIES);
    NAME(CL_INVALID_COMMAND_QUEUE);
    NAME(CL_INVALID_MEM_OBJECT);
    NAME(CL_INVALID_BUILD_OPTIONS);
    NAME(CL_INVALID_PROGRAM);
    NAME(CL_INVALID_PROGRAM_EXECUTABLE);
    NAME(CL_INVALID_KERNEL_NAME);
    NAME(CL_INVALID_KERNEL_DEFINITION);
    NAME(CL_INVALID_KERNEL);
    NAME(CL_INVALID_ARG_INDEX);
    NAME(CL_INVALID_ARG_VALUE);
    NAME(CL_INVALID_ARG_SIZE);
    NAME(CL_INVALID_KERNEL_ARGS);
    NAME(CL_INVALID_WORK_DIMENSION);
    NAME(CL_INVALID_WORK_GROUP_SIZE);
    NAME(CL_INVALID_WORK_ITEM_SIZE);
    NAME(CL_INVALID_GLOBAL_OFFSET);
    NAME(CL_INVALID_EVENT_WAIT_LIST);
    NAME(CL_INVALID_EVENT);
    NAME(CL_INVALID_OPERATION);
    NAME(CL_INVALID_BUFFER_SIZE);
    NAME(CL_INVALID_GLOBAL_WORK_SIZE);
#undef NAME
    default:
      snprintf(unknown, sizeof unknown, "OpenCL error %d", (int)error);
      return unknown;
  }
}

kw_status ocl_error_status(cl_int error) {
  switch (error) {
    case CL_SUCCESS:
      return KW_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return KW_ERR_OUT_OF_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
      return KW_ERR_DEVICE_LOST;
    case CL_COMPILER_NOT_AVAILABLE:
      return KW_ERR_UNSUPPORTED;
    default:
      return KW_ERR_INTERNAL;
  }
}

kw_status ocl_check(const kw_host_api *host, cl_int error, const char *what) {
  if (error == CL_SUCCESS) return KW_OK;
  return kw_gpu_error(host, ocl_error_status(error), "%s: %s", what, ocl_error_name(error));
}
