/* Kernels of exact Shapley values (compass.explain.shapley): one walk per tree and row compared
 * with.
 *
 * Where two rows agree on the way at a node there is nothing to decide. Where they part, both ways
 * are walked, and the column counts as taken from one row or the other below. A leaf that is
 * reached with `a` columns of the first row and `b` of the second gives each of the former its
 * value times (a-1)! b! / (a+b)!, and takes from each of the latter its value times
 * a! (b-1)! / (a+b)! (Lundberg et al., Nature Machine Intelligence 2020; Laberge and Pequignot,
 * 2022). Sums of both kinds are handed up from the leaves, so the walk costs as much as the nodes
 * it visits. */
#include "node.h"

enum { NEITHER, FIRST, SECOND }; /* the row that a column is taken from */

#define NODE Node
#define INPUT float
#define NAMED(name) name##_single
#include "shapley_loops.h"

#define NODE WideNode
#define INPUT double
#define NAMED(name) name##_wide
#include "shapley_loops.h"

const Kernel SHAPLEY[] = {
    {"contributions_single", "node f4 f4_2d f8_2d i8 i8 f8_2d integer integer to_f8_3d",
     contributions_single},
    {"contributions_wide", "wide f8 f8_2d f8_2d i8 i8 f8_2d integer integer to_f8_3d",
     contributions_wide},
    {0},
};
