# tests.mk - test programs, and `make check` and its parts.
#
# All unit and property tests of a platform are one program, test-PLATFORM (tests/runner/runner.c). `make check` is the
# test of a change: every unit and property test, those of a platform again under sanitizers with fewer cases, and a
# command line test of everything that a user meets. `make check-all` adds full counts, long tests, all platforms and
# command lines under sanitizers.

# $(call suites,PLATFORM): the names of a platform's tests for its runner.
suites = $(patsubst tests/%.c,%,$(TESTS.$(1)))
RUN_PLATFORMS := $(foreach platform,loopback shm virtual dpdk,$(if $(TESTS.$(platform)),$(platform)))
RUNNERS := $(RUN_PLATFORMS:%=$(BUILD)/test-%)

# "SUITE(SYMBOL, NAME)" for each test; the runner includes it.
$(BUILD)/%/suites.h: always
	@$(call write_if_new,$(foreach test,$(TESTS.$*),SUITE($(call suite_symbol,$(test)), "$(patsubst tests/%.c,%,$(test))")))
$(foreach platform,$(RUN_PLATFORMS),$(BUILD)/$(platform)/tests/runner/runner.o): $(BUILD)/%/tests/runner/runner.o: $(BUILD)/%/suites.h

# $(call of_runner,PLATFORM): the objects of a runner. Runners link fast, from the plain code of their objects.
of_runner = $(call objects,$(1),tests/runner/runner.c $(TESTS.$(1)) $(SUPPORT.$(1)))
$(RUNNERS): LDLIBS += -lcmocka
$(RUNNERS): LDFLAGS += -fno-lto
# Loopback also tests the code of images that can run on the host.
$(BUILD)/test-loopback: $(call of_runner,loopback) $(call objects,loopback,hal/bare/device_tree.c) $(LIB_TOOLS) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)
$(BUILD)/test-shm: $(call of_runner,shm) $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_TOOLS) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_SHM) $(LIB_PROGRAM)
	$(LINK)
$(BUILD)/test-virtual: $(call of_runner,virtual) $(LIB_VIRTUAL_EMULATOR) $(LIB_EMULATOR) $(LIB_TOOLS) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_VIRTUAL)
	$(LINK)
$(BUILD)/test-dpdk: LDLIBS += $(DPDK_LIBS)
$(BUILD)/test-dpdk: $(call of_runner,dpdk) $(LIB_DPDK_NODE) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)

# TURN: sanitizers of platforms take turns in `make check`, by the commit's name. check-all and its parts have all.
TURN ?= $(shell mk/turn.sh 3)
TURN.1 := loopback
TURN.2 := shm
TURN.3 := virtual dpdk
IN_TURN := $(filter $(TURN.$(TURN)),$(RUN_PLATFORMS))
TSAN_TURN := 3

# $(call programs,SOURCES): fuzz targets and programs for command line tests.
programs = $(patsubst tests/%.c,$(BUILD)/tests/%,$(1))
FUZZ_ENGINE  ?= replay
FUZZ_MAIN    := $(if $(filter replay,$(FUZZ_ENGINE)),$(BUILD)/plain/tests/fuzz/replay.o)
FUZZ_LDFLAGS := $(if $(filter libfuzzer,$(FUZZ_ENGINE)),-fsanitize=fuzzer)
$(call programs,$(FUZZERS)): $(FUZZ_MAIN)
$(call programs,$(FUZZERS)): LDFLAGS += $(FUZZ_LDFLAGS)
$(call programs,$(FUZZERS) $(HELPERS)): LDLIBS += -lcmocka
$(call programs,$(FUZZERS) $(HELPERS)): LDFLAGS += -fno-lto
$(call programs,$(filter $(ON_SHM),$(FUZZERS))): $(BUILD)/tests/%: $(BUILD)/shm/tests/%.o \
    $(call objects,shm,$(SUPPORT.shm)) $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_TOOLS) $(LIB_HOST) $(LIB_SHM)
	$(LINK)
