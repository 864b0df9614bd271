import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useAddress } from "../address/address.ts";
import { useShortcuts } from "../app/shortcuts.ts";
import type { Mode } from "../language/edit.ts";
import type { LogRecord } from "../service/records.ts";
import { usePreferences } from "../shared/preferences.ts";
import { columnsOf } from "./columns.ts";
import { Row, RowsHead } from "./row.tsx";
import { useHeldPlace } from "./use-held-place.ts";

interface Props {
  rows: LogRecord[];
  isLive: boolean;
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
  onFilter: (field: string, value: string, mode: Mode) => void;
  onEnd: () => void;
  end: ReactNode;
}

/** Rows of unequal height, of which only those in sight exist. One row has the focus; j, k and arrows move it. */
export function RowsGrid(
  { rows, isLive, isPaused, onPause, onFilter, onEnd, end }: Props,
) {
  const scroller = useRef<HTMLDivElement>(null);
  const { wrap, roomy } = usePreferences();
  const columns = columnsOf(useAddress().parameters.cols);
  const [open, setOpen] = useState<Set<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => roomy ? 30 : 23,
    overscan: 14,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 30) onEnd();
  }, [last, rows.length, onEnd]);
  useHeldPlace(scroller, rows, isLive, isPaused, onPause);

  const at = active === null ? -1 : rows.findIndex(({ id }) => id === active);
  const move = (step: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + step));
    const id = rows[next]?.id;
    if (id === undefined) return;
    setActive(id);
    wanted.current = id;
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
    setActive(id);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    o: () => active !== null && toggle(active),
  });
  // The focus follows the active row as soon as that is on the screen.
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-row="${wanted.current}"]`,
    );
    if (!row) return;
    row.focus({ preventScroll: true });
    wanted.current = null;
  });

  const names = ["rows", wrap && "wrapped", roomy && "roomy"].filter(Boolean)
    .join(" ");
  return (
    <div
      ref={scroller}
      className={names}
      role="treegrid"
      aria-label="Records"
      aria-rowcount={rows.length + 1}
      aria-colcount={4 + columns.length}
      tabIndex={rows.length === 0 || at < 0 ? 0 : -1}
      onKeyDown={(event) => {
        const target = event.target as HTMLElement;
        if (target !== scroller.current && !target.matches("[data-row]")) {
          return;
        }
        const actions: Record<string, () => void> = {
          ArrowDown: () => move(1),
          ArrowUp: () => move(-1),
          PageDown: () => move(20),
          PageUp: () => move(-20),
          Home: () => move(-rows.length),
          End: () => move(rows.length),
          Enter: () => active !== null && toggle(active),
          Escape: () => active !== null && open.has(active) && toggle(active),
        };
        const action = actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
      }}
    >
      <RowsHead columns={columns} />
      <div
        role="rowgroup"
        className="rows-space"
        style={{ height: virtual.getTotalSize() }}
      >
        {items.map((item) => {
          const record = rows[item.index];
          return record && (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="row-place"
              role="none"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Row
                record={record}
                index={item.index}
                columns={columns}
                isOpen={open.has(record.id)}
                isActive={record.id === active}
                onToggle={toggle}
                onFilter={onFilter}
              />
            </div>
          );
        })}
      </div>
      {end && <div className="rows-end" role="none">{end}</div>}
    </div>
  );
}
