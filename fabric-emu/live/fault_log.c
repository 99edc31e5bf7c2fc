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

void fault_log_end(int log, uint64_t number, uint64_t over_ns)
{
    off_t at = place_of(number) + (off_t)offsetof(struct fault_entry, over_ns);
    if (number != FAULT_NOT_LOGGED)
        (void)!pwrite(log, &over_ns, sizeof over_ns, at); /* cannot lack memory: the entry is there */
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
