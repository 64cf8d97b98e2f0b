/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/spread.h"

/* A trial wins when it is faster by more than rates differ from epoch to epoch. */
#define GAIN 1.08
/* A rate or a number of streams that changes by this factor means other work: what was learnt before says nothing about
 * it. */
#define OTHER_WORK 1.7
/* Epochs in a row that must say so: threads that come or go disturb one. */
#define SURE 2
#define PATIENCE_LONG 8
/* Lists that keep a lane busy for so long lose nothing by a lane of their own: it is many times what a change of queue
 * takes. They get all there are, without a trial. */
#define LONG_S 150e-6
/* Lists that keep a lane busy for less, as few lanes show it, are small enough to share command buffers: more lanes
 * than a few only keep them apart, and may run them at a tenth of the speed. Nothing else is learnt from what lists
 * take: rates tell more, but not whether it is the device that takes the time or a thread that has no processor. */
#define SHORT_S 25e-6
#define FEW 2
/* Epochs between trials at most: a trial is two epochs at perhaps three quarters of the speed, so it costs 2 %, and a
 * number that a disturbed trial got wrong is mended within a fifth of a second. */
#define PATIENCE_MAX 24

void leati_spread_begin(leati_spread *spread, uint32_t most) {
  *spread = (leati_spread){.most = most, .cap = most, .lanes = 1, .settled = 1, .patience = 1, .turn = LEATI_TURN_UP};
}

/* The number that a turn would try: `settled` if there is none. */
static uint32_t candidate(const leati_spread *spread, leati_turn turn) {
  switch (turn) {
    case LEATI_TURN_UP:
      return spread->settled * 2 < spread->cap ? spread->settled * 2 : spread->cap;
    case LEATI_TURN_DOWN:
      return spread->settled > 1 ? spread->settled / 2 : 1;
    case LEATI_TURN_ONE:
      return spread->settled > 2 ? 1 : spread->settled;
    default:
      return spread->settled * 2 < spread->cap ? spread->cap : spread->settled;
  }
}

static leati_turn after(leati_turn turn) {
  return (leati_turn)((turn + 1) % LEATI_TURN_COUNT);
}

static void use(leati_spread *spread, uint32_t lanes) {
  spread->mixed = spread->lanes != lanes;
  spread->lanes = lanes;
}

/* Whether a turn has a number that is worth a trial: more lanes than streams cannot be told from as many. */
static bool is_worth(const leati_spread *spread, leati_turn turn, uint32_t streams) {
  const uint32_t lanes = candidate(spread, turn);
  return lanes < spread->settled || (lanes > spread->settled && lanes < 2 * streams);
}

/* Starts the next trial, if there is any. */
static void try_next(leati_spread *spread, uint32_t streams) {
  for (int i = 0; i < LEATI_TURN_COUNT && !spread->trying; ++i) {
    if (is_worth(spread, spread->turn, streams)) {
      spread->trying = true;
      use(spread, candidate(spread, spread->turn));
    } else {
      spread->turn = after(spread->turn);
    }
  }
}

/* Takes a number of lanes for the best without a trial. */
static void settle(leati_spread *spread, uint32_t lanes) {
  spread->settled = lanes;
  spread->rate = 0;
  spread->strange = 0;
  /* That many lanes are best for long lists is sure enough not to be tried out at once. */
  spread->patience = lanes == 1 ? 1 : PATIENCE_LONG;
  spread->calm = 0;
  spread->refusals = 0;
  spread->turn = lanes == 1 ? LEATI_TURN_UP : LEATI_TURN_DOWN;
  use(spread, lanes);
}

static void end_trial(leati_spread *spread, double rate, uint32_t streams) {
  spread->trying = false;
  spread->calm = 0;
  if (rate > spread->rate * GAIN) {
    spread->settled = spread->lanes;
    spread->rate = rate;
    spread->patience = 1;
    spread->refusals = 0;
    /* What helped once may help again. */
    if (is_worth(spread, spread->turn, streams)) {
      try_next(spread, streams);
    }
    return;
  }
  use(spread, spread->settled);
  spread->turn = after(spread->turn);
  if (++spread->refusals >= 2) {
    spread->refusals = 0;
    spread->patience = spread->patience * 2 < PATIENCE_MAX ? spread->patience * 2 : PATIENCE_MAX;
  }
}

bool leati_spread_long(double list_s) {
  return list_s > LONG_S;
}

static bool is_other(double now, double known) {
  return now > known * OTHER_WORK || now < known / OTHER_WORK;
}

uint32_t leati_spread_step(leati_spread *spread, const leati_pace *pace) {
  const double rate = pace->commands;
  const uint32_t streams = pace->streams;
  if (spread->most == 1 || streams < 2) {
    return spread->lanes;
  }
  const bool is_long = leati_spread_long(pace->list_s);
  const bool strange = spread->rate != 0 && !spread->mixed && !spread->trying &&
                       (is_other(rate, spread->rate) || (!is_long && is_other(streams, spread->streams)));
  spread->strange = strange ? spread->strange + 1 : 0;
  const bool other_work = spread->strange >= SURE;
  if (other_work && pace->list_s == 0) {
    /* Nobody sees what its lists take: those that were short are not of this work. */
    spread->cap = spread->most;
  }
  if (spread->lanes <= FEW && !spread->mixed && pace->list_s > 0) {
    spread->cap = spread->most > FEW && pace->list_s < SHORT_S ? FEW : spread->most;
  }
  if (is_long && spread->lanes == 1 && !spread->mixed && !spread->trying) {
    settle(spread, spread->most);
  } else if (is_long && other_work) {
    /* Long by themselves, or held up by each other on too many lanes? On one lane it shows. */
    settle(spread, 1);
  } else if (spread->mixed) {
    spread->mixed = false;
  } else if (spread->trying) {
    end_trial(spread, rate, streams);
  } else if (!strange || other_work) {
    if (other_work) {
      spread->rate = rate;
      spread->patience = 1;
    }
    spread->rate = spread->rate == 0 ? rate : (spread->rate + rate) / 2;
    spread->streams = streams;
    if (++spread->calm >= spread->patience) {
      spread->calm = 0;
      try_next(spread, streams);
    }
  }
  return spread->lanes;
}
