import { say } from "../shared/translate.ts";
import { useState } from "react";
import { ExactNumber } from "../service/exact-json.ts";
import { Icon } from "../shared/icons.tsx";
import { plain } from "../shared/safe-text.ts";
import { Leaf, type OnFilter } from "./value-leaf.tsx";
import { Button } from "../shared/basic-controls.tsx";

/** How many members of an object are shown at first. */
const most = 100;

/** An object's members, one on each line. Nested objects open in place. */
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
        <Member key={name} name={name} value={member} path={[...path, name]} onFilter={onFilter} />
      ))}
      <More count={entries.length - limit} onMore={() => setLimit(limit * 10)} />
    </ul>
  );
}

function Member({ name, value, path, onFilter }: {
  name: string;
  value: unknown;
  path: string[];
  onFilter: OnFilter;
}) {
  const isObject = isBranch(value);
  // Queries treat the objects of an array as if each were in the array's place.
  const items = Array.isArray(value) && value.some(isBranch) ? value : null;
  const [isOpen, setOpen] = useState(path.length < 3);
  if (items || (isObject && Object.keys(value).length > 0)) {
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
          {items && <span className="about">[{items.length}]</span>}
        </button>
        {isOpen && (items
          ? <Items items={items} path={path} onFilter={onFilter} />
          : <Tree value={value as Record<string, unknown>} path={path} onFilter={onFilter} />)}
      </li>
    );
  }
  return <Leaf name={name} value={value} path={path} onFilter={onFilter} />;
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof ExactNumber);
}

function Items({ items, path, onFilter }: {
  items: unknown[];
  path: string[];
  onFilter: OnFilter;
}) {
  const [limit, setLimit] = useState(most);
  return (
    <ul className="tree">
      {items.slice(0, limit).map((item, i) => (
        <Member key={i} name={`[${i}]`} value={item} path={path} onFilter={onFilter} />
      ))}
      <More count={items.length - limit} onMore={() => setLimit(limit * 10)} />
    </ul>
  );
}

function More({ count, onMore }: { count: number; onMore: () => void }) {
  if (count <= 0) return null;
  return (
    <li>
      <Button look="small quiet" onClick={onMore}>{say("{count} more", { count })}</Button>
    </li>
  );
}
