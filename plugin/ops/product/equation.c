/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/product/equation.h"

#include <string.h>

#include "core/status.h"

#define END (-1)

typedef struct reader {
  const char *at, *end;
  leati_equation *out;
  leat_error *err;
} reader;

/* The next character that is no space. */
static int next(reader *r) {
  while (r->at < r->end && *r->at == ' ') {
    ++r->at;
  }
  return r->at < r->end ? (unsigned char)*r->at++ : END;
}

static int32_t refuse(const reader *r, const char *why) {
  return leati_fail(r->err, LEAT_ERROR_INVALID_ARGUMENT, "Einsum: equation \"%s\" %s", r->out->text, why);
}

static int32_t refuse_letter(const reader *r, uint8_t label, const char *why) {
  return leati_fail(r->err, LEAT_ERROR_INVALID_ARGUMENT, "Einsum: equation \"%s\" has '%c' in the result, %s",
                    r->out->text, leati_equation_letter(label), why);
}

char leati_equation_letter(uint8_t label) {
  return (char)(label < 26 ? 'A' + label : label < LEATI_EQUATION_LETTERS ? 'a' + (label - 26) : '.');
}

static int32_t add_letter(const reader *r, uint8_t label, leati_equation_term *term) {
  if (term->count == LEAT_MAX_RANK) {
    return leati_fail(r->err, LEAT_ERROR_NOT_SUPPORTED,
                      "Einsum: equation \"%s\" has a term of more than %d labels, which is not supported", r->out->text,
                      LEAT_MAX_RANK);
  }
  term->letters[term->count++] = label;
  return LEAT_OK;
}

/* Reads a term, and what is behind it: a comma, the first character of an arrow or the end. */
static int32_t read_term(reader *r, leati_equation_term *term, int *out_behind) {
  *term = (leati_equation_term){.ellipsis = -1};
  for (;;) {
    const int c = next(r);
    if (c == ',' || c == '-' || c == END) {
      *out_behind = c;
      return LEAT_OK;
    }
    if (c >= 'A' && c <= 'Z') {
      LEATI_TRY(add_letter(r, (uint8_t)(c - 'A'), term));
    } else if (c >= 'a' && c <= 'z') {
      LEATI_TRY(add_letter(r, (uint8_t)(26 + c - 'a'), term));
    } else if (c != '.') {
      return refuse(r, "may have letters, \"...\", \",\", \"->\" and spaces, nothing else");
    } else if (next(r) != '.' || next(r) != '.') {
      return refuse(r, "has a point that is none of three");
    } else if (term->ellipsis >= 0) {
      return refuse(r, "has a term with two ellipses");
    } else {
      term->ellipsis = term->count;
    }
  }
}

/* How often operands have each letter, and whether one has an ellipsis. */
static bool count_letters(const leati_equation *e, uint32_t *counts) {
  bool ellipsis = false;
  memset(counts, 0, LEATI_EQUATION_LETTERS * sizeof(counts[0]));
  for (uint32_t i = 0; i < e->operand_count; ++i) {
    for (int32_t k = 0; k < e->operands[i].count; ++k) {
      ++counts[e->operands[i].letters[k]];
    }
    ellipsis = ellipsis || e->operands[i].ellipsis >= 0;
  }
  return ellipsis;
}

static int32_t check_result(const reader *r, const uint32_t *counts) {
  const leati_equation_term *const result = &r->out->result;
  uint64_t seen = 0;
  for (int32_t k = 0; k < result->count; ++k) {
    const uint8_t label = result->letters[k];
    if (counts[label] == 0) {
      return refuse_letter(r, label, "which no operand has");
    }
    if ((seen >> label & 1u) != 0) {
      return refuse_letter(r, label, "twice");
    }
    seen |= UINT64_C(1) << label;
  }
  return LEAT_OK;
}

static void keep_text(const char *text, uint64_t length, leati_equation *out) {
  const uint64_t room = sizeof(out->text) - 1, count = length < room ? length : room;
  for (uint64_t i = 0; i < count; ++i) {
    out->text[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
  }
  out->text[count] = '\0';
}

int32_t leati_equation_read(const char *text, uint64_t length, leati_equation *out, leat_error *err) {
  reader r = {.at = text, .end = length != 0 ? text + length : text, .out = out, .err = err};
  uint32_t counts[LEATI_EQUATION_LETTERS];
  int behind = ',';
  keep_text(text, length, out);
  for (out->operand_count = 0; behind == ','; ++out->operand_count) {
    if (out->operand_count == LEATI_EQUATION_OPERANDS_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "Einsum: equation \"%s\" has more than %d operands; supported: %d", out->text,
                        LEATI_EQUATION_OPERANDS_MAX, LEATI_EQUATION_OPERANDS_MAX);
    }
    LEATI_TRY(read_term(&r, &out->operands[out->operand_count], &behind));
  }
  const bool ellipsis = count_letters(out, counts);
  if (behind == '-') {
    if (next(&r) != '>') {
      return refuse(&r, "has a '-' that is none of \"->\"");
    }
    LEATI_TRY(read_term(&r, &out->result, &behind));
    return behind != END ? refuse(&r, "goes on behind the result") : check_result(&r, counts);
  }
  out->result = (leati_equation_term){.ellipsis = ellipsis ? 0 : -1};
  for (uint8_t label = 0; label < LEATI_EQUATION_LETTERS; ++label) {
    if (counts[label] == 1) {
      LEATI_TRY(add_letter(&r, label, &out->result));
    }
  }
  return LEAT_OK;
}

bool leati_equation_labels(const leati_equation_term *term, int32_t rank, uint8_t *out) {
  const int32_t more = rank - term->count;
  if (more < 0 || (more > 0 && term->ellipsis < 0)) {
    return false;
  }
  for (int32_t d = 0, k = 0; d < rank; ++d) {
    const int32_t within = d - term->ellipsis;
    const bool dots = more > 0 && within >= 0 && within < more;
    out[d] = dots ? (uint8_t)(LEATI_EQUATION_LABELS - more + within) : term->letters[k++];
  }
  return true;
}
