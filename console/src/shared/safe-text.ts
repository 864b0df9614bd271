/** Control and invisible characters, which are shown as symbols. */
// deno-lint-ignore no-control-regex
const hidden = /[\0-\x08\x0b-\x1f\x7f\x80-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\u27e8${code.toString(16).padStart(4, "0")}\u27e9`;
}

/** Text that is safe to show: control and direction characters become visible symbols. */
export function plain(text: string): string {
  return text.replace(hidden, visible);
}

interface Style {
  colour: string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const none: Style = { colour: null, bold: false, dim: false, italic: false, underline: false };
// deno-lint-ignore no-control-regex
const escape = /\x1b(?:\[([\d;:]*)([A-Za-z])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>])/g;

/** Applies one `ESC [ … m`. Backgrounds and extended colours are ignored, because they could hide text. */
function apply(style: Style, codes: string): Style {
  let next = style;
  const numbers = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    if (code === 0) next = none;
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, dim: true };
    else if (code === 3) next = { ...next, italic: true };
    else if (code === 4) next = { ...next, underline: true };
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 23) next = { ...next, italic: false };
    else if (code === 24) next = { ...next, underline: false };
    else if (code === 39) next = { ...next, colour: null };
    else if (code >= 30 && code <= 37) {
      next = { ...next, colour: `ansi-${code - 30}` };
    } else if (code >= 90 && code <= 97) {
      next = { ...next, colour: `ansi-${code - 90}` };
    } else if (code === 38 || code === 48) i += numbers[i + 1] === 5 ? 2 : 4;
  }
  return next;
}

function classes(style: Style): string | undefined {
  const names = [
    style.colour,
    style.bold && "ansi-bold",
    style.dim && "ansi-dim",
    style.italic && "ansi-italic",
    style.underline && "ansi-underline",
  ].filter(Boolean);
  return names.length ? names.join(" ") : undefined;
}

/** Text with ANSI colours as spans with class names. */
export function ansiSpans(text: string): { text: string; className: string | undefined }[] {
  if (!text.includes("\x1b")) {
    return [{ text: plain(text), className: undefined }];
  }
  const spans: { text: string; className: string | undefined }[] = [];
  let style = none;
  let from = 0;
  const push = (to: number) => {
    if (to > from) {
      spans.push({ text: plain(text.slice(from, to)), className: classes(style) });
    }
  };
  for (const match of text.matchAll(escape)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = apply(style, match[1] ?? "");
  }
  push(text.length);
  return spans;
}

/** The text on one line: line breaks become visible, a long text is cut. */
export function oneLine(text: string, most = 1000): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(/\r\n|\n|\r/g, " \u21b5 ").replaceAll("\t", "  ");
}
