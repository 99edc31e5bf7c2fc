/* command_line.c - a command line that can be pasted (host/options/command_line.h). */
#include "host/options/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a word to a line as a shell takes it: in quotes, if anything in it means something to a shell. */
static void write_word(FILE *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (*word && word[strspn(word, plain)] == '\0') {
        (void)fputs(word, line);
        return;
    }
    (void)fputc('\'', line);
    for (; *word; word++) {
        if (*word == '\'')
            (void)fputs("'\\''", line);
        else
            (void)fputc(*word, line);
    }
    (void)fputc('\'', line);
}

const char *hx_command_line(const char *program, int argc, char *const *argv)
{
    static char *text;
    size_t bytes;
    free(text);
    text = NULL;
    FILE *line = open_memstream(&text, &bytes);
    if (!line)
        return program;
    (void)fputs(program, line);
    for (int i = 1; i < argc; i++) {
        (void)fputc(' ', line);
        write_word(line, argv[i]);
    }
    return fclose(line) == 0 ? text : program;
}
