/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains: calls one after another whose kernels work element by element, run piece by piece, each piece through all of
 * them, so that what one writes is still in the cache when the next reads it. The kernels compute the pieces
 * themselves: the bits are those of the calls one by one.
 */
#ifndef KEYWAY_CPU_CHAIN_H
#define KEYWAY_CPU_CHAIN_H

#include <keyway/plugin.h>

#define KW_CHAIN_LIMIT 32u /* calls */

typedef struct kw_chain kw_chain;

/* A chain of as many of the `count` calls, from the first on, as can be and are worth it; NULL: none, or no memory.
 * NULL stands for what is no call of a fast kernel. They stay where they are while the chain lives. */
kw_chain *kw_chain_make(const kw_call *const *calls, uint32_t count);
uint32_t kw_chain_length(const kw_chain *chain);
void kw_chain_free(kw_chain *chain); /* NULL: nothing */

/* Adds the nanoseconds that each call takes, of all threads together, to `took` if it is not NULL. */
kw_status kw_chain_run(const kw_host_api *host, const kw_chain *chain, uint64_t *took);

#endif /* KEYWAY_CPU_CHAIN_H */
