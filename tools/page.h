/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The page of a report: python/onnxruntime_ep_leat/report.html, which the Python package fills in with the same JSON.
 */
#ifndef LEAT_TOOLS_PAGE_H_
#define LEAT_TOOLS_PAGE_H_

#include <glib.h>

/** Finds out, before anything is measured, whether a page can be written; nothing is made or changed.
 * @return FALSE with @p error set: the folder is missing or not to be written, or the path is a folder */
gboolean leati_page_check(const char *path, GError **error);

/** Writes a page as a whole or not at all; a pipe or a device is written to.
 * @param json [borrowed: until return] what `data` in the page's script says
 * @return FALSE with @p error set */
gboolean leati_page_write(const char *path, const char *json, GError **error);

#endif /* LEAT_TOOLS_PAGE_H_ */
