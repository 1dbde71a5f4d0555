/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <c10/util/Exception.h>

namespace torch_keyway {

void fail(kw_status status) {
  const char *text = kw_error_message();
  switch (status) {
    case KW_ERR_OUT_OF_MEMORY:
      TORCH_CHECK_WITH(OutOfMemoryError, false, text);
    case KW_ERR_NOT_IMPLEMENTED:
      TORCH_CHECK_NOT_IMPLEMENTED(false, text);
    default:
      TORCH_CHECK(false, text);
  }
}

}  // namespace torch_keyway
