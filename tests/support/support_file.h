/* support_file.h - files that tests write and the product reads: in a folder of the test program's own below /tmp, with
 * capitals in its name, which is removed when the program ends. */
#ifndef HXMESH_TESTS_SUPPORT_FILE_H
#define HXMESH_TESTS_SUPPORT_FILE_H

#include <stdio.h>

enum { FILE_PATH_BYTES = 128 };

/* The path of a file of this name in the folder, which is made if need be; valid until the second next call. */
const char *file_path(const char *name);

/* Opened, empty, to be written; the caller closes it. */
FILE *file_create(const char *name);
/* Makes the file hold this and nothing else; returns file_path(name). */
const char *file_write(const char *name, const void *bytes, size_t count);
const char *file_write_text(const char *name, const char *text);

/* A stream into memory, one at a time. */
FILE *file_begin_text(void);
/* Closes it; what was written, for free(). */
char *file_end_text(void);

#endif
