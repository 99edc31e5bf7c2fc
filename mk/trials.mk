# trials.mk - long runs and extras: sizes of the firmware, coverage, fuzzing, models, proofs, mutants, soak, benchmarks,
# ports, experiments of papers.

.PHONY: firmware firmware-table coverage model prove fuzz faults soak soak-kill soak-links bench bench-base bench-programs mutants conformance reproduce
firmware: ## compile firmware/ freestanding for host, aarch64, riscv64, Cortex-M and -R; print its size and stack
	@mk/setup.sh firmware
	@mk/firmware.sh $(BUILD)/firmware

firmware-table: ## write these sizes into README.md
	@mk/setup.sh firmware
	@mkdir -p $(BUILD) && mk/firmware.sh $(BUILD)/firmware >$(BUILD)/firmware.sizes
	@mk/firmware_page.sh write README.md <$(BUILD)/firmware.sizes

# FILE: suites with this text in their name (default: all unit tests). Without optimization each line has code of its
# own. CFLAGS in the environment is added to.
coverage: ## run unit tests of the loopback platform, and print how many lines of each folder ran (FILE=test_switch)
	@mk/setup.sh build check
	@CFLAGS=--coverage $(MAKE) $(SYNC) BUILD=$(BUILD)/coverage OPTIMIZE=-O0 OPTIMIZE_FAST=-O0 WHOLE= \
	    $(BUILD)/coverage/test-loopback
	@mk/coverage.sh $(BUILD)/coverage $(FILE)

model: ## search every state of the models in tests/model with spin, larger bounds than the tests included
	@mk/setup.sh model
	@mk/model.sh $(BUILD)/model full

prove: ## have Frama-C show that frame, credit and route code has no undefined behaviour, for all inputs (installs it)
	@mk/setup.sh prove
	@mk/prove.sh $(BUILD)/prove

FUZZ_SECONDS ?= 60
fuzz: ## search for new failing inputs with libFuzzer, FUZZ_SECONDS (60) a target
	@mk/setup.sh build fuzz
	@$(MAKE) $(SYNC) BUILD=$(BUILD)/fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined FUZZ_ENGINE=libfuzzer \
	    fuzz-programs
	@mk/fuzz.sh $(FUZZ_SECONDS) $(BUILD)/fuzz $(patsubst tests/%.c,$(BUILD)/fuzz/tests/%,$(FUZZERS))

RUNS ?= 10000
FAULT_SEED ?= 1
faults: all ## let each link and board of a mesh fail, then RUNS (10000) random schedules over all fabrics, from FAULT_SEED (1)
	@HXMESH=$(BUILD)/hxmesh tests/system/faults_single.bash
	@HXMESH=$(BUILD)/hxmesh tests/system/faults_random.bash $(RUNS) $(FAULT_SEED)

# SOAK_SECONDS: 0: until it is stopped. SOAK_SEED: of the first fabric.
SOAK_SECONDS ?= 0
SOAK_SEED    ?= 1
soak: ## run fabrics drawn from a seed under both clocks and judge them, until told to stop (SOAK_SECONDS=, SOAK_SEED=1)
	@mk/setup.sh build check
	@$(MAKE) $(SYNC) all
	@mk/soak.sh $(BUILD)/soak $(BUILD)/hxmesh $(SOAK_SECONDS) $(SOAK_SEED)

# KILLS: number of kills; SPEC: fabric for cutting links; SEED: of random times.
KILLS ?= 2000
SPEC  ?= 4x4 Hx2Mesh
soak-kill: all ## kill workers of live fabrics at random moments (KILLS=2000, SEED=1): nothing is lost
	@SEED=$(SEED) HXMESH=$(BUILD)/hxmesh mk/soak_faults.sh kill $(KILLS)
soak-links: all ## cut every link and board of a live fabric under full traffic (SPEC="4x4 Hx2Mesh"): times until it was whole
	@SEED=$(SEED) HXMESH=$(BUILD)/hxmesh mk/soak_faults.sh links "$(SPEC)"

BENCH_PROGRAMS := $(BENCHES:tests/%.c=$(BUILD)/%)
BENCH_DPDK     := $(patsubst tests/%.c,$(BUILD)/%,$(filter $(ON_DPDK),$(BENCHES)))
$(BENCH_DPDK): LDLIBS += $(DPDK_LIBS)
$(BENCH_DPDK): $(BUILD)/bench/%: $(BUILD)/dpdk/tests/bench/%.o $(call objects,dpdk,$(BENCHES_SHARED)) \
    $(BUILD)/plain/hal/shm/clock.o $(LIB_DPDK_NODE) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_DPDK)
	$(LINK)
$(filter-out $(BENCH_DPDK),$(BENCH_PROGRAMS)): $(BUILD)/bench/%: $(BUILD)/shm/tests/bench/%.o \
    $(call objects,shm,$(filter-out $(ON_DPDK),$(BENCHES_SHARED))) $(LIB_LIVE) $(LIB_EMULATOR) $(LIB_WORKLOAD) $(LIB_HOST) $(LIB_SHM)
	$(LINK)
bench-programs: $(BENCH_PROGRAMS)
	@:
bench: ## measure; figures on screen and in build/bench.json
	@mk/setup.sh build bench
	@$(MAKE) $(SYNC) all bench-programs
	@mk/bench.sh $(BUILD) $(BENCH_PROGRAMS)

# BASE: another source tree with a build; PAIRS: of runs a row; ROW: a regular expression; OPTIONS: of this build alone.
BASE  ?=
PAIRS ?= 5
ROW   ?= .
OPTIONS ?=
bench-base: ## compare rates with the build of another source tree, in turns (BASE=TREE, PAIRS=5, ROW=, OPTIONS="--train 4")
	@mk/setup.sh build bench
	@$(MAKE) $(SYNC) all bench-programs
	@OPTIONS_OF_B="$(OPTIONS)" mk/bench_base.sh "$(BASE)" . $(PAIRS) "$(ROW)"

# FILE: sources (default: all with judges in mk/mutants.sh), or FILE:LINE; MUTANTS: number, or all; SEED: of the choice.
MUTANTS ?= 60
SEED    ?= 1
mutants: ## change single tokens of firmware and platforms, and see that tests notice (FILE=, MUTANTS=60, SEED=1)
	@mk/setup.sh build check
	@MUTANTS=$(MUTANTS) SEED=$(SEED) mk/mutants.sh $(BUILD)/mutants $(FILE)

PORT ?= hal/loopback
conformance: ## try the port in the folder PORT (hal/loopback) against the contract of include/hxmesh/hal.h
	@$(MAKE) -f hal/conformance/Makefile PORT=$(PORT) OUT=$(BUILD)/conformance/$(notdir $(PORT))

# REPRODUCE: options of `hxmesh reproduce`, such as --quick, --full or --minutes 30.
REPRODUCE ?=
reproduce: ## redo the paper's experiments; tables, JSON and plots in build/reproduce (REPRODUCE=--quick: in a minute)
	@mk/setup.sh build
	@$(MAKE) $(SYNC) all
	@$(BUILD)/hxmesh reproduce all --out $(BUILD)/reproduce $(REPRODUCE)
	@echo "figures:" && find $(BUILD)/reproduce -name "*.svg" | sort
