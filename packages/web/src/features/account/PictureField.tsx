import { api } from '@stagi/contract/api.ts';
import { PROFILE_IMAGE_MAX_MB } from '@stagi/contract/uploadLimits.ts';
import { useId, useRef, useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { useCall } from '../../api/useCall.ts';
import { setProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { PersonAvatar } from '../../people/PersonAvatar.tsx';
import { Button } from '../../ui/Button.tsx';
import { pickFiles, readFile, type UploadedFile } from '../../ui/form/uploadedFile.ts';
import { FILE_ACCEPT } from '../../ui/kitConstants.ts';
import { toast } from '../../ui/toasts.ts';
import page from './AccountPage.module.css';
import classes from './PictureField.module.css';

/** The profile picture: uploaded as soon as it is chosen, or removed. */
export function PictureField() {
  const t = useT();
  const { profile } = useUser();
  const input = useRef<HTMLInputElement>(null);
  const ids = { hint: useId(), error: useId() };
  const [error, setError] = useState<string | null>(null);
  const { run, loading } = useCall(api.user.edit, {
    onDone: ({ userProfile }) => {
      setProfile(userProfile);
      toast.success(userProfile.image ? t('Your picture has been saved') : t('Your picture has been removed'));
    },
    onRefused: (refusal) => {
      if (refusal.status !== 400) return false;
      setError(errorText(refusal));
      return true;
    },
  });

  async function take(file: File): Promise<void> {
    setError(null);
    const { wrongType, tooLarge } = pickFiles([file], [], {
      accept: FILE_ACCEPT,
      maxSize: PROFILE_IMAGE_MAX_MB,
      maxFiles: 1,
    });
    if (wrongType.length > 0) return setError(t('Only JPG and PNG images can be uploaded'));
    if (tooLarge.length > 0) return setError(t('File is too large. Max allowed size is 5MB.'));
    const read = await readFile(file).catch((cause: unknown) => {
      console.warn('A picture cannot be read', cause);
      return null;
    });
    if (!read) return setError(t('The image upload was incomplete. Add it again.'));
    URL.revokeObjectURL(read.preview);
    await run({ image: sent(read) });
  }

  return (
    <div className={classes.field}>
      <PersonAvatar name={profile.name} image={profile.image} size={72} />
      <div className={classes.side}>
        <div className={classes.buttons}>
          <Button
            color="gray"
            loading={loading}
            aria-describedby={error ? `${ids.error} ${ids.hint}` : ids.hint}
            onClick={() => input.current?.click()}
          >
            {profile.image ? t('Change the picture') : t('Add a picture')}
          </Button>
          {profile.image && !loading && (
            <Button
              color="gray"
              look="quiet"
              onClick={() => {
                setError(null);
                void run({ image: null });
              }}
            >
              {t('Remove the picture')}
            </Button>
          )}
        </div>
        <input
          ref={input}
          type="file"
          hidden
          accept={FILE_ACCEPT.join(',')}
          data-testid="picture-file"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            // Lets the same file be chosen again.
            currentTarget.value = '';
            if (file) void take(file);
          }}
        />
        {error && (
          <p id={ids.error} role="alert" className={classes.error}>
            {error}
          </p>
        )}
        <p id={ids.hint} className={page.hint}>
          {t('JPG or PNG, at most 5 MB. It is cut to a square.')}
        </p>
      </div>
    </div>
  );
}

const sent = ({ fileName, contentBase64, mimeType }: UploadedFile) => ({
  fileName,
  contentBase64,
  // Checked above.
  mimeType: mimeType === 'image/png' ? ('image/png' as const) : ('image/jpeg' as const),
});
