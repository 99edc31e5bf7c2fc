/* old_names.h - names that keys of files and figures of reports had in the version before. They are read, with a
 * warning; what is written has the new ones. Old names of options are beside them (.alias, base/options/option.h). */
#ifndef HXMESH_BASE_OLD_NAMES_H
#define HXMESH_BASE_OLD_NAMES_H

/* The new name of an old one; NULL: it is not old. */
const char *hx_old_name(const char *name);

/* The same, with one warning at `where` in this program and those that it starts; of a name that is not old (or NULL)
 * the name itself. */
const char *hx_old_name_read(const char *where, const char *name);

#endif
