# lint.mk - style and static analysis: clang-format, clang-tidy, cppcheck, shellcheck, rooms, banned words.

HEADERS := $(wildcard include/hxmesh/*.h examples/*/*.h program/*.h program/libfabric/*.h hal/conformance/*.h firmware/*.h hal/*.h hal/*/*.h hal/*/*/*.h nodes/dpdk/*.h nodes/bare/*.h nodes/bare/*/*.h \
    $(foreach folder,$(addprefix lib/,base topology allocation schedule spec workload) fabric-emu tools tests/*,$(folder)/*.h $(folder)/*/*.h))
SOURCES := $(PROGRAM) $(PROVIDER) $(FIRMWARE) $(HAL_CABLE) $(HAL_SIMD) $(HAL_SHM) $(HAL_VIRTUAL) $(HAL_LOOPBACK) $(HAL_DPDK) $(DPDK_NODE) $(BARE) $(RISCV_VIRT) $(MPS2) $(MPS2_NODE) $(BARE_NODE) $(KIT) $(HOST) $(HAL_PROGRAM) $(WORKLOAD) $(EMULATOR) $(LIVE) $(VIRTUAL) $(LIBRARY) \
    $(TOOLS) $(TOOLS_SHARED) $(wildcard tests/*/*.c tests/*/*/*.c examples/*/*.c)
