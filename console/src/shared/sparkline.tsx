/** Small bars over time, hidden from screen readers. */
export function Sparkline({ values, colour = "--series-1", errors }: {
  values: number[];
  colour?: string;
  /** How many of the values are errors: the red part at the foot of a bar. */
  errors?: number[];
}) {
  const most = Math.max(...values, 1);
  const bar = (height: number, i: number, of: string) => (
    <rect
      key={`${of} ${i}`}
      x={i * 4}
      y={20 - height}
      width={3}
      height={height}
      style={{ fill: `var(${of})` }}
    />
  );
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(values.length, 1) * 4} 20`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, i) => {
        // The least of a part stays visible.
        const wrong = errors?.[i] ?? 0;
        const foot = wrong === 0 ? 0 : Math.max(1, (20 * wrong) / most);
        const rest = value === wrong ? 0 : Math.max(1, (20 * (value - wrong)) / most);
        return [bar(foot + rest, i, colour), foot > 0 && bar(foot, i, "--level-error")];
      })}
    </svg>
  );
}
