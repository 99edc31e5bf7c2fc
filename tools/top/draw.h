/* draw.h - the page of `hxmesh top`. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "tools/top/canvas.h"
#include "tools/top/top.h"

/* What the user chose. */
struct top_view {
    enum top_order order;
    int plane;       /* TOP_ALL_PLANES, or one whose links are shown */
    bool help;       /* the keys, in place of the links and the map */
    double interval; /* seconds */
};

/* As much as fits. */
void top_draw(struct canvas *c, const struct top *t, const struct top_view *view);

#endif
