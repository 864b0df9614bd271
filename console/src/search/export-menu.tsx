import { useEffect } from "react";
import { useService } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { Button, IconButton } from "../shared/basic-controls.tsx";
import { bytes } from "../shared/format-number.ts";
import { say } from "../shared/translate.ts";
import { type Format, RecordFile } from "./export-file.ts";
import { mostExported, useExportJob } from "./export-job.ts";
import type { Run } from "./search-run.ts";

export const formats: [Format, string][] = [["ndjson", "NDJSON"], ["csv", "CSV"]];

/** Saves all matches in the background, or the rows of a live view at once. */
export function ExportMenu({ run, rows }: { run: Run; rows: LogRecord[] }) {
  const service = useService();
  const { job, isRunning } = useExportJob();
  useEffect(() => job.showHere(), [job]);
  const start = (format: Format) => {
    if (!run.isLive) return void job.start(service, run, format);
    const file = new RecordFile(format);
    rows.every((row) => file.add(row));
    file.save();
    job.noteSaved(file.count);
  };
  return (
    <>
      <ExportWords />
      <IconButton
        icon="download"
        label={say("Save the records")}
        popoverTarget="export-menu"
        disabled={rows.length === 0 || isRunning}
      />
      <div id="export-menu" popover="auto" className="popover menu">
        <p className="menu-about">
          {run.isLive
            ? say("The rows that are shown ({number})", { number: rows.length })
            : say("All matches, up to {size}", { size: bytes(mostExported) })}
        </p>
        {formats.map(([format, name]) => (
          <button
            key={format}
            type="button"
            className="menu-item"
            popoverTarget="export-menu"
            popoverTargetAction="hide"
            onClick={() => start(format)}
          >
            {say("Save as {format}", { format: name })}
          </button>
        ))}
      </div>
    </>
  );
}

/** The progress of an export. */
export function ExportWords() {
  const { job, words, isRunning } = useExportJob();
  return (
    <>
      <p className="about saving" role="status">{words}</p>
      {isRunning && <Button look="small" onClick={job.stop}>{say("Stop")}</Button>}
    </>
  );
}

/** The progress at the page's edge, while the list of records is not on the page. */
export function ExportNote() {
  const { job, words } = useExportJob();
  if (job.isShown || words === "") return null;
  return (
    <div className="export-note">
      <ExportWords />
    </div>
  );
}
