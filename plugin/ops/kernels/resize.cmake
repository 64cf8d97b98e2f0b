# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(resize resize.comp CONSTANTS LINEAR_AXES NEAREST EXTRAPOLATE)
