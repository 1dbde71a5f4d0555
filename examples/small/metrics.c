/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics without waiting: while batches are classified, the loss and the confusion of classes add up on the device.
 * Now and then a copy of both sets out for the host; an event tells when it is there, and no batch waits for it.
 *
 * usage: metrics [DEVICE]
 */
#include "example.h"

#include <string.h>

enum {
  CLASSES = 3,
  WIDTH = 8,
  BATCH = 512,
  BATCHES = 64,
  POINTS = BATCH * BATCHES,
  EVERY = 16,
  REPORTS = BATCHES / EVERY
};

/* What adds up: the sum of losses, their number, and how often class i (row) was taken for class j. */
typedef struct metrics {
  kw_tensor *sum, *count, *confusion;
} metrics;

/* The same at one moment, on the way to the host. */
typedef struct report {
  double sum;
  int64_t count, confusion[CLASSES][CLASSES];
  kw_event *arrived;
  bool sent, printed;
} report;

/* Points around the centres of their classes, all on the device before the first batch: a write would wait. */
static void make_points(const kw_tensor *centres, kw_tensor **points, kw_tensor **targets) {
  static float noise[POINTS][WIDTH];
  static int64_t classes[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    classes[i] = i % CLASSES;
    for (int k = 0; k < WIDTH; ++k) noise[i][k] = draw();
  }
  *targets = kwx_tensor(KW_I64, KW_INTS(POINTS), classes);
  *points = kwx_add_tensor(kwx_index_select(centres, 0, *targets), kwx_tensor(KW_F32, KW_INTS(POINTS, WIDTH), noise));
}

/* A point belongs to the centre in whose direction it lies. */
static void classify(kw_device *device, const metrics *m, const kw_tensor *centres, const kw_tensor *points,
                     const kw_tensor *targets) {
  kw_scope *scope = begin(device);
  kw_tensor *scores = kwx_linear(points, centres, NULL);
  kw_accumulate_mean_(m->sum, m->count, kwx_cross_entropy_loss(scores, targets, NULL, 0));
  kw_accumulate_confusion_(m->confusion, kwx_argmax(scores, 1), targets);
  check(kw_scope_end(scope));
}

/* Enqueued behind what was classified so far. The copy reads what is there by then: no batch after it is in it. */
static void send(kw_device *device, const metrics *m, report *r) {
  kw_stream *stream = kw_stream_default(device);
  check(kw_tensor_read_async(m->sum, &r->sum, stream));
  check(kw_tensor_read_async(m->count, &r->count, stream));
  check(kw_tensor_read_async(m->confusion, r->confusion, stream));
  check(kw_event_create(device, &r->arrived));
  check(kw_event_record(r->arrived, stream));
  r->sent = true;
}

/* If it is there. */
static void print(report *r) {
  if (!r->sent || r->printed) return;
  const kw_status status = kw_event_query(r->arrived);
  if (status == KW_ERR_NOT_READY) return;
  check(status);
  int64_t right = 0;
  for (int c = 0; c < CLASSES; ++c) right += r->confusion[c][c];
  printf("%6lld points: mean loss %.4f, %.2f %% right\n", (long long)r->count, r->sum / (double)r->count,
         100 * (double)right / (double)r->count);
  r->printed = true;
}

int main(int argc, char **argv) {
  static float numbers[CLASSES][WIDTH];
  void *memory;
  kw_device *device = open_device(argc, argv, 1);
  check(kw_host_alloc(device, sizeof(report) * REPORTS, &memory)); /* what a device copies to without waiting */
  report *reports = memset(memory, 0, sizeof(report) * REPORTS);
  kw_scope *scope = begin(device);
  for (int c = 0; c < CLASSES; ++c) numbers[c][c] = 0.6F;
  kw_tensor *centres = kwx_tensor(KW_F32, KW_INTS(CLASSES, WIDTH), numbers), *points, *targets;
  make_points(centres, &points, &targets);
  const metrics m = {kwx_full(KW_INTS(1), 0, KW_F64), kwx_full(KW_INTS(1), 0, KW_I64),
                     kwx_full(KW_INTS(CLASSES, CLASSES), 0, KW_I64)};
  for (int64_t batch = 0; batch < BATCHES; ++batch) {
    const int64_t begins = batch * BATCH, ends = begins + BATCH;
    classify(device, &m, centres, kwx_slice(points, 0, begins, ends), kwx_slice(targets, 0, begins, ends));
    if ((batch + 1) % EVERY == 0) send(device, &m, &reports[batch / EVERY]);
    for (int i = 0; i < REPORTS; ++i) print(&reports[i]);
  }
  check(kw_device_synchronize(device)); /* the only wait for them, behind the last batch */
  for (int i = 0; i < REPORTS; ++i) {
    print(&reports[i]);
    check(kw_event_destroy(reports[i].arrived));
  }
  printf("on %s\n", kw_device_name(device));
  check(kw_scope_end(scope));
  check(kw_host_free(device, memory));
  check(kw_device_close(device));
  return 0;
}
