/* plot.c - writes a plot as SVG (tools/draw/plot.h). */
#include "tools/draw/plot.h"
#include "base/error.h"
#include "base/svg.h"
#include "base/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Pixels. The legend is right of the plot. */
enum {
    LEAST_WIDTH = 960,
    HEIGHT = 520, /* without slanted labels and the foot */
    LEFT = 76,
    RIGHT = 664,
    TOP = 64,
    BOTTOM = 450,
    LEGEND = 684,
    LEGEND_LINE = 21,
    FOOT_LINE = 16,
    FOOT_LEFT = 22,
    LEGEND_TEXT = LEGEND + 34,
    LETTER = 8,      /* usual greatest width of a letter */
    FOOT_LETTER = 7, /* the same in the foot */
    SLANT = 32,      /* degrees */
    MARK = 5
};

struct drawing {
    const struct plot *p;
    FILE *out;
    struct plot_ticks x, y;
    int width;
    int lower; /* pixels that slanted labels push down what is below them; 0: labels are horizontal */
};

struct plot *plot_new(const char *title, const char *x_label, enum plot_scale x_scale, enum plot_unit x_unit,
                      const char *y_label)
{
    struct plot *p = hx_allocate(1, sizeof *p);
    (void)snprintf(p->title, sizeof p->title, "%s", title);
    p->x_label = x_label;
    p->x_scale = x_scale;
    p->x_unit = x_unit;
    p->y_label = y_label;
    p->bar_width = 0.3;
    return p;
}

struct plot_series *plot_add(struct plot *p, enum plot_kind kind, unsigned colour, const char *format, ...)
{
    if (p->count == PLOT_MOST_SERIES)
        return NULL;
    struct plot_series *s = &p->series[p->count++];
    s->kind = kind;
    s->colour = colour;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(s->name, sizeof s->name, format, arguments);
    va_end(arguments);
    return s;
}

void plot_point_within(struct plot_series *s, double x, double y, double half)
{
    if (!s || s->points == PLOT_MOST_POINTS)
        return;
    s->x[s->points] = x;
    s->half[s->points] = half;
    s->y[s->points++] = y;
}

void plot_point(struct plot_series *s, double x, double y)
{
    plot_point_within(s, x, y, 0);
}

void plot_category(struct plot *p, const char *name)
{
    if (p->categories < PLOT_MOST_CATEGORIES)
        (void)snprintf(p->category[p->categories++], PLOT_TEXT, "%s", name);
}

static bool can_be_drawn(const struct plot *p, const struct plot_series *s, unsigned i)
{
    return isfinite(s->x[i]) && isfinite(s->y[i]) && (!plot_is_of_powers(p->x_scale) || s->x[i] > 0) &&
           (!plot_is_of_powers(p->y_scale) || s->y[i] > 0);
}

/* ---- axes ---- */

static void choose_axes(struct drawing *d)
{
    double least = d->p->categories ? -0.5 : INFINITY;
    double most = d->p->categories ? d->p->categories - 0.5 : -INFINITY;
    double highest = -INFINITY;
    double lowest = INFINITY;
    for (unsigned n = 0; n < d->p->count; n++) {
        const struct plot_series *s = &d->p->series[n];
        for (unsigned i = 0; i < s->points; i++) {
            if (!can_be_drawn(d->p, s, i))
                continue;
            least = fmin(least, s->x[i]);
            most = fmax(most, s->x[i]);
            highest = fmax(highest, s->y[i] + s->half[i]);
            lowest = fmin(lowest, s->y[i]);
        }
    }
    if (plot_is_of_powers(d->p->y_scale))
        d->y = plot_ticks(d->p->y_scale, lowest, highest);
    else
        d->y = plot_ticks(d->p->y_scale, 0, highest > 0 ? highest : 1);
    d->x = plot_ticks(d->p->x_scale, least, most);
    if (d->p->categories) {
        d->x = (struct plot_ticks){.low = least, .high = most, .count = d->p->categories};
        for (unsigned i = 0; i < d->p->categories; i++)
            d->x.at[i] = i;
    }
}

static size_t longest_of(const struct plot *p)
{
    size_t longest = 0;
    for (unsigned i = 0; i < p->categories; i++)
        longest = strlen(p->category[i]) > longest ? strlen(p->category[i]) : longest;
    return longest;
}

