/* svg.c - writes elements of a picture (base/svg.h). */
#include "base/svg.h"

#include <ctype.h>

const char *const svg_colours[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#8a6d00", "#56b4e9", "#333333"};

void svg_begin(FILE *out, int width, int height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"#111111\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
            width, height, width, height, width, height);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

static void escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        default:
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
        }
    }
}

void svg_text(FILE *out, double x, double y, const char *attributes, const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    escape(out, words);
    fputs("</text>\n", out);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *attributes)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, attributes);
}

void svg_box(FILE *out, double x, double y, double width, double height, const char *attributes)
{
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y, width, height, attributes);
}
