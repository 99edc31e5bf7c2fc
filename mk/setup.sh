#!/usr/bin/env bash
# setup.sh GROUP... - installs missing Debian packages of these groups (listed below).
#
# If it may not install, it prints their names in one line and exits with 4. HX_NO_SETUP=1 makes it do nothing, for
# machines that get the packages in another way.
set -euo pipefail

declare -A packages=(
    [build]="gcc make libc6-dev libjansson-dev libyaml-dev libssl-dev libpcap-dev libncurses-dev libexpat1-dev zlib1g-dev libmetis-dev pkg-config libfabric-dev"
    [check]="spin dpdk dpdk-dev libdpdk-dev pkg-config libcmocka-dev bats jq procps util-linux gcc-arm-none-eabi iproute2 tshark g++ groff-base qemu-system-misc qemu-system-arm iputils-ping curl python3-minimal libfabric-bin openmpi-bin libopenmpi-dev valgrind binutils python3-pytest python3-matplotlib python3-pandas python3-prometheus-client"
    [deb]="dpkg-dev libdpdk-dev pkg-config gcc-riscv64-unknown-elf"
    [arm64]="gcc-aarch64-linux-gnu qemu-user-static"
    [firmware]="gcc gcc-riscv64-unknown-elf gcc-arm-none-eabi gcc-aarch64-linux-gnu"
    [bench]="jq dpdk-dev libdpdk-dev pkg-config"
    [fuzz]="clang libclang-rt-14-dev libcmocka-dev"
    [model]="spin gcc libc6-dev"
    [prove]="frama-c-base"
    [lint]="clang-format clang-tidy cppcheck shellcheck"
)

refuse() {
    echo "hxmesh: error: setup: $*" >&2
    exit 4
}

[ "${HX_NO_SETUP:-0}" != 1 ] || exit 0

wanted=()
for group in "$@"; do
    read -ra names <<<"${packages[$group]}"
    wanted+=("${names[@]}")
done

command -v dpkg-query >/dev/null ||
    refuse "this is not a Debian system; install the equivalents of ${wanted[*]}, then set HX_NO_SETUP=1"

present=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for name in "${wanted[@]}"; do
    grep -qx "installed $name" <<<"$present" || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        as_root=(false)
    elif sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    elif [ -t 0 ]; then
        as_root=(sudo)
    else
        as_root=(false)
    fi
fi
hint="missing packages: ${missing[*]} (type: sudo apt-get install --no-install-recommends ${missing[*]})"
[ "${as_root[*]}" != false ] || refuse "$hint"

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >&2
}
echo "setup: installing ${missing[*]}"
if ! apt update || ! apt install --yes --no-install-recommends "${missing[@]}"; then
    refuse "$hint"
fi
