/* placement.h - where a job stands: any rows of boards, and of each of them the same columns. So it has row and column
 * networks of its own, as a HammingMesh of its size (SC22 section III-E: a virtual sub-HammingMesh).
 *
 * hx_place() finds one by rules, best first:
 *
 *   greedy      SC22 section IV-A: the rows from the north on; the first that has enough free columns is taken, and any other
 *               whose free columns have enough in common with all that were taken before.
 *   transpose   a job of u rows and v columns may also have v rows and u columns.
 *   aspect      it may have any other rows and columns of as many boards, up to so many times as long as wide. The nearest to a
 *               square come first.
 *   search      where greedy finds none for a shape: all sets of rows, by depth first with what is left out as early as can be
 *               told, up to so many rows looked at.
 *   locality    of all that the rules above find, the one whose traffic crosses the upper level of its networks least
 *               (locality.h), on the columns and rows that lie together.
 *
 * A placement owns memory: hx_placement_free(). */
#ifndef HXMESH_SCHED_PLACEMENT_H
#define HXMESH_SCHED_PLACEMENT_H

#include "sched/locality.h"

struct hx_placement_rules {
    bool transpose;
    unsigned aspect;   /* 1: as it is asked for; else longest side over shortest, at most */
    uint32_t search;   /* rows that a search looks at for a shape; 0: there is none */
    unsigned locality; /* enum hx_locality */
    unsigned leaf[2];  /* boards that hang on one leaf of a row's network, of a column's; 0: there is one level only */
};

enum { HX_DEFAULT_ASPECT = 8, HX_DEFAULT_SEARCH = 20000 };

/* The shape of `boards` boards that is nearest to a square; not more columns than rows. */
struct hx_shape hx_shape_of(unsigned boards);

/* The shapes of `asked` that the rules allow, in the order in which they are tried, `asked` first. Returns how many;
 * HX_MOST_SHAPES hold those of any job. */
enum { HX_MOST_SHAPES = 512 };
unsigned hx_shapes(struct hx_shape shapes[HX_MOST_SHAPES], struct hx_shape asked,
                   const struct hx_placement_rules *rules);

/* "6" or "3x2", columns x rows of boards: false if it is neither. */
bool hx_job_shape(const char *text, struct hx_shape *shape);

/* False: there is none by these rules. Takes no boards. */
bool hx_place(struct hx_placement *p, const struct hx_boards *b, struct hx_shape asked,
              const struct hx_placement_rules *rules);

/* A place of the most boards that is found, by search too; no rows and columns: no board is free. Takes no boards. */
void hx_place_largest(struct hx_placement *p, const struct hx_boards *b);

/* Takes its boards, which are free, or gives them back. */
void hx_placement_take(const struct hx_placement *p, struct hx_boards *b);
void hx_placement_give_back(const struct hx_placement *p, struct hx_boards *b);
void hx_placement_free(struct hx_placement *p);

#endif
