import { type ComponentType, useContext, useEffect, useLayoutEffect, useState } from 'react';
import { t } from '../i18n/i18n.ts';
import { RouteMark } from '../ui/dialogs/routeMark.ts';
import { part } from '../ui/parts.ts';
import { toast } from '../ui/toasts.ts';
import { type Overlay, overlays, useOverlay } from './overlays.ts';

export interface OverlayProps {
  opened: boolean;
  onClose(): void;
}

const LOAD: Record<Overlay, () => Promise<ComponentType<OverlayProps>>> = {
  palette: async () => (await import('./palette/Palette.tsx')).Palette,
  keys: async () => (await import('./keyboard/KeyMapDialog.tsx')).KeyMapDialog,
};

/** Fetches an overlay when it is first asked for, the palette with the first press of its modifier; a change of page closes it, not what a list notes in the address. */
export function Overlays() {
  const open = useOverlay();
  const [loaded, setLoaded] = useState<Partial<Record<Overlay, ComponentType<OverlayProps>>>>({});
  const visit = useContext(RouteMark);
  // In the moment of the change: what is opened on the new page, however soon, stays.
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes with the visit
  useLayoutEffect(overlays.close, [visit]);

  const missing = open !== null && !loaded[open];
  useEffect(() => {
    if (!open || !missing) return;
    part(LOAD[open]).then(
      (Component) => setLoaded((others) => ({ ...others, [open]: Component })),
      (cause: unknown) => {
        console.warn(`The overlay ${open} could not be fetched`, cause);
        overlays.close();
        toast.error(t('This could not be loaded'));
      },
    );
  }, [open, missing]);

  useEffect(() => {
    const warm = (event: KeyboardEvent) => {
      if (event.key !== 'Control' && event.key !== 'Meta') return;
      window.removeEventListener('keydown', warm);
      // Fetched again, and its failure told, when it is asked for.
      LOAD.palette().catch((cause: unknown) => console.debug('The palette could not be fetched ahead', cause));
    };
    window.addEventListener('keydown', warm);
    return () => window.removeEventListener('keydown', warm);
  }, []);

  return Object.entries(loaded).map(([name, Component]) => (
    <Component key={name} opened={open === name} onClose={overlays.close} />
  ));
}
