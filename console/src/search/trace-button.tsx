import { lazy, Suspense, useState } from "react";
import type { LogRecord } from "../service/logloom.ts";
import { Button } from "../shared/basic-controls.tsx";
import { loadPart } from "../shared/load-part.ts";
import { say } from "../shared/translate.ts";
import { tieOf } from "./related-records.tsx";

const TraceDialog = lazy(() => loadPart(() => import("./trace-dialog.tsx")));

/** Shows the trace or request of a record. Nothing if the record names none. */
export function TraceButton({ record }: { record: LogRecord | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const tie = record && tieOf(record);
  if (!tie) return null;
  return (
    <>
      <Button look="small quiet" onClick={() => setOpen(true)}>{say("Show the trace")}</Button>
      {isOpen && (
        <Suspense>
          <TraceDialog record={record} tie={tie} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
