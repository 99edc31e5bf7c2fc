/* confirm.c - runs of planned layouts with packets (plan.h). */
#include "base/error.h"
#include "tools/child.h"
#include "tools/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 256 };

/* Writes the model in a candidate's layout to a file of its own. */
static void write_file(const struct plan *p, const struct plan_candidate *c, char path[PATH])
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, PATH, "%s/hxmesh-plan-XXXXXX.model.yaml", folder ? folder : "/tmp");
    const int file = mkstemps(path, (int)strlen(".model.yaml"));
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (out)
        plan_write_model(p, c, out);
    if (!out || fclose(out) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, path, "cannot be written: %s", strerror(errno));
}

/* Returns the exit code of the run. */
static int confirm(const struct plan *p, struct plan_result *r)
{
    char path[PATH];
    struct train t = *p->train;
    struct train_fabric f = *p->fabric;
    write_file(p, &r->candidate, path);
    t.job.path = path;
    t.job.ranks = p->ranks;
    t.fabric = &f;
    t.fabrics = 1;
    f.settings.place = r->candidate.place;
    f.folds = r->candidate.place == PLAN_FOLD;
    f.spent = (struct train_spent){.purposes = 0};
    train_run(&t, &f);
    (void)unlink(path);
    r->confirmed = f.exact.there ? f.exact.iteration : 0;
    return f.exit_code;
}

int plan_confirm(struct plan *p, unsigned count)
{
    int code = HX_EXIT_DONE;
    unsigned runs = 0;
    for (size_t i = 0; i < p->results && runs < count && !child_interrupted(); i++) {
        if (!plan_is_first(p, i))
            continue;
        runs++;
        const int own = confirm(p, &p->result[i]);
        code = code ? code : own;
    }
    return code;
}
