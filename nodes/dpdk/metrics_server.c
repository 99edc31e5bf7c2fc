/* metrics_server.c - a small HTTP/1.0 server (metrics_server.h). */
#include "metrics_server.h"
#include "base/error.h"
#include "metrics_page.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 2048, WAITING_CLIENTS = 8, CLIENT_SECONDS = 2, RETRY_US = 100000 };
#define OPTION "--metrics"

struct metrics_server {
    const struct node *node;
    int listening;
    pthread_t thread;
};

/* ---- a client ---- */

/* A client, and the TSC until which it is served. */
struct client {
    int socket;
    uint64_t until;
};

/* Returns false if the time is over first. */
static bool wait_for(const struct client *c, short events)
{
    struct pollfd ready = {.fd = c->socket, .events = events};
    const int64_t left = (int64_t)(c->until - rte_rdtsc());
    return left > 0 && poll(&ready, 1, (int)((uint64_t)left * 1000 / rte_get_tsc_hz()) + 1) > 0;
}

/* Reads the head of a request. Returns false if it does not end in time. */
static bool read_request(const struct client *c, char request[REQUEST_BYTES])
{
    size_t used = 0;
    while (used < REQUEST_BYTES - 1 && wait_for(c, POLLIN)) {
        const ssize_t got = recv(c->socket, request + used, REQUEST_BYTES - 1 - used, MSG_DONTWAIT);
        if (got <= 0)
            return false;
        used += (size_t)got;
        request[used] = 0;
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void send_all(const struct client *c, const char *text, size_t bytes)
{
    while (bytes > 0 && wait_for(c, POLLOUT)) {
        const ssize_t sent = send(c->socket, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            return;
        text += sent;
        bytes -= (size_t)sent;
    }
}

static void send_answer(const struct client *client, const char *status, const char *body, size_t bytes, bool with_body)
{
    char head[256];
    const int used = snprintf(head, sizeof head,
                              "HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                              "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                              status, bytes);
    send_all(client, head, (size_t)used);
    if (with_body)
        send_all(client, body, bytes);
}

static void send_page(const struct client *client, const struct node *n, bool with_body)
{
    char *page = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&page, &bytes);
    if (!out)
        return;
    metrics_page_write(n, out);
    if (fclose(out) == 0)
        send_answer(client, "200 OK", page, bytes, with_body);
    free(page);
}

static bool asks(const char *request, const char *line)
{
    const size_t bytes = strlen(line);
    return strncmp(request, line, bytes) == 0 && (request[bytes] == ' ' || request[bytes] == '?');
}

static void serve(int socket, const struct node *n)
{
    static const char elsewhere[] = "metrics are at /metrics\n";
    const struct client client = {socket, rte_rdtsc() + CLIENT_SECONDS * rte_get_tsc_hz()};
    char request[REQUEST_BYTES];
    if (!read_request(&client, request))
        return;
    if (asks(request, "GET /metrics") || asks(request, "HEAD /metrics"))
        send_page(&client, n, request[0] == 'G');
    else
        send_answer(&client, "404 Not Found", elsewhere, sizeof elsewhere - 1, true);
}

static void *run(void *server)
{
    const struct metrics_server *s = server;
    for (;;) {
        const int client = accept(s->listening, NULL, NULL);
        if (client >= 0) {
            serve(client, s->node);
            (void)close(client);
        } else if (errno == EINVAL) {
            return NULL; /* metrics_server_close() */
        } else {
            rte_delay_us_sleep(RETRY_US);
        }
    }
}

/* ---- start and end ---- */

/* Splits "[ADDRESS:]PORT"; an IPv6 address is in brackets. */
static void split(const char *address, char host[NI_MAXHOST], char port[NI_MAXSERV])
{
    const char *colon = strrchr(address, ':');
    const bool bracket = address[0] == '[' && colon && colon > address && colon[-1] == ']';
    const char *from = bracket ? address + 1 : address;
    const size_t bytes = colon ? (size_t)(colon - from) - bracket : 0;
    if (bytes >= NI_MAXHOST || strlen(colon ? colon + 1 : address) >= NI_MAXSERV)
        hx_die(HX_EXIT_USAGE, OPTION, "'%s' is too long", address);
    (void)snprintf(host, NI_MAXHOST, "%.*s", bytes ? (int)bytes : INT_MAX, bytes ? from : "127.0.0.1");
    (void)snprintf(port, NI_MAXSERV, "%s", colon ? colon + 1 : address);
}

static int listen_at(const char *address)
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    struct addrinfo *at = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    const int one = 1;
    split(address, host, port);
    if (getaddrinfo(host, port, &hints, &at) != 0)
        hx_die(HX_EXIT_USAGE, OPTION, "'%s' is no [ADDRESS:]PORT, as 9464, 10.0.0.7:9464 or [::1]:9464", address);
    const int s = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = s >= 0 && setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                         bind(s, at->ai_addr, at->ai_addrlen) == 0 && listen(s, WAITING_CLIENTS) == 0;
    const int error = errno;
    freeaddrinfo(at);
    if (!listens)
        hx_die(HX_EXIT_ENVIRONMENT, OPTION, "%s: %s", address, strerror(error));
    return s;
}

struct metrics_server *metrics_server_open(const char *address, const struct node *n)
{
    struct metrics_server *s = hx_allocate(1, sizeof *s);
    s->node = n;
    s->listening = listen_at(address);
    if (rte_ctrl_thread_create(&s->thread, "hx-metrics", NULL, run, s) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, "EAL", "no thread for metrics");
    return s;
}

void metrics_server_close(struct metrics_server *s)
{
    if (!s)
        return;
    (void)shutdown(s->listening, SHUT_RDWR);
    (void)pthread_join(s->thread, NULL);
    (void)close(s->listening);
    free(s);
}
