import type { ContactTopic } from '@stagi/contract/contactTopics.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Config } from '../config/config.ts';
import { composeText, fill, WORDS } from './accountMails.ts';
import type { MailText, Part } from './layout.ts';

/** What a visitor typed; every field but the message is one line. */
interface Request {
  id: number;
  topic: ContactTopic;
  name: string;
  email: string;
  company: string | null;
  message: string;
  about: { model: { id: string; name: string }; gpu?: string; quality?: string } | null;
}

/** To the operators. Nothing of what was typed is in its headers, except an address that can be nothing else. */
export function contactRequestMail(
  { config, language }: { config: Pick<Config, 'appOrigin'>; language: Language },
  { id, topic, name, email, company, message, about }: Request,
): MailText {
  const words = WORDS[language];
  const { contact } = words;
  const replyTo = replyAddress(email);
  const facts: [string, string][] = [
    [contact.name, name],
    [contact.email, email],
  ];
  if (company) facts.push([contact.company, company]);
  if (about) facts.push([contact.model, `${about.model.name} (${about.model.id})`]);
  if (about?.gpu) facts.push(['GPU', about.gpu]);
  if (about?.quality) facts.push([contact.quality, about.quality]);
  const mail = composeText(language, fill(contact.subject, { id, topic: contact.topics[topic] }), [
    contact.lead,
    { facts },
    { quote: message },
    ...(replyTo ? [contact.end] : []),
    { link: `${config.appOrigin}/admin/contact?contact=${id}`, label: contact.open } satisfies Part,
  ]);
  return replyTo ? { ...mail, replyTo } : mail;
}

/**
 * A typed address as it may stand in a header: letters, digits and signs that need no quoting (RFC 5322, dot-atom), and
 * no encoded word. Null for any other address; it is in the mail's text.
 */
export function replyAddress(email: string): string | null {
  const isPlain =
    email.length <= 254 &&
    /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(email) &&
    !email.includes('=?');
  return isPlain ? email : null;
}
