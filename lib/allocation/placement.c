/* placement.c - finds boards for a job (placement.h). */
#include "allocation/placement.h"
#include "base/compare.h"
#include "base/error.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* Chosen rows, in the order of choice, and the columns that are free in all of them. */
struct choice {
    uint32_t row[HX_MOST_BOARDS_ACROSS];
    unsigned rows;
    struct hx_columns common;
};

/* ---- shapes ---- */

struct hx_shape hx_shape_of(unsigned boards)
{
    struct hx_shape shape = {boards, 1};
    for (unsigned columns = 1; (uint64_t)columns * columns <= boards; columns++)
        if (boards % columns == 0)
            shape = (struct hx_shape){boards / columns, columns};
    return shape;
}

bool hx_job_shape(const char *text, struct hx_shape *shape)
{
    unsigned value[2];
    unsigned count = hx_spec_tokens_list(text, value, 2);
    if (count == 0 || value[0] == 0 || (count == 2 && value[1] == 0) || value[0] > HX_MOST_BOARDS_ACROSS * 4096U ||
        (count == 2 && (value[0] > HX_MOST_BOARDS_ACROSS || value[1] > HX_MOST_BOARDS_ACROSS)))
        return false;
    *shape = count == 2 ? (struct hx_shape){value[1], value[0]} : hx_shape_of(value[0]);
    return true;
}

static unsigned longest(struct hx_shape s)
{
    return s.rows > s.columns ? s.rows : s.columns;
}

static bool same(struct hx_shape a, struct hx_shape b)
{
    return a.rows == b.rows && a.columns == b.columns;
}

static unsigned add_shape(struct hx_shape *shapes, unsigned count, struct hx_shape shape)
{
    for (unsigned i = 0; i < count; i++)
        if (same(shapes[i], shape))
            return count;
    if (count == HX_MOST_SHAPES)
        return count;
    shapes[count] = shape;
    return count + 1;
}

static int nearer_to_square(const void *a, const void *b)
{
    unsigned one = longest(*(const struct hx_shape *)a), other = longest(*(const struct hx_shape *)b);
    return (one > other) - (one < other);
}

unsigned hx_shapes(struct hx_shape shapes[HX_MOST_SHAPES], struct hx_shape asked,
                   const struct hx_placement_rules *rules)
{
    unsigned boards = asked.rows * asked.columns;
    unsigned count = add_shape(shapes, 0, asked);
    if (rules->transpose)
        count = add_shape(shapes, count, (struct hx_shape){asked.columns, asked.rows});
    unsigned first = count;
    for (unsigned columns = 1; rules->aspect > 1 && (uint64_t)columns * columns <= boards; columns++) {
        unsigned rows = boards / columns;
        if (boards % columns || rows > (uint64_t)columns * rules->aspect)
            continue;
        count = add_shape(shapes, count, (struct hx_shape){rows, columns});
        count = add_shape(shapes, count, (struct hx_shape){columns, rows});
    }
    qsort(shapes + first, count - first, sizeof *shapes, nearer_to_square);
    return count;
}

/* ---- rows ---- */

static void narrow(struct choice *c, const struct hx_boards *b, unsigned row)
{
    hx_columns_narrow(&c->common, b, row);
    c->row[c->rows++] = row;
}

/* Chooses rows in one pass, from row `first` on. Returns whether they suffice. */
static bool greedy(struct choice *c, const struct hx_boards *b, struct hx_shape shape, unsigned first)
{
    for (unsigned n = 0; n < b->rows && c->rows < shape.rows; n++) {
        unsigned row = first + n < b->rows ? first + n : first + n - b->rows;
        if (b->free_in[row] >= shape.columns && hx_columns_shared(&c->common, b, row) >= shape.columns)
            narrow(c, b, row);
    }
    return c->rows == shape.rows;
}

/* Depth-first search for a set of rows. steps: rows that may still be examined. */
struct search {
    const struct hx_boards *b;
    struct hx_shape shape;
    uint32_t steps;
};

/* Selects rows that share enough columns with the choice; returns their number. */
static unsigned select_fitting(struct search *s, const struct choice *c, const uint32_t *row, unsigned rows,
                               uint32_t *fit)
{
    unsigned count = 0;
    for (unsigned i = 0; i < rows && s->steps; i++, s->steps--)
        if (hx_columns_shared(&c->common, s->b, row[i]) >= s->shape.columns)
            fit[count++] = row[i];
    return count;
}

