/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../host-shim/onnxruntime/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES_MAX 24
#define EDGES_MAX (NODES_MAX * NODES_MAX)
#define GRAPHS 20000

/* A graph in letters: of nodes, those in small letters are not wanted; edges are "ab", joined ones "a:b". */
typedef struct graph {
  leati_partition_node nodes[NODES_MAX];
  leati_partition_edge edges[EDGES_MAX];
  uint32_t count;
  size_t edge_count;
  uint32_t subgraphs;
} graph;

static uint32_t index_of(const char *letters, char letter) {
  const char *at = strchr(letters, letter);
  assert_non_null(at);
  return (uint32_t)(at - letters);
}

/* Reads a graph and cuts it. `nodes` in topological order, `edges` by rising end. */
static void cut(graph *out, const char *nodes, const char *edges) {
  *out = (graph){.count = (uint32_t)strlen(nodes)};
  for (uint32_t i = 0; i < out->count; ++i) {
    out->nodes[i].wanted = nodes[i] < 'a';
  }
  while (*edges) {
    const bool joined = edges[1] == ':';
    out->edges[out->edge_count++] = (leati_partition_edge){
        .from = index_of(nodes, edges[0]), .to = index_of(nodes, edges[joined ? 2 : 1]), .joined = joined};
    edges += joined ? 3 : 2;
    edges += strspn(edges, " ");
  }
  out->subgraphs = leati_partition_find(out->nodes, out->count, out->edges, out->edge_count);
}

/* Checks the number of the fused subgraph that each node is in, a digit a node. */
static void expect(const char *nodes, const char *edges, const char *subgraphs) {
  graph made;
  char got[NODES_MAX + 1] = "";
  uint32_t most = 0;
  cut(&made, nodes, edges);
  for (uint32_t i = 0; i < made.count; ++i) {
    got[i] = (char)('0' + made.nodes[i].subgraph);
    most = made.nodes[i].subgraph > most ? made.nodes[i].subgraph : most;
  }
  assert_string_equal(got, subgraphs);
  assert_int_equal(made.subgraphs, most);
}

static void test_what_hangs_together_is_one_subgraph(void **state) {
  (void)state;
  expect("", "", "");
  expect("ABC", "AB BC", "111");
  expect("ABCD", "AB AC BD CD", "1111");
  /* Two parts that have nothing to do with each other still run as one. */
  expect("ABCD", "AC BD", "1111");
}

static void test_one_node_is_no_subgraph(void **state) {
  (void)state;
  expect("A", "", "0");
  expect("AbC", "Ab bC", "000");
  expect("abc", "ab bc", "000");
}

static void test_a_node_outside_cuts(void **state) {
  (void)state;
  expect("ABcDE", "AB Bc cD DE", "11022");
  /* Beside it there is a way within the fused subgraph; still its two ends may not be in one. */
  expect("ABcDE", "AB Bc AD cE DE", "11010");
  expect("ABcDEF", "AB Bc AD cE DE EF", "110122");
}

static void test_a_node_outside_does_not_cut_at_the_ends(void **state) {
  (void)state;
  expect("aBcD", "aB cD BD", "0101");
  expect("ABcD", "AB BD cD", "1101");
  expect("ABc", "AB Bc", "110");
  /* It takes from one branch and gives to nobody wanted. */
  expect("ABcD", "AB Ac BD", "1101");
}

static void test_a_node_that_would_be_alone_joins_those_that_take_from_it(void **state) {
  (void)state;
  /* D comes after c, and E and F after g; D may run with them, too. */
  expect("ABcDgEF", "AB Bc cD Dg gE EF", "1100022");
  expect("ABcDhgEF", "AB Bc cD ch hg gE DE EF", "11020022");
  /* Not so where some node outside of fused subgraphs takes from it before. */
  expect("ABcHdEF", "AB Bc cH Hd dE HE EF", "1100022");
}

