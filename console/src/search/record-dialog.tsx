import { change } from "../address/address.ts";
import type { Mode } from "../language/edit.ts";
import { useOperation } from "../service/hooks.ts";
import { Dialog, ErrorNote, Skeleton } from "../shared/controls.tsx";
import { Detail } from "./detail.tsx";

/** The record that a link names. */
export function RecordDialog({ id, ts, onFilter }: {
  id: string;
  ts: string;
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  const record = useOperation("get_log", {
    p_id: id,
    ...(ts ? { p_ts: ts } : {}),
  });
  return (
    <Dialog title="Record" onClose={() => change({ id: "", at: "" })} wide>
      {record.error && <ErrorNote error={record.error} />}
      {record.isPending && <Skeleton lines={8} />}
      {record.data && (
        <div role="treegrid" aria-label="Record" className="record">
          <Detail record={record.data} onFilter={onFilter} />
        </div>
      )}
    </Dialog>
  );
}
