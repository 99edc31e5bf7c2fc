/* draw.h - the page of `hxmesh top`. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "tools/top/canvas.h"
#include "tools/top/top.h"

/* Choices of the user. */
struct top_view {
    enum top_order order;
    int plane;       /* plane of the links shown; TOP_ALL_PLANES: all */
    bool help;       /* shows the keys in place of links and map */
    double interval; /* seconds */
};

void top_draw(struct canvas *c, const struct top *t, const struct top_view *view);

#endif
