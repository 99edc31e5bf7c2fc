/* verb_clean.c - `hxmesh clean`: removes the shared memory of killed runs. A running fabric holds a lock on its own. */
#include "attach_server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/options/options.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static json_t *list;

static void found(const char *name, bool removed, size_t bytes)
{
    (void)json_array_append_new(list, json_pack("{s:o, s:I, s:b}", "name", hx_json_text(name), "bytes",
                                                (json_int_t)bytes, "removed", (int)removed));
}

int verb_clean(int argc, char **argv)
{
    const struct hx_command command = {
        HX_PROGRAM("hxmesh clean", "hxmesh-run hxmesh-top"),
        .examples = {{"hxmesh clean", "what was removed, a line each"},
                     {"hxmesh clean --json -", "the same, and what is in use, for a program"}},
        .summary = "Removes what a killed run left in /dev/shm. Running fabrics are not touched."};
    struct hx_common common;
    (void)hx_options_parse(&command, argc, argv, &common);
    list = json_array();
    int removed = shm_arena_clean(found);
    if (removed < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot be read: %s", strerror(-removed));
    (void)attach_server_clean(found);
    size_t index;
    json_t *each;
    json_array_foreach(list, index, each)
    {
        if (!common.json && !common.quiet)
            printf("%s /dev/shm/%s (%lld bytes)\n",
                   json_is_true(json_object_get(each, "removed")) ? "removed" : "in use ",
                   json_string_value(json_object_get(each, "name")),
                   (long long)json_integer_value(json_object_get(each, "bytes")));
    }
    if (common.json)
        hx_json_write(json_incref(list), common.json);
    else if (!common.quiet && json_array_size(list) == 0)
        printf("nothing to clean\n");
    json_decref(list);
    return HX_EXIT_DONE;
}
