/* SPDX-License-Identifier: Apache-2.0
 *
 * Device names, opening and closing, and what a failing plugin looks like to an application.
 */
#include "child.h"

#include <keyway/keyway.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

/* Starts the library with these fixtures and no others; a list that ends with NULL. */
static void load(const char *const *fixtures) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&options));
  for (; *fixtures != NULL; fixtures++) CHECK_OK(kw_plugin_load(fixture_path(*fixtures)));
}
#define LOAD(...) load((const char *const[]){__VA_ARGS__, NULL})

/* The device list is these names and no others; a list that ends with NULL. */
static void check_list(const char *const *names) {
  uint32_t count, i = 0;
  CHECK_OK(kw_device_count(&count));
  for (; names[i] != NULL; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    CHECK_OK(kw_device_get_entry(i, &entry));
    CHECK_CONTAINS(entry.name, names[i]);
    CHECK(strcmp(entry.name, names[i]) == 0);
  }
  CHECK(i == count);
}
#define CHECK_LIST(...) check_list((const char *const[]){__VA_ARGS__, NULL})

/* Opens by one name what is called by another. */
static void check_opens(const char *name, const char *shown) {
  kw_device *device;
  CHECK_OK(kw_device_open(name, &device));
  CHECK_CONTAINS(kw_device_name(device), shown);
  CHECK_OK(kw_device_close(device));
}

static kw_tensor *tensor_on(kw_device *device, float value) {
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &tensor));
  CHECK_OK(kw_tensor_write(tensor, &value));
  return tensor;
}

static kw_status add(kw_tensor *x, kw_tensor **out_sum) {
  const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  *out_sum = NULL;
  return kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, out_sum, 1);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void open_by_names(void) {
  LOAD("plain", "empty");
  CHECK_LIST("plain:0", "plain:1", "empty:0");
  check_opens("plain", "plain:0");
  check_opens("plain:1", "plain:1");
  check_opens("fixture.plain:1", "plain:1");
  check_opens("plain@slot:fixture-1", "plain:1");
  kw_device *device;
  const char *const unknown[] = {"nope", "plain:2", "acme.plain", "plain@slot:7", "npu:0"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    CHECK(kw_device_open(unknown[i], &device) == KW_ERR_NOT_FOUND);
    CHECK_CONTAINS(kw_error_message(), unknown[i]);
    CHECK_CONTAINS(kw_error_message(), "plain:0, plain:1, empty:0");
  }
  const char *const malformed[] = {"",         "Plain",  "plain:", "plain:x", "plain:1x",
                                   "plain:-1", ".plain", "plain@", "plain 0"};
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    CHECK(kw_device_open(malformed[i], &device) == KW_ERR_INVALID_ARGUMENT);
  }
  CHECK(kw_device_open(NULL, &device) == KW_ERR_INVALID_ARGUMENT);
  kw_device_entry entry = {.struct_size = sizeof entry};
  CHECK_OK(kw_device_get_entry(1, &entry));
  CHECK(strcmp(entry.qualified_name, "fixture.plain:1") == 0);
  CHECK(strcmp(entry.info->name, "Fixture plain 1") == 0);
  kw_device_entry again = {.struct_size = sizeof again};
  CHECK_OK(kw_device_get_entry(1, &again));
  CHECK(again.info == entry.info);
  CHECK(kw_device_get_entry(3, &entry) == KW_ERR_NOT_FOUND);
}

static void devices_open_by_name(void **state) {
  (void)state;
  run_child(open_by_names);
}

