import { type Characters, folded, holds } from "./regex_characters.ts";
import { parsedRegex, type Part, type Refuse, refuseRegex } from "./regex_syntax.ts";

type Instruction =
  | { readonly kind: "one"; readonly set: Characters; readonly ascii: Uint8Array }
  | { readonly kind: "jump"; readonly to: number[] }
  | { readonly kind: "save"; readonly slot: number }
  | { readonly kind: "at"; readonly sign: string }
  | { readonly kind: "found" };

/** The places of groups, the newest first. */
interface Places {
  readonly slot: number;
  readonly at: number;
  readonly before: Places | undefined;
}

interface Thread {
  readonly pc: number;
  /** Where its match begins. */
  readonly from: number;
  readonly places: Places | undefined;
}

/** How often each character may be read on average while all matches of a text are found. */
const maxReadings = 8;

/** The longest program, and the most steps that one expression may take: about a second. */
const maxInstructions = 5000;
const maxSteps = 20_000_000;

/**
 * A regular expression of Go, which finds what Go finds. JavaScript's RegExp could be busy without limit; here the time
 * is the length of the text times that of the expression, because all ways to match advance together.
 */
export class LinearRegex {
  readonly syntax: ReturnType<typeof parsedRegex>;
  readonly #program: Instruction[] = [];
  readonly #seen: Int32Array;
  #round = 0;
  #steps = 0;
  readonly #refuse: Refuse;

  /** `isWhole`: it must match all of a text, and `.` is also a line break, as in a label matcher. */
  constructor(readonly pattern: string, { isWhole = false, refuse = refuseRegex } = {}) {
    this.#refuse = refuse;
    this.syntax = parsedRegex(pattern, isWhole, refuse);
    this.#emit(this.syntax.root);
    this.#push({ kind: "found" });
    this.#steps = 0;
    this.#seen = new Int32Array(this.#program.length);
  }

  test(text: string): boolean {
    return this.find(text) !== undefined;
  }

