# Makefile - builds, tests and checks hxmesh. `make help` lists the targets.
#
#   mk/sources.mk    sources by folder and platform; a new file in one of these folders is found by itself
#   mk/compile.mk    rules for objects, libraries and programs; the flags of each platform
#   mk/programs.mk   libraries, programs and images
#   mk/tests.mk      test programs, `make check` and its parts
#   mk/trials.mk     long runs: fuzzing, models, proofs, mutants, soak, benchmarks, experiments
#   mk/lint.mk       clang-format, clang-tidy, cppcheck, shellcheck
#   mk/install.mk    installation, packages, documents
#
# Everything built is in $(BUILD):
#
#   shm/, virtual/, loopback/   objects compiled for that platform's hal_port.h; firmware is compiled once for each
#   dpdk/             the same for DPDK, if pkg-config finds libdpdk; else there is no node, and no tests or benchmarks of it
#   riscv-virt/, mps2/   objects of images without an operating system, if there is a compiler for them
#   plain/            objects without a HAL: lib/, tools/, and what both emulators share
#   flags/            compiler flags of each platform; objects depend on them
#   test-PLATFORM     all unit and property tests of a platform
#   tests/, bench/    programs that tests use, fuzz targets, benchmarks
#   asan/, tsan/, fuzz/   the same tree again, built with sanitizers or for libFuzzer
#   arm64/            the same tree again, for another processor; its sysroot/ has Debian's libraries for it
#   mutants/          a copy of the sources with one token changed at a time, and its build

BUILD  ?= build
PREFIX ?= /usr/local
LIBDIR ?= lib

# $(call found,PROGRAM): its path, or empty.
found = $(firstword $(wildcard $(addsuffix /$(1),$(subst :, ,$(PATH)))))

# Use all cores. When make only builds, each recipe's output stays together; runs of programs show their progress.
SYNC := --output-sync=target
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory $(if $(filter-out all,$(MAKECMDGOALS)),,$(SYNC))
endif
Q := $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
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
