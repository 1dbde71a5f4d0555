/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the queue kit over a driver whose queues the test moves forward command by command: what may start, what
 * waits, and what becomes of commands that fail, of a lost device and of a full ring.
 */
#include "kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define QUEUES 2u
#define STAGING 64u
#define MOST 64u /* commands of a queue in a test */

/* ---- The host ---------------------------------------------------------------------------------------------------- */

/* What the host was told, and the door that a callback waits at. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  char text[200], error[200];
  int late_errors;
  uint64_t late_token, late_call, ran;
  kw_status late_status;
  bool door_shut;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static kw_status set_error(void *ctx, kw_status status, const char *text) {
  (void)ctx;
  pthread_mutex_lock(&seen.lock);
  snprintf(seen.error, sizeof seen.error, "%s", text);
  pthread_mutex_unlock(&seen.lock);
  return status;
}

static kw_status report_async_error(void *ctx, uint64_t token, uint64_t call_id, kw_status status, const char *text) {
  (void)ctx;
  pthread_mutex_lock(&seen.lock);
  ++seen.late_errors;
  seen.late_token = token;
  seen.late_call = call_id;
  seen.late_status = status;
  snprintf(seen.text, sizeof seen.text, "%s", text);
  pthread_mutex_unlock(&seen.lock);
  return KW_OK;
}

static kw_status run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  pthread_mutex_lock(&seen.lock);
  seen.ran = token;
  pthread_cond_broadcast(&seen.changed);
  while (seen.door_shut) pthread_cond_wait(&seen.changed, &seen.lock);
  pthread_mutex_unlock(&seen.lock);
  return KW_OK;
}

static const kw_host_api host = {.struct_size = sizeof host,
                                 .abi_version = KW_ABI_VERSION,
                                 .set_error = set_error,
                                 .report_async_error = report_async_error,
                                 .run_callback = run_callback};

/* ---- The driver -------------------------------------------------------------------------------------------------- */

typedef struct fake_command {
  uint64_t ticket;
  bool copies;
  kw_queue_copy copy;
  char name;
} fake_command;

typedef struct fake_queue {
  fake_command commands[MOST];
  uint32_t put, run;
  uint64_t done;
  kw_queue_failure failure; /* the next one to be given; its status KW_OK: none */
} fake_queue;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t submitted;
  uint32_t ring, refusals; /* places of a queue; how often submit has said that it is full */
  kw_status refuses;       /* what submit answers */
  fake_queue queues[QUEUES];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .submitted = PTHREAD_COND_INITIALIZER};

static kw_status count(const kw_host_api *of, uint32_t *out_count) {
  (void)of;
  *out_count = 1;
  return KW_OK;
}

static kw_status describe(const kw_host_api *of, uint32_t index, kw_device_info *out_info) {
  (void)of, (void)index, (void)out_info;
  return KW_OK;
}

static kw_status open_chip(const kw_host_api *of, uint32_t index, void **out_chip) {
  (void)of, (void)index;
  *out_chip = &fake;
  return KW_OK;
}

static void close_chip(void *chip) {
  (void)chip;
}

