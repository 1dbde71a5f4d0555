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

/* Mostly small, often at a limit of something. */
int64_t random_int(void);
double random_float(void);
int64_t random_size(void); /* of a dimension */
const char *random_text(void);
kw_dtype random_dtype(void);

/* Fills a tensor of at most 2^20 elements with numbers of all kinds. */
kw_status random_fill(kw_tensor *tensor);

/* A view of a tensor of any kind; NULL when what was drawn is no view. */
kw_tensor *random_view(const kw_tensor *tensor);

#endif /* KEYWAY_ATTACK_RANDOM_H */
