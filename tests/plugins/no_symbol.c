/* SPDX-License-Identifier: Apache-2.0
 *
 * A library, but no plugin.
 */
int keyway_fixture_answer(void);
int keyway_fixture_answer(void) {
  return 42;
}
