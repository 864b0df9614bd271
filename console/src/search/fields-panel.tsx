import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import { change, useAddress } from "../address/address.ts";
import { groupedBy, hasClause, withClause, withoutClause } from "../language/edit.ts";
import type { LogloomError } from "../service/logloom.ts";
import { marksOld } from "../service/hooks.ts";
import type { Field } from "../service/logloom.ts";
import { IconButton, Skeleton } from "../shared/controls.tsx";
import { count, short } from "../shared/format.ts";
import { Icon } from "../shared/icons.tsx";
import { plain } from "../shared/plain.ts";
import { columnsOf } from "./columns.ts";
import { useEditQuery } from "./query-text.ts";
import { say } from "../shared/words.ts";

/** The most that are shown at once; the box above finds the others. */
const most = 150;
const left = new Set(["id", "ts", "received_at", "msg", "tenant_id"]);

export function FieldsPanel({ fields, query, onClose }: {
  fields: UseQueryResult<Field[], LogloomError>;
  query: string;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState<Set<string>>(() => new Set(["level", "service"]));
  const found = useMemo(() => sorted(fields.data ?? [], text), [
    fields.data,
    text,
  ]);
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
          label="Hide the fields"
          className="drawer-close"
          onClick={onClose}
        />
      </div>
      <div className="fields-list" {...marksOld(fields.isPlaceholderData)}>
        {fields.error && !fields.data && <p className="about">The fields could not be counted.</p>}
        {fields.isPending && fields.fetchStatus === "fetching" && <Skeleton lines={12} />}
        {found.slice(0, most).map((field) => (
          <FieldRow
            key={field.field}
            field={field}
            query={query}
            isOpen={open.has(field.field)}
            onToggle={() => toggle(field.field)}
          />
        ))}
        {found.length > most && (
          <p className="about">
            {count(found.length - most)} more: find them by name.
          </p>
        )}
        {fields.data && found.length === 0 && (
          <p className="about">
            {text ? "No field matches." : "No fields here."}
          </p>
        )}
      </div>
    </aside>
  );
}

function sorted(fields: Field[], text: string): Field[] {
  const wanted = text.toLowerCase();
  const place = (name: string) => {
    const at = labels.findIndex((label) => label === name);
    return at < 0 ? labels.length : at;
  };
  return fields
    .filter(({ field }) => !left.has(field) && field.toLowerCase().includes(wanted))
    .sort((a, b) => place(a.field) - place(b.field) || b.count - a.count);
}

function FieldRow({ field, query, isOpen, onToggle }: {
  field: Field;
  query: string;
  isOpen: boolean;
  onToggle: () => void;
}) {
  const edit = useEditQuery();
  const { parameters } = useAddress();
  const columns = columnsOf(parameters.cols);
  const isColumn = columns.includes(field.field);
  const largest = field.values[0]?.count ?? 1;
  return (
    <div className="field-row">
      <div className="field-title">
        <button
          type="button"
          className="field-name"
          aria-expanded={isOpen}
          onClick={onToggle}
        >
          <Icon name="chevron" />
          <bdi>{plain(field.field)}</bdi>
        </button>
        <span
          className="field-count"
          title={`${count(field.count)} of the newest records`}
        >
          {short(field.count)}
        </span>
        <span className="field-tools">
          <IconButton
            icon={isColumn ? "minus" : "columns"}
            label={isColumn
              ? `Take the column ${field.field} away`
              : `Show ${field.field} as a column`}
            onClick={() =>
              change({
                cols: (isColumn
                  ? columns.filter((one) => one !== field.field)
                  : [...columns, field.field]).join(","),
              })}
          />
          <IconButton
            icon="chart"
            label={`Count by ${field.field}`}
            onClick={() => edit((text) => groupedBy(text, field.field))}
          />
        </span>
      </div>
      {isOpen && (
        <ul className="values">
          {field.values.map(({ value, count: number }) => {
            const isPressed = hasClause(query, field.field, value);
            const press = isPressed ? withoutClause : withClause;
            return (
              <li key={value}>
                <button
                  type="button"
                  className="value"
                  aria-pressed={isPressed}
                  title={`${field.field}:${value}`}
                  onClick={() => edit((text) => press(text, field.field, value, "in"))}
                >
                  {/* A picture of the share: meter would be read aloud twice. */}
                  <svg
                    className="share"
                    aria-hidden="true"
                    preserveAspectRatio="none"
                    viewBox="0 0 100 1"
                  >
                    <rect
                      width={Math.max(1, (100 * number) / largest)}
                      height="1"
                    />
                  </svg>
                  <bdi className="value-text">
                    {value === "" ? "(empty)" : plain(value.slice(0, 200))}
                  </bdi>
                  <span className="value-count">{short(number)}</span>
                </button>
                <span className="field-tools">
                  <IconButton
                    icon="minus"
                    label={`Without ${field.field} ${value.slice(0, 40)}`}
                    onClick={() => edit((text) => withClause(text, field.field, value, "out"))}
                  />
                </span>
              </li>
            );
          })}
          {field.values.length === 0 && <li className="about">Too many different values.</li>}
        </ul>
      )}
    </div>
  );
}
