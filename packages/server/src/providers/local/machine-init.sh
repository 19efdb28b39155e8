#!/bin/sh
# PID 1 of a machine of the local cloud: sshd, a Docker Engine of its own, the user data once, the daemon at each boot.
# `stagi-init probe` tells by its exit status whether this container may do all that.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
# Keeps the nested engine from loading AppArmor profiles into the host's kernel.
export container=docker

user_data=/var/lib/stagi/user-data

main() {
  if [ "${1:-}" = probe ]; then
    probe
    exit
  fi
  trap stop_machine TERM INT
  prepare_cgroups
  mkdir -p /run/sshd /run/stagi /var/log
  supervise /var/log/dockerd.log dockerd --log-level=warn --shutdown-timeout=8 $(dockerd_options)
  dockerd_supervisor=$!
  ensure_host_keys
  supervise /var/log/sshd.log /usr/sbin/sshd -D -e
  : >/run/stagi/init
  boot &
  boot_pid=$!
  # A signal ends a wait; as PID 1 this loop also reaps the orphans of the whole machine.
  while :; do wait; done
}

# The engine shows this container's cgroups read-only; nested containers need directories of their own below it.
prepare_cgroups() {
  own=$(own_cgroup)
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    [ -w /sys/fs/cgroup/cgroup.procs ] || mount -o remount,bind,rw /sys/fs/cgroup
    # cgroup v2 delegates controllers only from a group without processes.
    root=/sys/fs/cgroup${own%/}
    mkdir -p "$root/init"
    while read -r pid; do
      echo "$pid" >"$root/init/cgroup.procs" 2>/dev/null || :
    done <"$root/cgroup.procs"
    for controller in $(cat "$root/cgroup.controllers"); do
      echo "+$controller" >"$root/cgroup.subtree_control" 2>/dev/null || :
    done
  else
    for hierarchy in /sys/fs/cgroup/*/; do
      [ -w "$hierarchy" ] || mount -o remount,bind,rw "${hierarchy%/}"
    done
  fi
}

# Where this container stands in the cgroup tree it sees: "/" unless it shares the host's namespace.
own_cgroup() {
  path=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
  [ -n "$path" ] || path=$(sed -n 's/^0:://p' /proc/self/cgroup)
  # After a restart of PID 1's own group the v2 path ends with the group made above.
  path=${path%/init}
  echo "${path:-/}"
}

dockerd_options() {
  own=$(own_cgroup)
  # Without this the nested containers would escape the machine's CPU and memory limits.
  [ "$own" = / ] || echo "--cgroup-parent=$own/docker"
  # The machine resolves through 127.0.0.11, which its containers cannot reach.
  for server in ${STAGI_NAME_SERVERS:-}; do echo "--dns=$server"; done
  if ! iptables -w -nL >/dev/null 2>&1; then
    update-alternatives --set iptables /usr/sbin/iptables-legacy >/dev/null
  fi
}

ensure_host_keys() {
  for type in ed25519 ecdsa; do
    [ -s "/etc/ssh/ssh_host_${type}_key" ] || ssh-keygen -q -t "$type" -N '' -f "/etc/ssh/ssh_host_${type}_key"
  done
}

boot() {
  wait_for_docker
  if [ -f "$user_data" ] && [ ! -f "$user_data.exit" ]; then
    chmod 700 "$user_data"
    env --default-signal "$user_data" >>/var/log/stagi-user-data.log 2>&1
    echo $? >"$user_data.exit"
  fi
  if [ -x /etc/stagi/start ]; then
    exec env --default-signal setsid /etc/stagi/start >>/var/log/stagid.log 2>&1
  fi
}

wait_for_docker() {
  tries=0
  until curl -sf --max-time 2 --unix-socket /run/docker.sock http://docker/_ping >/dev/null || [ $tries -ge 150 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

# Keeps a command running in the background; a TERM to the supervisor ends both. `env --default-signal`: this shell makes
# its background jobs ignore SIGINT, and every container and login of the machine would inherit that.
supervise() {
  log=$1
  shift
  (
    child=
    trap 'trap "" TERM; [ -z "$child" ] || { kill "$child"; wait "$child"; }; exit 0' TERM
    while :; do
      env --default-signal "$@" >>"$log" 2>&1 &
      child=$!
      wait "$child"
      sleep 1 &
      child=$!
      wait "$child"
    done
  ) &
}

# The daemon goes first, or it would report each container as it stops.
stop_machine() {
  trap '' TERM INT
  kill -TERM -- "-$boot_pid" 2>/dev/null || kill -TERM "$boot_pid" 2>/dev/null || :
  kill "$dockerd_supervisor"
  wait "$dockerd_supervisor"
  exit 0
}

probe() {
  set -e
  prepare_cgroups
  own=$(own_cgroup)
  for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/memory; do
    if [ -f "$hierarchy${own%/}/cgroup.procs" ]; then
      mkdir "$hierarchy${own%/}/probe"
      rmdir "$hierarchy${own%/}/probe"
    fi
  done
  mkdir -p /var/lib/docker/probe/lower /var/lib/docker/probe/upper /var/lib/docker/probe/work /var/lib/docker/probe/merged
  mount -t overlay overlay -o lowerdir=/var/lib/docker/probe/lower,upperdir=/var/lib/docker/probe/upper,workdir=/var/lib/docker/probe/work /var/lib/docker/probe/merged ||
    echo 'overlay file systems do not work here; images will take more room' >&2
  unshare --mount --pid --fork --mount-proc true
  ip link add stagi-probe type bridge
  ip link delete stagi-probe
}

main "$@"
