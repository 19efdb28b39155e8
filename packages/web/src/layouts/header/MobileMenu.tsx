import { Drawer } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useOffersSignUp } from '../../api/site.ts';
import { signOut, useUserState } from '../../api/user.ts';
import { BalanceIndicator } from '../../balance/BalanceIndicator.tsx';
import { useT } from '../../i18n/i18n.ts';
import { PaletteButton } from '../../palette/PaletteButton.tsx';
import { paths } from '../../paths.ts';
import { LanguageMenu } from '../../preferences/LanguageMenu.tsx';
import { ThemeChoice } from '../../preferences/PreferenceControls.tsx';
import { Button } from '../../ui/Button.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { reserveScrollbarSpace } from '../../ui/scrollbarSpace.ts';
import { Logo } from './Logo.tsx';
import { MainMenu } from './MainMenu.tsx';
import classes from './MobileMenu.module.css';
import { ProfileLinks } from './ProfileLinks.tsx';
import { ProfileSummary } from './ProfileMenu.tsx';
import { WorkspaceList } from './WorkspaceList.tsx';

/** The menu of narrow screens. The page behind does not scroll; any change of address closes it. */
export function MobileMenu({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const state = useUserState();
  const { key } = useLocation();
  // It is loaded at its first opening, and must mount closed to remember the focus.
  const [here, setHere] = useState(false);
  useEffect(() => setHere(true), []);
  useLayoutEffect(() => {
    if (opened) reserveScrollbarSpace();
  }, [opened]);
  const openedAt = useRef(key);
  useEffect(() => {
    if (openedAt.current !== key) onClose();
    openedAt.current = key;
  }, [key, onClose]);

  const offersSignUp = useOffersSignUp();
  return (
    <Drawer
      opened={opened && here}
      onClose={onClose}
      position="right"
      size={320}
      withCloseButton={false}
      lockScroll
      title={null}
      attributes={{ content: { 'aria-label': t('Menu') } }}
      classNames={{ body: classes.panel }}
    >
      <div className={classes.top}>
        <Logo />
        <IconButton size="m" plain label={t('Close the menu')} onClick={onClose}>
          <IconX size={22} />
        </IconButton>
      </div>
      {state.is === 'signed-in' && (
        <div className={classes.part}>
          <ProfileSummary user={state.user} />
          {state.user.workspace && (
            <div className={classes.balance}>
              <BalanceIndicator />
            </div>
          )}
          <WorkspaceList user={state.user} />
        </div>
      )}
      {state.is === 'signed-in' && (
        <div className={classes.part}>
          <ProfileLinks user={state.user} />
        </div>
      )}
      <div className={classes.part}>
        <div className={classes.find}>
          <PaletteButton wide />
        </div>
        <MainMenu mobile />
      </div>
      <div className={classes.part}>
        <div className={classes.choices}>
          <ThemeChoice fullWidth />
          <LanguageMenu fullWidth />
        </div>
      </div>
      <div className={classes.bottom}>
        {state.is === 'anonymous' ? (
          <>
            {offersSignUp && (
              <Button component={Link} to={paths.signUp()} fullWidth>
                {t('Sign up')}
              </Button>
            )}
            <Button color="gray" component={Link} to={paths.signIn()} fullWidth>
              {t('Log in')}
            </Button>
          </>
        ) : (
          <Button color="gray" fullWidth onClick={() => void signOut()}>
            {t('Log out')}
          </Button>
        )}
      </div>
    </Drawer>
  );
}
