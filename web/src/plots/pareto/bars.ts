/** Where a new run is expected: bars through the suggestions. */
import { LABELS } from "../marks";
import { faint, type Palette } from "../palette";
import type { Mark } from "./cloud";

interface BarLook {
  x: { log: boolean };
  y: { log: boolean };
  palette: Palette;
}

/** What `renderItem` of ECharts is given, as far as it is used. */
interface Drawing {
  value: (dimension: number) => number;
  coord: (point: [number, number]) => [number, number];
}
interface Place {
  coordSys: { x: number; y: number; width: number; height: number };
}

/** Intervals as thin bars: one across, one upright. */
export function bars(marks: readonly Mark[], look: BarLook) {
  const data = marks.map((mark) => [
    mark.x,
    mark.y,
    mark.xRange?.[0] ?? mark.x,
    mark.xRange?.[1] ?? mark.x,
    mark.yRange?.[0] ?? mark.y,
    mark.yRange?.[1] ?? mark.y,
    LABELS.indexOf(mark.label),
  ]);
  return {
    id: "intervals",
    type: "custom",
    data,
    encode: { x: [0, 2, 3], y: [1, 4, 5] },
    silent: true,
    clip: true,
    zlevel: 1,
    z: 3,
    renderItem: (params: Place, api: Drawing) => {
      const at = (dimension: number) => api.value(dimension);
      const label = LABELS[at(6)] ?? "unsupported";
      const stroke = faint(look.palette.trust[label], marks.length > 12 ? 0.3 : 0.6);
      const { x: left, y: top, width, height } = params.coordSys;
      // Beyond every axis are an infinite end and, on a logarithmic one, all up to zero.
      const below = (value: number, log: boolean) => (log && value <= 0) || value === -Infinity;
      const px = (x: number) => {
        if (below(x, look.x.log)) return left;
        return x === Infinity ? left + width : api.coord([x, at(1)])[0];
      };
      const py = (y: number) => {
        if (below(y, look.y.log)) return top + height;
        return y === Infinity ? top : api.coord([at(0), y])[1];
      };
      const [mx, my] = api.coord([at(0), at(1)]);
      const [x1, x2, y1, y2] = [px(at(2)), px(at(3)), py(at(4)), py(at(5))];
      const stick = (a: number, b: number, c: number, d: number) => ({
        type: "line",
        shape: { x1: a, y1: b, x2: c, y2: d },
        style: { stroke, lineWidth: 1.2 },
      });
      const children = [];
      if (x1 !== x2)
        children.push(
          stick(x1, my, x2, my),
          stick(x1, my - 4, x1, my + 4),
          stick(x2, my - 4, x2, my + 4),
        );
      if (y1 !== y2)
        children.push(
          stick(mx, y1, mx, y2),
          stick(mx - 4, y1, mx + 4, y1),
          stick(mx - 4, y2, mx + 4, y2),
        );
      return { type: "group", children };
    },
  };
}
