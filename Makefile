# Makefile - builds, tests and checks hxmesh. `make help` lists the targets.
#
# Everything built lies below $(BUILD), and a new source file in a folder named here is picked up by itself:
#   shm/, virtual/, loopback/   objects compiled against that platform's hal_port.h; firmware is compiled once for each
#   riscv-virt/, mps2/   objects of images without an operating system, if their compiler is there
#   dpdk/             likewise for DPDK, if pkg-config finds libdpdk; without it the node, its tests and benchmarks are left out
#   plain/            objects that know no HAL: host/, tools/ and what both emulators share
#   tests/, bench/    test and benchmark programs
#   asan/, tsan/, fuzz/   the same tree again, built with sanitizers or for libFuzzer
#   arm64/            the same tree again, for another processor; its sysroot/ has Debian's libraries for that
#   mutants/          a copy of the sources with one token changed at a time, and what is built of it
# A test in a folder shm/, virtual/ or dpdk/ is built against that platform, any other against loopback.
# A test that says `/* tsan */` is worth a run under the thread sanitizer; a .bats file that says `# asan` is also run
# against the program built with the address sanitizer.

BUILD  ?= build
PREFIX ?= /usr/local
LIBDIR ?= lib
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))

CPPFLAGS += -D_GNU_SOURCE -Iinclude -I. -Ihal
# What binds the HAL: a platform sees its own hal_port.h, and that one the internal headers of firmware/.
FOR_SHM      := -Ihal/shm -Ifirmware
FOR_VIRTUAL  := -Ihal/virtual -Ifirmware
FOR_LOOPBACK := -Ihal/loopback -Ifirmware

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS   += -std=c11 -g
LDLIBS   += -ljansson -lyaml -lcrypto -lpcap -lm -lrt -pthread

DPDK := $(shell pkg-config --exists libdpdk 2>/dev/null && echo yes)
ifneq ($(DPDK),)
# Its headers are the system's, so that our warnings are not about them. It is built for corei7 (SSE 4.2) and up.
FOR_DPDK  := -Ihal/dpdk -Ifirmware $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libdpdk))
DPDK_LIBS := $(shell pkg-config --libs libdpdk) -lrte_net_ring
endif

# SANITIZE=address,undefined (or thread): set by the asan, tsan and fuzz targets, each with a BUILD of its own.
SANITIZE ?=
ifeq ($(SANITIZE),)
CFLAGS       += $(WARNINGS) -Werror
OPTIMIZE     := -O2
OPTIMIZE_FAST := -O3
# What is linked with it is optimized as a whole. Objects hold plain code too, for all else that is made of them.
WHOLE := -flto=auto
else
# No warnings here: instrumented code raises false ones, and the plain build has had the true ones.
# At a fixed address: a quarter of what a short command took went into its relocations, of which this code has thousands.
CFLAGS       += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie
LDFLAGS      += -no-pie
OPTIMIZE     := -O1
OPTIMIZE_FAST := -O1
endif

# All cores. Where things are only built, a recipe's output comes in one piece; what runs programs shows their progress.
SYNC := --output-sync=target
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory $(if $(filter-out all,$(MAKECMDGOALS)),,$(SYNC))
endif
Q := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

# ---- the sources --------------------------------------------------------------------------------------------------

FIRMWARE     := $(wildcard firmware/*.c)
HAL_CABLE    := $(wildcard hal/cable/*.c)
HAL_WIDE     := $(wildcard hal/wide/*.c)
HAL_SHM      := $(wildcard hal/shm/*.c hal/wire/*.c)
HAL_VIRTUAL  := $(wildcard hal/virtual/*.c)
HAL_LOOPBACK := $(wildcard hal/loopback/*.c)
HAL_DPDK     := $(wildcard hal/dpdk/*.c)
HOST         := $(wildcard host/*.c host/*/*.c)
LIVE         := $(wildcard fabric-emu/live/*.c)
VIRTUAL      := $(wildcard fabric-emu/virtual/*.c)
EMULATOR     := $(filter-out $(LIVE) $(VIRTUAL),$(wildcard fabric-emu/*.c fabric-emu/*/*.c))
# What a program links that is a host of a fabric, and what the emulator shares with it.
PROGRAM      := $(wildcard program/*.c)
PROVIDER     := $(wildcard fi-provider/*.c)
DPDK_NODE    := $(wildcard dpdk-node/*.c)
# Images without an operating system: what all boards share, a board's own, and the program.
BARE         := $(wildcard hal/bare/*.c)
RISCV_VIRT   := $(wildcard hal/riscv-virt/*.c)
MPS2         := $(wildcard hal/mps2/*.c)
BARE_NODE    := $(wildcard bare-node/*.c)
TOOLS        := $(wildcard tools/hxmesh-*.c)
TOOLS_SHARED := $(filter-out $(TOOLS),$(wildcard tools/*.c tools/*/*.c))

