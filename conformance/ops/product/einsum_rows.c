/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of Einsum. */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/op_engine.h"

#define EQUATION(text) ATTRIBUTES(A_STRING("equation", text))
#define EINSUM(named, views, equation, ...) VIEWED("Einsum", named, 12, views, 0, EQUATION(equation), __VA_ARGS__)

/* A type: copies, sums, products element by element and of matrices, and sums before a product. */
#define EINSUM_OF(type_label, t)                                                                                       \
  EINSUM("transposed_" type_label, VIEW_SLICED, "abc->cab", MIXED(t, -9, 9, 5, 7, 11)),                                \
      EINSUM("sum_" type_label, VIEW_TRANSPOSED, "abc->b", RANGE_OF(t, -2, 2, 5, 7, 66)),                              \
      EINSUM("scaled_" type_label, VIEW_TRANSPOSED, "abc,c->bca", MIXED(t, -9, 9, 5, 7, 12), MIXED(t, -2, 2, 12)),     \
      EINSUM("scores_" type_label, VIEW_TRANSPOSED | VIEW_OFFSET, "bqhd,bkhd->bhqk", RANGE_OF(t, -2, 2, 2, 19, 3, 40), \
             RANGE_OF(t, -2, 2, 2, 33, 3, 40)),                                                                        \
      EINSUM("weighted_" type_label, VIEW_SLICED, "bhqk,bkhd->bqhd", RANGE_OF(t, -2, 2, 2, 3, 19, 33),                 \
             RANGE_OF(t, -2, 2, 2, 33, 3, 40)),                                                                        \
      EINSUM("sums_multiplied_" type_label, 0, "iaj,jkb->ik", RANGE_OF(t, 0, 2, 9, 5, 16),                             \
             RANGE_OF(t, 0, 2, 16, 12, 3)),                                                                            \
      EINSUM("three_" type_label, 0, "ij,jk,kl->il", RANGE_OF(t, -2, 2, 9, 20), RANGE_OF(t, -2, 2, 20, 12),            \
             RANGE_OF(t, -2, 2, 12, 17))