static bool descend(struct search *s, struct choice *c, const uint32_t *row, unsigned rows)
{
    if (c->rows == s->shape.rows)
        return true;
    uint32_t *fit = hx_allocate(rows + 1, sizeof *fit);
    unsigned count = select_fitting(s, c, row, rows, fit);
    bool found = false;
    for (unsigned i = 0; !found && s->steps && i + (s->shape.rows - c->rows) <= count; i++) {
        struct hx_columns before = c->common;
        narrow(c, s->b, fit[i]);
        found = descend(s, c, fit + i + 1, count - i - 1);
        if (!found) {
            c->common = before;
            c->rows--;
        }
    }
    free(fit);
    return found;
}

static bool search(struct choice *c, const struct hx_boards *b, struct hx_shape shape, uint32_t steps)
{
    struct search s = {b, shape, steps};
    uint32_t *row = hx_allocate(b->rows, sizeof *row);
    for (unsigned i = 0; i < b->rows; i++)
        row[i] = i;
    bool found = descend(&s, c, row, b->rows);
    free(row);
    return found;
}

/* ---- columns ---- */

static unsigned columns_of_leaf(const struct hx_columns *set, const struct hx_boards *b, unsigned leaf, unsigned first)
{
    unsigned count = 0;
    for (unsigned column = first; column < first + leaf && column < b->columns; column++)
        count += hx_columns_has(set, column);
    return count;
}

/* Takes up to `most` columns of a set from west to east; returns their number. */
static unsigned take_columns(struct hx_columns *set, unsigned first, unsigned end, uint32_t *column, unsigned most)
{
    unsigned count = 0;
    for (unsigned c = first; c < end && count < most; c++) {
        if (!hx_columns_has(set, c))
            continue;
        set->word[c / 64] &= ~(UINT64_C(1) << c % 64);
        column[count++] = c;
    }
    return count;
}

/* The leaf with the fewest columns of a set that suffice, else the one with most. */
static unsigned best_leaf(const struct hx_columns *set, const struct hx_boards *b, unsigned leaf, unsigned wanted)
{
    unsigned best = 0, has = 0;
    for (unsigned first = 0; first < b->columns; first += leaf) {
        unsigned count = columns_of_leaf(set, b, leaf, first);
        if (has < wanted ? count > has : count >= wanted && count < has) {
            best = first;
            has = count;
        }
    }
    return best;
}

static void choose_columns(struct hx_placement *p, struct hx_columns set, const struct hx_boards *b, unsigned leaf)
{
    unsigned count = 0;
    while (leaf && count < p->shape.columns) {
        unsigned first = best_leaf(&set, b, leaf, p->shape.columns - count);
        unsigned end = first + leaf < b->columns ? first + leaf : b->columns;
        count += take_columns(&set, first, end, p->column + count, p->shape.columns - count);
    }
    take_columns(&set, 0, b->columns, p->column + count, p->shape.columns - count);
    qsort(p->column, p->shape.columns, sizeof *p->column, hx_compare_uint32);
}

/* ---- placements ---- */

static void settle(struct hx_placement *p, const struct choice *c, const struct hx_boards *b, struct hx_shape shape,
                   unsigned leaf)
{
    *p = (struct hx_placement){.shape = shape};
    p->row = hx_allocate(shape.rows, sizeof *p->row);
    p->column = hx_allocate(shape.columns, sizeof *p->column);
    memcpy(p->row, c->row, shape.rows * sizeof *p->row);
    qsort(p->row, shape.rows, sizeof *p->row, hx_compare_uint32);
    choose_columns(p, c->common, b, leaf);
}

static bool place_anywhere(struct hx_placement *p, const struct hx_boards *b, struct hx_shape shape,
                           const struct hx_placement_rules *rules)
{
    struct choice c = {.rows = 0};
    hx_columns_all(&c.common, b);
    bool found = greedy(&c, b, shape, 0);
    if (!found && rules->search) {
        c.rows = 0;
        hx_columns_all(&c.common, b);
        found = search(&c, b, shape, rules->search);
    }
    if (found)
        settle(p, &c, b, shape, 0);
    return found;
}

/* The columns of leaf `number`; all columns if there is no such leaf. */
static void columns_of(struct hx_columns *set, const struct hx_boards *b, unsigned leaf, unsigned number)
{
    hx_columns_all(set, b);
    if (!leaf || (uint64_t)number * leaf >= b->columns)
        return;
    for (unsigned column = 0; column < b->columns; column++)
        if (column / leaf != number)
            set->word[column / 64] &= ~(UINT64_C(1) << column % 64);
}

