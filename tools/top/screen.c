/* screen.c - a terminal by ncurses (tools/top/screen.h). */
#include "tools/top/screen.h"
#include "base/color.h"
#include "topology/heat_map.h"

#include <curses.h>
#include <unistd.h>

static SCREEN *screen; /* the only terminal */
static bool shaded;

static void open_colours(void)
{
    shaded = hx_color_on(stdout) && has_colors() && start_color() == OK && COLORS >= 256;
    for (short shade = 0; shaded && shade < HX_HEAT_SHADES; shade++)
        (void)init_pair((short)(shade + 1), COLOR_WHITE, hx_heat_colour[shade]);
}

bool top_screen_open(void)
{
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || hx_terminal_is_dumb())
        return false;
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return false;
    (void)set_term(screen);
    open_colours();
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    return true;
}

void top_screen_close(void)
{
    if (!screen)
        return;
    (void)endwin();
    delscreen(screen);
    screen = NULL;
}

void top_screen_size(unsigned *rows, unsigned *columns)
{
    *rows = (unsigned)LINES;
    *columns = (unsigned)COLS;
}

static attr_t attributes(unsigned style)
{
    if (style >= CANVAS_SHADE)
        return shaded ? (attr_t)COLOR_PAIR(style - CANVAS_SHADE + 1) : A_NORMAL;
    return style == CANVAS_BOLD ? A_BOLD : style == CANVAS_BAR ? A_REVERSE : A_NORMAL;
}

void top_screen_show(const struct canvas *c)
{
    (void)erase();
    for (unsigned row = 0; row < c->rows; row++) {
        for (unsigned column = 0; column < c->columns; column++) {
            const struct canvas_cell *cell = &c->cell[(size_t)row * c->columns + column];
            (void)mvaddch((int)row, (int)column, (unsigned char)cell->c | attributes(cell->style));
        }
    }
    (void)refresh();
}

enum top_key top_screen_key(int milliseconds)
{
    timeout(milliseconds);
    switch (getch()) {
    case 'q':
    case 'Q':
        return TOP_KEY_QUIT;
    case 's':
        return TOP_KEY_SORT;
    case 'p':
        return TOP_KEY_PLANE;
    case 'h':
    case '?':
        return TOP_KEY_HELP;
    case '+':
    case KEY_UP:
    case KEY_PPAGE:
        return TOP_KEY_LONGER;
    case '-':
    case KEY_DOWN:
    case KEY_NPAGE:
        return TOP_KEY_SHORTER;
    case KEY_RESIZE:
        return TOP_KEY_RESIZE;
    default:
        return TOP_KEY_NONE;
    }
}
