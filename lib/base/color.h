/* color.h - coloured output: --color auto, always or never, an option of every program.
 *
 * auto: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb or missing. */
#ifndef HXMESH_BASE_COLOR_H
#define HXMESH_BASE_COLOR_H

#include <stdbool.h>
#include <stdio.h>

enum hx_color { HX_COLOR_AUTO, HX_COLOR_ALWAYS, HX_COLOR_NEVER, HX_COLORS };
extern const char *const hx_color_names[HX_COLORS + 1]; /* ends with NULL */

/* Sets the choice; hx_options_parse() calls it. */
void hx_color_choose(enum hx_color when);
bool hx_color_on(FILE *out);

/* Whether the terminal cannot move its cursor. */
bool hx_terminal_is_dumb(void);

#endif
