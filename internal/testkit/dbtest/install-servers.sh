#!/usr/bin/env bash
# Fills a folder with the programs of newer servers than the system has: MySQL, MariaDB with Galera, PostgreSQL and PgBouncer of
# Debian's unstable suite, or of the one that SNOW_SUITE names. Nothing is installed into the system, and no root is needed:
# the packages are unpacked, and their programs are made to use the C library that is unpacked beside them.
#
# The folder is SNOW_SERVERS, else /var/cache/snow-servers for root and ~/.cache/snow-servers for others. (PostgreSQL refuses
# to run as root, and other accounts can't read root's home.) Each product has a folder there with its version, such as
# mysql-9.7. Products that are there are left as they are; -u replaces those of which the suite has another version.
#
# It ends with 3 if the packages can't be had.
set -euo pipefail

folder=${SNOW_SERVERS:-}
if [ -z "$folder" ]; then
	[ "$(id -u)" = 0 ] && folder=/var/cache/snow-servers || folder=${XDG_CACHE_HOME:-$HOME/.cache}/snow-servers
fi
suite=${SNOW_SUITE:-unstable}
products=(mysql mariadb postgres pgbouncer)

# packages prints the names of a product's packages. The first one has the product's version.
packages() {
	case $1 in
	mysql) echo mysql-server-core mysql-client-core ;;
	mariadb) echo mariadb-server-core mariadb-client-core galera-4 ;;
	postgres) apt-cache pkgnames postgresql- | grep -E '^postgresql-[0-9]+$' | sort -V | tail -n 1 ;;
	pgbouncer) echo pgbouncer ;;
	esac
}

unavailable() {
	echo "install-servers: $*" >&2
	exit 3
}

# installed lists what is complete: the last file of a product is its list of packages.
installed() {
	local product list
	for product in "${products[@]}"; do
		for list in "$folder/$product"-*/packages; do
			[ ! -e "$list" ] || echo "$(basename "$(dirname "$list")"): $(head -n 1 "$list") and $(($(wc -l <"$list") - 1)) more packages"
		done
	done
}

complete() {
	local product
	for product in "${products[@]}"; do compgen -G "$folder/$product-*/packages" >/dev/null || return 1; done
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd -P) # the programs will have its path
exec 9>"$folder/lock"
flock 9
if [ "${1:-}" != -u ] && complete; then
	installed
	exit
fi
for program in apt-get dpkg-deb; do command -v $program >/dev/null || unavailable "$program not found: this needs Debian or a relative of it"; done
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] || unavailable "Debian's keys not found: apt-get install debian-archive-keyring"

# An apt of its own that believes that nothing is installed, so that it downloads the libraries too.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,archives,etc}/partial
touch "$work/status"
mirror=$(apt-get indextargets --format '$(SITE)' | grep '/debian$' | head -n 1) || unavailable "apt knows no mirror of Debian"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::status "$work/status";
Dir::State::lists "$work/lists";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/etc";
Dir::Etc::preferencesparts "$work/etc";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
END
export APT_CONFIG=$work/apt.conf
apt-get update -qq --error-on=any >"$work/log" 2>&1 || unavailable "no list of the packages of $suite: $(tail -n 1 "$work/log")"

# unpack NAME FOLDER PACKAGE... downloads packages and all that they need, and unpacks them.
unpack() {
	local name=$1 root=$2 deb
	shift 2
	apt-get install -qq --print-uris "$@" >"$work/uris" 2>"$work/log" || unavailable "$name: $(tail -n 1 "$work/log")"
	echo "$name: downloading $(wc -l <"$work/uris") packages of $suite, $(awk '{ n += $3 } END { print int(n / 1e6) }' "$work/uris") MB"
	apt-get install -qq -y --download-only "$@" >"$work/log" 2>&1 || unavailable "$name: $(tail -n 1 "$work/log")"
	mkdir -p "$root"
	for deb in "$work"/archives/*.deb; do
		dpkg-deb -x "$deb" "$root"
		rm "$deb"
	done
	rm -rf "$root"/usr/share/{doc,locale,man,perl,i18n} "$root"/usr/lib/*/{perl,perl-base}
}

# library FOLDER prints the folder of the C library that is unpacked there.
library() { dirname "$(compgen -G "$1/usr/lib/*/libc.so.6")"; }
loader() { compgen -G "$(library "$1")/ld-linux*.so.*"; }

tool=$work/patchelf
unpack patchelf "$tool" patchelf
patchelf() { "$(loader "$tool")" --library-path "$(library "$tool")" "$tool/usr/bin/patchelf" "$@"; }

for product in "${products[@]}"; do
	if [ "${1:-}" != -u ] && compgen -G "$folder/$product-*/packages" >/dev/null; then continue; fi
	names=$(packages "$product")
	[ -n "$names" ] || unavailable "$product: no such package in $suite"
	version=$(apt-cache show --no-all-versions "${names%% *}" 2>/dev/null | sed -n 's/^Version: //p')
	[ -n "$version" ] || unavailable "$product: no package ${names%% *} in $suite"
	short=$(sed -E 's/^[0-9]+://; s/^([0-9]+(\.[0-9]+)?).*/\1/' <<<"$version")
	[ "$product" != postgres ] || short=${short%%.*}
	root=$folder/$product-$short
	if [ -e "$root/packages" ] && grep -qxF "${names%% *} $version" "$root/packages"; then continue; fi
	rm -rf "$root"
	# shellcheck disable=SC2086 # the names are words
	unpack "$product" "$root" $names
	for program in "$root"/usr/{bin,sbin}/{mysql,maria,my_,aria,inno,resolveip,pgb}* "$root"/usr/lib/postgresql/*/bin/*; do
		[ -f "$program" ] && [ ! -L "$program" ] && [ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || continue
		patchelf --set-interpreter "$(loader "$root")" --force-rpath --set-rpath "$(library "$root")" "$program"
	done
	{ echo "${names%% *} $version" && awk '{ print $2 }' "$work/uris" | sed -E 's/_/ /; s/_[^_]*\.deb$//; s/%3a/:/' | grep -vxF "${names%% *} $version"; } >"$root/packages.new"
	mv "$root/packages.new" "$root/packages"
done
installed
