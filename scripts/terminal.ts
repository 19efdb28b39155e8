import type { Reporter } from '../packages/server/src/main.ts';
import type { Running, Step } from '../packages/server/src/start.ts';

/** Reports each step with its time once it is over, and on a terminal's last line while it runs. */
export const terminalStep: Step = async (doing, done, work) => {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  if (process.stdout.isTTY) process.stdout.write(`${CLEAR_LINE}  ${doing} …`);
  try {
    const result = await work();
    const told = done(result);
    console.log(typeof told === 'string' ? `${CLEAR_LINE}✓ ${told}  ${seconds()}` : `${CLEAR_LINE}– ${told.missing}`);
    return result;
  } catch (error) {
    console.log(`${CLEAR_LINE}✗ ${doing}  ${seconds()}`);
    throw error;
  }
};

const CLEAR_LINE = process.stdout.isTTY ? '\r\x1b[K' : '';

export const terminalReporter: Reporter = {
  step: terminalStep,
  serving: ({ ctx }) => console.log(summary(ctx.config)),
};

/** Where everything is, and how to stop it. */
function summary({ roles, appOrigin, dataDir, devMail, smtpUrl }: Running['ctx']['config']): string {
  const address = roles.has('api') ? [`Address  ${appOrigin}`] : [];
  const mails = devMail
    ? `Mails    ${appOrigin}/dev/mail`
    : `Mails    ${smtpUrl ? `sent by ${new URL(smtpUrl).host}` : 'not sent: set SMTP_URL'}`;
  const lines = [...address, mails, `Data     ${dataDir}`, 'Stop     Ctrl-C; rented servers keep running'];
  return ['', 'Stagi is running.', '', ...lines.map((line) => `  ${line}`), ''].join('\n');
}
