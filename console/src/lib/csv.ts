// CSV (RFC 4180) for spreadsheets, in which no cell is a formula.

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/**
 * A place where a spreadsheet would begin to calculate: the beginning of a cell, and behind `;`, a tab or a new line. A
 * spreadsheet that separates cells by semicolons, as in Spanish and Portuguese, takes no comma and no quotation mark for the end of a cell.
 */
const FORMULA = /^(?=[\t\r\n])|(^|\r?\n|[;\t\r])(?=(?:[^\S\t\r\n]|\0)*[=+\-@＝＋－＠])/g;

/** A cell. What a spreadsheet would take for a formula gets an apostrophe in front; numbers are harmless. */
export function cell(text: string): string {
  const harmless = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'");
  return /[",\r\n;\t]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const line = (cells: readonly string[]): string => `${cells.map(cell).join()}\r\n`;
