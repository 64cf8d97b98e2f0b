# SPDX-License-Identifier: BSD-3-Clause
# What all rooms of operators share.
leat_room(SOURCES adapter arguments attribute channels_last dims divider host_kernel matrix_view movement op op_import op_table
  plan_cache planner registry)

leat_kernel(copy copy.comp ITEMS 8 16 32 64 128 CONSTANTS RANK EACH)
leat_kernel(transpose transpose.comp ITEMS 8 16 32 64 CONSTANTS SIDE QUADS_IN QUADS_OUT RANK)
leat_kernel(download download.comp ITEMS 8 16 32 64 128)
