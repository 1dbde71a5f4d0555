/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that is done again and again, in rounds of one size, and what each of them leaves behind. What is kept once, or
 * up to a limit, is no growth: only what every round adds is.
 */
#include "soak.h"

#include "base/clock.h"
#include "base/worker_note.h"
#include "contract/contract_helpers.h"
#include "resources.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { WARM_UP = 1, ROUNDS = 4, LEAST_THINGS = 8 };

#define PATIENCE 5.0 /* seconds that are spent at most on looking what others take of the device */
#define LOOKS 3

uint64_t kw_soak_count(uint64_t quick, uint64_t normal, uint64_t thorough) {
  return kw_contract.effort == KW_EFFORT_QUICK ? quick : kw_contract.effort == KW_EFFORT_THOROUGH ? thorough : normal;
}

const char *kw_soak_number(uint64_t number) {
  static char texts[4][32];
  static unsigned next;
  char digits[32], *out = texts[next++ % 4], *at = out;
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) *at++ = ',';
    *at++ = digits[i];
  }
  *at = 0;
  return out;
}

static void do_round(const kw_soak_work *work, uint64_t first, uint64_t count) {
  char text[160];
  for (uint64_t done = 0; done < count;) {
    const uint64_t block = count - done < work->block ? count - done : work->block;
    snprintf(text, sizeof text, "%s %s and the %s after", work->objects, kw_soak_number(first + done + 1),
             kw_soak_number(block - 1));
    kw_worker_note_set(KW_WORKER_CALLS, text);
    work->run(work->user, first + done, block);
    kw_worker_note_step();
    done += block;
  }
}

/* How much of a resource a round must have added to count as growth: less is what the system adds of its own accord. */
static int64_t least_growth(kw_resource resource, const kw_soak_work *work, uint64_t count) {
  const int64_t n = (int64_t)count, things = n / 512 > LEAST_THINGS ? n / 512 : LEAST_THINGS;
  switch (resource) {
    case KW_RESOURCE_HEAP:
    case KW_RESOURCE_DEVICE:
      return n * (int64_t)work->least > 1 << 14 ? n * (int64_t)work->least : 1 << 14;
    case KW_RESOURCE_RESIDENT: /* comes in pages, and parts of them stay unused */
      return n * 4 * (int64_t)work->least > 1 << 18 ? n * 4 * (int64_t)work->least : 1 << 18;
    case KW_RESOURCE_ADDRESSES: /* in pages */
      return n * 4096 > 1 << 20 ? n * 4096 : 1 << 20;
    default:
      return things;
  }
}

/* Others may use the device, too: whether as much of it goes while nothing is done here. */
static bool others_take_it(double seconds, int64_t growth) {
  const double pause = seconds < PATIENCE / LOOKS ? seconds : PATIENCE / LOOKS;
  const struct timespec wait = {(time_t)pause, (long)(1e9 * (pause - floor(pause)))};
  kw_resources before, after;
  int64_t taken = 0;
  for (int i = 0; i < LOOKS; i++) {
    kw_resources_take(NULL, &before);
    nanosleep(&wait, NULL);
    kw_resources_take(NULL, &after);
    const int64_t now = after.held[KW_RESOURCE_DEVICE] - before.held[KW_RESOURCE_DEVICE];
    if (now > taken) taken = now;
  }
  return taken > growth / 4;
}

uint64_t kw_soak_rounded(double value) {
  return UINT64_C(1) << (int)(log2(value < 1 ? 1 : value) + 0.5);
}

static void blame(const kw_soak_work *work, kw_resource resource, int64_t growth, uint64_t count) {
  char last[200] = "", more[200] = "";
  if (kw_resource_is_memory(resource)) {
    if (work->explain) work->explain(work->user, more, sizeof more);
    KW_FAIL("%s %s kept about %s %s each%s", kw_soak_number(count), work->objects,
            kw_soak_number(kw_soak_rounded((double)growth / (double)count)), kw_resource_name(resource), more);
  }
  if (resource == KW_RESOURCE_DESCRIPTORS) kw_resource_last_descriptor(last, sizeof last);
  KW_FAIL("%s %s kept %s %s%s%s", kw_soak_number(count), work->objects, kw_soak_number((uint64_t)growth),
          kw_resource_name(resource), *last ? ", the last one of " : "", last);
}

/* Who keeps few descriptors for many objects may come to an end of them in the first round, and keep no more. */
static void check_descriptors(const kw_soak_work *work, int64_t held, uint64_t count) {
  enum { LEFT = 16 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || held < 0) return;
  KW_CHECK((uint64_t)held + LEFT < limit.rlim_cur, "%s %s used up all %s descriptors that the process may have",
           kw_soak_number(count), work->objects, kw_soak_number(limit.rlim_cur));
}

/* Of the first resources, as many as `count` says. */
static void judge(const kw_soak_work *work, const kw_resources held[ROUNDS + 1], uint64_t round, double seconds,
                  int count) {
  for (int r = 0; r < count; r++) {
    bool grows = true;
    for (int i = 1; i <= ROUNDS; i++) {
      grows = grows && held[i - 1].held[r] >= 0 &&
              held[i].held[r] - held[i - 1].held[r] >= least_growth((kw_resource)r, work, round);
    }
    const int64_t growth = held[ROUNDS].held[r] - held[0].held[r];
    if (!grows || (r == KW_RESOURCE_DEVICE && others_take_it(seconds, growth / ROUNDS))) continue;
    blame(work, (kw_resource)r, growth, ROUNDS * round);
  }
}

/* Does so many, a fifth at a time, and judges what they leave of the first resources. */
static void do_rounds(const kw_soak_work *work, uint64_t first, uint64_t count, int resource_count) {
  const uint64_t round = count / (WARM_UP + ROUNDS);
  kw_resources held[ROUNDS + 1];
  do_round(work, first, count - ROUNDS * round);
  kw_resources_take(NULL, &held[0]);
  const double begun = kw_clock_seconds();
  for (uint64_t i = 1; i <= ROUNDS; i++) {
    do_round(work, first + count - (ROUNDS + 1 - i) * round, round);
    kw_resources_take(&held[i - 1], &held[i]);
  }
  const double seconds = (kw_clock_seconds() - begun) / ROUNDS;
  judge(work, held, round, seconds, resource_count);
  check_descriptors(work, held[ROUNDS].held[KW_RESOURCE_DESCRIPTORS], first - work->first + count);
}

/* First a few, where that is enough to tell: there are limits to how many descriptors, threads and mappings can be
 * kept, and nothing works at them. */
void kw_soak_run(const kw_soak_work *work) {
  enum { SHARE = 50, LEAST_ROUND = 2 * LEAST_THINGS };
  const uint64_t share = work->count / SHARE, few = share >= (WARM_UP + ROUNDS) * LEAST_ROUND ? share : 0;
  if (few > 0) do_rounds(work, work->first, few, KW_RESOURCE_MAPPINGS + 1);
  do_rounds(work, work->first + few, work->count - few, KW_RESOURCE_COUNT);
}
