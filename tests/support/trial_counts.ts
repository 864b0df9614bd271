/** Numbers that a test counts. */
export type Tally = Record<string, number>;

/** Adds to the counts of `npm run trial`. Does nothing in other runs. */
export function tell(tally: Tally): void {
  const file = Deno.env.get("LOGLOOM_TALLY_FILE");
  if (file) Deno.writeTextFileSync(file, `${JSON.stringify(tally)}\n`, { append: true });
}

/** Returns the counts in a file. */
export async function talliesIn(file: string): Promise<Tally[]> {
  const lines = (await Deno.readTextFile(file)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line));
}
