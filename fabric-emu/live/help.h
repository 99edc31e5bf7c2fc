/* help.h - what `hxmesh --help` says of all verbs, in each format. */
#ifndef HELP_H
#define HELP_H

#include "base/options/options.h"

/* A verb. Those that need a running fabric, or make one, are built in; the others are programs of their own. */
struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: hxmesh-NAME */
    const char *help;
};

/* `verbs` ends with one that has no name. */
void help_print(const struct verb *verbs, enum hx_help_format format, FILE *out);

/* The manual page of fabric files, hxmesh-fabric(5). */
void help_print_fabric_page(FILE *out);

#endif
