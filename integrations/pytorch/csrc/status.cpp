/* SPDX-License-Identifier: Apache-2.0
 *
 * Throws the exception that a failure of Keyway is in PyTorch.
 */
#include "status.h"
#include "device.h"

#include <c10/util/Exception.h>

#include <string>

namespace torch_keyway {

void fail(kw_status status) {
  std::string text = kw_error_message();
  if (in_bad_fork()) text += ". In Python: start processes with multiprocessing's 'spawn', not 'fork'";
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
