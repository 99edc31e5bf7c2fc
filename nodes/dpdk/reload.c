/* reload.c - reads the node file again (reload.h). */
#include "reload.h"
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
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

/* ---- reading ---- */

static jmp_buf back; /* control's alone */

static int come_back(const struct hx_problem *p)
{
    hx_complain(p->where, "%s", p->what);
    longjmp(back, 1);
}

static struct node_config *load(const struct reload_source *from)
{
    struct node_config *volatile config = NULL;
    struct node_values values = from->values;
    hx_error_hand_over(come_back);
    if (setjmp(back) == 0) {
        struct node_config *loading = hx_allocate(1, sizeof *loading);
        node_config_load(loading, from->file, &values);
        config = loading;
    }
    hx_error_hand_over(NULL);
    return config;
}

/* Returns the configuration that the node may follow; NULL, after a line: it may not. */
static struct node_config *load_good(const struct node *n, const struct reload_source *from)
{
    struct node_config *config = load(from);
    const char *key = config ? restart_key(n->config, config) : NULL;
    if (!key)
        return config;
    hx_complain(from->file, "%s: is not that of the running node: it needs a restart", key);
    node_config_free(config);
    free(config);
    return NULL;
}

/* A reader that ends with an error leaves memory behind, so a child process reads first. */
static bool is_good(const struct node *n, const struct reload_source *from)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(load_good(n, from) ? HX_EXIT_DONE : HX_EXIT_CONFIG);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        hx_complain(from->file, "cannot be read again: %s", strerror(errno));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == HX_EXIT_DONE;
}

/* The file may change after the child has read it, so it is checked again. */
bool reload(struct node *n, const struct reload_source *from)
{
    struct node_config *config = is_good(n, from) ? load_good(n, from) : NULL;
    if (!config) {
        hx_warn(n->config->name, "stays as it is");
        return false;
    }
    config->before = n->config;
    atomic_store_explicit(&n->config, config, memory_order_release);
    return true;
}
