/* SPDX-License-Identifier: Apache-2.0
 *
 * The services of the test host: what a plugin calls is recorded in `seen`.
 */
#include "test_host.h"

#include <stdio.h>
#include <string.h>

test_host_seen seen;
const char *test_host_unknown_op;

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  (void)ctx;
  snprintf(seen.error, sizeof seen.error, "%s", message);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
  return KW_OK;
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx;
  if (test_host_unknown_op != NULL && strcmp(kernel->op, test_host_unknown_op) == 0) {
    return KW_ERR_NOT_FOUND;
  }
  if (seen.kernel_count == MAX_KERNELS) {
    return KW_ERR_INTERNAL;
  }
  seen.kernels[seen.kernel_count++] = *kernel;
  return KW_OK;
}

static kw_status host_define_op(void *ctx, const kw_op_desc *op) {
  (void)ctx;
  seen.op = *op;
  return KW_OK;
}

static kw_status host_report(void *ctx, uint64_t token, uint64_t call_id, kw_status status, const char *message) {
  (void)ctx;
  seen.late_token = token;
  seen.late_call_id = call_id;
  seen.late_status = status;
  snprintf(seen.error, sizeof seen.error, "%s", message);
  return KW_OK;
}

static kw_status host_run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  seen.callback_thread = pthread_self();
  sem_post(&seen.entered);
  if (token == CALLBACK_GATED) {
    sem_wait(&seen.gate);
  }
  return KW_OK;
}

static kw_status host_parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  (void)ctx;
  for (int64_t begin = 0; begin < n; begin += grain) {
    body(user, begin, begin + grain < n ? begin + grain : n);
  }
  return KW_OK;
}

const kw_host_api test_host = {
    .struct_size = sizeof(kw_host_api),
    .abi_version = KW_ABI_VERSION,
    .set_error = host_set_error,
    .log = host_log,
    .register_kernel = host_register_kernel,
    .define_op = host_define_op,
    .report_async_error = host_report,
    .run_callback = host_run_callback,
    .parallel_for = host_parallel_for,
};
