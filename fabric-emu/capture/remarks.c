/* remarks.c - remarks that wait for their frame (remarks.h). */
#include "fabric-emu/capture/remarks.h"
#include "host/error.h"
#include "host/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void capture_remark_fault(struct capture_remarks *r, uint64_t time, uint64_t at_ns, const char *line)
{
    char at[HX_VALUE_TEXT];
    size_t bytes = strlen(line) + sizeof at + sizeof "fault at : ";
    char *text = hx_allocate(1, bytes);
    (void)snprintf(text, bytes, "fault at %s: %s", hx_value_print_duration(at, at_ns), line);
    if (r->count && time < r->remark[r->count - 1].time)
        time = r->remark[r->count - 1].time;
    r->remark = hx_grow(r->remark, r->count, &r->room, sizeof *r->remark);
    r->remark[r->count++] = (struct capture_remark){time, text};
}

const char *capture_remarks_take(struct capture_remarks *r, uint64_t time, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (; r->next < r->count && r->remark[r->next].time <= time; r->next++)
        if (used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? "\n" : "", r->remark[r->next].text);
    return used ? text : NULL;
}

void capture_remarks_free(struct capture_remarks *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->remark[i].text);
    free(r->remark);
}
