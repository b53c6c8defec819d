#!/bin/sh
# ci.sh BEFORE AFTER [ARGS...]: fails when a function of AFTER is more than 10 % slower than in BEFORE, beyond chance. For a CI step.
set -eu
before=$1 after=$2
shift 2
sessions=$(mktemp -d)
trap 'rm -rf "$sessions"' EXIT
mdl run --wait --exact -o "$sessions/before" -- "$before" "$@"
mdl run --wait --exact -o "$sessions/after" -- "$after" "$@"
mdl diff --threshold 10 "$sessions/before" "$sessions/after"
