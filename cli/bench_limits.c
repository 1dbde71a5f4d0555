/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits of `keyway bench`, measured: memcpy for memory, chains of multiplications and additions for arithmetic.
 */
#include "bench_limits.h"

#include "bench_peer.h"

#include <bench/median.h>

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, CHAINS = 12, STEPS = 1 << 22, COPIED = 1 << 27 };

/* As many chains as hide how long one operation takes, each a register of `lanes`: those, the factor and the term fit
 * into the 16 registers that some processors have. The file is compiled so that a product and a sum become one
 * instruction where the processor has that. */
#define CHAINED(name, lanes, attribute)                                         \
  attribute static float name(float by, float more) {                           \
    typedef float vector __attribute__((vector_size((lanes) * sizeof(float)))); \
    vector chain[CHAINS], factor, term, sum;                                    \
    for (int lane = 0; lane < (lanes); ++lane) {                                \
      factor[lane] = by;                                                        \
      term[lane] = more;                                                        \
    }                                                                           \
    for (int k = 0; k < CHAINS; ++k) chain[k] = term + (float)k;                \
    for (int step = 0; step < STEPS / (lanes); ++step)                          \
      for (int k = 0; k < CHAINS; ++k) chain[k] = chain[k] * factor + term;     \
    sum = chain[0];                                                             \
    for (int k = 1; k < CHAINS; ++k) sum += chain[k];                           \
    return sum[0];                                                              \
  }

CHAINED(chain_plain, 4, )
#ifdef __x86_64__
CHAINED(chain_fma, 8, __attribute__((target("fma"))))
CHAINED(chain_avx512, 16, __attribute__((target("avx512f"))))
#endif

static float chain(float by, float more) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return chain_avx512(by, more);
  if (__builtin_cpu_supports("fma")) return chain_fma(by, more);
#endif
  return chain_plain(by, more);
}

static double measure_peak(void) {
  double rates[ROUNDS];
  volatile float kept = 0.5F;
  for (int i = 0; i < ROUNDS; ++i) {
    const double begin = kw_bench_now(KW_BENCH_PROCESSOR);
    kept = chain(0.25F, kept * 0.5F);
    rates[i] = 2.0 * CHAINS * STEPS / (1e9 * (kw_bench_now(KW_BENCH_PROCESSOR) - begin));
  }
  return kw_median(rates, ROUNDS);
}

static double measure_bandwidth(void) {
  double rates[ROUNDS];
  char *from = malloc(COPIED), *to = malloc(COPIED);
  if (from && to) {
    memset(from, 1, COPIED);
    memset(to, 2, COPIED);
    for (int i = 0; i < ROUNDS; ++i) {
      const double begin = kw_bench_now(KW_BENCH_PROCESSOR);
      memcpy(to, from, COPIED);
      rates[i] = 2.0 * COPIED / (1e9 * (kw_bench_now(KW_BENCH_PROCESSOR) - begin));
      from[i] = to[COPIED - 1 - i]; /* so that no copy is left out */
    }
  }
  const double rate = from && to ? kw_median(rates, ROUNDS) : 0;
  free(from);
  free(to);
  return rate;
}

kw_bench_limits kw_bench_measure_limits(void) {
  return (kw_bench_limits){.bandwidth = measure_bandwidth(), .peak = measure_peak()};
}
