import { hashSecret } from '@stagi/server/src/passwords/hashing.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { percentile, type Random } from './random.ts';

/** The endpoints that receive an address: none of them may show whether it has an account. */
const WAYS = {
  'sign-in': { path: 'auth/email/authentication', input: (email: string) => ({ email, password: 'Wrong-guess-1' }) },
  'reset code': { path: 'auth/email/reset-password-code', input: (email: string) => ({ email }) },
  'reset with a wrong code': {
    path: 'auth/email/reset-password',
    input: (email: string) => ({ email, code: '00000000', newPassword: 'Fresh-battery-42' }),
  },
  'sign-up': {
    path: 'auth/email/register',
    input: (email: string) => ({ name: 'N', email, password: 'Fresh-battery-42' }),
  },
} as const;
type Way = keyof typeof WAYS;

export interface WayReport {
  way: Way;
  n: number;
  /** The difference between the medians of known and unknown addresses, in milliseconds. */
  gapMs: number;
  /** How often a known address takes longer than an unknown one. At least 0.5, which means no difference. */
  auc: number;
  medianMs: number;
  /** Answers that differ between the two. */
  different: number;
}

/**
 * Sends `n` known and `n` unknown addresses in turn, each from a source address of its own, with the rate limits on.
 */
export async function runEnumeration(n: number, random: Random): Promise<WayReport[]> {
  const app = await startTestApp({ TRUST_PROXY: '127.0.0.1', SIGN_INS_PER_MINUTE: '20' });
  try {
    const known = await manyPeople(app, n);
    const reports: WayReport[] = [];
    for (const way of Object.keys(WAYS) as Way[]) reports.push(await measure(app, way, known, random));
    return reports;
  } finally {
    await app.close();
  }
}

async function measure(app: TestApp, way: Way, known: readonly string[], random: Random): Promise<WayReport> {
  const taken: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  const answers: Record<'known' | 'unknown', Set<string>> = { known: new Set(), unknown: new Set() };
  const ask = async (kind: 'known' | 'unknown', email: string, count: boolean): Promise<void> => {
    const { path, input } = WAYS[way];
    const address = `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(0, 255)}`;
    const since = performance.now();
    const { status, body } = await app.post(path, input(email), { 'x-forwarded-for': address });
    const ms = performance.now() - since;
    if (!count) return;
    taken[kind].push(ms);
    answers[kind].add(JSON.stringify([status, body], (key, value) => (/^(flow|requestId)$/.test(key) ? '' : value)));
  };
  for (let warm = 0; warm < 5; warm += 1) await ask('unknown', `warm${warm}-${way.length}@example.com`, false);
  for (const [index, email] of known.entries()) {
    const unknown = `nobody${index}-${way.replaceAll(' ', '')}@example.com`;
    for (const kind of random.shuffle(['known', 'unknown'] as const))
      await ask(kind, kind === 'known' ? email : unknown, true);
  }
  const all = new Set([...answers.known, ...answers.unknown]);
  return {
    way,
    n: taken.known.length,
    gapMs: Math.abs(percentile(taken.known, 0.5) - percentile(taken.unknown, 0.5)),
    auc: aucOf(taken.known, taken.unknown),
    medianMs: percentile([...taken.known, ...taken.unknown], 0.5),
    different: all.size - 1,
  };
}

/** The area under the ROC curve (Mann-Whitney), turned so that it is never below one half. */
function aucOf(one: readonly number[], other: readonly number[]): number {
  let above = 0;
  for (const a of one) for (const b of other) above += a > b ? 1 : a === b ? 0.5 : 0;
  const auc = above / (one.length * other.length);
  return Math.max(auc, 1 - auc);
}

async function manyPeople(app: TestApp, n: number): Promise<string[]> {
  const password_hash = await hashSecret('Correct-horse-7');
  const emails = Array.from({ length: n }, (_, index) => `somebody${index}@example.com`);
  await app.ctx.db
    .insertInto('app_user')
    .values(emails.map((email) => ({ email, name: 'Somebody', password_hash, email_verified_at: new Date() })))
    .execute();
  return emails;
}

/** Prints a line for each endpoint and returns what is over the limits. */
export function reportEnumeration(
  reports: readonly WayReport[],
  most: { gapMs: number; auc: number },
  say: (line: string) => void,
): string[] {
  const failures: string[] = [];
  for (const { way, n, gapMs, auc, medianMs, different } of reports) {
    say(
      `enumeration, ${way}: n = ${n} + ${n}, median ${medianMs.toFixed(1)} ms, gap ${gapMs.toFixed(2)} ms, AUC ${auc.toFixed(3)}`,
    );
    if (n === 0) failures.push(`${way}: n = 0`);
    if (different > 0) failures.push(`${way}: ${different} answers differ`);
    if (!(gapMs < most.gapMs)) failures.push(`${way}: a gap of ${gapMs.toFixed(2)} ms, of ${most.gapMs} allowed`);
    if (!(auc < most.auc)) failures.push(`${way}: AUC ${auc.toFixed(3)}, of ${most.auc} allowed`);
  }
  if (reports.length === 0) failures.push('nothing was measured');
  return failures;
}
