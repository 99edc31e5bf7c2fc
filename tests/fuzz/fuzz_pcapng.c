/* fuzz_pcapng.c - any bytes as a capture file: the reader, the verifier and the tracer survive them, and a bad file
 * gets a one-line error with a byte offset. libFuzzer's entry; seeds in corpus/pcapng. */
#include "tests/fuzz/fuzz.h"
#include "tools/trace/sums.h"
#include "tools/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void finished(void *context, const struct hx_trace_packet *p)
{
    require(p->count > 0);
    hx_sums_packet(context, p);
}

static void check(const struct hx_capture_frame *s, const struct hx_capture_index *c)
{
    require(s->port < c->port_count && s->captured <= s->original && s->frame > 0);
    static volatile uint8_t last; /* the sanitizer watches this read */
    last = s->captured ? s->bytes[s->captured - 1] : 0;
    (void)last;
}

static void read_all(FILE *in)
{
    static struct hx_trace_sums sums;
    struct hx_capture_index c;
    struct hx_verify v;
    struct hx_trace t;
    struct hx_problem problem = {.what = ""};
    struct hx_capture_frame s;
    bool opened = hx_capture_index_open_file(&c, in, "fuzz", NULL, &problem);
    hx_verify_begin(&v, &c, false, false);
    hx_sums_begin(&sums, &c);
    hx_trace_begin(&t, &c, &(struct hx_trace_filter){.data_only = false}, finished, &sums);
    int more = opened ? 1 : -1;
    while (more > 0 && (more = hx_capture_index_next(&c, &s, &problem)) > 0) {
        check(&s, &c);
        hx_verify_frame(&v, &s);
        hx_trace_frame(&t, &s);
    }
    require(more == 0 || (problem.what[0] != '\0' && !strchr(problem.what, '\n')));
    hx_verify_end(&v);
    hx_trace_end(&t);
    free(hx_sums_messages(&sums));
    (void)hx_sums_quantile(&sums, 0.5);
    hx_trace_free(&t);
    hx_sums_free(&sums);
    hx_verify_free(&v);
    hx_capture_index_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
    require(in != NULL);
    read_all(in);
    (void)fclose(in);
    return 0;
}
