/* netns.c - namespaces of hosts (netns.h). */
#include "netns.h"
#include "descriptors.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    QUEUE = 10000, /* packets queued in an interface: more than a TCP sender's window */
    MOST_PATH = 4096
};

/* ---- the fabric ---- */

static bool write_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    if (fd >= 0)
        (void)close(fd);
    return good;
}

static bool keep_open(const char *path, int at)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && (fd == at || dup3(fd, at, O_CLOEXEC) == at);
    if (fd >= 0 && fd != at)
        (void)close(fd);
    return good;
}

/* Maps this user to root, and no other user. */
static bool become_root(uid_t user, gid_t group)
{
    char users[32];
    char groups[32];
    (void)snprintf(users, sizeof users, "0 %u 1", (unsigned)user);
    (void)snprintf(groups, sizeof groups, "0 %u 1", (unsigned)group);
    return write_line("/proc/self/setgroups", "deny") && write_line("/proc/self/uid_map", users) &&
           write_line("/proc/self/gid_map", groups);
}

static bool make_user(struct hx_problem *problem)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER) != 0)
        return user == 0 || hx_fail(problem, HX_EXIT_ENVIRONMENT, "user namespaces",
                                    "are refused here: %s (allow them, by sysctl user.max_user_namespaces or "
                                    "kernel.unprivileged_userns_clone, or be root)",
                                    strerror(errno));
    if (!become_root(user, group))
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/proc/self/uid_map", "cannot be written: %s", strerror(errno));
    (void)prctl(PR_SET_DUMPABLE, 1); /* else this user's processes may not enter */
    return keep_open("/proc/self/ns/user", NETNS_USER) ||
           hx_fail(problem, HX_EXIT_ENVIRONMENT, "user namespace", "cannot be kept open: %s%s", strerror(errno),
                   descriptors_advice(errno));
}

bool netns_make(const char *names, struct hx_problem *problem)
{
    if (!make_user(problem))
        return false;
    if (unshare(CLONE_NEWNS) != 0 || !keep_open("/proc/self/ns/mnt", NETNS_MOUNT) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "mount namespace", "cannot be made: %s", strerror(errno));
    if (mount(names, "/etc/hosts", NULL, MS_BIND, NULL) != 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/etc/hosts", "cannot be the fabric's: %s", strerror(errno));
    return true;
}

/* ---- a host ---- */

/* Whether this net namespace has IPv6. Where the machine has switched it off, /proc says so. */
static bool has_ip6(void)
{
    char off = '1';
    int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && read(fd, &off, 1) == 1;
    if (fd >= 0)
        (void)close(fd);
    return known && off == '0';
}

static void put_ip(struct ifreq *r, uint32_t ip)
{
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip)};
    memcpy(&r->ifr_addr, &address, sizeof address);
}

static int set(int fd, unsigned long request, const char *interface, struct ifreq *r)
{
    (void)snprintf(r->ifr_name, sizeof r->ifr_name, "%s", interface);
    return ioctl(fd, request, r);
}

static int set_up(int fd, const char *interface)
{
    struct ifreq r = {.ifr_flags = IFF_UP};
    return set(fd, SIOCSIFFLAGS, interface, &r);
}

static int set_all(int fd, const struct netns_host *host)
{
    struct ifreq ip = {0};
    struct ifreq mask = {0};
    struct ifreq mtu = {.ifr_mtu = (int)host->mtu};
    put_ip(&ip, host->ip);
    put_ip(&mask, UINT32_MAX << (32 - host->prefix));
    return set(fd, SIOCSIFADDR, NETNS_INTERFACE, &ip) || set(fd, SIOCSIFNETMASK, NETNS_INTERFACE, &mask) ||
           set(fd, SIOCSIFMTU, NETNS_INTERFACE, &mtu) || set_up(fd, NETNS_INTERFACE) || set_up(fd, "lo");
}