static kw_status alloc(void *chip, uint64_t size, uint64_t alignment, kw_mem *out_mem) {
  (void)chip, (void)alignment;
  *out_mem = malloc(size);
  return *out_mem ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static void dealloc(void *chip, kw_mem mem) {
  (void)chip;
  free(mem);
}

static kw_status append(uint32_t number, fake_command command) {
  pthread_mutex_lock(&fake.lock);
  fake_queue *queue = &fake.queues[number];
  kw_status status = fake.refuses;
  if (status == KW_OK && queue->put - queue->run >= fake.ring) status = KW_ERR_NOT_READY;
  if (status == KW_OK) queue->commands[queue->put++] = command;
  if (status == KW_ERR_NOT_READY) ++fake.refusals;
  pthread_cond_broadcast(&fake.submitted);
  pthread_mutex_unlock(&fake.lock);
  if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
  return kw_queue_fail(&host, status, "unit %d is not there", 7);
}

static kw_status submit(void *chip, uint32_t queue, uint64_t ticket, const void *command, size_t size) {
  (void)chip;
  assert_int_equal(size, 1);
  return append(queue, (fake_command){.ticket = ticket, .name = *(const char *)command});
}

static kw_status copy(void *chip, uint32_t queue, uint64_t ticket, const kw_queue_copy *what) {
  (void)chip;
  return append(queue, (fake_command){.ticket = ticket, .copies = true, .copy = *what});
}

static uint64_t done(void *chip, uint32_t queue) {
  (void)chip;
  pthread_mutex_lock(&fake.lock);
  const uint64_t newest = fake.queues[queue].done;
  pthread_mutex_unlock(&fake.lock);
  return newest;
}

static bool failure(void *chip, uint32_t queue, kw_queue_failure *out_failure) {
  (void)chip;
  pthread_mutex_lock(&fake.lock);
  kw_queue_failure *next = &fake.queues[queue].failure;
  const bool any = next->status != KW_OK;
  if (any) *out_failure = *next;
  *next = (kw_queue_failure){0};
  pthread_mutex_unlock(&fake.lock);
  return any;
}

static const kw_queue_driver driver = {.key = "fake",
                                       .vendor = "acme",
                                       .version = "1",
                                       .description = "moves when it is told to",
                                       .build = "",
                                       .sanitizer = "",
                                       .queues = QUEUES,
                                       .staging_size = STAGING,
                                       .count = count,
                                       .describe = describe,
                                       .open = open_chip,
                                       .close = close_chip,
                                       .alloc = alloc,
                                       .dealloc = dealloc,
                                       .submit = submit,
                                       .copy = copy,
                                       .done = done,
                                       .failure = failure};

/* Waits until a queue has been given `count` commands in all. */
static void await_submitted(uint32_t queue, uint32_t commands) {
  pthread_mutex_lock(&fake.lock);
  while (fake.queues[queue].put < commands) pthread_cond_wait(&fake.submitted, &fake.lock);
  pthread_mutex_unlock(&fake.lock);
}

static uint32_t submitted(uint32_t queue) {
  pthread_mutex_lock(&fake.lock);
  const uint32_t commands = fake.queues[queue].put;
  pthread_mutex_unlock(&fake.lock);
  return commands;
}

/* Runs the queue's next command, which has been submitted, or lets it go wrong. */
static void step(uint32_t number, kw_status status) {
  pthread_mutex_lock(&fake.lock);
  fake_queue *queue = &fake.queues[number];
  assert_true(queue->run < queue->put);
  const fake_command *command = &queue->commands[queue->run++];
  const kw_queue_copy *what = &command->copy;
  if (status != KW_OK) {
    queue->failure = (kw_queue_failure){.ticket = command->ticket, .status = status, .text = "it broke"};
  } else if (command->copies) {
    memcpy(what->to_mem ? (char *)what->to_mem + what->to_offset : what->staging,
           what->from_mem ? (const char *)what->from_mem + what->from_offset : what->staging, what->size);
  }
  queue->done = command->ticket;
  pthread_mutex_unlock(&fake.lock);
}

/* ---- A device of it ---------------------------------------------------------------------------------------------- */

static const kw_plugin_desc *query(void) {
  const kw_query_info asked = {
      .struct_size = sizeof asked, .abi_min = KW_ABI_VERSION, .abi_max = KW_ABI_VERSION, .host_version = "test"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  assert_int_equal(kw_queue_query(&driver, &asked, &desc, &reason), KW_OK);
  return desc;
}

static const kw_stream_api *const streams = &kw_queue_stream_slots;
static const kw_event_api *const events = &kw_queue_event_slots;
static const kw_memory_api *const memory = &kw_queue_memory_slots;
static void *device;

static int open_device(void **state) {
  (void)state;
  void *plugin = NULL;
  seen.text[0] = seen.error[0] = '\0';
  seen.late_errors = 0;
  seen.ran = 0;
  seen.door_shut = false;
  memset(fake.queues, 0, sizeof fake.queues);
  fake.ring = MOST;
  fake.refuses = KW_OK;
  fake.refusals = 0;
  assert_int_equal(query()->init(&host, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin), KW_OK);
  const kw_open_info info = {.struct_size = sizeof info};
  assert_int_equal(kw_queue_device_slots.open(plugin, 0, &info, &device), KW_OK);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  return kw_queue_device_slots.close(device) == KW_OK ? 0 : -1;
}

static kw_queue_stream *make_stream(uint64_t token) {
  void *stream = NULL;
  const kw_stream_info info = {.struct_size = sizeof info, .token = token};
  assert_int_equal(streams->create(device, &info, &stream), KW_OK);
  return stream;
}

static void *make_event(void) {
  void *event = NULL;
  assert_int_equal(events->create(device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &event), KW_OK);
  return event;
}

static void enqueue(kw_queue_stream *stream, char name, uint64_t call_id) {
  const kw_call call = {.struct_size = sizeof call, .device = device, .stream = stream, .call_id = call_id};
  assert_int_equal(kw_queue_enqueue(&call, &name, 1), KW_OK);
}

static void synchronize(kw_queue_stream *stream) {
  assert_int_equal(streams->synchronize(device, stream, KW_WAIT_FOREVER), KW_OK);
}

static bool is_finished(kw_queue_stream *stream) {
  return streams->synchronize(device, stream, 0) == KW_OK;
}

static void destroy(kw_queue_stream *stream) {
  assert_int_equal(streams->destroy(device, stream), KW_OK);
}

/* Waits until the host's function has begun. */
static void await_callback(uint64_t token) {
  pthread_mutex_lock(&seen.lock);
  while (seen.ran != token) pthread_cond_wait(&seen.changed, &seen.lock);
  pthread_mutex_unlock(&seen.lock);
}

static void set_door(bool shut) {
  pthread_mutex_lock(&seen.lock);
  seen.door_shut = shut;
  pthread_cond_broadcast(&seen.changed);
  pthread_mutex_unlock(&seen.lock);
}

static void *alloc_bytes(uint64_t size) {
  kw_mem mem = NULL;
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 16};
  assert_int_equal(memory->alloc(device, &info, &mem), KW_OK);
  return mem;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void streams_share_queues_in_the_order_of_their_commands(void **state) {
  (void)state;
  kw_queue_stream *of[] = {make_stream(1), make_stream(2), make_stream(3)};
  for (uint32_t i = 0; i < 3; ++i) enqueue(of[i], (char)('a' + i), i);
  assert_int_equal(submitted(0) + submitted(1), 3);
  const uint32_t shared = submitted(0) == 2 ? 0 : 1;
  assert_int_equal(submitted(shared), 2);
  assert_int_equal(fake.queues[shared].commands[0].name, 'a');
  assert_int_equal(fake.queues[shared].commands[1].name, 'c');
  assert_false(is_finished(of[0]));
  assert_int_equal(streams->query(device, of[0]), KW_ERR_NOT_READY);
  step(shared, KW_OK);
  synchronize(of[0]);
  assert_int_equal(streams->query(device, of[0]), KW_OK);
  assert_false(is_finished(of[1]));
  assert_false(is_finished(of[2]));
  step(shared, KW_OK);
  step(1 - shared, KW_OK);
  for (uint32_t i = 0; i < 3; ++i) destroy(of[i]);
}

static void a_stream_waits_for_another_on_the_same_queue(void **state) {
  (void)state;
  kw_queue_stream *first = make_stream(1), *between = make_stream(2), *second = make_stream(3);
  void *event = make_event();
  assert_int_equal(first->queue, second->queue);
  const uint32_t queue = first->queue;
  assert_int_equal(events->query(device, event), KW_OK); /* not recorded: passed */
  enqueue(first, 'a', 1);
  assert_int_equal(events->record(device, event, first), KW_OK);
  assert_int_equal(events->wait(device, second, event), KW_OK);
  enqueue(second, 'b', 2);
  assert_int_equal(submitted(queue), 1);
  assert_int_equal(events->query(device, event), KW_ERR_NOT_READY);
  assert_int_equal(events->synchronize(device, event, 0), KW_ERR_TIMEOUT);
  assert_int_equal(events->destroy(device, event), KW_OK); /* the wait stays */
  assert_int_equal(submitted(queue), 1);
  step(queue, KW_OK);
  await_submitted(queue, 2);
  assert_int_equal(fake.queues[queue].commands[1].name, 'b');
  step(queue, KW_OK);
  destroy(first), destroy(second), destroy(between);
}

/* What ends at once, a wait for an event that has passed, ends no sooner than what is before it on the stream. */
static void a_wait_does_not_end_before_what_is_before_it(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1);
  void *event = make_event();
  assert_int_equal(events->record(device, event, stream), KW_OK);
  synchronize(stream);
  const uint64_t before = stream->finished;
  enqueue(stream, 'a', 1);
  assert_int_equal(events->wait(device, stream, event), KW_OK);
  enqueue(stream, 'b', 2);
  assert_int_equal(events->wait(device, stream, event), KW_OK);
  assert_int_equal(submitted(stream->queue), 2); /* neither wait holds anything up */
  pthread_mutex_lock(&stream->device->lock);
  assert_int_equal(stream->finished, before);
  pthread_mutex_unlock(&stream->device->lock);
  step(stream->queue, KW_OK);
  step(stream->queue, KW_OK);
  synchronize(stream);
  assert_int_equal(stream->finished, stream->enqueued);
  assert_int_equal(events->destroy(device, event), KW_OK);
  destroy(stream);
}

static void a_full_queue_is_filled_again_as_it_empties(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1);
  fake.ring = 2;
  for (uint32_t i = 0; i < 5; ++i) enqueue(stream, (char)('a' + i), i);
  assert_int_equal(submitted(stream->queue), 2);
  for (uint32_t i = 0; i < 5; ++i) {
    step(stream->queue, KW_OK);
    await_submitted(stream->queue, i + 3 < 5 ? i + 3 : 5);
  }
  for (uint32_t i = 0; i < 5; ++i) assert_int_equal(fake.queues[stream->queue].commands[i].name, 'a' + i);
  destroy(stream);
}

