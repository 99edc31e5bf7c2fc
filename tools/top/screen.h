/* screen.h - shows a page on a terminal and reads its keys. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "tools/top/canvas.h"

enum top_key {
    TOP_KEY_NONE,
    TOP_KEY_QUIT,
    TOP_KEY_SORT,
    TOP_KEY_PLANE,
    TOP_KEY_HELP,
    TOP_KEY_LONGER,
    TOP_KEY_SHORTER,
    TOP_KEY_RESIZE
};

/* Opens the terminal if stdout is one that can draw. Returns whether it did. */
bool top_screen_open(void);
void top_screen_close(void);

void top_screen_size(unsigned *rows, unsigned *columns);
void top_screen_show(const struct canvas *c);

/* Waits for a key, at most `milliseconds`. */
enum top_key top_screen_key(int milliseconds);

#endif