/* Settings that a user namespace's root may only make by netlink: queue length, and no automatic IPv6 address.
 * Attribute lengths exclude padding. */
struct ask {
    struct nlmsghdr header;
    struct ifinfomsg link;
    struct rtattr queue;
    uint32_t packets;
    struct rtattr families, ip6, mode;
    uint8_t none;
};

int netns_ask(int fd, const void *request, size_t bytes)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } answer;
    ssize_t sent = send(fd, request, bytes, 0);
    ssize_t received = sent == (ssize_t)bytes ? recv(fd, &answer, sizeof answer, 0) : 0;
    if (sent < 0 || received < 0)
        return errno;
    if (received < (ssize_t)(sizeof answer.header + sizeof answer.error) || answer.header.nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    return -answer.error.error;
}

static int ask_for_link(int fd)
{
    struct ask ask = {
        .header = {.nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(NETNS_INTERFACE)},
        .queue = {.rta_len = RTA_LENGTH(sizeof ask.packets), .rta_type = IFLA_TXQLEN},
        .packets = QUEUE,
        .families = {.rta_len = 3 * sizeof(struct rtattr) + sizeof ask.none, .rta_type = IFLA_AF_SPEC},
        .ip6 = {.rta_len = 2 * sizeof(struct rtattr) + sizeof ask.none, .rta_type = AF_INET6},
        .mode = {.rta_len = sizeof(struct rtattr) + sizeof ask.none, .rta_type = IFLA_INET6_ADDR_GEN_MODE},
        .none = IN6_ADDR_GEN_MODE_NONE};
    ask.header.nlmsg_len = has_ip6() ? sizeof ask : offsetof(struct ask, families);
    return netns_ask(fd, &ask, ask.header.nlmsg_len);
}

static int set_by_netlink(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int error = fd < 0 ? errno : ask_for_link(fd);
    if (fd >= 0)
        (void)close(fd);
    return error;
}

/* A TUN interface has no neighbour discovery and no duplicate address detection. */
static int add_ip6(const struct netns_host *host)
{
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? errno : 0;
    for (unsigned i = 0; !error && i < NETNS_IP6S; i++) {
        const struct in6_ifreq r = {.ifr6_addr = host->ip6[i],
                                    .ifr6_prefixlen = host->prefix6,
                                    .ifr6_ifindex = (int)if_nametoindex(NETNS_INTERFACE)};
        error = ioctl(fd, SIOCSIFADDR, &r) ? errno : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    return error;
}

static int configure(const struct netns_host *host)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? errno : set_by_netlink();
    if (!error && set_all(fd, host))
        error = errno;
    if (!error && has_ip6())
        error = add_ip6(host);
    if (fd >= 0)
        (void)close(fd);
    return error;
}

/* The interface outlives its descriptor and ends with its namespace, so that the kernel removes many together. Without
 * TUNSETPERSIST each close() would block up to 0.1 s. */
static int open_interface(const struct netns_host *host, struct hx_problem *problem)
{
    static const char device[] = "/dev/net/tun";
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int fd = open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, device, "cannot be opened: %s (hosts need it for their interface)",
                      strerror(errno));
        return -1;
    }
    int error = set(fd, TUNSETIFF, NETNS_INTERFACE, &r) || ioctl(fd, TUNSETPERSIST, 1) ? errno : configure(host);
    if (!error)
        return fd;
    (void)close(fd);
    (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, NETNS_INTERFACE, "of %s cannot be made: %s", host->name,
                  strerror(error));
    return -1;
}

static int first_of(uint32_t host)
{
    return (int)(NETNS_FIRST + NETNS_OF_HOST * host);
}

int netns_make_host(const struct netns_host *host, struct hx_problem *problem)
{
    int at = first_of(host->number);
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0 || sethostname(host->name, strlen(host->name)) != 0 ||
        !keep_open("/proc/self/ns/net", at) || !keep_open("/proc/self/ns/uts", at + 1)) {
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, host->name, "cannot have namespaces: %s%s", strerror(errno),
                      descriptors_advice(errno));
        return -1;
    }
    return open_interface(host, problem);
}

