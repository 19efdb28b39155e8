#!/bin/sh
# Installs stagid, the daemon that joins this server to a Stagi workspace.
#   sh stagi-install.sh --token-file daemon-token.jwt [--allow-cpu] [--allow-any-linux] [--allow-host-terminal] [--allow-any-folder]
#   sh stagi-install.sh --token STRING, with the same options
# It needs root, Docker, git, curl, tar and sha256sum. Running it again is harmless: it brings the newest stagid.
# Whoever controls stagid controls Docker, and so this server; /etc/stagi/policy.json says what it may do.
set -eu

ORIGIN='@ORIGIN@'
SHA256='@SHA256@'
ARCHIVE=stagid-linux-x64.tar.gz
DIR=/usr/local/lib/stagi
WORK=

main() {
  token_file=
  token=
  flags=
  while [ $# -gt 0 ]; do
    case "$1" in
      --token-file) token_file=${2:-}; [ -n "$token_file" ] || fail '--token-file needs the path of daemon-token.jwt'; shift ;;
      --token) token=${2:-}; [ -n "$token" ] || fail '--token needs the content of daemon-token.jwt'; shift ;;
      --allow-cpu | --allow-any-linux | --allow-host-terminal | --allow-any-folder) flags="$flags $1" ;;
      *) fail "unknown option $1" ;;
    esac
    shift
  done
  [ "$(uname -sm)" = 'Linux x86_64' ] || fail 'stagid runs only on Linux on x86-64'
  [ "$(id -u)" = 0 ] || fail 'run this as root, for example with sudo'
  [ -n "$token_file$token" ] || fail 'name the enrolment file: --token-file daemon-token.jwt'
  [ -n "$token" ] || [ -r "$token_file" ] || fail "$token_file cannot be read: run this where you saved it"
  for program in curl tar gzip sha256sum git docker; do
    command -v "$program" >/dev/null || fail "$program is missing on this server: install it and run this again"
  done

  umask 022
  mkdir -p "$DIR" /var/lib/stagi /etc/stagi
  chmod 700 /var/lib/stagi /etc/stagi
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM
  WORK=$(mktemp -d "$DIR/.new-XXXXXX")
  install_binary
  if [ -n "$token" ]; then
    token_file=$WORK/token
    (umask 077 && printf '%s\n' "$token" >"$token_file")
  fi
  # shellcheck disable=SC2086 # each flag is a word of its own
  "$DIR/stagid" enrol --token-file "$token_file" $flags || fail 'this server has not joined'
  if [ -d /run/systemd/system ]; then start_with_systemd; else start_without_systemd; fi
}

install_binary() {
  [ "$(cat "$DIR/sha256" 2>/dev/null || :)" != "$SHA256" ] || return 0
  echo "Downloading stagid from $ORIGIN"
  curl -fsSL --retry 3 --connect-timeout 10 -o "$WORK/$ARCHIVE" "$ORIGIN/daemon-api/$ARCHIVE" ||
    fail "stagid could not be downloaded from $ORIGIN"
  echo "$SHA256  $WORK/$ARCHIVE" | sha256sum -c - >/dev/null 2>&1 ||
    fail 'the download is not what the platform announced: get a fresh install line'
  tar -xzf "$WORK/$ARCHIVE" -C "$WORK" || fail "stagid could not be unpacked into $DIR"
  LD_LIBRARY_PATH=$WORK "$WORK/stagid" version >/dev/null || fail 'stagid does not run on this system'

  # Renamed into place: a stagid that runs keeps its own file. The library is for stagid alone, hence the wrapper.
  rm -f "$DIR/sha256"
  mv -f "$WORK/libatomic.so.1" "$DIR/libatomic.so.1"
  mv -f "$WORK/pty.node" "$DIR/pty.node"
  mv -f "$WORK/bufferutil.node" "$DIR/bufferutil.node"
  mv -f "$WORK/stagid" "$DIR/stagid.bin"
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/stagid.bin "$@"\n' "$DIR" "$DIR" >"$WORK/wrapper"
  chmod 755 "$WORK/wrapper"
  mv -f "$WORK/wrapper" "$DIR/stagid"
  echo "$SHA256" >"$DIR/sha256"
}

start_with_systemd() {
  cat >"$WORK/unit" <<'UNIT'
[Unit]
Description=Stagi daemon
After=network-online.target docker.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/local/lib/stagi/stagid run
Restart=always
RestartSec=2
# 78: this server is not wanted any more.
RestartPreventExitStatus=78
TimeoutStopSec=20
UMask=0022
NoNewPrivileges=yes
ProtectSystem=full
ReadWritePaths=/etc/stagi
ProtectKernelTunables=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
# It binds directories of containers where Docker sees them.
RestrictNamespaces=mnt
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
UNIT
  chmod 644 "$WORK/unit"
  mv -f "$WORK/unit" /etc/systemd/system/stagid.service
  systemctl daemon-reload
  systemctl enable --quiet stagid
  systemctl restart stagid
  echo 'stagid runs as a service and starts with this server (journalctl -u stagid).'
}

start_without_systemd() {
  cat >"$WORK/start" <<'START'
#!/bin/sh
# Keeps stagid running, in the foreground. HUP starts it anew; it ends for good when it was asked to stop (0), when
# another one runs (75) or when this server is not wanted any more (78).
child=
anew=
trap 'anew=1; [ -z "$child" ] || kill "$child" 2>/dev/null' HUP
trap 'trap "" TERM INT; [ -z "$child" ] || kill "$child" 2>/dev/null; wait; exit 0' TERM INT
other=$(cat /run/stagid.pid 2>/dev/null || :)
if [ -n "$other" ] && [ "$other" != $$ ] && grep -q /etc/stagi/start "/proc/$other/cmdline" 2>/dev/null; then exit 0; fi
echo $$ >/run/stagid.pid
while :; do
  /usr/local/lib/stagi/stagid run &
  child=$!
  wait "$child"
  code=$?
  # A signal to this script ends a wait early.
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
  done
  child=
  [ -n "$anew" ] || case $code in 0 | 75 | 78) exit 0 ;; esac
  [ -n "$anew" ] || sleep 2
  anew=
done
START
  chmod 700 "$WORK/start"
  mv -f "$WORK/start" /etc/stagi/start
  # The init of our own machines runs it after this script, and at each boot.
  if [ -e /run/stagi/init ] && [ -n "${STAGI_BOOT:-}" ]; then return 0; fi
  pid=$(cat /run/stagid.pid 2>/dev/null || :)
  if [ -n "$pid" ] && grep -q /etc/stagi/start "/proc/$pid/cmdline" 2>/dev/null; then
    kill -HUP "$pid"
  else
    setsid /etc/stagi/start >>/var/log/stagid.log 2>&1 </dev/null &
  fi
  echo 'stagid runs (log: /var/log/stagid.log).'
  [ -e /run/stagi/init ] ||
    echo 'This server has no systemd: stagid will not survive a reboot unless you have /etc/stagi/start run at each boot.'
}

clean_up() {
  [ -z "$WORK" ] || rm -rf "$WORK"
}

fail() {
  echo "stagi: $1" >&2
  exit 1
}

main "$@"
