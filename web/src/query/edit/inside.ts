/** Lists inside a popover belong to it: choosing from them must not close it. */
export const INSIDE = { withinPortal: false, position: "bottom-start" } as const;

/** The list itself scrolls, which screen readers know as a list, and not a box around it. */
export const LIST = {
  comboboxProps: INSIDE,
  withScrollArea: false,
  styles: { options: { maxHeight: 220, overflowY: "auto" } },
} as const;
