# Makefile - builds, tests and checks hxmesh. `make help` lists the targets.
#
#   mk/sources.mk    what there is: sources by folder and platform; a new file in a folder named there is picked up by itself
#   mk/compile.mk    how an object, a library and a program are made; the flags of each platform
#   mk/programs.mk   libraries, programs and images
#   mk/tests.mk      test programs, `make check` and its parts
#   mk/trials.mk     what runs for long: fuzzing, models, proofs, mutants, soak, benchmarks, experiments
#   mk/lint.mk       clang-format, clang-tidy, cppcheck, shellcheck
#   mk/install.mk    installing, packages, documents
#
# Everything built lies below $(BUILD):
#   shm/, virtual/, loopback/   objects compiled against that platform's hal_port.h; firmware is compiled once for each
#   dpdk/             likewise for DPDK, if pkg-config finds libdpdk; without it the node, its tests and benchmarks are left out
#   riscv-virt/, mps2/   objects of images without an operating system, if their compiler is there
#   plain/            objects that know no HAL: base/ to workload/, tools/ and what both emulators share
#   flags/            what each platform's objects are compiled with: they depend on it
#   test-PLATFORM     all unit and property tests of a platform
#   tests/, bench/    programs that tests use, fuzz targets, benchmarks
#   asan/, tsan/, fuzz/   the same tree again, built with sanitizers or for libFuzzer
#   arm64/            the same tree again, for another processor; its sysroot/ has Debian's libraries for that
#   mutants/          a copy of the sources with one token changed at a time, and what is built of it

BUILD  ?= build
PREFIX ?= /usr/local
LIBDIR ?= lib

# $(call found,PROGRAM): its path, if it is there.
found = $(firstword $(wildcard $(addsuffix /$(1),$(subst :, ,$(PATH)))))

# All cores. Where things are only built, a recipe's output comes in one piece; what runs programs shows their progress.
SYNC := --output-sync=target
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory $(if $(filter-out all,$(MAKECMDGOALS)),,$(SYNC))
endif
Q := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
# Objects that only a pattern names stay.
.PRECIOUS: $(BUILD)/%.o
.SUFFIXES:

include mk/sources.mk mk/compile.mk mk/programs.mk mk/tests.mk mk/trials.mk mk/lint.mk mk/install.mk

.PHONY: demo clean help setup
demo: ## set up, build, run a small HammingMesh and move verified data through it
	@mk/setup.sh build
	@$(MAKE) $(SYNC) all
	@$(BUILD)/hxmesh demo

setup: ## install the Debian packages that all these targets need
	@mk/setup.sh build check deb firmware bench fuzz lint

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9 -]*:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
