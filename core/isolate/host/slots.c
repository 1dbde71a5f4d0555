/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots: the arguments of each as slots.def has them, read, given to the plugin, and what it stored sent back.
 */
#include "isolate/host/host.h"
#include "isolate/wire/slot_codec.h"

/* In place of the plugin's state the application sends nothing. */
static void restore(void **object) {
  if (*object == NULL) *object = kw_hosted_plugin.state;
}

#define DECLARE(parameter) parameter;
#define TAKE(argument) KW_TAKE_ARGUMENT(&q->in, q->arena, argument);
#define GIVE(argument) KW_GIVE_RESULT(&q->out, argument);
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  static kw_status serve_##group##_##name(kw_question *q) {          \
    KW_EACH(DECLARE, parameters)                                     \
    KW_EACH(TAKE, arguments)                                         \
    if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;                \
    restore(&KW_FIRST arguments);                                    \
    kw_status status = kw_hosted_plugin.answer.group.name arguments; \
    if (status == KW_OK) {                                           \
      KW_EACH(GIVE, arguments)                                       \
    }                                                                \
    return status;                                                   \
  }
#include "slots.def"

kw_status kw_host_slot(kw_question *q) {
  switch (q->code) {
#define KW_SLOT(group, name, since, required, parameters, arguments) \
  case KW_CODE_##group##_##name:                                     \
    return serve_##group##_##name(q);
#include "slots.def"
    default:
      return KW_ERR_UNSUPPORTED;
  }
}
