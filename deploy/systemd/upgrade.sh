#!/bin/sh
# Upgrades the checkout that this file is in, and starts the services again: as root. The platform serves on while packages
# are installed and the web app is built. The first process that starts migrates the database.
set -eu
cd "$(dirname "$0")/../.."
former=$(git rev-parse --short HEAD)
git pull --ff-only
npm run install-only
units=$(systemctl list-units --plain --no-legend --state=active,activating stagi.service 'stagi@*.service' | cut -d ' ' -f 1)
[ -n "$units" ] || {
  echo 'No service of Stagi runs: the next start is of the new version.'
  exit 0
}
since=$(date +%s)
# All of the old version before the first of the new one. Unquoted: each unit is a word of its own.
systemctl stop $units
systemctl start $units
settings=${STAGI_ENV_FILE:-/etc/stagi/stagi.env}
port=$(sed -n 's/^PORT=//p' "$settings")
host=$(sed -n 's/^LISTEN_HOST=//p' "$settings")
case $host in '' | 0.0.0.0 | ::) host=127.0.0.1 ;; *:*) host="[$host]" ;; esac
is_ready() {
  node -e 'fetch(process.argv[1]).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))' \
    "http://$host:${port:-4400}/readyz"
}
until is_ready; do
  if [ $(($(date +%s) - since)) -ge 120 ]; then
    echo "Not ready after two minutes. See: journalctl -u 'stagi*' -n 50. The version before was $former."
    exit 1
  fi
  sleep 1
done
echo "Upgraded from $former to $(git rev-parse --short HEAD); away for $(($(date +%s) - since)) s."