static const leati_op_spec specs[] = {
    CASE("Einsum", "version_28", 28, EQUATION("ij,jk->ik"), F32(17, 19), F32(19, 5)),
    VIEWED("Einsum", "matrices", 12, ALL_VIEWS, THREADS_8 | THREADS_16, EQUATION("ij,jk->ik"), F32(17, 67),
           F32(67, 35)),
    EINSUM_OF("float32", LEATI_REF_FLOAT32),
    EINSUM_OF("float16", LEATI_REF_FLOAT16),
    EINSUM_OF("bfloat16", LEATI_REF_BFLOAT16),
    /* One operand. */
    EINSUM("copy", ALL_VIEWS, "ab->ab", F32_SPECIAL(1, 9, 16)),
    EINSUM("diagonal", VIEWS | VIEW_REVERSED, "ii->i", F32(19, 19)),
    EINSUM("diagonal_of_batch", VIEWS, "...ii->i...", F32(2, 3, 7, 7)),
    EINSUM("diagonal_of_three", VIEW_SLICED, "iji->ji", F32(7, 5, 7)),
    EINSUM("two_diagonals", 0, "iijj->ji", F32(5, 5, 7, 7)),
    EINSUM("trace", VIEWS, "ii", F32(33, 33)),
    EINSUM("sum_of_all", VIEW_SLICED, "ab->", F32(33, 70)),
    EINSUM("sum_of_first", VIEWS, "ab->b", F32(33, 70)),
    EINSUM("sums_turned", VIEW_TRANSPOSED, "abcd->db", F32(3, 5, 7, 9)),
    EINSUM("implicit", VIEWS, "ba", F32(5, 7)),
    EINSUM("implicit_capitals_first", 0, "aB", F32(5, 7)),
    EINSUM("implicit_product", 0, "kj,ik", F32(5, 7), F32(9, 5)),
    EINSUM("implicit_ellipsis", 0, "b...a", F32(2, 3, 5)),
    EINSUM("spaces", 0, " a b , b c -> c a ", F32(5, 7), F32(7, 3)),
    EINSUM("scalar", 0, "->", F32_SCALAR),
    EINSUM("no_terms", 0, "", F32_SCALAR),
    EINSUM("ellipsis_alone", 0, "...", F32(2, 3, 5)),
    EINSUM("rank_8", 0, "abcdefgh->hgfedcba", F32(2, 1, 3, 2, 1, 2, 3, 2)),
    /* Two operands, of which no label is summed up that both have. */
    EINSUM("outer", VIEW_SLICED | VIEW_REVERSED, "i,j->ij", F32(37), F32(20)),
    EINSUM("outer_turned", 0, "i,j->ji", F32(37), F32(20)),
    EINSUM("elements", VIEWS, "ij,ij->ij", F32(9, 20), F32(9, 20)),
    EINSUM("elements_turned", VIEW_TRANSPOSED, "ij,ji->ij", F32(9, 20), F32(20, 9)),
    EINSUM("times_scalar", 0, ",ij->ij", F32_SCALAR, F32(9, 20)),
    EINSUM("times_sum", 0, "ij,k->ik", F32(9, 20), F32(5)),
    EINSUM("diagonals_multiplied", 0, "ii,jj->ij", F32(9, 9), F32(5, 5)),
    EINSUM("of_six_dimensions", 0, "abc,def->fedcba", F32(2, 3, 4), F32(3, 2, 5)),
    /* Products of matrices. */
    EINSUM("inner", VIEWS, "i,i->", F32(1003), F32(1003)),
    EINSUM("inner_of_matrices", VIEW_TRANSPOSED, "ij,ij->", F32(17, 40), F32(17, 40)),
    EINSUM("inner_of_batch", VIEW_SLICED, "bi,bi->b", F32(33, 40), F32(33, 40)),
    EINSUM("trace_of_product", 0, "ij,ji->", F32(17, 40), F32(40, 17)),
    EINSUM("matrix_vector", VIEWS, "ij,j->i", F32(65, 130), F32(130)),
    EINSUM("vector_matrix", 0, "i,ij", F32(130), F32(130, 65)),
    EINSUM("result_turned", VIEWS, "ij,jk->ki", F32(17, 67), F32(67, 35)),
    EINSUM("both_turned", VIEW_OFFSET, "ji,kj->ik", F32(68, 20), F32(36, 68)),
    EINSUM("batched", VIEWS | VIEW_REVERSED, "bij,bjk->bik", F32(3, 17, 20), F32(3, 20, 36)),
    EINSUM("batch_last", VIEW_TRANSPOSED, "ijb,jkb->ikb", F32(17, 20, 3), F32(20, 36, 3)),
    EINSUM("batch_between", 0, "bij,bjk->ibk", F32(3, 17, 20), F32(3, 20, 36)),
    EINSUM("batch_of_three", 0, "abcij,cbajk->bcaik", F32(2, 3, 4, 9, 10), F32(4, 3, 2, 10, 12)),
    EINSUM("two_summed", VIEW_TRANSPOSED, "aijb,ijc->abc", F32(3, 5, 9, 20), F32(5, 9, 17)),
    EINSUM("two_summed_apart", 0, "iaj,jic->ac", F32(5, 20, 9), F32(9, 5, 17)),
    EINSUM("projected_to_heads", VIEW_OFFSET, "bsd,dhk->bshk", F32(2, 19, 32), F32(32, 3, 8)),
    EINSUM("projected_from_heads", 0, "bshk,hkd->bsd", F32(2, 19, 3, 8), F32(3, 8, 32)),
    EINSUM("rows_of_windows", 0, "bhwc,hkc->bhwk", F32(3, 14, 14, 16), F32(14, 14, 16)),
    EINSUM("columns_of_windows", VIEW_SLICED, "bhwc,wkc->bhwk", F32(3, 14, 14, 16), F32(14, 14, 16)),
    EINSUM("channels_first", 0, "nctv,dc->ndtv", F32(2, 16, 5, 9), F32(12, 16)),
    EINSUM("rows_apart", 0, "aibj,jc->abic", F32(3, 4, 5, 16), F32(16, 20)),
    EINSUM("many_batch_dimensions", VIEW_TRANSPOSED, "abcdefgk,gfedcbak->acegbdf", F32(2, 3, 2, 2, 2, 3, 2, 5),
           F32(2, 3, 2, 2, 2, 3, 2, 5)),
    EINSUM("diagonal_times_matrix", VIEW_SLICED, "iij,jk->ik", F32(9, 9, 20), F32(20, 17)),
    EINSUM("sums_before_product", VIEW_TRANSPOSED, "iaj,jkb->ik", F32(9, 5, 16), F32(16, 12, 3)),
    EINSUM("sum_to_scalar_before", 0, "ij,jk->", F32(9, 16), F32(16, 12)),
    EINSUM("inner_split", 0, "ij,kj->ik", F32(20, 2100), F32(24, 2100)),
    /* Ellipses and dimensions of size 1, which broadcast. */
    EINSUM("ellipsis", VIEWS, "...ij,...jk->...ik", F32(2, 3, 9, 20), F32(2, 3, 20, 12)),
    EINSUM("ellipsis_broadcast", VIEW_TRANSPOSED, "...ij,...jk->...ik", F32(2, 1, 9, 20), F32(1, 3, 20, 12)),
    EINSUM("ellipsis_of_other_ranks", 0, "...ij,...jk->...ik", F32(4, 2, 9, 20), F32(2, 20, 12)),
    EINSUM("ellipsis_of_nothing", 0, "...ij,jk...->...ik", F32(9, 20), F32(20, 12)),
    EINSUM("ellipsis_last", 0, "i...,j...->ij...", F32(9, 2, 3), F32(5, 2, 3)),
    EINSUM("ellipsis_within", 0, "a...b,b...c->c...a", F32(4, 2, 9), F32(9, 2, 5)),
    EINSUM("one_broadcast", 0, "ij,jk->ik", F32(9, 1), F32(20, 12)),
    EINSUM("one_broadcast_in_result", 0, "bij,bjk->bik", F32(1, 9, 20), F32(3, 20, 12)),
    /* Three operands. */
    EINSUM("three_elements", VIEW_TRANSPOSED, "ij,ij,ij->ji", F32(9, 20), F32(9, 20), F32(9, 20)),
    EINSUM("three_bilinear", VIEWS, "bn,anm,bm->ba", F32(5, 9), F32(4, 9, 7), F32(5, 7)),
    EINSUM("three_summed", VIEW_REVERSED, "iax,ijby,jcz->i", F32(5, 3, 2), F32(5, 4, 2, 3), F32(4, 3, 2)),
    EINSUM("three_ellipses", 0, "...ij,j...k,k...->...i", F32(2, 9, 8), F32(8, 2, 7), F32(7, 2)),
    /* Sums of no elements are 0. */
    EINSUM("inner_empty", 0, "ij,jk->ik", F32(5, 0), F32(0, 7)),
    EINSUM("inner_empty_of_vectors", 0, "i,i->", F32(0), F32(0)),
    EINSUM("empty_before_product", 0, "ij,jkl->ik", F32(5, 4), F32(4, 7, 0)),
    EINSUM("empty_of_one", 0, "ij->j", F32(0, 7)),
    EINSUM("empty_of_three", 0, "ij,jk,kl->il", F32(5, 4), F32(4, 0), F32(0, 3)),
    EINSUM("no_rows", 0, "ij,jk->ik", F32(0, 4), F32(4, 5)),
    EINSUM("no_diagonal", 0, "ii->i", F32(0, 0)),
};

