/** A process of its own that sends many sign-ins at once and reads a profile meanwhile. */
export interface LoadOrder {
  url: string;
  emails: string[];
  password: string;
  accessToken: string;
  rounds: number;
}
export interface LoadReport {
  /** How long each read of the profile took, in milliseconds. */
  profileMs: number[];
  signInMs: number[];
  /** The number of answers with each status. */
  statuses: Record<string, number>;
  /** 429s without Retry-After. */
  withoutRetryAfter: number;
  profileRefusals: number;
}

process.once('message', (order: LoadOrder) => void load(order).then((report) => process.send?.(report)));

async function load({ url, emails, password, accessToken, rounds }: LoadOrder): Promise<LoadReport> {
  const report: LoadReport = { profileMs: [], signInMs: [], statuses: {}, withoutRetryAfter: 0, profileRefusals: 0 };
  let going = true;
  const probes = Promise.all(
    [0, 1].map(async () => {
      while (going) {
        const since = performance.now();
        const reply = await send('user/profile', {}, { authorization: `Bearer ${accessToken}` });
        report.profileMs.push(performance.now() - since);
        if (reply.status !== 200) report.profileRefusals += 1;
      }
    }),
  );
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(emails.map((email, index) => signIn(email, index, round)));
  going = false;
  await probes;
  return report;

  async function signIn(email: string, index: number, round: number): Promise<void> {
    const address = `10.${round}.${index >> 8}.${index & 255}`;
    const since = performance.now();
    const reply = await send('auth/email/authentication', { email, password }, { 'x-forwarded-for': address });
    report.signInMs.push(performance.now() - since);
    report.statuses[reply.status] = (report.statuses[reply.status] ?? 0) + 1;
    if (reply.status === 429 && !reply.headers.get('retry-after')) report.withoutRetryAfter += 1;
  }

  async function send(path: string, body: object, headers: Record<string, string>): Promise<Response> {
    const reply = await fetch(`${url}/frontend-api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    await reply.arrayBuffer();
    return reply;
  }
}
