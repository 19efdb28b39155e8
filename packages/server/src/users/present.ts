import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import { daysLeft } from '../billing/balance.ts';
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
    clientRelations: memberships.map(
      (workspace): ClientRelation => ({
        clientId: workspace.id,
        clientName: workspace.name,
        roleName: workspace.role,
        permissions: [...workspace.permissions],
        hourlyPaidServicesDaysLeft: daysLeft(workspace),
        subscriptionPlan: workspace.plan,
      }),
    ),
  };
}
