import { useEffect } from "react";
import { useService } from "../service/hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { IconButton } from "../shared/controls.tsx";
import { bytes } from "../shared/numbers.ts";
import { say } from "../shared/words.ts";
import { type Format, RecordFile } from "./export.ts";
import { mostExported, useExportJob } from "./export-job.ts";
import type { Run } from "./use-search.ts";

const formats: [Format, string][] = [["ndjson", "NDJSON"], ["csv", "CSV"]];

/** Saves everything that was found in the background, or the rows of a live view. */
export function ExportMenu({ run, rows }: { run: Run; rows: LogRecord[] }) {
  const service = useService();
  const { job, isRunning } = useExportJob();
  useEffect(() => job.toldHere(), [job]);
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

/** How far saving is. */
export function ExportWords() {
  const { job, words, isRunning } = useExportJob();
  return (
    <>
      <p className="about saving" role="status">{words}</p>
      {isRunning && (
        <button type="button" className="button small" onClick={job.stop}>
          {say("Stop")}
        </button>
      )}
    </>
  );
}

/** The same at the page's edge, where the list of records is not there to tell it. */
export function ExportNote() {
  const { job, words } = useExportJob();
  if (job.isTold || words === "") return null;
  return (
    <div className="export-note">
      <ExportWords />
    </div>
  );
}
