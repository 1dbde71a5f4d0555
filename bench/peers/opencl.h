/* SPDX-License-Identifier: Apache-2.0
 *
 * What the peers of opencl devices share.
 */
#ifndef KEYWAY_BENCH_PEERS_OPENCL_H
#define KEYWAY_BENCH_PEERS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The device of that name among all platforms; NULL when there is none. */
static inline cl_device_id kw_peer_find_device(const char *name) {
  cl_platform_id platforms[16];
  cl_device_id ids[64];
  cl_uint platform_count = 0, count;
  char text[256];
  clGetPlatformIDs(16, platforms, &platform_count);
  for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, ids, &count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < count && d < 64; ++d) {
      memset(text, 0, sizeof text);
      clGetDeviceInfo(ids[d], CL_DEVICE_NAME, sizeof text - 1, text, NULL);
      if (strncmp(text + strspn(text, " "), name, strlen(name)) == 0) return ids[d];
    }
  }
  return NULL;
}

/* A buffer with f32 numbers between 0 and 1; NULL when there is no memory. */
static inline cl_mem kw_peer_make_buffer(cl_context context, uint64_t bytes) {
  float *numbers = malloc(bytes + sizeof *numbers);
  if (!numbers) return NULL;
  for (uint64_t i = 0; i < bytes / sizeof *numbers + 1; ++i) numbers[i] = (float)(i % 251) / 251;
  cl_mem buffer =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes > 0 ? bytes : 4, numbers, NULL);
  free(numbers);
  return buffer;
}

#endif /* KEYWAY_BENCH_PEERS_OPENCL_H */
