/* SPDX-License-Identifier: Apache-2.0
 *
 * Group keyway.test/1: a test tells the device to fail, so that applications can try what they do about it. Hosts order
 * nothing outside of tests.
 */
#include "npu.h"

void npu_order_init(npu_order *order) {
  *order = (npu_order){.fault = KW_FAULT_NONE};
  pthread_mutex_init(&order->lock, NULL);
  pthread_cond_init(&order->changed, NULL);
}

void npu_order_destroy(npu_order *order) {
  pthread_cond_destroy(&order->changed);
  pthread_mutex_destroy(&order->lock);
}

/* Call with the lock held. Once: what comes after goes well. */
static bool is_due(npu_order *order, kw_fault fault) {
  if (order->fault != fault || --order->left > 0) {
    return false;
  }
  order->fault = KW_FAULT_NONE;
  return true;
}

bool npu_order_due(npu_order *order, kw_fault fault) {
  pthread_mutex_lock(&order->lock);
  bool due = is_due(order, fault);
  pthread_mutex_unlock(&order->lock);
  return due;
}

void npu_order_pass(npu_order *order) {
  pthread_mutex_lock(&order->lock);
  if (is_due(order, KW_FAULT_HOLD)) {
    order->held = true;
  }
  while (order->held) {
    pthread_cond_wait(&order->changed, &order->lock);
  }
  pthread_mutex_unlock(&order->lock);
}

static kw_status npu_order_fault(void *device_ptr, kw_fault fault, uint64_t nth) {
  npu_device *device = device_ptr;
  if (fault > KW_FAULT_HOLD) {
    return npu_fail(device->host, KW_ERR_UNSUPPORTED, "test.order: fault %u is not known here", (unsigned)fault);
  }
  npu_order *order = &device->order;
  pthread_mutex_lock(&order->lock);
  order->fault = fault;
  order->left = nth;
  order->held = false;
  pthread_cond_broadcast(&order->changed);
  pthread_mutex_unlock(&order->lock);
  return KW_OK;
}

const kw_test_api npu_test_api = {
    .struct_size = sizeof(kw_test_api),
    .order = npu_order_fault,
};
