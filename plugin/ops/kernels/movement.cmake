# SPDX-License-Identifier: BSD-3-Clause
foreach(bits IN ITEMS 8 16 32 64 128)
  leat_kernel(copy_${bits} copy.comp BITS=${bits})
  leat_kernel(segments_${bits} segments.comp BITS=${bits})
endforeach()
foreach(bits IN ITEMS 8 16 32 64)
  leat_kernel(pad_${bits} pad.comp BITS=${bits})
  leat_kernel(trilu_${bits} trilu.comp BITS=${bits})
endforeach()
