// Elements of a file as dmn-js has them.

export type Moddle = { id?: string; $type?: string; [name: string]: unknown };

const isElement = (value: unknown): value is Moddle => typeof value === 'object' && value !== null && '$type' in value;

/** Whether an element is the one with this id, or has it somewhere inside. */
export const holds = (element: Moddle, id: string): boolean =>
  element.id === id ||
  Object.entries(element)
    .filter(([name]) => name !== '$parent' && name !== 'di')
    .flatMap(([, value]) => value)
    .some((value) => isElement(value) && holds(value, id));