static void test_joined_nodes_are_in_one_subgraph(void **state) {
  (void)state;
  expect("ASR", "AS S:R AR", "111");
  /* R is cut off from S by c, but S may wait. */
  expect("ABScR", "AB BS Ac S:R cR", "11202");
  /* Two that are in different fused subgraphs take it: it is in neither, and they are outside with it. */
  expect("ABSRcQD", "AB BS S:R BR Rc S:Q cQ QD", "1100000");
  expect("ASr", "AS S:r", "000");
}

/* ---- Any graph ----------------------------------------------------------------------------------------------------
 */

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

static void make_random(graph *out, uint64_t *random) {
  *out = (graph){.count = 1 + next_random(random) % NODES_MAX};
  const uint32_t wanted = next_random(random) % 10, dense = 1 + next_random(random) % 6;
  bool joins[NODES_MAX];
  for (uint32_t i = 0; i < out->count; ++i) {
    out->nodes[i].wanted = next_random(random) % 10 <= wanted;
    joins[i] = next_random(random) % 8 == 0;
    for (uint32_t from = 0; from < i; ++from) {
      if (next_random(random) % 8 < dense / (1 + (i - from) / 4)) {
        out->edges[out->edge_count++] = (leati_partition_edge){.from = from, .to = i, .joined = joins[from]};
      }
    }
  }
}

/* Where a node is once the fused subgraphs are contracted. */
static uint32_t place_of(const graph *made, uint32_t node) {
  return made->nodes[node].subgraph != 0 ? NODES_MAX + made->nodes[node].subgraph : node;
}

/* Whether contracted nodes can be put in an order: takes away those that nothing left leads to. */
static bool has_order(const graph *made) {
  bool gone[2 * NODES_MAX + 1] = {false};
  for (uint32_t round = 0; round < made->count; ++round) {
    bool blocked[2 * NODES_MAX + 1] = {false};
    for (size_t e = 0; e < made->edge_count; ++e) {
      const uint32_t from = place_of(made, made->edges[e].from), to = place_of(made, made->edges[e].to);
      blocked[to] = blocked[to] || (from != to && !gone[from]);
    }
    for (uint32_t i = 0; i < made->count; ++i) {
      gone[place_of(made, i)] = !blocked[place_of(made, i)];
    }
  }
  for (uint32_t i = 0; i < made->count; ++i) {
    if (!gone[place_of(made, i)]) {
      return false;
    }
  }
  return true;
}

static void test_any_graph_can_be_contracted(void **state) {
  (void)state;
  uint64_t random = 1;
  uint32_t subgraphs = 0;
  for (unsigned round = 0; round < GRAPHS; ++round) {
    graph made;
    bool wanted[NODES_MAX];
    uint32_t members[NODES_MAX + 1] = {0};
    make_random(&made, &random);
    for (uint32_t i = 0; i < made.count; ++i) {
      wanted[i] = made.nodes[i].wanted;
    }
    made.subgraphs = leati_partition_find(made.nodes, made.count, made.edges, made.edge_count);
    subgraphs += made.subgraphs;
    for (uint32_t i = 0; i < made.count; ++i) {
      assert_true(made.nodes[i].subgraph <= made.subgraphs);
      assert_true(wanted[i] || made.nodes[i].subgraph == 0);
      members[made.nodes[i].subgraph]++;
    }
    for (uint32_t subgraph = 1; subgraph <= made.subgraphs; ++subgraph) {
      assert_true(members[subgraph] >= 2);
    }
    for (size_t e = 0; e < made.edge_count; ++e) {
      const leati_partition_edge *edge = &made.edges[e];
      assert_true(!edge->joined || made.nodes[edge->from].subgraph == made.nodes[edge->to].subgraph);
    }
    assert_true(has_order(&made));
  }
  assert_true(subgraphs > GRAPHS / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_hangs_together_is_one_subgraph),
      cmocka_unit_test(test_one_node_is_no_subgraph),
      cmocka_unit_test(test_a_node_outside_cuts),
      cmocka_unit_test(test_a_node_outside_does_not_cut_at_the_ends),
      cmocka_unit_test(test_a_node_that_would_be_alone_joins_those_that_take_from_it),
      cmocka_unit_test(test_joined_nodes_are_in_one_subgraph),
      cmocka_unit_test(test_any_graph_can_be_contracted),
  };
  return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
