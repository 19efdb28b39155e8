import { type ComponentType, useContext, useEffect, useLayoutEffect, useState } from 'react';
import { t } from '../i18n/i18n.ts';
import { type Overlay, type OverlayProps, overlays, useOverlay } from '../keyboard/overlays.ts';
import { loadChunk } from '../lazyChunks.ts';
import { PageVisit } from '../ui/dialogs/pageVisit.ts';
import { toast } from '../ui/toasts.ts';

const LOAD: Record<Overlay, () => Promise<ComponentType<OverlayProps>>> = {
  palette: async () => (await import('../palette/Palette.tsx')).Palette,
  keys: async () => (await import('../keyboard/ShortcutsDialog.tsx')).ShortcutsDialog,
};

/** Loads an overlay when it is first opened, the palette at the first press of Ctrl or Cmd. A change of page closes it; a list that updates its own address does not. */
export function Overlays() {
  const open = useOverlay();
  const [loaded, setLoaded] = useState<Partial<Record<Overlay, ComponentType<OverlayProps>>>>({});
  const visit = useContext(PageVisit);
  // In the layout effect of the change, so that what the new page opens stays.
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes with the visit
  useLayoutEffect(overlays.close, [visit]);

  const missing = open !== null && !loaded[open];
  useEffect(() => {
    if (!open || !missing) return;
    loadChunk(LOAD[open]).then(
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
      // Opening it retries, and shows a failure.
      LOAD.palette().catch((cause: unknown) => console.debug('The palette could not be fetched ahead', cause));
    };
    window.addEventListener('keydown', warm);
    return () => window.removeEventListener('keydown', warm);
  }, []);

  return Object.entries(loaded).map(([name, Component]) => (
    <Component key={name} opened={open === name} onClose={overlays.close} />
  ));
}
