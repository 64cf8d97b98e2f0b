/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"
#include "core/sync.h"

/* What is gathered before it is written, and room for one event: a character of a name takes up to 6 bytes. */
#define GATHERED_MAX 65536
#define EVENT_MAX 2048
/* What ends the file, and is written over by what comes next. */
#define END "\n]}\n"
/* What is in a file that nothing was recorded for. */
#define NOTHING "{\"traceEvents\":[]}\n"
/* Process number of the host's threads in the trace; devices follow. A process is a group of rows there. */
#define HOST_GROUP 1u

/* Guards everything below. */
static leati_mutex lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_TRACE);
static char path[1024];
static int file = -1;
static bool failed; /* and told; `file` takes nothing more */
static bool empty;  /* there is no event yet */
static bool begun;  /* there is a record, and the file is ours */
static off_t written;
static char gathered[GATHERED_MAX + EVENT_MAX];
static size_t length;

/* ---- The file: `lock` held --------------------------------------------------------------------------------------- */

static void fail(const char *what) {
  if (!failed) {
    failed = true;
    leati_log(LEATI_LOG_WARN, "LEAT_PROFILE is \"%.400s\": %s (%s); no trace is written", path, what, strerror(errno));
  }
}

/* Writes a piece where the last one ended. */
static void write_at(off_t at, const char *bytes, size_t count) {
  while (count != 0 && !failed) {
    const ssize_t done = pwrite(file, bytes, count, at);
    if (done >= 0) {
      bytes += done;
      count -= (size_t)done;
      at += done;
    } else if (errno != EINTR) {
      fail("the file cannot be written any more");
    }
  }
}

static void flush(void) {
  if (file < 0 || failed || !begun) {
    return;
  }
  if (written == 0 && ftruncate(file, 0) != 0 && errno != EINVAL) {
    /* A pipe or a device has no length, and no place to write to either: that is told next. */
    fail("the file cannot be emptied");
  }
  memcpy(gathered + length, END, strlen(END));
  write_at(written, gathered, length + strlen(END));
  written += (off_t)length;
  length = 0;
}

bool leati_trace_open(const char *wanted) {
  leati_mutex_lock(&lock);
  if (strcmp(path, wanted) != 0) {
    if (file >= 0) {
      flush();
      (void)close(file);
    }
    (void)snprintf(path, sizeof(path), "%s", wanted);
    failed = begun = false;
    empty = true;
    written = 0;
    length = (size_t)snprintf(gathered, sizeof(gathered), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
      fail("the file cannot be made");
    } else if (lseek(file, 0, SEEK_END) == 0) {
      write_at(0, NOTHING, strlen(NOTHING));
    }
  }
  const bool good = !failed;
  leati_mutex_unlock(&lock);
  return good;
}

void leati_trace_flush(void) {
  leati_mutex_lock(&lock);
  flush();
  leati_mutex_unlock(&lock);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* An event on its way: made without a lock. */
typedef struct event {
  char text[EVENT_MAX];
  size_t length;
} event;

__attribute__((format(printf, 2, 3))) static void add(event *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vsnprintf(e->text + e->length, sizeof(e->text) - e->length, format, arguments);
  va_end(arguments);
  e->length += count > 0 ? (size_t)count : 0;
}

/* Bytes of the character of UTF-8 that a text begins with, or 0: there is none that may stand there. */
static size_t character(const unsigned char *text) {
  const unsigned char first = text[0];
  const size_t size = first < 0x80u                     ? 1
                      : first >= 0xc2u && first < 0xe0u ? 2
                      : first >= 0xe0u && first < 0xf0u ? 3
                      : first >= 0xf0u && first < 0xf5u ? 4
                                                        : 0;
  for (size_t i = 1; i < size; ++i) {
    if ((text[i] & 0xc0u) != 0x80u) {
      return 0;
    }
  }
  /* Forms that are too long, surrogates, and what lies behind Unicode's end. */
  const bool bad = (first == 0xe0u && text[1] < 0xa0u) || (first == 0xedu && text[1] >= 0xa0u) ||
                   (first == 0xf0u && text[1] < 0x90u) || (first == 0xf4u && text[1] >= 0x90u);
  return bad ? 0 : size;
}

/* A text as a string of JSON. What is no UTF-8 becomes a question mark: names come from models. */
static void add_text(event *e, const char *text) {
  add(e, "\"");
  for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
    const size_t size = character(at);
    if (size == 0) {
      add(e, "?");
    } else if (size == 1 && (*at < 0x20u || *at == '"' || *at == '\\' || *at == 0x7fu)) {
      add(e, "\\u%04x", *at);
    } else {
      add(e, "%.*s", (int)size, (const char *)at);
    }
    at += size == 0 ? 1 : size;
  }
  add(e, "\"");
}

/* A time in the trace's unit, microseconds. */
static void add_time(event *e, const char *key, uint64_t ns) {
  add(e, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000u, (unsigned)(ns % 1000u));
}

/* An event's first fields: what it is, and the row that it is in. */
static void begin_event(event *e, const char *phase, uint32_t group, uint32_t row) {
  e->length = 0;
  add(e, "\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", phase, group, row);
}

