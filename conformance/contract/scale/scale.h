/* SPDX-License-Identifier: Apache-2.0
 *
 * What the suite scale shares. Its tests take much memory, one after the other: they first ask whether there is so much
 * (kw_scale_need), make their tensors here, and whatever way a test ends, its tensors are released behind it.
 */
#ifndef KEYWAY_CONTRACT_SCALE_H
#define KEYWAY_CONTRACT_SCALE_H

#include "contract/call.h"
#include "contract/contract_helpers.h"

#define KW_KIB (UINT64_C(1) << 10)
#define KW_MIB (UINT64_C(1) << 20)
#define KW_GIB (UINT64_C(1) << 30)

int kw_scale_setup(void **state);
int kw_scale_teardown(void **state);

/* kw_contract_suite.wants of the suite. */
bool kw_scale_wants(const char *test, const kw_op *op, kw_effort *out_effort);

/* ---- Memory ---- */

/* Ends the test as not tried unless there is room for so many bytes on the device, `largest` of them in one allocation,
 * and so many on the host besides. */
void kw_scale_need(uint64_t device, uint64_t largest, uint64_t host);

/* A tensor that the test need not release. Contents are undefined. Where the device refuses the memory after all, the
 * test ends as not tried. */
kw_tensor *kw_scale_tensor(kw_dtype dtype, uint32_t rank, const int64_t *shape);
kw_tensor *kw_scale_line(kw_dtype dtype, int64_t numel);
/* The same of one that a function made, of a view or of a result. */
kw_tensor *kw_scale_keep(kw_tensor *tensor);
/* Releases one of those at once. */
void kw_scale_drop(kw_tensor *tensor);
/* Host memory of the same kind. */
void *kw_scale_host(size_t size);
void kw_scale_host_drop(void *memory);

/* ---- Ops ---- */

/* The first of these ops that the device has in `dtype`; NULL when it has none. The list ends with NULL. */
const kw_op *kw_scale_first(const char *const *names, kw_dtype dtype);
bool kw_scale_has(const char *name, kw_dtype dtype);
/* Its name, for texts. */
const char *kw_scale_name(const kw_op *op);

/* Calls an op on the default stream and waits. What it cannot for want of memory, or does not claim for such sizes,
 * ends the test as not tried. Results that were NULL are kept. */
void kw_scale_call(const kw_op *op, const kw_value *args, uint32_t count, kw_tensor **outs, uint32_t out_count);

/* ---- Places ---- */

/* Elements at which 15 to 33 bits, and the grids of launches, come to their ends: ascending, below `numel`, the last
 * element among them. KW_SCALE_PLACES at most. */
enum { KW_SCALE_PLACES = 80 };
uint32_t kw_scale_places(int64_t numel, int64_t *out_places);

/* ---- Copies of a small call ---- */

/* Runs kw_contract.op on small tensors of this dtype, `numel` elements at most, and on many copies of them one behind
 * the other along the first dimension: the result has to be as many copies of the small one. As many as make `rows`
 * along that dimension or, where that is 0, `total` elements. `repeated`: a bit for each argument that is copied; 0:
 * those that have the result's shape. */
typedef struct kw_scale_copies {
  kw_dtype dtype;
  int64_t numel, total, rows;
  uint32_t repeated;
  bool last_dim;    /* arguments named dim are the last dimension */
  bool all_kernels; /* not only the one that is chosen */
} kw_scale_copies;
void kw_scale_run_copies(const kw_scale_copies *how);

/* Fails the test unless `got` are the elements `want`, as far as places go: floats may differ by what another order of
 * adding up, or another way to a function, makes of them. `what` begins the text. */
void kw_scale_same(kw_dtype dtype, const void *got, const void *want, size_t size, const char *what);

/* Which arguments of an op have rows, such as kw_scale_copies.repeated; 0: none. */
uint32_t kw_scale_rows_of(const char *op);
/* What an op does with a line of numbers; those from KW_SCALE_SCAN on take long. False: there is no test of the op
 * along one long dimension. */
typedef enum kw_scale_kind {
  KW_SCALE_SUM,
  KW_SCALE_MEAN,
  KW_SCALE_PROD,
  KW_SCALE_LARGEST,
  KW_SCALE_SMALLEST,
  KW_SCALE_ANY,
  KW_SCALE_ALL,
  KW_SCALE_LOGSUM,
  KW_SCALE_SCAN,
  KW_SCALE_SORT,
  KW_SCALE_TOPK,
  KW_SCALE_SOFTMAX,
  KW_SCALE_PRODUCT
} kw_scale_kind;
bool kw_scale_line_kind(const char *op, kw_scale_kind *out_kind);
/* Whether the seed draws kw_contract.op, `wanted` of those of the device's ops that there is this test for. */
bool kw_scale_is_drawn(const char *test, uint32_t wanted);
/* Whether the op draws random numbers: other ones in a larger call. */
bool kw_scale_is_random(const kw_op *op);

#endif /* KEYWAY_CONTRACT_SCALE_H */
