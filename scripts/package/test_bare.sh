#!/usr/bin/env bash
# Installs the packages on a bare Debian 12 without network, compiler or Sindri's dependencies, and runs the quickstart there:
#   scripts/package/test_bare.sh [wheel] [deb]      (default: both; scripts/package.sh must have created them)
#   scripts/package/test_bare.sh same              packs both twice and compares the files
# The wheel's system has only Python and NumPy; the one for the Debian packages has apt and their dependencies, downloaded beforehand. Prints sizes and times.
# The systems are folders under /tmp. mmdebstrap creates each from the mirror in half a minute; it is kept as build/packages/bare-*.tar. Without root, mmdebstrap
# or the mirror, the test prints the reason and is skipped. On a busy machine, MOST_SECONDS=60 raises the limit of 20 s for each step.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0; fi
packages=$PWD/build/packages most_seconds=${MOST_SECONDS:-20} most_megabytes=60
skip() { echo "bare system: skipped: $*"; exit 0; }
fail() { echo "error: $*" >&2; exit 1; }
[[ $(id -u) -eq 0 ]] || skip "needs root for chroot and a network namespace"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed (scripts/install_deps.sh)"
unshare -mn true 2>/dev/null || skip "namespaces are not available"

temp=$(mktemp -d /tmp/sindri-bare-XXXXXX)
trap 'rm -rf --one-file-system "$temp"' EXIT

# inside ROOT COMMAND...: runs in ROOT without network except loopback, with the machine's /proc and /dev in a separate mount namespace.
inside() {
  local root=$1
  shift
  # shellcheck disable=SC2016  # $root belongs to the inner shell
  root=$root unshare -mnp --fork bash -c 'mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && ip link set lo up && exec chroot "$root" env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' _ "$@"
}
# timed NAME COMMAND...: prints the time; fails if it exceeds the limit.
timed() {
  local name=$1 from to
  shift
  from=$(date +%s%N)
  "$@" >"$temp/log" 2>&1 || { cat "$temp/log" >&2; fail "$name failed"; }
  to=$(date +%s%N)
  awk -v n="$name" -v t=$(((to - from) / 1000000)) 'BEGIN { printf "  %-44s %6.2f s\n", n, t / 1000 }'
  [[ $(((to - from) / 1000000000)) -lt $most_seconds ]] || fail "$name took longer than $most_seconds s"
}
# machine NAME ROOT PACKAGES [mmdebstrap's arguments]
machine() {
  local name=$1 root=$2 include=$3
  shift 3
  if [[ ! -s $packages/bare-$name.tar ]]; then
    mmdebstrap --quiet --format=tar --variant=minbase ${include:+--include="$include"} "$@" bookworm "$packages/bare-$name.tar.part" >"$temp/log" 2>&1 ||
      { tail -3 "$temp/log"; rm -f "$packages/bare-$name.tar.part"; skip "no bare system could be created from the mirror"; }
    mv "$packages/bare-$name.tar.part" "$packages/bare-$name.tar"
  fi
  mkdir -p "$root"
  tar -C "$root" --exclude='./dev/*' -xf "$packages/bare-$name.tar"
  [[ ! -e $root/usr/bin/cc && ! -e $root/usr/bin/gcc ]] || fail "the machine has a compiler"
}
next=  # the command that the last quickstart printed
quickstart() {
  local root=$1
  timed "sindri --version" inside "$root" sindri --version
  timed "sindri train quickstart" inside "$root" sh -c 'cd /root && sindri train quickstart'
  grep -q "^next: " "$temp/log" || fail "the quickstart prints no next command"
  grep -i "fontconfig" "$temp/log" && fail "fonts are missing"
  grep "^accuracy:" "$temp/log" | sed 's/^/    /'
  # The command it prints works, unchanged and with python -m.
  next=$(sed -n 's/^next: *//p' "$temp/log")
  timed "the command it prints" inside "$root" sh -c "cd /root && $next"
  [[ $(inside "$root" sindri --version) == "sindri "* ]] || fail "sindri --version"
}

