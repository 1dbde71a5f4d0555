/* SPDX-License-Identifier: Apache-2.0
 *
 * What `keyway bench` runs: calls of ops, in families, each at a few sizes.
 */
#ifndef KEYWAY_CLI_BENCH_WORK_H
#define KEYWAY_CLI_BENCH_WORK_H

#include "args.h"
#include "value.h"

#include <keyway/keyway.h>

/* How the sizes of a workload are counted, and which there are unless --size says so. */
typedef enum kw_bench_scale {
  KW_BENCH_ELEMENTS, /* of a vector */
  KW_BENCH_FEWER,    /* the same, where an element takes long */
  KW_BENCH_SQUARE,   /* rows of a square matrix */
  KW_BENCH_SEQUENCE, /* tokens */
  KW_BENCH_CHANNELS, /* of an image */
  KW_BENCH_CACHE,    /* tokens in a cache, of so many sequences that the product of both is 65536 */
  KW_BENCH_POINTS,   /* in the plane */
  KW_BENCH_ONCE,     /* a model, of the size that it has */
  KW_BENCH_SCALES
} kw_bench_scale;

typedef struct kw_bench_work {
  const char *name; /* of an op; of a program that is several calls */
  const char *family;
  kw_bench_scale scale;
  const char *args; /* the op's, in the schema's order: bench_work.c; NULL for a program */
} kw_bench_work;

extern const kw_bench_work kw_bench_works[];
extern const uint32_t kw_bench_work_count;

#define KW_BENCH_SIZES 16
typedef struct kw_bench_sizes {
  uint32_t count;
  int64_t items[KW_BENCH_SIZES];
} kw_bench_sizes;
const kw_bench_sizes *kw_bench_usual_sizes(kw_bench_scale scale);

/* The dtypes that workloads are measured in. */
#define KW_BENCH_DTYPES 4
extern const kw_dtype kw_bench_dtypes[KW_BENCH_DTYPES];
/* Those of --dtype, none where it is not given. False, and said on stderr, for others, and for too many. */
bool kw_bench_take_dtypes(const kw_cli_args *args, kw_dtype out_dtypes[KW_BENCH_DTYPES], uint32_t *out_count);

#define KW_BENCH_ARGS 16
#define KW_BENCH_TENSORS 8
#define KW_BENCH_RESULTS 6

/* One workload at one size, with its tensors on the device. */
typedef struct kw_bench_call {
  const kw_bench_work *work;
  const kw_op *op;   /* NULL for a program */
  kw_stream *stream; /* the device's default stream, which says where factories are to make their results */
  int64_t size;
  kw_dtype dtype;
  uint32_t arg_count, tensor_count, out_count;
  kw_value args[KW_BENCH_ARGS];
  kw_cli_storage storage[KW_BENCH_ARGS];
  const kw_tensor_ref *lists[KW_BENCH_TENSORS]; /* what tensor lists of args point into */
  kw_tensor *tensors[KW_BENCH_TENSORS];
  int64_t below[KW_BENCH_TENSORS];   /* what the tensor's integers are less than; 0 for other dtypes */
  int64_t steps[KW_BENCH_TENSORS];   /* what the tensor's integers are multiples of, in order; 0: as `below` says */
  kw_tensor *outs[KW_BENCH_RESULTS]; /* made by the first run; NULL where the result is an argument */
} kw_bench_call;

/* KW_ERR_UNSUPPORTED, with no message, for a workload that is none of the dtype. */
kw_status kw_bench_call_make(kw_device *device, const kw_bench_work *work, int64_t size, kw_dtype dtype,
                             kw_bench_call *out_call);
void kw_bench_call_release(kw_bench_call *call);
kw_status kw_bench_call_run(kw_bench_call *call);

/* Of a call that has run: the additions and multiplications of products, 0 for other ops. */
double kw_bench_call_flops(const kw_bench_call *call);
/* And the bytes that it has to move at least; 0 where the data say how many these are. */
double kw_bench_call_bytes(const kw_bench_call *call);
/* The first tensor that has dimensions; NULL when there is none. */
const kw_tensor_ref *kw_bench_call_shape(const kw_bench_call *call);
/* "[1, 8, 64, 64] causal": what tells it from others of its op. Of a program, its size. */
void kw_bench_call_describe(const kw_bench_call *call, char *text, size_t size);

#endif /* KEYWAY_CLI_BENCH_WORK_H */