/* Full of what others do: nothing of ours will finish. */
static void a_queue_that_others_fill_is_asked_again(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1);
  pthread_mutex_lock(&fake.lock);
  fake.refuses = KW_ERR_NOT_READY;
  pthread_mutex_unlock(&fake.lock);
  enqueue(stream, 'a', 1);
  pthread_mutex_lock(&fake.lock);
  while (fake.refusals < 3) pthread_cond_wait(&fake.submitted, &fake.lock);
  fake.refuses = KW_OK;
  pthread_mutex_unlock(&fake.lock);
  await_submitted(stream->queue, 1);
  step(stream->queue, KW_OK);
  destroy(stream);
}

static void late_failures_are_told_before_the_stream_is_done(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(77);
  enqueue(stream, 'a', 5);
  enqueue(stream, 'b', 6);
  step(stream->queue, KW_OK);
  step(stream->queue, KW_ERR_INTERNAL);
  synchronize(stream);
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(seen.late_token, 77);
  assert_int_equal(seen.late_call, 6);
  assert_int_equal(seen.late_status, KW_ERR_INTERNAL);
  assert_string_equal(seen.text, "it broke");
  enqueue(stream, 'c', 7);
  step(stream->queue, KW_OK);
  destroy(stream);
  assert_int_equal(seen.late_errors, 1);
}