static unsigned leaves(unsigned boards, unsigned leaf)
{
    return leaf ? (boards + leaf - 1) / leaf : 1;
}

/* The best placement found so far. */
struct best {
    struct hx_placement p; /* rows 0: none */
    double share;          /* of its traffic that crosses the upper level */
};

static void keep_better(struct best *best, struct hx_placement other, const struct hx_placement_rules *rules)
{
    double share = hx_upper_share(&other, rules->locality, rules->leaf);
    bool keep = best->p.shape.rows && best->share <= share;
    hx_placement_free(keep ? &other : &best->p);
    if (!keep)
        *best = (struct best){other, share};
}

/* Places greedily from the rows of each leaf on, within the columns of each leaf and of all leaves. */
static void place_near(struct best *best, const struct hx_boards *b, struct hx_shape shape,
                       const struct hx_placement_rules *rules)
{
    for (unsigned across = 0; across <= leaves(b->columns, rules->leaf[0]); across++) {
        for (unsigned down = 0; down < leaves(b->rows, rules->leaf[1]); down++) {
            struct choice c = {.rows = 0};
            struct hx_placement found;
            columns_of(&c.common, b, rules->leaf[0], across);
            if (best->p.shape.rows && best->share <= 0)
                return;
            if (!greedy(&c, b, shape, down * rules->leaf[1]))
                continue;
            settle(&found, &c, b, shape, rules->leaf[0]);
            keep_better(best, found, rules);
        }
    }
}

bool hx_place(struct hx_placement *p, const struct hx_boards *b, struct hx_shape asked,
              const struct hx_placement_rules *rules)
{
    struct hx_shape shapes[HX_MOST_SHAPES];
    unsigned count = hx_shapes(shapes, asked, rules);
    bool near = rules->locality != HX_ANYWHERE && (rules->leaf[0] || rules->leaf[1]);
    struct best best = {.p.shape = {0, 0}};
    for (unsigned i = 0; i < count; i++) {
        if (shapes[i].rows > b->rows || shapes[i].columns > b->columns || asked.rows * asked.columns > b->free)
            continue;
        if (near)
            place_near(&best, b, shapes[i], rules);
        else if (place_anywhere(p, b, shapes[i], rules))
            return true;
    }
    *p = best.p;
    for (unsigned i = 0; near && rules->search && !p->shape.rows && i < count; i++)
        (void)place_anywhere(p, b, shapes[i], rules);
    return p->shape.rows != 0;
}

static const struct hx_placement_rules as_asked = {.aspect = 1, .search = HX_DEFAULT_SEARCH};

/* Tries shapes with more and more rows: the number of possible columns never grows. */
static struct hx_shape largest_shape(const struct hx_boards *b)
{
    struct hx_shape largest = {0, 0};
    struct hx_shape shape = {1, b->columns};
    while (shape.rows <= b->rows && shape.columns) {
        struct hx_placement p;
        bool more = shape.rows * shape.columns > largest.rows * largest.columns;
        if (more && !hx_place(&p, b, shape, &as_asked)) {
            shape.columns--;
            continue;
        }
        if (more)
            hx_placement_free(&p);
        largest = more ? shape : largest;
        shape.rows++;
    }
    return largest;
}

void hx_place_largest(struct hx_placement *p, const struct hx_boards *b)
{
    const struct hx_shape largest = largest_shape(b);
    *p = (struct hx_placement){.shape = {0, 0}};
    if (largest.rows)
        (void)hx_place(p, b, largest, &as_asked);
}

void hx_placement_take(const struct hx_placement *p, struct hx_boards *b)
{
    for (unsigned r = 0; r < p->shape.rows; r++)
        for (unsigned c = 0; c < p->shape.columns; c++)
            hx_board_take(b, p->column[c], p->row[r]);
}

void hx_placement_give_back(const struct hx_placement *p, struct hx_boards *b)
{
    for (unsigned r = 0; r < p->shape.rows; r++)
        for (unsigned c = 0; c < p->shape.columns; c++)
            hx_board_give_back(b, p->column[c], p->row[r]);
}

void hx_placement_free(struct hx_placement *p)
{
    free(p->row);
    free(p->column);
    *p = (struct hx_placement){.shape = {0, 0}};
}
