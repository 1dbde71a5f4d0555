/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: what a device says of itself by keys.
 */
#include "contract_helpers.h"

/* The same each time; a value of the wrong type, or a text that is too long, Keyway refuses. */
static void ask_twice(const char *key) {
  kw_attribute first = {.struct_size = sizeof first}, second = first;
  const kw_status status = kw_device_attribute(kw_contract.device, key, &first);
  if (status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED) return;
  KW_CHECK(status == KW_OK, "the attribute %s gave %s: %s", key, kw_status_name(status), kw_error_message());
  KW_CHECK_OK(kw_device_attribute(kw_contract.device, key, &second));
  const bool same = first.type == second.type && (first.type == KW_ATTRIBUTE_STRING ? strcmp(first.u.s, second.u.s) == 0
                                                  : first.type == KW_ATTRIBUTE_FLOAT ? first.u.f == second.u.f
                                                  : first.type == KW_ATTRIBUTE_BOOL  ? first.u.b == second.u.b
                                                                                     : first.u.i == second.u.i);
  KW_CHECK(same, "the attribute %s was another the second time", key);
}

/* Attributes have the types of KW_ATTRIBUTE_LIST and do not change; a key that there is not is KW_ERR_NOT_FOUND. */
void kw_contract_lifecycle_attributes(void **state) {
  (void)state;
  static const char *const keys[] = {
#define KW_ROW(key, type) key,
      KW_ATTRIBUTE_LIST(KW_ROW)
#undef KW_ROW
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) ask_twice(keys[i]);
  kw_attribute value = {.struct_size = sizeof value};
  kw_status status = kw_device_attribute(kw_contract.device, "com.example.nobody", &value);
  KW_CHECK(status == KW_ERR_NOT_FOUND || status == KW_ERR_UNSUPPORTED, "an attribute that nobody has gave %s",
           kw_status_name(status));
}