static void share_key(void) {
  LOAD("shared_acme", "shared_zeta");
  CHECK_LIST("acme.shared:0", "acme.shared:1", "zeta.shared:0", "zeta.shared:1");
  kw_device *device;
  CHECK(kw_device_open("shared:0", &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "acme.shared:0 or zeta.shared:0");
  CHECK(kw_device_open("shared:1", &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_device_rename("shared", "mine") == KW_ERR_INVALID_ARGUMENT);
  check_opens("zeta.shared:1", "zeta.shared:1");
  CHECK_OK(kw_device_rename("zeta.shared", "mine"));
  check_opens("mine:1", "mine:1");
}

static void two_vendors_may_share_a_key(void **state) {
  (void)state;
  run_child(share_key);
}

static void rename_key(void) {
  LOAD("plain", "empty");
  CHECK_OK(kw_device_rename("plain", "my_hardware_device"));
  CHECK_LIST("my_hardware_device:0", "my_hardware_device:1", "empty:0");
  check_opens("my_hardware_device", "my_hardware_device:0");
  check_opens("plain:1", "my_hardware_device:1"); /* the old name goes on working */
  CHECK_OK(kw_device_rename("my_hardware_device", "other"));
  check_opens("other:1", "other:1");
  check_opens("my_hardware_device:1", "other:1");
  const char *const refused[] = {"empty", "auto", "gpu", "Upper", "with space", "", "a:0"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    CHECK(kw_device_rename("plain", refused[i]) == KW_ERR_INVALID_ARGUMENT);
  }
  CHECK(kw_device_rename("empty", "other") == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_device_rename("nope", "new") == KW_ERR_NOT_FOUND);
  kw_device *device;
  CHECK(kw_device_open("plian:1", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "there is no device 'plian:1'; did you mean 'other:0'?");
  CHECK(kw_device_open("Empty", &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "there is no device 'Empty'; did you mean 'empty:0'?");
  CHECK(kw_device_open("Auto", &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "did you mean 'auto'?");
  CHECK(kw_device_open("npu:0", &device) == KW_ERR_NOT_FOUND); /* near gpu, of which there is none */
  CHECK(strstr(kw_error_message(), "did you mean") == NULL);
  CHECK(kw_device_open("qzx", &device) == KW_ERR_NOT_FOUND);
  CHECK(strstr(kw_error_message(), "did you mean") == NULL);
  CHECK(kw_device_rename("plain:0", "new") == KW_ERR_INVALID_ARGUMENT);
}

static void name_by_the_end(void) {
  LOAD("plain", "emulated_gpu");
  kw_device *device;
  CHECK(kw_device_open("gpu:0", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "there is no device 'gpu:0'; did you mean 'emulated_gpu:0'?");
  CHECK(kw_device_open("GPU", &device) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "did you mean 'emulated_gpu:0'?");
  CHECK(kw_device_open("u:0", &device) == KW_ERR_NOT_FOUND);
  CHECK(strstr(kw_error_message(), "did you mean") == NULL);
}

static void a_name_may_be_the_end_of_what_was_meant(void **state) {
  (void)state;
  run_child(name_by_the_end);
}

static void keys_can_be_renamed(void **state) {
  (void)state;
  run_child(rename_key);
}

static void hide_devices(void) {
  setenv("KEYWAY_VISIBLE_DEVICES", "empty,plain:1,nope,plain:1", 1);
  LOAD("plain", "empty");
  CHECK_LIST("empty:0", "plain:1");
  check_opens("plain:1", "plain:1");
  kw_device *device;
  CHECK(kw_device_open("plain:0", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "KEYWAY_VISIBLE_DEVICES");
}

static void devices_can_be_hidden(void **state) {
  (void)state;
  run_child(hide_devices);
  assert_non_null(strstr(read_text(scratch_path("stderr")), "KEYWAY_VISIBLE_DEVICES: 'nope' is ignored"));
}

static void choose_by_policy(void) {
  LOAD("emulated_gpu", "plain");
  kw_device *device;
  check_opens("auto", "plain:0"); /* the emulated gpu comes first and is passed over */
  CHECK(kw_device_open("gpu", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "there is no device 'gpu': the first of type gpu that is not emulated is meant");
  CHECK_CONTAINS(kw_error_message(), "(gpu, emulated)");
  CHECK_CONTAINS(kw_error_message(), "plain:0 (other)");
  CHECK_OK(kw_plugin_load(fixture_path("shared_acme")));
  check_opens("auto", "shared:0"); /* an npu before one of no type */
}

static void policies_choose(void **state) {
  (void)state;
  run_child(choose_by_policy);
}

static void check_kernels(const char *first, const char *second) {
  LOAD("plain");
  kw_device *device;
  CHECK_OK(kw_device_open("plain", &device));
  const kw_op *op = kw_op_find("add.Tensor");
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  CHECK_OK(kw_op_get_kernel(op, device, 0, &kernel));
  CHECK(strcmp(kernel.name, first) == 0);
  CHECK_OK(kw_op_get_kernel(op, device, 1, &kernel));
  CHECK(strcmp(kernel.name, second) == 0);
  CHECK(kw_op_get_kernel(op, device, 2, &kernel) == KW_ERR_NOT_FOUND);
  CHECK(kw_op_get_kernel(kw_op_find("mul.Tensor"), device, 0, &kernel) == KW_ERR_NOT_FOUND);
  CHECK_OK(kw_device_close(device));
}

static void order_kernels(void) {
  check_kernels("fast", "slow");
}

static void prefer_kernel(void) {
  setenv("KEYWAY_KERNELS", "mm=x,add.Tensor=slow", 1);
  check_kernels("slow", "fast");
}

static void prefer_kernel_of_all(void) {
  setenv("KEYWAY_KERNELS", "*=sl?w*", 1);
  check_kernels("slow", "fast");
}

static void prefer_what_is_not_there(void) {
  setenv("KEYWAY_KERNELS", "*=slo,add=slow,*.Scalar=slow", 1);
  check_kernels("fast", "slow");
}

static void check_div(kw_support expected) {
  LOAD("plain");
  kw_device *device;
  CHECK_OK(kw_device_open("plain", &device));
  CHECK(kw_op_support(kw_op_find("div.Tensor"), device, KW_F32) == expected);
  CHECK_OK(kw_device_close(device));
}

static void leave_off(void) {
  check_div(KW_SUPPORT_NONE);
}

static void name_what_is_off(void) {
  setenv("KEYWAY_KERNELS", "div.Tensor=off", 1);
  check_div(KW_SUPPORT_KERNEL);
}

static void kernels_are_ordered(void **state) {
  (void)state;
  run_child(order_kernels);
  run_child(prefer_kernel);
  run_child(prefer_kernel_of_all);
  run_child(prefer_what_is_not_there);
  run_child(leave_off);
  run_child(name_what_is_off);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void count_opens(void) {
  LOAD("plain");
  kw_device *first, *second, *other;
  CHECK_OK(kw_device_open("plain:0", &first));
  CHECK_OK(kw_device_open("fixture.plain", &second));
  CHECK_OK(kw_device_open("plain:1", &other));
  CHECK(first == second && first != other);
  CHECK_OK(kw_device_close(first));
  kw_tensor *tensor = tensor_on(second, 7);
  CHECK_OK(kw_device_close(second));
  float value = 0;
  CHECK_OK(kw_tensor_read(tensor, &value)); /* a live tensor keeps its device */
  CHECK(value == 7);
  CHECK(kw_device_close(second) == KW_ERR_INVALID_ARGUMENT);
  CHECK_OK(kw_device_open("plain:0", &first));
  CHECK(first == kw_tensor_device(tensor));
  CHECK_OK(kw_device_close(first));
  kw_tensor_release(tensor); /* closes the device */
  check_opens("plain:0", "plain:0");
  CHECK_OK(kw_device_close(other));
  CHECK(kw_device_close(other) == KW_ERR_INVALID_ARGUMENT);
  CHECK(kw_device_close(NULL) == KW_ERR_INVALID_ARGUMENT);
}

/* The index of a device names it for good; what the host does not believe changes nothing. */
static void find_devices_that_come(void) {
  kw_device *first, *second, *third;
  kw_plugin_report report = {.struct_size = sizeof report};
  LOAD("grows");
  CHECK_LIST("grows:0");
  CHECK(kw_device_open("grows:1", &second) == KW_ERR_NOT_FOUND);
  CHECK_OK(kw_device_open("grows:0", &first));
  CHECK_LIST("grows:0", "grows:1");
  CHECK_OK(kw_device_open("grows:1", &second));
  CHECK_OK(kw_device_open("grows:2", &third)); /* which says that there are two now */
  CHECK_LIST("grows:0", "grows:1", "grows:2");
  CHECK_OK(kw_plugin_get_report(0, &report));
  CHECK(report.device_count == 3);
  CHECK(first != second && second != third);
  CHECK_OK(kw_device_close(first));
  CHECK_OK(kw_device_close(second));
  CHECK_OK(kw_device_close(third));
}

static void devices_may_come_later(void **state) {
  (void)state;
  run_child(find_devices_that_come);
}

static void opens_are_counted(void **state) {
  (void)state;
  run_child(count_opens);
}

typedef struct held {
  kw_device *device, *other;
  kw_tensor *tensor, *other_tensor;
  kw_status last, not_last;
} held;

static void close_inside(void *user) {
  held *h = user;
  h->last = kw_device_close(h->device);
  h->not_last = kw_device_close(h->other); /* its tensor keeps it open */
  kw_tensor_release(h->other_tensor);      /* and now nothing does: closed by another thread */
}

static void release_inside(void *user) {
  held *h = user;
  kw_tensor_release(h->tensor);
}

static void close_in_host_functions(void) {
  LOAD("plain");
  held h = {0};
  CHECK_OK(kw_device_open("plain:0", &h.device));
  CHECK_OK(kw_device_open("plain:1", &h.other));
  h.other_tensor = tensor_on(h.other, 1);
  CHECK_OK(kw_stream_call_host(kw_stream_default(h.device), close_inside, &h));
  CHECK_OK(kw_device_synchronize(h.device));
  CHECK(h.last == KW_ERR_BUSY);
  CHECK_OK(h.not_last);
  check_opens("plain:1", "plain:1"); /* after the end of that close */
  h.tensor = tensor_on(h.device, 1);
  CHECK_OK(kw_device_close(h.device));
  CHECK_OK(kw_stream_call_host(kw_stream_default(h.device), release_inside, &h));
  check_opens("plain:0", "plain:0");
}

static void host_functions_do_not_close(void **state) {
  (void)state;
  run_child(close_in_host_functions);
}

static void *open_and_close(void *unused) {
  (void)unused;
  for (int i = 0; i < 200; i++) {
    kw_device *device;
    CHECK_OK(kw_device_open("plain", &device));
    if (i % 2 == 0) {
      CHECK_OK(kw_device_close(device));
      continue;
    }
    kw_tensor *tensor = tensor_on(device, 1);
    CHECK_OK(kw_device_close(device));
    kw_tensor_release(tensor); /* as likely as not the last reference */
  }
  return NULL;
}

static void open_from_threads(void) {
  LOAD("plain");
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, open_and_close, NULL) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void threads_open_and_close(void **state) {
  (void)state;
  run_child(open_from_threads);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static void meet_failures(void) {
  LOAD("unknown_status", "oom", "info_reserved", "info_mask", "plain");
  kw_device *device;
  CHECK(kw_device_open("info_reserved", &device) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "reserved in its kw_device_info is 7");
  CHECK(kw_device_open("info_mask", &device) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "flush_subnormal has bits that stand for no dtype (0x0, 0x2)");
  CHECK(kw_device_open("unknown_status", &device) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "opening unknown_status:0 failed");
  CHECK_CONTAINS(kw_error_message(), "unknown status 99");

  kw_tensor *tensor = NULL;
  CHECK_OK(kw_device_open("oom", &device));
  CHECK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){4}, &tensor) == KW_ERR_OUT_OF_MEMORY);
  CHECK_CONTAINS(kw_error_message(), "fixtureAlloc: arena is full");
  CHECK(tensor == NULL);
  CHECK_OK(kw_device_close(device));
  check_opens("plain", "plain:0");
}

static void failures_explain_themselves(void **state) {
  (void)state;
  run_child(meet_failures);
}

static void lose_device(void) {
  LOAD("lost", "plain");
  kw_device *device, *again;
  kw_tensor *sum;
  CHECK_OK(kw_device_open("lost", &device));
  kw_tensor *x = tensor_on(device, 1);
  CHECK(add(x, &sum) == KW_ERR_DEVICE_LOST);
  CHECK_CONTAINS(kw_error_message(), "fixtureLaunch: the bus is gone");
  CHECK(kw_device_open("lost", &again) == KW_ERR_DEVICE_LOST);
  CHECK_CONTAINS(kw_error_message(), "open it again");
  check_opens("plain", "plain:0"); /* others go on */
  kw_tensor_release(x);
  CHECK_OK(kw_device_close(device));

  CHECK_OK(kw_device_open("lost", &device));
  x = tensor_on(device, 1);
  CHECK_OK(add(x, &sum));
  float value = 0;
  CHECK_OK(kw_tensor_read(sum, &value));
  CHECK(value == 2);
  kw_tensor_release(x);
  kw_tensor_release(sum);
  CHECK_OK(kw_device_close(device));
}

static void a_lost_device_can_be_opened_again(void **state) {
  (void)state;
  run_child(lose_device);
}

static void fail_late(void) {
  LOAD("late_error");
  kw_device *device;
  kw_tensor *sum;
  CHECK_OK(kw_device_open("late_error", &device));
  kw_tensor *x = tensor_on(device, 1);
  CHECK_OK(add(x, &sum));
  CHECK(kw_device_synchronize(device) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "fixtureInterrupt: a bit has flipped");
  CHECK_CONTAINS(kw_error_message(), "add.Tensor");
  CHECK_OK(kw_device_synchronize(device)); /* surfaced once */
  kw_tensor_release(x);
  kw_tensor_release(sum);
  CHECK_OK(kw_device_close(device));
}

static void late_errors_surface_at_synchronize(void **state) {
  (void)state;
  run_child(fail_late);
}

static void read_texts(void) {
  LOAD("texts");
  kw_plugin_report report = {.struct_size = sizeof report};
  CHECK_OK(kw_plugin_get_report(0, &report));
  CHECK(strcmp(report.description, "a caf\xef\xbf\xbd") == 0);
  kw_device_entry entry = {.struct_size = sizeof entry};
  CHECK_OK(kw_device_get_entry(0, &entry));
  CHECK(strlen(entry.info->name) == 61 && strspn(entry.info->name, "x") == 61);
  CHECK(strcmp(entry.info->vendor, "caf\xef\xbf\xbd") == 0);
  CHECK(kw_device_get_entry(1, &entry) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "gives 'slot/caf\xef\xbf\xbd' for an id");
  kw_attribute first = {.struct_size = sizeof first}, second = first;
  CHECK_OK(kw_device_get_entry_attribute(0, "com.example.text", &first));
  CHECK_OK(kw_device_get_entry_attribute(0, "com.example.text", &second));
  CHECK(strcmp(first.u.s, "caf\xef\xbf\xbd") == 0 && first.u.s == second.u.s);
  kw_device *device;
  CHECK_OK(kw_device_open("texts", &device));
  kw_tensor *tensor = NULL;
  CHECK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &tensor) == KW_ERR_OUT_OF_MEMORY);
  CHECK_CONTAINS(kw_error_message(), "no more caf\xef\xbf\xbd");
}

static void texts_are_utf8_whatever_a_plugin_says(void **state) {
  (void)state;
  run_child(read_texts);
  CHECK_CONTAINS(read_text(scratch_path("stderr")), "logged caf\xef\xbf\xbd");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_open_by_name),
      cmocka_unit_test(two_vendors_may_share_a_key),
      cmocka_unit_test(keys_can_be_renamed),
      cmocka_unit_test(a_name_may_be_the_end_of_what_was_meant),
      cmocka_unit_test(devices_can_be_hidden),
      cmocka_unit_test(policies_choose),
      cmocka_unit_test(kernels_are_ordered),
      cmocka_unit_test(opens_are_counted),
      cmocka_unit_test(devices_may_come_later),
      cmocka_unit_test(host_functions_do_not_close),
      cmocka_unit_test(threads_open_and_close),
      cmocka_unit_test(failures_explain_themselves),
      cmocka_unit_test(a_lost_device_can_be_opened_again),
      cmocka_unit_test(late_errors_surface_at_synchronize),
      cmocka_unit_test(texts_are_utf8_whatever_a_plugin_says),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
