import type { KeyboardEvent } from "react";
import { IconButton } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import type { Shown } from "./edit-panels.ts";

const steps: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** What the creator may do with a panel: move it by dragging or with the arrow keys, change it, remove it. */
export function PanelTools({ shown, isBusy, onDrag, onMove, onEdit, onRemove }: {
  shown: Shown;
  isBusy: boolean;
  onDrag: (shown: Shown | null) => void;
  onMove: (to: number) => void;
  onEdit: () => void;
  onRemove: () => void;
}) {
  const { title } = shown.panel;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined || isBusy) return;
    event.preventDefault();
    onMove(shown.at + step);
  };
  return (
    <>
      <IconButton
        icon="move"
        className="panel-handle"
        label={say("Move {title}: drag it, or press an arrow key", { title })}
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData("text/plain", title);
          onDrag(shown);
        }}
        onDragEnd={() => onDrag(null)}
        onKeyDown={onKeyDown}
      />
      <IconButton icon="edit" label={say("Change: {title}", { title })} onClick={onEdit} />
      <IconButton
        icon="close"
        label={say("Remove: {title}", { title })}
        disabled={isBusy}
        onClick={onRemove}
      />
    </>
  );
}
