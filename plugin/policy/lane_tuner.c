/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/lane_tuner.h"

#include "policy/constants.h"

void leati_lane_tuner_begin(leati_lane_tuner *tuner, uint32_t most) {
  *tuner =
      (leati_lane_tuner){.most = most, .cap = most, .lanes = 1, .settled = 1, .patience = 1, .turn = LEATI_TRIAL_UP};
}

/* The number that a turn would try: `settled` if there is none. */
static uint32_t candidate(const leati_lane_tuner *tuner, leati_trial turn) {
  switch (turn) {
    case LEATI_TRIAL_UP:
      return tuner->settled * 2 < tuner->cap ? tuner->settled * 2 : tuner->cap;
    case LEATI_TRIAL_DOWN:
      return tuner->settled > 1 ? tuner->settled / 2 : 1;
    case LEATI_TRIAL_ONE:
      return tuner->settled > 2 ? 1 : tuner->settled;
    default:
      return tuner->settled * 2 < tuner->cap ? tuner->cap : tuner->settled;
  }
}

static leati_trial after(leati_trial turn) {
  return (leati_trial)((turn + 1) % LEATI_TRIAL_COUNT);
}

static void use(leati_lane_tuner *tuner, uint32_t lanes) {
  tuner->mixed = tuner->lanes != lanes;
  tuner->lanes = lanes;
}

/* Whether a turn has a number that is worth a trial: more lanes than streams cannot be told from as many. */
static bool is_worth(const leati_lane_tuner *tuner, leati_trial turn, uint32_t streams) {
  const uint32_t lanes = candidate(tuner, turn);
  return lanes < tuner->settled || (lanes > tuner->settled && lanes < 2 * streams);
}

/* Starts the next trial, if there is any. */
static void try_next(leati_lane_tuner *tuner, uint32_t streams) {
  for (int i = 0; i < LEATI_TRIAL_COUNT && !tuner->trying; ++i) {
    if (is_worth(tuner, tuner->turn, streams)) {
      tuner->trying = true;
      use(tuner, candidate(tuner, tuner->turn));
    } else {
      tuner->turn = after(tuner->turn);
    }
  }
}

/* Takes a number of lanes for the best without a trial. */
static void settle(leati_lane_tuner *tuner, uint32_t lanes) {
  tuner->settled = lanes;
  tuner->rate = 0;
  tuner->strange = 0;
  /* That many lanes are best for long lists is sure enough not to be tried out at once. */
  tuner->patience = lanes == 1 ? 1 : LEATI_PATIENCE_LONG;
  tuner->calm = 0;
  tuner->refusals = 0;
  tuner->turn = lanes == 1 ? LEATI_TRIAL_UP : LEATI_TRIAL_DOWN;
  use(tuner, lanes);
}

static void end_trial(leati_lane_tuner *tuner, double rate, uint32_t streams) {
  tuner->trying = false;
  tuner->calm = 0;
  if (rate > tuner->rate * LEATI_TRIAL_GAIN) {
    tuner->settled = tuner->lanes;
    tuner->rate = rate;
    tuner->patience = 1;
    tuner->refusals = 0;
    /* What helped once may help again. */
    if (is_worth(tuner, tuner->turn, streams)) {
      try_next(tuner, streams);
    }
    return;
  }
  use(tuner, tuner->settled);
  tuner->turn = after(tuner->turn);
  if (++tuner->refusals >= 2) {
    tuner->refusals = 0;
    tuner->patience = tuner->patience * 2 < LEATI_PATIENCE_MAX ? tuner->patience * 2 : LEATI_PATIENCE_MAX;
  }
}

bool leati_lane_tuner_is_long(double list_s) {
  return list_s > LEATI_LIST_LONG_S;
}

static bool is_other(double now, double known) {
  return now > known * LEATI_OTHER_WORK || now < known / LEATI_OTHER_WORK;
}

uint32_t leati_lane_tuner_step(leati_lane_tuner *tuner, const leati_throughput *pace) {
  const double rate = pace->commands;
  const uint32_t streams = pace->streams;
  if (tuner->most == 1 || streams < 2) {
    return tuner->lanes;
  }
  const bool is_long = leati_lane_tuner_is_long(pace->list_s);
  const bool strange = tuner->rate != 0 && !tuner->mixed && !tuner->trying &&
                       (is_other(rate, tuner->rate) || (!is_long && is_other(streams, tuner->streams)));
  tuner->strange = strange ? tuner->strange + 1 : 0;
  const bool other_work = tuner->strange >= LEATI_INTERVALS_SURE;
  if (other_work && pace->list_s == 0) {
    /* Nobody sees what its lists take: those that were short are not of this work. */
    tuner->cap = tuner->most;
  }
  /* Nothing else is learnt from what lists take: rates tell more, but not whether it is the device that takes the time
   * or a thread that has no processor. */
  if (tuner->lanes <= LEATI_LANES_FEW && !tuner->mixed && pace->list_s > 0) {
    tuner->cap = tuner->most > LEATI_LANES_FEW && pace->list_s < LEATI_LIST_SHORT_S ? LEATI_LANES_FEW : tuner->most;
  }
  if (is_long && tuner->lanes == 1 && !tuner->mixed && !tuner->trying) {
    settle(tuner, tuner->most);
  } else if (is_long && other_work) {
    /* Long by themselves, or held up by each other on too many lanes? On one lane it shows. */
    settle(tuner, 1);
  } else if (tuner->mixed) {
    tuner->mixed = false;
  } else if (tuner->trying) {
    end_trial(tuner, rate, streams);
  } else if (!strange || other_work) {
    if (other_work) {
      tuner->rate = rate;
      tuner->patience = 1;
    }
    tuner->rate = tuner->rate == 0 ? rate : (tuner->rate + rate) / 2;
    tuner->streams = streams;
    if (++tuner->calm >= tuner->patience) {
      tuner->calm = 0;
      try_next(tuner, streams);
    }
  }
  return tuner->lanes;
}
