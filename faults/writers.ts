import { API_PREFIX } from '@stagi/contract/call.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import pg from 'pg';

/** The observations of people who use the platform without a pause. */
export interface Ledger {
  answered: number;
  /** 503 with Retry-After. */
  refused: number;
  /** Wrong results: no answer, another status, no Retry-After, a false answer. */
  wrong: string[];
  slowestRefusalMs: number;
  lastAnswerAt: number;
}

interface Write {
  title: string;
  isAnswered: boolean;
}

/** Creates SSH keys and edits the names of all people in parallel, until `stop`. Wrong answers go to `ledger`. */
export function writeConcurrently(url: string, people: readonly Person[]) {
  const ledger: Ledger = { answered: 0, refused: 0, wrong: [], slowestRefusalMs: 0, lastAnswerAt: 0 };
  const writes = new Map<Person, Write[]>(people.map((person) => [person, []]));
  let isOver = false;
  const work = people.map((person, index) => useIt(person, index));

  async function useIt(person: Person, index: number): Promise<void> {
    const mine = writes.get(person)!;
    let known = 0;
    for (let n = 1; !isOver; n += 1) {
      const title = `key-${index}-${n}`;
      const write = { title, isAnswered: false };
      mine.push(write);
      const key = crypto.randomUUID();
      // Every second one is retried until it is answered; the others are given up at the first refusal.
      let reply = await send(person, 'ssh-key/generate', { title }, key);
      while (reply === 'refused' && n % 2 === 0 && !isOver)
        reply = await send(person, 'ssh-key/generate', { title }, key);
      if (typeof reply === 'object') {
        write.isAnswered = true;
        const { entity } = reply as { entity?: { title?: string } };
        if (entity?.title !== title) ledger.wrong.push(`made ${title}, was answered ${JSON.stringify(reply)}`);
      }

      if ((await send(person, 'user/edit', { name: `Person ${n}` })) !== 'refused') known = n;
      const seen = await send(person, 'user/profile', {});
      if (typeof seen !== 'object') continue;
      const shown = Number(JSON.stringify(seen).match(/Person (\d+)/)?.[1] ?? Number.NaN);
      if (!(shown >= known && shown <= n)) ledger.wrong.push(`named ${known} to ${n}, was shown ${shown}`);
      known = Math.max(known, shown || 0);
    }
  }

  /** The body of an answer, or why there is none. */
  async function send(
    person: Person,
    path: string,
    body: unknown,
    key?: string,
  ): Promise<object | 'refused' | 'wrong'> {
    const since = performance.now();
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}${API_PREFIX}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${person.tokens().accessToken}`,
          'x-client-id': String(person.workspaceId),
          ...(key ? { 'idempotency-key': key } : {}),
        },
        body: JSON.stringify(body),
      });
      text = await response.text();
    } catch (error) {
      ledger.wrong.push(`${path}: no answer (${String((error as Error).cause ?? error)})`);
      return 'wrong';
    }
    if (response.status === 200 && text.startsWith('{"isSuccess":true')) {
      ledger.answered += 1;
      ledger.lastAnswerAt = performance.now();
      return JSON.parse(text) as object;
    }
    if (response.status === 503 && Number(response.headers.get('retry-after')) > 0) {
      ledger.refused += 1;
      ledger.slowestRefusalMs = Math.max(ledger.slowestRefusalMs, performance.now() - since);
      return 'refused';
    }
    ledger.wrong.push(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return 'wrong';
  }

  return {
    ledger,
    /** Ends the load and compares the answers with the stored state. */
    async stop(databaseUrl: string): Promise<{ asked: number; stored: number }> {
      isOver = true;
      await Promise.all(work);
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      try {
        const { rows } = await client.query<{ user_id: number; title: string; count: number }>(
          'select user_id, title, count(*)::int as count from ssh_key group by user_id, title',
        );
        const counts = new Map(rows.map((row) => [`${row.user_id} ${row.title}`, row.count]));
        let stored = 0;
        let asked = 0;
        for (const [person, mine] of writes) {
          for (const { title, isAnswered } of mine) {
            const count = counts.get(`${person.userId} ${title}`) ?? 0;
            asked += 1;
            stored += count;
            if (count > 1) ledger.wrong.push(`${title} is there ${count} times`);
            if (isAnswered && count === 0) ledger.wrong.push(`${title} was answered and is not there`);
          }
        }
        return { asked, stored };
      } finally {
        await client.end();
      }
    },
  };
}
