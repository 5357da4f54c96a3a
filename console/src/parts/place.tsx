// The place where something waits: the element of an instance. The key tells apart what is at the same element.
import { href } from '../lib/router.ts';
import { Held } from './held.tsx';

/** `ended`: whether it waits no more. Then the mark of a suspended instance says nothing about it. */
type PlaceProps = {
  at: { processInstanceKey: string | null; processDefinitionId: string; elementId: string };
  ended?: boolean;
};

export function Place({
  at: { processInstanceKey: key, processDefinitionId: process, elementId: element },
  ended = false,
}: PlaceProps) {
  const name = `${process} / ${element}`;
  return key ? (
    <>
      <a data-row href={href(`/instances/${key}`, { element })}>
        {name}
        <small>
          <code>{key}</code>
        </small>
      </a>{' '}
      {!ended && <Held of={key} />}
    </>
  ) : (
    name
  );
}
