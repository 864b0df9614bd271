import { useState } from "react";
import { attributeField, groupedBy, type Mode } from "../language/edit.ts";
import { exactJson, ExactNumber } from "../service/numbers.ts";
import { CopyButton, IconButton } from "../shared/controls.tsx";
import { Icon } from "../shared/icons.tsx";
import { plain } from "../shared/plain.ts";
import { LogText } from "../shared/text.tsx";
import { shortText } from "./columns.ts";
import { LongText } from "./long-text.tsx";
import { useEditQuery } from "./query-text.ts";

type OnFilter = (field: string, value: string, mode: Mode) => void;

/** The members of one object that are shown at once. */
const most = 100;

/** An object's members, one a line; nested objects open in place. */
export function Tree({ value, path, onFilter }: {
  value: Record<string, unknown>;
  path: string[];
  onFilter: OnFilter;
}) {
  const [limit, setLimit] = useState(most);
  const entries = Object.entries(value);
  return (
    <ul className="tree">
      {entries.slice(0, limit).map(([name, member]) => (
        <Member
          key={name}
          name={name}
          value={member}
          path={[...path, name]}
          onFilter={onFilter}
        />
      ))}
      {entries.length > limit && (
        <li>
          <button
            type="button"
            className="button small quiet"
            onClick={() => setLimit(limit * 10)}
          >
            {entries.length - limit} more
          </button>
        </li>
      )}
    </ul>
  );
}

function Member({ name, value, path, onFilter }: {
  name: string;
  value: unknown;
  path: string[];
  onFilter: OnFilter;
}) {
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber);
  const [isOpen, setOpen] = useState(path.length < 3);
  if (isObject && Object.keys(value).length > 0) {
    return (
      <li className="branch">
        <button
          type="button"
          className="branch-name"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" />
          <bdi>{plain(name)}</bdi>
        </button>
        {isOpen && (
          <Tree
            value={value as Record<string, unknown>}
            path={path}
            onFilter={onFilter}
          />
        )}
      </li>
    );
  }
  return <Leaf name={name} value={value} path={path} onFilter={onFilter} />;
}

/** An array of scalars in pages; complete if it holds objects. */
function Leaf({ name, value, path, onFilter }: {
  name: string;
  value: unknown;
  path: string[];
  onFilter: OnFilter;
}) {
  const edit = useEditQuery();
  const text = typeof value === "object" && value !== null ? exactJson(value, 0) : shortText(value);
  const field = path[0] === "attrs" ? attributeField(path.slice(1)) : name;
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
        {text.length > 400 ? <LongText text={text} className="leaf-long" /> : (
          <LogText
            text={value === null ? "null" : text === "" ? '""' : text}
            links
          />
        )}
      </span>
      <span className="leaf-tools">
        {isScalar && text.length <= 500 && (
          <>
            <IconButton
              icon="plus"
              label={`Only ${field} = this`}
              onClick={() => onFilter(field, text, "in")}
            />
            <IconButton
              icon="minus"
              label={`Without ${field} = this`}
              onClick={() => onFilter(field, text, "out")}
            />
            {(isNumber || field === "level") && (
              <button
                type="button"
                className="icon-button text"
                aria-label={`${field} at least this`}
                title={`${field} at least this`}
                onClick={() => onFilter(field, text, "least")}
              >
                ≥
              </button>
            )}
          </>
        )}
        <IconButton
          icon="chart"
          label={`Count by ${field}`}
          onClick={() => edit((query) => groupedBy(query, field))}
        />
        <CopyButton text={text} label={`Copy ${name}`} icon />
      </span>
    </li>
  );
}
