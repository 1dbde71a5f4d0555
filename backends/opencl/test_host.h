/* SPDX-License-Identifier: Apache-2.0
 *
 * A host for tests: loads the built plugin as the real one does, keeps what it registers, and calls kernels the way
 * the host promises to.
 */
#ifndef KEYWAY_OPENCL_TEST_HOST_H
#define KEYWAY_OPENCL_TEST_HOST_H

#include <keyway/plugin.h>
#include <pthread.h>

#define TEST_KERNELS 1024

/* A callback that holds its stream until the test opens it; its address is the token. */
typedef struct test_gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool open;
  bool entered;
  bool left;
} test_gate;

typedef struct test_host {
  kw_host_api api;
  kw_query_fn query;
  const kw_plugin_desc *plugin_desc;
  const kw_device_api *device_api;
  const kw_memory_api *memory;
  const kw_stream_api *stream_api;
  const kw_event_api *event_api;
  kw_kernel_desc kernels[TEST_KERNELS];
  uint32_t kernel_count;
  void *plugin;
  void *device;
  void *stream;
  kw_device_info info;
  _Atomic int reports; /* of late errors */
  uint64_t reported_stream;
  char error[4096];
} test_host;

/* cmocka group fixtures: *state becomes the test_host, with device 0 open. */
int test_host_start(void **state);
int test_host_stop(void **state);
/* One life of the plugin, between init and shutdown; start and stop contain one. */
void test_host_open(test_host *host);
void test_host_close(test_host *host);

/* A tensor of its own buffer, filled from contiguous host data (NULL: bytes of 0xa5). */
kw_tensor_ref test_tensor(test_host *host, kw_dtype dtype, uint8_t rank, const int64_t *shape, const void *data);
void test_tensor_free(test_host *host, kw_tensor_ref *tensor);
/* All bytes of its buffer, `size` of them. */
void test_read(test_host *host, const kw_tensor_ref *tensor, void *out, uint64_t size);
uint32_t test_dtype_size(kw_dtype dtype);

/* Zeros, to be freed. */
void *test_room(int64_t count, size_t size);

kw_value test_tensor_arg(const kw_tensor_ref *tensor);
kw_value test_int_scalar(int64_t value);
kw_value test_float_scalar(double value);

/* Runs `op` on the host's stream and waits: fails the test unless every slot says KW_OK. `key` picks the kernel. */
void test_call(test_host *host, const char *op, kw_dtype key, const kw_value *args, uint32_t arg_count,
               const kw_tensor_ref *out);
/* The same for any number of results, of a call whose data may be in error. Gives the number of the argument to blame,
 * and -1 when there is none. */
int test_call_results(test_host *host, const char *op, kw_dtype key, const kw_value *args, uint32_t arg_count,
                      const kw_tensor_ref *const *outs, uint32_t out_count);
const kw_kernel_desc *test_kernel(const test_host *host, const char *op);

void test_gate_start(test_gate *gate);
void test_gate_wait_entered(test_gate *gate);
void test_gate_open(test_gate *gate);

#endif /* KEYWAY_OPENCL_TEST_HOST_H */
