/* communicators.c - numbers of communicators, and the calls that make them (trace.h).
 *
 * A communicator keeps its number as an attribute, which MPI removes with it. Communicators that no function here makes
 * get theirs when they are first used. */
#include "trace.h"

#include <stdlib.h>

static int attribute = MPI_KEYVAL_INVALID;
static int communicators = 1; /* MPI_COMM_WORLD is number 0 */

void trace_open_communicators(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &attribute, NULL);
}

/* Appends the ranks of the communicator as ranks of MPI_COMM_WORLD. */
static void put_ranks(MPI_Comm comm)
{
    MPI_Group world;
    MPI_Group group;
    int size;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    int *own = malloc((size_t)size * 2 * sizeof *own);
    if (!own) {
        PMPI_Abort(MPI_COMM_WORLD, 4);
        return;
    }
    int *of_world = own + size;
    for (int i = 0; i < size; i++)
        own[i] = i;
    PMPI_Group_translate_ranks(group, size, own, world, of_world);
    for (int i = 0; i < size; i++) {
        trace_text(" ");
        trace_number(of_world[i]);
    }
    free(own);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
}

static int define(uint64_t begin, uint64_t end, MPI_Comm comm)
{
    int is_inter;
    int number = TRACE_INTER;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter && trace_line_until(begin, end, "communicator ")) {
        number = communicators++;
        trace_number(number);
        put_ranks(comm);
        trace_end_line();
    }
    PMPI_Comm_set_attr(comm, attribute, (void *)(intptr_t)number);
    return number;
}

int trace_communicator(uint64_t begin, MPI_Comm comm)
{
    void *number;
    int is_known;
    if (comm == MPI_COMM_WORLD)
        return 0;
    PMPI_Comm_get_attr(comm, attribute, (void *)&number, &is_known);
    return is_known ? (int)(intptr_t)number : define(begin, begin, comm);
}

static int made(int error, uint64_t begin, const MPI_Comm *comm)
{
    if (error == MPI_SUCCESS && *comm != MPI_COMM_NULL && trace_on())
        (void)define(begin, trace_now(), *comm);
    return error;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_dup(comm, copy), begin, copy);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *copy)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_dup_with_info(comm, info, copy), begin, copy);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_split(comm, color, key, part), begin, part);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_split_type(comm, type, key, info, part), begin, part);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *part)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_create(comm, group, part), begin, part);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *part)
{
    uint64_t begin = trace_now();
    return made(PMPI_Comm_create_group(comm, group, tag, part), begin, part);
}

int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder, MPI_Comm *grid)
{
    uint64_t begin = trace_now();
    return made(PMPI_Cart_create(comm, dimensions, sizes, periods, reorder, grid), begin, grid);
}

int MPI_Cart_sub(MPI_Comm comm, const int kept[], MPI_Comm *part)
{
    uint64_t begin = trace_now();
    return made(PMPI_Cart_sub(comm, kept, part), begin, part);
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *graph)
{
    uint64_t begin = trace_now();
    return made(PMPI_Graph_create(comm, nodes, index, edges, reorder, graph), begin, graph);
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *graph)
{
    uint64_t begin = trace_now();
    return made(PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder, graph), begin, graph);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
                                   const int targets[], const int target_weights[], MPI_Info info, int reorder,
                                   MPI_Comm *graph)
{
    uint64_t begin = trace_now();
    return made(PMPI_Dist_graph_create_adjacent(comm, in, sources, source_weights, out, targets, target_weights, info,
                                                reorder, graph),
                begin, graph);
}
