/** Small bars over time, hidden from screen readers. */
export function Sparkline({ values, colour = "--series-1" }: {
  values: number[];
  colour?: string;
}) {
  const most = Math.max(...values, 1);
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(values.length, 1) * 4} 20`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, i) => {
        const height = value === 0 ? 0 : Math.max(1, (20 * value) / most);
        return (
          <rect
            key={i}
            x={i * 4}
            y={20 - height}
            width={3}
            height={height}
            style={{ fill: `var(${colour})` }}
          />
        );
      })}
    </svg>
  );
}
