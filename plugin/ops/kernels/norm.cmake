# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(softmax softmax.comp)
leat_kernel(norm norm.comp)
leat_kernel(batch_norm batch_norm.comp)
