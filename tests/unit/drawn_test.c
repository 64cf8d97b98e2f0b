/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks drawn at random give as graphs the bits that they give node by node, however their images and weights lie.
 *
 * DRAWN_NETWORKS=FROM,TO draws others than are drawn as a rule. */
#include <stdio.h>

#include "core/fusions.h"
#include "device/device.h"
#include "drawn_network.h"

enum { NETWORKS = 24 };

/* Rules whose patterns are drawn, each of which must be met. */
static const leati_fusion_number patterns[] = {LEATI_FUSION_ATTENTION, LEATI_FUSION_ROTARY,   LEATI_FUSION_GELU,
                                               LEATI_FUSION_SWISH,     LEATI_FUSION_RMS_NORM, LEATI_FUSION_LAYER_NORM,
                                               LEATI_FUSION_SKIP_NORM};
enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

static void draw_networks(void **state, bool brain) {
  static drawing d;
  static results expected, found;
  unsigned long from = 0, to = NETWORKS;
  uint32_t laid = 0, met[PATTERNS] = {0};
  const char *const given = getenv("DRAWN_NETWORKS");
  if (given != NULL) {
    assert_int_equal(sscanf(given, "%lu,%lu", &from, &to), 2);
  }
  for (unsigned long seed = from; seed < to; ++seed) {
    const place p = open_place(state);
    draw_network(&d, seed, brain, NULL, 0);
    print_message("network %lu of %s: %u nodes\n", seed, brain ? "bfloat16" : "float16", d.network->desc.node_count);
    run_nodes(&p, d.network, &expected);
    leat_graph *const graph = build(&p, d.network);
    for (uint32_t launch_number = 0; launch_number < 2; ++launch_number) {
      run_graph(&p, graph, d.network, launch_number == 0 ? 0 : UINT32_MAX, &found);
      compare(d.network, &expected, &found);
    }
    laid += fusions_in(&p, graph, LEATI_FUSION_CHANNELS_LAST);
    for (int i = 0; i < PATTERNS; ++i) {
      met[i] += fusions_in(&p, graph, patterns[i]);
    }
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(d.network);
    close_place(&p);
  }
  const leati_physical *const physical = fixture_of(state)->device->physical;
  const bool lays = (brain ? physical->matrix_bfloat16.m : physical->matrix.m) != 0;
  assert_true(given != NULL || (laid != 0) == lays);
  for (int i = 0; i < PATTERNS; ++i) {
    print_message("%s: %u times\n", leati_fusion_names[patterns[i]], met[i]);
    assert_true(given != NULL || met[i] != 0);
  }
}

static void networks_of_float16(void **state) {
  draw_networks(state, false);
}

static void networks_of_bfloat16(void **state) {
  draw_networks(state, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(networks_of_float16, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(networks_of_bfloat16, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
