/** Recognises UTF-16 by its byte order mark, or by the zeros of its first two letters; undefined for other encodings. */
export function utf16Of([a, b, c, d]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if ((a === 0xff && b === 0xfe) || (a && b === 0 && c && d === 0)) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b && c === 0 && d)) return "utf-16be";
  return undefined;
}

// deno-lint-ignore no-control-regex
const controls = /[\0-\x08\x0e-\x1a\x7f]/g;

/**
 * Whether a text is binary data, for example compressed: it has many different control characters. A text has at most
 * a few kinds of them, such as the separators of FIX.
 */
export function isBinary(text: string): boolean {
  const first = text.slice(0, 4096);
  const found = first.match(controls) ?? [];
  return found.length > first.length / 32 && new Set(found).size >= 6;
}
