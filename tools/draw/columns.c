/* columns.c - table columns chosen by the user (tools/draw/columns.h). */
#include "tools/draw/columns.h"
#include "base/error.h"

#include <string.h>

void columns_read(struct columns *c, const char *text)
{
    *c = (struct columns){.count = 0};
    for (;;) {
        size_t length = strcspn(text, ",");
        if (c->count == COLUMNS_MOST)
            hx_die(HX_EXIT_USAGE, "--columns", "more than %d columns", COLUMNS_MOST);
        if (length == 0 || length >= COLUMNS_WORD)
            hx_die(HX_EXIT_USAGE, "--columns", "'%.60s' is no list of columns (write for example planes,links)", text);
        (void)snprintf(c->word[c->count++], COLUMNS_WORD, "%.*s", (int)length, text);
        if (!text[length])
            return;
        text += length + 1;
    }
}

void columns_say_left_out(const char *const *words, unsigned count, unsigned gone, FILE *out)
{
    if (gone == 0)
        return;
    static const char choose[] = "(--columns)";
    int used = fprintf(out, "\n  not shown:") - 1;
    for (unsigned i = count - gone; i <= count; i++) {
        const char *word = i < count ? words[i] : choose;
        if (used + 1 + (int)strlen(word) > TEXT_TABLE_WIDTH)
            used = fprintf(out, "\n   ") - 1;
        used += fprintf(out, " %s", word);
    }
    fputc('\n', out);
}
