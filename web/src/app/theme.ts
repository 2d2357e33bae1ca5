import { createTheme, type MantineColorsTuple } from "@mantine/core";

const sea: MantineColorsTuple = [
  "#eaf3fb",
  "#d3e4f3",
  "#a5c8e8",
  "#74abde",
  "#4d92d5",
  "#3582d0",
  "#2672c0",
  "#1b5e9f",
  "#1c4f82",
  "#123a63",
];

export const theme = createTheme({
  primaryColor: "sea",
  primaryShade: { light: 8, dark: 6 },
  colors: { sea },
  defaultRadius: "md",
  autoContrast: true,
  luminanceThreshold: 0.35,
  cursorType: "pointer",
  respectReducedMotion: true,
  headings: {
    fontWeight: "650",
    sizes: {
      h1: { fontSize: "clamp(1.625rem, 1.2rem + 1.8vw, 2rem)", lineHeight: "1.25" },
      h2: { fontSize: "clamp(1.375rem, 1.2rem + 0.8vw, 1.625rem)", lineHeight: "1.3" },
    },
  },
});
