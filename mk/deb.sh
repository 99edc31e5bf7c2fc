#!/usr/bin/env bash
# deb.sh BUILD OUT [CC] - makes Debian packages of what `make install` installs, for CC's target machine, in OUT.
#
# mk/install.sh lists the files, mk/packaging/debian/control the packages, and PACKAGE.files the files of a package. The
# first package gets all other files, so none is forgotten. A package without built files is left out. Builds are
# reproducible: times are those of the last commit, or of SOURCE_DATE_EPOCH.
set -euo pipefail

build=$1 out=$2 cc=${3:-gcc}
mkdir -p "$out"
out=$(realpath "$out")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

architecture() { dpkg-architecture --host-type "$($cc -dumpmachine)" --query "$1" 2>/dev/null; }
arch=$(architecture DEB_HOST_ARCH)
tools=$(architecture DEB_HOST_GNU_TYPE)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat --format=%Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH

root=$folder/root
umask 022
DESTDIR=$root mk/install.sh install "$build" /usr "lib/$(architecture DEB_HOST_MULTIARCH)"
version=$(sed -n 's/^Version: //p' "$build/hxmesh.pc")
find "$root" -type f \( -name '*.so' -o -name '*.so.*' -o -path '*/bin/*' \) ! -name '*.elf' -exec "$tools-strip" --strip-unneeded {} +
command -v riscv64-unknown-elf-strip >/dev/null && find "$root" -name '*.elf' -exec riscv64-unknown-elf-strip --strip-debug {} +
find "$root" -name '*.a' -exec "$tools-strip" --strip-debug --enable-deterministic-archives {} +
find "$root/usr/share/man" -type f -exec gzip -9n {} +

# Input for Debian's tools: a folder debian/ with control and changelog.
cp -r mk/packaging/debian "$folder"
{ cat mk/packaging/debian/copyright && sed 's/^$/./; s/^/ /' LICENSE; } >"$folder/debian/copyright"
cat >"$folder/debian/changelog" <<END
hxmesh ($version) unstable; urgency=medium

  * /usr/share/doc/hxmesh/CHANGELOG.md says what is new.

 -- $(sed -n 's/^Maintainer: //p' mk/packaging/debian/control)  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END

# take PACKAGE: moves its files from the root into its own tree.
take() {
    local pattern path
    [ -e "mk/packaging/debian/$1.files" ] || { mv "$root" "$folder/$1" && return; }
    while read -r pattern; do
        for path in "$root"/$pattern "$root"/$pattern.gz; do
            [ -e "$path" ] || [ -L "$path" ] || continue
            path=${path#"$root/"}
            mkdir -p "$folder/$1/${path%/*}"
            mv "$root/$path" "$folder/$1/$path"
        done
    done <"mk/packaging/debian/$1.files"
    find "$root" -mindepth 1 -type d -empty -delete
}

# pack PACKAGE: makes the package from its tree.
pack() {
    local tree=$folder/$1 binaries
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$1"
    cp "$folder/debian/copyright" "$tree/usr/share/doc/$1/copyright"
    gzip -9n <"$folder/debian/changelog" >"$tree/usr/share/doc/$1/changelog.gz"
    [ ! -e "mk/packaging/debian/$1.lintian-overrides" ] ||
        install -D -m 644 "mk/packaging/debian/$1.lintian-overrides" "$tree/usr/share/lintian/overrides/$1"
    # Other packages find the library by these, and its links are made when it is installed.
    [ ! -e "mk/packaging/debian/$1.shlibs" ] || {
        cp "mk/packaging/debian/$1.shlibs" "$tree/DEBIAN/shlibs"
        echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
    }
    mapfile -t binaries < <(find "$tree" -type f \( -name '*.so' -o -name '*.so.*' -o -path '*/bin/*' \) ! -name '*.elf')
    (
        cd "$folder"
        : >debian/substvars
        [ ${#binaries[@]} -eq 0 ] || dpkg-shlibdeps --warnings=1 "${binaries[@]}"
        dpkg-gencontrol -DArchitecture="$arch" -p"$1" -P"$tree"
        cd "$tree"
        find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort --zero-terminated | xargs -0 md5sum >DEBIAN/md5sums
    )
    dpkg-deb --root-owner-group --build "$tree" "$out" >/dev/null
    echo "$out/$1_${version}_$arch.deb"
}

mapfile -t packages < <(sed -n 's/^Package: //p' mk/packaging/debian/control)
for package in "${packages[@]:1}" "${packages[0]}"; do
    take "$package"
    if [ -d "$folder/$package" ]; then
        pack "$package"
    else
        echo "left out: $package, of which nothing was built" >&2
    fi
done
