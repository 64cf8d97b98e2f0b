/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Text in lines that fit a terminal.
 */
#ifndef LEAT_TOOLS_WORDS_H_
#define LEAT_TOOLS_WORDS_H_

#include <glib.h>

/** Appends the words of a text, a space before each, and a line feed behind the last. A word that would end beyond
 * column 110 begins a line of its own, unless it is the first.
 * @param column where the last line of @p out ends, in characters of UTF-8
 * @param indent column at which words begin in the lines that follow
 * @param text [borrowed: until return] UTF-8, words with one space in between */
void leati_words_append(GString *out, glong column, guint indent, const char *text);

#endif /* LEAT_TOOLS_WORDS_H_ */
