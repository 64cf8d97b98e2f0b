/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/lane_tuner.h"

#include "policy/constants.h"

/* Factor by which a trial must be faster to win: more than rates differ from interval to interval. */
#define TRIAL_GAIN 1.08
/* Factor by which a rate or a number of streams changes with other work, of which nothing is known. */
#define OTHER_WORK 1.7
/* Intervals in a row that must say so: threads that come or go disturb one. */
#define INTERVALS_SURE 2
/* Intervals before long lists, which were given all lanes, try fewer. */
#define PATIENCE_LONG 8
/* Intervals between trials at most: a trial is two intervals at perhaps three quarters of the speed, so it costs 2 %,
 * and a number that a disturbed trial got wrong is mended within a fifth of a second. */
#define PATIENCE_MAX 24

void leati_lane_tuner_begin(leati_lane_tuner *tuner, uint32_t most) {
  *tuner = (leati_lane_tuner){
      .most = most, .cap = most, .lanes = 1, .settled = 1, .patience = 1, .next_trial = LEATI_TRIAL_UP};
}

/* The number that a trial would try: `settled` if there is none. */
static uint32_t candidate(const leati_lane_tuner *tuner, leati_trial trial) {
  switch (trial) {
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

static leati_trial after(leati_trial trial) {
  return (leati_trial)((trial + 1) % LEATI_TRIAL_COUNT);
}

static void use(leati_lane_tuner *tuner, uint32_t lanes) {
  tuner->mixed = tuner->lanes != lanes;
  tuner->lanes = lanes;
}

/* Whether a trial has a number that is worth a trial: more lanes than streams cannot be told from as many. */
static bool is_worth(const leati_lane_tuner *tuner, leati_trial trial, uint32_t streams) {
  const uint32_t lanes = candidate(tuner, trial);
  return lanes < tuner->settled || (lanes > tuner->settled && lanes < 2 * streams);
}

/* Starts the next trial, if there is any. */
static void try_next(leati_lane_tuner *tuner, uint32_t streams) {
  for (int i = 0; i < LEATI_TRIAL_COUNT && !tuner->trying; ++i) {
    if (is_worth(tuner, tuner->next_trial, streams)) {
      tuner->trying = true;
      use(tuner, candidate(tuner, tuner->next_trial));
    } else {
      tuner->next_trial = after(tuner->next_trial);
    }
  }
}

/* Takes a number of lanes for the best without a trial. */
static void settle(leati_lane_tuner *tuner, uint32_t lanes) {
  tuner->settled = lanes;
  tuner->rate = 0;
  tuner->outliers = 0;
  /* That many lanes are best for long lists is sure enough not to be tried out at once. */
  tuner->patience = lanes == 1 ? 1 : PATIENCE_LONG;
  tuner->since_trial = 0;
  tuner->refusals = 0;
  tuner->next_trial = lanes == 1 ? LEATI_TRIAL_UP : LEATI_TRIAL_DOWN;
  use(tuner, lanes);
}

static void end_trial(leati_lane_tuner *tuner, double rate, uint32_t streams) {
  tuner->trying = false;
  tuner->since_trial = 0;
  if (rate > tuner->rate * TRIAL_GAIN) {
    tuner->settled = tuner->lanes;
    tuner->rate = rate;
    tuner->patience = 1;
    tuner->refusals = 0;
    /* What helped once may help again. */
    if (is_worth(tuner, tuner->next_trial, streams)) {
      try_next(tuner, streams);
    }
    return;
  }
  use(tuner, tuner->settled);
  tuner->next_trial = after(tuner->next_trial);
  if (++tuner->refusals >= 2) {
    tuner->refusals = 0;
    tuner->patience = tuner->patience * 2 < PATIENCE_MAX ? tuner->patience * 2 : PATIENCE_MAX;
  }
}

bool leati_lane_tuner_is_long(double list_s) {
  return list_s > LEATI_LIST_LONG_S;
}

static bool is_other(double now, double known) {
  return now > known * OTHER_WORK || now < known / OTHER_WORK;
}

/* What an interval says. */
typedef enum verdict {
  VERDICT_MIXED,   /* nothing: the number of lanes had just changed, and it holds work of before */
  VERDICT_TRIED,   /* how well the number on trial does */
  VERDICT_KNOWN,   /* the work is the one known */
  VERDICT_OUTLIER, /* it does not look like that, which may be chance */
  VERDICT_OTHER,   /* it is other work: too many intervals in a row are outliers */
  VERDICT_LONG,    /* lists are long on one lane, so they are by themselves */
  VERDICT_DOUBT,   /* lists of other work are long: by themselves, or held up by each other on too many lanes? */
} verdict;

/* Whether an interval does not look like the work known. */
static bool is_outlier(const leati_lane_tuner *tuner, const leati_throughput *pace, bool is_long) {
  return tuner->rate != 0 && !tuner->mixed && !tuner->trying &&
         (is_other(pace->commands, tuner->rate) || (!is_long && is_other(pace->streams, tuner->streams)));
}

/* Judges an interval, and counts outliers. */
static verdict judge(leati_lane_tuner *tuner, const leati_throughput *pace) {
  const bool is_long = leati_lane_tuner_is_long(pace->list_s), outlier = is_outlier(tuner, pace, is_long);
  tuner->outliers = outlier ? tuner->outliers + 1 : 0;
  const bool other = tuner->outliers >= INTERVALS_SURE;
  if (is_long && tuner->lanes == 1 && !tuner->mixed && !tuner->trying) {
    return VERDICT_LONG;
  }
  if (other) {
    return is_long ? VERDICT_DOUBT : VERDICT_OTHER;
  }
  if (outlier) {
    return VERDICT_OUTLIER;
  }
  return tuner->mixed ? VERDICT_MIXED : tuner->trying ? VERDICT_TRIED : VERDICT_KNOWN;
}

/* How many lanes the work may be given. Nothing else is learnt from what lists take: rates tell more, but not whether
 * it is the device that takes the time or a thread that has no processor. */
static void learn_cap(leati_lane_tuner *tuner, const leati_throughput *pace) {
  if (tuner->outliers >= INTERVALS_SURE && pace->list_s == 0) {
    /* Nobody sees what its lists take: those that were short are not of this work. */
    tuner->cap = tuner->most;
  }
  if (tuner->lanes <= LEATI_LANES_FEW && !tuner->mixed && pace->list_s > 0) {
    tuner->cap = tuner->most > LEATI_LANES_FEW && pace->list_s < LEATI_LIST_SHORT_S ? LEATI_LANES_FEW : tuner->most;
  }
}

/* Learns the rate of the number that was settled on, and starts a trial when it is time. */
static void learn_rate(leati_lane_tuner *tuner, const leati_throughput *pace) {
  tuner->rate = tuner->rate == 0 ? pace->commands : (tuner->rate + pace->commands) / 2;
  tuner->streams = pace->streams;
  if (++tuner->since_trial >= tuner->patience) {
    tuner->since_trial = 0;
    try_next(tuner, pace->streams);
  }
}

uint32_t leati_lane_tuner_step(leati_lane_tuner *tuner, const leati_throughput *pace) {
  if (tuner->most == 1 || pace->streams < 2) {
    return tuner->lanes;
  }
  const verdict said = judge(tuner, pace);
  learn_cap(tuner, pace);
  switch (said) {
    case VERDICT_LONG:
      settle(tuner, tuner->most);
      break;
    case VERDICT_DOUBT: /* on one lane it shows */
      settle(tuner, 1);
      break;
    case VERDICT_MIXED:
      tuner->mixed = false;
      break;
    case VERDICT_TRIED:
      end_trial(tuner, pace->commands, pace->streams);
      break;
    case VERDICT_OTHER:
      tuner->rate = pace->commands;
      tuner->patience = 1;
      learn_rate(tuner, pace);
      break;
    case VERDICT_KNOWN:
      learn_rate(tuner, pace);
      break;
    case VERDICT_OUTLIER:
      break;
  }
  return tuner->lanes;
}