/* Chooses the picture's width for the legend, and whether category labels must be slanted. */
static void choose_size(struct drawing *d)
{
    size_t longest = longest_of(d->p);
    bool level = d->p->categories == 0 || longest * LETTER * d->p->categories <= RIGHT - LEFT;
    double slant = sin(SLANT * 3.14159265358979 / 180);
    d->lower = level ? 0 : (int)((double)longest * LETTER * slant);
    d->width = LEAST_WIDTH;
    for (unsigned n = 0; n < d->p->count; n++) {
        int needed = LEGEND_TEXT + LETTER * ((int)strlen(d->p->series[n].name) + 1);
        d->width = needed > d->width ? needed : d->width;
    }
}

static double across(const struct drawing *d, double x)
{
    return LEFT + (RIGHT - LEFT) * plot_place(d->p->x_scale, &d->x, x);
}

static double down(const struct drawing *d, double y)
{
    return BOTTOM - (BOTTOM - TOP) * plot_place(d->p->y_scale, &d->y, y);
}

static void label_of(const struct plot *p, unsigned tick, double value, char label[PLOT_TEXT])
{
    if (p->categories)
        (void)snprintf(label, PLOT_TEXT, "%s", p->category[tick]);
    else if (p->x_unit == PLOT_BYTES && value >= 1)
        (void)hx_value_print_bytes(label, (uint64_t)value);
    else
        (void)snprintf(label, PLOT_TEXT, "%.8g", value);
}

static void draw_label(const struct drawing *d, double x, const char *label)
{
    char turned[PLOT_TEXT];
    int y = BOTTOM + 19;
    (void)snprintf(turned, sizeof turned, "text-anchor=\"start\" transform=\"rotate(%d %.1f %d)\"", SLANT, x, y);
    svg_text(d->out, x, y, d->lower ? turned : "text-anchor=\"middle\"", label);
}

static void draw_axes(const struct drawing *d)
{
    char label[PLOT_TEXT];
    for (unsigned i = 0; i < d->y.count; i++) {
        double y = down(d, d->y.at[i]);
        svg_line(d->out, LEFT, y, RIGHT, y, "stroke=\"#dddddd\"");
        (void)snprintf(label, sizeof label, "%.8g", d->y.at[i]);
        svg_text(d->out, LEFT - 8, y + 4, "text-anchor=\"end\"", label);
    }
    for (unsigned i = 0; i < d->x.count; i++) {
        double x = across(d, d->x.at[i]);
        if (!d->p->categories)
            svg_line(d->out, x, TOP, x, BOTTOM, "stroke=\"#eeeeee\"");
        svg_line(d->out, x, BOTTOM, x, BOTTOM + 5, "stroke=\"#333333\"");
        label_of(d->p, i, d->x.at[i], label);
        draw_label(d, x, label);
    }
    svg_line(d->out, LEFT, BOTTOM, RIGHT, BOTTOM, "stroke=\"#333333\"");
    svg_line(d->out, LEFT, TOP, LEFT, BOTTOM, "stroke=\"#333333\"");
    svg_text(d->out, (LEFT + RIGHT) / 2.0, BOTTOM + 48 + d->lower, "text-anchor=\"middle\"", d->p->x_label);
    char turned[PLOT_TEXT];
    (void)snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 22 %d)\"", (TOP + BOTTOM) / 2);
    svg_text(d->out, 22, (TOP + BOTTOM) / 2.0, turned, d->p->y_label);
}

/* ---- series ---- */

static const char *colour_of(const struct plot_series *s)
{
    return svg_colours[s->colour % SVG_COLOURS];
}

static bool is_line(const struct plot_series *s)
{
    return s->kind == PLOT_LINE || s->kind == PLOT_CURVE || s->kind == PLOT_STEPS || s->kind == PLOT_DASHES;
}

static void style_of(const struct plot_series *s, char style[PLOT_TEXT])
{
    (void)snprintf(style, PLOT_TEXT, "stroke=\"%s\" stroke-width=\"%s\"%s", colour_of(s),
                   s->kind == PLOT_DASHES ? "1.3" : "2", s->kind == PLOT_DASHES ? " stroke-dasharray=\"6 4\"" : "");
}

