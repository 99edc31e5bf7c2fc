# sources.mk - sources by folder, and the platform that each is compiled for.

FIRMWARE     := $(wildcard firmware/*.c)
# The parts that need no platform: installed as a library.
FIRMWARE_PURE := $(filter-out firmware/detour.c firmware/endpoint%.c firmware/switch%.c,$(FIRMWARE))
HAL_CABLE    := $(wildcard hal/cable/*.c)
HAL_SIMD     := $(wildcard hal/simd/*.c)
HAL_SHM      := $(wildcard hal/shm/*.c hal/wire/*.c)
HAL_VIRTUAL  := $(filter-out %_mpi.c,$(wildcard hal/virtual/*.c))
HAL_LOOPBACK := $(wildcard hal/loopback/*.c)
HAL_DPDK     := $(wildcard hal/dpdk/*.c)
# Code that host programs share, the lowest room first (docs/architecture.md).
HOST         := $(wildcard $(foreach room,base topology allocation schedule spec,lib/$(room)/*.c lib/$(room)/*/*.c))
WORKLOAD     := $(wildcard lib/workload/*.c)
LIVE         := $(wildcard fabric-emu/live/*.c)
VIRTUAL      := $(wildcard fabric-emu/virtual/*.c)
LIBRARY      := $(wildcard fabric-emu/library/*.c)
EMULATOR     := $(filter-out $(LIVE) $(VIRTUAL) $(LIBRARY),$(wildcard fabric-emu/*.c fabric-emu/*/*.c))
# Code of a program that is a host of a fabric; hal/program is shared with workers.
HAL_PROGRAM  := $(wildcard hal/program/*.c)
PROGRAM      := $(wildcard program/*.c)
PROVIDER     := $(wildcard program/libfabric/*.c)
DPDK_NODE    := $(wildcard nodes/dpdk/*.c)
# Images without an operating system: code for all boards, for one board, and the program.
BARE         := $(wildcard hal/bare/*.c)
RISCV_VIRT   := $(wildcard hal/riscv-virt/*.c)
MPS2         := $(wildcard hal/mps2/*.c)
BARE_NODE    := $(wildcard nodes/bare/*.c)
MPS2_NODE    := $(wildcard nodes/bare/mps2/*.c)
TOOLS        := $(wildcard tools/hxmesh-*.c)
TOOLS_SHARED := $(filter-out $(TOOLS),$(wildcard tools/*.c tools/*/*.c))
# The conformance kit.
KIT          := $(wildcard hal/conformance/*.c)

# Tests. One in a folder shm/, virtual/ or dpdk/ is built for that platform, any other for loopback.
TESTS   := $(wildcard $(foreach kind,unit/test_ unit/*/test_ property/prop_ property/*/prop_,tests/$(kind)*.c))
FUZZERS := $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/*/fuzz_*.c)
# Programs that command line tests use.
HELPERS := $(wildcard tests/system/*.c)
SUPPORT := $(wildcard tests/support/*.c tests/support/*/*.c)
SYSTEM  := $(wildcard tests/system/*.bats)
BENCHES := $(wildcard tests/bench/bench_*.c tests/bench/dpdk/bench_*.c)
BENCHES_SHARED := $(filter-out $(BENCHES),$(wildcard tests/bench/*.c tests/bench/dpdk/*.c))
# Tests that are useful under the thread sanitizer.
TSAN_TESTS := $(addprefix tests/,property/shm/prop_two_workers.c unit/test_loopback_wire.c unit/test_tap_ring.c)

CHECKED := $(TESTS) $(FUZZERS) $(HELPERS) $(SUPPORT)
# $(call below,PLATFORM,FILES): those FILES that are in a folder of that name.
below = $(foreach file,$(2),$(if $(findstring /$(1)/,$(file)),$(file)))
ON_SHM      := $(call below,shm,$(CHECKED))
ON_VIRTUAL  := $(call below,virtual,$(CHECKED))
ON_DPDK     := $(call below,dpdk,$(CHECKED) $(BENCHES) $(BENCHES_SHARED)) $(wildcard tests/dpdk/*.c)
ON_LOOPBACK := $(filter-out $(ON_SHM) $(ON_VIRTUAL) $(ON_DPDK),$(CHECKED))

# Support for the tests of a platform: its own, and that without a platform.
SUPPORT_ANY := $(wildcard tests/support/*.c)
SUPPORT.shm      := $(SUPPORT_ANY) $(call below,shm,$(SUPPORT))
SUPPORT.loopback := $(SUPPORT_ANY) $(call below,loopback,$(SUPPORT))
SUPPORT.virtual  := $(call below,virtual,$(SUPPORT)) tests/support/support_file.c tests/support/support_specs.c
# A world of the conformance kit is no part of the runner.
SUPPORT.dpdk     := $(filter-out %/conformance_port.c,$(call below,dpdk,$(SUPPORT))) tests/support/support_file.c

# Without DPDK, tests and benchmarks that need it are left out.
DPDK := $(shell pkg-config --exists libdpdk 2>/dev/null && echo yes)
ifeq ($(DPDK),)
TESTS   := $(filter-out $(ON_DPDK),$(TESTS))
BENCHES := $(filter-out $(ON_DPDK),$(BENCHES))
endif
# Under the thread sanitizer run only the useful tests, with the support that they need.
ifeq ($(SANITIZE),thread)
TESTS := $(TSAN_TESTS)
SUPPORT.shm      := tests/support/shm/support_shm.c
SUPPORT.loopback :=
endif
TESTS.shm      := $(filter $(ON_SHM),$(TESTS))
TESTS.virtual  := $(filter $(ON_VIRTUAL),$(TESTS))
TESTS.dpdk     := $(filter $(ON_DPDK),$(TESTS))
TESTS.loopback := $(filter $(ON_LOOPBACK),$(TESTS))
