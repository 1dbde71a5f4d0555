/* SPDX-License-Identifier: Apache-2.0
 *
 * Where drivers differ from what one may expect, and what this backend does about it.
 */
#include "opencl.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- By platform ------------------------------------------------------------------------------------------------- */

static const struct row {
  const char *platform; /* CL_PLATFORM_NAME */
  uint32_t quirks;
  const char *reason;
} rows[] = {
    {"Portable Computing Language", OCL_KEEPS_PROGRAMS | OCL_SLOW_CLBLAST,
     "keeps programs and, beyond what a binary holds, their kernels compiled per local size; a binary with a flipped "
     "bit it takes without a word, a truncated one aborts the process; CLBlast's matrix product is a third as fast as "
     "the pack's, and takes ten seconds to compile (3.1)"},
    {"Intel(R) OpenCL", OCL_ENDS_EARLY,
     "ends its objects with the process's static ones, at exit: a call of another thread ends the process by a signal "
     "(2026.2)"},
    {"rusticl", OCL_BLOCKS_IN_MEMORY | OCL_NOT_OFFERED,
     "products of few rows and columns and many terms are wrong, and some programs take minutes to compile; structs "
     "with nested arrays are sized wrongly, and a variable index in an array got by value ends the process (22.3.6)"},
};

static const struct row *row_of(cl_platform_id platform) {
  char name[128] = "";
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (strcmp(rows[i].platform, name) == 0) return &rows[i];
  return NULL;
}

uint32_t ocl_quirks(cl_platform_id platform) {
  const struct row *row = row_of(platform);
  return row ? row->quirks : 0;
}

const kw_option_desc ocl_offer = {
    .struct_size = sizeof ocl_offer,
    .place = KW_OPTION_INIT,
    .key = "offer",
    .value = "",
    .text = "an OpenCL driver that gives wrong numbers, by its platform's name: its devices are there all the same",
};

bool ocl_is_offered(const kw_host_api *host, cl_platform_id platform, const char *wanted) {
  char text[600];
  const struct row *row = row_of(platform);
  if (!row || !(row->quirks & OCL_NOT_OFFERED) || strcmp(wanted, row->platform) == 0) return true;
  snprintf(text, sizeof text,
           "the devices of the OpenCL driver %s are not offered: %s. The option keyway.opencl.offer=%s offers them",
           row->platform, row->reason, row->platform);
  host->log(host->ctx, KW_LOG_WARN, text);
  return false;
}

/* ---- Drivers that end before the process does -------------------------------------------------------------------- */

static atomic_bool ended;
static atomic_uint inside;     /* threads in calls that may not outlive the driver */
static pthread_t ends_process; /* written before `ended` */

/* Exit handlers run in reverse order: the driver's, which were there before this one, come after it. */
static void end(void) {
  enum { ROUNDS = 100000 }; /* of giving up the CPU: a call that does not end may not hold up the exit for good */
  ends_process = pthread_self();
  atomic_store(&ended, true);
  for (int i = 0; i < ROUNDS && atomic_load(&inside) != 0; ++i) sched_yield();
}

static void register_end(void) {
  atexit(end);
}

void ocl_end_before_driver(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_end);
}

bool ocl_enter(const ocl_device *device) {
  if (!(device->quirks & OCL_ENDS_EARLY)) return true;
  atomic_fetch_add(&inside, 1);
  if (!atomic_load(&ended)) return true;
  atomic_fetch_sub(&inside, 1);
  while (!pthread_equal(ends_process, pthread_self())) pause();
  return false;
}

void ocl_leave(const ocl_device *device) {
  if (device->quirks & OCL_ENDS_EARLY) atomic_fetch_sub(&inside, 1);
}

/* ---- Drivers that compute on the thread that waits --------------------------------------------------------------- */

void ocl_flags_take(ocl_flags *out_flags) {
  out_flags->raised = fetestexcept(FE_ALL_EXCEPT);
  fegetexceptflag(&out_flags->state, FE_ALL_EXCEPT);
}

void ocl_flags_set_back(const ocl_flags *before) {
  const int cleared = before->raised & ~fetestexcept(FE_ALL_EXCEPT);
  if (cleared) fesetexceptflag(&before->state, cleared);
}
