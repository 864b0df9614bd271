import { change, useAddress } from "../address/address.ts";
import {
  groupedBy,
  hasClause,
  measuredBy,
  withClause,
  withoutClause,
} from "../language/edit-query.ts";
import type { Field } from "../service/logloom.ts";
import { Button, IconButton } from "../shared/basic-controls.tsx";
import { short } from "../shared/format-number.ts";
import { Icon } from "../shared/icons.tsx";
import { plain } from "../shared/safe-text.ts";
import { columnsOf } from "./record-columns.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { say } from "../shared/translate.ts";

/** A field with its most frequent values. A click on a value filters by it. */
export function FieldRow({ field, query, total, isOpen, onToggle }: {
  field: Field;
  query: string;
  /** How many records there are; for sampled fields too, if other fields are counted in all. */
  total: number;
  isOpen: boolean;
  onToggle: () => void;
}) {
  const edit = useEditQuery();
  const { parameters } = useAddress();
  const columns = columnsOf(parameters.cols);
  const isColumn = columns.includes(field.field);
  const largest = field.values[0]?.count ?? 1;
  const number = (counted: number) =>
    field.records === total
      ? short(counted)
      : `≈${short(Number(((counted * total) / field.records).toPrecision(2)))}`;
  return (
    <div className="field-row">
      <div className="field-title">
        <button type="button" className="field-name" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name="chevron" />
          <bdi>{plain(field.field)}</bdi>
        </button>
        <span
          className="field-count"
          title={say("{count} of {number} records", { count: field.count, number: field.records })}
        >
          {number(field.count)}
        </span>
        <span className="field-tools">
          <IconButton
            icon={isColumn ? "minus" : "columns"}
            label={isColumn
              ? say("Hide the column {field}", { field: field.field })
              : say("Show {field} as a column", { field: field.field })}
            onClick={() =>
              change({
                cols: (isColumn
                  ? columns.filter((one) => one !== field.field)
                  : [...columns, field.field]).join(","),
              })}
          />
          <IconButton
            icon="chart"
            label={say("Count by {field}", { field: field.field })}
            onClick={() => edit((text) => groupedBy(text, field.field))}
          />
        </span>
      </div>
      {isOpen && (
        <ul className="values">
          {field.values.map(({ value, count }) => {
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
                  {/* Hidden from screen readers, which read the number beside it. */}
                  <svg
                    className="share"
                    aria-hidden="true"
                    preserveAspectRatio="none"
                    viewBox="0 0 100 1"
                  >
                    <rect width={Math.max(1, (100 * count) / largest)} height="1" />
                  </svg>
                  <bdi className="value-text">
                    {value === "" ? say("(empty)") : plain(value.slice(0, 200))}
                  </bdi>
                  <span className="value-count">{number(count)}</span>
                </button>
                <span className="field-tools">
                  <IconButton
                    icon="minus"
                    label={say("Without {field} {value}", {
                      field: field.field,
                      value: value.slice(0, 40),
                    })}
                    onClick={() => edit((text) => withClause(text, field.field, value, "out"))}
                  />
                </span>
              </li>
            );
          })}
          {field.values.length === 0 && (
            <li className="about">{say("Too many different values to list.")}</li>
          )}
          {field.type === "number" && (
            <li>
              <Button
                look="small quiet"
                onClick={() => edit((text) => measuredBy(text, field.field))}
              >
                {say("p95 over time")}
              </Button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
