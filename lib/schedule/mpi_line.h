/* mpi_line.h - words and numbers of a line of an MPI trace (schedule/mpi.c has the grammar). */
#ifndef SCHEDULE_MPI_LINE_H
#define SCHEDULE_MPI_LINE_H

#include "base/lines.h"

/* A file, and the place in its line where the next word begins. */
struct mpi_line {
    struct hx_lines lines;
    char *at;
};

/* Reads the next line. Returns false at the end, or if line->lines.failed. */
bool mpi_line_next(struct mpi_line *line);
/* Whether the line has no more words; skips spaces. */
bool mpi_line_is_end(struct mpi_line *line);

/* Cuts the next word out of the line. Returns NULL and sets the problem if there is none. `what` is "a call". */
char *mpi_line_word(struct mpi_line *line, const char *what);
/* Skips this word. Returns false and sets nothing if another one is next. */
bool mpi_line_skip(struct mpi_line *line, const char *word);

/* Reads a decimal number up to `most`, and skips `end` behind it: ' ' is a space or the end of the line. `what` is
 * "a rank". Returns false and sets the problem. */
bool mpi_line_number(struct mpi_line *line, const char *what, uint64_t most, char end, uint64_t *number);

#endif
