import type { Context } from '../context.ts';
import { type Loop, repeatEvery } from '../loops/repeatEvery.ts';
import { mailErrorText, mailFailureOf } from './mailFailure.ts';
import { noteMailServerFails, noteMailServerReached } from './mailServer.ts';
import type { MailTransport } from './transport.ts';

/** With `ANSWER_MS` less than a minute: so soon a mail server that fails is known, also one that says nothing. */
const CHECK_MS = 30_000;
const ANSWER_MS = 20_000;

type Checking = Pick<Context, 'db' | 'log'> & { config: { smtpUrl: string } };

/** Signs in to the mail server again and again, so that its failure and its return are known before a mail is sent. */
export function watchMailServer(ctx: Checking, transport: MailTransport): Loop {
  const stopping = new AbortController();
  const loop = repeatEvery(ctx, CHECK_MS, 'the check of the mail server', () =>
    checkMailServer(ctx, transport, { stopping: stopping.signal }),
  );
  return {
    now: loop.now,
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** One check, which notes its result. */
export async function checkMailServer(
  ctx: Checking,
  transport: MailTransport,
  { stopping, answerMs = ANSWER_MS }: { stopping?: AbortSignal; answerMs?: number } = {},
): Promise<void> {
  const late = AbortSignal.timeout(answerMs);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(new Error('ended'));
  for (const signal of [late, stopping]) signal?.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([transport.verify(), ended]);
  } catch (error) {
    if (stopping?.aborted) return;
    const failure = late.aborted
      ? { reason: 'silent' as const, detail: `no answer within ${answerMs / 1000} s` }
      : // An error that is none of a single mail's has no code when the server just hangs up.
        (mailFailureOf(error, ctx.config.smtpUrl) ?? {
          reason: 'unreachable' as const,
          detail: mailErrorText(error, ctx.config.smtpUrl),
        });
    await noteMailServerFails(ctx, failure);
    return;
  } finally {
    stopping?.removeEventListener('abort', end);
  }
  await noteMailServerReached(ctx, { by: 'check' });
}
