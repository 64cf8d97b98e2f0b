/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of Fourier transforms. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

#define DFT(named, version, attributes_given, ...)                                                                     \
  {                                                                                                                    \
    .name = "DFT", .label = named, .since_version = version, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define STFT(named, attributes_given, ...)                                                                         \
  {                                                                                                                \
    .name = "STFT", .label = named, .since_version = 17, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define INVERSE A_INT("inverse", 1)
#define ONESIDED(x) A_INT("onesided", x)
#define NUMBER(x) I64_IS(NO_DIMS, x)
#define OF(named, t)                                                                  \
  DFT(named, 20, NO_ATTRIBUTES, RANGE_OF(t, -1, 1, 3, 20, 2)),                        \
      DFT("version17_" named, 17, ATTRIBUTES(INVERSE), RANGE_OF(t, -1, 1, 3, 20, 2)), \
      STFT(named, NO_ATTRIBUTES, RANGE_OF(t, -1, 1, 2, 90, 1), NUMBER(10), RANGE_OF(t, 0, 1, 24))

static const leati_op_spec specs[] = {
    {.name = "DFT",
     .label = "float32",
     .since_version = 20,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 15, 3, 2), ABSENT, NUMBER(1)}},
    OF("float16", LEATI_REF_FLOAT16),
    OF("bfloat16", LEATI_REF_BFLOAT16),
    DFT("real", 20, NO_ATTRIBUTES, F32(3, 12, 1)),
    DFT("version17", 17, NO_ATTRIBUTES, F32(2, 15, 3, 2)),
    DFT("version17_axis", 17, ATTRIBUTES(A_INT("axis", -2), INVERSE), F32(2, 15, 7, 2), NUMBER(9)),
    DFT("version17_int32", 17, NO_ATTRIBUTES, F32(2, 15, 2), I32_IS(NO_DIMS, 9)),
    DFT("longer", 20, NO_ATTRIBUTES, F32(3, 12, 2), NUMBER(19)),
    DFT("shorter", 20, ATTRIBUTES(INVERSE), F32(3, 12, 2), I32_IS(DIMS(1), 5)),
    DFT("inverse", 20, ATTRIBUTES(INVERSE), F32(3, 33, 2)),
    DFT("inverse_real", 20, ATTRIBUTES(INVERSE), F32(3, 33, 1)),
    DFT("onesided", 20, ATTRIBUTES(ONESIDED(1)), F32(3, 12, 1)),
    DFT("onesided_odd", 20, ATTRIBUTES(ONESIDED(1)), F32(3, 13, 1)),
    DFT("onesided_inverse", 20, ATTRIBUTES(ONESIDED(1), INVERSE), F32(3, 7, 2)),
    DFT("onesided_inverse_odd", 20, ATTRIBUTES(ONESIDED(1), INVERSE), F32(3, 7, 2), NUMBER(13)),
    DFT("onesided_inverse_longer", 20, ATTRIBUTES(ONESIDED(1), INVERSE), F32(3, 4, 2), NUMBER(20)),
    DFT("onesided_inverse_shorter", 20, ATTRIBUTES(ONESIDED(1), INVERSE), F32(3, 9, 2), NUMBER(6)),
    DFT("one", 20, NO_ATTRIBUTES, F32(3, 1, 2)),
    DFT("two", 20, ATTRIBUTES(INVERSE), F32(3, 2, 2)),
    DFT("first_axis", 20, NO_ATTRIBUTES, F32(9, 4, 2), ABSENT, NUMBER(-3)),
    DFT("many", 20, NO_ATTRIBUTES, F32(1, 1000, 1)),
    DFT("lines", 20, NO_ATTRIBUTES, F32(10, 512, 1)), /* some dispatches of a software device */
    DFT("rank8", 20, NO_ATTRIBUTES, F32(2, 1, 2, 5, 1, 1, 2, 2), ABSENT, NUMBER(3)),
    DFT("no_lines", 20, NO_ATTRIBUTES, F32(0, 5, 2)),
    {.name = "STFT",
     .label = "float32",
     .since_version = 17,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .inputs = {F32(2, 200, 1), NUMBER(12), F32(32)}},
    STFT("length", NO_ATTRIBUTES, F32(1, 60, 1), I32_IS(DIMS(1), 7), ABSENT, I32_IS(NO_DIMS, 16)),
    STFT("window_and_length", NO_ATTRIBUTES, F32(1, 60, 1), NUMBER(7), F32(15), I64_IS(DIMS(1), 15)),
    STFT("complex", ATTRIBUTES(ONESIDED(0)), F32(2, 60, 2), NUMBER(7), F32(16)),
    STFT("both_sides", ATTRIBUTES(ONESIDED(0)), F32(2, 60, 1), NUMBER(7), F32(16)),
    STFT("whole_signal", NO_ATTRIBUTES, F32(2, 30, 1), I64_IS(NO_DIMS, INT64_MAX)),
    STFT("gaps", NO_ATTRIBUTES, F32(2, 60, 1), NUMBER(25), F32(8)),
    STFT("no_batch", NO_ATTRIBUTES, F32(0, 60, 1), NUMBER(7), F32(16)),
};

static const leati_op_spec sound_stft = STFT("sound", NO_ATTRIBUTES, F32(2, 60, 1), NUMBER(7), F32(16), NUMBER(16));
static const leati_refusal wrong_stft[] = {{A_FLOAT("onesided", 1)}};
/* Any number of batches, and of samples. */
static const leati_refusals refusals_of_stft = {.sound = &sound_stft,
                                                .wrong = wrong_stft,
                                                .wrong_count = G_N_ELEMENTS(wrong_stft),
                                                .any_size = {1u << 0 | 1u << 1}};

static const leati_op_spec sound_dft = DFT("sound", 17, ATTRIBUTES(ONESIDED(1)), F32(3, 12, 1));
static const leati_refusal wrong_dft[] = {
    {A_INT("axis", 2)}, {A_INT("axis", -1)}, {A_INT("axis", 3)}, {A_INT("axis", INT64_MIN)}, {INVERSE}};
/* Any shape, but for the numbers of an element. */
static const leati_refusals refusals_of_dft = {.sound = &sound_dft,
                                               .wrong = wrong_dft,
                                               .wrong_count = G_N_ELEMENTS(wrong_dft),
                                               .any_size = {1u << 0 | 1u << 1 | 1u << 3}};

static const leat_case hostile[] = {{REFUSALS("STFT", "refused", &refusals_of_stft)},
                                    {REFUSALS("DFT", "refused", &refusals_of_dft)}};

void leati_rows_fourier(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
