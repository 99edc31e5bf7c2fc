#!/usr/bin/env bash
# record.sh [FOLDER [SCALE]] - trains a model by PyTorch on 16 hosts of an emulated fabric, records it, and replays the
# trace on three fabrics, with SCALE times the recorded computing times (default 0.0001: processors recorded
# it, and 16 processes share them). FOLDER (default .) gets train.0.json to train.15.json. Needs Debian's python3-torch.
# PYTHON is another Python with PyTorch, FABRIC the name of the fabric.
set -euo pipefail

folder=$(realpath "${1:-.}")
scale=${2:-0.0001}
here=$(cd "$(dirname "$0")" && pwd)
hxmesh=${HXMESH:-$here/../../build/hxmesh}
python=${PYTHON:-/usr/bin/python3}
name=${FABRIC:-pytorch-$$}
"$python" -c 'import torch' || {
    echo "record.sh: error: $python has no PyTorch (apt install python3-torch, or set PYTHON)" >&2
    exit 4
}
trap '"$hxmesh" down "$name" --quiet 2>/dev/null || true' EXIT

"$hxmesh" up "2x2 Hx2Mesh" --name "$name" --quiet
# shellcheck disable=SC2016 # the shell of each host expands it
"$hxmesh" exec --name "$name" --all -- sh -c '
    export RANK=$HXMESH_HOST_NUMBER WORLD_SIZE=$HXMESH_HOSTS MASTER_ADDR=h0 MASTER_PORT=29500
    export GLOO_SOCKET_IFNAME=hx0 OMP_NUM_THREADS=1
    exec "$@"' sh "$python" "$here/train.py" "$folder/train"
"$hxmesh" down "$name" --quiet

"$hxmesh" schedule "$folder/train.0.json"
"$hxmesh" train "2x2 Hx2Mesh" "$folder/train.0.json" --compute-scale "$scale" --equal-injection \
    --compare "fat-tree hosts=16 radix=8" --compare "torus 4x4"