static void draw_line(const struct drawing *d, const struct plot_series *s)
{
    char style[PLOT_TEXT];
    bool area = s->kind == PLOT_AREAS, open = false;
    style_of(s, style);
    for (unsigned i = 0; i < s->points; i++) {
        bool good = can_be_drawn(d->p, s, i);
        if (good && !open && area)
            fprintf(d->out, "<polygon fill=\"%s\" fill-opacity=\"0.6\" stroke=\"%s\" points=\"", colour_of(s),
                    colour_of(s));
        else if (good && !open)
            fprintf(d->out, "<polyline fill=\"none\" %s points=\"", style);
        if (!good && open)
            fputs("\"/>\n", d->out);
        if (good && open && s->kind == PLOT_STEPS)
            fprintf(d->out, "%.1f,%.1f ", across(d, s->x[i]), down(d, s->y[i - 1]));
        open = good;
        if (good)
            fprintf(d->out, "%.1f,%.1f ", across(d, s->x[i]), down(d, s->y[i]));
    }
    if (open)
        fputs("\"/>\n", d->out);
}

/* Draws the mark of a point, also in the legend. Plain lines have none. */
static void draw_mark(const struct drawing *d, const struct plot_series *s, double x, double y)
{
    const char *colour = colour_of(s);
    switch (s->kind) {
    case PLOT_LINE:
        fprintf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, colour);
        break;
    case PLOT_DIAMONDS:
        fprintf(d->out,
                "<path d=\"M%.1f %.1f l%d %d l%d %d l%d %d z\" fill=\"%s\" stroke=\"#000000\" stroke-width=\"1.2\"/>\n",
                x, y - MARK - 2, MARK + 2, MARK + 2, -MARK - 2, MARK + 2, -MARK - 2, -MARK - 2, colour);
        break;
    default:
        break;
    }
}

static void draw_bar(const struct drawing *d, const struct plot_series *s, unsigned i)
{
    double left = across(d, s->x[i] - d->p->bar_width / 2);
    double right = across(d, s->x[i] + d->p->bar_width / 2);
    double top = down(d, s->y[i]);
    if (s->kind == PLOT_BARS)
        fprintf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" opacity=\"0.85\"/>\n",
                left, top, right - left, BOTTOM - top, colour_of(s));
    else
        svg_line(d->out, left - 3, top, right + 3, top,
                 "stroke=\"#000000\" stroke-width=\"2\" stroke-dasharray=\"3 2\"");
}

/* Whether the interval around a point ends on the plot, and at which pixel; else BOTTOM. */
static bool shows_low_end(const struct drawing *d, const struct plot_series *s, unsigned i, double *bottom)
{
    double low = s->y[i] - s->half[i];
    bool shows_end = low > (plot_is_of_powers(d->p->y_scale) ? d->y.low : 0);
    *bottom = shows_end ? fmin(down(d, low), BOTTOM) : BOTTOM;
    return shows_end;
}

/* Draws the interval around a point, as far as it is on the plot. */
static void draw_interval(const struct drawing *d, const struct plot_series *s, unsigned i)
{
    enum { CAP = 4 };
    char style[PLOT_TEXT];
    double x = across(d, s->x[i]);
    double top = down(d, s->y[i] + s->half[i]);
    double bottom;
    bool shows_end = shows_low_end(d, s, i, &bottom);
    (void)snprintf(style, sizeof style, "class=\"interval\" stroke=\"%s\" stroke-width=\"1.2\"", colour_of(s));
    svg_line(d->out, x, top, x, bottom, style);
    svg_line(d->out, x - CAP, top, x + CAP, top, style);
    if (shows_end)
        svg_line(d->out, x - CAP, bottom, x + CAP, bottom, style);
}

/* Shades the intervals of points first .. end - 1: their upper ends forth, their lower ends back. */
static void draw_band(const struct drawing *d, const struct plot_series *s, unsigned first, unsigned end)
{
    double bottom;
    bool any = false;
    for (unsigned i = first; i < end; i++)
        any = any || s->half[i] > 0;
    if (!any || end - first < 2)
        return;
    fprintf(d->out, "<polygon class=\"band\" fill=\"%s\" fill-opacity=\"0.2\" points=\"", colour_of(s));
    for (unsigned i = first; i < end; i++)
        fprintf(d->out, "%.1f,%.1f ", across(d, s->x[i]), down(d, s->y[i] + s->half[i]));
    for (unsigned i = end; i-- > first;) {
        (void)shows_low_end(d, s, i, &bottom);
        fprintf(d->out, "%.1f,%.1f ", across(d, s->x[i]), bottom);
    }
    fputs("\"/>\n", d->out);
}

