import '../../i18n/englishPlurals.ts';
import type { CurrentUser } from '../../api/user.ts';
import { BalanceIndicator } from '../../balance/BalanceIndicator.tsx';
import { PaletteButton } from '../../palette/PaletteButton.tsx';
import { ProfileMenu } from './ProfileMenu.tsx';

/** The header's right side for who is signed in. */
export function SignedInArea({ user }: { user: CurrentUser }) {
  return (
    <>
      <PaletteButton />
      {user.workspace && <BalanceIndicator />}
      <ProfileMenu user={user} />
    </>
  );
}
