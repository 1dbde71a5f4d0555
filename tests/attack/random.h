/* SPDX-License-Identifier: Apache-2.0
 *
 * Odd numbers, tensors and views by chance. Each thread has its own; the same seed gives the same ones.
 */
#ifndef KEYWAY_ATTACK_RANDOM_H
#define KEYWAY_ATTACK_RANDOM_H

#include <keyway/keyway.h>

void random_seed(uint64_t seed);
uint32_t random_below(uint32_t end); /* 0 .. end - 1; 0 for 0 */
bool random_chance(uint32_t percent);

int64_t random_limit(void); /* where int64 ends, parts of that, and what is somewhat larger than usual */

/* Mostly small, often at a limit of something. */
int64_t random_int(void);
double random_float(void);
int64_t random_size(void); /* of a dimension */
const char *random_text(void);
kw_dtype random_dtype(void);

/* A tensor like kw_tensor_create's; where the device takes it, now and then on memory of the host that is just so
 * large: sanitizers see what is read or written beside that, as they do not between blocks of the library's. */
kw_status random_tensor(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape, kw_tensor **out_tensor);

/* Fills a tensor of at most 2^20 elements with numbers of all kinds. */
kw_status random_fill(kw_tensor *tensor);

/* The same numbers in memory of their own, in whatever order, with gaps, and steps of single elements that lead
 * nowhere; NULL where there is no memory or the tensor is too large. */
kw_tensor *random_layout(const kw_tensor *tensor);

/* A view of a tensor of any kind; NULL when what was drawn is no view. */
kw_tensor *random_view(const kw_tensor *tensor);

#endif /* KEYWAY_ATTACK_RANDOM_H */
