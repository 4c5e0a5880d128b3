#!/usr/bin/env bash
# Installs LLVM's library from the system's packages if there is none; ends with 1 if it cannot: what needs it is left out of the tests then.
set -euo pipefail

# Names that no file has stay in the list; they have no version.
candidates=(/usr/lib/*/libLLVM*.so* /usr/lib*/libLLVM*.so* /usr/lib/llvm-*/lib/libLLVM*.so)
known='libLLVM(-(1[6-9]|2[0-2])\.so|\.so\.(1[6-9]|2[0-2])\.)|llvm-(1[6-9]|2[0-2])/'
if [ -n "${BASALT_LLVM:-}" ] || grep -qE "$known" <<<"${candidates[*]}"; then
    exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
    as_root=(sudo -n)
fi
install() {
    local version
    for version in 22 21 20 19 18 17 16; do
        if "${as_root[@]}" apt-get install -y "libllvm$version" >/dev/null 2>&1; then
            echo "Installed libllvm$version: tests of compiled code run."
            return
        fi
    done
    return 1
}
# A new machine may not know yet which packages there are.
if command -v apt-get >/dev/null && { install || { "${as_root[@]}" apt-get update >/dev/null 2>&1 && install; }; }; then
    exit 0
fi
echo "No LLVM library, and none could be installed (Debian: apt-get install libllvm22): tests of compiled code are left out." >&2
exit 1
