import { Avatar } from '@mantine/core';
import { pictureAddress } from '../api/picture.ts';
import { initials } from './initials.ts';

/** A person's picture, or the first letters of their name. */
export function Face({ name, image, size }: { name: string; image: string | null; size: number }) {
  return (
    <Avatar src={image && pictureAddress(image)} alt="" size={size} radius="100%" color="indigo" variant="light">
      {initials(name)}
    </Avatar>
  );
}
