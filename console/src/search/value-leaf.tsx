import { say } from "../shared/translate.ts";
import { attributeField, groupedBy, type Mode } from "../language/edit-query.ts";
import { exactJson, ExactNumber } from "../service/exact-json.ts";
import { IconButton } from "../shared/basic-controls.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { plain } from "../shared/safe-text.ts";
import { LogText } from "../shared/log-text.tsx";
import { shortText } from "./record-columns.ts";
import { LongText } from "./long-text.tsx";
import { stackIn } from "./message-parts.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { StackText } from "./stack-text.tsx";

/** Null if the value does not belong to a field. */
export type OnFilter = ((field: string, value: string, mode: Mode) => void) | null;

/** A value that is not an object. A stack trace is folded. */
export function Leaf({ name, value, path, onFilter }: {
  name: string;
  value: unknown;
  path: string[];
  onFilter: OnFilter;
}) {
  const edit = useEditQuery();
  const text = typeof value === "object" && value !== null ? exactJson(value, 0) : shortText(value);
  const field = path[0] === "attrs" ? attributeField(path.slice(1)) : name;
  const stack = typeof value === "string" && text.includes("\n") ? stackIn(text) : null;
  const isScalar = value !== null &&
    (typeof value !== "object" || value instanceof ExactNumber);
  const isNumber = typeof value === "number" || value instanceof ExactNumber;
  const kind = value === null ? "null" : isNumber ? "number" : typeof value;
  return (
    <li className="leaf">
      <span className="leaf-name" title={field}>
        <bdi>{plain(name)}</bdi>
      </span>
      <span className={`leaf-value ${kind}`}>
        {stack
          ? <StackText stack={stack} />
          : text.length > 400
          ? <LongText text={text} className="leaf-long" />
          : <LogText text={value === null ? "null" : text === "" ? '""' : text} links />}
      </span>
      <span className="leaf-tools">
        {onFilter && isScalar && text.length <= 500 && (
          <>
            <IconButton
              icon="plus"
              label={say("Only {field} = this", { field })}
              onClick={() => onFilter(field, text, "in")}
            />
            <IconButton
              icon="minus"
              label={say("Without {field} = this", { field })}
              onClick={() => onFilter(field, text, "out")}
            />
            {(isNumber || field === "level") && (
              <button
                type="button"
                className="icon-button text"
                aria-label={say("{field} at least this", { field })}
                title={say("{field} at least this", { field })}
                onClick={() => onFilter(field, text, "least")}
              >
                ≥
              </button>
            )}
          </>
        )}
        {onFilter && (
          <IconButton
            icon="chart"
            label={say("Count by {field}", { field })}
            onClick={() => edit((query) => groupedBy(query, field))}
          />
        )}
        <CopyButton text={text} label={say("Copy {name}", { name })} icon />
      </span>
    </li>
  );
}
