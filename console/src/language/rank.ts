/** How well a label matches: its beginning, the beginning of one of its words, or anywhere; null: not. */
export function rankOf(label: string, typed: string): number | null {
  const [text, wanted] = [label.toLowerCase(), typed.toLowerCase()];
  if (text.startsWith(wanted)) return 0;
  const words = text.split(/[^\p{L}\p{N}]+/u);
  if (words.some((word) => word.startsWith(wanted))) return 1;
  return wanted.length > 1 && text.includes(wanted) ? 2 : null;
}
