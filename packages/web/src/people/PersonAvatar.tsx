import { Avatar } from '@mantine/core';
import { pictureUrl } from '../api/pictureUrl.ts';
import { initials } from './initials.ts';

/** A person's picture, or the first letters of their name. */
export function PersonAvatar({ name, image, size }: { name: string; image: string | null; size: number }) {
  return (
    <Avatar src={image && pictureUrl(image)} alt="" size={size} radius="100%" color="indigo" variant="light">
      {initials(name)}
    </Avatar>
  );
}
