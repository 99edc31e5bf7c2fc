/* support_specs.c - draws specs until one is possible (support_specs.h). */
#include "tests/support/support_specs.h"
#include "tests/support/support_random.h"
#include "tests/support/support_seed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Random number from `low` to `high`. */
static unsigned between(uint64_t *random, unsigned low, unsigned high)
{
    return low + seeded_below(random, high - low + 1);
}

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    size_t used = strlen(text);
    (void)vsnprintf(text + used, HX_SPEC_BYTES - used, format, values);
    va_end(values);
}

static void draw_sides(uint64_t *random, char *text, unsigned dimensions, unsigned most)
{
    for (unsigned i = 0; i < dimensions; i++)
        add(text, "%s%u", i ? "x" : " ", between(random, 2, most));
}

static void draw_mixed(uint64_t *random, char *text)
{
    static const char *const kinds[] = {"Ring", "FC", "Switch"};
    unsigned dimensions = between(random, 1, 3);
    for (unsigned i = 0; i < dimensions; i++)
        add(text, "%s%s(%u)", i ? "_" : "", kinds[seeded_below(random, 3)], between(random, 2, 6));
    if (seeded_below(random, 2))
        add(text, " gbps=%u", between(random, 10, 800));
}

static void draw_fat_tree(uint64_t *random, char *text)
{
    unsigned radix = 2 * between(random, 2, 8);
    add(text, "fat-tree hosts=%u radix=%u", between(random, 2, 80), radix);
    if (seeded_below(random, 2))
        add(text, " taper=%u", between(random, 1, 3));
    else
        add(text, " down=%u", between(random, 1, radix - 1));
}

static void draw(uint64_t *random, char *text)
{
    text[0] = '\0';
    switch (seeded_below(random, 12)) {
    case 0:
        add(text, "%ux%u", between(random, 1, 4), between(random, 1, 4));
        add(text, " H%ux%uMesh", between(random, 1, 8), between(random, 1, 8));
        break;
    case 1:
        add(text, "torus");
        draw_sides(random, text, between(random, 1, 4), 6);
        break;
    case 2:
        add(text, "mesh");
        draw_sides(random, text, between(random, 1, 4), 6);
        break;
    case 3:
        add(text, "hyperx");
        draw_sides(random, text, between(random, 1, 3), 5);
        add(text, " p=%u", between(random, 1, 4));
        break;
    case 4:
        draw_mixed(random, text);
        break;
    case 5:
        draw_fat_tree(random, text);
        break;
    case 6:
        add(text, "dragonfly a=%u p=%u", between(random, 1, 4), between(random, 1, 3));
        add(text, " h=%u groups=%u", between(random, 1, 3), between(random, 2, 6));
        break;
    case 7:
        add(text, "slim-fly q=%u p=%u", between(random, 3, 5), between(random, 1, 4));
        break;
    case 8:
        add(text, "bigraph m=%u n=%u", between(random, 1, 6), 2 * between(random, 1, 6));
        break;
    case 9:
        add(text, "kautz degree=%u length=%u p=%u", between(random, 2, 4), between(random, 2, 3),
            between(random, 1, 3));
        break;
    case 10:
        add(text, "mlfm h=%u p=%u", between(random, 2, 5), between(random, 1, 6));
        break;
    default:
        add(text, "oft k=%u", between(random, 2, 4));
        break;
    }
}

void specs_draw(uint64_t *random, uint32_t hosts, char text[HX_SPEC_BYTES], struct hx_fabric *f)
{
    struct hx_problem problem;
    for (;;) {
        draw(random, text);
        if (!hx_fabric_make(f, text, 1, &problem))
            continue;
        if (f->hosts > 1 && f->hosts <= hosts)
            return;
        hx_fabric_free(f);
    }
}

void specs_each(unsigned fabrics, uint32_t hosts, void (*visit)(const char *spec, const struct hx_fabric *f))
{
    seeded_run = seeded_by(1);
    for (unsigned i = 0; i < fabrics; i++, seeded_run++) {
        uint64_t random = seeded_run;
        char spec[HX_SPEC_BYTES];
        struct hx_fabric f;
        specs_draw(&random, hosts, spec, &f);
        visit(spec, &f);
        hx_fabric_free(&f);
    }
    seeded_run = 0;
}
