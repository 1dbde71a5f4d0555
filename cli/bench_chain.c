/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight pointwise calls in a row, on a matrix of N numbers: one by one, and as a graph, which a device may run piece by
 * piece.
 */
#include "bench_program.h"

#include <stdlib.h>

enum { COLUMNS = 1024 };

typedef struct chain {
  kw_stream *stream;
  kw_tensor *x, *w, *bias; /* [N / 1024, 1024] twice, and [1024] */
  kw_graph *graph;         /* of the calls; NULL: they are made */
} chain;

/* What the calls work on: y is what the last one made, which goes when the next has read it. */
static kw_status apply(const char *op, kw_tensor **y, kw_tensor *other) {
  const kw_value args[] = {kw_arg_tensor(*y), kw_arg_tensor(other)};
  kw_tensor *made = NULL;
  const kw_status status = kw_op_call(kw_op_find(op), NULL, args, other ? 2 : 1, &made, 1);
  kw_tensor_release(*y);
  *y = made;
  return status;
}

/* y = (|w - x * relu(x * w + bias)|) ^ 2 */
static kw_status make_calls(const chain *program) {
  kw_tensor *y = program->x;
  kw_tensor_retain(y);
  kw_status status = apply("mul.Tensor", &y, program->w);
  if (status == KW_OK) status = apply("add.Tensor", &y, program->bias);
  if (status == KW_OK) status = apply("relu", &y, NULL);
  if (status == KW_OK) status = apply("mul.Tensor", &y, program->x);
  if (status == KW_OK) status = apply("neg", &y, NULL);
  if (status == KW_OK) status = apply("add.Tensor", &y, program->w);
  if (status == KW_OK) status = apply("abs", &y, NULL);
  if (status == KW_OK) status = apply("mul.Tensor", &y, y);
  kw_tensor_release(y);
  return status;
}

static kw_status make_tensor(kw_device *device, uint32_t rank, const int64_t *shape, double value, kw_tensor **out) {
  kw_status status = kw_tensor_create(device, KW_F32, rank, shape, out);
  if (status != KW_OK) return status;
  const kw_value args[] = {kw_arg_tensor(*out), kw_arg_float(value)};
  return kw_op_call(kw_op_find("fill_.Scalar"), NULL, args, 2, out, 1);
}

static void release(void *state) {
  chain *program = state;
  kw_graph_destroy(program->graph);
  kw_tensor_release(program->x);
  kw_tensor_release(program->w);
  kw_tensor_release(program->bias);
  free(program);
}

static kw_status record(chain *program) {
  kw_status status = kw_graph_begin(program->stream);
  if (status != KW_OK) return status;
  const kw_status made = make_calls(program);
  status = kw_graph_end(program->stream, &program->graph);
  return made == KW_OK ? status : made;
}

static kw_status make(kw_device *device, int64_t size, bool as_graph, void **out_state) {
  const int64_t columns = size < COLUMNS ? size : COLUMNS, shape[] = {size / columns, columns};
  chain *program = calloc(1, sizeof *program);
  if (!program) return KW_ERR_OUT_OF_MEMORY;
  program->stream = kw_stream_default(device);
  kw_status status = make_tensor(device, 2, shape, 0.5, &program->x);
  if (status == KW_OK) status = make_tensor(device, 2, shape, 0.25, &program->w);
  if (status == KW_OK) status = make_tensor(device, 1, &columns, 1, &program->bias);
  if (status == KW_OK && as_graph) status = record(program);
  if (status == KW_OK) {
    *out_state = program;
  } else {
    release(program);
  }
  return status;
}

static kw_status make_of_calls(kw_device *device, int64_t size, void **out_state) {
  return make(device, size, false, out_state);
}

static kw_status make_of_graph(kw_device *device, int64_t size, void **out_state) {
  return make(device, size, true, out_state);
}

static kw_status run(void *state) {
  const chain *program = state;
  return program->graph ? kw_graph_launch(program->graph, program->stream) : make_calls(program);
}

const kw_bench_steps kw_bench_chain = {make_of_calls, run, release};
const kw_bench_steps kw_bench_chain_graph = {make_of_graph, run, release};