$(call programs,$(filter $(ON_LOOPBACK),$(FUZZERS) $(HELPERS))): $(BUILD)/tests/%: $(BUILD)/loopback/tests/%.o \
    $(call objects,loopback,$(SUPPORT.loopback)) $(LIB_TOOLS) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)
# A user's program links only this library.
$(BUILD)/tests/system/exchange: $(LIB_PROGRAM)

# Programs of MPI and of libfabric, if these are installed.
OF_A_USER := -std=c11 -D_GNU_SOURCE -g -O2 $(WARNINGS) -Werror
MPI_PROGRAMS := $(if $(MPICC),$(patsubst tests/mpi/%.c,$(BUILD)/tests/mpi/%,$(wildcard tests/mpi/*.c)))
$(BUILD)/tests/mpi/%: tests/mpi/%.c mk/tests.mk
	@mkdir -p $(@D)
	$(if $(Q),@echo "  MPI  $@")
	$(Q)$(MPICC) $(OF_A_USER) $< -o $@
LIBFABRIC_PROGRAMS := $(if $(LIBFABRIC_PROVIDER),$(patsubst tests/libfabric/%.c,$(BUILD)/tests/libfabric/%,$(wildcard tests/libfabric/*.c)))
$(BUILD)/tests/libfabric/%: tests/libfabric/%.c mk/tests.mk
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK $@")
	$(Q)$(CC) $(OF_A_USER) $< -o $@ $$(pkg-config --cflags --libs libfabric)

# Preloaded into hxmesh-dpdk.
DPDK_NICS := $(if $(DPDK),$(patsubst tests/dpdk/%.c,$(BUILD)/tests/dpdk/%.so,$(wildcard tests/dpdk/*.c)))
$(BUILD)/tests/dpdk/%.so: tests/dpdk/%.c mk/tests.mk
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK $@")
	$(Q)$(CC) $(OF_A_USER) -fPIC -shared $< -o $@ $$(pkg-config --cflags libdpdk | sed "s/-I/-isystem /g")

# Programs that use libhxmesh-sim as an installed library.
LIBRARY_PROGRAMS := $(patsubst tests/library/%.c,$(BUILD)/tests/library/%,$(wildcard tests/library/*.c))
$(BUILD)/tests/library/%: tests/library/%.c $(BUILD)/libhxmesh-sim.so mk/tests.mk
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK $@")
	$(Q)$(CC) $(OF_A_USER) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Iinclude $< -L$(BUILD) -Wl,-rpath,$(abspath $(BUILD)) -lhxmesh-sim -lcmocka -pthread -o $@

# The conformance kit on each platform: on the example port without a suffix. hal/conformance/Makefile builds it for any
# other port.
KITS := $(addprefix $(BUILD)/tests/conformance,-shm -virtual $(if $(DPDK),-dpdk))
$(KITS): LDFLAGS += -fno-lto
$(BUILD)/tests/conformance: $(call objects,loopback,$(KIT)) $(LIB_LOOPBACK)
	$(LINK)
$(BUILD)/tests/conformance-shm: $(call objects,shm,$(KIT)) $(LIB_SHM) $(LIB_HOST)
	$(LINK)
$(BUILD)/tests/conformance-virtual: $(call objects,virtual,$(KIT)) $(LIB_VIRTUAL) $(LIB_HOST)
	$(LINK)
$(BUILD)/tests/conformance-dpdk: LDLIBS += $(DPDK_LIBS)
$(BUILD)/tests/conformance-dpdk: $(call objects,dpdk,$(KIT) tests/support/dpdk/conformance_port.c tests/support/dpdk/support_dpdk.c) \
    $(LIB_DPDK_NODE) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)

.PHONY: runners fuzz-programs test-programs tsan-runners
runners: $(RUNNERS)
	@:
fuzz-programs: $(call programs,$(FUZZERS))
	@:
test-programs: $(RUNNERS) $(call programs,$(HELPERS)) $(BUILD)/tests/conformance $(KITS) $(IMAGE_CORTEX_M) $(MPI_PROGRAMS) $(VIRTUAL_MPI) $(LIBFABRIC_PROGRAMS) $(DPDK_NICS) $(LIBRARY_PROGRAMS) \
    $(BUILD)/bench/bench_choice $(if $(DPDK),$(BUILD)/bench/dpdk/bench_dpdk)
	@:
tsan-runners: $(sort $(foreach platform,$(RUN_PLATFORMS),$(if $(filter $(TSAN_TESTS),$(TESTS.$(platform))),$(BUILD)/test-$(platform))))
	@:

# ---- runs ---------------------------------------------------------------------------------------------------------

# A run is PROGRAM@WHAT: a runner and its suite, a fuzz target and its corpus, or $(BUILD)/hxmesh and a .bats file that
# tests its command line. mk/run-tests.sh runs them.
runs_in = $(foreach platform,$(or $(3),$(RUN_PLATFORMS)),$(addprefix $(1)/test-$(platform)@,$(patsubst tests/%.c,%,$(filter $(2),$(TESTS.$(platform))))))
PLAIN_RUNS := $(call runs_in,$(BUILD),$(TESTS)) $(SYSTEM:%=$(BUILD)/hxmesh@%)
runs_of_fuzzers = $(foreach fuzzer,$(1),$(fuzzer:tests/%.c=$(BUILD)/asan/tests/%)@tests/fuzz/corpus/$(patsubst fuzz_%.c,%,$(notdir $(fuzzer))))
ASAN_RUNS  := $(call runs_in,$(BUILD)/asan,$(TESTS)) $(call runs_of_fuzzers,$(FUZZERS))
ASAN_SYSTEM_RUNS := $(SYSTEM:%=$(BUILD)/asan/hxmesh@%)
TSAN_RUNS  := $(call runs_in,$(BUILD)/tsan,$(TSAN_TESTS))
FUZZERS.loopback := $(filter $(ON_LOOPBACK),$(FUZZERS))
FUZZERS.shm      := $(filter $(ON_SHM),$(FUZZERS))
FUZZERS_IN_TURN  := $(foreach platform,$(IN_TURN),$(FUZZERS.$(platform)))
TURN_RUNS  := $(call runs_in,$(BUILD)/asan,$(TESTS),$(IN_TURN)) $(call runs_of_fuzzers,$(FUZZERS_IN_TURN)) \
    $(if $(filter $(TSAN_TURN),$(TURN)),$(TSAN_RUNS))
ALL_RUNS   := $(PLAIN_RUNS) $(ASAN_RUNS) $(TSAN_RUNS) $(ASAN_SYSTEM_RUNS)

# FILE: only runs with this text in their name; TEST: only these tests.
FILE ?=
TEST ?=
RUN_TESTS = HX_FILE='$(FILE)' HX_TEST='$(TEST)' mk/run-tests.sh $(BUILD)/test-logs

.PHONY: check check-all check-part check-runs turn-list tests asan tsan build-check build-turn build-asan build-asan-programs build-tsan seconds
check: ## set up, build and run the tests, in ten minutes (FILE=run.bats TEST=NAME: some of them); the last line counts them
	@mk/setup.sh build check deb
	@$(MAKE) $(SYNC) build-turn
	@$(MAKE) check-runs WHICH=quick

check-all: ## set up, build and run every test there is, with full counts, and command lines under the sanitizers (FILE=, TEST=)
	@mk/setup.sh build check deb firmware
	@$(MAKE) $(SYNC) build-check build-asan-programs
	@$(MAKE) check-runs WHICH=all

# PART: "3/12" is the third of twelve parts of the tests that only check-all has.
PART ?= 1/12
check-part: ## run a part of what check-all has beyond check (PART=1/12)
	@mk/setup.sh build check deb firmware
	@$(MAKE) $(SYNC) build-check build-asan-programs
	@$(MAKE) check-runs WHICH=$(PART)

# A make of its own: setup may have installed packages that bring more tests.
check-runs:
	@$(if $(DPDK),:,echo "skipped: all tests of the DPDK node, because pkg-config finds no libdpdk (package libdpdk-dev)")
	@HX_WHICH=$(WHICH) $(RUN_TESTS) $(if $(filter quick,$(WHICH)),$(PLAIN_RUNS) $(TURN_RUNS),$(ALL_RUNS))

# The runs under sanitizers of a turn.
turn-list:
	@printf '%s\n' $(TURN_RUNS)

tests: all test-programs ## unit, property and command line tests as check has them, without sanitizers
	@$(RUN_TESTS) $(PLAIN_RUNS)

asan: build-asan ## unit and property tests and stored fuzz inputs under the address and undefined sanitizers
	@$(RUN_TESTS) $(ASAN_RUNS)

tsan: build-tsan ## tests with several threads under the thread sanitizer
	@$(RUN_TESTS) $(TSAN_RUNS)

build-check: all test-programs build-asan build-tsan
	@:
build-turn: all test-programs $(if $(filter $(TSAN_TURN),$(TURN)),build-tsan)
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined $(IN_TURN:%=$(BUILD)/asan/test-%) $(FUZZERS_IN_TURN:tests/%.c=$(BUILD)/asan/tests/%)
build-asan:
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined runners fuzz-programs
build-asan-programs: build-asan
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined all test-programs
build-tsan: $(LIB_HOST) $(LIB_EMULATOR) $(LIB_TOOLS) $(LIB_PROGRAM)
	@$(MAKE) BUILD=$(BUILD)/tsan PLAIN=$(BUILD) SANITIZE=thread tsan-runners

seconds: ## keep how long each run took here, for the order of runs on new machines (tests/seconds.txt)
	@mk/run-tests.sh $(BUILD)/test-logs --keep-seconds

# ---- another processor --------------------------------------------------------------------------------------------

ARM64         := $(BUILD)/arm64
ARM64_SYSROOT := $(abspath $(ARM64)/sysroot)
ARM64_RUN     := qemu-aarch64-static -L $(ARM64_SYSROOT)
# Left out: the virtual clock and properties of the emulator, as they do not depend on the processor and qemu-user is
# slow; tests that would take minutes; and two tests that see a difference to a real kernel. qemu-user does not limit
# memory (RLIMIT_AS), and it keeps descriptors of a truncated control message.
ARM64_WITHOUT := $(TESTS.virtual) $(filter tests/property/shm/%,$(TESTS)) \
    $(foreach name,collective collective_fabric deadlock endpoint fabric failures given_back,tests/property/prop_$(name).c) \
    tests/unit/test_arena.c tests/unit/shm/test_memif_lies.c
ARM64_RUNS := $(call runs_in,$(ARM64),$(filter-out $(ARM64_WITHOUT),$(TESTS))) $(ARM64)/pair/hxmesh@tests/system/dpdk.bats

.PHONY: build-arm64 check-arm64
build-arm64: ## build everything for arm64 from Debian's packages
	@mk/sysroot.sh arm64 $(ARM64)/sysroot
	@PKG_CONFIG_SYSROOT_DIR=$(ARM64_SYSROOT) \
	    PKG_CONFIG_LIBDIR=$(ARM64_SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(ARM64_SYSROOT)/usr/share/pkgconfig \
	    $(MAKE) $(SYNC) BUILD=$(ARM64) CC="aarch64-linux-gnu-gcc --sysroot=$(ARM64_SYSROOT)" AR=aarch64-linux-gnu-ar \
	    MPICC= RISCV= CORTEX_M= all test-programs

# A node for this processor next to the machine's own programs.
$(ARM64)/pair/hxmesh-dpdk: mk/tests.mk
	@mkdir -p $(@D) && ln -sf $(abspath $(BUILD)/hxmesh) $(@D)/hxmesh
	@printf '#!/bin/sh\nexec $(ARM64_RUN) $(abspath $(ARM64)/hxmesh-dpdk) "$$@"\n' >$@ && chmod +x $@

check-arm64: ## build everything for arm64 from Debian's packages; run the DPDK node and tests of firmware and platforms in qemu-user
	@mk/setup.sh build check arm64
	@$(MAKE) $(SYNC) all build-arm64 $(ARM64)/pair/hxmesh-dpdk
	@HX_TEST_UNDER="$(ARM64_RUN)" mk/run-tests.sh $(ARM64)/test-logs $(ARM64_RUNS)
