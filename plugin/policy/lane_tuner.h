/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How many hardware queues are worth using. Long kernels of different streams run beside each other on several queues,
 * tiny ones lose more by it than they gain, and which is which depends on device and model. So it is tried out: from
 * time to time an interval is run on half or twice the lanes, on one or on all, and the faster number stays.
 */
#ifndef LEAT_PLUGIN_POLICY_LANE_TUNER_H_
#define LEAT_PLUGIN_POLICY_LANE_TUNER_H_

#include <stdbool.h>
#include <stdint.h>

/** What lists did in an interval. */
typedef struct leati_throughput {
  double commands;  /**< per second */
  double list_s;    /**< seconds that a list kept its lane busy, on average; 0: nobody saw */
  uint32_t streams; /**< that had lists */
} leati_throughput;

/** Where the next trial looks. */
typedef enum leati_trial {
  LEATI_TRIAL_UP,   /**< twice as many lanes */
  LEATI_TRIAL_DOWN, /**< half as many */
  LEATI_TRIAL_ONE,  /**< one, which may be best where neither neighbour is better: only there all lists meet */
  LEATI_TRIAL_ALL,  /**< all that the work may be given, which may be best likewise: there none has to wait for another
                     */
  LEATI_TRIAL_COUNT
} leati_trial;

/** What was learnt so far. Plain data: whoever calls leati_lane_tuner_step() is the only one to use it. */
typedef struct leati_lane_tuner {
  uint32_t most;          /**< queues there are */
  uint32_t cap;           /**< lanes that this work may be given */
  uint32_t lanes;         /**< in use in this interval */
  uint32_t settled;       /**< best number known */
  double rate;            /**< commands per second with it; 0: not known yet */
  uint32_t streams;       /**< that this was learnt from */
  uint32_t patience;      /**< intervals from one trial to the next */
  uint32_t since_trial;   /**< intervals since the last trial */
  uint32_t outliers;      /**< intervals in a row that do not look like the work known */
  uint32_t refusals;      /**< trials in a row that brought nothing */
  bool trying;            /**< this interval is a trial */
  bool mixed;             /**< the number has just changed: this interval holds work of before */
  leati_trial next_trial; /**< where the next trial looks */
} leati_lane_tuner;

/** Starts with one lane of `most`. */
void leati_lane_tuner_begin(leati_lane_tuner *tuner, uint32_t most);
/** Whether lists are so long that few of them tell as much as many. */
bool leati_lane_tuner_is_long(double list_s);
/** Ends an interval and gives the number of lanes for the next. */
uint32_t leati_lane_tuner_step(leati_lane_tuner *tuner, const leati_throughput *pace);

#endif /* LEAT_PLUGIN_POLICY_LANE_TUNER_H_ */
