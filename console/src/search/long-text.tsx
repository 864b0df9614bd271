import { say } from "../shared/translate.ts";
import { useState } from "react";
import { bytes } from "../shared/format-number.ts";
import { LogText } from "../shared/log-text.tsx";
import { Button } from "../shared/basic-controls.tsx";

/** How many characters are shown before "Show all" is clicked. */
const firstPart = 4000;

export function LongText({ text, className }: { text: string; className: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > firstPart;
  return (
    <div className={className}>
      <pre tabIndex={0}>
        <LogText text={isLong && !isWhole ? `${text.slice(0, firstPart)}…` : text} links />
      </pre>
      {isLong && (
        <Button look="small quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? say("Show less")
            : say("Show all ({size})", { size: bytes(new Blob([text]).size) })}
        </Button>
      )}
    </div>
  );
}
