import type { ComponentType } from 'react';

interface KitSection {
  /** Last word of its address. */
  name: string;
  load(): Promise<{ default: ComponentType }>;
}

/** Each section is a file of `sections/` with a component as its default export. */
export const SECTIONS: readonly KitSection[] = [
  { name: 'type', load: () => import('./sections/TypeSection.tsx') },
  { name: 'inputs', load: () => import('./sections/InputsSection.tsx') },
  { name: 'choices', load: () => import('./sections/ChoicesSection.tsx') },
  { name: 'select', load: () => import('./sections/SelectSection.tsx') },
  { name: 'files', load: () => import('./sections/FilesSection.tsx') },
  { name: 'slider', load: () => import('./sections/SliderSection.tsx') },
  { name: 'form', load: () => import('./sections/FormSection.tsx') },
  { name: 'table', load: () => import('./sections/TableSection.tsx') },
  { name: 'dates', load: () => import('./sections/DatesSection.tsx') },
  { name: 'list', load: () => import('./sections/ListSection.tsx') },
  { name: 'content', load: () => import('./sections/ContentSection.tsx') },
  { name: 'buttons', load: () => import('./sections/ButtonsSection.tsx') },
  { name: 'overlays', load: () => import('./sections/OverlaysSection.tsx') },
  { name: 'dialogs', load: () => import('./sections/DialogsSection.tsx') },
];