SCRIPTS := $(wildcard mk/*.sh docs/figures/*.sh docs/figures/*.bash tools/wireshark/hxmesh-extcap tools/completion/hxmesh .ci/run examples/*/*.sh examples/*/*.bash tests/system/*.bats tests/system/*.bash)

# Pages for the check of columns; docs/options.md is generated.
PAGES := $(filter-out docs/options.md,$(wildcard *.md docs/*.md examples/*/*.md python/*.md))
CXX_OF_EXAMPLES := $(wildcard examples/*/*.cc examples/*/*.hh)

# The platform of a file decides which hal_port.h it includes.
SOURCES_LOOPBACK := $(HAL_LOOPBACK) $(KIT) $(ON_LOOPBACK)
SOURCES_VIRTUAL  := $(HAL_VIRTUAL) $(wildcard hal/virtual/*_mpi.c) $(VIRTUAL) $(LIBRARY) $(ON_VIRTUAL)
SOURCES_DPDK     := $(HAL_DPDK) $(DPDK_NODE) $(ON_DPDK)
SOURCES_RISCV    := $(BARE) $(RISCV_VIRT) $(BARE_NODE)
SOURCES_MPS2     := $(MPS2) $(MPS2_NODE)
SOURCES_SHM      := $(filter-out $(SOURCES_RISCV) $(SOURCES_MPS2) $(SOURCES_LOOPBACK) $(SOURCES_VIRTUAL) $(SOURCES_DPDK),$(SOURCES))

.PHONY: lint lint-all lint-format lint-rooms lint-words lint-tidy lint-tidy-list lint-cppcheck lint-scripts words-count
lint: ## clang-format, clang-tidy (TIDY=1/4: over a part), cppcheck and shellcheck over everything; the rooms of mk/rooms.txt; banned words
	@mk/setup.sh build check lint
	@$(MAKE) $(SYNC) --keep-going lint-all
	@echo "lint: clean"
lint-all: lint-format lint-scripts lint-rooms lint-words lint-tidy lint-cppcheck
	@:

lint-format:
	@awk -f mk/columns.awk $(PAGES) $(SOURCES) $(HEADERS) $(CXX_OF_EXAMPLES) $(SCRIPTS) Makefile $(wildcard mk/*.mk mk/*.awk) >&2
	@clang-format --dry-run -Werror $(SOURCES) $(HEADERS) $(CXX_OF_EXAMPLES)

lint-rooms: ## check includes against mk/rooms.txt, and names of files and functions in pages for programmers
	@mk/rooms.sh

lint-scripts:
	@shellcheck $(SCRIPTS)

# Words that docs/glossary.md replaces. words-count: the number in each folder.
lint-words:
	@mk/words.sh
words-count:
	@mk/words.sh --count

# The log hides clang-tidy's count of warnings in system headers, which --quiet does not.
TIDY_SHM      := $(SOURCES_SHM:%.c=$(BUILD)/lint/%.ok)
TIDY_VIRTUAL  := $(SOURCES_VIRTUAL:%.c=$(BUILD)/lint/%.ok)
TIDY_LOOPBACK := $(SOURCES_LOOPBACK:%.c=$(BUILD)/lint/%.ok)
TIDY_RISCV    := $(SOURCES_RISCV:%.c=$(BUILD)/lint/%.ok)
TIDY_MPS2     := $(SOURCES_MPS2:%.c=$(BUILD)/lint/%.ok)
TIDY_DPDK     := $(if $(DPDK),$(SOURCES_DPDK:%.c=$(BUILD)/lint/%.ok))
$(TIDY_DPDK):     PLATFORM := $(FOR_DPDK) -Ihal/shm
$(TIDY_SHM):      PLATFORM := $(FOR_SHM)
$(patsubst %.c,$(BUILD)/lint/%.ok,$(wildcard tests/mpi/*.c examples/programs/*.c examples/mpi-trace/*.c)): PLATFORM = $(OPEN_MPI)
$(TIDY_VIRTUAL):  PLATFORM := $(FOR_VIRTUAL)
$(patsubst %.c,$(BUILD)/lint/%.ok,$(wildcard hal/virtual/*_mpi.c)): PLATFORM += $(OPEN_MPI)
$(TIDY_LOOPBACK): PLATFORM := $(FOR_LOOPBACK)
$(TIDY_RISCV):    PLATFORM := --target=riscv64-unknown-elf -march=rv64imac -mabi=lp64 -ffreestanding $(FOR_LOOPBACK)
$(TIDY_MPS2):     PLATFORM := --target=arm-none-eabi -mcpu=cortex-m7 -mthumb -ffreestanding -Ihal/bare/libc -Ihal/conformance $(FOR_LOOPBACK)
$(BUILD)/lint/tests/runner/runner.ok: PLATFORM += -I$(BUILD)/loopback
$(BUILD)/lint/tests/runner/runner.ok: $(BUILD)/loopback/suites.h
# TIDY: "3/4" is the third of four parts of the sources; with it go those that the commit and this folder changed.
TIDY ?= 1/1
TIDY_ALL := $(TIDY_RISCV) $(TIDY_MPS2) $(TIDY_SHM) $(TIDY_VIRTUAL) $(TIDY_LOOPBACK) $(TIDY_DPDK)
TIDY_OF_PART = $(shell printf '%s\n' $(TIDY_ALL) | sort -u | awk -v part='$(TIDY)' '{ split(part, of, "/") } NR % of[2] == of[1] - 1')
TIDY_CHANGED = $(patsubst %.c,$(BUILD)/lint/%.ok,$(filter %.c,$(shell git diff --name-only HEAD~1 2>/dev/null)))
lint-tidy: $(if $(filter 1/1,$(TIDY)),$(TIDY_ALL),$(TIDY_OF_PART) $(filter $(TIDY_CHANGED),$(TIDY_ALL)))
lint-tidy-list:
	@printf '%s\n' $(TIDY_OF_PART)
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
	@$(CPPCHECK) $(CPPFLAGS) -Ihal/bare/libc -Ihal/conformance $(FOR_LOOPBACK) $(SOURCES_MPS2)
	@$(if $(SOURCES_VIRTUAL),$(CPPCHECK) $(CPPFLAGS) $(FOR_VIRTUAL) $(SOURCES_VIRTUAL))
	@$(if $(SOURCES_LOOPBACK),$(CPPCHECK) $(CPPFLAGS) $(FOR_LOOPBACK) $(SOURCES_LOOPBACK))
	@$(if $(SOURCES_DPDK),$(CPPCHECK) $(CPPFLAGS) -Ihal/dpdk -Ifirmware $(SOURCES_DPDK))

