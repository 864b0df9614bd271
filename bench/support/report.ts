export interface Figure {
  name: string;
  value: string;
  /** The wanted value: a reference, and a minimum or maximum. */
  limit?: string;
  holds?: boolean;
}

/** Prints figures as a table for the documents. */
export function printFigures(title: string, figures: Figure[]): void {
  const rows = figures.map((figure) => [
    figure.name,
    figure.value,
    figure.limit ?? "",
    figure.holds === undefined ? "" : figure.holds ? "yes" : "NO",
  ]);
  const table = [["figure", "measured", "limit", "holds"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column].length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  console.log(`\n${title}\n`);
  console.log(line(table[0]));
  console.log(line(widths.map((width) => "-".repeat(width))));
  for (const row of table.slice(1)) console.log(line(row));
}

export function atMost(name: string, value: number, most: number, digits = 0): Figure {
  return {
    name,
    value: digits === 0 ? thousands(value) : value.toFixed(digits),
    limit: `≤ ${most.toLocaleString("en-US")}`,
    holds: value <= most,
  };
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function ratio(value: number, base: number): string {
  return (value / base).toFixed(2);
}