TESTS   := $(wildcard $(foreach kind,unit/test_ unit/*/test_ property/prop_ property/*/prop_,tests/$(kind)*.c))
FUZZERS := $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/*/fuzz_*.c)
# Programs that command line tests use.
HELPERS := $(wildcard tests/system/*.c)
SUPPORT := $(wildcard tests/support/*.c tests/support/*/*.c)
SYSTEM  := $(wildcard tests/system/*.bats)
BENCHES := $(wildcard tests/bench/bench_*.c tests/bench/dpdk/bench_*.c)
BENCHES_SHARED := $(filter-out $(BENCHES),$(wildcard tests/bench/*.c tests/bench/dpdk/*.c))

# $(call says,PATTERN,FILES): those of FILES that have a line matching PATTERN.
says = $(if $(2),$(shell grep -lE -e '$(1)' $(2)))
KIT         := $(wildcard conformance/*.c)
CHECKED     := $(TESTS) $(FUZZERS) $(HELPERS) $(SUPPORT)
# $(call below,PLATFORM,FILES): those of FILES in a folder of that name.
below = $(foreach file,$(2),$(if $(findstring /$(1)/,$(file)),$(file)))
ON_SHM      := $(call below,shm,$(CHECKED))
ON_VIRTUAL  := $(call below,virtual,$(CHECKED))
ON_DPDK     := $(call below,dpdk,$(CHECKED) $(BENCHES) $(BENCHES_SHARED))
ON_LOOPBACK := $(filter-out $(ON_SHM) $(ON_VIRTUAL) $(ON_DPDK),$(CHECKED))
# What tests of a platform share: its own, and what is of no platform.
SUPPORT_ANY      := $(wildcard tests/support/*.c)
SUPPORT_SHM      := $(SUPPORT_ANY) $(call below,shm,$(SUPPORT))
SUPPORT_LOOPBACK := $(SUPPORT_ANY) $(call below,loopback,$(SUPPORT))
SUPPORT_VIRTUAL  := $(call below,virtual,$(SUPPORT))
SUPPORT_DPDK     := $(call below,dpdk,$(SUPPORT)) tests/support/support_file.c
# Without DPDK what needs it is not there.
ifeq ($(DPDK),)
TESTS   := $(filter-out $(ON_DPDK),$(TESTS))
BENCHES := $(filter-out $(ON_DPDK),$(BENCHES))
endif
TSAN_TESTS  := $(call says,^/\* tsan,$(TESTS))
ASAN_SYSTEM := $(call says,^. asan,$(SYSTEM))

# ---- programs -----------------------------------------------------------------------------------------------------

# Without libfabric's headers its provider is not there.
LIBFABRIC := $(shell pkg-config --exists libfabric 2>/dev/null && echo yes)
LIBFABRIC_PROVIDER := $(if $(LIBFABRIC),$(if $(SANITIZE),,$(BUILD)/libhxmesh-fi.so))
# Without a compiler for them images are not there.
RISCV    := $(if $(shell command -v riscv64-unknown-elf-gcc),riscv64-unknown-elf-gcc)
CORTEX_M := $(if $(shell command -v arm-none-eabi-gcc),arm-none-eabi-gcc)
IMAGE_RISCV := $(if $(RISCV),$(if $(SANITIZE),,$(BUILD)/hx-node-riscv64.elf))
PROGRAMS := $(IMAGE_RISCV) $(BUILD)/hxmesh $(if $(DPDK),$(BUILD)/hxmesh-dpdk) $(if $(VIRTUAL),$(BUILD)/hxmesh-virtual) $(TOOLS:tools/%.c=$(BUILD)/%)

.PHONY: all
all: $(PROGRAMS) $(BUILD)/libhxmesh.a $(BUILD)/libhxmesh-program.a $(LIBFABRIC_PROVIDER) ## build hxmesh and its tools (needs no DPDK)
	@:

LIB_SHM      := $(BUILD)/libhx-shm.a
LIB_LOOPBACK := $(BUILD)/libhx-loopback.a
LIB_HOST     := $(BUILD)/libhxmesh-host.a
LIB_VIRTUAL  := $(BUILD)/libhx-virtual.a
LIB_DPDK     := $(BUILD)/libhx-dpdk.a
LIB_LIVE     := $(BUILD)/libhx-live.a
LIB_DPDK_NODE := $(BUILD)/libhx-dpdk-node.a
LIB_VIRTUAL_EMULATOR := $(BUILD)/libhx-virtual-emulator.a
LIB_EMULATOR := $(BUILD)/libhx-emulator.a
LIB_TOOLS    := $(BUILD)/libhx-tools.a
# What is installed: the parts of the firmware that need no platform.
LIB_FIRMWARE := $(BUILD)/libhxmesh.a
LIB_PROGRAM  := $(BUILD)/libhxmesh-program.a

SHM_OBJECTS      := $(patsubst %.c,$(BUILD)/shm/%.o,$(FIRMWARE) $(HAL_CABLE) $(HAL_WIDE) $(HAL_SHM))
LOOPBACK_OBJECTS := $(patsubst %.c,$(BUILD)/loopback/%.o,$(FIRMWARE) $(HAL_CABLE) $(HAL_LOOPBACK))
VIRTUAL_OBJECTS  := $(patsubst %.c,$(BUILD)/virtual/%.o,$(FIRMWARE) $(HAL_WIDE) $(HAL_VIRTUAL))
DPDK_OBJECTS     := $(patsubst %.c,$(BUILD)/dpdk/%.o,$(FIRMWARE) $(HAL_CABLE) $(HAL_WIDE) $(HAL_DPDK))
HOST_OBJECTS     := $(HOST:%.c=$(BUILD)/plain/%.o)
EMULATOR_OBJECTS := $(EMULATOR:%.c=$(BUILD)/plain/%.o) $(BUILD)/plain/program/attachment.o
TOOLS_OBJECTS    := $(TOOLS_SHARED:%.c=$(BUILD)/plain/%.o)

$(LIB_FIRMWARE): $(patsubst %.c,$(BUILD)/plain/%.o,$(filter-out $(call says,hal_port.h|endpoint_parts.h,$(FIRMWARE)),$(FIRMWARE)))
$(LIB_SHM):      $(SHM_OBJECTS)
$(LIB_LOOPBACK): $(LOOPBACK_OBJECTS)
$(LIB_HOST):     $(HOST_OBJECTS)
$(LIB_VIRTUAL):  $(VIRTUAL_OBJECTS)
$(LIB_DPDK):     $(DPDK_OBJECTS)
$(LIB_DPDK_NODE): $(patsubst %.c,$(BUILD)/dpdk/%.o,$(filter-out dpdk-node/main.c,$(DPDK_NODE)))
$(LIB_LIVE):     $(LIVE:%.c=$(BUILD)/shm/%.o)
$(LIB_VIRTUAL_EMULATOR): $(VIRTUAL:%.c=$(BUILD)/virtual/%.o)
$(LIB_EMULATOR): $(EMULATOR_OBJECTS)
$(LIB_TOOLS):    $(TOOLS_OBJECTS)
PROGRAM_OBJECTS := $(patsubst %.c,$(BUILD)/plain/%.o,$(PROGRAM) hal/wire/passing.c)
$(LIB_PROGRAM):  $(PROGRAM_OBJECTS)
# It goes into shared objects as well.
$(PROGRAM_OBJECTS): CFLAGS += -fPIC

# Libraries stand before those they need: one that is used against the direction of the house does not link.
$(BUILD)/hxmesh: $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_HOST) $(LIB_SHM)
	$(LINK)

$(BUILD)/hxmesh-virtual: LDFLAGS += $(WHOLE) $(OPTIMIZE_FAST)
$(BUILD)/hxmesh-virtual: $(LIB_VIRTUAL_EMULATOR) $(LIB_EMULATOR) $(LIB_HOST) $(LIB_VIRTUAL)
	$(LINK)

$(BUILD)/hxmesh-dpdk: LDLIBS += $(DPDK_LIBS)
$(BUILD)/hxmesh-dpdk: $(BUILD)/dpdk/dpdk-node/main.o $(LIB_DPDK_NODE) $(LIB_EMULATOR) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)

$(BUILD)/hxmesh-top: LDLIBS += -lncursesw
$(BUILD)/hxmesh-%: $(BUILD)/plain/tools/hxmesh-%.o $(LIB_TOOLS) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)

$(PROVIDER:%.c=$(BUILD)/plain/%.o): CFLAGS += -fPIC -fvisibility=hidden
$(BUILD)/libhxmesh-fi.so: LDFLAGS += -shared -Wl,--exclude-libs,ALL
$(BUILD)/libhxmesh-fi.so: LDLIBS := -lfabric
$(BUILD)/libhxmesh-fi.so: $(PROVIDER:%.c=$(BUILD)/plain/%.o) $(LIB_PROGRAM)
	$(LINK)

# ---- how an object, a library and a program are made --------------------------------------------------------------

define COMPILE
@mkdir -p $(@D)
$(if $(Q),@echo "  CC   $@")
$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
endef
# Objects first: a library's main() is taken only where none of them has one.
define LINK
@mkdir -p $(@D)
$(if $(Q),@echo "  LINK $@")
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter-out %.o,$^) $(LDLIBS) -o $@
endef

$(BUILD)/dpdk/tests/bench/%.o: CPPFLAGS += $(FOR_DPDK) -Ihal/shm
$(BUILD)/shm/%.o:      CPPFLAGS += $(FOR_SHM)
$(BUILD)/virtual/%.o:  CPPFLAGS += $(FOR_VIRTUAL)
$(BUILD)/loopback/%.o: CPPFLAGS += $(FOR_LOOPBACK)
$(BUILD)/dpdk/%.o:     CPPFLAGS += $(FOR_DPDK)
$(BUILD)/dpdk/%.o:     CFLAGS += $(OPTIMIZE_FAST)
$(BUILD)/shm/%.o:      CFLAGS += $(OPTIMIZE_FAST)
$(BUILD)/virtual/%.o:  CFLAGS += $(OPTIMIZE_FAST) $(WHOLE:%=% -ffat-lto-objects)
$(BUILD)/loopback/%.o: CFLAGS += $(OPTIMIZE)
$(BUILD)/plain/%.o:    CFLAGS += $(OPTIMIZE)
$(BUILD)/plain/fabric-emu/workload/payload.o: CFLAGS += $(OPTIMIZE_FAST)

$(BUILD)/shm/%.o: %.c Makefile
	$(COMPILE)
$(BUILD)/virtual/%.o: %.c Makefile
	$(COMPILE)
$(BUILD)/loopback/%.o: %.c Makefile
	$(COMPILE)
$(BUILD)/dpdk/%.o: %.c Makefile
	$(COMPILE)
$(BUILD)/plain/%.o: %.c Makefile
	$(COMPILE)

# Quick append (q), since two folders may hold files of one name.
$(BUILD)/%.a:
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) qcs $@ $^

-include $(shell test -d $(BUILD) && find $(BUILD)/shm $(BUILD)/virtual $(BUILD)/loopback $(BUILD)/dpdk $(BUILD)/plain $(BUILD)/riscv-virt $(BUILD)/mps2 -name '*.d' 2>/dev/null)

# ---- images: programs without an operating system ----------------------------------------------------------------

# The wires and steps of hal/loopback, its conformance world left out; devices fill and empty them.
BARE_FIRMWARE := $(FIRMWARE) $(HAL_CABLE) $(filter-out %/conformance_port.c,$(HAL_LOOPBACK)) $(BARE)
# No call of memcpy may be made out of the loop in memcpy; what no image needs is left out when it is linked.
FOR_BARE := -std=c11 -O2 -g $(WARNINGS) -Werror -ffreestanding -fno-pic -fno-tree-loop-distribute-patterns \
    -ffunction-sections -fdata-sections -Iinclude -I. -Ihal $(FOR_LOOPBACK)
LINK_BARE := -nostdlib -static -Wl,--gc-sections -Wl,--no-warn-rwx-segments

FOR_RISCV := -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany -mno-strict-align
RISCV_SOURCES := $(BARE_FIRMWARE) $(RISCV_VIRT) $(BARE_NODE) fabric-emu/workload/payload.c
$(BUILD)/riscv-virt/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(RISCV) $(FOR_RISCV) $(FOR_BARE) -MMD -MP -c $< -o $@
$(BUILD)/riscv-virt/%.o: %.S Makefile
	@mkdir -p $(@D)
	@$(RISCV) $(FOR_RISCV) -MMD -MP -c $< -o $@
$(BUILD)/hx-node-riscv64.elf: $(RISCV_SOURCES:%.c=$(BUILD)/riscv-virt/%.o) $(BUILD)/riscv-virt/hal/riscv-virt/start.o \
    hal/riscv-virt/link.ld
	$(if $(Q),@echo "  LINK $@")
	@$(RISCV) $(FOR_RISCV) $(LINK_BARE) -T $(filter %.ld,$^) $(filter %.o,$^) -lgcc -o $@ && chmod -x $@

# The conformance kit and a fabric, in one image: each block that is granted has a buffer, and there are 16 MiB for them.
FOR_CORTEX_M := -mcpu=cortex-m7 -mthumb -Ihal/bare/libc -Iconformance -DCONFORMANCE_BLOCKS=36
CORTEX_M_SOURCES := $(FIRMWARE) $(HAL_CABLE) $(HAL_LOOPBACK) $(BARE) $(MPS2) $(filter-out %/main.c,$(KIT)) \
    fabric-emu/workload/payload.c
IMAGE_CORTEX_M := $(if $(CORTEX_M),$(if $(SANITIZE),,$(BUILD)/tests/kit-cortex-m7.elf))
$(BUILD)/mps2/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(CORTEX_M) $(FOR_CORTEX_M) $(FOR_BARE) -MMD -MP -c $< -o $@
$(BUILD)/tests/kit-cortex-m7.elf: $(CORTEX_M_SOURCES:%.c=$(BUILD)/mps2/%.o) hal/mps2/link.ld
	$(if $(Q),@echo "  LINK $@")
	@mkdir -p $(@D)
	@$(CORTEX_M) $(FOR_CORTEX_M) $(LINK_BARE) -T $(filter %.ld,$^) $(filter %.o,$^) -lgcc -o $@ && chmod -x $@

# ---- demo ---------------------------------------------------------------------------------------------------------

.PHONY: demo
demo: ## set up, build, run a small HammingMesh and move verified data through it
	@mk/setup.sh build
	@$(MAKE) $(SYNC) all
	@$(BUILD)/hxmesh demo

# ---- tests --------------------------------------------------------------------------------------------------------

# $(call programs,SOURCES[,BUILD]): the test programs made from them.
programs = $(patsubst tests/%.c,$(or $(2),$(BUILD))/tests/%,$(1))

FUZZ_ENGINE  ?= replay
FUZZ_MAIN    := $(if $(filter replay,$(FUZZ_ENGINE)),$(BUILD)/plain/tests/fuzz/replay.o)
FUZZ_LDFLAGS := $(if $(filter libfuzzer,$(FUZZ_ENGINE)),-fsanitize=fuzzer)
$(call programs,$(FUZZERS)): $(FUZZ_MAIN)
$(call programs,$(FUZZERS)): LDFLAGS += $(FUZZ_LDFLAGS)
$(call programs,$(TESTS) $(FUZZERS) $(HELPERS)): LDLIBS += -lcmocka
# Each is linked in a moment from the plain code of its objects.
$(call programs,$(TESTS) $(FUZZERS) $(HELPERS)): LDFLAGS += -fno-lto

$(call programs,$(filter $(ON_SHM),$(TESTS) $(FUZZERS))): $(BUILD)/tests/%: $(BUILD)/shm/tests/%.o \
    $(SUPPORT_SHM:%.c=$(BUILD)/shm/%.o) $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_TOOLS) $(LIB_HOST) $(LIB_SHM)
	$(LINK)
$(call programs,$(filter $(ON_VIRTUAL),$(TESTS) $(FUZZERS))): $(BUILD)/tests/%: $(BUILD)/virtual/tests/%.o \
    $(SUPPORT_VIRTUAL:%.c=$(BUILD)/virtual/%.o) $(LIB_VIRTUAL_EMULATOR) $(LIB_EMULATOR) $(LIB_TOOLS) $(LIB_HOST) \
    $(LIB_VIRTUAL)
	$(LINK)
$(call programs,$(filter-out $(SUPPORT),$(ON_LOOPBACK))): $(BUILD)/tests/%: $(BUILD)/loopback/tests/%.o \
    $(SUPPORT_LOOPBACK:%.c=$(BUILD)/loopback/%.o) $(LIB_TOOLS) $(LIB_HOST) $(LIB_LOOPBACK)
	$(LINK)

$(call programs,$(filter $(ON_DPDK),$(TESTS))): LDLIBS += $(DPDK_LIBS)
$(call programs,$(filter $(ON_DPDK),$(TESTS))): $(BUILD)/tests/%: $(BUILD)/dpdk/tests/%.o \
    $(SUPPORT_DPDK:%.c=$(BUILD)/dpdk/%.o) $(LIB_DPDK_NODE) $(LIB_EMULATOR) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)

# Programs of MPI, if its compiler is there.
MPICC := $(if $(SANITIZE),,$(if $(shell command -v mpicc),mpicc))
MPI_PROGRAMS := $(if $(MPICC),$(patsubst tests/mpi/%.c,$(BUILD)/tests/mpi/%,$(wildcard tests/mpi/*.c)))
$(BUILD)/tests/mpi/%: tests/mpi/%.c Makefile
	@mkdir -p $(@D)
	$(if $(Q),@echo "  MPI  $@")
	@$(MPICC) -std=c11 -D_GNU_SOURCE -g -O2 $(WARNINGS) -Werror $< -o $@

# Programs of libfabric, if it is there.
LIBFABRIC_PROGRAMS := $(if $(LIBFABRIC_PROVIDER),\
    $(patsubst tests/libfabric/%.c,$(BUILD)/tests/libfabric/%,$(wildcard tests/libfabric/*.c)))
$(BUILD)/tests/libfabric/%: tests/libfabric/%.c Makefile
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LINK $@")
	@$(CC) -std=c11 -D_GNU_SOURCE -g -O2 $(WARNINGS) -Werror $< -o $@ $$(pkg-config --cflags --libs libfabric)

# What images have, and a host program can try.
$(BUILD)/tests/unit/test_device_tree: $(BUILD)/loopback/hal/bare/device_tree.o

# Programs of one's own link this library alone.
$(BUILD)/tests/system/exchange: $(LIB_PROGRAM)
$(BUILD)/tests/unit/shm/test_door: $(LIB_PROGRAM)

# The conformance kit on the example port; conformance/Makefile builds it for any other.
$(BUILD)/tests/conformance: $(KIT:%.c=$(BUILD)/loopback/%.o) $(LIB_LOOPBACK)
	$(LINK)

# What a run is given: cmocka programs, fuzz replays, and PROGRAM@FILE.bats, which tests PROGRAM by its command line.
PLAIN_RUNS := $(call programs,$(TESTS)) $(SYSTEM:%=$(BUILD)/hxmesh@%)
ASAN_RUNS  := $(call programs,$(TESTS) $(FUZZERS),$(BUILD)/asan) $(ASAN_SYSTEM:%=$(BUILD)/asan/hxmesh@%)
TSAN_RUNS  := $(call programs,$(TSAN_TESTS),$(BUILD)/tsan)
RUN_TESTS   = mk/run-tests.sh $(BUILD)/test-logs

.PHONY: check tests test-programs fuzz-programs tsan-programs asan ubsan tsan build-asan build-tsan
test-programs: $(call programs,$(TESTS) $(HELPERS)) $(BUILD)/tests/conformance $(IMAGE_CORTEX_M) $(MPI_PROGRAMS) \
    $(LIBFABRIC_PROGRAMS)
	@:
fuzz-programs: $(call programs,$(FUZZERS))
	@:
tsan-programs: $(call programs,$(TSAN_TESTS))
	@:

check: ## set up, build and run every test, sanitizers included; the last line counts them
	@mk/setup.sh build check deb firmware
	@$(MAKE) $(SYNC) all test-programs build-asan build-tsan
	@$(MAKE) check-runs

# Apart, because what setup has just installed may bring more tests.
.PHONY: check-runs
check-runs:
	@$(if $(DPDK),:,echo "skipped: all tests of the DPDK node, because pkg-config finds no libdpdk (package libdpdk-dev)")
	@$(RUN_TESTS) $(PLAIN_RUNS) $(ASAN_RUNS) $(TSAN_RUNS)

tests: all test-programs ## unit, property and system tests only, without sanitizers
	@$(RUN_TESTS) $(PLAIN_RUNS)

asan ubsan: build-asan ## unit and property tests and stored fuzz inputs under the address and undefined sanitizers
	@$(RUN_TESTS) $(ASAN_RUNS)

tsan: build-tsan ## tests that say /* tsan */ under the thread sanitizer
	@$(RUN_TESTS) $(TSAN_RUNS)

build-asan:
	@$(MAKE) $(SYNC) BUILD=$(BUILD)/asan SANITIZE=address,undefined all test-programs fuzz-programs
build-tsan:
	@$(MAKE) $(SYNC) BUILD=$(BUILD)/tsan SANITIZE=thread tsan-programs

# ---- another processor --------------------------------------------------------------------------------------------

ARM64         := $(BUILD)/arm64
ARM64_SYSROOT := $(abspath $(ARM64)/sysroot)
ARM64_RUN     := qemu-aarch64-static -L $(ARM64_SYSROOT)
# Not there: the virtual clock and properties of the emulator, since nothing of them is for such a processor alone and each instruction
# is translated; what takes minutes for that reason; and two tests that see a difference to a kernel: qemu-user sets no limit to memory
# (RLIMIT_AS), and keeps descriptors of a control message that it cuts short.
ARM64_WITHOUT := $(call below,virtual,$(TESTS)) $(filter tests/property/shm/%,$(TESTS)) \
    $(foreach name,collective collective_fabric deadlock endpoint fabric failures given_back,tests/property/prop_$(name).c) \
    tests/unit/test_arena.c tests/unit/shm/test_memif_lies.c
ARM64_RUNS := $(call programs,$(filter-out $(ARM64_WITHOUT),$(TESTS)),$(ARM64)) \
    $(addprefix $(ARM64)/pair/hxmesh@tests/system/,dpdk.bats)

.PHONY: build-arm64 check-arm64
build-arm64: ## build everything for arm64 from Debian's packages
	@mk/sysroot.sh arm64 $(ARM64)/sysroot
	@PKG_CONFIG_SYSROOT_DIR=$(ARM64_SYSROOT) \
	    PKG_CONFIG_LIBDIR=$(ARM64_SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(ARM64_SYSROOT)/usr/share/pkgconfig \
	    $(MAKE) $(SYNC) BUILD=$(ARM64) CC="aarch64-linux-gnu-gcc --sysroot=$(ARM64_SYSROOT)" AR=aarch64-linux-gnu-ar \
	    MPICC= RISCV= CORTEX_M= all test-programs

# A node for this processor beside the programs of the machine's own.
$(ARM64)/pair/hxmesh-dpdk: Makefile
	@mkdir -p $(@D) && ln -sf $(abspath $(BUILD)/hxmesh) $(@D)/hxmesh
	@printf '#!/bin/sh\nexec $(ARM64_RUN) $(abspath $(ARM64)/hxmesh-dpdk) "$$@"\n' >$@ && chmod +x $@

check-arm64: ## build everything for arm64 from Debian's packages; run the DPDK node and tests of firmware and platforms in qemu-user
	@mk/setup.sh build check arm64
	@$(MAKE) $(SYNC) all build-arm64 $(ARM64)/pair/hxmesh-dpdk
	@HX_TEST_UNDER="$(ARM64_RUN)" mk/run-tests.sh $(ARM64)/test-logs $(ARM64_RUNS)

# ---- firmware, fuzzing, benchmarks --------------------------------------------------------------------------------

.PHONY: firmware fuzz faults bench bench-programs
firmware: ## compile firmware/ freestanding for host, aarch64, riscv64, Cortex-M and -R; print its size and stack
	@mk/setup.sh firmware
	@mk/firmware.sh $(BUILD)/firmware

.PHONY: model
model: ## search every state of the models in tests/model with spin, larger bounds than make check included
	@mk/setup.sh model
	@mk/model.sh $(BUILD)/model full

RUNS ?= 10000
FAULT_SEED ?= 1
faults: all ## let each link and board of a mesh fail, then RUNS (10000) random schedules over all fabrics, from FAULT_SEED (1)
	@HXMESH=$(BUILD)/hxmesh tests/system/faults_single.bash
	@HXMESH=$(BUILD)/hxmesh tests/system/faults_random.bash $(RUNS) $(FAULT_SEED)

.PHONY: prove
prove: ## have Frama-C show that frame, credit and route code has no undefined behaviour, for all inputs (installs it)
	@mk/setup.sh prove
	@mk/prove.sh $(BUILD)/prove

FUZZ_SECONDS ?= 60
fuzz: ## search for new failing inputs with libFuzzer, FUZZ_SECONDS (60) a target
	@mk/setup.sh build fuzz
	@$(MAKE) $(SYNC) BUILD=$(BUILD)/fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined FUZZ_ENGINE=libfuzzer \
	    fuzz-programs
	@mk/fuzz.sh $(FUZZ_SECONDS) $(BUILD)/fuzz $(call programs,$(FUZZERS),$(BUILD)/fuzz)

# SOAK_SECONDS: 0: until it is told to stop. SOAK_SEED: of the first fabric.
SOAK_SECONDS ?= 0
SOAK_SEED    ?= 1
.PHONY: soak
soak: ## run fabrics drawn from a seed under both clocks and judge them, until told to stop (SOAK_SECONDS=, SOAK_SEED=1)
	@mk/setup.sh build check
	@$(MAKE) $(SYNC) all
	@mk/soak.sh $(BUILD)/soak $(BUILD)/hxmesh $(SOAK_SECONDS) $(SOAK_SEED)

BENCH_PROGRAMS := $(BENCHES:tests/%.c=$(BUILD)/%)
BENCH_DPDK     := $(filter $(ON_DPDK),$(BENCHES))
$(BENCH_DPDK:tests/%.c=$(BUILD)/%): LDLIBS += $(DPDK_LIBS)
$(BENCH_DPDK:tests/%.c=$(BUILD)/%): $(BUILD)/bench/%: $(BUILD)/dpdk/tests/bench/%.o \
    $(BENCHES_SHARED:%.c=$(BUILD)/dpdk/%.o) $(BUILD)/plain/hal/shm/clock.o $(LIB_DPDK_NODE) $(LIB_EMULATOR) $(LIB_HOST) \
    $(LIB_DPDK)
	$(LINK)
$(filter-out $(BENCH_DPDK:tests/%.c=$(BUILD)/%),$(BENCH_PROGRAMS)): $(BUILD)/bench/%: $(BUILD)/shm/tests/bench/%.o \
    $(patsubst %.c,$(BUILD)/shm/%.o,$(filter-out $(ON_DPDK),$(BENCHES_SHARED))) \
    $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_HOST) $(LIB_SHM)
	$(LINK)
bench-programs: $(BENCH_PROGRAMS)
	@:
bench: ## measure; figures on screen and in build/bench.json
	@mk/setup.sh build bench
	@$(MAKE) $(SYNC) all bench-programs
	@mk/bench.sh $(BUILD) $(BENCH_PROGRAMS)

# FILE: sources (those that mk/mutants.sh has judges for), or FILE:LINE; MUTANTS: how many, or all; SEED: which.
FILE    ?=
MUTANTS ?= 60
SEED    ?= 1
.PHONY: mutants
mutants: ## change single tokens of firmware and platforms, and see that tests notice (FILE=, MUTANTS=60, SEED=1)
	@mk/setup.sh build check
	@MUTANTS=$(MUTANTS) SEED=$(SEED) mk/mutants.sh $(BUILD)/mutants $(FILE)

# KILLS: how many; SPEC: of which fabric; SEED: random moments.
KILLS ?= 2000
SPEC  ?= 4x4 Hx2Mesh
.PHONY: soak-kill soak-links
soak-kill: all ## kill workers of live fabrics at random moments (KILLS=2000, SEED=1): nothing is lost
	@SEED=$(SEED) HXMESH=$(BUILD)/hxmesh mk/soak_faults.sh kill $(KILLS)
soak-links: all ## cut every link and board of a live fabric under full traffic (SPEC="4x4 Hx2Mesh"): times until it was whole
	@SEED=$(SEED) HXMESH=$(BUILD)/hxmesh mk/soak_faults.sh links "$(SPEC)"

# ---- ports ---------------------------------------------------------------------------------------------------------

PORT ?= hal/loopback
.PHONY: conformance
conformance: ## try the port in the folder PORT (hal/loopback) against the contract of include/hxmesh/hal.h
	@$(MAKE) -f conformance/Makefile PORT=$(PORT) OUT=$(BUILD)/conformance/$(notdir $(PORT))

# ---- the paper's experiments --------------------------------------------------------------------------------------

# REPRODUCE: options of `hxmesh reproduce`, such as --quick, --full or --minutes 30.
REPRODUCE ?=
.PHONY: reproduce
reproduce: ## redo the paper's experiments; tables, JSON and plots in build/reproduce (REPRODUCE=--quick: in a minute)
	@mk/setup.sh build
	@$(MAKE) $(SYNC) all
	@$(BUILD)/hxmesh reproduce all --out $(BUILD)/reproduce $(REPRODUCE)
	@echo "figures:" && ls $(BUILD)/reproduce/*.svg

# ---- lint ---------------------------------------------------------------------------------------------------------

HEADERS := $(wildcard include/hxmesh/*.h program/*.h fi-provider/*.h conformance/*.h firmware/*.h hal/*.h hal/*/*.h hal/*/*/*.h dpdk-node/*.h bare-node/*.h \
    $(foreach folder,host fabric-emu tools tests/*,$(folder)/*.h $(folder)/*/*.h))
