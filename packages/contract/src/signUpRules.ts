import { z } from 'zod';

/** Who may make an account: everybody, who has an invitation, who has an address of a domain, nobody. */
export const SIGN_UP_RULES = ['open', 'invite', 'domain', 'off'] as const;
export type SignUpRule = (typeof SIGN_UP_RULES)[number];

/** The code of an invitation: of a sign-up link, or of the join link of a workspace. An unknown one is refused like an expired one. */
export const InviteCode = z.string().min(1).max(200);
