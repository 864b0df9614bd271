/** JSON in a message, with the text before it; null where there is none. */
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
  /** What stands before the frames. */
  head: string;
  frames: string[];
  /** What stands after them. */
  tail: string;
  /** The first frame of one's own code, or -1. */
  own: number;
}

/** Frames of JavaScript, Java, C#, Python, Ruby and Go. */
const frame = /^\s+(at\s|File\s"|from\s\S+:\d+|\S+\.go:\d+|\.\.\. \d+ more)/;
const foreign =
  /node_modules|node:|\binternal\/|<anonymous>|\bext:|https:\/\/(deno\.land|jsr\.io)|site-packages|lib\/python|\b(java|javax|jdk|sun|kotlin)\.|org\.(springframework|apache|hibernate)|\bSystem\.|\bMicrosoft\.|\/usr\/(local\/)?(lib|go\/src)|\/gems\/|pkg\/mod\//;

/** A text with a stack trace, in its parts; null where there is none. */
export function stackIn(text: string): Stack | null {
  if (text.length > 200_000) return null;
  const lines = text.split("\n");
  const first = lines.findIndex((line) => frame.test(line));
  if (first < 0) return null;
  let end = first;
  // A line of code follows its frame in Python.
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
