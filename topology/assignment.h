/* assignment.h - who does what, so that all together is worth most: the assignment problem (Kuhn's Hungarian method,
 * 1955). */
#ifndef HXMESH_TOPOLOGY_ASSIGNMENT_H
#define HXMESH_TOPOLOGY_ASSIGNMENT_H

/* worth[row * n + column]; column_of[row]: each column once. Takes n * n * n steps. */
void hx_assign(const double *worth, unsigned n, unsigned *column_of);

#endif
