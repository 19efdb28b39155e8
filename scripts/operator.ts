import { userInfo } from 'node:os';
import { OperatorChangeRefused, setOperator } from '../packages/server/src/admin/setOperator.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import { ConfigError } from '../packages/server/src/config/configError.ts';
import { startEmbeddedPostgres } from '../packages/server/src/db/embedded.ts';
import { openPool } from '../packages/server/src/db/pool.ts';

/** Says who may operate the platform: the first operator cannot be made by another. It may run or not. */
const [what, email, ...more] = process.argv.slice(2);
if ((what !== 'make' && what !== 'remove') || !email || more.length > 0) {
  console.error('usage: npm run operator -- make <email> | remove <email>');
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
    const { rows } = await pool.pg.query(`select to_regclass('audit') is not null as ready`);
    if (!rows[0]?.ready) throw new OperatorChangeRefused('Start the platform once before: nobody has signed up yet.');
    const { name, changed, operators } = await setOperator(pool.db, what, email, userInfo().username);
    const now = what === 'make' ? 'an operator' : 'no operator';
    console.log(`${name} (${email}) is ${now}${changed ? ' now' : ' already'}.`);
    if (operators === 0) console.log('Nobody is an operator any more: npm run operator -- make <email>');
  } finally {
    await pool.close();
    await embedded?.stop();
  }
} catch (error) {
  if (!(error instanceof OperatorChangeRefused || error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
