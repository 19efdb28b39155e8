import { Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMenu2 } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { Link } from 'react-router';
import { useOffersSignUp } from '../../api/site.ts';
import { signOut, useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { useRoute } from '../../navigation/useRoute.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import classes from './Header.module.css';
import { Logo } from './Logo.tsx';
import { MainMenu } from './MainMenu.tsx';
import { useHeaderHidden } from './useHeaderHidden.ts';

/** Loaded lazily: visitors without a session, or on wide screens, never see these. */
const SignedInArea = lazyComponent(async () => (await import('./SignedInArea.tsx')).SignedInArea);
const MobileMenu = lazyComponent(async () => (await import('./MobileMenu.tsx')).MobileMenu);

export function Header() {
  const t = useT();
  const [panelOpened, panel] = useDisclosure(false);
  const [panelUsed, setPanelUsed] = useState(false);
  const hidden = useHeaderHidden();
  return (
    <header className={classes.header} data-hidden={(hidden && !panelOpened) || undefined}>
      <div className={classes.inner}>
        <Logo />
        <div className={classes.menu}>
          <MainMenu />
        </div>
        <div className={classes.profile}>
          <ProfileArea />
        </div>
        <IconButton
          className={classes.burger}
          size="m"
          plain
          data-testid="open-panel"
          label={t('Open the menu')}
          onClick={() => {
            setPanelUsed(true);
            panel.open();
          }}
        >
          <IconMenu2 size={22} />
        </IconButton>
      </div>
      {panelUsed && (
        <Suspense>
          <MobileMenu opened={panelOpened} onClose={panel.close} />
        </Suspense>
      )}
    </header>
  );
}

function ProfileArea() {
  const t = useT();
  const state = useUserState();
  switch (state.is) {
    case 'anonymous':
      return <SignButtons />;
    case 'loading':
      return <Waiting />;
    case 'failed':
      return (
        <Button color="gray" onClick={() => void signOut()}>
          {t('Log out')}
        </Button>
      );
    case 'signed-in':
      return (
        <Suspense fallback={<Waiting />}>
          <SignedInArea user={state.user} />
        </Suspense>
      );
  }
}

const Waiting = () => <Skeleton width={220} height={28} />;

/** "Sign up" and "Log in"; pages of the sign layout show only the first. */
export function SignButtons() {
  const t = useT();
  const { layout } = useRoute();
  const offersSignUp = useOffersSignUp();
  return (
    <>
      {(layout !== 'sign' || !offersSignUp) && (
        <Button color="gray" look="quiet" component={Link} to={paths.signIn()}>
          {t('Log in')}
        </Button>
      )}
      {offersSignUp && (
        <Button component={Link} to={paths.signUp()} color={layout === 'sign' ? 'gray' : 'primary'}>
          {t('Sign up')}
        </Button>
      )}
    </>
  );
}
