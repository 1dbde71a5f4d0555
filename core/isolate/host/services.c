/* SPDX-License-Identifier: Apache-2.0
 *
 * The host table of a plugin in its own process: what concerns the application is asked there, loops and memory are
 * this process's.
 */
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/struct.h"
#include "isolate/host/host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXTS 8u /* what one slot may say of its failure; the rest is dropped */

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

typedef struct said {
  kw_status status;
  char text[600];
} said;

static _Thread_local said texts[TEXTS];
static _Thread_local uint32_t text_count;

void kw_host_begin_texts(void) {
  text_count = 0;
}

void kw_host_put_texts(kw_message *out) {
  kw_put_u64(out, text_count);
  for (uint32_t i = 0; i < text_count; i++) {
    kw_put_u64(out, (uint32_t)texts[i].status);
    kw_put_text(out, texts[i].text);
  }
}

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  (void)ctx;
  if (text_count == TEXTS) text_count--;
  texts[text_count].status = status;
  snprintf(texts[text_count].text, sizeof texts[text_count].text, "%s",
           message != NULL ? message : kw_status_name(status));
  text_count++;
  return status;
}

/* ---- Asking the application -------------------------------------------------------------------------------------- */

kw_wire *kw_host_wire;
static kw_lanes lanes;
static pthread_once_t lanes_once = PTHREAD_ONCE_INIT;

static void open_lanes(void) {
  lanes.lanes = kw_host_wire->services;
}

/* Tells the application that a lane is used from now on. Where it cannot be told it would never answer: it finds this
 * process ended. */
static void announce(uint32_t lane) {
  if (!kw_notice_send(KW_WIRE_SOCKET_FD, &(kw_wire_notice){.what = KW_NOTICE_LANE, .number = lane}, -1)) abort();
}

typedef struct asking {
  kw_wire_lane *at;
  uint32_t lane;
  kw_message out;
} asking;

static asking begin(kw_wire_code code) {
  bool is_new;
  pthread_once(&lanes_once, open_lanes);
  const uint32_t lane = kw_lanes_take(&lanes, &is_new);
  asking a = {&lanes.lanes[lane], lane, kw_lane_writer(&lanes.lanes[lane])};
  if (is_new) announce(lane);
  atomic_store_explicit(&a.at->code, code, memory_order_relaxed);
  return a;
}

/* Without a limit: this process ends with the application. A text goes to who called. */
static kw_status run(asking *a, uint64_t *out_number) {
  kw_status status = KW_ERR_INVALID_ARGUMENT;
  if (!a->out.broken) {
    char text[600];
    atomic_store_explicit(&a->at->size, (uint32_t)(a->out.at - a->at->payload), memory_order_relaxed);
    kw_lane_set(&a->at->state, &a->at->server_sleeps, KW_LANE_ASKED);
    while (!kw_lane_wait(&a->at->state, &a->at->caller_sleeps, KW_LANE_ANSWERED, KW_WAIT_FOREVER)) continue;
    kw_message in = kw_lane_reader(a->at);
    status = (kw_status)kw_take_u32(&in);
    const uint64_t number = kw_take_u64(&in);
    if (out_number != NULL) *out_number = number;
    kw_take_text(&in, text, sizeof text);
    if (status != KW_OK && text[0] != '\0') host_set_error(NULL, status, text);
    atomic_store_explicit(&a->at->state, KW_LANE_IDLE, memory_order_relaxed);
  }
  kw_lanes_give(&lanes, a->lane);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx;
  asking a = begin(KW_CODE_LOG);
  kw_put_u64(&a.out, level);
  kw_put_text(&a.out, message);
  return run(&a, NULL);
}

static kw_status host_report_async_error(void *ctx, uint64_t stream_token, uint64_t call_id, kw_status status,
                                         const char *message) {
  (void)ctx;
  asking a = begin(KW_CODE_REPORT_ASYNC_ERROR);
  kw_put_u64(&a.out, stream_token);
  kw_put_u64(&a.out, call_id);
  kw_put_u64(&a.out, (uint32_t)status);
  kw_put_text(&a.out, message);
  return run(&a, NULL);
}

