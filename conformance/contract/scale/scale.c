/* SPDX-License-Identifier: Apache-2.0
 *
 * What the suite scale shares: room, tensors that are released behind a test, places.
 */
#include "contract/scale/scale.h"

#include "base/host_memory.h"

#include <stdio.h>

/* Beside what a test says that it needs: for the driver, for caches, for others on the machine. */
#define RESERVE (512 * KW_MIB)

enum { MOST_KEPT = 256, MOST_HOST = 16 };
static kw_tensor *kept[MOST_KEPT];
static void *host_kept[MOST_HOST];

static void release_all(void) {
  for (int i = MOST_KEPT; i-- > 0;) {
    kw_tensor_release(kept[i]);
    kept[i] = NULL;
  }
  for (int i = 0; i < MOST_HOST; i++) {
    free(host_kept[i]);
    host_kept[i] = NULL;
  }
}

/* What tests leave in caches is given back where it is much. */
static void trim(void) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  kw_memory_get_stats(kw_contract.device, &stats);
  if (stats.held - stats.allocated > 64 * KW_MIB) kw_memory_trim(kw_contract.device);
}

int kw_scale_setup(void **state) {
  kw_host_memory_volunteer(1);
  return kw_test_setup(state);
}

/* A test that failed in the middle may have work in flight that touches the tensors. */
int kw_scale_teardown(void **state) {
  kw_device_synchronize(kw_contract.device);
  release_all();
  trim();
  kw_host_memory_volunteer(0);
  return kw_test_teardown(state);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static double gib(uint64_t bytes) {
  return (double)bytes / (double)KW_GIB;
}

/* A device's memory may be the host's, which no plugin has to tell: so the host has to have room for both. */
void kw_scale_need(uint64_t device, uint64_t largest, uint64_t host) {
  kw_device_info info = {.struct_size = sizeof info};
  uint64_t unused = 0, total = 0;
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  const uint64_t most = info.max_alloc ? info.max_alloc : info.total_memory;
  if (most && largest > most) {
    kw_contract_not_tried("scale needs %.2f GiB in one allocation; the device says that it gives %.2f GiB at most",
                          gib(largest), gib(most));
  }
  const kw_status status = kw_memory_get_usage(kw_contract.device, &unused, &total);
  KW_CHECK(status == KW_OK || status == KW_ERR_UNSUPPORTED, "kw_memory_get_usage gave %s: %s", kw_status_name(status),
           kw_error_message());
  kw_error_clear();
  if (status == KW_OK && unused < device) {
    kw_contract_not_tried("scale needs %.2f GiB of the device; %.2f GiB of %.2f GiB are free", gib(device), gib(unused),
                          gib(total));
  }
  const uint64_t available = kw_host_memory_available(), wanted = device + host + RESERVE;
  if (available < wanted) {
    kw_contract_not_tried("scale needs %.2f GiB of the host; %.2f GiB are available", gib(wanted), gib(available));
  }
}

kw_tensor *kw_scale_keep(kw_tensor *tensor) {
  for (int i = 0; i < MOST_KEPT; i++) {
    if (kept[i]) continue;
    return kept[i] = tensor;
  }
  KW_FAIL("a test of the suite keeps more than %d tensors", MOST_KEPT);
}

void kw_scale_drop(kw_tensor *tensor) {
  for (int i = 0; i < MOST_KEPT && tensor; i++) {
    if (kept[i] == tensor) kept[i] = NULL;
  }
  kw_tensor_release(tensor);
}

void *kw_scale_host(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) kw_contract_not_tried("scale needs %.2f GiB of the host; malloc refused them", gib(size));
  for (int i = 0; i < MOST_HOST; i++) {
    if (host_kept[i]) continue;
    return host_kept[i] = memory;
  }
  KW_FAIL("a test of the suite keeps more than %d pieces of host memory", MOST_HOST);
}

