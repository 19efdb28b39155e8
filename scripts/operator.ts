import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { SIGN_UP_LINK_DAYS_MAX, SIGN_UP_LINK_USES_MAX } from '@stagi/contract/signUpLinks.ts';
import { OperatorChangeRefused, setOperator } from '../packages/server/src/admin/setOperator.ts';
import { BackupRefused } from '../packages/server/src/backup/archive.ts';
import { type Config, readConfig } from '../packages/server/src/config/config.ts';
import { ConfigError } from '../packages/server/src/config/configError.ts';
import { NewerDatabase } from '../packages/server/src/db/migrate.ts';
import type { Pool } from '../packages/server/src/db/pool.ts';
import type { Db } from '../packages/server/src/db/schema.ts';
import { MoveRefused, moveInstallation } from '../packages/server/src/installation/move.ts';
import { requireOwnInstallation } from '../packages/server/src/installation/open.ts';
import { ADMIN_NAME, createAdminKey, revokeAdminKeys } from '../packages/server/src/objects/adminKeys.ts';
import { LocationFailed } from '../packages/server/src/objects/s3Store.ts';
import { approveRemoval, type PlaceReview, reviewPlaces } from '../packages/server/src/quarantine/review.ts';
import { createSecretBox, loadSecretKey } from '../packages/server/src/secrets/secretBox.ts';
import { createSignUpLink } from '../packages/server/src/signUpLinks/links.ts';
import { trustSystemCertificates } from '../packages/server/src/systemCertificates.ts';
import { withDatabaseUrl, withPool } from './database.ts';
import { checkBackup, makeBackup, release, restore, showBackups } from './operatorBackups.ts';
import { printCheck, printSettings } from './operatorCheck.ts';

const USAGE = `usage: npm run operator -- <command>
  make <email>             says that this person operates the platform
  remove <email>           says that they no longer do
  invite [--uses <n>] [--days <n>]
                           a link that people sign up with where not everybody may, for one person and seven days
  s3-admin <name>          an access key that makes and deletes S3 buckets of its own, outside all workspaces
  s3-admin-revoke <name>   ends all such keys of this name; their buckets stay
  unknown                  bytes that the database does not know, place by place
  unknown-remove <place>   has the next comparison, within an hour, remove those that are noted in this place now
  move [--origin <address>] [--daemon-origin <address or none>] [--environment <name>] [--data]
                           says that the platform is to have another address, mark of its machines or data folder
  backup <place> [--keep <n>]
                           stores all that lies on this machine in a folder or at s3://bucket/folder; the platform may run
  backup list <place>      the backups there
  backup verify <place> [--name <backup>]
                           reads a backup, the newest or the named one, and compares all its bytes with their checksums
  restore <place> [--name <backup>]
                           fills an empty database and data folder from a backup; the platform is held then
  check [--all]            tells the effect of each setting that has a value, or of all, and reaches what they name
  release [--yes]          shows the effects of letting a restored platform work again; --yes does so`;

/** A command's arguments, and the environment that it works with. */
interface Given {
  subject: string;
  config: Config;
}

