/* SPDX-License-Identifier: Apache-2.0
 *
 * The public functions under their public names, and KEYWAY_LAYERS. Each is one jump through a table, which leads to
 * the implementation itself as long as no layer stands in front of it.
 *
 * Why a table: a function has one address for all who ask for it, by a linker or by dlsym, from C or from Python, so it
 * is behind that address that the way has to part. What costs nothing at all, an indirect function (ifunc) that chooses
 * when it is linked, cannot read the environment yet where programs are linked at their start; a library of the same
 * names put in front of this one is passed by where somebody looks into this one by dlsym.
 */
#include "base/log.h"
#include "layers/layer.h"

#include <stdlib.h>
#include <string.h>

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* The implementations: base/direct.h. */
#define KW_FUNCTION(type, name, parameters, arguments) type direct_kw_##name parameters;
#include "functions.def"

static kw_api top = {
#define KW_FUNCTION(type, name, parameters, arguments) .name = direct_kw_##name,
#include "functions.def"
};

#define KW_FUNCTION(type, name, parameters, arguments) \
  type kw_##name parameters {                          \
    return top.name arguments;                         \
  }
#define KW_PROCEDURE(name, parameters, arguments) \
  void kw_##name parameters {                     \
    top.name arguments;                           \
  }
#include "functions.def"

/* ---- The layers -------------------------------------------------------------------------------------------------- */

#define KW_LAYER(name, text) extern kw_layer kw_##name##_layer;
#include "layers/layers.def"

static kw_layer *find_layer(const char *name, size_t length) {
  static const struct {
    const char *name;
    kw_layer *layer;
  } known[] = {
#define KW_LAYER(name, text) {#name, &kw_##name##_layer},
#include "layers/layers.def"
      {NULL, NULL},
  };
  size_t i = 0;
  while (known[i].name != NULL && (strlen(known[i].name) != length || memcmp(known[i].name, name, length) != 0)) i++;
  return known[i].layer;
}

/* Before the application's first call, and before it has threads. */
__attribute__((constructor)) static void install_layers(void) {
  const char *text = secure_getenv("KEYWAY_LAYERS");
  kw_layer *chosen[KW_LAYER_LIMIT];
  uint32_t count = 0;
  for (; text != NULL && *text != '\0'; text += *text == ',') {
    const size_t length = strcspn(text, ",");
    kw_layer *layer = find_layer(text, length);
    if (layer == NULL) {
      kw_log(KW_LOG_ERROR, "KEYWAY_LAYERS: there is no layer '%.*s'; keyway doctor lists those there are", (int)length,
             text);
    } else if (layer->height == 0 && count < KW_LAYER_LIMIT) {
      layer->height = 1; /* chosen: a second time it is passed over */
      chosen[count++] = layer;
    }
    text += length;
  }
  if (count > 0) kw_layers_install(chosen, count, &top);
}
