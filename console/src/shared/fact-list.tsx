import { plain } from "./safe-text.ts";

/** Names and values below each other. */
export function FactList({ facts, className = "" }: {
  facts: readonly (readonly [name: string, value: string])[];
  className?: string;
}) {
  return (
    <dl className={`facts ${className}`.trim()}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{plain(name)}</dt>
          <dd>{plain(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
