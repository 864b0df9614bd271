/** The parts of a text that may keep a pattern busy: `before`, then `again` repeated, then `after`. */
export interface Letters {
  readonly before: string;
  readonly again: string;
  readonly after: string;
  /** Whether the text is only the repeated text of a loop. */
  readonly isLoop: boolean;
}

type Node =
  | { readonly kind: "letter"; readonly source: string }
  | { readonly kind: "place" }
  | { readonly kind: "choice"; readonly parts: readonly (readonly Node[])[] }
  | { readonly kind: "loop"; readonly inner: Node; readonly least: number; readonly most: number };

/** More repetitions than this count as unlimited. */
const many = 50;

/**
 * Makes texts for a pattern from its parts: the text before each loop, repeated text that the loop and its neighbours
 * match, and an end that does not match.
 */
export function lettersFor(source: string, flags: string): Letters[] {
  const tree = new Parser(source).read();
  const sources = new Set<string>();
  collect([tree], sources);
  const kinds = lettersOfEachKind([...sources], flags.replace(/[gy]/g, ""));
  const sample = (nodes: readonly Node[], times: number): string =>
    nodes.map((node) => sampleOf(node, times, kinds)).join("");

  const befores = new Set([""]);
  const agains = new Set<string>();
  const inLoops = new Set<string>();
  const visit = (nodes: readonly Node[], before: readonly Node[]) => {
    for (const [at, node] of nodes.entries()) {
      const lead = [...before, ...nodes.slice(0, at)];
      if (node.kind === "choice") { for (const part of node.parts) visit(part, lead); }
      if (node.kind !== "loop") continue;
      if (node.most > many) collect([node.inner], inLoops);
      for (const times of [0, 1]) {
        const led = sample(lead, times);
        befores.add(led);
        if (node.most > many) {
          const inner = sample([node.inner], times);
          for (const again of [inner, led, led + inner, inner + sample(nodes.slice(at + 1), 1)]) {
            agains.add(again);
          }
          for (const part of partsOf(node.inner)) agains.add(sample(part, times));
        }
      }
      visit([node.inner], lead);
    }
  };
  visit([tree], []);
  const loops = agains.size;
  for (const { letter } of kinds) agains.add(letter);
  // Only an unlimited loop reads many pairs, so only letters that these tell apart are paired.
  const paired = lettersOfEachKind([...inLoops], flags.replace(/[gy]/g, ""));
  for (const one of paired) {
    for (const other of paired) agains.add(one.letter + other.letter);
  }
  const afters = ["", ...kinds.map(({ letter }) => letter)];
  return [...befores].flatMap((before) =>
    [...agains].flatMap((again, n) =>
      afters.map((after) => ({ before, again, after, isLoop: n < loops && after === "" }))
    )
  ).filter(({ again }) => again !== "");
}

function partsOf(node: Node): readonly (readonly Node[])[] {
  return node.kind === "choice" ? node.parts : [[node]];
}

function collect(nodes: readonly Node[], sources: Set<string>): void {
  for (const node of nodes) {
    if (node.kind === "letter") sources.add(node.source);
    else if (node.kind === "loop") collect([node.inner], sources);
    else if (node.kind === "choice") { for (const part of node.parts) collect(part, sources); }
  }
}

interface Kind {
  readonly letter: string;
  /** The pattern's letters and sets that it matches. */
  readonly fits: ReadonlySet<string>;
}

const asked = [
  ..."ax0m1",
  ...Array.from({ length: 127 }, (_, code) => String.fromCharCode(code)),
  ..."\u00a0\u00e9\u2028\ud800\ufffd",
];

/** Returns a letter for each combination of sets, and one that matches none. */
function lettersOfEachKind(sources: readonly string[], flags: string): Kind[] {
  const patterns = sources.map((source) => [source, new RegExp(`^(?:${source})$`, flags)] as const);
  const kinds = new Map<string, Kind>();
  for (const letter of asked) {
    const fits = patterns.filter(([, pattern]) => pattern.test(letter)).map(([source]) => source);
    const key = JSON.stringify(fits);
    if (!kinds.has(key)) kinds.set(key, { letter, fits: new Set(fits) });
  }
  return [...kinds.values()];
}

function sampleOf(node: Node, times: number, kinds: readonly Kind[]): string {
  switch (node.kind) {
    case "place":
      return "";
    case "letter":
      return kinds.find(({ fits }) => fits.has(node.source))?.letter ?? "";
    case "choice":
      return node.parts[0].map((inner) => sampleOf(inner, times, kinds)).join("");
    case "loop":
      return sampleOf(node.inner, times, kinds).repeat(
        Math.min(Math.max(node.least, times), node.most),
      );
  }
}

/** Parses a valid regular expression. */
class Parser {
  #at = 0;

  constructor(readonly source: string) {}

  read(): Node {
    const parts: Node[][] = [[]];
    while (this.#at < this.source.length && this.source[this.#at] !== ")") {
      if (this.source[this.#at] === "|") {
        this.#at++;
        parts.push([]);
      } else {
        parts[parts.length - 1].push(this.#readLoop());
      }
    }
    return { kind: "choice", parts };
  }

  #readLoop(): Node {
    const inner = this.#readOne();
    const told = this.#take(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (told === null) return inner;
    const [text, least, comma, most] = told;
    if (least === undefined) {
      return {
        kind: "loop",
        inner,
        least: text.startsWith("+") ? 1 : 0,
        most: text.startsWith("?") ? 1 : Infinity,
      };
    }
    const upTo = most !== "" ? Number(most) : comma === "" ? Number(least) : Infinity;
    return { kind: "loop", inner, least: Number(least), most: upTo };
  }

  #readOne(): Node {
    if (this.#take(/[$^]|\\[bB]/y) !== null) return { kind: "place" };
    const open = this.#take(/\((?:\?(?:[:=]|<[\w$]+>|(!|<!|<=)))?/y);
    if (open !== null) {
      const inner = this.read();
      this.#at++;
      // Negative look-ahead and look-behind add no text.
      return open[1] === undefined ? inner : { kind: "loop", inner, least: 0, most: 0 };
    }
    const letter = this.#take(
      /\[(?:[^\]\\]|\\.)*\]|\\(?:x[\da-f]{2}|u[\da-f]{4}|u\{[\da-f]+\}|p\{[^}]+\}|.)|./isy,
    );
    if (letter === null) throw new Error(`${this.source} ends early`);
    return { kind: "letter", source: letter[0] };
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.source);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }
}
