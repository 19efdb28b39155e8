import type { UserProfile } from '@stagi/contract/user.ts';
import { presentRelation } from '../memberships/relation.ts';
import { picturePath } from '../pictures/profilePicture.ts';
import type { Authenticated } from '../sessions/authenticate.ts';

export function presentProfile({
  user,
  memberships,
}: Pick<Authenticated, 'user'> & { memberships: readonly Authenticated['memberships'][number][] }): UserProfile {
  return {
    userId: user.id,
    email: user.email,
    name: user.name,
    image: user.image && picturePath(user.image),
    language: user.language,
    theme: user.theme,
    isPasswordExist: user.hasPassword,
    isSignupFormSubmitted: user.isSignupFormSubmitted,
    hasTestModePrivileges: user.hasTestMode,
    clientRelations: memberships.map(presentRelation),
  };
}
