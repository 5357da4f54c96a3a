// A detail of two versions.
/** A text that may have changed; null where there is none. */
export function Both({ before, after }: { before: string | null; after: string | null }) {
  if (before === after) return <code>{after}</code>;
  return (
    <>
      {before !== null && (
        <del>
          <code>{before}</code>
        </del>
      )}
      {after !== null && (
        <ins>
          <code>{after}</code>
        </ins>
      )}
    </>
  );
}
