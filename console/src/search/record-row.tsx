import { memo, type ReactNode } from "react";
import { rowTime } from "../address/range.ts";
import { exactJson } from "../service/exact-json.ts";
import type { LogRecord } from "../service/logloom.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { LogText } from "../shared/log-text.tsx";
import { shortText, valueOf } from "./record-columns.ts";
import { say } from "../shared/translate.ts";

export function RowsHead({ columns }: { columns: string[] }) {
  return (
    <div role="row" className="row-line rows-head" aria-rowindex={1}>
      <span role="columnheader" className="cell-time">{say("Time")}</span>
      <span role="columnheader" className="cell-level">{say("Level")}</span>
      <span role="columnheader" className="cell-service">{say("Service")}</span>
      {columns.map((name) => (
        <span key={name} role="columnheader" className="cell-extra" title={name}>
          {name.replace(/^attrs\./, "")}
        </span>
      ))}
      <span role="columnheader" className="cell-msg">{say("Message")}</span>
    </div>
  );
}

interface Props {
  record: LogRecord;
  index: number;
  columns: string[];
  isOpen: boolean;
  isActive: boolean;
  onToggle: (record: LogRecord) => void;
}

export const Row = memo(function Row(props: Props) {
  return (
    <Boundary what={say("This record")} of={props.record} instead={<BrokenRow {...props} />}>
      <WholeRow {...props} />
    </Boundary>
  );
});

/** A record that failed to render, as JSON. */
function BrokenRow({ record, index, isActive }: Props) {
  return (
    <div
      role="row"
      data-row={record.id}
      aria-rowindex={index + 2}
      tabIndex={isActive ? 0 : -1}
      className="row-line level-none"
    >
      <span role="gridcell" className="cell-msg">
        <strong>{say("This record cannot be shown:")}</strong> {oneLine(exactJson(record, 0))}
      </span>
    </div>
  );
}

function WholeRow(props: Props) {
  const { record, index, columns, isOpen, isActive, onToggle } = props;
  const { zone, wrap } = usePreferences();
  const level = record.level ?? "none";
  return (
    <div
      role="row"
      data-row={record.id}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      tabIndex={isActive ? 0 : -1}
      className={`row-line level-${level}${isActive ? " active" : ""}${isOpen ? " open" : ""}`}
      onClick={() => {
        // Selecting text to copy must not open the record.
        if (getSelection()?.isCollapsed !== false) onToggle(record);
      }}
    >
      <time role="gridcell" className="cell-time" dateTime={record.ts}>
        {rowTime(record.ts, zone)}
      </time>
      <span role="gridcell" className="cell-level">
        {record.level ?? "–"}
      </span>
      <span role="gridcell" className="cell-service" title={record.service ?? undefined}>
        {lineText(oneLine(record.service ?? "", 80))}
      </span>
      {columns.map((name) => (
        <span key={name} role="gridcell" className="cell-extra">
          {lineText(oneLine(shortText(valueOf(record, name)), 200))}
        </span>
      ))}
      {/* A text from right to left is then cut at its end. */}
      <span
        role="gridcell"
        className="cell-msg"
        dir={beginsRight(record.msg ?? "") ? "rtl" : undefined}
      >
        {lineText(wrap ? (record.msg ?? "").slice(0, 2000) : oneLine(record.msg ?? ""))}
        {!wrap && attributesOf(record)}
      </span>
    </div>
  );
}

/** Colour codes and right-to-left letters, which could affect the text beside them. */
// deno-lint-ignore no-control-regex
const care = /[\x1b\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const needsCare = (text: string) => care.test(text);
/** Whether the first letter of a text is one that is written from right to left. */
const beginsRight = (text: string) => needsCare(/\p{L}/u.exec(text)?.[0] ?? "");

/** A text in a row. Rows are drawn often, so simple text gets no elements of its own. */
function lineText(text: string): ReactNode {
  return needsCare(text) ? <LogText text={text} /> : plain(text);
}

/** The first attributes, after the message. */
function attributesOf(record: LogRecord): ReactNode {
  const texts = Object.entries(record.attrs ?? {}).slice(0, 8).map((
    [name, value],
  ) => `${oneLine(name, 40)}=${oneLine(shortText(value), 60)}`);
  if (texts.length === 0) return null;
  return (
    <span className="attributes">
      {texts.some(needsCare)
        ? texts.map((text, i) => (
          <span key={i} className="attribute">
            <LogText text={text} />
          </span>
        ))
        : plain(texts.join("  "))}
    </span>
  );
}
