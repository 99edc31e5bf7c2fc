# compile.mk - rules for objects, libraries and programs.
#
# A platform has a compiler (COMPILER.NAME), flags (FLAGS.NAME) and a folder of objects, $(BUILD)/NAME. An object
# depends on its includes and on $(BUILD)/flags/NAME, which is rewritten when the compiler or a flag changes.

PLATFORMS := shm virtual loopback dpdk plain shared shared-virtual riscv-virt mps2

# Use ccache if it is installed.
CC       := $(if $(filter default,$(origin CC)),$(if $(call found,ccache),ccache )gcc,$(CC))
RISCV    := $(if $(call found,riscv64-unknown-elf-gcc),riscv64-unknown-elf-gcc)
CORTEX_M := $(if $(call found,arm-none-eabi-gcc),arm-none-eabi-gcc)
MPICC    := $(if $(SANITIZE),,$(if $(call found,mpicc),mpicc))
# Include folders of Open MPI. As system headers, its raise no warnings.
OPEN_MPI = $(addprefix -isystem ,$(if $(MPICC),$(shell $(MPICC) --showme:incdirs)))

CPPFLAGS += -D_GNU_SOURCE -Iinclude -I. -Ilib -Ihal
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# Equal bytes in any folder.
ANY_FOLDER := -fdebug-prefix-map=$(CURDIR)=. -fmacro-prefix-map=$(CURDIR)=.
CFLAGS   += -std=c11 -g $(ANY_FOLDER)
LDLIBS   += -ljansson -lyaml -lcrypto -lpcap -lexpat -lz -lm -lrt -pthread

# Include folders that bind the HAL: each platform has its own hal_port.h, and that one the internal headers of
# firmware/.
FOR_SHM      := -Ihal/shm -Ifirmware
FOR_VIRTUAL  := -Ihal/virtual -Ifirmware
FOR_LOOPBACK := -Ihal/loopback -Ifirmware
ifneq ($(DPDK),)
# As system headers, DPDK's raise no warnings. Debian builds it for corei7 (SSE 4.2) and up.
FOR_DPDK  := -Ihal/dpdk -Ifirmware $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libdpdk))
DPDK_LIBS := $(shell pkg-config --libs libdpdk) -lrte_net_ring
endif

# SANITIZE=address,undefined (or thread): set by the asan, tsan and fuzz targets, each with its own BUILD.
SANITIZE ?=
ifeq ($(SANITIZE),)
CFLAGS       += $(WARNINGS) -Werror
OPTIMIZE     := -O2
OPTIMIZE_FAST := -O3
# Link-time optimization for programs linked with $(WHOLE). Objects also hold plain code for other programs.
WHOLE := -flto=auto
else
# No warnings: instrumented code raises false ones, and the plain build reports the true ones. No PIE: a short command
# would spend a quarter of its time on relocations. Reports need the lines of calls, not variables (-g1).
CFLAGS       += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie -g1
LDFLAGS      += -no-pie
OPTIMIZE     := -O1
OPTIMIZE_FAST := -O1
endif

FLAGS.shm      = $(CPPFLAGS) $(FOR_SHM) $(CFLAGS) $(OPTIMIZE_FAST)
FLAGS.virtual  = $(CPPFLAGS) $(FOR_VIRTUAL) $(CFLAGS) $(OPTIMIZE_FAST) $(WHOLE:%=% -ffat-lto-objects)
FLAGS.loopback = $(CPPFLAGS) $(FOR_LOOPBACK) $(CFLAGS) $(OPTIMIZE)
FLAGS.dpdk     = $(CPPFLAGS) $(FOR_DPDK) $(CFLAGS) $(OPTIMIZE_FAST)
FLAGS.plain    = $(CPPFLAGS) $(CFLAGS) $(OPTIMIZE)
# The same for a shared object, which shows only what a public header says. It may be loaded late, with a few words of
# memory for each thread.
FOR_SHARED := -fPIC -fvisibility=hidden -ftls-model=initial-exec
FLAGS.shared         = $(FLAGS.plain) $(FOR_SHARED)
FLAGS.shared-virtual = $(FLAGS.virtual) $(FOR_SHARED)
COMPILER.riscv-virt = $(RISCV)
COMPILER.mps2       = $(CORTEX_M)

