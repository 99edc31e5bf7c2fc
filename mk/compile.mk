# compile.mk - how an object, a library and a program are made.
#
# A platform has a compiler (COMPILER.NAME), flags (FLAGS.NAME) and a folder of objects, $(BUILD)/NAME. An object
# depends on what it includes and on $(BUILD)/flags/NAME, which is written anew where the compiler or a flag differs.

PLATFORMS := shm virtual loopback dpdk plain riscv-virt mps2

# ccache, where it is there.
CC       := $(if $(filter default,$(origin CC)),$(if $(call found,ccache),ccache )gcc,$(CC))
RISCV    := $(if $(call found,riscv64-unknown-elf-gcc),riscv64-unknown-elf-gcc)
CORTEX_M := $(if $(call found,arm-none-eabi-gcc),arm-none-eabi-gcc)

CPPFLAGS += -D_GNU_SOURCE -Iinclude -I. -Ihal
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS   += -std=c11 -g
LDLIBS   += -ljansson -lyaml -lcrypto -lpcap -lm -lrt -pthread

# What binds the HAL: a platform sees its own hal_port.h, and that one the internal headers of firmware/.
FOR_SHM      := -Ihal/shm -Ifirmware
FOR_VIRTUAL  := -Ihal/virtual -Ifirmware
FOR_LOOPBACK := -Ihal/loopback -Ifirmware
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
# No warnings here: instrumented code raises false ones, and the plain build has had the true ones. At a fixed address:
# a quarter of what a short command took went into its relocations, of which this code has thousands.
CFLAGS       += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie
LDFLAGS      += -no-pie
OPTIMIZE     := -O1
OPTIMIZE_FAST := -O1
endif

FLAGS.shm      = $(CPPFLAGS) $(FOR_SHM) $(CFLAGS) $(OPTIMIZE_FAST)
FLAGS.virtual  = $(CPPFLAGS) $(FOR_VIRTUAL) $(CFLAGS) $(OPTIMIZE_FAST) $(WHOLE:%=% -ffat-lto-objects)
FLAGS.loopback = $(CPPFLAGS) $(FOR_LOOPBACK) $(CFLAGS) $(OPTIMIZE)
FLAGS.dpdk     = $(CPPFLAGS) $(FOR_DPDK) $(CFLAGS) $(OPTIMIZE_FAST)
FLAGS.plain    = $(CPPFLAGS) $(CFLAGS) $(OPTIMIZE)
COMPILER.riscv-virt = $(RISCV)
COMPILER.mps2       = $(CORTEX_M)

# No call of memcpy may be made out of the loop in memcpy; what no image needs is left out when it is linked.
FOR_BARE := -std=c11 -O2 -g $(WARNINGS) -Werror -ffreestanding -fno-pic -fno-tree-loop-distribute-patterns \
    -ffunction-sections -fdata-sections -Iinclude -I. -Ihal $(FOR_LOOPBACK)
FOR_RISCV    := -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany -mno-strict-align
# The conformance kit and a fabric, in one image: each block that is granted has a buffer, and there are 16 MiB for
# them.
FOR_CORTEX_M := -mcpu=cortex-m7 -mthumb -Ihal/bare/libc -Iconformance -DCONFORMANCE_BLOCKS=36
FLAGS.riscv-virt = $(FOR_RISCV) $(FOR_BARE)
FLAGS.mps2       = $(FOR_CORTEX_M) $(FOR_BARE)

# What single sources need beyond their platform's flags.
#   Code of shared objects; the provider shows nothing but its entry.
IN_SHARED_OBJECTS := $(PROGRAM) $(HAL_PROGRAM) $(PROVIDER) hal/wire/passing.c
#   Of all that knows no HAL, this alone touches each byte of payload.
FAST_PLAIN := workload/payload.c
#   Tests are compiled faster than they would run. A test's main() is one of many in its platform's runner.
suite_symbol = suite_$(subst /,_,$(patsubst tests/%.c,%,$(1)))
FLAGS_OF = $(if $(filter $<,$(IN_SHARED_OBJECTS)),-fPIC) $(if $(filter $<,$(PROVIDER)),-fvisibility=hidden) \
    $(if $(filter plain,$(1)),$(if $(filter $<,$(FAST_PLAIN)),$(OPTIMIZE_FAST))) \
    $(if $(filter $<,$(TESTS) $(SUPPORT)),-O1) $(if $(filter $<,$(TESTS)),-Dmain=$(call suite_symbol,$<) -Wno-missing-prototypes) \
    $(if $(filter tests/runner/%,$<),-I$(BUILD)/$(1)) $(if $(filter dpdk_tests/bench/%,$(1)_$<),-Ihal/shm)

# $(call compile,PLATFORM): the command of an object.
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

# $(call write_if_new,TEXT): the command that gives $@ this text, and leaves it alone where it has it.
write_if_new = mkdir -p $(@D) && echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
.PHONY: always
always:
$(BUILD)/flags/%: always
	@$(call write_if_new,$(call compile,$*) $(value FLAGS_OF))

# Quick append (q), since two folders may hold files of one name.
$(BUILD)/%.a:
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(AR) qcs $@ $^

# Objects first: a library's main() is taken only where none of them has one.
define LINK
@mkdir -p $(@D)
$(if $(Q),@echo "  LINK $@")
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -o $@
endef

# An image without an operating system: $(call link_image,COMPILER,FLAGS).
define link_image
@mkdir -p $(@D)
$(if $(Q),@echo "  LINK $@")
$(Q)$(1) $(2) -nostdlib -static -Wl,--gc-sections -Wl,--no-warn-rwx-segments -T $(filter %.ld,$^) $(filter %.o,$^) -lgcc -o $@
@chmod -x $@
endef
