import { useMemo, useState } from "react";
import { Icon } from "./icons.tsx";

type Value = string | number | null;

export interface Sorting {
  by: string;
  isUp: boolean;
  sortBy: (name: string) => void;
}

/** The rows, sorted by the column that was clicked last. */
export function useSorted<Row>(
  rows: Row[],
  valueOf: (row: Row, column: string) => Value,
): [Row[], Sorting] {
  const [{ by, isUp }, setOrder] = useState({ by: "", isUp: false });
  const sorted = useMemo(() => {
    if (by === "") return rows;
    const order = (a: Value, b: Value) =>
      typeof a === "number" && typeof b === "number"
        ? a - b
        : `${a ?? ""}`.localeCompare(`${b ?? ""}`, undefined, { numeric: true });
    return [...rows].sort((a, b) => (isUp ? 1 : -1) * order(valueOf(a, by), valueOf(b, by)));
  }, [rows, by, isUp]);
  const sortBy = (name: string) => setOrder({ by: name, isUp: by === name ? !isUp : false });
  return [sorted, { by, isUp, sortBy }];
}

/** A column's head. A click sorts by it, its right edge can be dragged. */
export function SortHead({ name, label = name, sorting, isNumber = false }: {
  name: string;
  label?: string;
  sorting: Sorting;
  isNumber?: boolean;
}) {
  const isSorted = sorting.by === name;
  return (
    <th
      scope="col"
      className={isNumber ? "number sortable" : "sortable"}
      aria-sort={isSorted ? sorting.isUp ? "ascending" : "descending" : undefined}
    >
      <div className="resizable">
        <button type="button" className="sort-by" onClick={() => sorting.sortBy(name)}>
          {label}
          <span
            className={isSorted ? sorting.isUp ? "sort-mark up" : "sort-mark" : "sort-mark off"}
          >
            <Icon name="down" />
          </span>
        </button>
      </div>
    </th>
  );
}
