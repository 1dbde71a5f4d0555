/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a node's mapping: the calls of Keyway's ops that make its outputs of its inputs. A mapping is written once
 * and runs in two ways. When ONNX Runtime asks whether the device takes the node, values are descriptors and each call
 * is only asked about (kw_op_can_run); when the node runs they are tensors. So nothing is taken that then fails.
 *
 * A function that fails says so once, in run.why; what it returns is NULL, and whatever is given a NULL for a value
 * does nothing.
 */
#ifndef KEYWAY_ORT_RUN_H
#define KEYWAY_ORT_RUN_H

#include <keyway/keyway.h>

#include "node.h"
#include "provider.h"

#define RUN_MAX_INPUTS 64
#define RUN_MAX_VALUES 160
#define RUN_MAX_RESULTS 4
#define RUN_MAX_INTS 256

typedef struct value {
  kw_tensor_ref ref;
  kw_tensor *tensor; /* NULL while it is only asked */
  char *address;     /* of element 0 where it is ONNX Runtime's; otherwise NULL, and */
  uint64_t start;    /* bytes from the start of its memory to element 0 */
} value;

/* Numbers of an input in host memory. */
typedef struct ints {
  int64_t at[RUN_MAX_INTS];
  unsigned count;
} ints;

typedef struct run {
  node *node;
  kw_device *device;
  kw_stream *stream;
  const void *handle;        /* what ONNX Runtime gives it as a stream: kw_ort_stream_for */
  OrtKernelContext *context; /* NULL: it is only asked */
  unsigned input_count;
  const OrtValue *constants[RUN_MAX_INPUTS]; /* while it is only asked: inputs that are known already */
  value *inputs[RUN_MAX_INPUTS];             /* NULL: not given */
  kw_dtype output_dtypes[RUN_MAX_RESULTS];   /* while it is only asked: KW_DTYPE_NONE is not known */
  bool guessed;                              /* while it is only asked: sizes, or numbers of inputs, are guesses */
  bool bits64;                               /* u64 may be taken as i64 */
  bool widens;                               /* an input was unsigned, and is wider now: run_widened */
  bool failed;
  kw_status status;
  struct {
    kw_tensor *tensor; /* a reference */
    void *host;
  } host_outputs[RUN_MAX_INPUTS]; /* outputs that are bound in host memory: run_write_back */
  unsigned host_output_count;
  unsigned value_count;
  /* What follows is large, and is not cleared for each run. */
  char why[KW_ORT_TEXT];                     /* once it has failed */
  char host[RUN_MAX_INTS * sizeof(int64_t)]; /* numbers of an input that lay on the device all the same */
  value values[RUN_MAX_VALUES];
} run;

/* To be freed. NULL: no memory. */
run *run_make(void);

