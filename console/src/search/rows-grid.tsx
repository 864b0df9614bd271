import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useAddress } from "../address/address.ts";
import { useShortcuts } from "../shared/shortcuts.ts";
import { marksOld } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { usePreferences } from "../shared/preferences.ts";
import { useIsNarrow } from "../shared/use-is-narrow.ts";
import { columnsOf } from "./record-columns.ts";
import { closeRecord, useOpenRecord } from "./open-record.ts";
import { Row, RowsHead } from "./record-row.tsx";
import { useLiveScroll } from "./use-live-scroll.ts";
import { say } from "../shared/translate.ts";

interface Props {
  rows: LogRecord[];
  /** The rows are of an earlier run. */
  isOld: boolean;
  /** The id of the open record. */
  open: string | null;
  onToggle: (record: LogRecord) => void;
  isLive: boolean;
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
  onEnd: () => void;
  end: ReactNode;
}

/** The rows. Only visible rows are in the document. The keys j and k and the arrows move the active row. */
export function RowsGrid(
  { rows, isOld, open, onToggle, isLive, isPaused, onPause, onEnd, end }: Props,
) {
  const scroller = useRef<HTMLDivElement>(null);
  const { wrap, roomy } = usePreferences();
  const isNarrow = useIsNarrow();
  // One-line rows have the style sheet's height. Other rows are measured.
  const height = wrap || isNarrow ? null : roomy ? 29 : 23;
  const { cols } = useAddress().parameters;
  // Kept stable, so that unchanged rows are not rendered again.
  const columns = useMemo(() => columnsOf(cols), [cols]);
  const [active, setActive] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);
  const openRecord = useOpenRecord();

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height ?? 40,
    overscan: 10,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  useLayoutEffect(() => virtual.measure(), [virtual, height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 30) onEnd();
  }, [last, rows.length, onEnd]);
  useLiveScroll(scroller, rows, isLive, isPaused, onPause);

  const at = active === null ? -1 : rows.findIndex(({ id }) => id === active);
  const move = (step: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + step));
    const id = rows[next]?.id;
    if (id === undefined) return;
    setActive(id);
    wanted.current = id;
    virtual.scrollToIndex(next, { align: "auto" });
    const record = rows[next];
    if (open !== null && record && record.id !== open) openRecord(record);
  };
  const toggle = useCallback((record: LogRecord) => {
    onToggle(record);
    setActive(record.id);
  }, [onToggle]);
  const toggleActive = () => {
    const record = rows[at];
    if (record) toggle(record);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1), o: toggleActive });
  // Focus the active row once it is rendered.
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
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
      role="grid"
      aria-label={say("Records")}
      {...marksOld(isOld)}
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
          Enter: toggleActive,
          Escape: () => open !== null && closeRecord(),
        };
        const action = actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
      }}
    >
      <RowsHead columns={columns} />
      <div role="rowgroup" className="rows-space" style={{ height: virtual.getTotalSize() }}>
        <div
          role="none"
          className="rows-window"
          style={{
            transform: `translateY(${items[0]?.start ?? 0}px)`,
            minWidth: height === null ? undefined : leastWidth(columns.length),
          }}
        >
          {items.map((item) => {
            const record = rows[item.index];
            if (!record) return null;
            const isMeasured = height === null;
            return (
              <div
                key={item.key}
                ref={isMeasured ? virtual.measureElement : undefined}
                data-index={item.index}
                className={isMeasured ? "row-place" : "row-place fixed"}
                role="none"
              >
                <Row
                  record={record}
                  index={item.index}
                  columns={columns}
                  isOpen={record.id === open}
                  isActive={record.id === active}
                  onToggle={toggle}
                />
              </div>
            );
          })}
        </div>
      </div>
      {end && <div className="rows-end" role="none">{end}</div>}
    </div>
  );
}

/** The least width of fixed-height rows, so that the message stays reachable beside many columns. */
function leastWidth(columns: number): string {
  return `calc(${67 + 18 * columns}ch + ${42 + 12 * columns}px + var(--pad))`;
}
