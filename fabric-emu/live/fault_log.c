/* fault_log.c - a file in memory of begun faults (fault_log.h). */
#include "fault_log.h"
#include "taps.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static off_t place_of(uint64_t number)
{
    return (off_t)(number * sizeof(struct fault_entry));
}

int fault_log_make(struct fab_control *control)
{
    int log = memfd_create("hxmesh-faults", MFD_CLOEXEC);
    if (log < 0)
        return -errno;
    atomic_store(&control->faults.begun, 0);
    atomic_store(&control->faults.settled, 0);
    control->faults.file = slot_word(0, getpid(), log);
    return log;
}

uint64_t fault_log_add(struct fab_control *control, int log, const struct fault_entry *entry)
{
    uint64_t number = atomic_load(&control->faults.begun);
    if (pwrite(log, entry, sizeof *entry, place_of(number)) != (ssize_t)sizeof *entry)
        return FAULT_NOT_LOGGED;
    atomic_store(&control->faults.begun, number + 1);
    return number;
}

/* Cannot lack memory: the entry is there. */
static void rewrite(int log, uint64_t number, size_t field, uint64_t value)
{
    if (number != FAULT_NOT_LOGGED)
        (void)!pwrite(log, &value, sizeof value, place_of(number) + (off_t)field);
}

void fault_log_end(int log, uint64_t number, uint64_t over_ns)
{
    rewrite(log, number, offsetof(struct fault_entry, over_ns), over_ns);
}

void fault_log_followed(int log, uint64_t number, uint64_t followed_ns)
{
    rewrite(log, number, offsetof(struct fault_entry, followed_ns), followed_ns);
}

void fault_log_settle(struct fab_control *control, uint64_t unfollowed)
{
    uint64_t begun = atomic_load(&control->faults.begun);
    atomic_store(&control->faults.settled, unfollowed < begun ? unfollowed : begun);
}

int fault_log_open(const struct fab_control *control)
{
    int log = slot_open(control->faults.file);
    return log < 0 ? -errno : log;
}

bool fault_log_read(int log, uint64_t number, struct fault_entry *entry)
{
    if (pread(log, entry, sizeof *entry, place_of(number)) != (ssize_t)sizeof *entry)
        return false;
    entry->line[sizeof entry->line - 1] = '\0';
    return true;
}