/* A band for each piece of a line without a gap. */
static void draw_bands(const struct drawing *d, const struct plot_series *s)
{
    unsigned first = 0;
    for (unsigned i = 0; i <= s->points; i++) {
        if (i < s->points && can_be_drawn(d->p, s, i))
            continue;
        draw_band(d, s, first, i);
        first = i + 1;
    }
}

static void draw_series(const struct drawing *d, const struct plot_series *s)
{
    if (s->kind == PLOT_LINE || s->kind == PLOT_CURVE)
        draw_bands(d, s);
    if (is_line(s) || s->kind == PLOT_AREAS)
        draw_line(d, s);
    for (unsigned i = 0; i < s->points; i++) {
        if (!can_be_drawn(d->p, s, i))
            continue;
        if (s->half[i] > 0)
            draw_interval(d, s, i);
        if (s->kind == PLOT_BARS || s->kind == PLOT_LIMITS)
            draw_bar(d, s, i);
        else
            draw_mark(d, s, across(d, s->x[i]), down(d, s->y[i]));
    }
}

static void draw_legend(const struct drawing *d)
{
    double y = TOP + 8;
    for (unsigned n = 0; n < d->p->count; n++) {
        const struct plot_series *s = &d->p->series[n];
        if (!s->points)
            continue;
        char style[PLOT_TEXT];
        style_of(s, style);
        if (is_line(s))
            svg_line(d->out, LEGEND, y, LEGEND + 26, y, style);
        else if (s->kind == PLOT_LIMITS)
            svg_line(d->out, LEGEND, y, LEGEND + 26, y,
                     "stroke=\"#000000\" stroke-width=\"2\" stroke-dasharray=\"3 2\"");
        else if (s->kind == PLOT_BARS || s->kind == PLOT_AREAS)
            fprintf(d->out, "<rect x=\"%d\" y=\"%.1f\" width=\"20\" height=\"10\" fill=\"%s\" opacity=\"0.85\"/>\n",
                    LEGEND + 3, y - 5, colour_of(s));
        draw_mark(d, s, LEGEND + 13, y);
        svg_text(d->out, LEGEND_TEXT, y + 4, "", s->name);
        y += LEGEND_LINE;
    }
}

void plot_check_name(const char *path)
{
    static const char *const others[] = {"png", "pdf", "jpg", "jpeg", "gif", "eps", "ps", "webp", "tif", "tiff"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (unsigned i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot + 1, others[i]) == 0)
            hx_die(HX_EXIT_USAGE, "--plot",
                   "'%s' would be SVG by the name of another kind (write it as x.svg; rsvg-convert makes %s of it)",
                   path, others[i]);
}

/* Writes the text below the plot; with `out` NULL only counts its lines. Returns the lines. */
static unsigned draw_foot(const struct drawing *d, FILE *out)
{
    size_t room = (size_t)(d->width - 2 * FOOT_LEFT) / FOOT_LETTER;
    unsigned lines = 0;
    for (unsigned i = 0; i < PLOT_FEET; i++) {
        for (const char *at = d->p->foot[i]; *at; lines++) {
            char words[PLOT_FOOT];
            size_t length = strlen(at) < room ? strlen(at) : room;
            size_t end = length;
            while (at[length] && end > 0 && at[end] != ' ')
                end--;
            length = end ? end : length;
            (void)snprintf(words, sizeof words, "%.*s", (int)length, at);
            if (out)
                svg_text(out, FOOT_LEFT, HEIGHT + 4 + d->lower + (int)lines * FOOT_LINE,
                         "font-size=\"11\" fill=\"#555555\"", words);
            at += length + (at[length] == ' ');
        }
    }
    return lines;
}

void plot_write(const struct plot *p, FILE *out)
{
    struct drawing d = {.p = p, .out = out};
    choose_axes(&d);
    choose_size(&d);
    int height = HEIGHT + d.lower + (int)draw_foot(&d, NULL) * FOOT_LINE;
    svg_begin(out, d.width, height);
    (void)draw_foot(&d, out);
    svg_text(out, LEFT, 28, "font-size=\"17\" font-weight=\"bold\"", p->title);
    svg_text(out, LEFT, 48, "fill=\"#555555\"", p->note);
    draw_axes(&d);
    /* Bars first, so that they hide nothing. */
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned n = 0; n < p->count; n++)
            if ((p->series[n].kind == PLOT_BARS) == (pass == 0))
                draw_series(&d, &p->series[n]);
    draw_legend(&d);
    svg_end(out);
}
