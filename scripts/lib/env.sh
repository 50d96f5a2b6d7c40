# Sourced by the other scripts: finds a Python, keeps the environment in .venv, and says what it installs.
#
#   need_env base|dev [VERSION]   sets $python; "base" is what a user of the package has, "dev" adds the tools
#   need_root WHAT [REMEDY]       stops unless this is root
#   misuse PROBLEM                stops with the usage
#
# An environment is remade when pyproject.toml or constraints.txt change, the Python does, or the folder was moved.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
me=scripts/$(basename "$0")
cd "$repo" || exit

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$me: $*"
    exit 1
}

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; } # the comment at the top of the script

misuse() { # what is wrong, then how it is meant
    say "$me: $*"
    usage >&2
    exit 2
}

need_root() {
    [ "$(id -u)" = 0 ] || die "$1 needs root, because it starts a real Slurm in namespaces: ${2:-run it with sudo}"
}

suits() { "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }

find_python() { # [VERSION]: python3 when it will do, else the newest that is there
    local candidate
    if [ -n "${1:-}" ]; then
        case $1 in 3.1[0-3]) ;; *) die "Python $1 is not supported: choose 3.10, 3.11, 3.12 or 3.13" ;; esac
        for candidate in "python$1" "$HOME/.pyenv/versions/$1".*/bin/python; do
            if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
                echo "$candidate" && return
            fi
        done
        die "Python $1 is missing: install it, or leave --python out"
    fi
    for candidate in python3 python3.13 python3.12 python3.11 python3.10; do
        if suits "$candidate"; then echo "$candidate" && return; fi
    done
    die "Python 3.10 to 3.13 is missing: install one (Debian: apt-get install python3 python3-venv)"
}

need_venv_module() { # Debian ships Python without it
    "$1" -c 'import ensurepip, venv' 2>/dev/null && return
    local package
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        die "Python's venv module is missing: install it (Debian: apt-get install $package)"
    say "installing $package with apt-get: this Python cannot make environments"
    quietly apt-get update
    quietly apt-get install -y --no-install-recommends "$package"
}

quietly() { # COMMAND...: output only if it fails
    local output
    output=$(DEBIAN_FRONTEND=noninteractive "$@" 2>&1 </dev/null) && return
    say "$output" && die "failed: $*"
}

need_env() {
    local level=$1 chosen wanted stamp
    chosen=$(find_python "${2:-}") || exit 1
    venv=$repo/.venv
    [ -z "${2:-}" ] || venv=$repo/.cache/venv-$2
    stamp=$venv/installed
    python=$venv/bin/python
    wanted=$("$chosen" -c 'import sys; print(sys.version, sys.base_prefix)' && echo "$repo" && cat pyproject.toml constraints.txt)
    made && return
    mkdir -p "$venv" && [ -w "$venv" ] || die "$venv cannot be written (made by root?): use sudo, or remove it"
    if command -v flock >/dev/null; then # two scripts that start at once make one environment
        exec 9>"$venv/lock"
        flock 9
    fi
    made || make_env "$level" "$chosen" "$wanted"
    exec 9>&-
}

made() { # reads the variables of need_env; "dev" has all of "base"
    [ "$wanted" = "$(cat "$stamp-dev" 2>/dev/null)" ] || [ "$wanted" = "$(cat "$stamp-$level" 2>/dev/null)" ]
}

make_env() {
    local level=$1 chosen=$2 wanted=$3 started=$SECONDS log=$venv/install.log
    need_venv_module "$chosen"
    say "setting up ${venv#"$repo"/} with $("$chosen" --version), the package and $([ "$level" = dev ] && echo "the tools" || echo "what it needs")..."
    rm -f "$stamp"-*
    if ! install_all "$level" "$chosen" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        die "the environment could not be made: check the network and the disk (log: $log)"
    fi
    echo "$wanted" >"$stamp-$level"
    say "... done in $((SECONDS - started)) s"
}

install_all() {
    local pip=("$python" -m pip --disable-pip-version-check install -c constraints.txt)
    # A Python that has gone leaves an environment that cannot be repaired in place.
    "$python" -c 'import pip' 2>/dev/null || rm -rf "${venv:?}/bin" "${venv:?}/lib"
    "$chosen" -m venv "$venv" || return
    # The build backend first: without isolation its version is pinned as well. pip before 25.1 knows no --group.
    "${pip[@]}" --upgrade pip hatchling editables || return
    if [ "$1" = dev ]; then
        "${pip[@]}" --no-build-isolation -e '.[ssh]' --group dev
    else
        "${pip[@]}" --no-build-isolation -e ".[ssh,testing]" # scripts/cluster env names the SSH host, scripts/demo may simulate
    fi
}
