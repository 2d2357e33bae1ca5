/* The search of planes.c for one type of node: NODE and NAMED say which. */

/* Add what one tree says at every point of the plane to the corners of the grid. */
INLINE void NAMED(add_tree)(const Planes *s, const Plane *p, const NODE *nodes,
                            const int64_t *tree)
{
    int64_t *stack = s->stack, many = tree[3];
    const double *x = s->x;
    nodes += tree[0];
    stack[0] = tree[1], stack[1] = 0, stack[2] = p->na, stack[3] = 0, stack[4] = p->nb;
    for (int64_t waiting = 1; waiting > 0;) {
        int64_t *top = stack + 5 * --waiting;
        int64_t at = top[0], i0 = top[1], i1 = top[2], j0 = top[3], j1 = top[4];
        for (NODE node = nodes[at]; node.feature >= 0; node = nodes[at]) {
            int64_t down = node.left;
            if (node.feature == p->a) {
                int64_t cut = first_above(p->va, i0, i1, node.edge);
                if (cut == i0)
                    down = node.right;
                else if (cut < i1) {
                    int64_t *later = stack + 5 * waiting++;
                    later[0] = node.right, later[1] = cut, later[2] = i1;
                    later[3] = j0, later[4] = j1;
                    i1 = cut;
                }
            } else if (node.feature == p->b) {
                int64_t cut = first_above(p->vb, j0, j1, node.edge);
                if (cut == j0)
                    down = node.right;
                else if (cut < j1) {
                    int64_t *later = stack + 5 * waiting++;
                    later[0] = node.right, later[1] = i0, later[2] = i1;
                    later[3] = cut, later[4] = j1;
                    j1 = cut;
                }
            } else if (x[node.feature] > node.edge)
                down = node.right;
            at = down;
        }
        for (int64_t w = 0; w < many; w++) {
            int64_t c = tree[4] + w;
            double amount = s->value[tree[2] + at * many + w] / s->divisor[c];
            *cell(s, p, i0, j0, c) += amount;
            *cell(s, p, i1, j0, c) -= amount;
            *cell(s, p, i0, j1, c) -= amount;
            *cell(s, p, i1, j1, c) += amount;
        }
    }
}

static int NAMED(best_of_planes)(const Argument *a)
{
    Planes s = planes_of(a);
    for (int64_t k = 0; k < s.count; k++) {
        Plane p = plane_of(&s, k);
        clear(&s, &p);
        for (int64_t t = 0; t < s.tree_count; t++)
            NAMED(add_tree)(&s, &p, a[0].data, s.trees + 5 * t);
        sum_up(&s, &p);
        look(&s, &p, k);
    }
    return 0;
}
