/* fuzz_training_model.c - any text as a model is refused in one line with a place, or is a model with numbers in their
 * ranges; a small one has a schedule. libFuzzer's entry; seeds in corpus/training_model. */
#include "schedule/training/generate.h"
#include "schedule/training/memory.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, SMALL = 20000 /* ranks x layers x micro-batches */ };

static bool is_refused(const struct hx_problem *problem)
{
    return problem->exit_code != 0 && strncmp(problem->where, "x.yaml", 6) == 0 && problem->what[0] &&
           !strchr(problem->what, '\n');
}

static void require_ranges(const struct training_model *m)
{
    uint64_t replicas = (uint64_t)m->parallel[TRAINING_CONTEXT] * m->parallel[TRAINING_DATA];
    uint64_t batches = (uint64_t)m->parallel[TRAINING_DATA] * m->micro_batches;
    require(training_ranks(m) >= 1 && training_ranks(m) <= SCHEDULE_MOST_RANKS && replicas % m->expert == 0);
    require(m->layers >= 1 && m->samples % batches == 0 && training_micro_samples(m) >= 1);
    require(m->zero <= 3 && m->iterations >= 1 && m->chunks >= 1 && m->efficiency > 0 && m->efficiency <= 1);
    for (uint32_t i = 0; i < m->layers; i++) {
        const struct training_layer *l = &m->layer[i];
        require(l->name[0] && l->shard < TRAINING_SHARDS && training_own_parameters(m, l) <= TRAINING_MOST_BYTES);
        require(training_forward_ps(m, l) <= SCHEDULE_MOST_TIME && training_backward_ps(m, l) <= SCHEDULE_MOST_TIME);
        require(!m->stage_of || m->stage_of[i] < m->parallel[TRAINING_PIPELINE] * m->chunks);
        require(!m->stage_of || !i || m->stage_of[i] - m->stage_of[i - 1] <= 1);
    }
}

/* A schedule, or a reason against it: fewer layers than stages, too large a message or time. */
static void require_schedule(const struct training_model *m)
{
    struct hx_problem problem = {.what = ""};
    struct schedule_builder *b = training_generate(m, NULL, &problem);
    struct schedule *s = b ? schedule_build(b, "x.yaml", &problem) : NULL;
    require(s ? schedule_ranks(s) == training_ranks(m) : is_refused(&problem));
    schedule_close(s);
}

/* Memory of each stage, or fewer layers than stages. */
static void require_memory(const struct training_model *m)
{
    struct hx_problem problem = {.what = ""};
    struct training_memory *memory = hx_allocate(m->parallel[TRAINING_PIPELINE], sizeof *memory);
    if (training_memory_find(m, memory, &problem)) {
        const struct training_memory *most = &memory[training_memory_most(m, memory)];
        require(most->total >= most->weights && most->total >= most->activations && most->total >= m->reserved);
    } else {
        require(is_refused(&problem));
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct schedule_read_options none = {.ranks = 0};
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST)
        return 0;
    struct training_model *m = training_model_parse("x.yaml", (const char *)data, size, &none, &problem);
    require(m || is_refused(&problem));
    if (m)
        require_ranges(m);
    if (m && (uint64_t)training_ranks(m) * m->layers * m->micro_batches <= SMALL) {
        require_schedule(m);
        require_memory(m);
    }
    training_model_free(m);
    return 0;
}