/** The operator's commands; the platform may run or not. */
const COMMANDS: Record<string, (pool: Pool, given: Given) => Promise<void>> = {
  make: ({ db }, given) => changeOperator(db, 'make', given),
  remove: ({ db }, given) => changeOperator(db, 'remove', given),
  's3-admin': ({ db }, given) => makeS3Admin(db, given),
  's3-admin-revoke': ({ db }, given) => revokeS3Admin(db, given),
  unknown: ({ db }) => showUnknown(db),
  'unknown-remove': ({ db }, given) => removeUnknown(db, given),
};
const WITHOUT_SUBJECT = ['unknown'];
/** Errors whose messages are for the operator. */
const EXPLAINED = [OperatorChangeRefused, ConfigError, MoveRefused, BackupRefused, NewerDatabase, LocationFailed];
trustSystemCertificates();
const { values: flags, positionals } = readArguments();
const [command = '', subject = '', ...more] = positionals;
try {
  if (command === 'move') await move();
  else if (command === 'backup') await runBackup();
  else if (command === 'restore') await runRestore();
  else if (command === 'release') await runRelease();
  else if (command === 'check') await runCheck();
  else if (command === 'invite') await runInvite();
  else await runCommand();
} catch (error) {
  // A full disk, a folder of another user, a database that is away.
  const isOfSystem = error instanceof Error && 'syscall' in error;
  if (!isOfSystem && !EXPLAINED.some((kind) => error instanceof kind)) throw error;
  console.error((error as Error).message);
  process.exit(1);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        origin: { type: 'string' },
        'daemon-origin': { type: 'string' },
        environment: { type: 'string' },
        data: { type: 'boolean' },
        keep: { type: 'string' },
        uses: { type: 'string' },
        days: { type: 'string' },
        name: { type: 'string' },
        yes: { type: 'boolean' },
        all: { type: 'boolean' },
      },
    });
  } catch (error) {
    console.error((error as Error).message);
    return refuseUsage();
  }
}

function refuseUsage(): never {
  console.error(USAGE);
  process.exit(2);
}

async function runCommand(): Promise<void> {
  const run = COMMANDS[command];
  const isComplete = WITHOUT_SUBJECT.includes(command) ? subject === '' : subject !== '';
  const isUsable = run && isComplete && more.length === 0 && Object.keys(flags).length === 0;
  if (!isUsable || (command.startsWith('s3-') && !ADMIN_NAME.test(subject))) refuseUsage();
  const config = readConfig(process.env);
  await withOwnPool(config, async (pool) => {
    await requireOwnInstallation(pool.pg, config);
    await run(pool, { subject, config });
  });
}

async function withOwnPool(config: Config, work: (pool: Pool) => Promise<void>): Promise<void> {
  await withDatabaseUrl(config, (url) => withPool(url, work));
}

/** The first operator cannot be made by another. */
async function changeOperator(db: Db, act: 'make' | 'remove', { subject: email }: Given): Promise<void> {
  const { name, changed, operators } = await setOperator(db, act, email, userInfo().username);
  const now = act === 'make' ? 'an operator' : 'no operator';
  console.log(`${name} (${email}) is ${now}${changed ? ' now' : ' already'}.`);
  if (operators === 0) console.log('Nobody is an operator any more: npm run operator -- make <email>');
}

async function makeS3Admin(db: Db, { subject: name, config }: Given): Promise<void> {
  const secrets = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));
  const { accessKeyId, secretAccessKey } = await createAdminKey({ db, secrets }, name);
  console.log(`Endpoint:          ${config.s3Origin}`);
  console.log(`Access key ID:     ${accessKeyId}`);
  console.log(`Secret access key: ${secretAccessKey}`);
  console.log(`Owner of buckets:  ${name}`);
}

async function revokeS3Admin(db: Db, { subject: name }: Given): Promise<void> {
  console.log(`Access keys of ${name} that were revoked: ${await revokeAdminKeys({ db }, name)}`);
}

async function showUnknown(db: Db): Promise<void> {
  const places = await reviewPlaces(db);
  if (places.length === 0) console.log('Nothing has been compared with the database yet.');
  for (const place of places) console.log(`${place.place}: ${describeUnknown(place)}`);
}

function describeUnknown({ count, bytes, since, approved, hasAlarm }: PlaceReview): string {
  if (count === 0n) return 'the database knows everything';
  const size = bytes === null ? '' : ` (${bytes} bytes)`;
  const fate = hasAlarm
    ? 'ALARM: kept, as they are many'
    : 'no alarm: each is removed once it has been unknown for seven days';
  return `${count} unknown${size} since ${since!.toISOString()}, removal approved of ${approved}; ${fate}`;
}