/* What went wrong, for people: "mode cubic of rank 5". Returns false. */
bool run_refuse(run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call of Keyway's failed. Returns false. */
bool run_fail(run *run, kw_status status, const char *what);
bool run_asks(const run *run);
/* Outputs that are bound in host memory: they get what was computed. */
bool run_write_back(run *run);
void run_end(run *run);

/* Gives up the values made since there were `mark` of them, but for two, which move: what a step of a loop leaves. */
void run_forget(run *run, unsigned mark, const value **first, const value **second);

/* NULL where the node has no such input: not an error. Keyway's ops compute on no unsigned integers of more than 8
 * bits: u16 comes as i32, u32 as i64 with the same numbers, u64 as i64 with the same bits where the row allows that. */
kw_dtype run_widened(kw_dtype dtype);
value *run_input(run *run, unsigned index);
value *run_raw_input(run *run, unsigned index); /* as it is */
/* The numbers of an input that lies in host memory, all converted to i64. False where they are not known before the
 * node runs, and without that input. */
bool run_ints(run *run, unsigned index, ints *out_ints);
bool run_has_ints(run *run, unsigned index);
/* The same, with a guess where they are not known yet. */
void run_ints_or(run *run, unsigned index, ints *out_ints, const int64_t *guess, unsigned count);
/* The first element of a float or integer input in host memory. */
bool run_number(run *run, unsigned index, double *out_number);

/* The numbers of such an input, at most so many. Returns how many there are; 0 where they are not known. */
unsigned run_numbers(run *run, unsigned index, double *out_numbers, unsigned most);
/* The first element of a value in host memory, and its dtype. */
bool run_host_number(run *run, const OrtValue *from, double *out_number, kw_dtype *out_dtype);
/* The dtype of an input in host memory, while it runs. */
bool run_host_dtype(run *run, unsigned index, kw_dtype *out_dtype);
int64_t run_numel(const value *of);
int64_t run_numel_from(const value *of, unsigned dim); /* of the dimensions from this one on */

/* ---- Calls. `to[i]` is the output of the node that result i is, or -1. */
kw_value arg(const value *value); /* none for NULL */
bool run_op(run *run, const char *op, const kw_value *args, unsigned count, value **out_results, const int *to);
/* Result 0 of a call. */
value *run_call(run *run, const char *op, const kw_value *args, unsigned count);
/* A call whose result 0 is output `output`. */
bool run_call_to(run *run, unsigned output, const char *op, const kw_value *args, unsigned count);
/* The same in another shape of as many elements: it is computed in the output's memory. */
bool run_call_as(run *run, unsigned output, unsigned rank, const int64_t *shape, const char *op, const kw_value *args,
                 unsigned count);
#define CALL(run, op, ...) \
  run_call(run, op, (kw_value[]){__VA_ARGS__}, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
#define CALL_TO(run, output, op, ...) \
  run_call_to(run, output, op, (kw_value[]){__VA_ARGS__}, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
/* Result 0 of a counted op, as long as the data say: the run waits for the device. */
value *run_counted(run *run, const char *op, const kw_value *args, unsigned count);
#define COUNTED(run, op, ...) \
  run_counted(run, op, (kw_value[]){__VA_ARGS__}, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
/* A list of tensors for an argument; `refs` has room for as many and lives as long as the argument is used. */
kw_value run_list(const run *run, value *const *values, unsigned count, const kw_tensor_ref **refs);

/* Output `output`, to be written: NULL where the node has none. */
value *run_output(run *run, unsigned output, kw_dtype dtype, unsigned rank, const int64_t *shape);
/* Copies a value to an output, with its dtype; to an unsigned one of more than 8 bits the lowest bits of it. */
bool run_put(run *run, unsigned output, const value *from);
/* The same with another shape of as many elements. */
bool run_put_as(run *run, unsigned output, const value *from, unsigned rank, const int64_t *shape);
bool run_copy(run *run, const value *to, const value *from);
/* An output in host memory, of i64. */
bool run_put_ints(run *run, unsigned output, unsigned rank, const int64_t *shape, const int64_t *numbers);
bool run_wants(const run *run, unsigned output);

/* ---- Views. */
value *run_view(run *run, const value *of, unsigned rank, const int64_t *shape, const int64_t *strides, int64_t offset);
/* The same bits as a dtype that ops compute on: what is only moved. */
value *run_bits(run *run, const value *of);
value *run_permute(run *run, const value *of, const int64_t *dims);                     /* as many as its rank */
value *run_permute_rank(run *run, const value *of, unsigned rank, const int64_t *dims); /* refuses another rank */
#define PERMUTE(run, of, ...) \
  run_permute_rank(run, of, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
/* Of any value: copied where its elements do not lie one after the other. */
value *run_reshape(run *run, const value *of, unsigned rank, const int64_t *shape);
value *run_flatten(run *run, const value *of, unsigned axis); /* [product before axis, product from it] */
value *run_expand(run *run, const value *of, unsigned rank, const int64_t *shape);
value *run_slice(run *run, const value *of, unsigned dim, int64_t start, int64_t count, int64_t step);
value *run_cast(run *run, const value *of, kw_dtype dtype);
value *run_contiguous(run *run, const value *of);
value *run_empty(run *run, kw_dtype dtype, unsigned rank, const int64_t *shape);
/* Numbers of the host's: f32 or i64. */
value *run_from_host(run *run, kw_dtype dtype, unsigned rank, const int64_t *shape, const void *numbers);
value *run_unsqueeze(run *run, const value *of, unsigned dim);

/* Dimension `axis` of `rank`, a negative one counted from the end; refused outside of it. */
bool run_axis(run *run, int64_t axis, unsigned rank, unsigned *out_axis);

#endif
