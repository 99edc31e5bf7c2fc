/* text.c - cuts texts (base/text.h). */
#include "base/text.h"
#include "base/error.h"

#include <string.h>

size_t hx_text_length(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length <= most)
        return length;
    length = most;
    while (length > 0 && ((unsigned char)text[length] & 0xC0U) == 0x80U)
        length--;
    return length;
}

char *hx_text_copy(char *to, size_t bytes, const char *text)
{
    size_t length = hx_text_length(text, bytes - 1);
    memcpy(to, text, length);
    to[length] = '\0';
    return to;
}

const char *hx_text_own(const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 0;
    return text ? memcpy(hx_allocate(bytes, 1), text, bytes) : NULL;
}
