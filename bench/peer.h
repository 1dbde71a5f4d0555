/* SPDX-License-Identifier: Apache-2.0
 *
 * What `keyway bench --against PEER` measures a device against: something that does the same work without Keyway, on
 * the same device. It lies in lib/keyway/peers, and is one of two.
 *
 * A shared library keyway_peer_KEY_PEER.so that exports kw_bench_peer_query.
 *
 * Or a program keyway_peer_KEY_PEER that is spoken with by lines of JSON, a request on its input and an answer on its
 * output. KEYWAY_THREADS says on how many threads it may compute. It ends with its input.
 *   (at its start)                                    {"title": ONE LINE} or {"why": TEXT}
 *   {"prepare": NAME, "args": [...], "size": N,       {} or {"why": TEXT}: there is a job
 *    "device": NAME}
 *   {"run": TIMES}                                    {"ns": of one run, "processor_ns": of one run} or {"why": TEXT}
 * NAME is an op's, with its arguments: null, numbers, texts, booleans and lists of numbers as in JSON, a dtype as
 * {"dtype": "f32"}, a tensor as {"dtype", "shape", "strides", "below": M, "step": S}, whose integers are to be less
 * than M or, where S is not 0, the multiples of S in their order, and lists of tensors. Or it is a program's, with no
 * arguments: kmeans of N points, a model.
 */
#ifndef KEYWAY_BENCH_PEER_H
#define KEYWAY_BENCH_PEER_H

#include <keyway/plugin.h>

/* Each function that returns bool writes to why[0..size-1] when it returns false: what it cannot do, or what failed. */
typedef struct kw_bench_peer_api {
  const char *title; /* one line: what the peer is */

  /* `device` is the device's product name (kw_device_info.name). */
  bool (*open)(const char *device, void **out_peer, char *why, size_t size);
  void (*close)(void *peer);

  /* Makes a call of an op ready to be run many times. The tensors in `call` have dtype, shape and strides, and no
   * memory: the peer brings its own, filled with numbers between 0 and 1. */
  bool (*prepare)(void *peer, const kw_call *call, void **out_job, char *why, size_t size);
  void (*discard)(void *peer, void *job);

  void (*run)(void *peer, void *job); /* enqueues it once */
  void (*wait)(void *peer);           /* until all that was enqueued is done */
} kw_bench_peer_api;

KW_PLUGIN_EXPORT const kw_bench_peer_api *kw_bench_peer_query(void);

#endif /* KEYWAY_BENCH_PEER_H */
