/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tests that need a process of their own: the program runs itself again with the name of what the new process is to do.
 * How processes end is for scenes.c.
 */
#ifndef LEAT_TESTS_PROVIDER_PROCESS_TEST_H_
#define LEAT_TESTS_PROVIDER_PROCESS_TEST_H_

/** Does what a new process was started for.
 * @param name what that is
 * @return the process's exit status */
int process_child(const char *name);

void test_unknown_device_fails_registration(void **state);
void test_unparsable_variable_fails_registration(void **state);
void test_missing_backend_fails_registration(void **state);
void test_leaving_everything_open_is_legal(void **state);

#endif /* LEAT_TESTS_PROVIDER_PROCESS_TEST_H_ */
