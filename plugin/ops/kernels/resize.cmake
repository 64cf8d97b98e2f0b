# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(resize resize.comp TYPES F32 F16 BF16 CONSTANTS LINEAR_AXES NEAREST EXTRAPOLATE)
