import type { ContactAbout } from '@stagi/contract/contact.ts';
import type { Model } from '@stagi/contract/models.ts';
import { IconMessageQuestion } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import type { ContactDialogSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import type { ModelChoice } from '../modelChoice.ts';

export interface ModelActionsProps {
  model: Model;
  /** What is chosen on the page. */
  choice: ModelChoice;
  ContactDialog: ContactDialogSlot;
}

/** What can be done with a model. */
export function ModelActions({ model, choice, ContactDialog }: ModelActionsProps) {
  const t = useT();
  const [asking, setAsking] = useState(false);
  /** The dialog's code is fetched when it is first opened; it stays, to fade out. */
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button
        color="gray"
        icon={<IconMessageQuestion size={16} />}
        aria-haspopup="dialog"
        data-testid="model-help"
        onClick={() => {
          setAsked(true);
          setAsking(true);
        }}
      >
        {t('Ask for help')}
      </Button>
      {asked && (
        <Suspense>
          <ContactDialog opened={asking} about={aboutOf(model, choice)} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}

/** GPU and quality belong to the question once a GPU is chosen. */
function aboutOf({ id, title }: Model, { gpu, count, quality }: ModelChoice): ContactAbout {
  const model = { id, name: title };
  return gpu === null ? { model } : { model, gpu: `${count} × ${gpu}`, quality };
}
