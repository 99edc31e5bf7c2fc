/* eflops.h - what of EFLOPS' experiments (Dong et al., HPCA 2020) has a test of its own. */
#ifndef HXMESH_TOOLS_REPRODUCE_EFLOPS_H
#define HXMESH_TOOLS_REPRODUCE_EFLOPS_H

/* Steps of an all-reduce of n hosts by "ring" or "halving", one after the other; n is a power of two. */
unsigned eflops_steps(const char *algorithm, unsigned n);

#endif
