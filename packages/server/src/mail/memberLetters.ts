import type { Role } from '@stagi/contract/permissions.ts';
import type { MailText } from './layout.ts';
import { fill, type Ground, letter, type Receiver, WORDS } from './letters.ts';

/** What was done to somebody's membership, by whom. */
interface Change {
  workspaceName: string;
  /** The name of the member who did it. */
  by: string;
}

type HereIs = Pick<Ground, 'config' | 'language'>;

export function roleChangedMail(
  ground: HereIs,
  receiver: Receiver,
  { workspaceName, by, role }: Change & { role: Role },
): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  const values = { workspace: onOneLine(workspaceName), role: words.roles[role] };
  return letter(language, fill(words.roleChanged.subject, values), [
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
    { link: `${ground.config.appOrigin}/profile/account`, label: words.account },
  ]);
}

export function removedMail(ground: HereIs, receiver: Receiver, { workspaceName, by }: Change): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  const values = { workspace: onOneLine(workspaceName) };
  return letter(language, fill(words.removed.subject, values), [
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

/** A subject is one line, whatever people call their workspaces. */
export const onOneLine = (name: string): string => name.replace(/\s+/g, ' ');
