/* faults.c - faults in reports (faults.h). */
#include "fabric-emu/report/faults.h"

#include <stdio.h>

static const double ns_a_second = 1e9;

static json_t *seconds(bool known, uint64_t ns)
{
    return known ? json_real((double)ns / ns_a_second) : json_null();
}

json_t *fault_records_json(const struct fault_record *record, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct fault_record *r = &record[i];
        json_t *one =
            json_pack("{s:s, s:b, s:o, s:o, s:I, s:o}", "fault", r->text, "begun", (int)r->begun, "at_seconds",
                      seconds(true, r->at_ns), "over_seconds", seconds(r->over, r->over_ns), "packets_lost",
                      (json_int_t)r->lost, "whole_after_seconds", seconds(r->whole, r->whole_ns - r->at_ns));
        (void)json_array_append_new(list, one);
    }
    return list;
}

static void print_one(const json_t *fault)
{
    const json_t *whole = json_object_get(fault, "whole_after_seconds");
    printf("    %10.3f s  %s", json_real_value(json_object_get(fault, "at_seconds")),
           json_string_value(json_object_get(fault, "fault")));
    if (!json_is_true(json_object_get(fault, "begun"))) {
        printf(": not yet\n");
        return;
    }
    printf(": %" JSON_INTEGER_FORMAT " packets lost, ", json_integer_value(json_object_get(fault, "packets_lost")));
    if (json_is_real(whole))
        printf("whole after %.3f s\n", json_real_value(whole));
    else
        printf("not whole yet\n");
}

void fault_records_print(const json_t *list)
{
    size_t index;
    json_t *each;
    json_array_foreach(list, index, each)
    {
        print_one(each);
    }
}
