# diameter2.bash - runs of the diameter-two study, as `hxmesh reproduce diameter2` makes them.
#
# shellcheck shell=bash
. docs/figures/common.bash

# share SPEC ROUTING OPTION...: of injection, per cent.
share() {
    value .share_of_injection "$1 routing=$2" --timing sc15 --buffer 3200KiB --seed 1 "${@:3}" | percent 1
}

# at_full_load SPEC ROUTING TRAFFIC: what is carried if all is offered.
at_full_load() { share "$1" "$2" -t "$3" -m 64KiB --rate 1 -d 300us --warm-up 30us; }

# exchange SPEC ROUTING all-to-all-random|neighbour-3d SIZE
exchange() { share "$1" "$2" -t "$3" -m "$4"; }
