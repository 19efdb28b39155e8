#!/bin/sh
# Runs once inside the new file system of the machine image, whichever way that was made.
set -eu

# '!' would lock the account even for key logins; '*' is a password that none matches.
usermod -p '*' root
# Each machine makes its own at the first boot.
rm -f /etc/ssh/ssh_host_*
cat >/etc/ssh/sshd_config.d/stagi.conf <<'CONF'
HostKey /etc/ssh/ssh_host_ed25519_key
HostKey /etc/ssh/ssh_host_ecdsa_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PrintMotd no
CONF
mkdir -p /etc/stagi /var/lib/stagi
echo stagi >/etc/hostname

cat >/etc/dpkg/dpkg.cfg.d/stagi-small <<'CONF'
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
CONF
find /usr/share/doc -depth \( -type f ! -name copyright -o -type l -o -type d -empty \) -delete
rm -rf /usr/share/man/* /usr/share/locale/* /usr/share/info/* /usr/share/lintian/* \
  /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*.log /var/log/apt /etc/machine-id
