# SPDX-License-Identifier: BSD-3-Clause
# Linear algebra: factors of matrices and systems of equations; Fourier transforms.
leat_room(FAMILIES cholesky fourier lu triangular SOURCES matrix_block)

leat_kernel(subtract_product subtract_product.comp TYPES F32 F64)
leat_kernel(solve_block solve_block.comp TYPES F32 F64)
leat_kernel(check_diagonal check_diagonal.comp TYPES F32 F64)
leat_kernel(lu_panel lu_panel.comp TYPES F32 F64 CONSTANTS THREADS HELD)
leat_kernel(swap_rows swap_rows.comp TYPES F32 F64)
leat_kernel(det det.comp TYPES F32 F64)
leat_kernel(cholesky_block cholesky_block.comp TYPES F32 F64)
leat_kernel(identity identity.comp TYPES F32 F64)
leat_kernel(dft dft.comp TYPES F32 F16 BF16)
leat_kernel(dft_table dft_table.comp TYPES F32)
