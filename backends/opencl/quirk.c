/* SPDX-License-Identifier: Apache-2.0
 *
 * Where drivers differ from what one may expect, and what this backend does about it.
 */
#include "opencl.h"

#include <string.h>

static const struct {
  const char *platform; /* CL_PLATFORM_NAME */
  uint32_t quirks;
  const char *reason;
} rows[] = {
    {"Portable Computing Language", OCL_KEEPS_PROGRAMS | OCL_SLOW_CLBLAST,
     "keeps programs and, beyond what a binary holds, their kernels compiled per local size; a binary with a flipped "
     "bit it takes without a word, a truncated one aborts the process; CLBlast's matrix product is a third as fast as "
     "the pack's, and takes ten seconds to compile (3.1)"},
};

uint32_t ocl_quirks(cl_platform_id platform) {
  char name[128] = "";
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS) return 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (strcmp(rows[i].platform, name) == 0) return rows[i].quirks;
  return 0;
}
