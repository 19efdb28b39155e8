import { userInfo } from 'node:os';
import { OperatorChangeRefused, setOperator } from '../packages/server/src/admin/setOperator.ts';
import { type Config, readConfig } from '../packages/server/src/config/config.ts';
import { ConfigError } from '../packages/server/src/config/configError.ts';
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded.ts';
import { openPool } from '../packages/server/src/db/pool.ts';
import type { Db } from '../packages/server/src/db/schema.ts';
import { ADMIN_NAME, createAdminKey, revokeAdminKeys } from '../packages/server/src/objects/adminKeys.ts';
import { createSecretBox, loadSecretKey } from '../packages/server/src/secrets/secretBox.ts';

const USAGE = `usage: npm run operator -- <command>
  make <email>             says that this person operates the platform
  remove <email>           says that they no longer do
  s3-admin <name>          an access key that makes and deletes S3 buckets of its own, outside all workspaces
  s3-admin-revoke <name>   ends all such keys of this name; their buckets stay`;

/** What an operator does at the command line; the platform may run or not. */
const [command = '', subject, ...more] = process.argv.slice(2);
const COMMANDS: Record<string, (db: Db, config: Config, subject: string) => Promise<void>> = {
  make: changeOperator,
  remove: changeOperator,
  's3-admin': makeS3Admin,
  's3-admin-revoke': revokeS3Admin,
};
const run = COMMANDS[command];
if (!run || !subject || more.length > 0 || (command.startsWith('s3-') && !ADMIN_NAME.test(subject))) {
  console.error(USAGE);
  process.exit(2);
}
try {
  const config = readConfig(process.env);
  const embedded = config.databaseUrl
    ? null
    : await startEmbeddedPostgres({
        dataDir: `${config.dataDir}/postgres`,
        log: { info: () => {}, warn: (line) => console.error(line) },
      });
  const pool = openPool(config.databaseUrl ?? embedded!.url, { max: 1 });
  try {
    const { rows } = await pool.pg.query(`select to_regclass('s3_key') is not null as ready`);
    if (!rows[0]?.ready) throw new OperatorChangeRefused('Start the platform once before: its database is not ready.');
    await run(pool.db, config, subject);
  } finally {
    await pool.close();
    await embedded?.stop();
  }
} catch (error) {
  if (!(error instanceof OperatorChangeRefused || error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}

/** The first operator cannot be made by another. */
async function changeOperator(db: Db, _config: Config, email: string): Promise<void> {
  const what = command === 'make' ? 'make' : 'remove';
  const { name, changed, operators } = await setOperator(db, what, email, userInfo().username);
  const now = what === 'make' ? 'an operator' : 'no operator';
  console.log(`${name} (${email}) is ${now}${changed ? ' now' : ' already'}.`);
  if (operators === 0) console.log('Nobody is an operator any more: npm run operator -- make <email>');
}

async function makeS3Admin(db: Db, config: Config, name: string): Promise<void> {
  const secrets = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));
  const { accessKeyId, secretAccessKey } = await createAdminKey({ db, secrets }, name);
  console.log(`Endpoint:          ${config.s3Origin}`);
  console.log(`Access key ID:     ${accessKeyId}`);
  console.log(`Secret access key: ${secretAccessKey}`);
  console.log(`Owner of buckets:  ${name}`);
}

async function revokeS3Admin(db: Db, _config: Config, name: string): Promise<void> {
  console.log(`Access keys of ${name} that were revoked: ${await revokeAdminKeys({ db }, name)}`);
}
