/** The JSON at the end of a message and the text before it, or null if there is no JSON. */
export function jsonIn(text: string): { before: string; value: object } | null {
  if (text.length > 200_000 || !/[}\]]\s*$/.test(text)) return null;
  const at = text.search(/[{[]/);
  if (at < 0) return null;
  try {
    const value: unknown = JSON.parse(text.slice(at));
    if (typeof value !== "object" || value === null) return null;
    return Object.keys(value).length > 0 ? { before: text.slice(0, at).trim(), value } : null;
  } catch {
    return null;
  }
}

export interface Stack {
  /** The text before the frames. */
  head: string;
  frames: string[];
  /** The text after the frames. */
  tail: string;
  /** The index of the first frame that is not from a library, or -1. */
  own: number;
}

/** Frames of JavaScript, Java, C#, Python, Ruby and Go. */
const frame = /^\s+(at\s|File\s"|from\s\S+:\d+|\S+\.go:\d+|\.\.\. \d+ more)/;
const foreign =
  /node_modules|node:|\binternal\/|<anonymous>|\bext:|https:\/\/(deno\.land|jsr\.io)|site-packages|lib\/python|\b(java|javax|jdk|sun|kotlin)\.|org\.(springframework|apache|hibernate)|\bSystem\.|\bMicrosoft\.|\/usr\/(local\/)?(lib|go\/src)|\/gems\/|pkg\/mod\//;

/** The parts of a text with a stack trace, or null if it has none. */
export function stackIn(text: string): Stack | null {
  if (text.length > 200_000) return null;
  const lines = text.split("\n");
  const first = lines.findIndex((line) => frame.test(line));
  if (first < 0) return null;
  let end = first;
  // In Python a line of code follows each frame.
  while (end < lines.length && (frame.test(lines[end] ?? "") || isCode(lines, end))) end += 1;
  const frames = lines.slice(first, end);
  if (frames.filter((line) => frame.test(line)).length < 3) return null;
  return {
    head: lines.slice(0, first).join("\n"),
    frames,
    tail: lines.slice(end).join("\n").trim(),
    own: frames.findIndex((line) => frame.test(line) && !foreign.test(line)),
  };
}

const isCode = (lines: string[], i: number) =>
  /^\s{4,}\S/.test(lines[i] ?? "") && /^\s+File "/.test(lines[i - 1] ?? "");
