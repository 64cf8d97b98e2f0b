/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The list that sources add their cases to (case.h), as the runner makes it.
 */
#ifndef LEAT_CONFORMANCE_CASE_LIST_H_
#define LEAT_CONFORMANCE_CASE_LIST_H_

#include "case.h"

/** An empty list; end it with leati_case_list_end(). */
leat_case_list *leati_case_list_new(void);

/** What is added from now on is of a source of this profile (LEAT_PROFILE_*). */
void leati_case_list_source(leat_case_list *list, uint32_t profile);

/** Gives the cases (leat_case *), which live as long as the process, and frees the list. */
GPtrArray *leati_case_list_end(leat_case_list *list);

#endif /* LEAT_CONFORMANCE_CASE_LIST_H_ */
