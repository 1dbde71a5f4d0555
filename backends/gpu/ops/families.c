/* SPDX-License-Identifier: Apache-2.0
 *
 * All families together: the pack's kernels as the host sees them, one per op, and the list of its programs.
 */
#include "ops/families.h"

#include "ops/matmul.h"

#include <keyway/known_args.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_gpu_family *const families[] = {
#define KW_GPU_FAMILY(name) &kw_gpu_##name##_family,
#include "ops/families.def"
#undef KW_GPU_FAMILY
};

#define FAMILY_COUNT (sizeof families / sizeof families[0])

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

kw_status kw_gpu_programs_visit(const char *prelude, kw_gpu_visit_fn visit, void *user) {
  kw_status status = KW_OK;
  for (size_t f = 0; f < FAMILY_COUNT; ++f)
    for (const kw_gpu_module *const *module = families[f]->modules; *module && status == KW_OK; ++module)
      status = kw_gpu_module_visit(*module, prelude, visit, user);
  return status;
}

static bool is_listed(const kw_gpu_module *module) {
  for (size_t f = 0; f < FAMILY_COUNT; ++f)
    for (const kw_gpu_module *const *listed = families[f]->modules; *listed; ++listed)
      if (*listed == module) return true;
  return false;
}

/* A module that no family lists is a defect of the pack: kw_gpu_programs_visit leaves it out, so that no build has
 * compiled its programs ahead. */
static kw_status check_modules(const kw_gpu_plan *plan, const kw_gpu_device *device) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    const kw_gpu_step *step = &plan->steps[i];
    char text[192];
    if (step->kind != KW_GPU_LAUNCH || is_listed(step->kernel->module)) continue;
    snprintf(text, sizeof text, "kw_gpu_register: families: none has module %s; add it to kw_gpu_family.modules",
             step->kernel->module->name);
    return device->host->set_error(device->host->ctx, KW_ERR_INTERNAL, text);
  }
  return KW_OK;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static kw_status can_implement(const kw_call *call) {
  kw_gpu_plan plan;
  kw_gpu_plan_lower(&plan, call);
  kw_gpu_plan_clear(&plan);
  return plan.status;
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  kw_gpu_plan plan;
  kw_gpu_plan_lower(&plan, call);
  kw_gpu_plan_clear(&plan);
  *out_size = plan.workspace;
  return plan.status;
}

static kw_status release(void *user, void *prepared) {
  (void)user;
  kw_gpu_plan_clear(prepared);
  free(prepared);
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  kw_gpu_device *device = call->device;
  kw_gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a plan");
  kw_gpu_plan_lower(plan, call);
  kw_status status = plan->status;
  if (status == KW_OK) status = check_modules(plan, device);
  if (status == KW_OK) status = kw_gpu_plan_compile(plan, device);
  if (status == KW_OK) {
    *out_prepared = plan;
  } else {
    release(NULL, plan);
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  return kw_gpu_plan_run(call->prepared, call);
}

static kw_status register_op(const kw_host_api *host, const kw_gpu_op *op, bool has_f64) {
  kw_kernel_desc desc = {
      .struct_size = sizeof desc,
      .flags = (op->flags & ~(KW_GPU_MOVES | KW_GPU_MATRIX)) | KW_KERNEL_DETERMINISTIC | KW_KERNEL_CAPTURABLE,
      .op = op->name,
      .name = "portable",
      .dtypes = {{op->dtypes, 0}},
      .known_args = kw_known_args(op->name),
      .user = (void *)op,
      .can_implement = can_implement,
      .workspace_size = workspace_size,
      .prepare = prepare,
      .launch = launch,
      .release = release};
  if (op->flags & KW_GPU_MATRIX) {
    desc.math_needs = (kw_math_mode)op->code;
    desc.name = op->code == KW_MATH_HIGHEST ? "matrix" : "matrix_tf32";
    desc.priority = KW_PRIORITY_OFF;
  }
  if (!has_f64 && !(op->flags & KW_GPU_MOVES)) desc.dtypes.bits[0] &= ~(KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128));
  kw_status status = host->register_kernel(host->ctx, &desc);
  return status == KW_ERR_NOT_FOUND ? KW_OK : status; /* an older host knows fewer ops */
}

const kw_gpu_op *kw_gpu_op_find(const char *name) {
  for (size_t f = 0; f < FAMILY_COUNT; ++f)
    for (const kw_gpu_op *op = families[f]->ops; op && op->name; ++op)
      if (strcmp(op->name, name) == 0) return op;
  return NULL;
}

kw_status kw_gpu_register(const kw_host_api *host, bool has_f64) {
  kw_status status = KW_OK;
  for (size_t f = 0; f < FAMILY_COUNT; ++f)
    for (const kw_gpu_op *op = families[f]->ops; op && op->name && status == KW_OK; ++op)
      status = register_op(host, op, has_f64);
  return status;
}

kw_status kw_gpu_register_matrix(const kw_host_api *host) {
  const kw_gpu_op *const tables[] = {kw_gpu_matrix_products, kw_gpu_matrix_linears};
  kw_status status = KW_OK;
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t)
    for (const kw_gpu_op *op = tables[t]; op->name && status == KW_OK; ++op) status = register_op(host, op, false);
  return status;
}
