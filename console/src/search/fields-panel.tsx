import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import type { LogloomError } from "../service/logloom.ts";
import { marksOld } from "../service/operation-hooks.ts";
import type { Field } from "../service/logloom.ts";
import { IconButton, Skeleton } from "../shared/basic-controls.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { FieldRow } from "./field-row.tsx";
import { say } from "../shared/translate.ts";
import { useLater } from "../shared/use-debounced.ts";
import { type Run, useFields } from "./search-run.ts";

/** The most fields in the list. The search box finds the others. */
const most = 150;
/** The most fields in an answer. */
const mostListed = 200;
const left = new Set(["id", "ts", "received_at", "msg", "tenant_id"]);

export function FieldsPanel({ fields, run, onClose }: {
  fields: UseQueryResult<Field[], LogloomError>;
  run: Run;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState<Set<string>>(() => new Set(["level", "service"]));
  // If the list is full, it may lack fields, so the service looks for the name.
  const isCut = (fields.data?.length ?? 0) >= mostListed;
  const wanted = useLater(text.trim());
  const asked = useFields(run, isCut && wanted !== "", wanted);
  const isAsking = isCut && text.trim() !== "" && (wanted !== text.trim() || asked.isFetching);
  const list = isCut && wanted !== "" ? asked.data ?? fields.data : fields.data;
  const found = useMemo(() => sorted(list ?? [], text), [list, text]);
  const total = Math.max(0, ...found.map(({ records }) => records));
  const toggle = (name: string) => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  return (
    <aside className="fields" aria-label={say("Fields")}>
      <div className="fields-head">
        <input
          type="search"
          aria-label={say("Find a field")}
          placeholder={say("Find a field")}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <IconButton
          icon="close"
          label={say("Hide the fields")}
          className="drawer-close"
          onClick={onClose}
        />
      </div>
      {fields.data && fields.data.length > 0 && (
        <p className="fields-note">
          <PanelNote answer={fields.data} isBusy={fields.isFetching} of={sampleOf(fields.data)} />
        </p>
      )}
      <div className="fields-list" {...marksOld(fields.isPlaceholderData)}>
        {fields.error && !fields.data && (
          <p className="about">{say("The fields could not be counted.")}</p>
        )}
        {fields.isPending && fields.fetchStatus === "fetching" && <Skeleton lines={12} />}
        {found.slice(0, most).map((field) => (
          <FieldRow
            key={field.field}
            field={field}
            query={run.query}
            total={total}
            isOpen={open.has(field.field)}
            onToggle={() => toggle(field.field)}
          />
        ))}
        {found.length > most && (
          <p className="about">
            {say("{count} more: find them by name.", { count: found.length - most })}
          </p>
        )}
        {fields.data && found.length === 0 && (
          <p className="about">
            {isAsking ? say("Looking…") : text ? say("No field matches.") : say("No fields here.")}
          </p>
        )}
      </div>
    </aside>
  );
}

/** Which records were counted: all, or for some fields a sample. */
function sampleOf(fields: Field[]): string {
  const sampled = fields.find(({ exact }) => !exact);
  return sampled
    ? say("in a sample of {number}", { number: sampled.records })
    : say("in all records");
}

function sorted(fields: Field[], text: string): Field[] {
  const wanted = text.toLowerCase();
  const place = (name: string) => {
    const at = labels.findIndex((label) => label === name);
    return at < 0 ? labels.length : at;
  };
  return fields
    .filter(({ field }) => !left.has(field) && field.toLowerCase().includes(wanted))
    .sort((a, b) => place(a.field) - place(b.field) || b.count / b.records - a.count / a.records);
}