async function removeUnknown(db: Db, { subject: place }: Given): Promise<void> {
  const approved = await approveRemoval(db, place);
  console.log(`Removed by the next comparison of ${place}, within an hour: ${approved}`);
}

async function move(): Promise<void> {
  const { origin, 'daemon-origin': daemonOrigin, environment, data } = flags;
  if (subject || Object.keys(flags).length === 0 || !hasFlagsOf('origin', 'daemon-origin', 'environment', 'data'))
    refuseUsage();
  // Read as if it were configured already: with the same checks and in the same form.
  const config = readConfig({
    ...process.env,
    ...(origin !== undefined && { APP_ORIGIN: origin }),
    ...(daemonOrigin !== undefined && { DAEMON_ORIGIN: daemonOrigin === 'none' ? '' : daemonOrigin }),
    ...(environment !== undefined && { STAGI_ENVIRONMENT: environment }),
  });
  await withOwnPool(config, async ({ pg }) => {
    const told = await moveInstallation(pg, config, {
      origin: origin !== undefined,
      daemonOrigin: daemonOrigin !== undefined,
      environment: environment !== undefined,
      data,
    });
    console.log([...told, 'Configure all its processes so, and start them again.'].join('\n'));
  });
}

async function runBackup(): Promise<void> {
  if (subject === 'list' || subject === 'verify') {
    const [place, ...others] = more;
    if (!place || others.length > 0) refuseUsage();
    if (subject === 'verify' && hasFlagsOf('name')) process.exitCode = await checkBackup(place, flags.name);
    else if (hasFlagsOf()) await showBackups(place);
    else refuseUsage();
    return;
  }
  const keep = flags.keep === undefined ? undefined : Number(flags.keep);
  const isUsable = subject !== '' && more.length === 0 && hasFlagsOf('keep');
  if (!isUsable || (keep !== undefined && !(Number.isSafeInteger(keep) && keep > 0))) refuseUsage();
  await makeBackup(readConfig(process.env), subject, keep);
}

async function runRestore(): Promise<void> {
  if (subject === '' || more.length > 0 || !hasFlagsOf('name')) refuseUsage();
  await restore(readConfig(process.env), subject, flags.name);
}

async function runRelease(): Promise<void> {
  if (subject || !hasFlagsOf('yes')) refuseUsage();
  await release(readConfig(process.env), { isSure: flags.yes === true });
}

async function runCheck(): Promise<void> {
  if (subject || !hasFlagsOf('all')) refuseUsage();
  printSettings(process.env, { showsAll: flags.all === true });
  // A wrong value is told after the settings, among which it is read.
  process.exitCode = await printCheck(readConfig(process.env), process.env);
}

/** For the first person too, where not everybody may sign up. */
async function runInvite(): Promise<void> {
  const uses = Number(flags.uses ?? 1);
  const days = Number(flags.days ?? 7);
  const isUsable = isCount(uses, SIGN_UP_LINK_USES_MAX) && isCount(days, SIGN_UP_LINK_DAYS_MAX);
  if (subject || !isUsable || !hasFlagsOf('uses', 'days')) refuseUsage();
  const config = readConfig(process.env);
  const { rule } = config.signUp;
  if (rule === 'off') throw new ConfigError('SIGN_UP', 'is off: no link lets anybody make an account');
  await withOwnPool(config, async ({ pg, db }) => {
    await requireOwnInstallation(pg, config);
    const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString();
    const note = `by ${userInfo().username} at the command line`;
    const { entity, link } = await createSignUpLink({ db, config }, null, { note, uses, expiresAt });
    console.log(link);
    console.error(`For ${uses === 1 ? 'one person' : `${uses} people`}, until ${entity.expiresAt}.`);
    if (rule === 'open') console.error('Nobody needs it: SIGN_UP is open.');
  });
}

function isCount(number: number, most: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= most;
}

function hasFlagsOf(...names: string[]): boolean {
  return Object.keys(flags).every((name) => names.includes(name));
}
