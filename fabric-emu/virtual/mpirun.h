/* mpirun.h - `hxmesh run --mpi`: starts ranks by mpirun, and waits for their end. */
#ifndef VIRTUAL_MPIRUN_H
#define VIRTUAL_MPIRUN_H

#include "fabric-emu/run_options.h"

/* Runs hxmesh-virtual-mpi as o->ranks say, with the arguments behind argv[0]. The signals of launch_block_signals() are
 * blocked. Dies if mpirun cannot start so many ranks. Returns the exit code. */
int mpirun_run(const struct run_options *o, char **argv);

/* Worker `self` says to mpirun_run() that all have joined: they then take signals. */
void mpirun_tell_begun(unsigned self);

#endif
