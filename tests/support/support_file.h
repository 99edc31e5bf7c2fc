/* support_file.h - files that tests write and the product reads. They are in a folder of the test program in /tmp,
 * with capitals in its name, removed at exit. */
#ifndef HXMESH_TESTS_SUPPORT_FILE_H
#define HXMESH_TESTS_SUPPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct hx_problem;

enum { FILE_PATH_BYTES = 128 };

/* Path of a file of this name; makes the folder. Valid until the second next call. */
const char *file_path(const char *name);

/* Opens an empty file for writing; the caller closes it. */
FILE *file_create(const char *name);
/* Replaces the file's content; returns file_path(name). */
const char *file_write(const char *name, const void *bytes, size_t count);
const char *file_write_text(const char *name, const char *text);

/* Text of a file that a reader refuses, the place behind the file's path, and the message. */
struct file_refusal {
    const char *text, *where, *what;
};
/* Each text must be refused as a wrong configuration; read() writes it to file_path(name) and reads it. */
void file_refused(const char *name, const struct file_refusal *cases, unsigned count,
                  bool (*read)(const char *text, struct hx_problem *problem));

/* Adds to a text that ends with 0, in `room` bytes. */
__attribute__((format(printf, 3, 4))) void file_add_text(char *text, size_t room, const char *format, ...);

/* Opens a stream into memory, one at a time. */
FILE *file_begin_text(void);
/* Closes the stream; returns its text, which the caller frees. */
char *file_end_text(void);

#endif
