import { type PointerEvent, useRef } from "react";
import { writtenNumber } from "../shared/format-number.ts";
import { say } from "../shared/translate.ts";

/** A line over a chart that is moved by dragging or with the arrow keys. */
export function Threshold({ value, top, height, edges, onChange }: {
  value: number;
  /** The value at the chart's upper edge. The lower edge is 0. */
  top: number;
  height: number;
  edges: { top: number; bottom: number };
  onChange: (value: number) => void;
}) {
  const span = height - edges.top - edges.bottom;
  const line = useRef<HTMLDivElement>(null);
  const step = niceStep(top);
  const place = edges.top + span * (1 - Math.min(Math.max(value / top, 0), 1));
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = line.current?.parentElement?.getBoundingClientRect();
    if (!box) return;
    const share = 1 - (event.clientY - box.top - edges.top) / span;
    onChange(round(Math.min(Math.max(share, 0), 1) * top, step));
  };
  return (
    <div
      ref={line}
      className="threshold"
      role="slider"
      tabIndex={0}
      aria-label={say("Threshold")}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={round(top, step)}
      aria-valuenow={value}
      style={{ top: place }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={(event) => {
        const moves: Record<string, number> = {
          ArrowUp: step,
          ArrowDown: -step,
          PageUp: 10 * step,
          PageDown: -10 * step,
        };
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        onChange(Math.max(0, round(value + move, step)));
      }}
    >
      <span className="threshold-value">{writtenNumber(value)}</span>
    </div>
  );
}

/** A hundredth of the scale, rounded to 1, 2 or 5 times a power of ten. */
function niceStep(top: number): number {
  const rough = top / 100;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
}

function round(value: number, step: number): number {
  return Number((Math.round(value / step) * step).toPrecision(12));
}
