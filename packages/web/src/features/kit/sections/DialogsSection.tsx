import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { showDialog } from '../../../ui/dialogs/DialogHost.tsx';
import { ResultDialog } from '../../../ui/dialogs/ResultDialog.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { DIALOG_SIZES } from '../../../ui/kitConstants.ts';
import { Specimen, Specimens } from '../Specimen.tsx';

/** The dialog host: sizes, the persistent one, one that takes the place of another, confirmations and results. */
export default function DialogsSection() {
  return (
    <Specimens>
      <Specimen id="dialog-sizes" title="Sizes; the default buttons">
        {DIALOG_SIZES.map((size) => (
          <Opens key={size} label={`Size ${size}`}>
            {(opened, close) => (
              <Dialog opened={opened} onClose={close} title={`Size ${size}`} size={size}>
                <NameForm onDone={close} />
              </Dialog>
            )}
          </Opens>
        ))}
        <Opens label="At the side">
          {(opened, close) => (
            <Dialog opened={opened} onClose={close} title="At the side" placement="right">
              <NameForm onDone={close} />
            </Dialog>
          )}
        </Opens>
      </Specimen>
      <Specimen id="dialog-persistent" title="Closes by its own button alone">
        <Opens label="Persistent">
          {(opened, close) => (
            <Dialog opened={opened} onClose={close} title="Persistent" persistent>
              <p>Neither Escape nor a press outside closes this.</p>
              <Button onClick={close}>Understood</Button>
            </Dialog>
          )}
        </Opens>
      </Specimen>
      <Specimen id="dialog-swap" title="Takes the place of another and gives it back">
        <Opens label="First dialog">
          {(opened, close) => (
            <Dialog opened={opened} onClose={close} title="First dialog">
              <NameForm onDone={close} />
              <p>
                <Opens label="Second dialog">
                  {(over, back) => (
                    <Dialog opened={over} onClose={back} title="Second dialog" size="xs">
                      <Button onClick={back}>Back</Button>
                    </Dialog>
                  )}
                </Opens>
              </p>
            </Dialog>
          )}
        </Opens>
      </Specimen>
      <Specimen id="dialog-route" title="Closes with the route">
        <Opens label="With a link">
          {(opened, close) => (
            <Dialog opened={opened} onClose={close} title="With a link">
              <Link to={`${paths.kit('dialogs')}?elsewhere`}>Elsewhere</Link>
            </Dialog>
          )}
        </Opens>
        <Button
          color="gray"
          onClick={() =>
            showDialog((dialog) => (
              <Dialog {...dialog} title="Shown by the host">
                <Link to={paths.kit('buttons')}>To the buttons</Link>
              </Dialog>
            ))
          }
        >
          Shown by the host
        </Button>
      </Specimen>
      <Specimen id="dialog-confirm" title="Confirmations">
        <Opens label="Warning">
          {(opened, close) => (
            <ConfirmDialog
              opened={opened}
              onClose={close}
              onConfirm={close}
              title="Reboot “alpha”?"
              confirmLabel="Reboot"
            >
              Disk and address stay as they are. Its 2 containers are interrupted.
            </ConfirmDialog>
          )}
        </Opens>
        <Opens label="Error">
          {(opened, close) => (
            <ConfirmDialog
              opened={opened}
              onClose={close}
              onConfirm={close}
              variant="error"
              title="Terminate “alpha”?"
              confirmLabel="Terminate"
              typeSlug="alpha"
              lost={['Everything on its disk of 40 GB', 'Its 2 containers']}
            >
              The server is returned to the provider and billing stops. This cannot be undone.
            </ConfirmDialog>
          )}
        </Opens>
        <Opens label="Success">
          {(opened, close) => (
            <ConfirmDialog
              opened={opened}
              onClose={close}
              onConfirm={close}
              variant="success"
              title="Everything is set up"
            >
              Start it now?
            </ConfirmDialog>
          )}
        </Opens>
      </Specimen>
      <Specimen id="dialog-result" title="Results">
        {(['success', 'warning', 'error'] as const).map((variant) => (
          <Button
            key={variant}
            color="gray"
            onClick={() =>
              showDialog((dialog) => (
                <ResultDialog {...dialog} variant={variant} title={`It ended with ${variant}`}>
                  What it means, in a sentence.
                </ResultDialog>
              ))
            }
          >
            {`Result: ${variant}`}
          </Button>
        ))}
      </Specimen>
    </Specimens>
  );
}

function Opens({ label, children }: { label: string; children(opened: boolean, close: () => void): ReactNode }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button color="gray" onClick={() => setOpened(true)}>
        {label}
      </Button>
      {children(opened, () => setOpened(false))}
    </>
  );
}

function NameForm({ onDone }: { onDone(): void }) {
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        onDone();
      }}
    >
      <TextInput label="Name" mb={16} />
      <DialogButtons onCancel={onDone} />
    </Form>
  );
}
