import { Switch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { opens } from '../menuGate.ts';
import type { OverlayProps } from '../Overlays.tsx';
import classes from './Keys.module.css';
import { Keys } from './Keys.tsx';
import { GO, GO_TO, HELP, paletteKeys, SEARCH, singleKeys } from './keyMap.ts';

/** Which keys there are, and the switch for those that a slip of the hand could press. */
export function KeyMapDialog({ opened, onClose }: OverlayProps) {
  const t = useT();
  const state = useUserState();
  const [on, setOn] = useState(singleKeys.areOn);
  const places = GO_TO.filter(({ route }) => state.is === 'here' && opens(route, state.user.permissions));

  function switchKeys(next: boolean): void {
    singleKeys.switch(next);
    setOn(next);
  }

  return (
    <Dialog opened={opened} onClose={onClose} title={t('Keyboard shortcuts')} size="xs">
      <Section title={t('Anywhere')}>
        <Row does={t('Find a page, a server, a container or an action')} keys={<Keys keys={paletteKeys()} />} />
        <Row does={t('Search in the list on the page')} keys={<Keys keys={[SEARCH]} />} />
        <Row does={t('Show these shortcuts')} keys={<Keys keys={[HELP]} />} />
        <Row does={t('Close what is open')} keys={<Keys keys={['Esc']} />} />
      </Section>
      {places.length > 0 && (
        <Section title={t('Go to')}>
          {places.map(({ letter, route }) => (
            <Row key={letter} does={t(route.title)} keys={<Keys keys={[GO, letter]} then={t('then')} />} />
          ))}
        </Section>
      )}
      <Switch
        className={classes.switch}
        checked={on}
        onChange={(event) => switchKeys(event.currentTarget.checked)}
        label={t('Shortcuts of a single key')}
        description={t('Off while you type in a field; here they go off everywhere.')}
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
