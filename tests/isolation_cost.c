/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs on cpu:0 when the plugin runs in a process of its own, beside direct: a table of medians. Each
 * column is a run of this program, since a process has a plugin one way or the other. "awake": call upon call, so that
 * the thread that answers has not gone to sleep yet; "woken": each after a pause.
 *
 * usage: isolation_cost
 */
#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 2001, NUMBERS = 1024, LARGE = 4 << 20 };
#define PAUSE_NS 200000u

static kw_device *device;
static kw_stream *stream;
static kw_graph *graph;
static kw_tensor *x, *y, *large;
static float *host;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void need(kw_status status) {
  if (status == KW_OK) return;
  fprintf(stderr, "isolation_cost: %s\n", kw_error_message());
  exit(1);
}

static void query(void) {
  need(kw_stream_query(stream));
}

static void wait_idle(void) {
  need(kw_stream_synchronize(stream));
}

static void call(void) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  need(kw_op_call(kw_op_find("add.Tensor"), stream, args, 2, &y, 1));
}

static void call_and_wait(void) {
  call();
  wait_idle();
}

static void launch_and_wait(void) {
  need(kw_graph_launch(graph, stream));
  wait_idle();
}

static void write_small(void) {
  need(kw_tensor_write(x, host));
}

static void read_small(void) {
  need(kw_tensor_read(x, host));
}

static void write_large(void) {
  need(kw_tensor_write(large, host));
}

static const struct {
  const char *name;
  void (*run)(void);
} rows[] = {{"`kw_stream_query`", query},
            {"`kw_stream_synchronize`, idle", wait_idle},
            {"`kw_op_call` of `add.Tensor`", call},
            {"the same, and a wait", call_and_wait},
            {"launch of a graph of 10, and a wait", launch_and_wait},
            {"`kw_tensor_write`, 4 KiB", write_small},
            {"`kw_tensor_read`, 4 KiB", read_small},
            {"`kw_tensor_write`, 16 MiB", write_large}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void make_all(void) {
  const int64_t small_shape[] = {NUMBERS}, large_shape[] = {LARGE};
  host = calloc(LARGE, sizeof *host);
  if (host == NULL) exit(1);
  need(kw_device_open("cpu:0", &device));
  need(kw_stream_create(device, &stream));
  need(kw_tensor_create(device, KW_F32, 1, small_shape, &x));
  need(kw_tensor_create(device, KW_F32, 1, small_shape, &y));
  need(kw_tensor_create(device, KW_F32, 1, large_shape, &large));
  write_small();
  need(kw_graph_begin(stream));
  for (int i = 0; i < 10; i++) call();
  need(kw_graph_end(stream, &graph));
  call_and_wait();
}

static int compare(const void *a, const void *b) {
  const double x_ns = *(const double *)a, y_ns = *(const double *)b;
  return (x_ns > y_ns) - (x_ns < y_ns);
}

/* Microseconds. */
static double median(void (*run)(void), bool pause) {
  static double taken[CALLS];
  const int calls = run == write_large ? CALLS / 20 : CALLS;
  for (int i = 0; i < calls; i++) {
    wait_idle();
    for (const uint64_t end = now_ns() + (pause ? PAUSE_NS : 0); now_ns() < end;) continue;
    const uint64_t begin = now_ns();
    run();
    taken[i] = (double)(now_ns() - begin) / 1000;
  }
  wait_idle();
  qsort(taken, (size_t)calls, sizeof *taken, compare);
  return taken[calls / 2];
}

/* One column, a number a line. */
static int measure(const char *column) {
  make_all();
  for (int i = 0; i < ROWS; i++) printf("%.3g\n", median(rows[i].run, strcmp(column, "woken") == 0));
  return 0;
}

static void read_column(const char *program, const char *column, double numbers[ROWS]) {
  char command[4096];
  snprintf(command, sizeof command, "%s '%s' %s", strcmp(column, "direct") == 0 ? "" : "KEYWAY_ISOLATE=keyway_cpu",
           program, column);
  FILE *pipe = popen(command, "r");
  bool good = pipe != NULL;
  for (int i = 0; i < ROWS && good; i++) good = fscanf(pipe, "%lf", &numbers[i]) == 1;
  if (pipe == NULL || pclose(pipe) != 0 || !good) exit(1);
}

int main(int argc, char **argv) {
  static const char *const columns[] = {"direct", "awake", "woken"};
  double numbers[3][ROWS];
  if (argc == 2) return measure(argv[1]);
  for (int c = 0; c < 3; c++) read_column(argv[0], columns[c], numbers[c]);
  printf("| microseconds | direct | isolated, awake | isolated, woken |\n|---|---:|---:|---:|\n");
  for (int i = 0; i < ROWS; i++)
    printf("| %s | %.3g | %.3g | %.3g |\n", rows[i].name, numbers[0][i], numbers[1][i], numbers[2][i]);
  return 0;
}
