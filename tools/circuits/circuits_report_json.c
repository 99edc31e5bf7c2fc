/* circuits_report_json.c - the report of `hxmesh topology` as JSON (circuits_report.h). */
#include "base/json.h"
#include "tools/circuits/circuits_report.h"
#include "tools/circuits/layers.h"

#include <math.h>

static json_t *graph_json(const struct circuits_report *r)
{
    const struct circuits *c = r->circuits;
    json_t *rings = json_array();
    json_t *lengths = json_array();
    for (unsigned i = 0; i < c->rings; i++)
        (void)json_array_append_new(
            rings, json_pack("{s:i, s:I}", "sum", (int)c->ring[i].reduce, "stride", (json_int_t)c->ring[i].stride));
    for (unsigned i = 1; i <= r->paths.diameter; i++)
        (void)json_array_append_new(
            lengths, json_pack("{s:i, s:I}", "circuits", (int)i, "pairs", (json_int_t)r->paths.of_length[i]));
    return json_pack("{s:I, s:I, s:o, s:i, s:f, s:o}", "circuits", (json_int_t)c->count, "in_rings",
                     (json_int_t)circuits_in_rings(r), "rings", rings, "diameter", (int)r->paths.diameter, "mean_path",
                     r->paths.mean, "paths", lengths);
}

static json_t *loads_json(const struct circuits_loads *l)
{
    json_t *tenths = json_array();
    for (unsigned i = 0; i <= CIRCUITS_TENTHS; i++)
        (void)json_array_append_new(tenths, json_real(l->tenth[i]));
    return json_pack("{s:f, s:f, s:o, s:o}", "mean_bytes", l->mean, "most_bytes", l->tenth[CIRCUITS_TENTHS], "fullest",
                     json_pack("[i, i]", (int)l->from, (int)l->to), "tenths", tenths);
}

static json_t *strategy_json(const struct circuits_strategy *s)
{
    struct circuits_layers l;
    json_t *list = json_array();
    circuits_layers_begin(&l, s);
    while (circuits_layers_next(s, &l)) {
        json_t *servers = json_array();
        for (uint32_t i = 0; i < l.count && l.choice == CIRCUITS_PLACED; i++)
            (void)json_array_append_new(servers, json_integer((json_int_t)s->place[l.layer[i]].server));
        (void)json_array_append_new(list, json_pack("{s:o, s:I, s:s, s:o}", "layers", hx_json_text(l.name), "count",
                                                    (json_int_t)l.count, "choice", circuits_choice_names[l.choice],
                                                    "servers", servers));
    }
    circuits_layers_end(&l);
    return list;
}

static json_t *run_json(const struct circuits_run *run)
{
    if (!run->there)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "iteration_seconds", run->iteration, "computing_seconds",
                     run->computing, "exposed_seconds", run->exposed, "exchanges_seconds", run->exchanges,
                     "sums_seconds", run->sums, "exchanged_bytes", run->exchanged_bytes, "reduced_bytes",
                     run->reduced_bytes);
}

/* Null: not known. */
static json_t *known(bool is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *fabric_json(const struct circuits_fabric *f)
{
    const struct circuits_time *t = &f->time;
    const bool all = !f->changes;
    return json_pack("{s:o, s:f, s:o, s:f, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:o}", "name", hx_json_text(f->name),
                     "gbps", f->gbps, "iteration_seconds", known(isfinite(t->iteration), t->iteration),
                     "computing_seconds", t->computing, "exchanges_seconds", known(all, t->exchanges), "sums_seconds",
                     known(all, t->sums), "exposed_seconds", known(all, t->exposed), "tax", t->tax, "exchanged_bytes",
                     circuits_exchanged(&f->demand), "reduced_bytes", circuits_reduced(&f->demand), "usd",
                     known(f->usd > 0, f->usd), "strategy", strategy_json(&f->strategy));
}

static json_t *search_json(const struct circuits_report *r)
{
    const struct circuits_search *s = r->search;
    if (!r->searched)
        return json_null();
    return json_pack("{s:I, s:i, s:i, s:i, s:I}", "seed", (json_int_t)s->seed, "steps", (int)s->steps, "chains",
                     (int)s->chains, "rounds", (int)r->rounds, "all_steps", (json_int_t)r->searched_steps);
}

json_t *circuits_json(const struct circuits_report *r)
{
    const struct circuits_links *l = &r->search->links;
    json_t *fabrics = json_array();
    for (unsigned i = 0; i < r->fabrics; i++)
        (void)json_array_append_new(fabrics, fabric_json(&r->fabric[i]));
    return json_pack(
        "{s:o, s:I, s:i, s:i, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model", hx_json_text(r->path), "servers",
        (json_int_t)r->circuits->servers, "degree", (int)r->search->degree, "gbps", (int)l->gbps, "latency_seconds",
        1e-9 * l->latency_ns, "forward_seconds", 1e-9 * l->forward_ns, "graph", graph_json(r), "loads",
        loads_json(&r->all), "loads_of_sums", loads_json(&r->sums), "fabrics", fabrics, "packets", run_json(&r->run),
        "search", search_json(r), "files",
        r->graph ? json_pack("{s:o, s:o}", "graph", hx_json_text(r->graph), "schedule", hx_json_text(r->schedule))
                 : json_null());
}
