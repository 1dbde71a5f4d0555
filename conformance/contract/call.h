/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of any op, made from its schema: the tests that go over all ops start from it. Tensors are square (every size
 * is `edge`), so that most shape rules are content; what else an argument needs is in the table of call.c.
 */
#ifndef KEYWAY_CONTRACT_CALL_H
#define KEYWAY_CONTRACT_CALL_H

#include "contract_helpers.h"
#include "op_table.h"

enum { KW_TEST_ENTRIES = 2, KW_TEST_KINDS = 8, KW_TEST_ATTEMPTS = 24 };

/* A dtype of each kind: every op takes one of them. */
extern const kw_dtype kw_test_kinds[KW_TEST_KINDS];

/* What an argument is to its op. */
typedef enum kw_role {
  KW_ROLE_PLAIN,
  KW_ROLE_DATA,  /* a tensor of the call's dtype: takes part in what the op computes */
  KW_ROLE_INDEX, /* a tensor of indices below `edge`, i64 */
  KW_ROLE_COUNT, /* a tensor of numbers up to `edge`, i64 or i32 as indices: lengths, where parts begin */
  KW_ROLE_MASK,  /* a tensor of bool */
  KW_ROLE_SIZES  /* a list of sizes */
} kw_role;

typedef struct kw_test_arg {
  kw_arg_info info;
  kw_role role;
  kw_value value;                      /* as it is passed */
  kw_tensor *tensors[KW_TEST_ENTRIES]; /* of a tensor, or of the entries of a list */
  int64_t ints[KW_MAX_RANK];           /* behind a list of ints */
  kw_generator *generator;             /* of a copy */
} kw_test_arg;

/* What stands for the tensors of an argument where there are none: descriptors without memory. */
typedef struct kw_test_forms {
  kw_tensor_ref refs[KW_TEST_ENTRIES];
  const kw_tensor_ref *list[KW_TEST_ENTRIES];
} kw_test_forms;

/* Holds pointers into itself. */
typedef struct kw_test_call {
  const kw_op *op;
  kw_op_info info;
  kw_dtype dtype;
  uint32_t rank;
  int64_t edge;
  int64_t places; /* that an index can name: `edge` of them, or a whole plane */
  bool in_place;  /* it changes an argument */
  uint32_t given; /* arguments passed; those after it take their defaults */
  kw_test_arg args[KW_MAX_ARGS];
  kw_test_forms *forms; /* of each argument, in place of tensors; NULL in a call with tensors */
} kw_test_call;

/* Elements that any arithmetic bears: floats of +-[2^-3, 2) with random fractions, small whole numbers, bool 0 or 1. A
 * function of the run's seed, dtype and tag. */
void kw_test_fill(kw_dtype dtype, void *elements, size_t count, uint64_t tag);
/* A contiguous tensor of these. */
kw_tensor *kw_test_tensor(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape, uint64_t tag);

/* Makes a call of `op` on tensors of this dtype that the device can run, about `numel` elements each; false when there
 * is none. It was run once. */
bool kw_test_call_make(const kw_op *op, kw_dtype dtype, int64_t numel, kw_test_call *out_call);
void kw_test_call_free(kw_test_call *call);

/* Attempt `number` (below KW_TEST_ATTEMPTS) at a call of `op` on descriptors of this dtype, most of whose sizes are
 * `edge`: by arguments in `forms` (KW_MAX_ARGS entries), by results in out_results (KW_MAX_RESULTS). False when the op
 * refuses it. No device is needed, and there is nothing to free. */
bool kw_test_call_describe(const kw_op *op, kw_dtype dtype, int64_t edge, uint32_t number, kw_test_forms *forms,
                           kw_test_call *out_call, kw_tensor_ref *out_results);

/* Runs the call on the stream. outs has KW_MAX_RESULTS entries, NULL or as for kw_op_call; result i is outs[i], or the
 * argument that it is. */
kw_status kw_test_call_run(const kw_test_call *call, kw_stream *stream, kw_tensor **outs);
/* The arguments as an array for kw_op_call, KW_MAX_ARGS entries. */
void kw_test_call_values(const kw_test_call *call, kw_value *out_values);
/* Result i after a run: of outs, or the argument. */
kw_tensor *kw_test_call_result(const kw_test_call *call, kw_tensor **outs, uint32_t index);

/* The bytes of all results and of all arguments that the call changes, one after the other, zero for what a counted op
 * leaves unspecified, after the stream has passed the run; freed by the caller. Usable on any thread. */
kw_status kw_test_call_results(const kw_test_call *call, kw_tensor **outs, unsigned char **out_bytes, size_t *out_size);

/* The same call on copies of its tensors, at other addresses. */
void kw_test_call_copy(const kw_test_call *call, kw_test_call *out_copy);
/* The same on another device. Its run has to be told a stream of that. */
void kw_test_call_copy_to(const kw_test_call *call, kw_device *device, kw_test_call *out_copy);
/* Whether it draws random numbers: then another run gives other results. */
bool kw_test_call_random(const kw_test_call *call);
/* Whether the kernels that the device chooses for the op, without being told a name, give the same bits every time. */
bool kw_test_op_repeats(const kw_op *op);

/* Bytes of a tensor's elements. */
size_t kw_test_bytes_of(const kw_tensor *tensor);

#endif /* KEYWAY_CONTRACT_CALL_H */
