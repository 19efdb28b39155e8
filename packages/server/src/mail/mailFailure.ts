import type { MailFailureReason } from '@stagi/contract/adminSystem.ts';

export interface MailFailure {
  reason: MailFailureReason;
  /** The error's own words, on one line and without the password. */
  detail: string;
}

/** An error of nodemailer: its own code, that of the system or of TLS below it, and the command that was refused. */
interface SmtpError {
  message: string;
  code?: string;
  originalCode?: string;
  command?: string;
}

/** The state of the mail server that an error shows; null: the error concerns one mail and its recipient. */
export function mailFailureOf(error: unknown, smtpUrl: string): MailFailure | null {
  const problem = error as SmtpError;
  const reason = reasonOf(problem);
  return reason && { reason, detail: mailErrorText(error, smtpUrl) };
}

function reasonOf({ code, originalCode, command }: SmtpError): MailFailureReason | null {
  switch (code) {
    case 'ETIMEDOUT':
      return 'silent';
    case 'ECONNECTION':
    case 'EDNS':
    case 'EPROXY':
      return 'unreachable';
    case 'ESOCKET':
      return reasonOfSocket(originalCode);
    case 'ETLS':
    case 'EREQUIRETLS':
      return 'tls';
    case 'EAUTH':
    case 'ENOAUTH':
    case 'EOAUTH2':
      return 'sign-in';
    case 'EPROTOCOL':
      return 'refused';
    case 'EENVELOPE':
      // At RCPT and DATA it refuses this recipient or this content: a greylist, a mailbox that does not exist.
      return command === 'MAIL FROM' ? 'sender' : null;
    default:
      return null;
  }
}

/** Errors of TLS have codes of OpenSSL, such as CERT_HAS_EXPIRED; those of the system begin with E. */
function reasonOfSocket(originalCode = 'ECONNRESET'): MailFailureReason {
  if (originalCode === 'ETIMEDOUT') return 'silent';
  const isOfSystem = originalCode.startsWith('E') && !originalCode.startsWith('ERR') && originalCode !== 'EPROTO';
  return isOfSystem ? 'unreachable' : 'tls';
}

const DETAIL_MAX = 300;

/** The words of an error, for people and for the database: the server may have repeated the password in them. */
export function mailErrorText(error: unknown, smtpUrl: string): string {
  const { message, originalCode, code } = error as SmtpError;
  // A name with several addresses fails with an error that has a code and no message.
  let said = message || originalCode || code || String(error);
  for (const secret of secretsOf(smtpUrl)) said = said.replaceAll(secret, '…');
  return said.replace(/\s+/g, ' ').trim().slice(0, DETAIL_MAX);
}

/** The password as it is written in the address, as it is, and as it is sent. The longer forms come first. */
function secretsOf(smtpUrl: string): string[] {
  const { username, password } = new URL(smtpUrl);
  if (password === '') return [];
  const plain = decoded(password);
  const sent = [`\0${decoded(username)}\0${plain}`, plain].map((form) => Buffer.from(form).toString('base64'));
  return [...sent, password, plain];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // nodemailer uses such a part as it is written.
    return part;
  }
}