/* In the driver's own words; what is before it on the stream has its time. */
static void refused_commands_are_told_with_what_the_driver_said(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1);
  enqueue(stream, 'a', 8);
  pthread_mutex_lock(&fake.lock);
  fake.refuses = KW_ERR_UNSUPPORTED;
  pthread_mutex_unlock(&fake.lock);
  enqueue(stream, 'b', 9);
  pthread_mutex_lock(&fake.lock);
  fake.refuses = KW_OK;
  pthread_mutex_unlock(&fake.lock);
  enqueue(stream, 'c', 10);
  assert_false(is_finished(stream));
  pthread_mutex_lock(&stream->device->lock);
  assert_int_equal(stream->finished, 0);
  pthread_mutex_unlock(&stream->device->lock);
  step(stream->queue, KW_OK);
  step(stream->queue, KW_OK);
  synchronize(stream);
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(seen.late_call, 9);
  assert_int_equal(seen.late_status, KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(seen.text, "unit 7 is not there"));
  destroy(stream);
}

static void copies_go_by_pieces_both_ways(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1);
  char from[3 * STAGING + 5], to[sizeof from];
  for (size_t i = 0; i < sizeof from; ++i) from[i] = (char)(i * 7);
  memset(to, 0, sizeof to);
  kw_mem mem = alloc_bytes(sizeof from);
  const kw_copy_info there = {.struct_size = sizeof there,
                              .kind = KW_COPY_HOST_TO_DEVICE,
                              .src_host = from,
                              .dst_mem = mem,
                              .size = sizeof from};
  const kw_copy_info back = {
      .struct_size = sizeof back, .kind = KW_COPY_DEVICE_TO_HOST, .src_mem = mem, .dst_host = to, .size = sizeof to};
  assert_int_equal(memory->copy(device, stream, &there), KW_OK);
  assert_int_equal(memory->copy(device, stream, &back), KW_OK);
  enqueue(stream, 'a', 1);
  for (uint32_t i = 0; i < 9; ++i) {
    await_submitted(stream->queue, i + 1);
    step(stream->queue, KW_OK);
  }
  synchronize(stream);
  assert_memory_equal(to, from, sizeof from);
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  destroy(stream);
}