/* ---- processes ---- */

static bool are_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Closes fd. Returns a descriptor of the parent namespace; -1: none that this process may see. */
static int parent_of(int fd)
{
    int above = ioctl(fd, NS_GET_PARENT);
    (void)close(fd);
    return above;
}

static bool is_below_user(const char *pid)
{
    char path[64];
    struct stat own;
    struct stat user;
    bool found = false;
    (void)snprintf(path, sizeof path, "/proc/%s/ns/user", pid);
    bool known = fstat(NETNS_USER, &own) == 0;
    for (int fd = known ? open(path, O_RDONLY | O_CLOEXEC) : -1; fd >= 0; fd = parent_of(fd))
        found = found || (fstat(fd, &user) == 0 && are_same(&user, &own));
    return found;
}

static bool is_mounted_here(const char *pid)
{
    char path[64];
    struct stat own;
    struct stat there;
    (void)snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
    return fstat(NETNS_MOUNT, &own) == 0 && stat(path, &there) == 0 && are_same(&own, &there);
}

static bool is_in_net(uint32_t hosts, const char *pid)
{
    char path[64];
    struct stat net;
    struct stat own;
    (void)snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    if (stat(path, &net) != 0)
        return false;
    for (uint32_t host = 0; host < hosts; host++) {
        if (fstat(first_of(host), &own) == 0 && are_same(&own, &net))
            return true;
    }
    return false;
}

unsigned netns_signal(uint32_t hosts, int number)
{
    unsigned found = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *e = processes ? readdir(processes) : NULL; e; e = readdir(processes)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() ||
            !(is_below_user(e->d_name) || is_mounted_here(e->d_name) || is_in_net(hosts, e->d_name)))
            continue;
        found++;
        (void)kill(pid, number);
    }
    if (processes)
        (void)closedir(processes);
    return found;
}

/* ---- entering ---- */

/* Returns 1: entered; 0: already inside; -1: error. */
static int enter(const char *path, const char *own, int kind)
{
    struct stat there;
    struct stat here;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && fstat(fd, &there) == 0 && stat(own, &here) == 0;
    int entered = known && are_same(&there, &here) ? 0 : known && setns(fd, kind) == 0 ? 1 : -1;
    if (fd >= 0)
        (void)close(fd);
    return entered;
}

static void print_path(char path[64], pid_t netns_holder, int fd)
{
    (void)snprintf(path, 64, "/proc/%d/fd/%d", (int)netns_holder, fd);
}

bool netns_has(pid_t netns_holder, uint32_t host)
{
    char path[64];
    print_path(path, netns_holder, first_of(host));
    return access(path, R_OK) == 0;
}

bool netns_enter(pid_t netns_holder, uint32_t host, struct hx_problem *problem)
{
    char folder[MOST_PATH];
    char path[4][64];
    (void)snprintf(path[0], sizeof path[0], "/proc/%d/ns/user", (int)netns_holder);
    print_path(path[1], netns_holder, first_of(host));
    print_path(path[2], netns_holder, first_of(host) + 1);
    (void)snprintf(path[3], sizeof path[3], "/proc/%d/ns/mnt", (int)netns_holder);
    bool known = getcwd(folder, sizeof folder) != NULL;
    if (enter(path[0], "/proc/self/ns/user", CLONE_NEWUSER) < 0 ||
        enter(path[1], "/proc/self/ns/net", CLONE_NEWNET) < 0 ||
        enter(path[2], "/proc/self/ns/uts", CLONE_NEWUTS) < 0 || enter(path[3], "/proc/self/ns/mnt", CLONE_NEWNS) < 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "the namespaces of host h%u cannot be entered: %s",
                       (unsigned)host, strerror(errno));
    if (!known || chdir(folder) != 0)
        (void)chdir("/");
    return true;
}
