# Debian packages by purpose, and how to get them. Sourced by tools/quickstart and tools/check.
build_packages="g++ cmake ninja-build pkg-config libboost1.81-dev libboost-json1.81-dev libboost-context1.81-dev libexpected-dev libxxhash-dev
  liblmdb-dev libzstd-dev libssl-dev libzip-dev libcli11-dev libfmt-dev libopenblas0-pthread"
test_packages="$build_packages clang-16 libclang-rt-16-dev libboost-test1.81-dev librapidcheck-dev python3 ccache"

install_packages() {
  local missing="" package
  [ "${EMMY_SKIP_PACKAGES:-0}" = 1 ] && return 0
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  local root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "install these packages as root, or install sudo:$missing" >&2; return 1; }
    root=sudo
  fi
  echo "installing:$missing" >&2
  $root apt-get update -q >/dev/null
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q --no-install-recommends $missing >/dev/null
}
