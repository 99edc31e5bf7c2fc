/* help.h - `hxmesh --help` over all verbs, in each format. */
#ifndef HELP_H
#define HELP_H

#include "base/options/options.h"

/* A verb. Verbs that use or make a running fabric are built in, others are programs. */
struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: hxmesh-NAME */
    const char *help;
};

/* Prints the help; `verbs` ends with an entry without name. */
void help_print(const struct verb *verbs, enum hx_help_format format, FILE *out);

/* The manual page of fabric files, hxmesh-fabric(5). */
void help_print_fabric_page(FILE *out);

#endif
