import type { api } from '@stagi/contract/api.ts';
import type { ClientRelation, UserProfile } from '@stagi/contract/user.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import { addPassword } from '../auth/changePassword.ts';
import { daysLeft } from '../billing/balance.ts';
import type { HandlersOf } from '../http/mount.ts';

export const userHandlers: HandlersOf<typeof api.user> = {
  async profile(ctx) {
    return { isSuccess: true, userProfile: presentProfile(ctx) };
  },
  async edit(ctx, changes) {
    if (Object.keys(changes).length > 0)
      await ctx.db.updateTable('app_user').set(changes).where('id', '=', ctx.user.id).execute();
    return {
      isSuccess: true,
      userProfile: presentProfile({ ...ctx, user: { ...ctx.user, ...changes } }),
    };
  },
  async addPassword(ctx, input) {
    await addPassword(ctx, input);
    return { isSuccess: true };
  },
};

function presentProfile({
  user,
  memberships,
}: Pick<Authenticated, 'user'> & { memberships: readonly Authenticated['memberships'][number][] }): UserProfile {
  return {
    userId: user.id,
    email: user.email,
    name: user.name,
    image: user.image,
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
