/* interface.c - ioctls on network interfaces (interface.h). */
#include "interface.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int request_ioctl(unsigned long request, const char *name, struct ifreq *r)
{
    (void)snprintf(r->ifr_name, sizeof r->ifr_name, "%s", name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = ioctl(fd, request, r) ? -errno : 0;
    (void)close(fd);
    return error;
}

static bool has_flags(const char *name, int flags)
{
    struct ifreq r = {0};
    return request_ioctl(SIOCGIFFLAGS, name, &r) == 0 && (r.ifr_flags & flags) == flags;
}

bool interface_is_running(const char *name)
{
    return has_flags(name, IFF_UP | IFF_RUNNING);
}

unsigned interface_mtu(const char *name)
{
    struct ifreq r = {0};
    return request_ioctl(SIOCGIFMTU, name, &r) ? 0 : (unsigned)r.ifr_mtu;
}

int interface_set_mtu(const char *name, unsigned mtu)
{
    struct ifreq r = {.ifr_mtu = (int)mtu};
    return request_ioctl(SIOCSIFMTU, name, &r);
}

int interface_set_up(const char *name)
{
    struct ifreq r = {0};
    int error = request_ioctl(SIOCGIFFLAGS, name, &r);
    r.ifr_flags |= IFF_UP;
    return error ? error : request_ioctl(SIOCSIFFLAGS, name, &r);
}

int interface_check(const char *name, unsigned least, unsigned *mtu)
{
    *mtu = interface_mtu(name);
    if (*mtu < least)
        return -EMSGSIZE;
    return has_flags(name, IFF_UP) ? 0 : -ENETDOWN;
}
