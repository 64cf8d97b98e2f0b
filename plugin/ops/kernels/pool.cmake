# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(pool pool.comp CONSTANTS AVERAGE COUNT_PADDING)
