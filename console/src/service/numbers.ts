/** A number that JavaScript cannot hold: shown as it was sent. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Numbers of sixteen or more digits: only then each is checked. */
const hasLongNumber = /[:,[]\s*-?[\d.]{16,}/;

interface Source {
  source?: string;
}

/** An answer, with exact numbers where JavaScript would round. */
export function parseExactly(text: string): unknown {
  if (!hasLongNumber.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, context?: Source) =>
    typeof value === "number" && context?.source !== undefined &&
      String(value) !== context.source
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** JSON text of a record, exact numbers included. */
export function exactJson(value: unknown, indent = 2): string {
  const marks = new Map<string, string>();
  // Not randomUUID: a page over plain HTTP does not have it.
  const secret = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (!(member instanceof ExactNumber)) return member;
    const mark = `exact-${marks.size}-${secret}`;
    marks.set(mark, member.text);
    return mark;
  }, indent);
  let exact = text ?? "null";
  for (const [mark, number] of marks) {
    exact = exact.replace(`"${mark}"`, () => number);
  }
  return exact;
}
