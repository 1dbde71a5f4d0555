/* SPDX-License-Identifier: Apache-2.0
 *
 * AES-128, the block cipher of FIPS 197, encryption only. For random numbers, not for secrets: it takes no care to run
 * in constant time.
 */
#ifndef KEYWAY_REFERENCE_AES_H
#define KEYWAY_REFERENCE_AES_H

#include <stdint.h>

/* Encrypts one block; bytes in the order of the standard. out may be in. */
void kw_aes128_block(const uint8_t key[16], const uint8_t in[16], uint8_t out[16]);

#endif /* KEYWAY_REFERENCE_AES_H */
