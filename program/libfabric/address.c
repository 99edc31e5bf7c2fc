/* address.c - address vectors: an address is a host number; tables and maps are the same (provider.h). */
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t hxfi_host_of(const struct hxfi_vector *v, fi_addr_t address)
{
    return v && address < v->count ? v->host[address] : HXFI_ANY_HOST;
}

/* Tries index `host` first: most vectors are filled in order of hosts. */
fi_addr_t hxfi_address_of(const struct hxfi_vector *v, uint32_t host)
{
    if (!v)
        return FI_ADDR_NOTAVAIL;
    if (host < v->count && v->host[host] == host)
        return host;
    for (size_t i = 0; i < v->count; i++) {
        if (v->host[i] == host)
            return i;
    }
    return FI_ADDR_NOTAVAIL;
}

static bool make_room(struct hxfi_vector *v, size_t more)
{
    if (v->count + more <= v->room)
        return true;
    size_t room = 2 * (v->count + more);
    uint32_t *host = realloc(v->host, room * sizeof *host);
    if (!host)
        return false;
    v->host = host;
    v->room = room;
    return true;
}

static int insert(struct fid_av *av, const void *addresses, size_t count, fi_addr_t *to, uint64_t flags, void *context)
{
    struct hxfi_vector *v = (struct hxfi_vector *)av;
    const struct hxfi_address *from = addresses;
    int inserted = 0;
    (void)flags;
    (void)context;
    if (!make_room(v, count))
        return -FI_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct hxfi_address address;
        memcpy(&address, &from[i], sizeof address);
        bool good = address.magic == HXFI_MAGIC;
        if (to)
            to[i] = good ? v->count : FI_ADDR_NOTAVAIL;
        v->host[v->count] = address.host;
        v->count += good;
        inserted += good;
    }
    return inserted;
}

/* A removed entry keeps its place, so that the others keep theirs. */
/* cppcheck-suppress constParameter ; libfabric defines the type */
static int take_out(struct fid_av *av, fi_addr_t *addresses, size_t count, uint64_t flags)
{
    struct hxfi_vector *v = (struct hxfi_vector *)av;
    (void)flags;
    for (size_t i = 0; i < count; i++) {
        if (addresses[i] >= v->count)
            return -FI_EINVAL;
        v->host[addresses[i]] = HXFI_ANY_HOST;
    }
    return 0;
}

static int look_up(struct fid_av *av, fi_addr_t address, void *to, size_t *bytes)
{
    const struct hxfi_vector *v = (const struct hxfi_vector *)av;
    const struct hxfi_address found = {HXFI_MAGIC, hxfi_host_of(v, address)};
    if (found.host == HXFI_ANY_HOST)
        return -FI_EINVAL;
    memcpy(to, &found, *bytes < sizeof found ? *bytes : sizeof found);
    *bytes = sizeof found;
    return 0;
}

static const char *print(struct fid_av *av, const void *address, char *to, size_t *bytes)
{
    struct hxfi_address a;
    (void)av;
    memcpy(&a, address, sizeof a);
    int n = snprintf(to, *bytes, "hxmesh:%u", a.host);
    *bytes = (size_t)n + 1;
    return to;
}

static int close_vector(struct fid *fid)
{
    struct hxfi_vector *v = (struct hxfi_vector *)fid;
    free(v->host);
    free(v);
    return 0;
}

static int take_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid;
    (void)flags;
    return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

static struct fi_ops life = HXFI_LIFE(close_vector, take_bind, hxfi_no_control);
static struct fi_ops_av ops = {.size = sizeof ops,
                               .insert = insert,
                               .insertsvc = hxfi_no_insert_service,
                               .insertsym = hxfi_no_insert_many,
                               .remove = take_out,
                               .lookup = look_up,
                               .straddr = print};

int hxfi_vector_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context)
{
    (void)domain;
    if (attr && (attr->name || attr->flags & (FI_EVENT | FI_READ | FI_SYMMETRIC)))
        return -FI_ENOSYS;
    struct hxfi_vector *v = calloc(1, sizeof *v);
    if (!v)
        return -FI_ENOMEM;
    if (attr && attr->type == FI_AV_UNSPEC)
        attr->type = FI_AV_TABLE;
    v->fid.fid = (struct fid){.fclass = FI_CLASS_AV, .context = context, .ops = &life};
    v->fid.ops = &ops;
    *av = &v->fid;
    return 0;
}
