# SPDX-License-Identifier: BSD-3-Clause
# Layers of language models that go on from a state of one size: linear attention, causal convolutions.
leat_room(FAMILIES causal_conv linear_attention)

leat_kernel(causal_conv causal_conv.comp TYPES F32 F16 BF16 CONSTANTS SILU)
leat_kernel(linear_attention linear_attention.comp TYPES F32 F16 BF16
  CONSTANTS ROWS_SPEC HELD DECAY DELTA STATE_IN STATE_OUT)
leat_kernel(linear_attention_gate linear_attention_gate.comp TYPES F32 F16 BF16)
