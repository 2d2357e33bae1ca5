/* What a walk needs of a node of a tree, in one cache line per step instead of four
 * (compass.model.trees.walk). A leaf has no feature and leads to itself. */
#ifndef NODE_H
#define NODE_H

#include "kernel.h"

typedef struct { /* inputs are cast to float32 before they are compared */
    float edge;
    int32_t feature, left, right;
} Node;

typedef struct { /* inputs are compared as they are */
    double edge;
    int32_t feature, left, right, unused;
} WideNode;

#endif
