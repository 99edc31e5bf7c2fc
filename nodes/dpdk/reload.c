/* reload.c - reads the node file again (reload.h). */
#include "reload.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- comparison ---- */

static bool ports_differ(const struct node_config *a, const struct node_config *b)
{
    for (unsigned port = 0; port < a->ports; port++)
        if (strcmp(a->port[port].device, b->port[port].device) != 0 || a->port[port].lcore != b->port[port].lcore)
            return true;
    return false;
}

static bool fabrics_differ(const struct hx_geometry *a, const struct hx_geometry *b)
{
    return a->a != b->a || a->b != b->b || a->x != b->x || a->y != b->y || a->planes != b->planes ||
           a->radix != b->radix || a->taper != b->taper || a->nodes != b->nodes;
}

/* Returns the first key that differs and needs a restart; NULL: none. */
static const char *restart_key(const struct node_config *a, const struct node_config *b)
{
    const struct node_values *v = &a->values;
    const struct node_values *w = &b->values;
    const struct {
        const char *key;
        bool differs;
    } all[] = {{"fabric", fabrics_differ(&a->g, &b->g)},
               {"node", a->node != b->node || a->plane != b->plane},
               {"ports", ports_differ(a, b)},
               {"credits", a->spec.credits != b->spec.credits},
               {"vcs", a->vcs != b->vcs},
               {"key_file", a->authenticated != b->authenticated || memcmp(&a->key, &b->key, sizeof a->key) != 0},
               {"frames", v->frames != w->frames},
               {"queue", v->queue != w->queue},
               {"mtu", v->mtu != w->mtu},
               {"isolate", v->isolate != w->isolate}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].differs)
            return all[i].key;
    return NULL;
}

/* ---- the child ---- */

static int end_child(const struct hx_problem *p)
{
    hx_complain(p->where, "%s", p->what);
    _exit(p->exit_code);
}

static struct node_config *load(const struct reload_source *from)
{
    struct node_config *config = hx_allocate(1, sizeof *config);
    struct node_values values = from->values;
    node_config_load(config, from->file, &values);
    return config;
}

static _Noreturn void check(const struct node *n, const struct reload_source *from)
{
    hx_error_hand_over(end_child);
    const char *key = restart_key(n->config, load(from));
    if (key)
        hx_complain(from->file, "%s: is not that of the running node: it needs a restart", key);
    _exit(key ? HX_EXIT_CONFIG : HX_EXIT_DONE);
}

static bool is_good(const struct node *n, const struct reload_source *from)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        check(n, from);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        hx_complain(from->file, "cannot be read again: %s", strerror(errno));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == HX_EXIT_DONE;
}

bool reload(struct node *n, const struct reload_source *from)
{
    if (!from->file) {
        hx_warn(n->config->name, "has no node file to read again (--config)");
        return false;
    }
    if (!is_good(n, from)) {
        hx_warn(n->config->name, "stays as it is");
        return false;
    }
    struct node_config *config = load(from);
    config->before = n->config;
    atomic_store_explicit(&n->config, config, memory_order_release);
    return true;
}
