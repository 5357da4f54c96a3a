// CSV (RFC 4180) for spreadsheets, in which no cell is a formula.

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** A spreadsheet would calculate what begins with one of these. */
const FORMULA = /^[\s\0]*[=+\-@]|^[\t\r\n]/;

/** A cell. What a spreadsheet would take for a formula gets an apostrophe in front; numbers are harmless. */
export function cell(text: string): string {
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n;\t]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const line = (cells: readonly string[]): string => `${cells.map(cell).join()}\r\n`;
