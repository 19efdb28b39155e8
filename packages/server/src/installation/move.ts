import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { joinFolder, readMark } from './dataFolder.ts';
import { type Connection, type Installation, requireInstallation } from './row.ts';

/** Its message is shown to the person who runs the command. */
export class MoveRefused extends Error {}

/** The parts of the configuration that the platform is to have from now on. */
export interface Move {
  origin?: boolean;
  daemonOrigin?: boolean;
  environment?: boolean;
  data?: boolean;
}

type Settings = Pick<Config, 'dataDir' | 'environment' | 'appOrigin' | 'daemonOrigin'>;

/** Takes the named parts from the configuration. Answers what changed, in sentences. Throws `MoveRefused`. */
export async function moveInstallation(client: Connection, config: Settings, move: Move): Promise<string[]> {
  const stored = await requireInstallation(client);
  const told: string[] = [];
  if (move.environment) told.push(await changeEnvironment(client, stored, config));
  if (move.origin) {
    await client.query('update installation set app_origin = $1', [config.appOrigin]);
    told.push(
      `This platform is at ${config.appOrigin} (it was at ${stored.appOrigin}).`,
      'Passkeys of another host name no longer work: their owners sign in another way once and add new ones.',
    );
  }
  if (move.daemonOrigin) {
    await client.query('update installation set daemon_origin = $1', [config.daemonOrigin]);
    told.push(`Machines reach it at ${config.daemonOrigin ?? 'an address that each start works out'}.`);
  }
  if (move.data) told.push(...(await changeFolder(client, stored, config)));
  return told;
}

/** Machines are found at clouds by the mark alone. */
async function changeEnvironment(
  client: Connection,
  { environment: former }: Installation,
  { environment }: Settings,
): Promise<string> {
  const { rows } = await client.query<{ open: number }>(
    `select count(*)::int as open from instance where kind = 'rented' and closed_at is null`,
  );
  const { open } = rows[0]!;
  if (open > 0)
    throw new MoveRefused(
      `${open} rented ${open === 1 ? 'server is' : 'servers are'} marked ${former} at the clouds and would be lost: ` +
        'terminate them first, or keep the mark.',
    );
  await client.query('update installation set environment = $1', [environment]);
  return `Machines of this platform are marked ${environment} (before: ${former}).`;
}

/** A new id, so that the former folder is refused from now on. */
async function changeFolder(client: Connection, { dataFolder }: Installation, config: Settings): Promise<string[]> {
  const before = readMark(config);
  if (before?.id === dataFolder && before.isJoined) return [`${config.dataDir} belongs to this database already.`];
  const id = randomUUID();
  joinFolder(config, id);
  await client.query('update installation set data_folder = $1', [id]);
  return [
    `${config.dataDir} belongs to this database from now on, and the former data folder no longer does.`,
    'Bytes in it that the database does not know are kept for seven days; objects that it lacks are reported.',
  ];
}