test_wheel() {
  local wheel root=$temp/wheel megabytes
  wheel=$(ls "$packages"/sindri-*.whl) || fail "no wheel in build/packages; run scripts/package.sh wheel"
  megabytes=$(($(stat -c %s "$wheel") / 1000000))
  echo "wheel: $(basename "$wheel"), $megabytes MB"
  [[ $megabytes -le $most_megabytes ]] || fail "the wheel has $megabytes MB, the limit is $most_megabytes"
  machine python "$root" python3,python3-numpy
  # apt needs Debian's C++ runtime; Python and NumPy do not, and the wheel includes its own.
  rm "$root"/usr/lib/*/libstdc++.so.6*
  # Debian's Python has no pip; this one is copied in.
  cp -r build/venv/lib/python3*/site-packages/pip "$root/opt/pip"
  cp "$wheel" "$root/root/"
  timed "pip install" inside "$root" sh -c 'PYTHONPATH=/opt python3 -m pip install --no-index --break-system-packages --root-user-action=ignore /root/*.whl'
  echo "    $(inside "$root" sh -c 'du -sm /usr/local/lib/python3*/dist-packages/sindri' | cut -f1) MB installed"
  timed "import numpy" inside "$root" python3 -c "import numpy"
  timed "import sindri, first" inside "$root" python3 -c "import sindri"
  timed "import sindri" inside "$root" python3 -c "import sindri"
  local outside
  # shellcheck disable=SC2016
  outside=$(inside "$root" sh -c 'cd $(python3 -c "import sindri; print(sindri.__path__[0])") && for f in "$PWD"/*.so "$PWD"/bin/sindri "$PWD"/lib/*.so*; do [ "$f" = "$PWD/lib/libsindri_mpi.so" ] || ldd "$f"; done' |
    grep -v "/dist-packages/sindri/" | awk '/=>/ { print $1 } /not found/ { print "missing:", $1 }' | sort -u | tr '\n' ' ')
  echo "    libraries outside the wheel: $outside"
  for library in $outside; do
    case $library in
      libc.so.6 | libm.so.6 | libdl.so.2 | librt.so.1 | libpthread.so.0) ;;
      *) fail "the wheel needs $library" ;;
    esac
  done
  quickstart "$root"
  timed "the same with python -m sindri" inside "$root" sh -c "cd /root && python3 -m sindri ${next##*sindri }"
  cp scripts/package/check_module.py "$root/root/"
  inside "$root" python3 /root/check_module.py >"$temp/log" 2>&1 || { cat "$temp/log"; fail "the Python package does not work"; }
  sed 's/^/    /' "$temp/log"
  # Two ranks with shared memory and the wheel's Gloo.
  timed "two ranks" inside "$root" sh -c 'cd /root && sindri run -n 2 -- sindri train quickstart --set train.epochs=1 --set train.run_dir=two'
}

test_deb() {
  local root=$temp/deb
  ls "$packages"/*.deb >/dev/null 2>&1 || fail "no Debian packages in build/packages; run scripts/package.sh deb"
  echo "Debian packages:"
  stat -c '%n %s' "$packages"/*.deb | awk '{ n = split($1, p, "/"); printf "    %-44s %6.1f MB\n", p[n], $2 / 1e6 }'
  if command -v lintian >/dev/null; then
    # The suppressed tags do not apply: the mail address is the packager's (DEBEMAIL), and no Debian bug requests the package.
    lintian --tag-display-limit 0 --allow-root --suppress-tags initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog --fail-on error,warning "$packages"/*.deb || fail "lintian reports findings"
    echo "    lintian: clean"
  fi
  # Dependencies are downloaded while the network is available.
  local wanted
  wanted=$(for f in "$packages"/libsindri[0-9]*.deb "$packages"/sindri_*.deb; do dpkg-deb -f "$f" Depends; done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' | grep -v '^libsindri' | sort -u | tr '\n' ' ')
  # shellcheck disable=SC2016
  # Each list of packages has its own system.
  machine "apt-$(sha256sum <<<"$wanted" | cut -c1-8)" "$root" "" --skip=cleanup/apt --customize-hook="chroot \"\$1\" apt-get -y -q --no-install-recommends --download-only -o APT::Keep-Downloaded-Packages=true install $wanted"
  cp "$packages"/libsindri[0-9]*.deb "$packages"/sindri_*.deb "$root/root/"
  local before
  before=$(grep -c '^Status: install ok' "$root/var/lib/dpkg/status")
  timed "apt-get install" inside "$root" sh -c 'apt-get -y -q --no-install-recommends install /root/*.deb'
  echo "    $(($(grep -c '^Status: install ok' "$root/var/lib/dpkg/status") - before)) packages installed, $(sed -n 's/^After this operation, \(.*\) of additional.*/\1/p' "$temp/log")"
  for library in libglx-mesa0 libllvm15 libopencv-core406; do
    [[ ! -e $root/var/lib/dpkg/info/$library:amd64.list ]] || fail "the packages pulled in $library"
  done
  quickstart "$root"
  inside "$root" sh -c '[ -s /usr/share/man/man1/sindri-train.1.gz ] || [ -s /usr/share/doc/sindri/copyright ]' || fail "documents are missing"
  timed "apt-get remove" inside "$root" apt-get -y -q remove sindri libsindri0.1
  [[ -z $(inside "$root" sh -c 'ls -d /usr/share/sindri /usr/bin/sindri /usr/lib/*/libsindri* 2>/dev/null' || true) ]] || fail "files remain after removal"
}

test_same() {
  local turn kind
  for turn in 1 2; do
    for kind in wheel deb; do bash scripts/package.sh "$kind" >"$temp/log" 2>&1 || { cat "$temp/log"; fail "packing, turn $turn"; }; done
    [[ $turn == 2 ]] || sha256sum "$packages"/*.whl "$packages"/*.deb >"$temp/sums"
  done
  sha256sum --quiet -c "$temp/sums" || fail "packing twice gave different files"
  echo "packed twice: $(wc -l <"$temp/sums") packages, bitwise identical"
}

parts=("$@")
[[ $# -gt 0 ]] || parts=(wheel deb)
for part in "${parts[@]}"; do
  case $part in
    wheel) test_wheel ;;
    deb) test_deb ;;
    same) test_same ;;
    *) fail "unknown part $part" ;;
  esac
done
