/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What kernels need of a device, beside what every device has that Leat uses.
 */
#ifndef LEAT_PLUGIN_DEVICE_KERNEL_H_
#define LEAT_PLUGIN_DEVICE_KERNEL_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "device/physical.h"
#include "leat_kernels.h"

/** Fails if a device lacks what a kernel needs: a feature, shared memory, the size of its subgroups. Reads no more of
 * the kernel than what its module declares. `operator_name` is named in the message.
 * @errors NOT_SUPPORTED */
int32_t leati_kernel_check(const leati_physical *physical, const leati_kernel_code *code, const char *operator_name,
                           leat_error *err);

/** Which kernels an open device was found to run, so that a module is read once a device and not for each operator that
 * is made. A bit is only ever set, and relaxed: who sees it late finds the same again. */
typedef struct leati_kernel_verdicts {
  _Atomic uint64_t runs[(LEATI_KERNEL_COUNT + 63) / 64];
} leati_kernel_verdicts;

/** The same as leati_kernel_check() of the kernel with a number; a refusal, whose message names the operator, is found
 * anew each time. `verdicts`: those of the device, all zero at first.
 * @errors NOT_SUPPORTED */
int32_t leati_kernel_check_once(leati_kernel_verdicts *verdicts, const leati_physical *physical, leati_kernel kernel,
                                const leati_kernel_code *code, const char *operator_name, leat_error *err);

/** The module of a kernel as a device is to have it.
 * In a kernel that links, the nth call of a function link_<number> calls link_<m>, with m in the two lowest bits of the
 * nth constant step_<number>. A kernel that asks for LEAT_HALVES of kernels/types.glsl says that conversions of float16
 * keep subnormal numbers and round to nearest even (execution modes of SPIR-V), where the device has that. On a
 * software device, where a product of two matrices is hundreds of instructions, no loop of a kernel for matrix hardware
 * is to be written out: lavapipe of Mesa 26 then compiles such kernels in half of the time, and they run no slower.
 * @param out_words [out] leati_free() it; NULL: the kernel's own words serve
 * @param out_size [out] bytes of the module
 * @return false: there is no host memory */
bool leati_kernel_module(const leati_physical *physical, const leati_kernel_code *code,
                         const leati_constants *constants, uint32_t **out_words, size_t *out_size);

#endif /* LEAT_PLUGIN_DEVICE_KERNEL_H_ */
