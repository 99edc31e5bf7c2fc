#!/usr/bin/env bash
# sysroot.sh ARCHITECTURE FOLDER - libraries and headers of Debian for another architecture, unpacked into FOLDER.
#
# What hxmesh and its tests link, with all that it depends on, from the machine's own Debian sources: nothing is
# installed, the machine's packages stay as they are, nobody need be root. FOLDER/packages says what is in it, and
# nothing is done when that is what is wanted. Exits 4 with one line where Debian cannot be reached.
set -euo pipefail

architecture=$1 folder=$2
wanted=(libc6-dev libgcc-12-dev libdpdk-dev libjansson-dev libyaml-dev libssl-dev libpcap-dev libncurses-dev libfabric-dev libcmocka-dev)

[ "$(cat "$folder/packages" 2>/dev/null)" != "${wanted[*]}" ] || exit 0
rm -rf "$folder"
apt=$(realpath -m "$folder")/var/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
touch "$apt/status"

# A world of packages of its own, in which none is installed yet.
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
# A link to /lib would lead out of the folder.
find "$folder" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
    ln -sfr "$folder$target" "$link"
done
rm -rf "$apt"
echo "${wanted[*]}" >"$folder/packages"
