/* assignment.h - the assignment problem: the pairing of rows and columns with the highest total worth (Kuhn's Hungarian
 * method, 1955). */
#ifndef HXMESH_TOPOLOGY_ASSIGNMENT_H
#define HXMESH_TOPOLOGY_ASSIGNMENT_H

/* worth[row * n + column]; column_of[row]: each column once. Takes n * n * n steps. */
void hx_assign(const double *worth, unsigned n, unsigned *column_of);

#endif
