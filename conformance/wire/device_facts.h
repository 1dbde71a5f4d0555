/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker tells about the device when it starts.
 */
#ifndef KEYWAY_CONFORMANCE_DEVICE_FACTS_H
#define KEYWAY_CONFORMANCE_DEVICE_FACTS_H

#include "base/effort.h"
#include "wire/protocol.h"
#include "case/signature.h"

typedef struct kw_op_facts {
  kw_suite_op op;
  uint64_t kernels;    /* key dtypes with a kernel, KW_DTYPE_BIT */
  uint64_t decomposed; /* key dtypes served by a decomposition */
  uint64_t repeats;    /* key dtypes whose kernels, those that are chosen without being named, promise the same bits */
} kw_op_facts;

typedef struct kw_device_facts {
  kw_status status; /* KW_OK, or why there is no device */
  char *text;       /* the reason */
  char *device;     /* its name */
  char *product;
  char *driver;      /* its version, as the plugin tells it */
  char *plugin_path; /* of the device's plugin, as loaded */
  char *second;      /* another device of the plugin; "" where it has only one */
  bool emulated;
  uint64_t native; /* KW_NATIVE_*: what the plugin implements itself */
  uint64_t flush;  /* dtypes whose subnormals it may replace by zero, KW_DTYPE_BIT */
  uint32_t op_count;
  kw_op_facts *ops; /* the op table's, then the vendors' */
  uint32_t contract_count;
  char **contracts;            /* "memory/zero_size", in order */
  kw_effort *contract_efforts; /* of each: the least effort that it is made with */
} kw_device_facts;

void kw_device_facts_write(const kw_device_facts *facts, kw_message *message);
/* False when the message is not what kw_device_facts_write makes; facts is empty then. */
bool kw_device_facts_read(kw_message *message, kw_device_facts *out_facts);
void kw_device_facts_free(kw_device_facts *facts);

/* The op of that name; NULL: the facts have none. */
const kw_op_facts *kw_device_facts_op(const kw_device_facts *facts, const char *name);

#endif /* KEYWAY_CONFORMANCE_DEVICE_FACTS_H */
