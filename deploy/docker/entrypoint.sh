#!/bin/sh
# The platform's commands, as after `npm run`, on the settings of the container's environment:
#
#   docker run … stagi start --role=api
#   docker run … stagi operator make you@example.com
#   docker run … stagi migrate
#   docker run … stagi ledger verify
#
# In a container that runs: `docker exec <container> entrypoint.sh ledger verify`.
#
# Any other first word is run as a program.
set -eu

case "${1:-start}" in
  start)
    [ $# -eq 0 ] || shift
    # As scripts/bootstrap.mjs sets it, and says why.
    export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432}"
    exec node /opt/stagi/scripts/start.ts "$@"
    ;;
  operator | migrate | ledger)
    command=$1
    shift
    exec node "/opt/stagi/scripts/$command.ts" "$@"
    ;;
  healthy)
    exec node -e 'fetch(`http://127.0.0.1:${process.env.PORT || 4400}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1))'
    ;;
  healthy-s3)
    # Any answer: without a signature it is a refusal.
    exec node -e 'fetch(`http://127.0.0.1:${process.env.S3_PORT || 4401}/`).then(() => process.exit(0))'
    ;;
  *) exec "$@" ;;
esac
