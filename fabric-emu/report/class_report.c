/* class_report.c - how busy the links of each class were (class_report.h). */
#include "fabric-emu/report/class_report.h"
#include "fabric-emu/report/fields.h"

#include <stdio.h>

struct class_use {
    uint32_t links;
    double sum, most; /* shares of the time */
};

/* Returns the classes that have links. */
static unsigned add_up(const struct result *r, struct class_use use[HX_MAX_LINK_CLASSES])
{
    unsigned used = 0;
    for (uint32_t i = 0; i < r->links; i++) {
        const struct link_use *link = &r->link[i];
        struct class_use *u = &use[hx_fabric_port(r->g, link->node, link->port)->link_class];
        used += u->links++ == 0;
        u->sum += link->busy;
        u->most = link->busy > u->most ? link->busy : u->most;
    }
    return used;
}

void class_report_print(const struct result *r)
{
    struct class_use use[HX_MAX_LINK_CLASSES] = {{0}};
    const char *before = "  links busy     ";
    if (add_up(r, use) < 2)
        return;
    for (unsigned i = 0; i < r->g->link_classes; i++) {
        if (use[i].links == 0)
            continue;
        printf("%s%s %.1f %%", before, r->g->link_class[i].name, use[i].sum / use[i].links * 100);
        before = ", ";
    }
    printf("\n");
}

static json_t *class_json(const struct hx_link_class *class, const struct class_use *u)
{
    json_t *o = json_object();
    REPORT_CLASS(REPORT_SET)
    return o;
}

json_t *class_report_json(const struct result *r)
{
    struct class_use use[HX_MAX_LINK_CLASSES] = {{0}};
    json_t *classes = json_array();
    (void)add_up(r, use);
    for (unsigned i = 0; i < r->g->link_classes; i++)
        if (use[i].links)
            (void)json_array_append_new(classes, class_json(&r->g->link_class[i], &use[i]));
    return classes;
}
