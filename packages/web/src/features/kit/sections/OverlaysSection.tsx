import { IconPencil, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { ActionButton, ActionMenu } from '../../../ui/actions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { DropdownMenu, type MenuEntry } from '../../../ui/DropdownMenu.tsx';
import { PROFILE_POPUP_OFFSET_PX } from '../../../ui/kitConstants.ts';
import { Popover } from '../../../ui/Popover.tsx';
import { Tooltip } from '../../../ui/Tooltip.tsx';
import { toast } from '../../../ui/toasts.ts';
import { Specimen, Specimens } from '../Specimen.tsx';

const nothing = () => undefined;

/** What opens over the page: tooltips, popovers, menus, toasts. */
export default function OverlaysSection() {
  const [chosen, setChosen] = useState('nothing');
  const items: MenuEntry[] = [
    { heading: 'The server' },
    { label: 'Rename', icon: <IconPencil size={16} />, onClick: () => setChosen('rename') },
    { label: 'Stop', icon: <IconPlayerStop size={16} />, reason: 'It is stopped already', onClick: nothing },
    'divider',
    { label: 'Delete', icon: <IconTrash size={16} />, danger: true, onClick: () => setChosen('delete') },
  ];
  return (
    <Specimens>
      <Specimen id="tooltip" title="Tooltips">
        <Tooltip label="Shown 200 ms after the pointer came, at once for the keyboard">
          <Button color="gray">Has a tooltip</Button>
        </Tooltip>
        <ActionButton onClick={nothing} verdict={{ allowed: false, reason: 'The server is stopped' }}>
          Restart
        </ActionButton>
      </Specimen>
      <Specimen id="popover" title="Popovers">
        <Popover target={<Button color="gray">Popover</Button>}>5 px from its button</Popover>
        <Popover target={<Button color="gray">Like the profile</Button>} offset={PROFILE_POPUP_OFFSET_PX}>
          14 px from its button
        </Popover>
      </Specimen>
      <Specimen id="menus" title="Menus">
        <DropdownMenu items={items}>
          <Button color="gray">Menu</Button>
        </DropdownMenu>
        <DropdownMenu items={items} trigger="hover">
          <Button color="gray">Under the pointer</Button>
        </DropdownMenu>
        <ActionMenu
          label="Actions for alpha"
          actions={[
            { label: 'Start', onClick: () => setChosen('start') },
            { label: 'Stop', onClick: nothing, verdict: { allowed: false, reason: 'It is stopped already' } },
            { label: 'Delete', danger: true, onClick: nothing },
          ]}
        />
        <span data-testid="menu-chosen">Chosen: {chosen}</span>
      </Specimen>
      <Specimen id="toasts" title="Toasts">
        <Button color="gray" onClick={() => toast.success('The SSH key has been added')}>
          Success
        </Button>
        <Button color="gray" onClick={() => toast.error('Something goes wrong. Try again!')}>
          Failure
        </Button>
        <Button color="gray" onClick={() => toast.info('A new version is ready')}>
          To know
        </Button>
        <Button color="gray" onClick={manyToasts}>
          {NUMBERS.length} at once
        </Button>
      </Specimen>
    </Specimens>
  );
}

const NUMBERS = Array.from({ length: 25 }, (_, index) => index + 1);

function manyToasts(): void {
  for (const number of NUMBERS) toast.info(`Toast ${number}`);
}
