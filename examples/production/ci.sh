#!/bin/sh
# ci.sh BEFORE AFTER [ARGS...]: exits with 3 when AFTER is slower than BEFORE, beyond what their runs differ by. For a CI step.
set -eu
before=$1 after=$2
shift 2
exec mdl diff --runs "${RUNS:-10}" --exact -- "$before" "$@" -- "$after" "$@"
