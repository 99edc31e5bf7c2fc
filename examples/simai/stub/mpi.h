/* mpi.h - empty: SimAI includes a header of this name beside that of ns-3, and uses nothing of it. */
