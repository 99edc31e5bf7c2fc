/* plot.h - a plot as SVG without other libraries: lines, markers and bars over two axes, a legend, on white.
 *
 *     struct plot *p = plot_new("All-to-all", "message", PLOT_BINARY, PLOT_BYTES, "share of injection (%)");
 *     struct plot_series *s = plot_add(p, PLOT_LINE, 0, "%s", "16x16 Hx2Mesh");
 *     plot_point(s, 4096, 25.4);
 *     plot_write(p, out);
 *     free(p);
 *
 * Points that are not finite are left out, and on a logarithmic axis those not above 0; a line has a gap there. A
 * linear vertical axis begins at 0. The picture is as wide and as high as legend, labels and foot need. */
#ifndef HXMESH_TOOLS_PLOT_H
#define HXMESH_TOOLS_PLOT_H

#include "base/plot_ticks.h"

#include <stdio.h>

enum {
    PLOT_MOST_SERIES = 24,
    PLOT_MOST_POINTS = 256,
    PLOT_MOST_CATEGORIES = PLOT_MOST_TICKS,
    PLOT_TEXT = 80,
    PLOT_FEET = 2,
    PLOT_FOOT = 4096
};

enum plot_kind {
    PLOT_LINE,     /* with a dot at each point */
    PLOT_CURVE,    /* without dots */
    PLOT_STEPS,    /* without dots; a point's height holds until the next one */
    PLOT_DASHES,   /* dashed, without dots */
    PLOT_DIAMONDS, /* no line */
    PLOT_BARS,     /* of the plot's bar_width, from 0 up */
    PLOT_AREAS,    /* the area that the points enclose; a gap ends one area */
    PLOT_LIMITS    /* a short line across a bar */
};

enum plot_unit { PLOT_NUMBER, PLOT_BYTES };

struct plot_series {
    enum plot_kind kind;
    unsigned colour; /* index; series of one colour belong together */
    char name[PLOT_TEXT];
    unsigned points;
    double x[PLOT_MOST_POINTS], y[PLOT_MOST_POINTS];
    /* Of the interval around y, which a bar shows, and along a line a band; 0: none. */
    double half[PLOT_MOST_POINTS];
};

struct plot {
    char title[PLOT_TEXT];
    char note[PLOT_TEXT];            /* below the title, smaller; may be empty */
    char foot[PLOT_FEET][PLOT_FOOT]; /* below the plot, small, wrapped: the source of the figures; may be empty */
    const char *x_label, *y_label;
    enum plot_scale x_scale, y_scale;
    enum plot_unit x_unit;
    /* If any: labels below x = 0, 1, ... in place of numbers, slanted if long. */
    char category[PLOT_MOST_CATEGORIES][PLOT_TEXT];
    unsigned categories;
    double bar_width; /* on the horizontal axis */
    unsigned count;
    struct plot_series series[PLOT_MOST_SERIES];
};

/* Creates a plot; free() it. Label pointers must outlive it. */
struct plot *plot_new(const char *title, const char *x_label, enum plot_scale x_scale, enum plot_unit x_unit,
                      const char *y_label);

/* Adds a series; the legend shows its name. Returns NULL if there are PLOT_MOST_SERIES. */
__attribute__((format(printf, 4, 5))) struct plot_series *plot_add(struct plot *p, enum plot_kind kind, unsigned colour,
                                                                   const char *format, ...);
/* Adds a point; ignores it if the series is NULL or has PLOT_MOST_POINTS. */
void plot_point(struct plot_series *s, double x, double y);
/* The same with an interval from y - half to y + half. */
void plot_point_within(struct plot_series *s, double x, double y, double half);

void plot_category(struct plot *p, const char *name);

/* Dies with HX_EXIT_USAGE if the path has the suffix of another picture format than SVG. NULL: no plot is wanted. */
void plot_check_name(const char *path);

/* Writes the SVG. The legend omits series without points. */
void plot_write(const struct plot *p, FILE *out);

#endif
