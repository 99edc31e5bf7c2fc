/* support_file.h - files that tests write and the product reads. They are in a folder of the test program in /tmp,
 * with capitals in its name, removed at exit. */
#ifndef HXMESH_TESTS_SUPPORT_FILE_H
#define HXMESH_TESTS_SUPPORT_FILE_H

#include <stdio.h>

enum { FILE_PATH_BYTES = 128 };

/* Path of a file of this name; makes the folder. Valid until the second next call. */
const char *file_path(const char *name);

/* Opens an empty file for writing; the caller closes it. */
FILE *file_create(const char *name);
/* Replaces the file's content; returns file_path(name). */
const char *file_write(const char *name, const void *bytes, size_t count);
const char *file_write_text(const char *name, const char *text);

/* Opens a stream into memory, one at a time. */
FILE *file_begin_text(void);
/* Closes the stream; returns its text, which the caller frees. */
char *file_end_text(void);

#endif