void kw_scale_host_drop(void *memory) {
  for (int i = 0; i < MOST_HOST && memory; i++) {
    if (host_kept[i] == memory) host_kept[i] = NULL;
  }
  free(memory);
}

kw_tensor *kw_scale_tensor(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  const kw_status status = kw_tensor_create(kw_contract.device, dtype, rank, shape, &tensor);
  if (status == KW_ERR_OUT_OF_MEMORY) {
    uint64_t size = kw_dtype_size(dtype);
    for (uint32_t d = 0; d < rank; d++) size *= (uint64_t)shape[d];
    kw_contract_not_tried("scale needs %.2f GiB of the device; it refused them, though it said that so much is free",
                          gib(size));
  }
  KW_CHECK(status == KW_OK, "kw_tensor_create gave %s: %s", kw_status_name(status), kw_error_message());
  return kw_scale_keep(tensor);
}

kw_tensor *kw_scale_line(kw_dtype dtype, int64_t numel) {
  return kw_scale_tensor(dtype, 1, &numel);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

bool kw_scale_has(const char *name, kw_dtype dtype) {
  const kw_op *op = kw_op_find(name);
  return op && kw_op_support(op, kw_contract.device, dtype) != KW_SUPPORT_NONE;
}

const char *kw_scale_name(const kw_op *op) {
  kw_op_info info = {.struct_size = sizeof info};
  return kw_op_get_info(op, &info) == KW_OK ? info.name : "";
}

const kw_op *kw_scale_first(const char *const *names, kw_dtype dtype) {
  for (; *names; names++) {
    if (kw_scale_has(*names, dtype)) return kw_op_find(*names);
  }
  return NULL;
}

void kw_scale_call(const kw_op *op, const kw_value *args, uint32_t count, kw_tensor **outs, uint32_t out_count) {
  kw_op_info info = {.struct_size = sizeof info};
  bool given[KW_MAX_RESULTS] = {false};
  KW_CHECK_OK(kw_op_get_info(op, &info));
  for (uint32_t i = 0; i < out_count; i++) given[i] = outs[i] != NULL;
  kw_test_calls(__FILE__, __LINE__, info.name);
  kw_status status = kw_op_call(op, kw_stream_default(kw_contract.device), args, count, outs, out_count);
  if (status == KW_ERR_OUT_OF_MEMORY || status == KW_ERR_NOT_IMPLEMENTED) {
    kw_contract_not_tried("scale: %s was refused; %s", info.name, kw_error_message());
  }
  for (uint32_t i = 0; i < out_count && status == KW_OK; i++) {
    if (!given[i] && outs[i]) kw_scale_keep(outs[i]);
  }
  if (status == KW_OK) status = kw_stream_synchronize(kw_stream_default(kw_contract.device));
  KW_CHECK(status == KW_OK, "%s gave %s: %s", info.name, kw_status_name(status), kw_error_message());
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static int compare_places(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* 65,535 blocks of 1 to 1024 threads end inside of 16 to 26 bits. */
uint32_t kw_scale_places(int64_t numel, int64_t *out_places) {
  int64_t all[4 * 34];
  uint32_t count = 0, kept_count = 0;
  for (int bits = 15; bits <= 33; bits++) {
    for (int64_t off = -1; off <= 1; off++) all[count++] = (INT64_C(1) << bits) + off;
  }
  for (int bits = 5; bits <= 10; bits++) {
    for (int64_t off = -1; off <= 1; off++) all[count++] = (INT64_C(65535) << bits) + off;
  }
  all[count++] = 0;
  all[count++] = numel - 1;
  qsort(all, count, sizeof *all, compare_places);
  for (uint32_t i = 0; i < count; i++) {
    const bool again = kept_count > 0 && out_places[kept_count - 1] == all[i];
    if (all[i] < numel && !again) out_places[kept_count++] = all[i];
  }
  return kept_count;
}
