// A small map of the whole diagram, which shows the visible part and moves it. The keyboard has the arrows of the elements instead.
import map from 'diagram-js-minimap';
import '../styles/minimap.css';

/** The modules of a viewer for it. */
export const minimapOptions = { additionalModules: [map], minimap: { open: true } };
