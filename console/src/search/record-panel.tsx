import { useEffect, useRef } from "react";
import type { Mode } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { ErrorNote, IconButton, Skeleton } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { Detail } from "./record-detail.tsx";
import { closeRecord, placeOf } from "./open-record.ts";
import { Related, tieOf } from "./related-records.tsx";
import { TraceButton } from "./trace-button.tsx";
import { useIsNarrow } from "../shared/use-is-narrow.ts";

/** The record in the address, beside the list, or over it on a phone. */
export function RecordPanel({ id, ts, onFilter }: {
  id: string;
  ts: string;
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  const answer = useOperation("get_log", placeOf(id, ts));
  const record = answer.data;
  const tie = record && tieOf(record);
  const panel = useRef<HTMLElement>(null);
  const isNarrow = useIsNarrow();
  // On a phone the panel covers the list, so it takes the focus.
  useEffect(() => {
    if (isNarrow) panel.current?.focus();
  }, [isNarrow, id]);
  return (
    <aside
      ref={panel}
      className="record-panel"
      aria-label={say("Record")}
      tabIndex={-1}
      onKeyDown={(event) => {
        // Escape in a dialog of the record closes only the dialog.
        const isInDialog = (event.target as Element).closest("dialog") !== null;
        if (event.key !== "Escape" || event.defaultPrevented || isInDialog) return;
        event.preventDefault();
        closeRecord();
        document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus();
      }}
    >
      <header className="record-head">
        <h2>{say("Record")}</h2>
        <IconButton icon="close" label={say("Close the record")} onClick={closeRecord} />
      </header>
      {!record && <ErrorNote error={answer.error} />}
      {!record && answer.isPending && <Skeleton lines={8} />}
      {record && (
        <Boundary what={say("This record")} of={record}>
          <Detail key={record.id} record={record} onFilter={onFilter}>
            {tie && (
              <Related key={tie.value} record={record} tie={tie}>
                <TraceButton record={record} />
              </Related>
            )}
          </Detail>
        </Boundary>
      )}
    </aside>
  );
}
