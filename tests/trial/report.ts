import type { State } from "./trial_state.ts";

const lines: [counts: string, what: string, wanted: number | null][] = [
  ["bodies", "fuzzed bodies, over all protocols", 1_000_000],
  ["kills", "parts killed", 1_000],
  ["orders", "orders of the steps of two operations", 50_000],
  ["searches", "random queries, all kinds", 10_000_000],
  ["queries", "… read by the compiler and by the evaluator", null],
  ["sealedQueries", "… over rows and over blocks", null],
  ["hiddenQueries", "… of readers from whom fields are hidden", null],
  ["comparisons", "records judged by both the compiler and evaluator", null],
  ["runs", "runs of the model", null],
  ["commands", "commands in them", null],
  ["archive", "tests of the archive, its faults and kills drawn", null],
  ["senders-all", "tests of senders, outages drawn", null],
  ["hosted-all", "tests on the hosted runtime, drawn", null],
  ["memory", "shapes of records whose memory was measured", null],
];

const number = (value: number) => value.toLocaleString("en");

/** Returns the report of a trial, as Markdown. */
export function reportOf({ commit, began, seconds, reached, disagreements }: State): string {
  const all = {
    ...reached,
    searches: ["queries", "sealedQueries", "hiddenQueries"]
      .reduce((sum, counts) => sum + (reached[counts] ?? 0), 0),
  } as Record<string, number>;
  const rows = lines.map(([counts, what, wanted]) => [
    what,
    number(all[counts] ?? 0),
    wanted === null ? "" : number(wanted),
  ]);
  return [
    `${began.slice(0, 10)}, commit ${commit}, ${(seconds / 3600).toFixed(1)} hours.`,
    "",
    "| what | reached | wanted |",
    "| --- | --- | --- |",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
    "",
    disagreements.length === 0
      ? "No disagreement was found."
      : `Disagreements:\n\n${disagreements.map((one) => `- \`${one.split("\n")[0]}\``).join("\n")}`,
    "",
  ].join("\n");
}
