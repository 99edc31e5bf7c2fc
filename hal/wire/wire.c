/* wire.c - closes a wire of any kind (wire.h). */
#include "wire.h"

#include <unistd.h>

void wire_close(struct wire *w)
{
    if (!w->kind)
        return;
    wire_drop(w);
    if (w->kind->end)
        w->kind->end(w);
    (void)close(w->fd);
    *w = (struct wire){.fd = -1};
}