/* ---- Equations that are none, or not for their operands -----------------------------------------------------------
 */

typedef struct wrong {
  const char *equation;
  uint32_t count;
  int32_t rank; /* of all operands, each dimension of which has size 3 */
} wrong;

/* Attempts to create it with operands of known shapes. */
static int32_t attempt(leat_case_context *ctx, const wrong *w, const int64_t *dims, leat_op **out) {
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = w->rank, .dtype = LEAT_F32, .shape = dims};
  const leat_value_info *infos[] = {&info, &info, &info, &info};
  const leat_attribute equation = {.struct_size = sizeof(equation),
                                   .type = LEAT_ATTRIBUTE_STRING,
                                   .name = "equation",
                                   .count = strlen(w->equation),
                                   .string = w->equation};
  const leat_attribute *attributes[] = {&equation};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 12,
                             .name = "Einsum",
                             .input_count = w->count,
                             .output_count = 1,
                             .attribute_count = 1,
                             .attributes = attributes,
                             .inputs = infos};
  *out = NULL;
  return ctx->op->create(leati_fixture_device(ctx), &desc, out, NULL);
}

static void refused(leat_case_context *ctx, const void *data) {
  static const wrong good = {"ij,jk->ik", 2, 2};
  static const wrong list[] = {
      {"ij,jk->il", 2, 2},    /* no operand has it */
      {"ij,jk->ii", 2, 2},    /* twice in the result */
      {"ij,jk->ik->", 2, 2},  /* two results */
      {"ij,jk->ik,", 2, 2},   /* a result of two terms */
      {"ij,jk-ik", 2, 2},     /* half of an arrow */
      {"ij,jk>ik", 2, 2},     /* the other half */
      {"ij,jk->i*k", 2, 2},   /* no letter */
      {"ij,j1->i1", 2, 2},    /* nor is it */
      {"i\303\244->i", 1, 2}, /* nor those */
      {"i..->i", 1, 2},       /* two points */
      {"i....->i...", 1, 2},  /* four points */
      {"...i...->i", 1, 2},   /* two ellipses in a term */
      {"...i->i", 1, 2},      /* the result lacks the ellipsis */
      {"ij,jk->ik", 1, 2},    /* one operand too few */
      {"ij->ij", 2, 2},       /* one too many */
      {"ij,->ij", 1, 2},      /* a term without an operand */
      {"i->i", 1, 2},         /* a dimension without a label */
      {"ijk->i", 1, 2},       /* a label without a dimension */
      {"...ijk->i", 1, 2},    /* also with an ellipsis */
      {"", 1, 1},             /* not for a vector */
  };
  const int64_t dims[LEAT_MAX_RANK] = {3, 3, 3, 3, 3, 3, 3, 3};
  leat_op *op;
  (void)data;
  const int32_t status = attempt(ctx, &good, dims, &op);
  if (status != LEAT_OK) {
    leati_case_skip(ctx, "op.create() does not take Einsum of float32");
  }
  /* A call has as many operands as the equation, too. */
  const uint64_t address = leati_case_alloc(ctx, 9 * sizeof(float), NULL);
  leat_case_tensor view;
  leati_case_tensor_device(ctx, &view, address, LEAT_F32, 2, dims);
  const DLTensor *const inputs[] = {&view.tensor, &view.tensor, &view.tensor};
  for (uint32_t count = 1; count <= 3; ++count) {
    leat_shape shape = {.struct_size = sizeof(shape)};
    leat_shape *shapes[] = {&shape};
    const int32_t got = ctx->op->infer(op, count, inputs, 1, shapes, NULL);
    LEAT_CHECK_MESSAGE(ctx, got == (count == 2 ? LEAT_OK : LEAT_ERROR_INVALID_ARGUMENT),
                       "Einsum \"%s\" with %u operands: op.infer() gives %d", good.equation, count, got);
  }
  leati_case_free(ctx, address);
  leati_op_destroy(ctx, op);
  for (size_t k = 0; k < G_N_ELEMENTS(list); ++k) {
    const int32_t got = attempt(ctx, &list[k], dims, &op);
    LEAT_CHECK_MESSAGE(ctx, got == LEAT_ERROR_INVALID_ARGUMENT || got == LEAT_ERROR_NOT_SUPPORTED,
                       "Einsum \"%s\" of %u operands of rank %d: op.create() gives %d", list[k].equation, list[k].count,
                       list[k].rank, got);
  }
  /* Sizes that do not go together: of a label in one operand, and in two. */
  const int64_t uneven[LEAT_MAX_RANK] = {3, 4};
  static const wrong of_sizes[] = {{"ii->i", 1, 2}, {"ij,jk->ik", 2, 2}, {"...i,i...->i...", 2, 2}};
  for (size_t k = 0; k < G_N_ELEMENTS(of_sizes); ++k) {
    LEAT_CHECK_MESSAGE(ctx, attempt(ctx, &of_sizes[k], uneven, &op) == LEAT_ERROR_INVALID_ARGUMENT,
                       "Einsum \"%s\" of shapes [3, 4] is not refused as invalid", of_sizes[k].equation);
  }
}

static const leat_case equations[] = {
    {.name = "op.Einsum.wrong_equations_are_refused",
     .summary = "An equation that is none, or not for the operands that are given, is refused.",
     .run = refused},
};

void leati_rows_einsum(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, equations, G_N_ELEMENTS(equations));
}