kw_status kw_host_run_token(uint64_t token) {
  if ((token & KW_TOKEN_COPY) == 0 && (token & KW_TOKEN_BLOCK) != 0) {
    kw_host_pass_block(token & ~KW_TOKEN_BLOCK);
    return KW_OK;
  }
  asking a = begin(KW_CODE_RUN_CALLBACK);
  kw_put_u64(&a.out, token);
  return run(&a, NULL);
}

static kw_status host_run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  return kw_host_run_token(token);
}

static kw_status host_report_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  (void)ctx;
  asking a = begin(KW_CODE_REPORT_BUILD);
  kw_put_u64(&a.out, (uintptr_t)device);
  kw_put_u64(&a.out, ns);
  kw_put_u64(&a.out, cached);
  kw_put_text(&a.out, module);
  return run(&a, NULL);
}

static kw_status host_devices_changed(void *ctx) {
  (void)ctx;
  asking a = begin(KW_CODE_DEVICES_CHANGED);
  return run(&a, NULL);
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_kernel_desc **kernels; /* by number; NULL where there is none. Constant after init, as ops */
static uint64_t kernel_room;
static kw_op_desc **ops;
static uint64_t op_room;

const kw_kernel_desc *kw_host_find_kernel(uint64_t number) {
  return number < kernel_room ? kernels[number] : NULL;
}

const kw_op_desc *kw_host_find_op(uint64_t number) {
  return number < op_room ? ops[number] : NULL;
}

/* Puts a copy of the struct at its number. */
static kw_status keep(void ***table, uint64_t *room, uint64_t number, const void *desc, size_t size) {
  void *copy = malloc(size);
  pthread_mutex_lock(&lock);
  uint64_t larger = *room > 0 ? *room : 64;
  while (larger <= number) larger *= 2;
  void **grown = copy != NULL ? realloc(*table, larger * sizeof *grown) : NULL;
  if (grown != NULL) {
    memset(grown + *room, 0, (larger - *room) * sizeof *grown);
    *table = grown;
    *room = larger;
    grown[number] = memcpy(copy, desc, size);
  }
  pthread_mutex_unlock(&lock);
  return grown != NULL ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static uint64_t functions_of(const kw_kernel_desc *k) {
  return (k->can_implement != NULL ? KW_KERNEL_HAS_CAN_IMPLEMENT : 0u) |
         (k->workspace_size != NULL ? KW_KERNEL_HAS_WORKSPACE_SIZE : 0u) |
         (k->prepare != NULL ? KW_KERNEL_HAS_PREPARE : 0u) | (k->launch != NULL ? KW_KERNEL_HAS_LAUNCH : 0u) |
         (k->packed_size != NULL ? KW_KERNEL_HAS_PACKED_SIZE : 0u) | (k->pack != NULL ? KW_KERNEL_HAS_PACK : 0u);
}

static kw_status say(kw_status status, const char *text) {
  return host_set_error(NULL, status, text);
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *given) {
  (void)ctx;
  kw_kernel_desc k;
  uint64_t number = 0;
  if (given == NULL) return say(KW_ERR_INVALID_ARGUMENT, "register_kernel: argument kernel is NULL");
  if (given->struct_size < KW_KERNEL_DESC_MIN) return say(KW_ERR_ABI_MISMATCH, "a kw_kernel_desc is too small");
  kw_struct_read(&k, sizeof k, given);
  if (k.op == NULL || k.name == NULL) return say(KW_ERR_INVALID_ARGUMENT, "a kernel has no op, or no name");
  if (kw_ext_check(k.next, NULL, 0) != KW_OK) return say(KW_ERR_UNSUPPORTED, "a kernel has a critical extension");
  if (k.reserved != 0) return say(KW_ERR_ABI_MISMATCH, "a kw_kernel_desc has a reserved field that is not 0");
  k.next = NULL;
  asking a = begin(KW_CODE_REGISTER_KERNEL);
  kw_put_text(&a.out, k.op);
  kw_put_text(&a.out, k.name);
  kw_put_u64(&a.out, k.math_needs);
  kw_put_u64(&a.out, k.flags);
  kw_put_raw(&a.out, &k.dtypes, sizeof k.dtypes);
  kw_put_u64(&a.out, (uint32_t)k.priority);
  kw_put_u64(&a.out, k.known_args);
  kw_put_u64(&a.out, k.packable);
  kw_put_u64(&a.out, functions_of(&k));
  kw_status status = run(&a, &number);
  if (status != KW_OK) return status;
  k.op = strdup(k.op);
  k.name = strdup(k.name);
  return keep((void ***)&kernels, &kernel_room, number, &k, sizeof k);
}

static kw_status host_define_op(void *ctx, const kw_op_desc *given) {
  (void)ctx;
  kw_op_desc op;
  uint64_t number = 0;
  if (given == NULL) return say(KW_ERR_INVALID_ARGUMENT, "define_op: argument op is NULL");
  if (given->struct_size < KW_OP_DESC_MIN) return say(KW_ERR_ABI_MISMATCH, "a kw_op_desc is too small");
  kw_struct_read(&op, sizeof op, given);
  if (op.schema == NULL) return say(KW_ERR_INVALID_ARGUMENT, "define_op: the op has no schema");
  if (kw_ext_check(op.next, NULL, 0) != KW_OK) return say(KW_ERR_UNSUPPORTED, "an op has a critical extension");
  op.next = NULL;
  asking a = begin(KW_CODE_DEFINE_OP);
  kw_put_text(&a.out, op.schema);
  kw_put_u64(&a.out, op.comparator);
  kw_put_raw(&a.out, &op.dtypes, sizeof op.dtypes);
  kw_put_raw(&a.out, &op.ulp, sizeof op.ulp);
  kw_put_raw(&a.out, &op.absolute, sizeof op.absolute);
  kw_put_raw(&a.out, &op.growth, sizeof op.growth);
  kw_put_u64(&a.out, op.infer != NULL);
  kw_put_u64(&a.out, op.reference != NULL);
  kw_status status = run(&a, &number);
  return status == KW_OK ? keep((void ***)&ops, &op_room, number, &op, sizeof op) : status;
}

/* ---- This process's own ------------------------------------------------------------------------------------------ */

static kw_status host_parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  (void)ctx;
  if (n < 0 || body == NULL) return say(KW_ERR_INVALID_ARGUMENT, "parallel_for got a negative n, or no body");
  return kw_parallel_for(n, grain, body, user);
}

static kw_status host_thread_count(void *ctx, uint32_t *out_count) {
  (void)ctx;
  *out_count = kw_parallel_threads();
  return KW_OK;
}

static kw_status host_alloc(void *ctx, uint64_t size, uint64_t alignment, void **out_pointer) {
  (void)ctx;
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return say(KW_ERR_INVALID_ARGUMENT, "host_alloc: the size is 0, or the alignment is no power of two");
  }
  void *pointer;
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  if (size > PTRDIFF_MAX || posix_memalign(&pointer, alignment, size) != 0) {
    return say(KW_ERR_OUT_OF_MEMORY, "so much host memory is not to be had");
  }
  *out_pointer = pointer;
  return KW_OK;
}

static kw_status host_free(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
  return KW_OK;
}

kw_host_api kw_host_table = {
    .struct_size = sizeof kw_host_table,
    .set_error = host_set_error,
    .log = host_log,
    .register_kernel = host_register_kernel,
    .define_op = host_define_op,
    .report_async_error = host_report_async_error,
    .run_callback = host_run_callback,
    .parallel_for = host_parallel_for,
    .thread_count = host_thread_count,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .report_build = host_report_build,
    .devices_changed = host_devices_changed,
};
