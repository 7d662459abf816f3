#!/usr/bin/env bash
# Installs the versions of Pi that the tests run against, once, into the folder that is given, from the npm
# registry: 0.74.2 for the Node there is (20 or later), 1.6.0 for the Node that ../npm.sh brings (22.19 or later).
set -euo pipefail
folder=$1
python=${2:-python3}
# shellcheck source=../npm.sh
source "$(dirname "$0")/../npm.sh"

for version in 0.74.2 1.6.0; do
    install "pi-$version" "Pi $version" "@earendil-works/pi-coding-agent@$version"
done
