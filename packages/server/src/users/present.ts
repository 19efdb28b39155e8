import type { UserProfile } from '@stagi/contract/user.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import { presentRelation } from '../workspaces/present.ts';
import { picturePath } from './picture.ts';

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
