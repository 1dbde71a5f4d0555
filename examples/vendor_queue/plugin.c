/* SPDX-License-Identifier: Apache-2.0
 *
 * A device on the queue kit: what the chip's driver can do, as a table.
 */
#include "chip.h"
#include "command.h"

#include <keyway/queue.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(command) <= CHIP_COMMAND, "a command fits into a place of the ring");

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status count(const kw_host_api *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return KW_OK;
}

static kw_status describe(const kw_host_api *host, uint32_t index, kw_device_info *out_info) {
  (void)host;
  out_info->type = KW_DEVICE_NPU;
  out_info->flags = KW_DEVICE_EMULATED; /* the CPU does the arithmetic: every list and report says so */
  out_info->compute_units = CHIP_QUEUES;
  snprintf(out_info->name, sizeof out_info->name, "Acme QPU (example, emulated)");
  snprintf(out_info->vendor, sizeof out_info->vendor, "acme");
  snprintf(out_info->driver_version, sizeof out_info->driver_version, "1.0.0");
  snprintf(out_info->stable_id, sizeof out_info->stable_id, "acme:qpu-%u", (unsigned)index);
  out_info->total_memory = out_info->max_alloc = CHIP_MEMORY;
  out_info->mem_alignment = out_info->offset_alignment = CHIP_ALIGNMENT;
  return KW_OK;
}

static kw_status open_chip(const kw_host_api *host, uint32_t index, void **out_chip) {
  (void)index;
  *out_chip = chip_open();
  return *out_chip != NULL ? KW_OK : kw_queue_fail(host, KW_ERR_OUT_OF_MEMORY, "the chip does not start");
}

static void close_chip(void *chip) {
  chip_close(chip);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status alloc_memory(void *chip, uint64_t size, uint64_t alignment, kw_mem *out_mem) {
  if (alignment > CHIP_ALIGNMENT) return KW_ERR_INVALID_ARGUMENT;
  *out_mem = chip_alloc(chip, size);
  return *out_mem != NULL ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static void free_memory(void *chip, kw_mem mem) {
  chip_free(chip, mem);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static kw_status submit(void *chip, uint32_t queue, uint64_t ticket, const void *bytes, size_t size) {
  return chip_submit(chip, queue, ticket, command_run, bytes, size) ? KW_OK : KW_ERR_NOT_READY;
}

static bool copy_run(const void *parameters, char text[160]) {
  const kw_queue_copy *copy = parameters;
  unsigned char *to = copy->to_mem != NULL ? (unsigned char *)copy->to_mem + copy->to_offset : copy->staging;
  const unsigned char *from =
      copy->from_mem != NULL ? (const unsigned char *)copy->from_mem + copy->from_offset : copy->staging;
  (void)text;
  memmove(to, from, copy->size);
  return true;
}

static kw_status copy(void *chip, uint32_t queue, uint64_t ticket, const kw_queue_copy *copy) {
  return chip_submit(chip, queue, ticket, copy_run, copy, sizeof *copy) ? KW_OK : KW_ERR_NOT_READY;
}

static uint64_t done(void *chip, uint32_t queue) {
  return chip_done(chip, queue);
}

static bool failure(void *chip, uint32_t queue, kw_queue_failure *out_failure) {
  out_failure->status = KW_ERR_INTERNAL;
  return chip_next_failure(chip, queue, &out_failure->ticket, out_failure->text);
}

static void wait_for_any(void *chip, uint64_t timeout_ns) {
  chip_wait(chip, timeout_ns);
}

static const kw_queue_driver driver = {
    .key = "aqpu",
    .vendor = "acme",
    .version = "1.0.0",
    .description = "Acme QPU, an example on the queue kit",
    .build = __VERSION__,
    .sanitizer = KW_QUEUE_SANITIZER,
    .queues = CHIP_QUEUES,
    .count = count,
    .describe = describe,
    .open = open_chip,
    .close = close_chip,
    .register_kernels = register_kernels,
    .alloc = alloc_memory,
    .dealloc = free_memory,
    .submit = submit,
    .copy = copy,
    .done = done,
    .failure = failure,
    .wait = wait_for_any,
};

/* The one exported symbol. */
kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_queue_query(&driver, host, out_plugin, out_reason);
}
