#!/usr/bin/env bash
# sysroot.sh ARCHITECTURE FOLDER - unpacks Debian's libraries and headers for another architecture into FOLDER.
#
# It fetches what hxmesh and its tests link, with all dependencies, from the machine's own Debian sources. It installs
# nothing, changes no packages of the machine, and needs no root. FOLDER/packages lists the contents; if they are as
# wanted, it does nothing. Exits with 4 and one line if Debian cannot be reached.
set -euo pipefail

architecture=$1 folder=$2
wanted=(libc6-dev libgcc-12-dev libdpdk-dev libjansson-dev libyaml-dev libssl-dev libpcap-dev libncurses-dev libexpat1-dev zlib1g-dev libmetis-dev libfabric-dev libcmocka-dev)

[ "$(cat "$folder/packages" 2>/dev/null)" != "${wanted[*]}" ] || exit 0
rm -rf "$folder"
apt=$(realpath -m "$folder")/var/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
touch "$apt/status"

# A separate package state, in which nothing is installed.
apt() {
    apt-get -qq -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o APT::Sandbox::User= \
        -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" "$@" >"$apt/log" 2>&1 || {
        echo "hxmesh: error: $folder: no packages for $architecture: $(grep -m1 ^E: "$apt/log") (sources: /etc/apt)" >&2
        exit 4
    }
}
echo "sysroot: unpacking Debian's libraries for $architecture into $folder"
apt update
apt install --yes --no-install-recommends --download-only "${wanted[@]}"

mkdir -p "$folder/usr/lib" "$folder/usr/bin" "$folder/usr/sbin"
ln -s usr/lib usr/bin usr/sbin "$folder"
for package in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --no-same-owner --directory "$folder" \
        --exclude='./usr/share/[dlm]*' # documentation, languages, manuals
done
# An absolute link would lead out of the folder.
find "$folder" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
    ln -sfr "$folder$target" "$link"
done
rm -rf "$apt"
echo "${wanted[*]}" >"$folder/packages"