# The loop in memcpy must not become a call of memcpy. Unused sections are dropped by the linker.
FOR_BARE := -std=c11 -O2 -g $(ANY_FOLDER) $(WARNINGS) -Werror -ffreestanding -fno-pic -fno-tree-loop-distribute-patterns \
    -ffunction-sections -fdata-sections -Iinclude -I. -Ilib -Ihal $(FOR_LOOPBACK)
FOR_RISCV    := -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany -mno-strict-align
# One image with the conformance kit and a fabric: each granted block has a buffer, and there are 16 MiB for them.
FOR_CORTEX_M := -mcpu=cortex-m7 -mthumb -Ihal/bare/libc -Ihal/conformance -DCONFORMANCE_BLOCKS=36
FLAGS.riscv-virt = $(FOR_RISCV) $(FOR_BARE)
FLAGS.mps2       = $(FOR_CORTEX_M) $(FOR_BARE)

# Extra flags of single sources.
#   Code of shared objects; the provider exports only its entry point.
IN_SHARED_OBJECTS := $(PROGRAM) $(HAL_PROGRAM) $(PROVIDER) hal/wire/passing.c
#   The only code without a HAL that touches each byte of payload.
FAST_PLAIN := lib/workload/payload.c
#   Tests compile fast rather than run fast. A test's main() is one of many in its platform's runner.
suite_symbol = suite_$(subst /,_,$(patsubst tests/%.c,%,$(1)))
FLAGS_OF = $(if $(filter $<,$(IN_SHARED_OBJECTS)),-fPIC) $(if $(filter $<,$(PROVIDER)),-fvisibility=hidden) \
    $(if $(filter plain shared,$(1)),$(if $(filter $<,$(FAST_PLAIN)),$(OPTIMIZE_FAST))) \
    $(if $(filter $<,$(TESTS) $(SUPPORT)),-O1) $(if $(filter $<,$(TESTS)),-Dmain=$(call suite_symbol,$<) -Wno-missing-prototypes) \
    $(if $(filter tests/runner/%,$<),-I$(BUILD)/$(1)) $(if $(filter dpdk_tests/bench/%,$(1)_$<),-Ihal/shm)

# $(call compile,PLATFORM): the command that compiles an object.
compile = $(or $(COMPILER.$(1)),$(CC)) $(FLAGS.$(1))
define OBJECTS_OF_PLATFORM
$(BUILD)/$(1)/%.o: %.c $(BUILD)/flags/$(1)
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  CC   $$@")
	$$(Q)$$(call compile,$(1)) $$(call FLAGS_OF,$(1)) -MMD -MP -c $$< -o $$@
$(BUILD)/$(1)/%.o: %.S $(BUILD)/flags/$(1)
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  AS   $$@")
	$$(Q)$$(call compile,$(1)) -MMD -MP -c $$< -o $$@
-include $$(wildcard $$(addprefix $(BUILD)/$(1)/,*/*.d */*/*.d */*/*/*.d))
endef
$(foreach platform,$(PLATFORMS),$(eval $(call OBJECTS_OF_PLATFORM,$(platform))))

# $(call write_if_new,TEXT): the command that writes TEXT to $@ unless it is there already.
write_if_new = mkdir -p $(@D) && echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
.PHONY: always
always:
$(BUILD)/flags/%: always
	@$(call write_if_new,$(call compile,$*) $(value FLAGS_OF))

# A library depends on the list of sources too: make does not build a missing object for a library that seems current.
$(BUILD)/flags/sources: always
	@$(call write_if_new,$(sort $(filter-out tests/% examples/%,$(SOURCES))))

# Quick append (q), since two folders may have files of one name.
$(BUILD)/%.a: $(BUILD)/flags/sources
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) qcs $@ $(filter %.o,$^)

# Objects first: a library's main() is linked only if no object has one.
define LINK
@mkdir -p $(@D)
$(if $(Q),@echo "  LINK $@")
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -o $@
endef

# $(call link_image,COMPILER,FLAGS): links an image without an operating system.
define link_image
@mkdir -p $(@D)
$(if $(Q),@echo "  LINK $@")
$(Q)$(1) $(2) -nostdlib -static -Wl,--gc-sections -Wl,--no-warn-rwx-segments -T $(filter %.ld,$^) $(filter %.o,$^) -lgcc -o $@
@chmod -x $@
endef
