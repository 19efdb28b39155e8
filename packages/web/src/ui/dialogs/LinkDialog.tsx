import { type ReactNode, useState } from 'react';
import { NewLink } from '../NewLink.tsx';
import { Dialog } from './Dialog.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  /** The titles of the form and of the link. */
  titles: { form: string; link: string };
  /** A sentence on the power of the link, and on what to do if it is lost. */
  text: string;
  testId: string;
  /** The form; it calls with the link that was made. */
  children(onDone: (link: string) => void, onCancel: () => void): ReactNode;
}

/** Makes a link that lets people in, then shows it for the only time. */
export function LinkDialog({ opened, onClose, titles, text, testId, children }: Props) {
  const [link, setLink] = useState<string | null>(null);

  function close(): void {
    setLink(null);
    onClose();
  }

  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={link ? titles.link : titles.form}
      // A link that nobody has copied is lost: not by a press beside it.
      closeOnOutside={link === null}
      testId={`${testId}-dialog`}
    >
      {link ? <NewLink link={link} text={text} onDone={close} testId={testId} /> : children(setLink, close)}
    </Dialog>
  );
}
