import { useId, useRef } from "react";
import { presets, type Range, rangeLabel } from "../address/range.ts";
import { Icon } from "../shared/icons.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { CustomRange } from "./custom-range.tsx";
import { runRange } from "./search-run.ts";
import { say } from "../shared/translate.ts";
import { ZoneSwitch } from "../shared/zone-switch.tsx";
import { useFeatures } from "./reader-features.ts";
import { Button } from "../shared/basic-controls.tsx";

export function RangePicker({ range, isLive }: { range: Range; isLive: boolean }) {
  const { zone } = usePreferences();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const choose = (wanted: Range) => {
    menu.current?.hidePopover();
    runRange(wanted);
  };
  return (
    <div className="range">
      <Button popoverTarget={id}>
        <Icon name="clock" />
        <span className="hidden">{say("Range:")}</span>
        <span className="range-label">
          {isLive ? say("Live") : rangeLabel(range, zone)}
        </span>
        <Icon name="down" />
      </Button>
      <div ref={menu} id={id} popover="auto" className="popover range-menu">
        <ul>
          {presets.map((preset) => (
            <li key={preset.from}>
              <button
                type="button"
                className="menu-item"
                aria-pressed={preset.from === range.from && range.to === "now"}
                onClick={() => choose({ from: preset.from, to: "now" })}
              >
                {say(preset.label)}
              </button>
            </li>
          ))}
        </ul>
        <CustomRange
          key={`${range.from} ${range.to} ${zone}`}
          range={range}
          zone={zone}
          onChoose={choose}
        />
        {useFeatures().zone && <ZoneSwitch />}
      </div>
    </div>
  );
}
