import type { UserProfile } from '@stagi/contract/user.ts';
import type { Context } from '../context.ts';
import { presentRelations } from '../memberships/relation.ts';
import { picturePath } from '../pictures/profilePicture.ts';
import type { Authenticated, Membership } from '../sessions/authenticate.ts';

export async function presentProfile({
  user,
  memberships,
  pg,
  heldSince,
}: Pick<Authenticated, 'user'> & { memberships: readonly Membership[] } & Pick<
    Context,
    'pg' | 'heldSince'
  >): Promise<UserProfile> {
  return {
    userId: user.id,
    email: user.email,
    name: user.name,
    image: user.image && picturePath(user.image),
    language: user.language,
    theme: user.theme,
    isPasswordExist: user.hasPassword,
    isSignupFormSubmitted: user.isSignupFormSubmitted,
    isGettingStarted: user.isGettingStarted,
    hasTestModePrivileges: user.hasTestMode,
    clientRelations: await presentRelations({ pg }, memberships),
    ...(heldSince && { platformHeldSince: heldSince.toISOString() }),
  };
}