  /** The whole match, then the groups; undefined for a group that is not part of it. */
  find(text: string): (string | undefined)[] | undefined {
    const found = this.#run(text, 0, false, () => {
      if (this.#steps <= maxSteps) return false;
      const told = JSON.stringify(this.pattern);
      return this.#refuse(`the expression ${told} takes too long: narrow the query`);
    });
    return found && this.#texts(found, text);
  }

  /**
   * Where the matches begin and end, in turn: the longest match at the first place, and so on. Undefined if that takes
   * too long: after `isOver`, or where most matches are found only by reading the whole text.
   */
  spans(text: string, isOver: () => boolean): number[] | undefined {
    const found: number[] = [];
    let left = maxReadings * text.length + 1000;
    let stops = false;
    const mayStop = () => stops = --left < 0 || (left & 1023) === 0 && isOver();
    for (let from = 0; from < text.length;) {
      const match = this.#run(text, from, true, mayStop);
      if (stops) return undefined;
      if (match === undefined) break;
      if (match.pc > match.from) found.push(match.from, match.pc);
      from = Math.max(match.pc, match.from + 1);
    }
    return found;
  }

  /** The first match, with its end as `pc`. `stops` is asked at each character. */
  #run(text: string, start: number, isLongest: boolean, stops: () => boolean): Thread | undefined {
    let found: Thread | undefined;
    let threads: Thread[] = [];
    for (let at = start;;) {
      const code = text.codePointAt(at);
      const end = at + (code !== undefined && code > 0xffff ? 2 : 1);
      // A match that begins later is only wanted if none began earlier.
      if (found === undefined) {
        const places = { slot: 0, at, before: undefined };
        this.#add(threads, { pc: 0, from: at, places }, text, at);
      }
      const next: Thread[] = [];
      this.#round += 1;
      for (const { pc, from, places } of threads) {
        this.#steps += 1;
        if (found !== undefined && from > found.from) break;
        const instruction = this.#program[pc];
        if (instruction.kind === "found") {
          found = { pc: at, from, places };
          if (isLongest) continue;
          break;
        }
        if (instruction.kind !== "one" || code === undefined) continue;
        if (code < 128 ? instruction.ascii[code] === 1 : holds(instruction.set, code)) {
          this.#add(next, { pc: pc + 1, from, places }, text, end);
        }
      }
      if (stops() || code === undefined || found !== undefined && next.length === 0) break;
      threads = next;
      at = end;
    }
    return found;
  }

  #texts({ pc: end, places }: Thread, text: string): (string | undefined)[] {
    const slots: number[] = [];
    for (let one = places; one !== undefined; one = one.before) slots[one.slot] ??= one.at;
    slots[1] = end;
    return ["", ...this.syntax.names].map((_, n) =>
      slots[2 * n + 1] === undefined ? undefined : text.slice(slots[2 * n], slots[2 * n + 1])
    );
  }

  /** Adds the threads that read the next character, in the order in which Go prefers them. */
  #add(threads: Thread[], { pc, from, places }: Thread, text: string, at: number): void {
    if (this.#seen[pc] === this.#round + 1) return;
    this.#seen[pc] = this.#round + 1;
    this.#steps += 1;
    const instruction = this.#program[pc];
    if (instruction.kind === "jump") {
      for (const to of instruction.to) this.#add(threads, { pc: to, from, places }, text, at);
    } else if (instruction.kind === "save") {
      const { slot } = instruction;
      this.#add(threads, { pc: pc + 1, from, places: { slot, at, before: places } }, text, at);
    } else if (instruction.kind === "at") {
      if (!isAt(instruction.sign, text, at)) return;
      this.#add(threads, { pc: pc + 1, from, places }, text, at);
    } else threads.push({ pc, from, places });
  }

  #push(instruction: Instruction): number {
    if (this.#program.length === maxInstructions) this.#refuse("error parsing regexp: too complex");
    return this.#program.push(instruction) - 1;
  }

  /** A jump whose places are known later. */
  #jump(): number[] {
    const to: number[] = [];
    this.#push({ kind: "jump", to });
    return to;
  }

  #emit(part: Part): void {
    // An empty part has no instruction, but may be repeated often.
    this.#steps += 1;
    if (this.#steps > 4 * maxInstructions) this.#refuse("error parsing regexp: too complex");
    switch (part.kind) {
      case "one": {
        const set = this.syntax.isFolded ? folded(part.set) : part.set;
        const ascii = Uint8Array.from({ length: 128 }, (_, code) => holds(set, code) ? 1 : 0);
        this.#push({ kind: "one", set, ascii });
        return;
      }
      case "at":
        this.#push({ kind: "at", sign: part.sign });
        return;
      case "all":
        part.parts.forEach((one) => this.#emit(one));
        return;
      case "group":
        this.#push({ kind: "save", slot: 2 * part.number });
        this.#emit(part.part);
        this.#push({ kind: "save", slot: 2 * part.number + 1 });
        return;
      case "any": {
        const ends: number[][] = [];
        part.parts.forEach((one, n) => {
          const to = n < part.parts.length - 1 ? this.#jump() : undefined;
          to?.push(this.#program.length);
          this.#emit(one);
          if (to === undefined) return;
          ends.push(this.#jump());
          to.push(this.#program.length);
        });
        ends.forEach((to) => to.push(this.#program.length));
        return;
      }
      case "repeat":
        return this.#repeat(part);
    }
  }

  #repeat({ part, least, most, isLazy }: Part & { kind: "repeat" }): void {
    for (let n = 0; n < least; n++) this.#emit(part);
    const optional = most === Infinity ? 1 : most - least;
    const leaving: number[][] = [];
    const starts = this.#program.length;
    for (let n = 0; n < optional; n++) {
      const to = this.#jump();
      leaving.push(to);
      to.push(this.#program.length);
      this.#emit(part);
    }
    if (most === Infinity) this.#jump().push(starts);
    for (const to of leaving) {
      if (isLazy) to.unshift(this.#program.length);
      else to.push(this.#program.length);
    }
  }
}

const isWord = (character: string | undefined) => /^\w$/.test(character ?? "");

function isAt(sign: string, text: string, at: number): boolean {
  if (sign === "^") return at === 0;
  if (sign === "$") return at === text.length;
  const isBetween = isWord(text[at - 1]) !== isWord(text[at]);
  return isBetween === (sign === "b");
}
