/** What a control holds, beside it: for eyes and stories. */
export function Value({ id, of }: { id: string; of: unknown }) {
  return (
    <code data-testid={id} className="muted mono" style={{ flexBasis: '100%' }}>
      {typeof of === 'string' ? of : JSON.stringify(of)}
    </code>
  );
}