SOURCES := $(PROGRAM) $(PROVIDER) $(FIRMWARE) $(HAL_CABLE) $(HAL_WIDE) $(HAL_SHM) $(HAL_VIRTUAL) $(HAL_LOOPBACK) $(HAL_DPDK) $(DPDK_NODE) $(BARE) $(RISCV_VIRT) $(MPS2) $(BARE_NODE) $(KIT) $(HOST) $(EMULATOR) $(LIVE) $(VIRTUAL) \
    $(TOOLS) $(TOOLS_SHARED) $(wildcard tests/*/*.c tests/*/*/*.c examples/*/*.c)
SCRIPTS := $(wildcard mk/*.sh tools/wireshark/hxmesh-extcap tools/completion/hxmesh .ci/run examples/*/*.sh tests/system/*.bats tests/system/*.bash)

# A file's platform decides which hal_port.h it is read with.
SOURCES_LOOPBACK := $(HAL_LOOPBACK) $(KIT) $(ON_LOOPBACK)
SOURCES_VIRTUAL  := $(HAL_VIRTUAL) $(VIRTUAL) $(ON_VIRTUAL)
SOURCES_DPDK     := $(HAL_DPDK) $(DPDK_NODE) $(ON_DPDK)
SOURCES_RISCV    := $(BARE) $(RISCV_VIRT) $(BARE_NODE)
SOURCES_MPS2     := $(MPS2)
SOURCES_SHM      := $(filter-out $(SOURCES_RISCV) $(SOURCES_MPS2) $(SOURCES_LOOPBACK) $(SOURCES_VIRTUAL) $(SOURCES_DPDK),$(SOURCES))

.PHONY: lint lint-all lint-format lint-tidy lint-cppcheck lint-scripts
lint: ## clang-format, clang-tidy, cppcheck and shellcheck over everything
	@mk/setup.sh build check lint
	@$(MAKE) $(SYNC) --keep-going lint-all
	@echo "lint: clean"
lint-all: lint-format lint-scripts lint-tidy lint-cppcheck
	@:

lint-format:
	@clang-format --dry-run -Werror $(SOURCES) $(HEADERS)

lint-scripts:
	@shellcheck $(SCRIPTS)

# The log takes clang-tidy's count of warnings in system headers, which it prints even when asked to be quiet.
TIDY_SHM      := $(SOURCES_SHM:%.c=$(BUILD)/lint/%.ok)
TIDY_VIRTUAL  := $(SOURCES_VIRTUAL:%.c=$(BUILD)/lint/%.ok)
TIDY_LOOPBACK := $(SOURCES_LOOPBACK:%.c=$(BUILD)/lint/%.ok)
TIDY_RISCV    := $(SOURCES_RISCV:%.c=$(BUILD)/lint/%.ok)
TIDY_MPS2     := $(SOURCES_MPS2:%.c=$(BUILD)/lint/%.ok)
TIDY_DPDK     := $(if $(DPDK),$(SOURCES_DPDK:%.c=$(BUILD)/lint/%.ok))
$(TIDY_DPDK):     PLATFORM := $(FOR_DPDK) -Ihal/shm
$(TIDY_SHM):      PLATFORM := $(FOR_SHM)
$(patsubst %.c,$(BUILD)/lint/%.ok,$(wildcard tests/mpi/*.c examples/programs/*.c)): PLATFORM := $(addprefix -isystem ,$(if $(MPICC),$(shell $(MPICC) --showme:incdirs)))
$(TIDY_VIRTUAL):  PLATFORM := $(FOR_VIRTUAL)
$(TIDY_LOOPBACK): PLATFORM := $(FOR_LOOPBACK)
$(TIDY_RISCV):    PLATFORM := --target=riscv64-unknown-elf -march=rv64imac -mabi=lp64 -ffreestanding $(FOR_LOOPBACK)
$(TIDY_MPS2):     PLATFORM := --target=arm-none-eabi -mcpu=cortex-m7 -mthumb -ffreestanding -Ihal/bare/libc -Iconformance $(FOR_LOOPBACK)
lint-tidy: $(TIDY_RISCV) $(TIDY_MPS2) $(TIDY_SHM) $(TIDY_VIRTUAL) $(TIDY_LOOPBACK) $(TIDY_DPDK)
$(BUILD)/lint/%.ok: %.c $(HEADERS) .clang-tidy
	@mkdir -p $(@D)
	@echo "  TIDY $<"
	@clang-tidy --quiet $< -- -std=c11 $(CPPFLAGS) $(PLATFORM) $(WARNINGS) 2>$@.log || { cat $@.log; false; }
	@touch $@

CPPCHECK := cppcheck --quiet -j$(shell nproc) --std=c11 --library=posix,gnu --inline-suppr --error-exitcode=1 \
    --enable=warning,style,performance,portability --suppressions-list=mk/cppcheck.txt
lint-cppcheck:
	@echo "  CPPCHECK"
	@mkdir -p $(BUILD)/lint/cppcheck
	@$(CPPCHECK) --cppcheck-build-dir=$(BUILD)/lint/cppcheck $(CPPFLAGS) $(FOR_SHM) $(SOURCES_SHM)
	@$(CPPCHECK) $(CPPFLAGS) $(FOR_LOOPBACK) $(SOURCES_RISCV)
	@$(CPPCHECK) $(CPPFLAGS) -Ihal/bare/libc -Iconformance $(FOR_LOOPBACK) $(SOURCES_MPS2)
	@$(if $(SOURCES_VIRTUAL),$(CPPCHECK) $(CPPFLAGS) $(FOR_VIRTUAL) $(SOURCES_VIRTUAL))
	@$(if $(SOURCES_LOOPBACK),$(CPPCHECK) $(CPPFLAGS) $(FOR_LOOPBACK) $(SOURCES_LOOPBACK))
	@$(if $(SOURCES_DPDK),$(CPPCHECK) $(CPPFLAGS) -Ihal/dpdk -Ifirmware $(SOURCES_DPDK))

# ---- the machine --------------------------------------------------------------------------------------------------

.PHONY: setup install uninstall install-parts deb clean help
setup: ## install the Debian packages that all these targets need
	@mk/setup.sh build check deb firmware bench fuzz lint

install: install-parts ## install programs, library, headers, manuals and sources for ports below PREFIX; DESTDIR is respected
	@DESTDIR=$(DESTDIR) mk/install.sh install $(BUILD) $(PREFIX) $(LIBDIR)

uninstall: install-parts ## remove what install put there
	@DESTDIR=$(DESTDIR) mk/install.sh uninstall $(BUILD) $(PREFIX) $(LIBDIR)

deb: ## make Debian packages of what install installs, in build/deb
	@mk/setup.sh build deb
	@$(MAKE) $(SYNC) install-parts
	@mk/deb.sh $(BUILD) $(BUILD)/deb "$(CC)"

install-parts: all
	@mk/man.sh $(BUILD)

.PHONY: docs
docs: all ## write docs/options.md from the programs' own tables
	@mk/docs.sh $(BUILD) >docs/options.md

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9 -]*:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
