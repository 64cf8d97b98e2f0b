# SPDX-License-Identifier: BSD-3-Clause
# Recurrent layers: LSTM, GRU, RNN.
leat_room(FAMILIES recurrent)

set(constants CONSTANTS THREADS ROWS PASS WHOLE VECTORS HELD QUADS STANDARD TWICE)
leat_kernel(lstm recurrent.comp TYPES F32 F16 BF16 ${constants} DEFINES LSTM)
leat_kernel(lstm_quantized recurrent.comp TYPES F32 ${constants} DEFINES LSTM QUANTIZED)
leat_kernel(gru recurrent.comp TYPES F32 F16 BF16 ${constants} DEFINES GRU)
leat_kernel(rnn recurrent.comp TYPES F32 F16 BF16 ${constants} DEFINES RNN)
