/* color.c - decides whether output is coloured (base/color.h). */
#include "base/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const hx_color_names[HX_COLORS + 1] = {
    [HX_COLOR_AUTO] = "auto", [HX_COLOR_ALWAYS] = "always", [HX_COLOR_NEVER] = "never", [HX_COLORS] = NULL};

static enum hx_color chosen;

void hx_color_choose(enum hx_color when)
{
    chosen = when;
}

bool hx_terminal_is_dumb(void)
{
    const char *term = getenv("TERM");
    return !term || !*term || strcmp(term, "dumb") == 0;
}

bool hx_color_on(FILE *out)
{
    if (chosen != HX_COLOR_AUTO)
        return chosen == HX_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no_color && *no_color) && !hx_terminal_is_dumb();
}
