import { Tabs as MantineTabs } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './LinkTabs.module.css';

export interface Tab {
  key: string;
  label: string;
  icon?: ReactNode;
  count?: number;
  disabled?: boolean;
  content: ReactNode;
}

interface Props {
  /** Names the row of tabs. */
  label: string;
  tabs: readonly Tab[];
  chosen?: string;
  onChoose?(key: string): void;
}

/** Parts of one place, one shown at a time. For parts with an address of their own there is `LinkTabs`. */
export function Tabs({ label, tabs, chosen, onChoose }: Props) {
  return (
    <MantineTabs
      defaultValue={tabs[0]?.key}
      value={chosen}
      onChange={(key) => key !== null && onChoose?.(key)}
      keepMounted={false}
      w="100%"
      classNames={{ list: classes.tabs, tab: classes.tab, tabLabel: classes.label }}
    >
      <MantineTabs.List aria-label={label}>
        {tabs.map((tab) => (
          <MantineTabs.Tab
            key={tab.key}
            value={tab.key}
            leftSection={tab.icon}
            rightSection={tab.count === undefined ? undefined : <span className={classes.count}>{tab.count}</span>}
            disabled={tab.disabled}
          >
            {tab.label}
          </MantineTabs.Tab>
        ))}
      </MantineTabs.List>
      {tabs.map((tab) => (
        <MantineTabs.Panel key={tab.key} value={tab.key}>
          {tab.content}
        </MantineTabs.Panel>
      ))}
    </MantineTabs>
  );
}
