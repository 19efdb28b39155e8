import { randomUUID } from 'node:crypto';
import { ENROL_AUDIENCE, type EnrolmentClaims } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { installScript } from './downloads.ts';

const ENROLMENT_HOURS = 24;
export const ENROLMENT_TYPE = 'enrol+jwt';

/**
 * Issues an enrolment token (`daemon-token.jwt`) for one server: it can be exchanged once within 24 hours. It replaces an
 * older token; the key of an enrolled daemon stays valid (see `revokeNode`).
 */
export async function issueEnrolment(
  ctx: Pick<Context, 'keys' | 'daemonOrigin'>,
  trx: Db,
  instanceId: number,
  kind: EnrolmentClaims['kind'],
): Promise<{ token: string; expiresAt: Date }> {
  const jti = randomUUID();
  const issued = await sql<{ expires_at: Date }>`
    insert into daemon_node (instance_id, enrol_jti, enrol_expires_at)
    values (${instanceId}, ${jti}, now() + ${`${ENROLMENT_HOURS} hours`}::interval)
    on conflict (instance_id) do update
      set enrol_jti = excluded.enrol_jti, enrol_expires_at = excluded.enrol_expires_at, enrol_used_at = null
    returning enrol_expires_at as expires_at`.execute(trx);
  const expiresAt = issued.rows[0]!.expires_at;
  const token = await new SignJWT({ origin: ctx.daemonOrigin, commandKey: ctx.keys.command.publicJwk, kind })
    .setProtectedHeader({ alg: 'EdDSA', typ: ENROLMENT_TYPE })
    .setAudience(ENROL_AUDIENCE)
    .setSubject(String(instanceId))
    .setJti(jti)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(ctx.keys.command.privateKey);
  return { token, expiresAt };
}

/** Revokes the key and any open enrolment of a server; whichever process holds its link disconnects it. Idempotent. */
export async function revokeNode(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  instanceId: number,
  reason: string,
): Promise<void> {
  const revoked = await trx
    .updateTable('daemon_node')
    .set({ revoked_at: sql<Date>`now()`, revoked_reason: reason, enrol_jti: null })
    .where('instance_id', '=', instanceId)
    .where((where) => where.or([where('revoked_at', 'is', null), where('enrol_jti', 'is not', null)]))
    .returning('instance_id')
    .executeTakeFirst();
  if (!revoked) return;
  ctx.log.info({ instanceId, reason }, 'daemon revoked');
  await announce(trx, 'node', { instanceId });
}

/** What the installer refuses or leaves off unless it is told otherwise. */
export interface InstallOptions {
  /** A server without an NVIDIA GPU. */
  allowCpu?: boolean;
  /** Another system than Ubuntu. */
  allowAnyLinux?: boolean;
  /** A shell of root in the browser. */
  allowHostTerminal?: boolean;
  /** Volumes outside of its folder of their own. */
  allowAnyFolder?: boolean;
}

/** The command that enrols a server, to run as root. It ends in the installer's arguments: more may be appended. */
export async function installCommand(
  ctx: Pick<Context, 'daemonOrigin' | 'config'>,
  { allowCpu, allowAnyLinux, allowHostTerminal, allowAnyFolder }: InstallOptions = {},
): Promise<string> {
  const { sha256 } = await installScript(ctx);
  const flags = [
    ...(allowCpu ? ['--allow-cpu'] : []),
    ...(allowAnyLinux ? ['--allow-any-linux'] : []),
    ...(allowHostTerminal ? ['--allow-host-terminal'] : []),
    ...(allowAnyFolder ? ['--allow-any-folder'] : []),
  ];
  return [
    `curl -fsSL ${ctx.daemonOrigin}/daemon-api/install.sh -o stagi-install.sh`,
    `echo "${sha256}  stagi-install.sh" | sha256sum -c -`,
    ['sh stagi-install.sh --token-file daemon-token.jwt', ...flags].join(' '),
  ].join(' && ');
}

/** Run as root at the first boot of a rented machine: enrols it, with retries until its network is up. */
export async function bootScript(ctx: Pick<Context, 'daemonOrigin' | 'config'>, token: string): Promise<string> {
  if (!/^[\w.-]+$/.test(token)) throw new Error('an enrolment token may hold nothing that a shell reads');
  const { sha256 } = await installScript(ctx);
  return `#!/bin/sh
set -eu
umask 077
dir=$(mktemp -d)
cd "$dir"
printf '%s\\n' '${token}' > daemon-token.jwt
tries=0
until curl -fsS --connect-timeout 5 --max-time 60 '${ctx.daemonOrigin}/daemon-api/install.sh' -o install.sh; do
  tries=$((tries + 1))
  if [ "$tries" -ge 300 ]; then echo 'stagi: the platform cannot be reached' >&2; exit 1; fi
  sleep 1
done
echo '${sha256}  install.sh' | sha256sum -c -
STAGI_BOOT=1 sh install.sh --token-file daemon-token.jwt --allow-cpu --allow-any-linux
cd /
rm -rf "$dir"
`;
}
