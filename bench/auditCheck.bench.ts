/**
 * Verifies the hashes of all audit logs: 100,000 workspaces with 5 entries each and one with 200,000. Prints the cost
 * of a tenth of the short ones and of all, to show that it grows no faster than the entries, and the longest part,
 * which is one statement. Fails when a part comes near the statement timeout of five seconds, when the cost grows
 * faster than the entries, and when a changed entry is not the only finding.
 */
import { type VerifiedPart, verifyAllChains } from '@stagi/server/src/audit/verifyAllChains.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import pg from 'pg';

const CHAINS = 100_000;
const EACH = 5;
const LONG = 200_000;
const PART_MOST_MS = 2_500;
const GROWTH_MOST = 1.5;
const FIRST = 1_000;

const postgres = await startTestPostgres();
const app = await startTestApp();
const client = new pg.Client({ connectionString: app.databaseUrl, options: '-c session_replication_role=replica' });
const failures: string[] = [];
try {
  await client.connect();
  const short = FIRST + CHAINS;
  await fill(client);

  const tenth = await checked(short - CHAINS / 10);
  const all = await checked(FIRST);
  const growth = all.perEntry / tenth.perEntry;
  console.log(`audit check: a tenth ${told(tenth)}`);
  console.log(`audit check: all ${told(all)}; an entry costs ${growth.toFixed(2)} of what it costs in a tenth`);
  if (all.entries !== CHAINS * EACH + LONG) failures.push(`${all.entries} entries were looked at`);
  if (all.broken.length > 0) failures.push(`${all.broken.length} whole logs are called broken`);
  for (const { longest } of [tenth, all])
    if (!(longest <= PART_MOST_MS)) failures.push(`a part took ${longest.toFixed(0)} ms`);
  if (!(growth <= GROWTH_MOST)) failures.push(`an entry costs ${growth.toFixed(2)} times as much among more`);

  const changed = [FIRST + 77_777, short + 1];
  await client.query("update audit set ip = '192.0.2.1' where chain = any($1) and seq = 3", [changed]);
  const { broken } = await checked(FIRST);
  console.log(`audit check: n = ${changed.length} logs changed, ${broken.length} found`);
  const expected = changed.map((chain) => ({ chain, entry: 3 }));
  if (JSON.stringify(broken) !== JSON.stringify(expected)) failures.push(`found ${JSON.stringify(broken)}`);
} finally {
  await client.end();
  await app.close();
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Chains as the trigger of the database makes them, without its locks. */
async function fill(client: pg.Client): Promise<void> {
  for (let seq = 1; seq <= EACH; seq += 1) {
    await client.query(
      `insert into audit (chain, workspace_id, seq, at, credential, action, outcome, prev_hash, hash)
       select n, n, ${seq}, now(), 'session', 'client/edit', 'done',
         coalesce((select hash from audit where chain = n and seq = ${seq} - 1), ''), ''
       from generate_series(${FIRST + 1}, ${FIRST + CHAINS}) n`,
    );
    await client.query(`update audit a set hash = audit_hash(a) where chain > ${FIRST} and seq = ${seq}`);
  }
  await client.query(
    `do $$
     declare entry audit; before bytea := '';
     begin
       for n in 1..${LONG} loop
         insert into audit (chain, workspace_id, seq, at, credential, action, outcome, prev_hash, hash)
           values (${FIRST + CHAINS + 1}, ${FIRST + CHAINS + 1}, n, now(), 'session', 'client/edit', 'done', before, '') returning * into entry;
         before := audit_hash(entry);
         update audit set hash = before where chain = entry.chain and seq = n;
       end loop;
     end $$`,
  );
  await client.query(
    `insert into audit_head (chain, seq, hash)
     select distinct on (chain) chain, seq, hash from audit where chain > ${FIRST} order by chain, seq desc`,
  );
  await client.query('vacuum analyze audit, audit_head');
}

interface Checked extends Pick<VerifiedPart, 'chains' | 'entries' | 'broken'> {
  ms: number;
  parts: number;
  longest: number;
  perEntry: number;
}

async function checked(behind: number): Promise<Checked> {
  const sum: Checked = { chains: 0, entries: 0, broken: [], ms: 0, parts: 0, longest: 0, perEntry: 0 };
  let since = performance.now();
  for await (const { chains, entries, broken } of verifyAllChains(app.ctx.db, behind)) {
    const ms = performance.now() - since;
    sum.chains += chains;
    sum.entries += entries;
    sum.broken.push(...broken);
    sum.ms += ms;
    sum.parts += 1;
    sum.longest = Math.max(sum.longest, ms);
    since = performance.now();
  }
  return { ...sum, perEntry: sum.ms / sum.entries };
}

function told({ chains, entries, ms, parts, longest }: Checked): string {
  return `n = ${entries} entries of ${chains} logs in ${(ms / 1000).toFixed(1)} s, ${parts} parts, the longest ${longest.toFixed(0)} ms`;
}
