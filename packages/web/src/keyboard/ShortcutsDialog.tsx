import { Switch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { canOpen } from '../access/permissionChecks.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { Dialog } from '../ui/dialogs/Dialog.tsx';
import classes from './Keys.module.css';
import { Keys } from './Keys.tsx';
import type { OverlayProps } from './overlays.ts';
import { GO_KEY, GO_TO_PAGES, HELP_KEY, paletteKeys, SEARCH, singleKeyShortcuts } from './shortcuts.ts';

/** The list of shortcuts, with a switch for those without a modifier. */
export function ShortcutsDialog({ opened, onClose }: OverlayProps) {
  const t = useT();
  const state = useUserState();
  const [on, setOn] = useState(singleKeyShortcuts.areOn);
  const places = GO_TO_PAGES.filter(({ route }) => state.is === 'signed-in' && canOpen(route, state.user.permissions));

  function switchKeys(next: boolean): void {
    singleKeyShortcuts.switch(next);
    setOn(next);
  }

  return (
    <Dialog opened={opened} onClose={onClose} title={t('Keyboard shortcuts')} size="xs">
      <Section title={t('Anywhere')}>
        <Row
          does={t('Find a page, a server, a storage, a container or an action')}
          keys={<Keys keys={paletteKeys()} />}
        />
        <Row does={t('Search the list')} keys={<Keys keys={[SEARCH]} />} />
        <Row does={t('Show these shortcuts')} keys={<Keys keys={[HELP_KEY]} />} />
        <Row does={t('Close the dialog or menu')} keys={<Keys keys={['Esc']} />} />
      </Section>
      {places.length > 0 && (
        <Section title={t('Go to')}>
          {places.map(({ letter, route }) => (
            <Row key={letter} does={t(route.title)} keys={<Keys keys={[GO_KEY, letter]} then={t('then')} />} />
          ))}
        </Section>
      )}
      <Switch
        className={classes.switch}
        checked={on}
        onChange={(event) => switchKeys(event.currentTarget.checked)}
        label={t('Single-key shortcuts')}
        description={t('Inactive while you type. Switch off to disable them everywhere.')}
      />
    </Dialog>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h3 className={classes.heading}>{title}</h3>
      <dl className={classes.list}>{children}</dl>
    </section>
  );
}

function Row({ does, keys }: { does: string; keys: ReactNode }) {
  return (
    <div className={classes.row}>
      <dt>{does}</dt>
      <dd>{keys}</dd>
    </div>
  );
}
