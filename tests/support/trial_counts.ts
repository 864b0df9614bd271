/** What a test did, in numbers. */
export type Tally = Record<string, number>;

/** Adds to what `npm run trial` counts; without one nobody does. */
export function tell(tally: Tally): void {
  const file = Deno.env.get("LOGLOOM_TALLY_FILE");
  if (file) Deno.writeTextFileSync(file, `${JSON.stringify(tally)}\n`, { append: true });
}

/** What was told to a file. */
export async function talliesIn(file: string): Promise<Tally[]> {
  const lines = (await Deno.readTextFile(file)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line));
}
