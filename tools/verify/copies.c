/* copies.c - packets that a link may have repeated (tools/verify/copies.h). */
#include "tools/verify/copies.h"

struct count {
    struct hx_crossing crossing;
    uint32_t sent, copied;
};

struct made {
    struct hx_key key;
    uint64_t count;
};

static struct hx_table crossings(void)
{
    return hx_table_make(sizeof(struct hx_crossing), sizeof(struct count));
}

void hx_copies_begin(struct hx_copies *c)
{
    *c = (struct hx_copies){
        .recent = crossings(), .older = crossings(), .made = hx_table_make(sizeof(struct hx_key), sizeof(struct made))};
}

void hx_copies_free(struct hx_copies *c)
{
    hx_table_free(&c->recent);
    hx_table_free(&c->older);
    hx_table_free(&c->made);
}

void hx_copies_note(struct hx_copies *c, const struct hx_crossing *one)
{
    ((struct count *)hx_table_find_or_add(&c->recent, one))->sent++;
}

bool hx_copies_take(struct hx_copies *c, const struct hx_crossing *one)
{
    struct count *recent = hx_table_find(&c->recent, one);
    struct count *older = hx_table_find(&c->older, one);
    struct count *of = recent && recent->copied < recent->sent ? recent : older;
    if (!of || of->copied == of->sent)
        return false;
    of->copied++;
    c->count++;
    hx_copies_allow(c, &one->key);
    return true;
}

void hx_copies_allow(struct hx_copies *c, const struct hx_key *key)
{
    ((struct made *)hx_table_find_or_add(&c->made, key))->count++;
}

bool hx_copies_are_due(const struct hx_copies *c, uint64_t time_ns, uint64_t while_ns)
{
    return time_ns > c->turned_ns && time_ns - c->turned_ns > while_ns;
}

void hx_copies_turn(struct hx_copies *c, uint64_t time_ns)
{
    hx_table_free(&c->older);
    c->older = c->recent;
    c->recent = crossings();
    c->turned_ns = time_ns;
}

unsigned hx_copies_of(const struct hx_copies *c, const struct hx_key *key)
{
    const struct made *known = hx_table_find(&c->made, key);
    return known ? (unsigned)known->count : 0;
}
