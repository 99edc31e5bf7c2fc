/* host_names.c - names of hosts (host_names.h). */
#include "host_names.h"
#include "base/value.h"
#include "workload/host_ip.h"

#include <arpa/inet.h>
#include <string.h>

static const char *print(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host, char between)
{
    struct hx_coordinate at = hx_coordinate_of(g, host);
    (void)snprintf(name, HX_NAME_BYTES, "a%u%c%u", at.addr_hi, between, at.addr_lo);
    return name;
}

const char *host_place(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host)
{
    return print(name, g, host, ',');
}

const char *host_own_name(char name[HX_NAME_BYTES], const struct hx_fabric *g, uint32_t host)
{
    return print(name, g, host, '-');
}

/* Parses h5, a1,2, a1-2 or 1,2. */
static bool parse(const char *name, const struct hx_fabric *g, uint32_t *host)
{
    char why[HX_WHY_TEXT];
    unsigned number;
    const char *rest = name;
    if (hx_name_take(&rest, "h", &number) && !*rest) {
        *host = number;
        return number < g->hosts;
    }
    char place[HX_NAME_BYTES];
    (void)snprintf(place, sizeof place, "%s", name + (*name == 'a'));
    char *dash = strchr(place, '-');
    if (dash && *name == 'a')
        *dash = ',';
    struct hx_coordinate at;
    if (strlen(name) >= sizeof place || hx_value_coordinate(place, &at, why))
        return false;
    *host = hx_host_at(g, at.addr_hi, at.addr_lo);
    return *host != HX_NOWHERE;
}

bool host_parse(const char *name, const struct hx_fabric *g, uint32_t *host, struct hx_problem *problem)
{
    char first[HX_NAME_BYTES];
    return parse(name, g, host) ||
           hx_fail(problem, HX_EXIT_USAGE, name, "is no host of this fabric (%s is one, also as h0; there are %u)",
                   host_place(first, g, 0), (unsigned)g->hosts);
}

static void print_ip(char text[16], uint32_t ip)
{
    (void)snprintf(text, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
}

bool host_names_write(FILE *out, const struct hx_fabric *g, const bool *runs)
{
    fputs("127.0.0.1\tlocalhost\n::1\tlocalhost\n", out);
    for (uint32_t host = 0; host < g->hosts; host++) {
        char ip[16];
        char ip6[INET6_ADDRSTRLEN];
        char own[HX_NAME_BYTES];
        char place[HX_NAME_BYTES];
        if (!runs[host])
            continue;
        print_ip(ip, host_ip(g, host));
        const struct in6_addr address = host_ip6(g, host, HOST_IP6_FABRIC);
        (void)inet_ntop(AF_INET6, &address, ip6, sizeof ip6);
        (void)host_own_name(own, g, host);
        (void)host_place(place, g, host);
        fprintf(out, "%s\t%s %s h%u\n%s\t%s %s h%u\n", ip, own, place, (unsigned)host, ip6, own, place, (unsigned)host);
    }
    return fflush(out) == 0 && !ferror(out);
}
