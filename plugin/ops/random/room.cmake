# SPDX-License-Identifier: BSD-3-Clause
# Operators that make random numbers.
leat_room(FAMILIES normal_uniform bernoulli multinomial dropout gamma permutation SOURCES random_numbers)

leat_kernel(random_normal normal_uniform.comp TYPES F32 F16 BF16 CONSTANTS has_offset quads DEFINES NORMAL)
leat_kernel(random_uniform normal_uniform.comp TYPES F32 F16 BF16 CONSTANTS has_offset quads)
leat_kernel(bernoulli bernoulli.comp TYPES F32 F16 BF16 CONSTANTS has_offset item)
leat_kernel(multinomial multinomial.comp TYPES F32 F16 BF16 CONSTANTS has_offset wide)
leat_kernel(dropout dropout.comp TYPES F32 F16 BF16 CONSTANTS has_offset quads masked)
leat_kernel(random_exponential waiting.comp TYPES F32 F16 BF16 CONSTANTS has_offset)
leat_kernel(random_geometric waiting.comp TYPES F32 F16 BF16 CONSTANTS has_offset DEFINES TRIALS)
leat_kernel(random_gamma gamma.comp TYPES F32 F16 BF16 CONSTANTS has_offset)
leat_kernel(random_log_gamma gamma.comp TYPES F32 F16 BF16 CONSTANTS has_offset DEFINES LOGARITHM)
leat_kernel(random_beta gamma.comp TYPES F32 F16 BF16 CONSTANTS has_offset DEFINES BETA)
leat_kernel(dirichlet dirichlet.comp TYPES F32 F16 BF16 CONSTANTS shared_rows)
leat_kernel(permutation permutation.comp TYPES I32 I64 CONSTANTS has_offset)
