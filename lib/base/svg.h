/* svg.h - elements of a picture as SVG, on white. Lengths are pixels; `attributes` are SVG's, "" for none. */
#ifndef HXMESH_BASE_SVG_H
#define HXMESH_BASE_SVG_H

#include <stdio.h>

/* Distinguishable without red-green vision (Okabe and Ito). */
enum { SVG_COLOURS = 7 };
extern const char *const svg_colours[SVG_COLOURS];

void svg_begin(FILE *out, int width, int height);
void svg_end(FILE *out);

/* Escapes the words; control characters become spaces. */
void svg_text(FILE *out, double x, double y, const char *attributes, const char *words);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *attributes);
void svg_box(FILE *out, double x, double y, double width, double height, const char *attributes);

#endif
