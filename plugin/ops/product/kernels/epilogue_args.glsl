// SPDX-License-Identifier: BSD-3-Clause
// The part of an argument record that an epilogue has (epilogue.glsl), which is there in records of all products; the C
// struct is leati_epilogue_args in ops/product/gemm.h.
#ifndef LEAT_EPILOGUE_ARGS_GLSL_
#define LEAT_EPILOGUE_ARGS_GLSL_

#define EPILOGUE_ARGS                                                                           \
  uint64_t residual;   /* where RESIDUAL says that there is one */                              \
  float activation[2]; /* parameters of the operator */

#endif
