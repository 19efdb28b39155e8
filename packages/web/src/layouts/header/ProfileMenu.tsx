import { Popover, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Link, useLocation } from 'react-router';
import { track } from '../../api/analytics.ts';
import { type CurrentUser, signOut } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { PersonAvatar } from '../../people/PersonAvatar.tsx';
import { LanguageMenu } from '../../preferences/LanguageMenu.tsx';
import { ThemeChoice } from '../../preferences/PreferenceControls.tsx';
import { CutText } from '../../ui/CutText.tsx';
import { PROFILE_POPUP_OFFSET_PX } from '../../ui/kitConstants.ts';
import { ProfileLinks } from './ProfileLinks.tsx';
import classes from './ProfileMenu.module.css';
import { WorkspaceList } from './WorkspaceList.tsx';

/** The signed-in person, their workspaces, theme, language and "Log out". */
export function ProfileMenu({ user }: { user: CurrentUser }) {
  const t = useT();
  const [opened, { toggle, close }] = useDisclosure(false);
  const { key } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes at every change of address
  useEffect(close, [key]);

  return (
    <Popover
      opened={opened}
      onDismiss={close}
      position="bottom-end"
      offset={PROFILE_POPUP_OFFSET_PX}
      width={304}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <UnstyledButton
          className={classes.target}
          onClick={() => {
            if (!opened) track('header_tab_user_menu_clicked');
            toggle();
          }}
          data-testid="profile-menu"
        >
          <PersonAvatar name={user.profile.name} image={user.profile.image} size={28} />
          <CutText className={classes.workspaceName}>{user.workspace?.clientName ?? t('No workspace')}</CutText>
          <span className="visually-hidden">{t('Profile menu')}</span>
          <IconChevronDown size={14} />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown} aria-label={t('Profile menu')}>
        <ProfileSummary user={user} />
        <div className={classes.part}>
          <WorkspaceList user={user} />
        </div>
        <div className={classes.part}>
          <ProfileLinks user={user} />
        </div>
        <div className={classes.part}>
          <div className={classes.choice}>
            <ThemeChoice fullWidth />
          </div>
          <div className={classes.choice}>
            <LanguageMenu fullWidth />
          </div>
        </div>
        <div className={classes.part}>
          <button type="button" className={classes.item} onClick={() => void signOut()}>
            {t('Log out')}
          </button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Name, address and the way to edit them; also in the side panel. */
export function ProfileSummary({ user }: { user: CurrentUser }) {
  const t = useT();
  return (
    <div className={classes.who}>
      <PersonAvatar name={user.profile.name} image={user.profile.image} size={36} />
      <div className={classes.names}>
        <div className={classes.name}>{user.profile.name}</div>
        <div className={classes.email}>{user.profile.email}</div>
        <Link to={paths.account()} className={classes.edit}>
          {t('Edit profile')}
        </Link>
      </div>
    </div>
  );
}
