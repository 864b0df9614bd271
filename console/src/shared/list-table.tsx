import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { LogloomError } from "../service/logloom.ts";
import { marksOld } from "../service/operation-hooks.ts";
import { Boundary } from "./error-boundary.tsx";
import { Button, Empty, ErrorNote, Skeleton } from "./basic-controls.tsx";
import { say, type Words } from "./translate.ts";

/** The most items that a list operation returns. */
export const mostAtOnce = 1000;

/** An answer in each of its states: loading, failed, or loaded. */
export function Loaded<Result>({ answer, missing, lines, children }: {
  answer: UseQueryResult<Result, LogloomError>;
  /** Shown for a 404, if that is not an error here. */
  missing?: ReactNode;
  /** The number of placeholder lines. */
  lines?: number;
  children: (result: Result) => ReactNode;
}) {
  if (missing !== undefined && answer.error?.status === 404) return missing;
  return (
    <>
      <ErrorNote error={answer.error} retry={() => void answer.refetch()} />
      {answer.isPending && !answer.error && <Skeleton lines={lines} />}
      {answer.data !== undefined && (
        <Boundary what={say("This answer")} of={answer.data}>
          <Shown result={answer.data}>{children}</Shown>
        </Boundary>
      )}
    </>
  );
}

/** Renders the children below the boundary, which catches only errors from below it. */
function Shown<Result>({ result, children }: {
  result: Result;
  children: (result: Result) => ReactNode;
}) {
  return children(result);
}

/** A column's name. The name of a column of buttons is for screen readers only. */
export type Column = string | { name: string; is: "number" } | { name: Words; is: "actions" };

export const actions: Column = { name: "Actions", is: "actions" };

const nameOf = (column: Column) => typeof column === "string" ? column : column.name;

interface TableProps<Rows> {
  label: string;
  columns: Column[];
  /** The rows are of an earlier request. */
  isOld?: boolean;
  children: Rows;
}

/** A table. On a narrow screen each row becomes a card, and each cell shows its column's name. */
export function Table({ label, columns, isOld = false, children }: TableProps<ReactNode>) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    for (const row of body.current?.rows ?? []) {
      for (const [i, cell] of [...row.cells].entries()) {
        cell.dataset.column = nameOf(columns[i] ?? "");
      }
    }
  });
  return (
    <div
      className="table-scroll"
      tabIndex={0}
      role="region"
      aria-label={label}
      {...marksOld(isOld)}
    >
      <table className="table list">
        <thead>
          <tr>{columns.map((column) => <Heading key={nameOf(column)} column={column} />)}</tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}

function Heading({ column }: { column: Column }) {
  if (typeof column === "string") return <th scope="col">{column}</th>;
  if (column.is === "number") return <th scope="col" className="number">{column.name}</th>;
  return (
    <th scope="col">
      <span className="hidden">{say(column.name)}</span>
    </th>
  );
}

interface ListProps<Item> extends TableProps<(item: Item) => ReactNode> {
  answer: UseQueryResult<Item[], LogloomError>;
  missing?: ReactNode;
  /** The text of an empty list. */
  empty: { title: string; about?: string };
  /** Offers more if the list has `limit` items. */
  more?: { limit: number; onMore: () => void };
}

/** A list operation's answer as a table. */
export function ListTable<Item>(
  { answer, missing, empty, more, label, columns, children }: ListProps<Item>,
) {
  return (
    <Loaded answer={answer} missing={missing}>
      {(items) =>
        items.length === 0
          ? <Empty title={empty.title}>{empty.about && <p>{empty.about}</p>}</Empty>
          : (
            <>
              <Table label={label} columns={columns} isOld={answer.isPlaceholderData}>
                {items.map(children)}
              </Table>
              {more && items.length === more.limit && more.limit < mostAtOnce &&
                <Button look="small more" onClick={more.onMore}>{say("Show more")}</Button>}
            </>
          )}
    </Loaded>
  );
}
