/* SPDX-License-Identifier: BSD-3-Clause */
#include "initializers.h"

/* Bytes of a message of Protocol Buffers that are left to read. */
typedef struct message {
  unsigned char *at, *end;
} message;

/* How a field is written: protobuf's wire types, but for groups, which ONNX has none of. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Numbers of fields in onnx.proto. */
enum {
  MODEL_GRAPH = 7,
  GRAPH_INITIALIZER = 5,
  TENSOR_DATA_TYPE = 2,
  TENSOR_FLOAT_DATA = 4,
  TENSOR_RAW_DATA = 9,
  TENSOR_DOUBLE_DATA = 10
};

typedef struct field {
  uint64_t number, wire;
  uint64_t value;  /* of a varint */
  message content; /* of bytes: another message, text or elements */
} field;

static gboolean read_varint(message *from, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; from->at < from->end && shift < 64; shift += 7) {
    const unsigned char byte = *from->at++;
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      return TRUE;
    }
  }
  return FALSE;
}

/* Reads the next field; FALSE at the end, and where something else than a field comes. */
static gboolean next_field(message *from, field *out) {
  uint64_t key = 0;
  uint64_t length = 0;
  *out = (field){0};
  if (!read_varint(from, &key)) {
    return FALSE;
  }
  out->number = key >> 3;
  out->wire = key & 7;
  switch (out->wire) {
    case WIRE_VARINT:
      return read_varint(from, &out->value);
    case WIRE_64:
      length = 8;
      break;
    case WIRE_32:
      length = 4;
      break;
    case WIRE_BYTES:
      if (!read_varint(from, &length)) {
        return FALSE;
      }
      break;
    default:
      return FALSE;
  }
  if (length > (uint64_t)(from->end - from->at)) {
    return FALSE;
  }
  out->content = (message){from->at, from->at + length};
  from->at += length;
  return TRUE;
}

/* TensorProto.DataType as an element; FALSE for what is not of floating point. */
static gboolean float_of(uint64_t data_type, leati_element *out) {
  switch (data_type) {
    case 1:
      *out = LEATI_FLOAT32;
      return TRUE;
    case 10:
      *out = LEATI_FLOAT16;
      return TRUE;
    case 11:
      *out = LEATI_FLOAT64;
      return TRUE;
    case 16:
      *out = LEATI_BFLOAT16;
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean visit_elements(leati_element element, const message *data, leati_initializer_fn visit, void *user) {
  const size_t count = (size_t)(data->end - data->at) / leati_element_size(element);
  if (count > 0) {
    visit(element, data->at, count, user);
  }
  return count > 0;
}

static gboolean visit_tensor(message tensor, leati_initializer_fn visit, void *user) {
  field one;
  message raw = {NULL, NULL};
  leati_element element;
  uint64_t data_type = 0;
  gboolean any = FALSE;
  while (next_field(&tensor, &one)) {
    if (one.number == TENSOR_DATA_TYPE) {
      data_type = one.value;
    } else if (one.wire == WIRE_BYTES && one.number == TENSOR_RAW_DATA) {
      raw = one.content;
    } else if (one.wire == WIRE_BYTES && one.number == TENSOR_FLOAT_DATA) {
      any |= visit_elements(LEATI_FLOAT32, &one.content, visit, user);
    } else if (one.wire == WIRE_BYTES && one.number == TENSOR_DOUBLE_DATA) {
      any |= visit_elements(LEATI_FLOAT64, &one.content, visit, user);
    }
  }
  return (float_of(data_type, &element) && visit_elements(element, &raw, visit, user)) || any;
}

gboolean leati_initializers_each(void *bytes, size_t size, leati_initializer_fn visit, void *user) {
  message model = {bytes, (unsigned char *)bytes + size};
  field graph;
  field one;
  gboolean any = FALSE;
  while (next_field(&model, &graph)) {
    while (graph.number == MODEL_GRAPH && next_field(&graph.content, &one)) {
      if (one.number == GRAPH_INITIALIZER && one.wire == WIRE_BYTES) {
        any |= visit_tensor(one.content, visit, user);
      }
    }
  }
  return any;
}
