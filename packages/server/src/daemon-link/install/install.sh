#!/bin/sh
# Installs stagid, the daemon that joins this server to a Stagi workspace.
#   sh stagi-install.sh --token-file daemon-token.jwt [--allow-cpu] [--allow-any-linux]
# It needs root, Docker, git, curl and ca-certificates. Running it again is harmless.
set -eu

ORIGIN='@ORIGIN@'
SHA256='@SHA256@'
ARCHIVE=stagid-linux-x64.tar.gz
DIR=/usr/local/lib/stagi
WORK=

main() {
  token_file=
  flags=
  while [ $# -gt 0 ]; do
    case "$1" in
      --token-file) token_file=${2:-}; [ -n "$token_file" ] || fail '--token-file needs the path of daemon-token.jwt'; shift ;;
      --allow-cpu | --allow-any-linux) flags="$flags $1" ;;
      *) fail "unknown option $1" ;;
    esac
    shift
  done
  [ -n "$token_file" ] || fail 'name the enrolment file: --token-file daemon-token.jwt'
  [ -r "$token_file" ] || fail "$token_file cannot be read"
  [ "$(uname -sm)" = 'Linux x86_64' ] || fail 'stagid runs only on Linux on x86-64'
  [ "$(id -u)" = 0 ] || fail 'run this as root, for example with sudo'
  for program in curl tar gzip sha256sum git docker; do
    command -v "$program" >/dev/null || fail "$program is missing on this server"
  done

  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
  install_binary
  # shellcheck disable=SC2086 # each flag is a word of its own
  "$DIR/stagid" enrol --token-file "$token_file" $flags
  if [ -d /run/systemd/system ]; then start_with_systemd; else start_without_systemd; fi
}

install_binary() {
  echo "Downloading stagid from $ORIGIN"
  curl -fsSL --retry 3 --connect-timeout 10 -o "$WORK/$ARCHIVE" "$ORIGIN/daemon-api/$ARCHIVE" || fail "$ORIGIN cannot be reached from this server"
  echo "$SHA256  $WORK/$ARCHIVE" | sha256sum -c - >/dev/null || fail 'the download is not what the platform announced: get a fresh install line'
  tar -xzf "$WORK/$ARCHIVE" -C "$WORK"
  mkdir -p "$DIR" /etc/stagi /var/lib/stagi
  chmod 700 /etc/stagi
  # Renamed into place: a stagid that runs keeps its own file.
  install -m 755 "$WORK/stagid" "$DIR/stagid.bin.new"
  install -m 644 "$WORK/libatomic.so.1" "$DIR/libatomic.so.1"
  mv -f "$DIR/stagid.bin.new" "$DIR/stagid.bin"
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/stagid.bin "$@"\n' "$DIR" "$DIR" >"$DIR/stagid.new"
  chmod 755 "$DIR/stagid.new"
  mv -f "$DIR/stagid.new" "$DIR/stagid"
}

start_with_systemd() {
  cat >/etc/systemd/system/stagid.service <<'UNIT'
[Unit]
Description=Stagi daemon
After=network-online.target docker.service
Wants=network-online.target

[Service]
ExecStart=/usr/local/lib/stagi/stagid run
Restart=always
RestartSec=2
RestartPreventExitStatus=75 78
KillMode=mixed
TimeoutStopSec=20
NoNewPrivileges=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictRealtime=yes
LockPersonality=yes

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --quiet stagid
  systemctl restart stagid
  echo 'stagid runs as a service and starts with this server (journalctl -u stagid).'
}

start_without_systemd() {
  cat >/etc/stagi/start <<'START'
#!/bin/sh
# Keeps stagid running. Ends when it was asked to stop (0), another one runs (75) or the server is not wanted any more (78).
trap 'trap "" TERM; [ -z "$child" ] || kill "$child"; wait; exit 0' TERM INT
child=
while :; do
  /usr/local/lib/stagi/stagid run &
  child=$!
  wait "$child"
  case $? in 0 | 75 | 78) exit 0 ;; esac
  child=
  sleep 2
done
START
  chmod 700 /etc/stagi/start
  # The init of our own machines starts it after this script and at each boot.
  if [ -e /run/stagi/init ] && [ -n "${STAGI_BOOT:-}" ]; then return 0; fi
  setsid /etc/stagi/start >>/var/log/stagid.log 2>&1 </dev/null &
  echo 'stagid runs (log: /var/log/stagid.log). This server has no systemd: start /etc/stagi/start at each boot yourself.'
}

fail() {
  echo "stagi: $1" >&2
  exit 1
}

main "$@"
