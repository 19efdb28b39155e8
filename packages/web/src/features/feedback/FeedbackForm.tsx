import { api } from '@stagi/contract/api.ts';
import { FEEDBACK_TOPICS } from '@stagi/contract/feedbackTopics.ts';
import { useEffect } from 'react';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { FileInput } from '../../ui/form/FileInput.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import type { UploadedFile } from '../../ui/form/uploadedFile.ts';
import { FEEDBACK_MAX_IMAGE_MB, FEEDBACK_MAX_IMAGES, FEEDBACK_ROWS } from '../../ui/kitConstants.ts';
import classes from './Feedback.module.css';

interface Props {
  /** Whether closing now would lose something. */
  onTyped(typed: boolean): void;
  onCancel(): void;
  onSent(): void;
  /** The server received the message and could not store it. */
  onFailed(): void;
}

const EMPTY = {
  topic: '',
  subject: '',
  description: '',
  contactEmail: '',
  imageUploads: [] as UploadedFile[],
};

export function FeedbackForm({ onTyped, onCancel, onSent, onFailed }: Props) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.feedback.send, {
    initialValues: EMPTY,
    toInput: ({ imageUploads, ...words }) => ({
      ...words,
      imageUploads: imageUploads.map(({ fileName, contentBase64, mimeType }) => ({
        fileName,
        contentBase64,
        mimeType,
      })),
    }),
    // The refusal does not say which image is wrong.
    fieldOf: (path) => path.replace(/^imageUploads\..*/, 'imageUploads'),
    onDone: onSent,
    onRefused: ({ status }) => {
      if (status !== 200) return false;
      onFailed();
      return true;
    },
  });
  const { imageUploads, ...words } = form.values;
  const typed = imageUploads.length > 0 || Object.values(words).some((value) => value !== null && value.trim() !== '');
  useEffect(() => onTyped(typed), [typed, onTyped]);

  return (
    <Form className={classes.form} onSubmit={submit} noValidate>
      <Select
        label={t('Topic')}
        name="topic"
        options={FEEDBACK_TOPICS.map((topic) => ({ value: topic, label: t(topic) }))}
        data-testid="feedback-topic"
        {...field('topic')}
        value={form.values.topic || null}
      />
      <TextInput label={t('Subject')} name="subject" limit={200} {...field('subject')} />
      <Textarea
        label={t('Description')}
        name="description"
        minRows={FEEDBACK_ROWS}
        description={t('Describe the issue or idea in detail. Include links or steps to reproduce if possible.')}
        {...field('description')}
      />
      <FileInput
        label={t('Screenshots (optional): Up to 3 JPG/PNG files, max 5MB')}
        maxFiles={FEEDBACK_MAX_IMAGES}
        maxSize={FEEDBACK_MAX_IMAGE_MB}
        {...field('imageUploads')}
        value={imageUploads}
      />
      <TextInput
        label={t('Contact email')}
        optional
        name="contactEmail"
        type="email"
        autoComplete="email"
        {...field('contactEmail')}
      />
      <DialogButtons onCancel={onCancel} loading={loading} testId="feedback-submit" />
    </Form>
  );
}
