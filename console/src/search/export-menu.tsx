import { useEffect, useRef, useState } from "react";
import { filterOf } from "../language/edit.ts";
import { useService } from "../service/hooks.ts";
import { LogloomError, type LogRecord, type RangeOptions } from "../service/logloom.ts";
import { IconButton } from "../shared/controls.tsx";
import { bytes, count } from "../shared/format.ts";
import { type Format, mostSaved, RecordFile } from "./export.ts";
import type { Run } from "./use-search.ts";
import { say } from "../shared/words.ts";

interface Saving {
  saved: number;
  /** The number of records; null if unknown. */
  of: number | null;
  state: "running" | "done" | "full";
}

const formats: [Format, string][] = [["ndjson", "NDJSON"], ["csv", "CSV"]];

/** Saves all matches page by page, or the rows of a live view, and says how many. */
export function ExportMenu({ run, rows }: { run: Run; rows: LogRecord[] }) {
  const save = useSave(run, rows);
  const limit = `up to ${count(mostSaved.records)} records or ${bytes(mostSaved.bytes)}`;
  return (
    <>
      <p className="about saving" role="status">{save.words}</p>
      {save.stop && (
        <button type="button" className="button small" onClick={save.stop}>
          Stop
        </button>
      )}
      <IconButton
        icon="download"
        label={say("Save the records")}
        popoverTarget="export-menu"
        disabled={rows.length === 0 || save.stop !== null}
      />
      <div id="export-menu" popover="auto" className="popover menu">
        <p className="menu-about">
          {run.isLive ? `The ${count(rows.length)} that are shown` : `All matches, ${limit}`}
        </p>
        {formats.map(([format, name]) => (
          <button
            key={format}
            type="button"
            className="menu-item"
            popoverTarget="export-menu"
            popoverTargetAction="hide"
            onClick={() => save.start(format)}
          >
            Save as {name}
          </button>
        ))}
      </div>
    </>
  );
}

function useSave(run: Run, rows: LogRecord[]) {
  const service = useService();
  const [saving, setSaving] = useState<Saving | null>(null);
  const [error, setError] = useState<LogloomError | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  // The result of one save does not apply to the next search.
  useEffect(() => {
    running.current?.abort();
    setSaving(null);
    setError(null);
  }, [run.query, run.range.from, run.range.to, run.isLive]);

  const total = async (range: RangeOptions): Promise<number | null> => {
    // Records behind a limiting stage cannot be counted.
    if (/\|\s*limit\b/.test(run.query)) return null;
    const counted = await service.stats(`${filterOf(run.query)} | count()`, range)
      .catch(() => null);
    return counted?.[0]?.value ?? null;
  };

  const saveAll = async (file: RecordFile, signal: AbortSignal) => {
    const range = { since: run.instants?.from, until: run.instants?.to, signal };
    const of = await total(range);
    setSaving({ saved: 0, of, state: "running" });
    let isFull = false;
    for await (const record of service.records(run.query, { ...range, order: run.order })) {
      signal.throwIfAborted();
      isFull = !file.add(record);
      if (isFull) break;
      if (file.count % 1000 === 0) setSaving({ saved: file.count, of, state: "running" });
    }
    signal.throwIfAborted();
    file.save();
    setSaving({ saved: file.count, of: isFull ? of : file.count, state: isFull ? "full" : "done" });
  };

  const start = async (format: Format) => {
    const stop = new AbortController();
    running.current?.abort();
    running.current = stop;
    setError(null);
    const file = new RecordFile(format);
    if (run.isLive) {
      rows.every((row) => file.add(row));
      file.save();
      return setSaving({ saved: file.count, of: rows.length, state: "done" });
    }
    try {
      await saveAll(file, stop.signal);
    } catch (failure) {
      if (stop.signal.aborted) return;
      setSaving(null);
      if (failure instanceof LogloomError) setError(failure);
      else throw failure;
    }
  };
  const stop = saving?.state === "running"
    ? () => {
      running.current?.abort();
      setSaving(null);
    }
    : null;
  return { start, stop, words: wordsOf(saving, error) };
}

function wordsOf(saving: Saving | null, error: LogloomError | null): string {
  if (error) return `Nothing was saved: ${error.message}`;
  if (!saving) return "";
  const of = saving.of === null ? "" : ` of ${count(Math.max(saving.of, saving.saved))}`;
  const records = `${count(saving.saved)}${of} record${
    (saving.of ?? saving.saved) === 1 ? "" : "s"
  }`;
  if (saving.state === "running") return `Saving: ${records} so far.`;
  if (saving.state === "done") return `Saved ${records}.`;
  return `Saved ${records}, the most at once. Choose a shorter range for the rest.`;
}
