/* SPDX-License-Identifier: Apache-2.0
 *
 * An op's schema as the command line needs it: the names and types of its arguments, and values read from text.
 */
#ifndef KEYWAY_CLI_SIGNATURE_H
#define KEYWAY_CLI_SIGNATURE_H

#include <keyway/keyway.h>

#define KW_CLI_MAX_PARAMS 16
#define KW_CLI_MAX_RESULTS 8
#define KW_CLI_MAX_INTS 64

typedef struct kw_cli_param {
  char name[32];
  char type[16]; /* "Tensor", "int", "Scalar", ... */
  bool list;
  bool optional;
  char alias;             /* 'a' of (a!), or 0 */
  char default_text[128]; /* as in the schema; "" when there is none */
} kw_cli_param;

typedef struct kw_cli_signature {
  uint32_t param_count;
  uint32_t result_count;
  kw_cli_param params[KW_CLI_MAX_PARAMS];
  int32_t result_alias[KW_CLI_MAX_RESULTS]; /* the parameter that a result is, or -1 */
} kw_cli_signature;

/* `schema` has been accepted by the library. */
void kw_cli_signature_read(const char *schema, kw_cli_signature *out_signature);

/* Index of a parameter, or -1. */
int kw_cli_signature_find(const kw_cli_signature *signature, const char *name);

bool kw_cli_param_is_tensor(const kw_cli_param *param);

/* What lists and texts of a value point into. */
typedef struct kw_cli_storage {
  int64_t ints[KW_CLI_MAX_INTS];
  char text[256];
} kw_cli_storage;

/* The value that `text` stands for ("3", "1e-5", "true", "0,1", "none", "f16"); the schema's own spelling of defaults
 * will do too. False when it is none of the parameter's type: kw_cli_param_expects says what would be. */
bool kw_cli_param_parse(const kw_cli_param *param, const char *text, kw_cli_storage *storage, kw_value *out_value);
/* "an integer", "true or false", ... */
const char *kw_cli_param_expects(const kw_cli_param *param);

#endif /* KEYWAY_CLI_SIGNATURE_H */
