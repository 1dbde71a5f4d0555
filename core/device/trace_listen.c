/* SPDX-License-Identifier: Apache-2.0
 *
 * The application's function for the trace (kw_trace_listen), and devices that begin to tell what they do.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/trace.h"
#include "device/open.h"

#include <pthread.h>

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER; /* one thread tells the devices at a time */

KW_API kw_status kw_trace_listen(kw_trace_function function, void *user) {
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  pthread_mutex_lock(&changing);
  if (kw_trace_set_function(function, user)) {
    kw_device_trace_all(kw_trace_on()); /* which a file keeps on */
  } else {
    status = kw_fail(KW_ERR_BUSY,
                     "kw_trace_listen: there is a function already, and there is one at a time: whoever set it "
                     "takes it away by kw_trace_listen(NULL, NULL)");
  }
  pthread_mutex_unlock(&changing);
  return status;
}
