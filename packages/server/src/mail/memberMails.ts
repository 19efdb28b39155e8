import type { Role } from '@stagi/contract/permissions.ts';
import { composeText, fill, type MailContext, type Receiver, WORDS } from './accountMails.ts';
import type { MailText } from './layout.ts';

/** A change of a membership. */
interface Change {
  workspaceName: string;
  /** The name of the member who did it. */
  by: string;
}

type HereIs = Pick<MailContext, 'config' | 'language'>;

export function roleChangedMail(
  ctx: HereIs,
  receiver: Receiver,
  { workspaceName, by, role }: Change & { role: Role },
): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  const values = { workspace: onOneLine(workspaceName), role: words.roles[role] };
  return composeText(language, fill(words.roleChanged.subject, values), [
    fill(words.hello, { name: receiver.name }),
    fill(words.roleChanged.lead, values),
    {
      facts: [
        [words.workspace, workspaceName],
        [words.role, words.roles[role]],
        [words.by, by],
      ],
    },
    words.roleChanged.end,
    { link: `${ctx.config.appOrigin}/profile/account`, label: words.account },
  ]);
}

export function removedMail(ctx: HereIs, receiver: Receiver, { workspaceName, by }: Change): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  const values = { workspace: onOneLine(workspaceName) };
  return composeText(language, fill(words.removed.subject, values), [
    fill(words.hello, { name: receiver.name }),
    fill(words.removed.lead, values),
    {
      facts: [
        [words.workspace, workspaceName],
        [words.by, by],
      ],
    },
    words.removed.end,
  ]);
}

/** A subject must be one line, and a workspace's name may have line breaks. */
export const onOneLine = (name: string): string => name.replace(/\s+/g, ' ');