/* The pieces around it arrive; nothing takes the place of what did not. */
static void a_piece_that_fails_leaves_the_host_s_bytes(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(4);
  char to[3 * STAGING];
  memset(to, 'h', sizeof to);
  kw_mem mem = alloc_bytes(sizeof to);
  memset(mem, 'd', sizeof to);
  const kw_copy_info back = {
      .struct_size = sizeof back, .kind = KW_COPY_DEVICE_TO_HOST, .src_mem = mem, .dst_host = to, .size = sizeof to};
  assert_int_equal(memory->copy(device, stream, &back), KW_OK);
  for (uint32_t i = 0; i < 3; ++i) {
    await_submitted(stream->queue, i + 1);
    step(stream->queue, i == 1 ? KW_ERR_INTERNAL : KW_OK);
  }
  synchronize(stream);
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(seen.late_token, 4);
  for (size_t i = 0; i < sizeof to; ++i) assert_int_equal(to[i], i / STAGING == 1 ? 'h' : 'd');
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  destroy(stream);
}

/* The third piece of a copy is refused while the second flies. */
static void a_copy_that_is_refused_midway_ends_with_what_flies(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(4);
  char from[3 * STAGING] = {0};
  kw_mem mem = alloc_bytes(sizeof from);
  const kw_copy_info there = {.struct_size = sizeof there,
                              .kind = KW_COPY_HOST_TO_DEVICE,
                              .src_host = from,
                              .dst_mem = mem,
                              .size = sizeof from};
  assert_int_equal(memory->copy(device, stream, &there), KW_OK);
  assert_int_equal(submitted(stream->queue), 2);
  pthread_mutex_lock(&fake.lock);
  fake.refuses = KW_ERR_INTERNAL;
  pthread_mutex_unlock(&fake.lock);
  step(stream->queue, KW_OK);
  step(stream->queue, KW_OK);
  synchronize(stream);
  assert_int_equal(submitted(stream->queue), 2);
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(stream->finished, 1);
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  destroy(stream);
}

/* A long copy of one stream does not keep the staging blocks from another's short one. */
static void long_copies_let_others_in_between(void **state) {
  (void)state;
  kw_queue_stream *patient = make_stream(1), *long_one = make_stream(2);
  char from[12 * STAGING] = {0};
  kw_mem mem = alloc_bytes(sizeof from);
  kw_copy_info there = {.struct_size = sizeof there,
                        .kind = KW_COPY_HOST_TO_DEVICE,
                        .src_host = from,
                        .dst_mem = mem,
                        .size = sizeof from};
  assert_int_equal(memory->copy(device, long_one, &there), KW_OK);
  there.size = 1;
  assert_int_equal(memory->copy(device, patient, &there), KW_OK);
  uint32_t steps = 0;
  while (submitted(patient->queue) == 0 && steps < 12) {
    await_submitted(long_one->queue, steps + 1);
    step(long_one->queue, KW_OK);
    ++steps;
    pthread_mutex_lock(&fake.lock); /* the block that came free goes to one or the other */
    while (fake.queues[patient->queue].put == 0 && fake.queues[long_one->queue].put < 12 &&
           fake.queues[long_one->queue].put < steps + 2)
      pthread_cond_wait(&fake.submitted, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
  }
  assert_true(steps < 6);
  step(patient->queue, KW_OK);
  for (; steps < 12; ++steps) {
    await_submitted(long_one->queue, steps + 1);
    step(long_one->queue, KW_OK);
  }
  destroy(patient), destroy(long_one);
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
}

static void a_callback_that_blocks_holds_up_its_stream_alone(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1), *other = make_stream(2);
  set_door(true);
  enqueue(stream, 'a', 1);
  assert_int_equal(streams->call_host(device, stream, 11), KW_OK);
  enqueue(stream, 'b', 2);
  assert_int_equal(submitted(stream->queue), 1);
  step(stream->queue, KW_OK);
  await_callback(11);
  assert_int_equal(submitted(stream->queue), 1);
  enqueue(other, 'c', 3);
  step(other->queue, KW_OK);
  synchronize(other);
  assert_false(is_finished(stream));
  set_door(false);
  await_submitted(stream->queue, 2);
  step(stream->queue, KW_OK);
  destroy(stream), destroy(other);
}

