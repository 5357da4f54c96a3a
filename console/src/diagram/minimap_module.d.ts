// `diagram-js-minimap` has no types.
declare module 'diagram-js-minimap' {
  const module: Record<string, unknown>;
  export default module;
}
