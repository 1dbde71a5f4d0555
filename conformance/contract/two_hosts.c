/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: two hosts in one process that share one image of the plugin, as an application and a library that
 * each bring a Keyway of their own.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

typedef struct host {
  kw_guest_record heard;
  kw_host_api table;
  void *plugin, *device;
} host;

static kw_status start(const kw_guest *g, host *h) {
  const kw_init_info info = {.struct_size = sizeof info};
  h->table = kw_guest_host_for(g);
  h->table.ctx = &h->heard;
  return g->desc->init(&h->table, &info, &h->plugin);
}

static void open_device(const kw_guest *g, host *h) {
  const kw_open_info info = {.struct_size = sizeof info};
  KW_GUEST_OK("beside another host", g->device->open(h->plugin, 0, &info, &h->device));
}

/* A failure of `mine` is told to it, and not to the other. */
static void fail_for(const kw_guest *g, host *mine, host *other) {
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = UINT64_C(1) << 62, .alignment = 1};
  kw_mem mem = NULL;
  mine->heard.error[0] = other->heard.error[0] = 0;
  kw_status status = g->memory->alloc(mine->device, &info, &mem);
  KW_CHECK(status != KW_OK, "an allocation of 2^62 bytes was reported as success");
  KW_CHECK(!*other->heard.error, "a failure for one host was told to another one: %s", other->heard.error);
}

static void stop(const kw_guest *g, host *h) {
  KW_GUEST_OK("beside another host", g->device->close(h->device));
  KW_GUEST_OK("beside another host", g->desc->shutdown(h->plugin));
  memset(&h->table, 0, sizeof h->table); /* who still calls it crashes */
}

int kw_child_two_hosts(void) {
  kw_guest g = kw_guest_load();
  static host first, second;
  KW_GUEST_OK("for the first host", start(&g, &first));
  kw_status status = start(&g, &second);
  if (status == KW_ERR_BUSY) { /* one at a time: the first goes on as if nobody had asked */
    kw_guest_use_device(&g, first.plugin, 1, "after another host was refused");
    KW_GUEST_OK("after another host was refused", g.desc->shutdown(first.plugin));
    return 0;
  }
  kw_guest_expect(status, KW_OK, "init", "for the second host");
  KW_CHECK(first.heard.kernels == second.heard.kernels && first.heard.ops == second.heard.ops,
           "the first host was offered %u kernels and %u ops, the second %u and %u", first.heard.kernels,
           first.heard.ops, second.heard.kernels, second.heard.ops);
  open_device(&g, &first);
  open_device(&g, &second);
  for (int round = 0; round < 3; round++) {
    fail_for(&g, &first, &second);
    fail_for(&g, &second, &first);
  }
  stop(&g, &first);
  fail_for(&g, &second, &first);
  stop(&g, &second);
  KW_GUEST_OK("after two hosts at once", start(&g, &first));
  kw_guest_use_device(&g, first.plugin, 2, "after two hosts at once");
  KW_GUEST_OK("after two hosts at once", g.desc->shutdown(first.plugin));
  return 0;
}

/* Two hosts may start one image of the plugin: what one does reaches the other in no way. Or the second is refused with
 * KW_ERR_BUSY. */
void kw_contract_lifecycle_two_hosts(void **state) {
  (void)state;
  kw_test_child("two_hosts");
}