/* Nothing flies any more, nothing starts; functions of the host's still run. */
static void a_lost_device_ends_all_that_is_enqueued(void **state) {
  (void)state;
  kw_queue_stream *stream = make_stream(1), *other = make_stream(2);
  char to[4 * STAGING];
  memset(to, 'h', sizeof to);
  kw_mem mem = alloc_bytes(sizeof to);
  const kw_copy_info back = {
      .struct_size = sizeof back, .kind = KW_COPY_DEVICE_TO_HOST, .src_mem = mem, .dst_host = to, .size = sizeof to};
  void *event = make_event();
  enqueue(stream, 'a', 1);
  enqueue(stream, 'b', 2);
  assert_int_equal(streams->call_host(device, stream, 12), KW_OK);
  enqueue(stream, 'c', 3);
  assert_int_equal(events->record(device, event, stream), KW_OK);
  enqueue(other, 'd', 4);
  assert_int_equal(memory->copy(device, other, &back), KW_OK);
  assert_int_equal(events->wait(device, other, event), KW_OK);
  enqueue(other, 'e', 5);
  step(stream->queue, KW_ERR_DEVICE_LOST);
  synchronize(other);
  synchronize(stream);
  assert_int_equal(seen.late_status, KW_ERR_DEVICE_LOST);
  assert_int_equal(seen.late_errors, 1);
  assert_int_equal(seen.ran, 12);
  assert_int_equal(submitted(stream->queue), 2);
  assert_int_equal(to[0], 'h');
  enqueue(stream, 'f', 6); /* of a thread that does not know yet */
  assert_int_equal(events->destroy(device, event), KW_OK);
  assert_int_equal(memory->dealloc(device, mem), KW_OK);
  destroy(stream), destroy(other);
}

static void tables_that_cannot_work_are_refused(void **state) {
  (void)state;
  const kw_query_info asked = {
      .struct_size = sizeof asked, .abi_min = KW_ABI_VERSION, .abi_max = KW_ABI_VERSION, .host_version = "test"};
  const struct {
    const char *says;
    kw_queue_driver table;
  } cases[] = {
#define WITHOUT(member) {#member, driver}
      WITHOUT(queues), WITHOUT(queues), WITHOUT(submit), WITHOUT(alloc), WITHOUT(staging_free)};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kw_queue_driver table = cases[i].table;
    if (i == 0) table.queues = 0;
    if (i == 1) table.queues = KW_QUEUE_LIMIT + 1;
    if (i == 2) table.submit = NULL;
    if (i == 3) table.alloc = NULL;
    if (i == 4) table.staging_alloc = (void *(*)(void *, uint64_t))(uintptr_t)1;
    const kw_plugin_desc *desc = NULL;
    const char *reason = NULL;
    assert_int_equal(kw_queue_query(&table, &asked, &desc, &reason), KW_ERR_INVALID_ARGUMENT);
    assert_null(desc);
    assert_non_null(strstr(reason, cases[i].says));
  }
}

int main(void) {
#define ON_A_DEVICE(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_that_cannot_work_are_refused),
      ON_A_DEVICE(streams_share_queues_in_the_order_of_their_commands),
      ON_A_DEVICE(a_stream_waits_for_another_on_the_same_queue),
      ON_A_DEVICE(a_wait_does_not_end_before_what_is_before_it),
      ON_A_DEVICE(a_full_queue_is_filled_again_as_it_empties),
      ON_A_DEVICE(late_failures_are_told_before_the_stream_is_done),
      ON_A_DEVICE(refused_commands_are_told_with_what_the_driver_said),
      ON_A_DEVICE(copies_go_by_pieces_both_ways),
      ON_A_DEVICE(a_piece_that_fails_leaves_the_host_s_bytes),
      ON_A_DEVICE(a_copy_that_is_refused_midway_ends_with_what_flies),
      ON_A_DEVICE(long_copies_let_others_in_between),
      ON_A_DEVICE(a_callback_that_blocks_holds_up_its_stream_alone),
      ON_A_DEVICE(a_queue_that_others_fill_is_asked_again),
      ON_A_DEVICE(a_lost_device_ends_all_that_is_enqueued),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
