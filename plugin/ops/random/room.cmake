# SPDX-License-Identifier: BSD-3-Clause
# Operators that make random numbers.
leat_room(FAMILIES normal_uniform bernoulli SOURCES random_numbers)

leat_kernel(random_normal normal_uniform.comp TYPES F32 F16 BF16 CONSTANTS has_offset quads DEFINES NORMAL)
leat_kernel(random_uniform normal_uniform.comp TYPES F32 F16 BF16 CONSTANTS has_offset quads)
leat_kernel(bernoulli bernoulli.comp TYPES F32 F16 BF16 CONSTANTS has_offset item)
