/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that ONNX Runtime may choose from: one for each operator and range of versions of mapping.def, and two
 * that move values between host and device. Each kernel is a node with its rows; computing is running one of them.
 */
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "kernel.h"
#include "mapping.h"
#include "ops.h"
#include "provider.h"

typedef struct definition {
  const char *domain, *op_type;
  int first, last;
  uint32_t host_inputs;
  bool host_outputs, passes_on;
  ort_kernel_create create;
  void *state;
} definition;

#define HOST_INPUTS_AT_MOST 16

static OrtStatus *describe(OrtKernelDefBuilder *builder, const char *provider, const definition *d) {
  static const int first = 0;
  OrtStatus *status = kw_ort_eps->KernelDefBuilder_SetOperatorType(builder, d->op_type);
  if (!status) status = kw_ort_eps->KernelDefBuilder_SetDomain(builder, d->domain);
  if (!status) status = kw_ort_eps->KernelDefBuilder_SetSinceVersion(builder, d->first, d->last);
  if (!status) status = kw_ort_eps->KernelDefBuilder_SetExecutionProvider(builder, provider);
  for (size_t i = 0; i < HOST_INPUTS_AT_MOST && !status; ++i)
    if (d->host_inputs >> i & 1) status = kw_ort_eps->KernelDefBuilder_SetInputMemType(builder, i, OrtMemTypeCPUInput);
  if (!status && d->passes_on) status = kw_ort_eps->KernelDefBuilder_AddInputOutputAliases(builder, &first, &first, 1);
  if (!status && d->host_outputs)
    status = kw_ort_eps->KernelDefBuilder_SetOutputMemType(builder, 0, OrtMemTypeCPUOutput);
  return status;
}

static OrtStatus *add(OrtKernelRegistry *registry, const char *provider, const definition *d) {
  OrtKernelDefBuilder *builder = NULL;
  OrtKernelDef *made = NULL;
  OrtStatus *status = kw_ort_eps->CreateKernelDefBuilder(&builder);
  if (!status) status = describe(builder, provider, d);
  if (!status) status = kw_ort_eps->KernelDefBuilder_Build(builder, &made);
  if (!status) status = kw_ort_eps->KernelRegistry_AddKernel(registry, made, d->create, d->state);
  if (made) kw_ort_eps->ReleaseKernelDef(made);
  if (builder) kw_ort_eps->ReleaseKernelDefBuilder(builder);
  return status;
}

/* Whether its first output has the elements of its first input: ONNX Runtime then lets both lie in one place. */
static bool passes_on(const mapping *row) {
  return row->function == op_identity || row->function == op_reshape || row->function == op_flatten ||
         row->function == op_squeeze || row->function == op_unsqueeze;
}

/* How many rows from this one on are of one operator and range of versions. */
static unsigned rows_from(unsigned first) {
  const mapping *row = &kw_ort_mappings[first];
  unsigned count = 1;
  while (first + count < kw_ort_mapping_count && strcmp(row[count].op_type, row->op_type) == 0 &&
         strcmp(row[count].domain, row->domain) == 0 && row[count].first == row->first)
    ++count;
  return count;
}

OrtStatus *kw_ort_registry_make(const char *provider, OrtKernelRegistry **out_registry) {
  OrtKernelRegistry *registry = NULL;
  OrtStatus *status = kw_ort_eps->CreateKernelRegistry(&registry);
  for (unsigned i = 0, count; i < kw_ort_mapping_count && !status; i += count) {
    const mapping *row = &kw_ort_mappings[i];
    const kernel_rows *rows;
    count = rows_from(i);
    status = kernel_rows_find(i, count, &rows);
    if (status) break;
    status = add(registry, provider,
                 &(definition){.domain = row->domain,
                               .op_type = row->op_type,
                               .first = row->first,
                               .last = row->last,
                               .host_inputs = row->host_inputs,
                               .host_outputs = row->host_outputs,
                               .passes_on = passes_on(row),
                               .create = kernel_create,
                               .state = (void *)(uintptr_t)rows});
  }
  if (!status)
    status = add(registry, provider,
                 &(definition){.domain = "",
                               .op_type = "MemcpyFromHost",
                               .first = 1,
                               .last = 1,
                               .host_inputs = HOST(0),
                               .create = kernel_create_copy});
  if (!status)
    status = add(registry, provider,
                 &(definition){.domain = "",
                               .op_type = "MemcpyToHost",
                               .first = 1,
                               .last = 1,
                               .host_outputs = true,
                               .create = kernel_create_copy});
  if (status && registry) kw_ort_eps->ReleaseKernelRegistry(registry);
  if (!status) *out_registry = registry;
  return status;
}
