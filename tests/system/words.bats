# words.bats - mk/words.sh finds banned words in every place where a reader meets them.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# found FILE: what is found there, without the word to use.
found() {
    "$BATS_TEST_DIRNAME/../../mk/words.sh" "$1" | sed 's/ -> .*//'
}

@test "banned words are found in comments, messages, keys, option names and identifiers" {
    cat >words.c <<'FILE'
#include "porter.h"
/* The porter waits. */
static struct hx_comer COMER;
    say("--porter", "the porter waits", "old-porter", 'x');
FILE
    [ "$(found words.c)" = "words.c:2: porter
words.c:3: hx_comer: comer*
words.c:3: COMER: comer*
words.c:4: --porter: porter
words.c:4: old-porter: porter
words.c:4: porter" ]
}

@test "words that others gave a name, parts of words and code in comments are no banned words" {
    cat >words.c <<'FILE'
/* `porter` and importer. */
json(nap, "nap", importer, seldomness);
FILE
    [ "$(found words.c)" = "" ]
}
