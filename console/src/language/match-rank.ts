/** How well a label matches: 0 at its start, 1 at the start of a word, 2 anywhere, null not at all. */
export function rankOf(label: string, typed: string): number | null {
  const [text, wanted] = [label.toLowerCase(), typed.toLowerCase()];
  if (text.startsWith(wanted)) return 0;
  const words = text.split(/[^\p{L}\p{N}]+/u);
  if (words.some((word) => word.startsWith(wanted))) return 1;
  return wanted.length > 1 && text.includes(wanted) ? 2 : null;
}
