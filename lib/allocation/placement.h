/* placement.h - the boards of a job: any rows, and the same columns in each. So it has row and column networks of its
 * own, as a HammingMesh of its size (SC22 section III-E: a virtual sub-HammingMesh).
 *
 * hx_place() finds a placement by rules:
 *
 *     greedy      SC22 section IV-A: rows from the north on. It takes the first with enough free columns, then each row
 *                 that shares enough free columns with all taken before.
 *     transpose   a job of u rows and v columns may also have v rows and u columns.
 *     aspect      other shapes of as many boards, up to that ratio of sides. The most square come first.
 *     search      if greedy finds none for a shape: depth-first search over sets of rows, with early pruning, up to a
 *                 number of rows examined.
 *     locality    among the placements of the rules above, on columns and rows of the same leaves: the one with the
 *                 least traffic on the upper level of its networks (locality.h).
 *
 * A placement owns memory: hx_placement_free(). */
#ifndef HXMESH_SCHED_PLACEMENT_H
#define HXMESH_SCHED_PLACEMENT_H

#include "allocation/locality.h"

struct hx_placement_rules {
    bool transpose;
    unsigned aspect;   /* 1: only the shape asked for; else the largest ratio of longest to shortest side */
    uint32_t search;   /* rows that a search examines for a shape; 0: no search */
    unsigned locality; /* enum hx_locality */
    unsigned leaf[2];  /* boards on a leaf of a row's network, of a column's; 0: one level only */
};

enum { HX_DEFAULT_ASPECT = 8, HX_DEFAULT_SEARCH = 20000 };

/* The most square shape of `boards` boards; not more columns than rows. */
struct hx_shape hx_shape_of(unsigned boards);

/* Lists the shapes that the rules allow for `asked`, in the order of trial, `asked` first. Returns their number, at
 * most HX_MOST_SHAPES. */
enum { HX_MOST_SHAPES = 512 };
unsigned hx_shapes(struct hx_shape shapes[HX_MOST_SHAPES], struct hx_shape asked,
                   const struct hx_placement_rules *rules);

/* Reads "6" or "3x2", columns x rows of boards. Returns false if it is neither. */
bool hx_job_shape(const char *text, struct hx_shape *shape);

/* Finds a placement without taking its boards. Returns false if the rules find none. */
bool hx_place(struct hx_placement *p, const struct hx_boards *b, struct hx_shape asked,
              const struct hx_placement_rules *rules);

/* The largest placement that is found, also by search; without rows and columns if no board is free. Takes no
 * boards. */
void hx_place_largest(struct hx_placement *p, const struct hx_boards *b);

/* Takes the boards of a placement, which must be free, or gives them back. */
void hx_placement_take(const struct hx_placement *p, struct hx_boards *b);
void hx_placement_give_back(const struct hx_placement *p, struct hx_boards *b);
void hx_placement_free(struct hx_placement *p);

#endif
