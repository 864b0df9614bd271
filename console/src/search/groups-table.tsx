import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import type { Mode } from "../language/edit-query.ts";
import type { StatRow } from "../service/logloom.ts";
import { measure } from "../shared/format-number.ts";
import { levelOf } from "../shared/level-colours.ts";
import { fieldsOf } from "../shared/group-label.ts";
import { oneLine } from "../shared/safe-text.ts";
import { SortHead, useSorted } from "../shared/sorting.tsx";
import { LogText } from "../shared/log-text.tsx";
import { say } from "../shared/translate.ts";

/** Narrows the search to a value. Null where there is no search. */
type OnFilter = (field: string, value: string, mode: Mode) => void;

function isSingle(rows: StatRow[]): boolean {
  return rows.length === 1 && Object.keys(rows[0]?.group ?? {}).length === 0;
}

/** The values of a row with their names. A single value is called value. */
export function valuesOf(row: StatRow): [string, number | string | null][] {
  const values = Object.entries(row.values);
  return values.length > 1 ? values : [["value", row.value]];
}

function Single({ row }: { row: StatRow }) {
  return (
    <dl className="single">
      {valuesOf(row).map(([name, value]) => (
        <div key={name}>
          <dt>{name === "value" ? say("Value") : name}</dt>
          <dd>{measure(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Groups({ rows, keys, onFilter }: {
  rows: StatRow[];
  keys: string[];
  onFilter: OnFilter | null;
}) {
  return isSingle(rows)
    ? <Single row={rows[0] as StatRow} />
    : <Bars rows={rows} keys={keys} onFilter={onFilter} />;
}

function Bars({ rows: unsorted, keys, onFilter }: {
  rows: StatRow[];
  keys: string[];
  onFilter: OnFilter | null;
}) {
  const fields = fieldsOf(unsorted[0]?.group ?? {}, keys);
  const names = valuesOf(unsorted[0] as StatRow).map(([name]) => name);
  const [rows, sorting] = useSorted(unsorted, cellOf);
  const largest = Math.max(
    ...rows.map(({ value }) => Math.abs(Number(value ?? 0))),
    Number.MIN_VALUE,
  );
  return (
    <table className="table bars">
      <thead>
        <tr>
          {fields.map((field) => (
            <SortHead key={field} name={`by-${field}`} label={field} sorting={sorting} />
          ))}
          {names.map((name) => <SortHead key={name} name={name} sorting={sorting} isNumber />)}
          <th scope="col">
            <span className="hidden">{say("Share of the largest")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={JSON.stringify(row.group)}>
            {fields.map((field) => (
              <td key={field}>
                <GroupValue field={field} value={row.group[field] ?? null} onFilter={onFilter} />
              </td>
            ))}
            {valuesOf(row).map(([name, value]) => (
              <td key={name} className="number">{measure(value)}</td>
            ))}
            <td className="bar-cell">
              <svg
                className="bar"
                aria-hidden="true"
                preserveAspectRatio="none"
                viewBox="0 0 100 1"
              >
                <rect
                  className={`of-level ${levelOf(row.group, keys) ?? ""}`}
                  width={(100 * Math.abs(Number(row.value ?? 0))) / largest}
                  height="1"
                />
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The value of a column to sort by. */
function cellOf(row: StatRow, column: string): string | number | null {
  if (column.startsWith("by-")) return row.group[column.slice(3)] ?? null;
  return valuesOf(row).find(([name]) => name === column)?.[1] ?? null;
}

function GroupValue({ field, value, onFilter }: {
  field: string;
  value: string | null;
  onFilter: OnFilter | null;
}) {
  // A missing value and a time bucket cannot become a filter.
  if (value === null) return <span className="about">{say("none")}</span>;
  if (onFilter === null || !labels.some((label) => label === field) && !/^attrs\../.test(field)) {
    return <LogText text={oneLine(value, 200)} />;
  }
  return (
    <button
      type="button"
      className="group-value"
      title={say("Only {field} = this", { field })}
      onClick={() => onFilter(field, value, "in")}
    >
      <LogText text={value === "" ? say("(empty)") : oneLine(value, 200)} />
    </button>
  );
}
