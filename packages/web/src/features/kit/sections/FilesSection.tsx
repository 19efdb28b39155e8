import { Button } from '@mantine/core';
import { useState } from 'react';
import { FileInput } from '../../../ui/form/FileInput.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { UploadedFile } from '../../../ui/form/uploadedFile.ts';
import { FEEDBACK_MAX_IMAGES } from '../../../ui/kitConstants.ts';
import { Specimen, Specimens } from '../Specimen.tsx';
import { Value } from '../Value.tsx';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==';
const LISTED: UploadedFile = {
  fileName: 'terminal-of-the-third-server.png',
  contentBase64: PIXEL,
  mimeType: 'image/png',
  preview: `data:image/png;base64,${PIXEL}`,
};

/** File input. */
export default function FilesSection() {
  const [none, setNone] = useState<UploadedFile[]>([]);
  const [some, setSome] = useState<UploadedFile[]>([LISTED]);
  const [gone, setGone] = useState(false);
  return (
    <Specimens>
      <Specimen id="files" title="At most three pictures, dropped, pasted or chosen">
        <form style={{ width: '100%' }}>
          <FileInput
            label="Screenshots (optional): Up to 3 JPG/PNG files, max 5MB"
            value={none}
            onChange={setNone}
            maxFiles={FEEDBACK_MAX_IMAGES}
          />
          <TextInput aria-label="A field beside it" defaultValue="Pasting here works too" mt={8} />
        </form>
        <Value
          id="files-value"
          of={none.map(({ fileName, mimeType, contentBase64 }) => [fileName, mimeType, contentBase64.length])}
        />
      </Specimen>
      <Specimen id="files-listed" title="With a file, with an error, removable as a whole">
        {gone ? (
          <p>Gone</p>
        ) : (
          <div style={{ width: '100%' }}>
            <FileInput
              label="Pictures"
              value={some}
              onChange={setSome}
              maxSize={1}
              error="You can upload a maximum of 3 images."
            />
          </div>
        )}
        <Button size="xs" variant="default" onClick={() => setGone(true)}>
          Take the control away
        </Button>
      </Specimen>
      <Specimen id="files-off" title="Off">
        <div style={{ width: '100%' }}>
          <FileInput label="Not now" value={[]} onChange={() => undefined} disabled />
        </div>
      </Specimen>
    </Specimens>
  );
}
