/* SPDX-License-Identifier: Apache-2.0
 *
 * FIPS 197, as the standard writes it down: bytes of the field GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
 */
#include "aes.h"

#include <pthread.h>
#include <string.h>

static uint8_t times_x(uint8_t a) {
  return (uint8_t)(a << 1 ^ (a >> 7) * 0x1b);
}

/* ---- SubBytes (5.1.1) -------------------------------------------------------------------------------------------- */

static uint8_t substitutes[256];
static pthread_once_t substitutes_once = PTHREAD_ONCE_INIT;

/* The affine transformation of the multiplicative inverse. x + 1 generates the group: walking along its powers p, with
 * q along those of its inverse, meets each pair of inverses once. */
static void make_substitutes(void) {
  uint8_t p = 1, q = 1;
  do {
    p = (uint8_t)(p ^ times_x(p));
    q = (uint8_t)(q ^ q << 1);
    q = (uint8_t)(q ^ q << 2);
    q = (uint8_t)(q ^ q << 4);
    q = (uint8_t)(q ^ (q >> 7) * 0x09);
    uint8_t sum = q;
    for (int turn = 1; turn <= 4; turn++) sum = (uint8_t)(sum ^ (q << turn | q >> (8 - turn)));
    substitutes[p] = sum ^ 0x63;
  } while (p != 1);
  substitutes[0] = 0x63; /* has no inverse */
}

/* ---- The cipher (5.1) and its keys (5.2) ------------------------------------------------------------------------- */

/* The key of the round after one whose number's power of x is `power`. */
static void next_key(uint8_t key[16], uint8_t power) {
  for (int i = 0; i < 4; i++) key[i] ^= substitutes[key[12 + (i + 1) % 4]];
  key[0] ^= power;
  for (int i = 4; i < 16; i++) key[i] ^= key[i - 4];
}

/* SubBytes and ShiftRows: row r moves left by r columns. Bytes go down the columns. */
static void substitute_and_shift(uint8_t state[16]) {
  uint8_t from[16];
  memcpy(from, state, sizeof from);
  for (int i = 0; i < 16; i++) state[i] = substitutes[from[(i + 4 * (i % 4)) % 16]];
}

static void mix_columns(uint8_t state[16]) {
  for (uint8_t *column = state; column < state + 16; column += 4) {
    uint8_t all = column[0] ^ column[1] ^ column[2] ^ column[3], first = column[0];
    for (int i = 0; i < 4; i++) {
      uint8_t next = i < 3 ? column[i + 1] : first;
      column[i] ^= (uint8_t)(all ^ times_x(column[i] ^ next));
    }
  }
}

static void add_key(uint8_t state[16], const uint8_t key[16]) {
  for (int i = 0; i < 16; i++) state[i] ^= key[i];
}

void kw_aes128_block(const uint8_t key[16], const uint8_t in[16], uint8_t out[16]) {
  pthread_once(&substitutes_once, make_substitutes);
  uint8_t round_key[16], power = 1;
  memcpy(round_key, key, sizeof round_key);
  memmove(out, in, 16);
  add_key(out, round_key);
  for (int round = 1; round <= 10; round++, power = times_x(power)) {
    next_key(round_key, power);
    substitute_and_shift(out);
    if (round < 10) mix_columns(out);
    add_key(out, round_key);
  }
}
