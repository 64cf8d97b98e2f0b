// SPDX-License-Identifier: BSD-3-Clause
#include "holder.h"

#include <unistd.h>
#include <cstdio>

namespace {

class Owner {
 public:
  holder held{};

  ~Owner() {
    if (held.api == nullptr) {
      return;
    }
    if (held.device != nullptr && held.address != 0) {
      Check("free", held.api->memory->free(held.device, held.address, &err_));
    }
    Check("event.destroy", held.api->event->destroy(held.event, &err_));
    Check("op.destroy", held.api->op->destroy(held.op, &err_));
    Check("stream.destroy", held.api->stream->destroy(held.stream, &err_));
    Check("device.close", held.api->device->close(held.device, &err_));
  }

 private:
  leat_error err_{sizeof(leat_error), 0, 0, 0, {}};

  void Check(const char *what, int32_t status) {
    if (status != LEAT_OK) {
      (void)std::fprintf(stderr, "%s in a static destructor gave %d: %s\n", what, static_cast<int>(status),
                         err_.message);
      _exit(1);
    }
  }
};

Owner early;

}  // namespace

holder *holder_early() {
  return &early.held;
}

holder *holder_late() {
  static Owner late;
  return &late.held;
}
