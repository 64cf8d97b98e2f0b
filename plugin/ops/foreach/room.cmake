# SPDX-License-Identifier: BSD-3-Clause
# Operators on lists of tensors.
leat_room(FAMILIES foreach)

leat_kernel(foreach foreach.comp TYPES F32 F16 BF16 CONSTANTS operation)
leat_kernel(foreach_norm foreach_norm.comp)
