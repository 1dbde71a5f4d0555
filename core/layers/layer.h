/* SPDX-License-Identifier: Apache-2.0
 *
 * A layer: code between the application and the library, between the library and its plugins, or both, that sees every
 * call and may answer it itself. docs/layers.md tells how one is written.
 */
#ifndef KEYWAY_CORE_LAYER_H
#define KEYWAY_CORE_LAYER_H

#include "plugin/plugin.h"

#include <keyway/interop.h>
#include <keyway/keyway.h>
#include <keyway/test.h>

/* The public functions: kw_op_call is op_call. */
typedef struct kw_api {
#define KW_FUNCTION(type, name, parameters, arguments) type(*name) parameters;
#include "functions.def"
} kw_api;

/* A plugin's slots, group by group, and its shutdown. */
typedef struct kw_slots {
  kw_status(KW_CALL *shutdown)(void *plugin);
#define KW_SLOT_GROUP(group, NAME, required, native, text) kw_##group##_api group;
#include "slots.def"
} kw_slots;

typedef struct kw_layer {
  /* Each may be NULL. start comes first: it reads the layer's settings (secure_getenv). The others are given what lies
   * below the layer and put functions of their own in its place: wrap_api once, while the library is loaded; wrap_slots
   * for every plugin, wrap_kernel for every kernel that one registers, of which members may be NULL and stay it. */
  void (*start)(void);
  void (*wrap_api)(kw_api *api);
  void (*wrap_slots)(kw_slots *slots);
  void (*wrap_kernel)(kw_kernel_desc *kernel);

  /* What lies below. A function that the layer has put in place goes on with the one of the same name here. */
  kw_api below;
  uint32_t height; /* among the layers that are on: 1 is nearest to the plugin */
} kw_layer;

#define KW_LAYER_LIMIT 8u /* layers that can be on */

/* What lies below a layer's slots, by the first argument of a slot: the plugin's state, or a device. While layers are
 * on these are not the plugin's own pointers but stand for them, one each, as long as they live; slots and kernels of
 * all layers get the same ones. */
const kw_slots *kw_slots_below(const kw_layer *layer, const void *handle);
/* The plugin that a slot's first argument belongs to. */
const kw_plugin *kw_slots_plugin(const void *handle);
/* What lies below a layer's kernel, by kw_call.user, which a kernel's release gets as well. */
const kw_kernel_desc *kw_kernel_below(const kw_layer *layer, const void *user);

/* Puts the layers in place, the first nearest to the application: in front of the functions in *api, and of plugins
 * that are loaded from here on. Once, before any other thread is there. */
void kw_layers_install(kw_layer *const *layers, uint32_t count, kw_api *api);

#endif /* KEYWAY_CORE_LAYER_H */
