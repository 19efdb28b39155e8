import { useT } from '../i18n/i18n.ts';

/** The type of an object; what a file system has besides files in words. */
export function useTypeWords(): (contentType: string) => string {
  const t = useT();
  return (contentType) => {
    if (contentType === 'inode/symlink') return t('Symbolic link');
    return contentType.startsWith('inode/') ? t('Special file') : contentType;
  };
}