/* Puts an event behind the others. `record`: it is more than a name. */
static void put_event(event *e, bool record) {
  add(e, "}");
  leati_mutex_lock(&lock);
  begun = begun || record;
  /* There is always room for a record: names alone may be too many, and are left out then. */
  if (file >= 0 && !failed && length + 1 + e->length + sizeof(END) <= sizeof(gathered)) {
    if (!empty) {
      gathered[length++] = ',';
    }
    empty = false;
    memcpy(gathered + length, e->text, e->length);
    length += e->length;
    if (length + 1 + EVENT_MAX + sizeof(END) > sizeof(gathered)) {
      flush();
    }
  }
  leati_mutex_unlock(&lock);
}

static uint32_t group_of(uint32_t device) {
  return HOST_GROUP + 1 + device;
}

/* Names a group of rows, or with `row` one of them. */
static void put_name(uint32_t group, const uint32_t *row, const char *name) {
  event e;
  begin_event(&e, "M", group, row != NULL ? *row : 0);
  add(&e, ",\"name\":\"%s\",\"args\":{\"name\":", row != NULL ? "thread_name" : "process_name");
  add_text(&e, name);
  add(&e, "}");
  put_event(&e, false);
}

void leati_trace_device(uint32_t index, const char *name, uint32_t lane_count) {
  put_name(HOST_GROUP, NULL, "host");
  put_name(group_of(index), NULL, name);
  for (uint32_t lane = 0; lane < lane_count; ++lane) {
    char row[32];
    (void)snprintf(row, sizeof(row), "lane %" PRIu32, lane);
    put_name(group_of(index), &lane, row);
  }
}

/* A step: for as long as it kept its lane busy, because events of one row must not overlap. */
static void put_step(uint32_t device, const leat_profile_record *r) {
  event e;
  begin_event(&e, "X", group_of(device), r->lane);
  add_time(&e, "ts", r->end_ns - r->busy_ns);
  add_time(&e, "dur", r->busy_ns);
  add(&e, ",\"cat\":\"%s\",\"name\":", r->kind == LEAT_PROFILE_COPY ? "copy" : "kernel");
  add_text(&e, r->op);
  add(&e, ",\"args\":{\"launch\":%" PRIu64 ",\"step\":%u", r->launch, r->step);
  if (r->node != LEAT_PROFILE_NO_NODE) {
    add(&e, ",\"node\":%u,\"node name\":", r->node);
    add_text(&e, r->name);
  }
  add_time(&e, "level began us", r->begin_ns);
  add(&e, "}");
  put_event(&e, true);
}

/* A launch: from begin to end, on a row of its own where launches overlap. */
static void put_launch(uint32_t device, const leat_profile_record *r) {
  for (int end = 0; end < 2; ++end) {
    event e;
    begin_event(&e, end == 0 ? "b" : "e", group_of(device), r->lane);
    add_time(&e, "ts", end == 0 ? r->begin_ns : r->end_ns);
    add(&e, ",\"cat\":\"launch\",\"id2\":{\"local\":\"%" PRIu64 "\"},\"name\":", r->launch);
    add_text(&e, r->op);
    if (end == 0) {
      add(&e, ",\"args\":{\"launch\":%" PRIu64 ",\"steps\":%u,\"stream\":\"%#" PRIx64 "\",\"thread\":%u", r->launch,
          r->step, r->stream, r->thread);
      add_time(&e, "recorded us", r->recorded_ns);
      add_time(&e, "submitted us", r->submitted_ns);
      add_time(&e, "busy us", r->busy_ns);
      add(&e, "}");
    }
    put_event(&e, true);
  }
}

/* What a thread of the host did. */
static void put_host(const leat_profile_record *r) {
  event e;
  begin_event(&e, "X", HOST_GROUP, r->thread);
  add_time(&e, "ts", r->begin_ns);
  add_time(&e, "dur", r->end_ns - r->begin_ns);
  add(&e, ",\"cat\":\"host\",\"name\":\"%s\"",
      r->kind == LEAT_PROFILE_RECORD    ? "record"
      : r->kind == LEAT_PROFILE_SUBMIT  ? "submit"
      : r->kind == LEAT_PROFILE_COMPILE ? "compile"
                                        : "wait");
  if (r->kind == LEAT_PROFILE_RECORD) {
    add(&e, ",\"args\":{\"launch\":%" PRIu64 ",\"steps\":%u,\"operator\":", r->launch, r->step);
    add_text(&e, r->op);
    add(&e, "}");
  } else if (r->kind == LEAT_PROFILE_COMPILE) {
    add(&e, ",\"args\":{\"kernel\":");
    add_text(&e, r->name);
    add(&e, "}");
  }
  put_event(&e, true);
}

void leati_trace_put(uint32_t device, const leat_profile_record *record) {
  switch (record->kind) {
    case LEAT_PROFILE_KERNEL:
    case LEAT_PROFILE_COPY:
      put_step(device, record);
      break;
    case LEAT_PROFILE_LAUNCH:
      put_launch(device, record);
      break;
    default:
      put_host(record);
      break;
  }
}
