#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are missing, as root. If nothing is missing it does nothing.
# With -n it prints their names and installs nothing. With SNOW_TEST_LONG=1 it includes what make test-long needs.
set -euo pipefail
PATH="$PATH:/usr/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' :)"
has() { command -v "$1" >/dev/null; }

packages=()
{ has mariadbd && has mariadb-install-db; } || packages+=(mariadb-server-core)
has mariadb || packages+=(mariadb-client-core)
{ has initdb && has postgres && has psql; } || packages+=(postgresql)
has pgbouncer || packages+=(pgbouncer)
compgen -G '/usr/lib/galera/libgalera_smm.so' >/dev/null || packages+=(galera-4)
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || packages+=(libfaketime)
[ -e /usr/share/java/zookeeper.jar ] || packages+=(libzookeeper-java)
has java || packages+=(default-jre-headless)
has chromium || packages+=(chromium)
has systemd-analyze || packages+=(systemd)
echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || packages+=(gcc libc6-dev)
[ "${SNOW_TEST_LONG:-}" != 1 ] || has npm || packages+=(npm) # of the generated TypeScript client
[ "${1:-}" != -n ] || { echo "${packages[*]}"; exit 0; }
[ ${#packages[@]} -gt 0 ] || exit 0

if ! has apt-get; then
	echo "Please install what Debian has in these packages: ${packages[*]}" >&2
	exit 1
fi
echo "Installing what the tests need: ${packages[*]}"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# The tests start servers of their own. Debian asks this file whether a package may start one.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap '$sudo rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' | $sudo install -m 755 /dev/stdin "$policy"
fi
$sudo apt-get -o DPkg::Lock::Timeout=300 update -q
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends "${packages[@]}" </dev/null
