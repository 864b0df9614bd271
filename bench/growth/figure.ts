/** What one chart shows: a line for each question over the sizes, in milliseconds. */
export interface Drawn {
  title: string;
  sizes: number[];
  lines: { name: string; milliseconds: number[] }[];
}

const [width, height] = [1020, 450];
const plot = { top: 60, bottom: 410, width: 250 };
const lefts = [70, 570];
/** Of both charts, so that they compare. */
const leastMs = 1;
const mostMs = 10_000;
const colours = [
  "#0969da",
  "#1a7f37",
  "#bc4c00",
  "#8250df",
  "#cf222e",
  "#0a7ea4",
  "#7d4e00",
  "#bf3989",
  "#57606a",
  "#4d2d00",
];

/** Two charts beside each other, both axes logarithmic, as an SVG for light and dark pages alike. */
export function growthFigure(...charts: Drawn[]): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"`,
    `  aria-labelledby="t" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">`,
    `  <title id="t">Processor time of ten questions, by ${
      charts.map(({ title }) => title).join(" and by ")
    }</title>`,
    `  <rect width="${width}" height="${height}" fill="#ffffff" rx="8" />`,
    ...charts.flatMap((chart, at) => chartLines(chart, lefts[at])),
    "</svg>",
  ];
  return lines.join("\n") + "\n";
}

function chartLines({ title, sizes, lines }: Drawn, left: number): string[] {
  const x = (n: number) => left + (plot.width * n) / Math.max(sizes.length - 1, 1);
  const y = (ms: number) => {
    const within = Math.min(Math.max(ms, leastMs), mostMs);
    const share = Math.log(within / leastMs) / Math.log(mostMs / leastMs);
    return plot.bottom - share * (plot.bottom - plot.top);
  };
  const grid = [1, 10, 100, 1000, 10_000].flatMap((ms) => [
    `  <path d="M${left} ${round(y(ms))}h${plot.width}" stroke="#d0d7de" />`,
    text(left - 8, y(ms) + 4, ms.toLocaleString("en-US"), "end", "#59636e"),
  ]);
  const heads = sizes.map((size, n) =>
    text(x(n), plot.bottom + 22, short(size), "middle", "#59636e")
  );
  const names = apart(lines.map(({ milliseconds }) => y(milliseconds[milliseconds.length - 1])));
  return [
    text(left, 30, `Processor time in ms, by ${title}`, "start", "#1f2328"),
    ...grid,
    ...heads,
    ...lines.flatMap(({ name, milliseconds }, n) => {
      const points = milliseconds.map((ms, at) => `${round(x(at))} ${round(y(ms))}`);
      return [
        `  <path d="M${points.join("L")}" fill="none" stroke="${colours[n]}" stroke-width="2" />`,
        text(left + plot.width + 8, names[n] + 4, name, "start", colours[n]),
      ];
    }),
  ];
}

/** Heights of labels near those given, none over another and none below the axis. */
function apart(heights: number[]): number[] {
  const placed = heights.map((height, n) => ({ height, n })).sort((a, b) => b.height - a.height);
  const result: number[] = [];
  let next = plot.bottom;
  for (const { height, n } of placed) {
    result[n] = Math.min(height, next);
    next = result[n] - 15;
  }
  return result;
}

function text(x: number, y: number, value: string, anchor: string, colour: string): string {
  return `  <text x="${round(x)}" y="${
    round(y)
  }" text-anchor="${anchor}" fill="${colour}">${value}</text>`;
}

function round(value: number): string {
  return value.toFixed(1);
}

function short(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000} M` : size.toLocaleString("en-US");
}
